#include "fused_subdivision.hpp"

#include <quadtile/kernel_parameters.h>

#include "downsample_constants.hpp"
#include "map_resources.hpp"

#include <algorithm>
#include <iterator>

namespace quadtile::detail {

static_assert(sizeof(FusedParameters) <= 128, "more than every device has for push constants");

vk::DeviceSize FusedSubdivision::scratch_size_bytes(const MapShape& shape) {
    const vk::DeviceSize words_per_layer =
        1 + fused_words_per_layer(shape.width, shape.height, top_level(shape.width, shape.height));
    return sizeof(FusedState) + words_per_layer * shape.layers * sizeof(std::uint32_t);
}

FusedPipelines FusedSubdivision::pipelines(TexelFormat format, std::uint32_t tile_capacity) const {
    const std::uint32_t encoding = map_encoding(format);
    const std::uint32_t chunk_shift = program_.context().tile_chunk_shift;
    const bool one_chunk = (tile_capacity - 1) >> chunk_shift == 0;
    const std::lock_guard lock(mutex_);
    const auto pipeline = [&](Kernel kernel, const char* name) {
        Unique<vk::Pipeline>& made = pipelines_[{kernel, encoding, one_chunk}];
        if (!made) {
            made = program_.make_pipeline(kernel, name,
                                          {{TILE_CHUNK_SHIFT, chunk_shift},
                                           {TILES_IN_ONE_CHUNK, one_chunk ? 1U : 0U},
                                           {SOURCE_ENCODING, encoding}});
        }
        return made.get();
    };
    return {.all = pipeline(Kernel::fused_all, "fused"),
            .count = pipeline(Kernel::fused_count, "fused, counting"),
            .emit = pipeline(Kernel::fused_emit, "fused, emitting")};
}

void FusedSubdivision::record(vk::CommandBuffer commands, const MapShape& shape,
                              const FusedPipelines& pipelines, vk::DescriptorSet descriptors,
                              std::uint32_t tile_capacity, const std::vector<float>& thresholds,
                              Order order) const {
    const Dispatch& dispatch = program_.dispatch();
    FusedParameters parameters{};
    parameters.width = shape.width;
    parameters.height = shape.height;
    parameters.layers = shape.layers;
    parameters.top_level = top_level(shape.width, shape.height);
    parameters.texel_width = 1.0F / static_cast<float>(shape.width);
    parameters.texel_height = 1.0F / static_cast<float>(shape.height);
    parameters.state_words_per_layer =
        fused_words_per_layer(shape.width, shape.height, parameters.top_level);
    parameters.max_workgroup_count = program_.context().max_workgroup_count;
    parameters.tile_capacity = tile_capacity;
    std::ranges::copy(thresholds, std::begin(parameters.thresholds));

    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program_.layout(), 0, descriptors,
                                {}, dispatch);
    commands.pushConstants<FusedParameters>(program_.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                            parameters, dispatch);
    const auto run = [&](vk::Pipeline pipeline) {
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline, dispatch);
        commands.dispatch(level_extent(shape.width, BLOCK_LEVELS),
                          level_extent(shape.height, BLOCK_LEVELS), shape.layers, dispatch);
    };
    if (order == Order::any) {
        run(pipelines.all);
        return;
    }
    run(pipelines.count);
    using Stage = vk::PipelineStageFlagBits;
    using Access = vk::AccessFlagBits;
    const vk::MemoryBarrier counted(Access::eShaderWrite | Access::eShaderRead,
                                    Access::eShaderRead | Access::eShaderWrite);
    commands.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, counted, {}, {},
                             dispatch);
    run(pipelines.emit);
}

}  // namespace quadtile::detail
