#include "recording/map_resources.hpp"

#include "recording/kernel_constants.hpp"
#include "values/text.hpp"

#include <algorithm>
#include <string>

namespace quadtile::detail {

namespace {

std::uint64_t pyramid_floats(const MapShape& shape) noexcept {
    return std::uint64_t{pyramid_pitch(shape.width)} * pyramid_rows(shape.height) * shape.layers;
}

}  // namespace

std::uint32_t unorm_bits(TexelFormat format) noexcept {
    switch (format) {
        case TexelFormat::r16_unorm:
        case TexelFormat::d16_unorm:
            return 16;
        case TexelFormat::r8_unorm:
            return 8;
        default:
            return 0;
    }
}

void check_map(const DeviceContext& context, const MapShape& shape) {
    check_shape(shape);
    const DeviceInfo& info = context.info;
    if (shape.width > info.max_map_extent || shape.height > info.max_map_extent ||
        shape.layers > info.max_layers) {
        throw Error(ErrorCode::unsupported,
                    "a map of " + size_of(shape.width, shape.height, shape.layers) +
                        " is too large for " + info.name + ": its images have at most " +
                        std::to_string(info.max_map_extent) + " texels on a side and " +
                        std::to_string(info.max_layers) +
                        " layers; cut it into several maps or use Strategy::reference");
    }
    const auto format = static_cast<vk::Format>(vk_format(shape.format));
    const auto features = context.calls("asking for the features of a format", [&] {
        return context.physical_device.getFormatProperties(format, context.dispatch)
            .optimalTilingFeatures;
    });
    if (!(features & vk::FormatFeatureFlagBits::eSampledImage)) {
        throw Error(ErrorCode::unsupported, info.name + " cannot sample images of format " +
                                                vk::to_string(format) +
                                                "; convert the map to 32-bit floats");
    }
}

void check_pyramid(const DeviceContext& context, const MapShape& shape) {
    const std::uint64_t addressable = std::uint64_t{BUFFER_CHUNKS} << context.float_chunk_shift;
    if (pyramid_floats(shape) > addressable) {
        throw Error(ErrorCode::unsupported,
                    "the pyramid of this map has " + std::to_string(pyramid_floats(shape)) +
                        " floats, but " + context.info.name + " can address " +
                        std::to_string(addressable) + " at most" +
                        "; cut the map into several or use fewer layers at once");
    }
}

vk::DeviceSize pyramid_size_bytes(const MapShape& shape) noexcept {
    return pyramid_floats(shape) * sizeof(float);
}

Specialization::value_type pyramid_chunk_constant(const DeviceContext& context) {
    return {PYRAMID_CHUNK_SHIFT, context.float_chunk_shift};
}

bool pyramid_is_one_chunk(const DeviceContext& context, const MapShape& shape) {
    return pyramid_floats(shape) <= std::uint64_t{1} << context.float_chunk_shift;
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
        descriptors.push_back(Descriptor::storage_buffer(range.buffer,
                                                         range.offset_bytes + first * element_bytes,
                                                         lead_bytes + elements * element_bytes));
    }
}

}  // namespace quadtile::detail
