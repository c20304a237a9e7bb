#include "recording/map_resources.hpp"

#include "device/memory.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <string>

namespace quadtile::detail {

namespace {

std::uint64_t pyramid_floats(const MapShape& shape) noexcept {
    return std::uint64_t{pyramid_pitch(shape.width)} * pyramid_rows(shape.height) * shape.layers;
}

[[noreturn]] void refuse_buffer(const DeviceContext& context, const std::string& what,
                                std::uint64_t size_bytes, std::uint64_t addressable_bytes,
                                const char* remedy) {
    cannot("the buffer of ", what, " would have ", size_bytes, " bytes, ", context.info.name,
           " can address ", addressable_bytes, "; ", remedy,
           "cut the map into several or use fewer layers at once");
}

}  // namespace

void check_map(const DeviceContext& context, const MapShape& shape) {
    check_shape(shape);
    check_extents(context, "a map", shape);
    const vk::Format format = vulkan_format(shape.format);
    if (!(features_of(context, format) & vk::FormatFeatureFlagBits::eSampledImage)) {
        cannot(context.info.name, " cannot sample images of format ", vk::to_string(format),
               "; convert the map to 32-bit floats");
    }
}

void check_reach(const DeviceContext& context, const std::string& what, std::uint64_t size_bytes,
                 const char* remedy) {
    if (size_bytes > context.max_storage_buffer_range_bytes) {
        refuse_buffer(context, what, size_bytes, context.max_storage_buffer_range_bytes, remedy);
    }
}

void check_pyramid(const DeviceContext& context, const MapShape& shape) {
    const std::uint64_t addressable = std::uint64_t{BUFFER_CHUNKS} << context.float_chunk_shift;
    if (pyramid_floats(shape) > addressable) {
        refuse_buffer(context, "the pyramid of this map", pyramid_size_bytes(shape),
                      addressable * sizeof(float), "");
    }
}

vk::DeviceSize pyramid_size_bytes(const MapShape& shape) noexcept {
    return pyramid_floats(shape) * sizeof(float);
}

bool pyramid_is_one_chunk(const DeviceContext& context, const MapShape& shape) {
    return pyramid_floats(shape) <= std::uint64_t{1} << context.float_chunk_shift;
}

void record_downsampling(vk::CommandBuffer commands, const ComputeProgram& program,
                         vk::Pipeline pipeline, vk::DescriptorSet descriptors,
                         DownsampleParameters parameters, std::uint32_t edge_rule, bool by_steps) {
    program.bind(commands, pipeline, descriptors, parameters);
    std::uint32_t level = parameters.base_level;
    do {
        std::uint32_t levels = BLOCK_LEVELS;
        if (level > parameters.base_level) {
            ++parameters.handovers;
            levels = step_levels(level, parameters.top_level);
            program.barrier(commands);
            program.push(commands, parameters);
        }
        commands.dispatch(blocks_along(parameters.width, level, levels, edge_rule),
                          blocks_along(parameters.height, level, levels, edge_rule),
                          parameters.layers, program.dispatch());
        level += levels;
    } while (by_steps && level < parameters.top_level);
}

void append_pyramid_chunks(std::vector<Descriptor>& descriptors, const DeviceContext& context,
                           const MapShape& shape, const BufferRange& pyramid) {
    append_chunks(descriptors, pyramid, pyramid_floats(shape), sizeof(float),
                  context.float_chunk_shift, 0);
}

void append_chunks(std::vector<Descriptor>& descriptors, const BufferRange& range,
                   std::uint64_t count, vk::DeviceSize element_bytes, std::uint32_t chunk_shift,
                   vk::DeviceSize lead_bytes) {
    const std::uint64_t chunk_elements = std::uint64_t{1} << chunk_shift;
    for (std::uint64_t chunk = 0; chunk < BUFFER_CHUNKS; ++chunk) {
        const std::uint64_t first = chunk * chunk_elements < count ? chunk * chunk_elements : 0;
        const std::uint64_t elements = std::min(count - first, chunk_elements);
        descriptors.push_back(
            Descriptor::storage_buffer({range.buffer, range.offset_bytes + first * element_bytes},
                                       lead_bytes + elements * element_bytes));
    }
}

}  // namespace quadtile::detail
