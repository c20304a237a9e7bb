#include "mip_images.hpp"

#include "measurement.hpp"

#include "support/workspace.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cstring>

namespace quadtile::bench {

namespace {

// Size of the random rows.
constexpr std::size_t RANDOM_SIZE_BYTES = std::size_t{16} << 20U;

}  // namespace

std::string text_of_extents(const ImageShape& shape) {
    const std::string width = std::to_string(shape.width);
    return shape.width == shape.height ? width : width + "x" + std::to_string(shape.height);
}

void require_images(const DeviceInfo& device, const ImageShape& shape) {
    constexpr std::uint64_t TOO_MANY_TEXELS = std::uint64_t{1} << 32U;
    if (std::max(shape.width, shape.height) > device.max_map_extent ||
        std::uint64_t{shape.width} * shape.height >= TOO_MANY_TEXELS) {
        throw Error(ErrorCode::unsupported, "the device or the library has no images as large");
    }
}

std::vector<std::byte> bench_texels(const ImageShape& shape) {
    constexpr float LEAST_NORMAL_HALF = 0x1p-14F;
    return test::random_texels(shape, false, LEAST_NORMAL_HALF, 1.0F);
}

void fill_with_random_rows(test::Gpu& gpu, const test::Image& image, TexelFormat format) {
    const VkExtent3D extent = image.extent();
    const auto rows = static_cast<std::uint32_t>(std::clamp<std::size_t>(
        RANDOM_SIZE_BYTES / (extent.width * texel_size_bytes(format)), 1, extent.height));
    const std::vector<std::byte> texels = bench_texels({extent.width, rows, 1, format});
    const test::Buffer on_host = gpu.make_buffer(texels.size(), 0, test::Memory::host_visible);
    const test::Buffer on_device = gpu.make_buffer(texels.size(), 0);
    std::memcpy(on_host.mapped(), texels.data(), texels.size());

    std::vector<VkBufferImageCopy> copies;
    for (std::uint32_t layer = 0; layer < image.layers(); ++layer) {
        for (std::uint32_t row = 0; row < extent.height; row += rows) {
            copies.push_back({
                .imageSubresource = {image.range().aspectMask, 0, layer, 1},
                .imageOffset = {0, static_cast<std::int32_t>(row), 0},
                .imageExtent = {extent.width, std::min(rows, extent.height - row), 1},
            });
        }
    }
    gpu.run([&](VkCommandBuffer commands) {
        const VkBufferCopy all = {0, 0, texels.size()};
        vkCmdCopyBuffer(commands, on_host.handle(), on_device.handle(), 1, &all);
        gpu.barrier(commands);
        vkCmdCopyBufferToImage(commands, on_device.handle(), image.handle(), image.layout(),
                               static_cast<std::uint32_t>(copies.size()), copies.data());
    });
}

std::vector<ImageShape> shapes_to_check(const ImageShape& shape) {
    constexpr std::uint32_t MODERATE_EXTENT = 1024;
    constexpr std::uint32_t LARGEST_OF_ONE_HAND_OVER = 4096;
    ImageShape square = shape;
    square.width = square.height = std::min(shape.width, MODERATE_EXTENT - shape.width % 2);
    std::vector<ImageShape> shapes = {square};
    if (shape.width > LARGEST_OF_ONE_HAND_OVER) {
        shapes.push_back(shape);
        shapes.back().height = 64;
    }
    return shapes;
}

void check_levels(const MipChain& levels, const ImageView& source,
                  const DownsamplerOptions& options) {
    const bool is_sum = options.reduction == Reduction::mean || options.reduction == Reduction::sum;
    if (options.method == MipMethod::blit || (options.filtered && is_sum)) {
        return;
    }
    const std::string difference =
        test::difference(levels, reference::downsample(source, {.reduction = options.reduction,
                                                                .format = options.format,
                                                                .edge_rule = options.edge_rule,
                                                                .method = options.method}));
    if (!difference.empty()) {
        throw WrongResult(difference);
    }
}

}  // namespace quadtile::bench
