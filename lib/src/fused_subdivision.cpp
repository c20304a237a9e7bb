#include "fused_subdivision.hpp"

#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>

#include "../reference/texel_codec.hpp"
#include "kernel_constants.hpp"
#include "map_resources.hpp"

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
        static_cast<std::uint32_t>(std::min(run.max_tiles.value_or(UNLIMITED), UNLIMITED));
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

}  // namespace

FusedSubdivision::FusedSubdivision(const ComputeProgram& program) : program_(program) {
    // So that what cannot work fails here.
    (void)pipeline({.pass = Kernel::fused_all,
                    .encoding = ENCODING_FLOAT32,
                    .tiles_in_one_chunk = true,
                    .with_budget = false,
                    .layer_thresholds = false,
                    .node_thresholds = false,
                    .layer_lists = false});
}

vk::DeviceSize FusedSubdivision::scratch_size_bytes(const MapShape& shape) {
    const vk::DeviceSize words_per_layer =
        1 + fused_words_per_layer(shape.width, shape.height, top_level(shape.width, shape.height));
    return sizeof(FusedState) +
           (words_per_layer * shape.layers + BUDGET_WORDS) * sizeof(std::uint32_t);
}

vk::Pipeline FusedSubdivision::pipeline(const PipelineKey& key) const {
    const std::lock_guard lock(mutex_);
    Unique<vk::Pipeline>& made = pipelines_[key];
    if (!made) {
        made = program_.make_pipeline(key.pass, "fused",
                                      {{TILE_CHUNK_SHIFT, program_.context().tile_chunk_shift},
                                       {TILES_IN_ONE_CHUNK, key.tiles_in_one_chunk ? 1U : 0U},
                                       {WITH_BUDGET, key.with_budget ? 1U : 0U},
                                       {LAYER_THRESHOLDS, key.layer_thresholds ? 1U : 0U},
                                       {THRESHOLDS_BY_NODE, key.node_thresholds ? 1U : 0U},
                                       {LAYER_LISTS, key.layer_lists ? 1U : 0U},
                                       {SOURCE_ENCODING, key.encoding}});
    }
    return made.get();
}

void FusedSubdivision::record(vk::CommandBuffer commands, vk::DescriptorSet descriptors,
                              const Run& run) const {
    const Dispatch& dispatch = program_.dispatch();
    PipelineKey key{
        .pass = Kernel::fused_all,
        .encoding = reference::encoding_of(run.shape.format),
        .tiles_in_one_chunk = (run.tile_capacity - 1) >> program_.context().tile_chunk_shift == 0,
        .with_budget = false,
        .layer_thresholds = run.layer_thresholds,
        .node_thresholds = run.node_thresholds,
        .layer_lists = run.layer_lists};
    const auto record_pass = [&](Kernel pass, bool with_budget) {
        key.pass = pass;
        key.with_budget = with_budget;
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline(key), dispatch);
        commands.dispatch(level_extent(run.shape.width, BLOCK_LEVELS),
                          level_extent(run.shape.height, BLOCK_LEVELS), run.shape.layers, dispatch);
    };
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program_.layout(), 0, descriptors,
                                {}, dispatch);
    commands.pushConstants<FusedParameters>(program_.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                            parameters_of(program_.context(), run), dispatch);
    const bool with_budget = run.max_tiles.has_value();
    if (with_budget) {
        record_pass(Kernel::fused_budget, false);
        pass_barrier(commands, dispatch);
    }
    if (run.order == Order::any) {
        record_pass(Kernel::fused_all, with_budget);
        return;
    }
    record_pass(Kernel::fused_count, with_budget);
    pass_barrier(commands, dispatch);
    record_pass(Kernel::fused_emit, with_budget);
}

}  // namespace quadtile::detail
