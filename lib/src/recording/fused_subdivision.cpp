#include "recording/fused_subdivision.hpp"

#include "../reference/texel_codec.hpp"
#include "recording/kernel_constants.hpp"
#include "recording/map_resources.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace quadtile::detail {

static_assert(sizeof(FusedParameters) <= 128, "more than every device has for push constants");

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

void pass_barrier(vk::CommandBuffer commands, const Dispatch& dispatch) {
    using Stage = vk::PipelineStageFlagBits;
    using Access = vk::AccessFlagBits;
    const vk::MemoryBarrier barrier(Access::eShaderWrite | Access::eShaderRead,
                                    Access::eShaderRead | Access::eShaderWrite);
    commands.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, barrier, {}, {},
                             dispatch);
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
    (void)pipeline({});
}

vk::DeviceSize FusedSubdivision::scratch_size_bytes(const MapShape& shape) {
    const vk::DeviceSize words_per_layer =
        1 + fused_words_per_layer(shape.width, shape.height, top_level(shape.width, shape.height));
    const vk::DeviceSize nodes = fused_nodes(shape.width, shape.height, shape.layers);
    return sizeof(FusedState) +
           (words_per_layer * shape.layers + BUDGET_WORDS + FUSED_NODE_WORDS * nodes) *
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

vk::Pipeline FusedSubdivision::pipeline(const PipelineKey& key) const {
    const std::lock_guard lock(mutex_);
    Unique<vk::Pipeline>& made = pipelines_[key];
    if (!made) {
        made = program_.make_pipeline(
            code_of(key.pass, program_.context().info.features.subgroup_operations), "fused",
            {{TILE_CHUNK_SHIFT, program_.context().tile_chunk_shift},
             {TILES_IN_ONE_CHUNK, key.tiles_in_one_chunk ? 1U : 0U},
             {WITH_BUDGET, key.with_budget ? 1U : 0U},
             {LAYER_THRESHOLDS, key.layer_thresholds ? 1U : 0U},
             {THRESHOLDS_BY_NODE, key.node_thresholds ? 1U : 0U},
             {SHARE_LEVELS, key.share_levels},
             {CORNERS, key.corners ? 1U : 0U},
             {STAGE, key.stage},
             {SOURCE_ENCODING, key.encoding}});
    }
    return made.get();
}

FusedSubdivision::PipelineKey FusedSubdivision::key_of(const Run& run) const {
    return {
        .encoding = reference::encoding_of(run.shape.format),
        .tiles_in_one_chunk = (run.tile_capacity - 1) >> program_.context().tile_chunk_shift == 0,
        .layer_thresholds = run.layer_thresholds,
        .node_thresholds = run.node_thresholds,
        .corners = run.options.balance == Balance::corners};
}

void FusedSubdivision::bind(vk::CommandBuffer commands, vk::DescriptorSet descriptors) const {
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program_.layout(), 0, descriptors,
                                {}, program_.dispatch());
}

void FusedSubdivision::bind(vk::CommandBuffer commands, const PipelineKey& key) const {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline(key), program_.dispatch());
}

void FusedSubdivision::push(vk::CommandBuffer commands, const FusedParameters& parameters) const {
    commands.pushConstants<FusedParameters>(program_.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                            parameters, program_.dispatch());
}

void FusedSubdivision::record_blocks(vk::CommandBuffer commands, const PipelineKey& key,
                                     const MapShape& shape) const {
    bind(commands, key);
    commands.dispatch(level_extent(shape.width, BLOCK_LEVELS),
                      level_extent(shape.height, BLOCK_LEVELS), shape.layers, program_.dispatch());
}

void FusedSubdivision::record_shares(vk::CommandBuffer commands, PipelineKey key,
                                     const MapShape& shape) const {
    key.share_levels = levels_of_share(shape);
    pass_barrier(commands, program_.dispatch());
    bind(commands, key);
    commands.dispatch(level_extent(shape.width, BLOCK_LEVELS + key.share_levels),
                      level_extent(shape.height, BLOCK_LEVELS + key.share_levels), shape.layers,
                      program_.dispatch());
}

void FusedSubdivision::record(vk::CommandBuffer commands, vk::DescriptorSet descriptors,
                              const Run& run) const {
    const bool is_balanced = run.options.balance != Balance::none;
    const DebugLabel label(program_.context(), commands,
                           is_balanced ? "subdivision, balanced" : "subdivision, fused");
    bind(commands, descriptors);
    push(commands, parameters_of(program_.context(), run));
    if (is_balanced) {
        record_balanced(commands, run);
        return;
    }
    const bool is_canonical = run.options.order == Order::canonical;
    PipelineKey key = key_of(run);
    if (run.options.max_tiles) {
        key.pass = Kernel::fused_budget;
        record_blocks(commands, key, run.shape);
        key.with_budget = true;
    }
    if (is_canonical || !run.options.max_tiles) {
        if (key.with_budget) {
            pass_barrier(commands, program_.dispatch());
        }
        key.pass = is_canonical ? Kernel::fused_count : Kernel::fused_all;
        record_blocks(commands, key, run.shape);
    }
    if (is_canonical || run.options.max_tiles) {
        key.pass = Kernel::fused_emit;
        key.stage = is_canonical ? STAGE_CANONICAL : STAGE_ANY;
        record_shares(commands, key, run.shape);
    }
}

void FusedSubdivision::record_balanced(vk::CommandBuffer commands, const Run& run) const {
    PipelineKey key = key_of(run);
    key.pass = Kernel::balance_marks;
    record_blocks(commands, key, run.shape);
    key.pass = Kernel::balance_tiles;
    if (run.options.order == Order::any) {
        key.stage = STAGE_ANY;
        record_shares(commands, key, run.shape);
        return;
    }
    for (const std::uint32_t stage : {STAGE_COUNT, STAGE_CANONICAL}) {
        key.stage = stage;
        record_shares(commands, key, run.shape);
    }
}

}  // namespace quadtile::detail
