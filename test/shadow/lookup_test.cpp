// Closed forms of shadow_lookup.glsl, by a kernel of its own.

#include "../kernel/gpu_test.hpp"
#include "spheres.hpp"
#include "support/gpu.hpp"

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace quadtile::test {
namespace {

constexpr std::uint32_t FILTER[] = {
#include "test_shadow_filter.spv.inc"
};
constexpr std::uint32_t FACES[] = {
#include "test_shadow_faces.spv.inc"
};

using Place = std::array<float, 4>;

class ShadowLookup : public GpuTest {
 protected:
    template <typename T>
    [[nodiscard]] Buffer buffer_of(const std::vector<T>& values) const {
        Buffer buffer = gpu.make_buffer(values.size() * sizeof(T),
                                        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, Memory::host_visible);
        std::memcpy(buffer.mapped(), values.data(), values.size() * sizeof(T));
        return buffer;
    }
    // `buffers`: those before the image.
    [[nodiscard]] std::vector<Place> look_up(std::span<const std::uint32_t> spirv,
                                             const std::vector<Place>& places,
                                             std::vector<BufferRange> buffers,
                                             const MapImage& image) {
        const Buffer results = buffer_of(places);
        buffers.insert(buffers.begin(), results.range());
        const ShadowParameters parameters = shadow_parameters(options);
        const ComputePipeline pipeline(gpu, spirv, buffers, &image, sizeof(parameters));
        gpu.run([&](VkCommandBuffer commands) {
            pipeline.record(commands, {static_cast<std::uint32_t>(places.size()), 1, 1},
                            std::as_bytes(std::span(&parameters, 1)));
        });
        return gpu.read<Place>(results, 0, places.size());
    }

    Gpu gpu{device_for()};
    const ShadowOptions options =
        with_small_tiles({.lights = 3, .map_extent = 16, .atlas_extent = 64});
};

// A texel's weight in the mean of 3 x 3 bilinear comparisons: 1/3 along each axis up to a texel
// away, then falling to 0. Catches weights that are mirrored, or of the other axis.
TEST_F(ShadowLookup, FilterWeighsTexelsByTheirDistance) {
    std::vector<float> depths(8 * 8, 1.0F);
    depths[3 * 8 + 4] = 0.0F;  // in shadow, at (4.5, 3.5)
    const Image atlas = gpu.upload(MapView{depths.data(), {8, 8}});
    const Owned<VkImageView> view = gpu.make_view(atlas);
    std::vector<Place> places;
    for (float y = 1.0F; y < 7.0F; y += 0.125F) {
        for (float x = 1.5F; x < 7.0F; x += 0.1875F) {
            places.push_back({x, y});
        }
    }
    const Buffer none = gpu.make_buffer(16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const auto found = look_up(FILTER, places, {none.range(), none.range(), none.range()},
                               {view.get(), atlas.layout()});
    const auto weight = [](float distance) {
        return std::clamp(2.0F - std::abs(distance), 0.0F, 1.0F) / 3.0F;
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [x, y, light, unused] = found[i];
        EXPECT_NEAR(light, 1.0F - weight(x - 4.5F) * weight(y - 3.5F), 1e-5F) << x << " " << y;
    }
}

// Places that rounding puts beyond the edge of a map: in the tile of the edge on the faces of a
// point light, outside on those of others.
TEST_F(ShadowLookup, FacesHaveNoSeams) {
    ShadowFrame frame{};
    frame.lights[0].layers = 1;
    frame.lights[0].perspective = 1.0F;
    frame.lights[1] = frame.lights[0];
    frame.lights[1].layers = 0;  // a face
    frame.lights[2].layers = 1;  // a sun
    ShadowTile tile{};           // the whole map, in the whole atlas
    tile.state = 4;
    tile.crop_scale = 62.0F / 64.0F;
    VkImageCreateInfo info = image_info({16, 16, 3}, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
    info.format = VK_FORMAT_R32_UINT;
    const Image pages = gpu.make_image(info);
    const std::vector<std::uint32_t> zeros(16 * 16 * 3);  // tile 0
    gpu.upload(pages, zeros.data());
    const float beyond = std::nextafter(1.0F, 2.0F);
    std::vector<Place> places;
    for (const float light : {0.0F, 1.0F, 2.0F}) {
        for (const auto& [x, y] : {std::pair(beyond, 0.25F),
                                   {-beyond, 0.25F},
                                   {0.25F, beyond},
                                   {0.25F, -beyond},
                                   {1.0F, -1.0F}}) {
            places.push_back({x, y, light});
        }
    }
    const Buffer frames = buffer_of(std::vector{frame});
    const Buffer tiles = buffer_of(std::vector{tile});
    const auto found = look_up(FACES, places, {frames.range(), tiles.range()}, pages.map_image());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [x, y, light, unused] = places[i];
        const auto [is_inside, column, row, outside] = found[i];
        EXPECT_EQ(is_inside == 1.0F, light == 1.0F || i % 5 == 4) << i;
        EXPECT_EQ(outside, is_inside == 0.0F && light == 2.0F ? 1.0F : 0.0F) << i;
        if (is_inside == 1.0F) {
            EXPECT_EQ(column, 32.0F + 31.0F * std::clamp(x, -1.0F, 1.0F)) << i;
            EXPECT_EQ(row, 32.0F + 31.0F * std::clamp(y, -1.0F, 1.0F)) << i;
        }
    }
}

}  // namespace
}  // namespace quadtile::test
