#include "save_image.hpp"

#include "random_images.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/images.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace quadtile::app::test {

using quadtile::test::TemporaryDirectory;
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const LoadedImage& image) {
    return {image.texels.get(), image.texels.get() + std::size_t{image.shape.width} *
                                                         image.shape.height *
                                                         texel_size_bytes(image.shape.format)};
}

TEST(SaveImage, KeepsEveryTexel) {
    const TemporaryDirectory directory;
    for (const TexelFormat format :
         {TexelFormat::r32_float, TexelFormat::r16_float, TexelFormat::rgba32_float,
          TexelFormat::rgba16_float, TexelFormat::r16_unorm, TexelFormat::r8_unorm,
          TexelFormat::rgba8_unorm, TexelFormat::rgba8_srgb}) {
        for (const auto& [width, height] : {std::pair(37U, 19U), {1U, 1U}, {300U, 2U}}) {
            const RandomImage image({width, height, 1, format});
            const auto file = directory.add("image", encode_image(image.view()));
            const LoadedImage loaded =
                load_image(file, {.linear = format != TexelFormat::rgba8_srgb});
            EXPECT_EQ(loaded.shape, image.shape) << name_of(format);
            EXPECT_EQ(bytes_of(loaded), image.texels) << name_of(format);
            if (channel_count(format) == 1) {
                const LoadedMap map = load_map(file);
                EXPECT_EQ(map.shape, image.shape) << name_of(format);
                EXPECT_EQ(std::memcmp(map.texels.get(), image.texels.data(), image.texels.size()),
                          0)
                    << name_of(format);
            }
        }
    }
}

TEST(SaveImage, TwoChannelsAreRedAndGreen) {
    const TemporaryDirectory directory;
    const RandomImage image({5, 3, 1, TexelFormat::rg16_float});
    const auto file = directory.add("image", encode_image(image.view()));
    for (const auto& [channel, offset] : {std::pair("R", 0U), {"G", 2U}}) {
        const LoadedMap loaded = load_map(file, channel);
        EXPECT_EQ(loaded.shape.format, TexelFormat::r16_float);
        for (std::size_t i = 0; i < 15; ++i) {
            EXPECT_EQ(loaded.texels[2 * i], image.texels[4 * i + offset]);
            EXPECT_EQ(loaded.texels[2 * i + 1], image.texels[4 * i + offset + 1]);
        }
    }
}

}  // namespace
}  // namespace quadtile::app::test
