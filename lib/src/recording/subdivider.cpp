#include <quadtile/kernel_parameters.h>
#include <quadtile/subdivider.hpp>

#include "glsl/user_kernels.hpp"
#include "recording/fused_subdivision.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "values/layers_and_budgets.hpp"
#include "values/refuse.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

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

// Levels of one dispatch of `subtree`: from nodes of `upper` down to nodes of `lower`.
struct Descent {
    std::uint32_t upper;
    std::uint32_t lower;
};

constexpr vk::DeviceSize PLACEHOLDER_BYTES = 16;

// Split nodes of level 1 need no pass of their own: their children are tiles.
std::vector<Descent> descents_of(const MapShape& shape, std::uint32_t subtree_levels) {
    std::vector<Descent> descents;
    std::uint32_t upper = top_level(shape.width, shape.height);
    do {
        const std::uint32_t lower = upper > subtree_levels ? upper - subtree_levels : 0;
        descents.push_back({upper, lower});
        upper = lower;
    } while (upper >= LOWEST_LISTED_LEVEL);
    return descents;
}

std::uint64_t nodes_of_level(const MapShape& shape, std::uint32_t level) {
    return std::uint64_t{level_extent(shape.width, level)} * level_extent(shape.height, level) *
           shape.layers;
}

// Returns the lengths of the two node lists that passes read and write in turn, enough for the
// levels listed in each: pass i writes list i % 2.
std::array<std::uint64_t, 2> list_lengths(const MapShape& shape,
                                          const std::vector<Descent>& descents) {
    std::array<std::uint64_t, 2> lengths{0, 0};
    for (std::size_t i = 0; i + 1 < descents.size(); ++i) {
        lengths[i % 2] = std::max(lengths[i % 2], nodes_of_level(shape, descents[i].lower));
    }
    return lengths;
}

// Returns the bytes of the node lists and counters of `subtree`.
vk::DeviceSize subtree_scratch_size_bytes(const MapShape& shape, std::uint32_t subtree_levels) {
    const auto lengths = list_lengths(shape, descents_of(shape, subtree_levels));
    // At least one word, because a runtime array may not be empty.
    const std::uint64_t words = std::max<std::uint64_t>(lengths[0] + lengths[1], 1);
    return sizeof(SubdivisionState) + words * sizeof(std::uint32_t);
}

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

struct Subdivider::Impl {
    Impl(const Device& device, const SubdividerOptions& options);

    [[nodiscard]] bool is_fused() const noexcept { return strategy == Strategy::fused; }

    // Source of a kernel's thresholds.
    enum class ThresholdSource { levels, nodes, function };

    [[nodiscard]] static ThresholdSource source_of(const Threshold& threshold) {
        return threshold.user_function() != nullptr ? ThresholdSource::function
               : threshold.needs_threshold_map()    ? ThresholdSource::nodes
                                                    : ThresholdSource::levels;
    }

    // Returns the pipeline of the passes, compiled at its first use; not for `fused`. Thread-safe.
    [[nodiscard]] vk::Pipeline pipeline(ThresholdSource source) const;

    // Returns the bytes of the kernels' state in the scratch. Behind it are the bytes that unused
    // bindings point to (placeholder).
    [[nodiscard]] vk::DeviceSize state_bytes(const MapShape& shape) const {
        return is_fused() ? detail::FusedSubdivision::scratch_size_bytes(shape)
                          : subtree_scratch_size_bytes(shape, subtree_levels);
    }

    // Returns a descriptor for buffers that a kernel could read but does not use. It lies apart
    // from all written memory, so that no dispatch seems to wait for another.
    [[nodiscard]] detail::Descriptor placeholder(const MapShape& shape,
                                                 const BufferRange& scratch) const {
        return detail::Descriptor::storage_buffer(
            {scratch.buffer, scratch.offset_bytes + placeholder_offset_bytes(shape)},
            PLACEHOLDER_BYTES);
    }
    [[nodiscard]] vk::DeviceSize placeholder_offset_bytes(const MapShape& shape) const {
        const vk::DeviceSize alignment = detail::storage_alignment_bytes(program.context());
        return (state_bytes(shape) + alignment - 1) / alignment * alignment;
    }

    void check(const MapShape& shape, std::uint64_t tile_capacity) const;
    void check_threshold_map(const MapShape& shape) const;
    void check_threshold(const MapShape& shape, const Threshold& threshold) const;
    // Without a threshold: with those of the layers.
    void record(VkCommandBuffer commands, const Binding::Impl& bound, const Threshold* threshold,
                const SubdivideOptions& options) const;
    void record_passes(vk::CommandBuffer buffer, const Binding::Impl& bound,
                       const Threshold& threshold) const;
    [[nodiscard]] SubdivisionParameters parameters_of(const Binding::Impl& bound,
                                                      const Threshold& threshold) const;

    Strategy strategy;
    std::uint32_t subtree_levels;
    std::string threshold_function;  // GLSL; empty: none
    detail::ComputeProgram program;
    Unique<vk::Sampler> sampler;
    std::vector<std::uint32_t> function_code;  // subtree.comp with the threshold function
    detail::FusedSubdivision fused;            // for the strategy `fused`
};

struct Subdivider::Binding::Impl {
    MapShape shape;
    std::vector<Descent> descents;
    std::uint32_t tile_capacity;
    BufferRange scratch;
    bool layer_thresholds;
    bool node_thresholds;
    bool balance;
    detail::DescriptorSet descriptors;
};

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
    return {.scratch_size_bytes = impl_->placeholder_offset_bytes(shape) + PLACEHOLDER_BYTES,
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
        Binding::Impl{shape, descents_of(shape, impl_->subtree_levels),
                      static_cast<std::uint32_t>(resources.tile_capacity), resources.scratch,
                      by_layer, by_node, balances, impl_->program.make_descriptors(descriptors)}));
}

void Subdivider::check_threshold(const MapShape& shape, const Threshold& threshold) const {
    impl_->check_threshold(shape, threshold);
}

// ---- Recording

vk::Pipeline Subdivider::Impl::pipeline(ThresholdSource source) const {
    const bool subgroups = program.context().info.features.subgroup_operations;
    const bool calls_function = source == ThresholdSource::function;
    return program.pipeline(
        calls_function ? detail::KernelCode{"subtree with a function", function_code, subgroups}
                       : detail::kernel_code("subtree", subgroups),
        {{detail::TILE_CHUNK_SHIFT, program.context().tile_chunk_shift},
         {detail::PYRAMID_CHUNK_SHIFT, program.context().float_chunk_shift},
         {detail::THRESHOLDS_BY_NODE, source == ThresholdSource::nodes ? 1 : 0}});
}

SubdivisionParameters Subdivider::Impl::parameters_of(const Binding::Impl& bound,
                                                      const Threshold& threshold) const {
    SubdivisionParameters parameters{};
    parameters.width = bound.shape.width;
    parameters.height = bound.shape.height;
    parameters.layers = bound.shape.layers;
    parameters.max_workgroup_count = program.context().max_workgroup_count;
    parameters.tile_capacity = bound.tile_capacity;
    const std::uint32_t encoding = detail::encoding_of(bound.shape.format);
    parameters.unorm_bits = encoding == ENCODING_UNORM8 ? 8 : encoding == ENCODING_UNORM16 ? 16 : 0;
    if (!threshold.is_by_node()) {
        std::ranges::copy(threshold.levels(top_level(bound.shape.width, bound.shape.height)),
                          std::begin(parameters.thresholds));
    }
    std::ranges::copy(threshold.function_parameters(), std::begin(parameters.thresholds));
    return parameters;
}

void Subdivider::Impl::record_passes(vk::CommandBuffer buffer, const Binding::Impl& bound,
                                     const Threshold& threshold) const {
    const Dispatch& dispatch = program.dispatch();
    const detail::DebugLabel label(program.context(), buffer, "subdivision, subtree");
    const vk::Pipeline passes_pipeline = pipeline(source_of(threshold));
    const auto list_offset =
        static_cast<std::uint32_t>(list_lengths(bound.shape, bound.descents)[0]);
    SubdivisionParameters parameters = parameters_of(bound, threshold);

    buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program.layout(), 0,
                              bound.descriptors.set, {}, dispatch);
    for (std::uint32_t pass = 0; pass < bound.descents.size(); ++pass) {
        const Descent& descent = bound.descents[pass];
        const bool is_last = pass + 1 == bound.descents.size();
        parameters.pass = pass;
        parameters.upper_level = descent.upper;
        parameters.lower_level = descent.lower;
        parameters.next_depth =
            is_last ? 0 : bound.descents[pass + 1].upper - bound.descents[pass + 1].lower;
        parameters.output_offset = pass % 2 == 0 ? 0 : list_offset;
        parameters.input_offset = pass % 2 == 0 ? list_offset : 0;
        program.push(buffer, parameters);

        if (pass == 0) {
            buffer.bindPipeline(vk::PipelineBindPoint::eCompute, passes_pipeline, dispatch);
        } else {
            program.barrier(buffer, true);
        }
        // The first pass starts from the roots. If one workgroup takes all nodes of a later pass,
        // that pass needs no arguments that depend on their number.
        const std::uint64_t most_nodes = nodes_of_level(bound.shape, descent.upper);
        const std::uint32_t depth = descent.upper - descent.lower;
        if (pass == 0 || most_nodes << 2 * depth <= SUBDIVISION_WORKGROUP_SIZE) {
            const std::uint32_t workgroups =
                workgroups_for(static_cast<std::uint32_t>(most_nodes), depth);
            buffer.dispatch(folded_x(workgroups, parameters.max_workgroup_count),
                            folded_y(workgroups, parameters.max_workgroup_count), 1, dispatch);
            continue;
        }
        buffer.dispatchIndirect(bound.scratch.buffer,
                                bound.scratch.offset_bytes + offsetof(SubdivisionState, passes) +
                                    pass * sizeof(SubdivisionPass),
                                dispatch);
    }
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
