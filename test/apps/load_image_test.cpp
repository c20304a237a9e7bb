#include "image_files.hpp"
#include "support/pfm.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace quadtile::app::test {

using quadtile::test::pfm;
using quadtile::test::TemporaryDirectory;
namespace {

using ::testing::ElementsAre;

constexpr int IMAGE_WIDTH = 3;
constexpr int IMAGE_HEIGHT = 2;
constexpr std::size_t TEXELS = IMAGE_WIDTH * IMAGE_HEIGHT;

LoadedImage load(const std::string& bytes, const ImageSelection& selection = {}) {
    const TemporaryDirectory directory;
    const LoadedImage image = load_image(directory.add("image", bytes), selection);
    EXPECT_EQ(image.shape, (ImageShape{IMAGE_WIDTH, IMAGE_HEIGHT, 1, image.shape.format}));
    return image;
}

std::vector<float> texel(const LoadedImage& image, std::size_t number) {
    const reference::Texel value = reference::decode_texels(image.view())[number];
    return {value.begin(), value.begin() + channel_count(image.shape.format)};
}

// Catches channels that are swapped or added in another value, and codes that are decoded by
// another transfer. SaveImage.KeepsEveryTexel has each format's own texels.
TEST(LoadImage, Png) {
    struct Case {
        PngType type;
        std::size_t components;
        int bits;
        bool linear;
        TexelFormat format;
        std::vector<int> codes;  // of the second texel
    };
    for (const Case& here :
         {Case{PngType::grey, 1, 8, false, TexelFormat::rgba8_srgb, {20, 20, 20, 255}},
          {PngType::grey_alpha, 2, 8, true, TexelFormat::rgba8_unorm, {30, 30, 30, 40}},
          {PngType::colour, 3, 8, false, TexelFormat::rgba8_srgb, {40, 50, 60, 255}},
          {PngType::grey, 1, 16, false, TexelFormat::r16_unorm, {20}},  // 16 bits are linear
          {PngType::colour, 3, 16, false, TexelFormat::rgba32_float, {40, 50, 60, 65535}}}) {
        std::vector<std::uint16_t> samples(TEXELS * here.components);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            samples[i] = static_cast<std::uint16_t>((i + 1) * 10);
        }
        LoadedImage image =
            load(encode_png_samples(IMAGE_WIDTH, IMAGE_HEIGHT, here.type, here.bits, samples),
                 {.linear = here.linear});
        EXPECT_EQ(image.shape.format, here.format);
        if (here.format == TexelFormat::rgba8_srgb) {
            image.shape.format = TexelFormat::rgba8_unorm;  // to see the codes
        }
        const float largest = here.bits == 8 ? 255.0F : 65535.0F;
        std::vector<float> expected(here.codes.begin(), here.codes.end());
        std::ranges::for_each(expected, [=](float& code) { code /= largest; });
        EXPECT_EQ(texel(image, 1), expected);
    }
}

TEST(LoadImage, Pfm) {
    std::vector<float> values(TEXELS * 3);
    std::iota(values.begin(), values.end(), -4.5F);
    for (const bool big_endian : {false, true}) {
        EXPECT_THAT(texel(load(pfm(values, IMAGE_WIDTH, true, big_endian)), 4),
                    ElementsAre(7.5F, 8.5F, 9.5F, 1.0F));
    }
}

TEST(LoadImage, ExrKeepsHalvesOnlyWhereAllAre) {
    const auto channel = [](const char* name, float value, bool half) {
        return ExrChannel{name, std::vector<float>(TEXELS, value), {}, half};
    };
    const auto encode = [](const std::vector<ExrChannel>& channels) {
        return encode_exr_channels(IMAGE_WIDTH, IMAGE_HEIGHT, channels, {.left = -2, .top = 7});
    };
    LoadedImage image =
        load(encode({channel("R", 0.5F, true), channel("G", 1.5F, true), channel("B", 2, true)}));
    EXPECT_EQ(image.shape.format, TexelFormat::rgba16_float);
    EXPECT_THAT(texel(image, 5), ElementsAre(0.5F, 1.5F, 2.0F, 1.0F));

    // Y is one more channel beside them.
    image = load(encode({channel("R", 0.5F, true), channel("G", 1.5F, true), channel("B", 2, true),
                         channel("A", 0.25F, false), channel("Y", 9, true)}));
    EXPECT_EQ(image.shape.format, TexelFormat::rgba32_float);
    EXPECT_THAT(texel(image, 0), ElementsAre(0.5F, 1.5F, 2.0F, 0.25F));

    image = load(encode({channel("Z", 3, true), channel("Q", 4, true)}));
    EXPECT_EQ(image.shape.format, TexelFormat::r16_float);
    EXPECT_THAT(texel(image, 5), ElementsAre(3.0F));

    // The first layer with colours, with its own alpha.
    image = load(
        encode({channel("a.A", 3, true), channel("b.A", 0.25F, true), channel("b.B", 2, true),
                channel("b.G", 1.5F, true), channel("b.R", 0.5F, true), channel("c.R", 4, true)}));
    EXPECT_THAT(texel(image, 5), ElementsAre(0.5F, 1.5F, 2.0F, 0.25F));
}

}  // namespace
}  // namespace quadtile::app::test
