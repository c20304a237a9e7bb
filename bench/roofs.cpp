// Least possible times (roofs): an empty dispatch, reading each texel of the map once, and the
// traffic of mip levels, and lists of fragments.

#include "roofs.hpp"

#include "measurement.hpp"
#include "mip_images.hpp"

#include <quadtile/limits.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace quadtile::bench {

namespace {

constexpr std::uint32_t EMPTY_SPIRV[] = {
#include "bench_empty.spv.inc"
};
constexpr std::uint32_t LINK_FRAGMENTS_SPIRV[] = {
#include "bench_link_fragments.spv.inc"
};
constexpr std::uint32_t READ_TEXELS_SPIRV[] = {
#include "bench_read_texels.spv.inc"
};

// The same as in all kernels.
constexpr std::uint32_t BLOCK_EXTENT = 64;
struct ReadTexelsParameters {
    float texel_width;  // 1 / extent of the map
    float texel_height;
    std::uint32_t limit;
};

std::uint32_t blocks(std::uint32_t extent) {
    return (extent + BLOCK_EXTENT - 1) / BLOCK_EXTENT;
}

// Returns the kernel's sum. The last texels of a row or column stand for those beyond the edge.
std::uint32_t sum_of_bits(const MapView& map) {
    const std::uint32_t width = map.shape.width;
    const std::uint32_t height = map.shape.height;
    const std::vector<float> texels = reference::decode(map);
    std::uint32_t sum = 0;
    for (std::uint32_t y = 0; y < blocks(height) * BLOCK_EXTENT; ++y) {
        const std::span row(&texels[std::size_t{std::min(y, height - 1)} * width], width);
        for (std::uint32_t x = 0; x < blocks(width) * BLOCK_EXTENT; ++x) {
            sum += std::bit_cast<std::uint32_t>(row[std::min(x, width - 1)]);
        }
    }
    return sum;
}

// Links as many fragments as the map has texels, 16 per pixel (link_fragments.comp).
class LinkFragments {
 public:
    LinkFragments(test::Gpu& gpu, const MapShape& shape)
        : groups_(shape.width * shape.height / 256),
          heads_(gpu.make_buffer(groups_ * 16 * sizeof(std::uint32_t),
                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
          nodes_(gpu.make_buffer(groups_ * 256 * sizeof(Node), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
          pipeline_(gpu, LINK_FRAGMENTS_SPIRV, std::array{heads_.range(), nodes_.range()}) {
        gpu.fill(heads_, 0);
        gpu.run([&](VkCommandBuffer commands) { record(commands); });
        const auto nodes = gpu.read<Node>(nodes_, 0, groups_ * 256);
        std::size_t linked = 0;
        for (std::uint32_t node : gpu.read<std::uint32_t>(heads_, 0, groups_ * 16)) {
            for (; node != 0 && linked <= nodes.size(); ++linked) {
                node = nodes[node - 1][0];
            }
        }
        if (linked != nodes.size()) {
            throw WrongResult("the kernel did not link each fragment once");
        }
    }
    void record(VkCommandBuffer commands) const { pipeline_.record(commands, {groups_, 1, 1}); }

 private:
    using Node = std::array<std::uint32_t, 4>;

    std::uint32_t groups_;
    test::Buffer heads_;
    test::Buffer nodes_;
    test::ComputePipeline pipeline_;
};

}  // namespace

ReadTexels::ReadTexels(const test::Gpu& gpu, const MapImage& image, const ImageShape& shape)
    : shape_(shape),
      result_(gpu.make_buffer(sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
      image_(image),
      pipeline_(gpu, READ_TEXELS_SPIRV, std::array{result_.range()}, &image_,
                sizeof(ReadTexelsParameters)) {}

void ReadTexels::record(VkCommandBuffer commands) const {
    record(commands, std::numeric_limits<std::uint32_t>::max());
}

void ReadTexels::record(VkCommandBuffer commands, std::uint32_t limit) const {
    const ReadTexelsParameters parameters = {1.0F / static_cast<float>(shape_.width),
                                             1.0F / static_cast<float>(shape_.height), limit};
    pipeline_.record(commands, {blocks(shape_.width), blocks(shape_.height), shape_.layers},
                     std::as_bytes(std::span(&parameters, 1)));
}

void ReadTexels::check(test::Gpu& gpu, const MapView& map) const {
    gpu.fill(result_, 0);
    gpu.run([&](VkCommandBuffer commands) { record(commands, 0); });
    if (gpu.read<std::uint32_t>(result_, 0, 1).front() != sum_of_bits(map)) {
        throw WrongResult("the kernel did not read each texel once");
    }
}

void add_roofs(Session& session, const MapSource& source) {
    session.add("empty_dispatch", source, [&session](Scene&) {
        const auto pipeline = std::make_shared<const test::ComputePipeline>(
            session.gpu(), EMPTY_SPIRV, std::span<const BufferRange>());
        return Measurement{[pipeline](VkCommandBuffer commands) {
                               pipeline->record(commands, {1, 1, 1});
                           },
                           {}};
    });
    session.add("link_fragments", source, [&session](Scene& scene) {
        const auto link = std::make_shared<const LinkFragments>(session.gpu(), scene.map().shape);
        return Measurement{[link](VkCommandBuffer commands) { link->record(commands); }, {}};
    });
    session.add("read_texels", source, [&session](Scene& scene) {
        const MapShape& shape = scene.map().shape;
        const auto read = std::make_shared<const ReadTexels>(
            session.gpu(), scene.pyramid().map.map_image(), shape);
        read->check(session.gpu(), scene.map().view());
        return Measurement{[read](VkCommandBuffer commands) { read->record(commands); }, {}};
    });
}

namespace {

constexpr std::uint32_t TRAFFIC_SPIRV[] = {
#include "bench_traffic.spv.inc"
};

// The same as in traffic.comp.
constexpr std::uint32_t STORED_LEVELS = 16;
struct TrafficParameters {
    std::uint32_t width;
    std::uint32_t height;
    float texel_width;  // 1 / width
    float texel_height;
    std::uint32_t top_level;
};

test::Image make_image(test::Gpu& gpu, const ImageShape& shape, std::uint32_t levels) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu.device().physical_device(), &properties);
    if (!gpu.device().info().features.storage_image_formats ||
        properties.limits.maxPerStageDescriptorStorageImages < STORED_LEVELS) {
        throw Error(ErrorCode::unsupported, "the device cannot store mip levels from a kernel");
    }
    return gpu.make_image(
        test::image_info(shape, levels, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT));
}

// Gathers the texel of level 1 that the kernel writes: of the texels a b above c d, the first
// channels of c d b a, as many as the format has.
void first_channels(const std::byte* texels, const ImageShape& shape, std::uint32_t x,
                    std::uint32_t y, std::byte* gathered) {
    const std::size_t texel_size = texel_size_bytes(shape.format);
    const std::size_t channels = channel_count(shape.format);
    const std::array<std::array<std::uint32_t, 2>, 4> order = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t column = std::min(2 * x + order[channel][0], shape.width - 1);
        const std::size_t row = std::min(2 * y + order[channel][1], shape.height - 1);
        std::memcpy(gathered + channel * texel_size / channels,
                    texels + (row * shape.width + column) * texel_size, texel_size / channels);
    }
}

}  // namespace

Traffic::Traffic(test::Gpu& gpu, const ImageShape& shape)
    : shape_(shape),
      levels_(full_mip_levels(shape.width, shape.height, EdgeRule::fold)),
      image_(make_image(gpu, shape, levels_)) {
    fill_with_random_rows(gpu, image_, shape.format);
    for (std::uint32_t level = 0; level < levels_; ++level) {
        level_views_.push_back(gpu.make_view(image_, level, VK_IMAGE_VIEW_TYPE_2D_ARRAY));
    }
    std::array<VkImageView, STORED_LEVELS> stored{};
    for (std::uint32_t level = 1; level <= STORED_LEVELS; ++level) {
        // Levels above the top are not used.
        stored[level - 1] = level_views_[std::min(level, levels_ - 1)].get();
    }
    const MapImage source = image_.map_image();
    pipeline_.emplace(gpu, TRAFFIC_SPIRV, std::span<const BufferRange>(), &source,
                      static_cast<std::uint32_t>(sizeof(TrafficParameters)), stored);
}

void Traffic::record(VkCommandBuffer commands) const {
    const TrafficParameters parameters = {shape_.width, shape_.height,
                                          1.0F / static_cast<float>(shape_.width),
                                          1.0F / static_cast<float>(shape_.height), levels_ - 1};
    pipeline_->record(commands, {blocks(shape_.width), blocks(shape_.height), shape_.layers},
                      std::as_bytes(std::span(&parameters, 1)));
}

void Traffic::check(test::Gpu& gpu) const {
    const auto run = [&] { gpu.run([&](VkCommandBuffer commands) { record(commands); }); };
    // Checks by level 1 that each quad was read.
    const std::size_t texel_size = texel_size_bytes(shape_.format);
    if (levels_ > 1) {
        run();
        const std::vector<std::byte> source = gpu.download(image_, 0);
        const std::vector<std::byte> level = gpu.download(image_, 1);
        const std::uint32_t width = std::max(shape_.width / 2, 1U);
        const std::uint32_t height = std::max(shape_.height / 2, 1U);
        std::vector<std::byte> expected(level.size());
        std::byte* texel = expected.data();
        for (std::uint32_t i = 0; i < width * height; ++i) {
            first_channels(source.data(), shape_, i % width, i / width, texel);
            texel += texel_size;
        }
        if (level != expected) {
            throw WrongResult("the kernel did not read each texel once");
        }
    }
    // Checks by two constant images that each texel of all levels is written.
    for (const auto value : {std::byte{0x3c}, std::byte{0x3d}}) {
        const std::vector<std::byte> constant(
            std::size_t{shape_.width} * shape_.height * texel_size, value);
        gpu.upload(image_, constant.data());
        run();
        for (std::uint32_t level = 1; level < levels_; ++level) {
            const std::vector<std::byte> texels = gpu.download(image_, level);
            if (std::ranges::any_of(texels, [&](std::byte byte) { return byte != value; })) {
                throw WrongResult("the kernel did not write each texel of level " +
                                  std::to_string(level));
            }
        }
    }
}

}  // namespace quadtile::bench
