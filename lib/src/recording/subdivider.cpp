#include "../reference/balance.hpp"
#include "../reference/layers_and_budgets.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "recording/subdivider_impl.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace quadtile {

namespace {

using detail::Descriptor;
using detail::DescriptorSet;
using detail::FusedSubdivision;

static_assert(sizeof(SubdivisionParameters) <= 128,
              "more than every device has for push constants");

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
        throw Error(
            ErrorCode::invalid_argument,
            "Strategy::reference runs on the host, not on a device; call reference::subdivide");
    }
    if (options.subtree_levels < 1 || options.subtree_levels > MAX_SUBTREE_LEVELS) {
        throw Error(ErrorCode::invalid_argument,
                    "subtree_levels is " + std::to_string(options.subtree_levels) +
                        ", but must be 1 to " + std::to_string(MAX_SUBTREE_LEVELS));
    }
    sampler =
        program.make_sampler(vk::Filter::eNearest, vk::SamplerReductionMode::eWeightedAverage);
    if (threshold_function && strategy == Strategy::fused) {
        throw Error(ErrorCode::invalid_argument,
                    "the strategy fused needs monotone thresholds, and those of a function may not "
                    "be; use subtree");
    }
    if (is_fused()) {
        fused.prepare();
    } else {  // fails here if it cannot work
        (void)pipeline(threshold_function ? ThresholdSource::function : ThresholdSource::levels);
    }
}

void Subdivider::Binding::Impl::check_layer_thresholds() const {
    if (!layer_thresholds) {
        throw Error(ErrorCode::invalid_argument,
                    "a threshold is missing: give one, or bind a buffer of layer thresholds");
    }
}

FusedSubdivision::Run Subdivider::Binding::Impl::run(const Threshold* threshold,
                                                     const SubdivideOptions& options) const {
    const bool by_level = threshold != nullptr && !threshold->is_by_node();
    return {
        .shape = shape,
        .tile_capacity = tile_capacity,
        .thresholds = by_level ? threshold->levels(top_level(shape.width, shape.height))
                               : std::vector<float>(),
        .options = options,
        .layer_thresholds = threshold == nullptr,
        .node_thresholds = threshold != nullptr && threshold->is_by_node(),
    };
}

void Subdivider::Impl::check(const MapShape& shape, std::uint64_t tile_capacity) const {
    const detail::DeviceContext& context = program.context();
    detail::check_map(context, shape);
    if (!is_fused()) {
        detail::check_pyramid(context, shape);
    }
    if (tile_capacity == 0) {
        throw Error(ErrorCode::invalid_argument, "a tile list needs room for at least one tile");
    }
    const std::uint64_t max_tiles =
        std::min<std::uint64_t>(context.info.max_tiles, std::numeric_limits<std::uint32_t>::max());
    if (tile_capacity > max_tiles) {
        throw Error(ErrorCode::unsupported,
                    "a list of " + std::to_string(tile_capacity) + " tiles is longer than " +
                        context.info.name + " can address (" + std::to_string(max_tiles) +
                        "); raise the threshold or cut the map into several");
    }
    if (state_bytes(shape) > context.max_storage_buffer_range_bytes) {
        throw Error(ErrorCode::unsupported,
                    "the scratch of this map needs a buffer of " +
                        std::to_string(state_bytes(shape)) + " bytes, " + context.info.name +
                        " can address " + std::to_string(context.max_storage_buffer_range_bytes) +
                        "; cut the map into several or subdivide fewer layers at once");
    }
}

void Subdivider::Impl::check_threshold_map(const MapShape& shape) const {
    const detail::DeviceContext& context = program.context();
    if (threshold_map_size_bytes(shape) > context.max_storage_buffer_range_bytes) {
        throw Error(ErrorCode::unsupported,
                    "the thresholds of this map's nodes need a buffer of " +
                        std::to_string(threshold_map_size_bytes(shape)) + " bytes, " +
                        context.info.name + " can address " +
                        std::to_string(context.max_storage_buffer_range_bytes) +
                        "; give thresholds per level, cut the map into several or subdivide fewer "
                        "layers at once");
    }
}

void Subdivider::Impl::check_balance_buffer(const MapShape& shape) const {
    const detail::DeviceContext& context = program.context();
    const vk::DeviceSize size_bytes = FusedSubdivision::balance_size_bytes(shape);
    if (size_bytes > context.max_storage_buffer_range_bytes) {
        throw Error(ErrorCode::unsupported,
                    "balanced lists of this map need a buffer of " + std::to_string(size_bytes) +
                        " bytes, " + context.info.name + " can address " +
                        std::to_string(context.max_storage_buffer_range_bytes) +
                        "; cut the map into several or subdivide fewer layers at once");
    }
}

void Subdivider::Impl::check_options(const Binding::Impl& bound,
                                     const SubdivideOptions& options) const {
    reference::check_balance(options);
    if (options.balance != Balance::none && !is_fused()) {
        throw Error(ErrorCode::invalid_argument,
                    "only the strategies fused and reference make balanced lists; use one of them");
    }
    if (options.balance != Balance::none && !bound.balance) {
        throw Error(ErrorCode::invalid_argument,
                    "the binding has no buffer for balanced lists; give one to Subdivider::bind");
    }
}

void Subdivider::Impl::check_threshold(const MapShape& shape, const Threshold& threshold) const {
    threshold.check_fits(shape);
    if (is_fused()) {
        threshold.check_monotone(top_level(shape.width, shape.height));
    }
    if (threshold.needs_threshold_map()) {
        check_threshold_map(shape);
    }
    if (threshold.user_function() != nullptr &&
        (!threshold_function || *threshold.user_function() != *threshold_function)) {
        throw Error(ErrorCode::invalid_argument,
                    threshold_function
                        ? "the Subdivider was made with another threshold function; make a "
                          "Subdivider for each function"
                        : "this threshold is a function, but the Subdivider was made without one; "
                          "give the function as SubdividerOptions::threshold_function");
    }
}

void Subdivider::Impl::check_threshold(const Binding::Impl& bound,
                                       const Threshold& threshold) const {
    check_threshold(bound.shape, threshold);
    if (threshold.needs_threshold_map() && !bound.node_thresholds) {
        throw Error(ErrorCode::invalid_argument,
                    "this threshold differs from node to node, but the binding has no buffer of "
                    "thresholds; give one to Subdivider::bind");
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
    auto descents = detail::descents_of(shape, impl_->subtree_levels);
    std::vector<Descriptor> descriptors{
        Descriptor::sampled(*impl_->sampler, resources.map.view, resources.map.layout),
        Descriptor::storage_buffer(resources.scratch.buffer, resources.scratch.offset_bytes,
                                   impl_->state_bytes(shape))};
    const bool layer_thresholds = resources.layer_thresholds.buffer != VK_NULL_HANDLE;
    if (impl_->is_fused()) {
        descriptors.push_back(
            layer_thresholds ? Descriptor::storage_buffer(resources.layer_thresholds.buffer,
                                                          resources.layer_thresholds.offset_bytes,
                                                          layer_thresholds_size_bytes(shape))
                             : impl_->placeholder(shape, resources.scratch));
    } else {
        if (layer_thresholds) {
            throw Error(ErrorCode::invalid_argument,
                        "only the strategy fused gives each layer its own threshold; use it");
        }
        detail::append_pyramid_chunks(descriptors, impl_->program.context(), shape,
                                      resources.pyramid);
    }
    detail::append_chunks(descriptors, resources.tile_list, resources.tile_capacity, sizeof(Tile),
                          impl_->program.context().tile_chunk_shift, sizeof(TileListHeader));
    if (by_node) {
        descriptors.push_back(Descriptor::storage_buffer(resources.node_thresholds.buffer,
                                                         resources.node_thresholds.offset_bytes,
                                                         threshold_map_size_bytes(shape)));
    } else {
        descriptors.push_back(impl_->placeholder(shape, resources.scratch));
    }
    const bool balance = impl_->is_fused() && resources.balance.buffer != VK_NULL_HANDLE;
    if (balance) {
        impl_->check_balance_buffer(shape);
        descriptors.push_back(
            Descriptor::storage_buffer(resources.balance.buffer, resources.balance.offset_bytes,
                                       FusedSubdivision::balance_size_bytes(shape)));
    } else if (impl_->is_fused()) {
        descriptors.push_back(impl_->placeholder(shape, resources.scratch));
    }
    return Binding(std::make_shared<Binding::Impl>(Binding::Impl{
        shape, std::move(descents), static_cast<std::uint32_t>(resources.tile_capacity),
        resources.scratch, layer_thresholds, by_node, balance,
        impl_->program.make_descriptors(descriptors)}));
}

void Subdivider::check_threshold(const MapShape& shape, const Threshold& threshold) const {
    impl_->check_threshold(shape, threshold);
}

void Subdivider::record(VkCommandBuffer commands, const Binding& binding,
                        const Threshold& threshold, const SubdivideOptions& options) const {
    const Binding::Impl& bound = *binding.impl_;
    impl_->check_threshold(bound, threshold);
    impl_->check_options(bound, options);
    if (impl_->is_fused()) {
        impl_->fused.record(commands, bound.descriptors.set, bound.run(&threshold, options));
        return;
    }
    if (options.order == Order::canonical) {
        throw Error(ErrorCode::invalid_argument,
                    "only the strategy fused writes canonical order on the GPU; use it, or sort "
                    "the tiles with sort_canonical");
    }
    if (options.max_tiles) {
        throw Error(
            ErrorCode::invalid_argument,
            "only the strategies fused and reference keep a budget of tiles; use one of them");
    }
    impl_->record_passes(commands, bound, threshold);
}

void Subdivider::record(VkCommandBuffer commands, const Binding& binding,
                        const SubdivideOptions& options) const {
    const Binding::Impl& bound = *binding.impl_;
    bound.check_layer_thresholds();
    impl_->check_options(bound, options);
    impl_->fused.record(commands, bound.descriptors.set, bound.run(nullptr, options));
}

std::vector<float> Subdivider::layer_thresholds(const MapShape& shape,
                                                std::span<const Threshold> thresholds) {
    (void)reference::resolve_layers(shape, thresholds);  // names a threshold that does not fit
    const std::uint32_t top = top_level(shape.width, shape.height);
    std::vector<float> words;
    for (const Threshold& threshold : thresholds) {
        threshold.check_monotone(top);
        std::ranges::copy(threshold.levels(top), std::back_inserter(words));
    }
    return words;
}

}  // namespace quadtile
