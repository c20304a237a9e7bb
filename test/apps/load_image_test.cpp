#include "image_files.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

namespace quadtile::app::test {

using quadtile::test::refusal_of;
using quadtile::test::TemporaryDirectory;
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int IMAGE_WIDTH = 3;
constexpr int IMAGE_HEIGHT = 2;
constexpr std::size_t TEXELS = IMAGE_WIDTH * IMAGE_HEIGHT;

class LoadImage : public ::testing::Test {
 protected:
    LoadedImage load(const std::string& bytes, const ImageSelection& selection = {}) const {
        return load_image(directory_.add("image", bytes), selection);
    }

    std::string failure(const std::string& bytes, const ImageSelection& selection = {}) const {
        return refusal_of([&] { return load(bytes, selection); });
    }

    TemporaryDirectory directory_;
};

std::vector<std::uint16_t> ramp(std::size_t components, std::uint16_t step) {
    std::vector<std::uint16_t> samples(TEXELS * components);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = static_cast<std::uint16_t>((i + 1) * step);
    }
    return samples;
}

// The stored codes of a texel.
template <typename Code>
std::vector<int> codes(const LoadedImage& image, std::size_t texel) {
    const auto* const all = reinterpret_cast<const Code*>(image.texels.get());
    const std::size_t count = channel_count(image.shape.format);
    return {all + texel * count, all + (texel + 1) * count};
}

std::vector<float> floats(const LoadedImage& image, std::size_t texel) {
    const reference::Texel value = reference::decode_texels(image.view())[texel];
    return {value.begin(), value.begin() + channel_count(image.shape.format)};
}

TEST_F(LoadImage, Png) {
    struct Case {
        PngType type;
        std::size_t components;
        bool linear;
        TexelFormat format;
        std::vector<int> texel;  // the second
    };
    for (const Case& here :
         {Case{PngType::grey, 1, false, TexelFormat::rgba8_srgb, {20, 20, 20, 255}},
          {PngType::grey, 1, true, TexelFormat::r8_unorm, {20}},
          {PngType::grey_alpha, 2, true, TexelFormat::rgba8_unorm, {30, 30, 30, 40}},
          {PngType::colour, 3, false, TexelFormat::rgba8_srgb, {40, 50, 60, 255}},
          {PngType::colour_alpha, 4, true, TexelFormat::rgba8_unorm, {50, 60, 70, 80}}}) {
        const LoadedImage image = load(
            encode_png_samples(IMAGE_WIDTH, IMAGE_HEIGHT, here.type, 8, ramp(here.components, 10)),
            {.linear = here.linear});
        EXPECT_EQ(image.shape, (ImageShape{IMAGE_WIDTH, IMAGE_HEIGHT, 1, here.format}));
        EXPECT_EQ(codes<std::uint8_t>(image, 1), here.texel);
    }
    for (const bool linear : {false, true}) {  // 16 bits always are
        LoadedImage image =
            load(encode_png_samples(IMAGE_WIDTH, IMAGE_HEIGHT, PngType::grey, 16, ramp(1, 1000)),
                 {.linear = linear});
        EXPECT_EQ(image.shape, (ImageShape{IMAGE_WIDTH, IMAGE_HEIGHT, 1, TexelFormat::r16_unorm}));
        EXPECT_THAT(codes<std::uint16_t>(image, 5), ElementsAre(6000));

        image =
            load(encode_png_samples(IMAGE_WIDTH, IMAGE_HEIGHT, PngType::colour, 16, ramp(3, 1000)),
                 {.linear = linear});
        EXPECT_EQ(image.shape.format, TexelFormat::rgba32_float);
        EXPECT_THAT(floats(image, 1),
                    ElementsAre(4000 / 65535.0F, 5000 / 65535.0F, 6000 / 65535.0F, 1.0F));
    }
}

TEST_F(LoadImage, Pfm) {
    std::vector<float> values(TEXELS * 3);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i) - 4.5F;
    }
    for (const bool big_endian : {false, true}) {
        LoadedImage image =
            load(encode_pfm_values(IMAGE_WIDTH, IMAGE_HEIGHT, true, values, big_endian));
        EXPECT_EQ(image.shape,
                  (ImageShape{IMAGE_WIDTH, IMAGE_HEIGHT, 1, TexelFormat::rgba32_float}));
        EXPECT_THAT(floats(image, 4), ElementsAre(7.5F, 8.5F, 9.5F, 1.0F));
        image = load(
            encode_pfm_values(IMAGE_WIDTH, IMAGE_HEIGHT, false, {0, 1, 2, 3, 4, 5}, big_endian));
        EXPECT_EQ(image.shape.format, TexelFormat::r32_float);
        EXPECT_THAT(floats(image, 4), ElementsAre(4.0F));
    }
    EXPECT_THAT(failure("PF\n3 2\n-1\n0123"), HasSubstr("truncated"));
}

TEST_F(LoadImage, ExrKeepsHalvesOnlyWhereAllAre) {
    const auto channel = [](const char* name, float value, bool half) {
        return ExrChannel{name, std::vector<float>(TEXELS, value), {}, half};
    };
    const auto encode = [](const std::vector<ExrChannel>& channels) {
        return encode_exr_channels(IMAGE_WIDTH, IMAGE_HEIGHT, channels, {.left = -2, .top = 7});
    };
    LoadedImage image =
        load(encode({channel("R", 0.5F, true), channel("G", 1.5F, true), channel("B", 2, true)}));
    EXPECT_EQ(image.shape, (ImageShape{IMAGE_WIDTH, IMAGE_HEIGHT, 1, TexelFormat::rgba16_float}));
    EXPECT_THAT(floats(image, 5), ElementsAre(0.5F, 1.5F, 2.0F, 1.0F));

    // Y is one more channel beside them.
    image = load(encode({channel("R", 0.5F, true), channel("G", 1.5F, true), channel("B", 2, true),
                         channel("A", 0.25F, false), channel("Y", 9, true)}));
    EXPECT_EQ(image.shape.format, TexelFormat::rgba32_float);
    EXPECT_THAT(floats(image, 0), ElementsAre(0.5F, 1.5F, 2.0F, 0.25F));

    image = load(encode({channel("Z", 3, true), channel("Q", 4, true)}));
    EXPECT_EQ(image.shape.format, TexelFormat::r16_float);
    EXPECT_THAT(floats(image, 5), ElementsAre(3.0F));

    // The first layer with colours, with its own alpha.
    image = load(
        encode({channel("a.A", 3, true), channel("b.A", 0.25F, true), channel("b.B", 2, true),
                channel("b.G", 1.5F, true), channel("b.R", 0.5F, true), channel("c.R", 4, true)}));
    EXPECT_THAT(floats(image, 5), ElementsAre(0.5F, 1.5F, 2.0F, 0.25F));
}

}  // namespace
}  // namespace quadtile::app::test
