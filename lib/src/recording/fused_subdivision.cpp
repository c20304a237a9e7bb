#include "recording/fused_subdivision.hpp"

#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace quadtile::detail {

namespace {

FusedParameters parameters_of(const DeviceContext& context, const FusedSubdivision::Run& run) {
    const MapShape& shape = run.shape;
    FusedParameters parameters{};
    parameters.width = shape.width;
    parameters.height = shape.height;
    parameters.layers = shape.layers;
    parameters.top_level = top_level(shape.width, shape.height);
    parameters.texel_width = 1.0F / static_cast<float>(shape.width);
    parameters.texel_height = 1.0F / static_cast<float>(shape.height);
    parameters.state_words_per_layer =
        fused_words_per_layer(shape.width, shape.height, parameters.top_level);
    parameters.max_workgroup_count = context.max_workgroup_count;
    parameters.tile_capacity = run.tile_capacity;
    // No list is longer than a word can count.
    constexpr std::uint64_t UNLIMITED = std::numeric_limits<std::uint32_t>::max();
    parameters.max_tiles =
        static_cast<std::uint32_t>(std::min(run.options.max_tiles.value_or(UNLIMITED), UNLIMITED));
    std::ranges::copy(run.thresholds, std::begin(parameters.thresholds));
    return parameters;
}

// Returns the levels of a share: one workgroup of fused_emit.comp or balance_tiles.comp takes
// 4^levels blocks. Many workgroups with little work cost more than they bring (16 384 of them 31 us
// on an H200), but there must be enough to fill a GPU.
std::uint32_t levels_of_share(const MapShape& shape) {
    constexpr std::uint64_t enough = 1024;
    const std::uint64_t blocks = std::uint64_t{level_extent(shape.width, BLOCK_LEVELS)} *
                                 level_extent(shape.height, BLOCK_LEVELS) * shape.layers;
    return blocks >= 16 * enough ? 2 : (blocks >= 4 * enough ? 1 : 0);
}

}  // namespace

void FusedSubdivision::prepare() const {
    const Run run{.shape = {.width = 1, .height = 1}, .tile_capacity = 1};
    const Pass pass = pass_of(run, "fused_all", false);
    (void)program_.pipeline(kernel_code(pass.kernel, uses_subgroups()), pass.constants);
}

vk::DeviceSize FusedSubdivision::scratch_size_bytes(const MapShape& shape) {
    const vk::DeviceSize words_per_layer =
        1 + fused_words_per_layer(shape.width, shape.height, top_level(shape.width, shape.height));
    const vk::DeviceSize nodes = fused_nodes(shape.width, shape.height, shape.layers);
    return sizeof(FusedState) +
           (words_per_layer * shape.layers + BUDGET_WORDS + (NODE_PLACE + 1) * nodes) *
               sizeof(std::uint32_t);
}

vk::DeviceSize FusedSubdivision::balance_size_bytes(const MapShape& shape) {
    const vk::DeviceSize blocks = vk::DeviceSize{level_extent(shape.width, BLOCK_LEVELS)} *
                                  level_extent(shape.height, BLOCK_LEVELS) * shape.layers;
    const vk::DeviceSize words =
        2 * vk::DeviceSize{fused_nodes(shape.width, shape.height, shape.layers)} +
        BALANCE_BLOCK_WORDS * blocks;
    return words * sizeof(std::uint32_t);
}

FusedSubdivision::Pass FusedSubdivision::pass_of(const Run& run, const std::string& kernel,
                                                 bool with_budget, std::uint32_t stage) const {
    const std::uint32_t chunk_shift = program_.context().tile_chunk_shift;
    return {kernel,
            {{TILE_CHUNK_SHIFT, chunk_shift},
             {TILES_IN_ONE_CHUNK, (run.tile_capacity - 1) >> chunk_shift == 0 ? 1U : 0U},
             {WITH_BUDGET, with_budget ? 1U : 0U},
             {LAYER_THRESHOLDS, run.layer_thresholds ? 1U : 0U},
             {THRESHOLDS_BY_NODE, run.node_thresholds ? 1U : 0U},
             {CORNERS, run.options.balance == Balance::corners ? 1U : 0U},
             {STAGE, stage},
             {SOURCE_ENCODING, encoding_of(run.shape.format)}}};
}

void FusedSubdivision::bind(vk::CommandBuffer commands, const Pass& pass) const {
    const KernelCode code = kernel_code(pass.kernel, uses_subgroups());
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, program_.pipeline(code, pass.constants),
                          program_.dispatch());
}

void FusedSubdivision::record_blocks(vk::CommandBuffer commands, Pass pass,
                                     FusedParameters parameters, bool by_steps) const {
    pass.constants.emplace_back(BY_STEPS, by_steps ? 1U : 0U);
    bind(commands, pass);
    std::uint32_t level = 0;
    do {
        if (level > 0) {
            ++parameters.handovers;
            program_.barrier(commands);
        }
        program_.push(commands, parameters);
        level += step_levels(level, parameters.top_level);
        commands.dispatch(level_extent(parameters.width, level),
                          level_extent(parameters.height, level), parameters.layers,
                          program_.dispatch());
    } while (by_steps && level < parameters.top_level);
}

void FusedSubdivision::record_shares(vk::CommandBuffer commands, Pass pass,
                                     const MapShape& shape) const {
    const std::uint32_t levels = BLOCK_LEVELS + levels_of_share(shape);
    pass.constants.emplace_back(SHARE_LEVELS, levels - BLOCK_LEVELS);
    program_.barrier(commands);
    bind(commands, pass);
    commands.dispatch(level_extent(shape.width, levels), level_extent(shape.height, levels),
                      shape.layers, program_.dispatch());
}

void FusedSubdivision::record(vk::CommandBuffer commands, vk::DescriptorSet descriptors,
                              const Run& run) const {
    const bool is_balanced = run.options.balance != Balance::none;
    const DebugLabel label(program_.context(), commands,
                           is_balanced ? "subdivision, balanced" : "subdivision, fused");
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program_.layout(), 0, descriptors,
                                {}, program_.dispatch());
    const FusedParameters parameters = parameters_of(program_.context(), run);
    const bool by_steps = !program_.context().hands_over();
    const bool is_any = run.options.order == Order::any;
    const std::uint32_t last = is_any ? STAGE_ANY : STAGE_CANONICAL;
    if (is_balanced) {
        record_blocks(commands, pass_of(run, "balance_marks", false), parameters, by_steps);
        if (!is_any) {
            record_shares(commands, pass_of(run, "balance_tiles", false, STAGE_COUNT), run.shape);
        }
        record_shares(commands, pass_of(run, "balance_tiles", false, last), run.shape);
        return;
    }
    const bool with_budget = run.options.max_tiles.has_value();
    if (with_budget) {
        record_blocks(commands, pass_of(run, "fused_budget", false), parameters, by_steps);
    } else if (is_any) {
        record_blocks(commands, pass_of(run, "fused_all", false), parameters, by_steps);
        return;
    }
    if (!is_any) {
        if (with_budget) {
            program_.barrier(commands);
        }
        record_blocks(commands, pass_of(run, "fused_count", with_budget), parameters, by_steps);
    }
    record_shares(commands, pass_of(run, "fused_emit", with_budget, last), run.shape);
}

}  // namespace quadtile::detail
