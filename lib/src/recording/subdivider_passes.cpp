// Recording of the passes of `subtree`.

#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "recording/subdivider_impl.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace quadtile {

namespace detail {

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

vk::DeviceSize subtree_scratch_size_bytes(const MapShape& shape, std::uint32_t subtree_levels) {
    const auto lengths = list_lengths(shape, descents_of(shape, subtree_levels));
    // At least one word, because a runtime array may not be empty.
    const std::uint64_t words = std::max<std::uint64_t>(lengths[0] + lengths[1], 1);
    return sizeof(SubdivisionState) + words * sizeof(std::uint32_t);
}

std::uint64_t nodes_of_level(const MapShape& shape, std::uint32_t level) {
    return std::uint64_t{level_extent(shape.width, level)} * level_extent(shape.height, level) *
           shape.layers;
}

std::array<std::uint64_t, 2> list_lengths(const MapShape& shape,
                                          const std::vector<Descent>& descents) {
    std::array<std::uint64_t, 2> lengths{0, 0};
    for (std::size_t i = 0; i + 1 < descents.size(); ++i) {
        lengths[i % 2] = std::max(lengths[i % 2], nodes_of_level(shape, descents[i].lower));
    }
    return lengths;
}

}  // namespace detail

vk::Pipeline Subdivider::Impl::pipeline(ThresholdSource source) const {
    const bool subgroups = program.context().info.features.subgroup_operations;
    const bool calls_function = source == ThresholdSource::function;
    return program.pipeline(
        calls_function ? detail::KernelCode{"subtree with a function", function_code, subgroups}
                       : detail::kernel_code("subtree", subgroups),
        {{detail::TILE_CHUNK_SHIFT, program.context().tile_chunk_shift},
         detail::pyramid_chunk_constant(program.context()),
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
        static_cast<std::uint32_t>(detail::list_lengths(bound.shape, bound.descents)[0]);
    SubdivisionParameters parameters = parameters_of(bound, threshold);

    buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program.layout(), 0,
                              bound.descriptors.set, {}, dispatch);
    for (std::uint32_t pass = 0; pass < bound.descents.size(); ++pass) {
        const detail::Descent& descent = bound.descents[pass];
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
        const std::uint64_t most_nodes = detail::nodes_of_level(bound.shape, descent.upper);
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

}  // namespace quadtile
