#include "glsl/user_kernels.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "recording/subdivider_impl.hpp"
#include "values/layers_and_budgets.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace quadtile {

namespace {

using detail::Descriptor;
using detail::DescriptorSet;
using detail::FusedSubdivision;
using detail::refuse_if;

vk::DeviceSize layer_thresholds_size_bytes(const MapShape& shape) {
    const std::uint32_t levels = top_level(shape.width, shape.height) + 1;
    return vk::DeviceSize{shape.layers} * levels * sizeof(float);
}

static_assert(Threshold::max_function_parameters <= MAX_LEVELS);
static_assert(Subdivider::nan_texels_offset_bytes == sizeof(FusedState));

// Behind the chunks of pyramid and tile list (subtree.comp).
constexpr std::uint32_t THRESHOLDS_BINDING = 2 + 2 * BUFFER_CHUNKS;
constexpr std::uint32_t BALANCE_BINDING = THRESHOLDS_BINDING + 1;  // balance.glsl

constexpr std::size_t SCRATCH = 1;  // place among all descriptors

// Bindings of subtree.comp, or of fused.glsl: the thresholds of layers in place of the pyramid's
// chunks, and a buffer for balanced lists.
std::vector<detail::BindingType> binding_types(bool with_pyramid) {
    std::vector<detail::BindingType> types{{0, vk::DescriptorType::eCombinedImageSampler}};
    for (std::uint32_t binding = 1; binding < 2 + 2 * BUFFER_CHUNKS; ++binding) {
        if (with_pyramid || binding < 3 || binding >= 2 + BUFFER_CHUNKS) {
            types.push_back({binding, vk::DescriptorType::eStorageBuffer});
        }
    }
    types.push_back({THRESHOLDS_BINDING, vk::DescriptorType::eStorageBuffer});
    if (!with_pyramid) {
        types.push_back({BALANCE_BINDING, vk::DescriptorType::eStorageBuffer});
    }
    return types;
}

}  // namespace

Subdivider::Impl::Impl(const Device& device, const SubdividerOptions& options)
    : strategy(options.strategy == Strategy::automatic ? Strategy::subtree : options.strategy),
      // Threads that find the same tile twice cost less than a dispatch, except on a CPU.
      subtree_levels(options.strategy == Strategy::automatic && device.info().type == "CPU"
                         ? 1
                         : options.subtree_levels),
      threshold_function(options.threshold_function),
      program(device.context(), "the subdivision", binding_types(strategy != Strategy::fused),
              std::max(sizeof(SubdivisionParameters), sizeof(FusedParameters))),
      fused(program) {
    if (strategy == Strategy::reference) {
        detail::refuse(
            "Strategy::reference runs on the host, not on a device; call reference::subdivide");
    }
    if (options.subtree_levels < 1 || options.subtree_levels > MAX_SUBTREE_LEVELS) {
        detail::refuse("subtree_levels is ", options.subtree_levels, ", but must be 1 to ",
                       MAX_SUBTREE_LEVELS);
    }
    sampler =
        program.make_sampler(vk::Filter::eNearest, vk::SamplerReductionMode::eWeightedAverage);
    if (!threshold_function.empty() && strategy == Strategy::fused) {
        detail::refuse(
            "the strategy fused needs monotone thresholds, and those of a function may not "
            "be; use subtree");
    }
    if (is_fused()) {
        fused.prepare();
    } else {  // fails here if it cannot work
        if (!threshold_function.empty()) {
            function_code = detail::code_of(
                detail::UserKernel::threshold(device.info().features.subgroup_operations),
                threshold_function);
        }
        (void)pipeline(threshold_function.empty() ? ThresholdSource::levels
                                                  : ThresholdSource::function);
    }
}

void Subdivider::Impl::check(const MapShape& shape, std::uint64_t tile_capacity) const {
    const detail::DeviceContext& context = program.context();
    detail::check_map(context, shape);
    if (!is_fused()) {
        detail::check_pyramid(context, shape);
    }
    if (tile_capacity == 0) {
        detail::refuse("a tile list needs room for at least one tile");
    }
    const std::uint64_t max_tiles =
        std::min<std::uint64_t>(context.info.max_tiles, std::numeric_limits<std::uint32_t>::max());
    if (tile_capacity > max_tiles) {
        detail::cannot("a list of ", tile_capacity, " tiles is longer than ", context.info.name,
                       " can address (", max_tiles,
                       "); raise the threshold or cut the map into several");
    }
    detail::check_reach(context, "the scratch of this map", state_bytes(shape));
}

void Subdivider::Impl::check_threshold_map(const MapShape& shape) const {
    detail::check_reach(program.context(), "the thresholds of this map's nodes",
                        threshold_map_size_bytes(shape), "give thresholds per level, ");
}

void Subdivider::Impl::check_threshold(const MapShape& shape, const Threshold& threshold) const {
    threshold.check_fits(shape);
    if (is_fused()) {
        threshold.check_monotone(top_level(shape.width, shape.height));
    }
    if (threshold.needs_threshold_map()) {
        check_threshold_map(shape);
    }
    if (threshold.user_function() != nullptr && *threshold.user_function() != threshold_function) {
        detail::refuse(
            !threshold_function.empty()
                ? "the Subdivider was made with another threshold function; make a "
                  "Subdivider for each function"
                : "this threshold is a function, but the Subdivider was made without one; "
                  "give the function as SubdividerOptions::threshold_function");
    }
}

Subdivider::Subdivider(const Device& device, const SubdividerOptions& options)
    : impl_(std::make_shared<Impl>(device, options)) {}

Strategy Subdivider::strategy() const noexcept {
    return impl_->strategy;
}

Subdivider::Requirements Subdivider::requirements(const MapShape& shape,
                                                  std::uint64_t tile_capacity) const {
    impl_->check(shape, tile_capacity);
    const vk::DeviceSize alignment = detail::storage_alignment_bytes(impl_->program.context());
    return {
        .scratch_size_bytes = impl_->placeholder_offset_bytes(shape) + detail::PLACEHOLDER_BYTES,
        .tile_list_size_bytes = sizeof(TileListHeader) + tile_capacity * sizeof(Tile),
        .layer_thresholds_size_bytes = layer_thresholds_size_bytes(shape),
        .balance_size_bytes = FusedSubdivision::balance_size_bytes(shape),
        .alignment_bytes = alignment,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT};
}

Subdivider::Binding Subdivider::bind(const MapShape& shape, const Resources& resources) const {
    impl_->check(shape, resources.tile_capacity);
    const bool by_node = resources.node_thresholds.buffer != VK_NULL_HANDLE;
    if (by_node) {
        impl_->check_threshold_map(shape);
        if (!impl_->is_fused()) {
            (void)impl_->pipeline(Impl::ThresholdSource::nodes);
        }
    }
    const bool by_layer = resources.layer_thresholds.buffer != VK_NULL_HANDLE;
    refuse_if(by_layer && !impl_->is_fused(),
              "only the strategy fused gives each layer its own threshold; use it");
    const bool balances = impl_->is_fused() && resources.balance.buffer != VK_NULL_HANDLE;
    const vk::DeviceSize balance_bytes = FusedSubdivision::balance_size_bytes(shape);
    if (balances) {
        detail::check_reach(impl_->program.context(), "balanced lists of this map", balance_bytes);
    }
    std::vector<Descriptor> descriptors{
        Descriptor::sampled(*impl_->sampler, resources.map.view, resources.map.layout),
        Descriptor::storage_buffer(resources.scratch, impl_->state_bytes(shape))};
    const auto add = [&](bool is_given, const BufferRange& range, vk::DeviceSize size_bytes) {
        descriptors.push_back(is_given ? Descriptor::storage_buffer(range, size_bytes)
                                       : impl_->placeholder(shape, resources.scratch));
    };
    if (impl_->is_fused()) {
        add(by_layer, resources.layer_thresholds, layer_thresholds_size_bytes(shape));
    } else {
        detail::append_pyramid_chunks(descriptors, impl_->program.context(), shape,
                                      resources.pyramid);
    }
    detail::append_chunks(descriptors, resources.tile_list, resources.tile_capacity, sizeof(Tile),
                          impl_->program.context().tile_chunk_shift, sizeof(TileListHeader));
    add(by_node, resources.node_thresholds, threshold_map_size_bytes(shape));
    if (impl_->is_fused()) {
        add(balances, resources.balance, balance_bytes);
    }
    return Binding(std::make_shared<Binding::Impl>(
        Binding::Impl{shape, detail::descents_of(shape, impl_->subtree_levels),
                      static_cast<std::uint32_t>(resources.tile_capacity), resources.scratch,
                      by_layer, by_node, balances, impl_->program.make_descriptors(descriptors)}));
}

void Subdivider::check_threshold(const MapShape& shape, const Threshold& threshold) const {
    impl_->check_threshold(shape, threshold);
}

void Subdivider::Impl::record(VkCommandBuffer commands, const Binding::Impl& bound,
                              const Threshold* threshold, const SubdivideOptions& options) const {
    detail::check_balance(options);
    refuse_if(threshold == nullptr && !bound.layer_thresholds,
              "a threshold is missing: give one, or bind a buffer of layer thresholds");
    const bool by_node = threshold != nullptr && threshold->is_by_node();
    if (threshold != nullptr) {
        check_threshold(bound.shape, *threshold);
        refuse_if(threshold->needs_threshold_map() && !bound.node_thresholds,
                  "this threshold differs from node to node, but the binding has no buffer of "
                  "thresholds; give one to Subdivider::bind");
    }
    const bool is_balanced = options.balance != Balance::none;
    refuse_if(is_balanced && !is_fused(),
              "only the strategies fused and reference make balanced lists; use one of them");
    refuse_if(is_balanced && !bound.balance,
              "the binding has no buffer for balanced lists; give one to Subdivider::bind");
    if (is_fused()) {
        const std::uint32_t top = top_level(bound.shape.width, bound.shape.height);
        fused.record(commands, bound.descriptors.set,
                     {.shape = bound.shape,
                      .tile_capacity = bound.tile_capacity,
                      .thresholds = threshold != nullptr && !by_node ? threshold->levels(top)
                                                                     : std::vector<float>(),
                      .options = options,
                      .layer_thresholds = threshold == nullptr,
                      .node_thresholds = by_node});
        return;
    }
    refuse_if(options.order == Order::canonical,
              "only the strategy fused writes canonical order on the GPU; use it, or sort the "
              "tiles with sort_canonical");
    refuse_if(options.max_tiles.has_value(),
              "only the strategies fused and reference keep a budget of tiles; use one of them");
    record_passes(commands, bound, *threshold);
}

void Subdivider::record(VkCommandBuffer commands, const Binding& binding,
                        const Threshold& threshold, const SubdivideOptions& options) const {
    impl_->record(commands, *binding.impl_, &threshold, options);
}

void Subdivider::record(VkCommandBuffer commands, const Binding& binding,
                        const SubdivideOptions& options) const {
    impl_->record(commands, *binding.impl_, nullptr, options);
}

std::vector<float> Subdivider::layer_thresholds(const MapShape& shape,
                                                std::span<const Threshold> thresholds) {
    (void)detail::resolve_layers(shape, thresholds);  // names a threshold that does not fit
    const std::uint32_t top = top_level(shape.width, shape.height);
    std::vector<float> words;
    for (const Threshold& threshold : thresholds) {
        threshold.check_monotone(top);
        std::ranges::copy(threshold.levels(top), std::back_inserter(words));
    }
    return words;
}

}  // namespace quadtile
