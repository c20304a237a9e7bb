#include "image_files.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace quadtile::app::test {

using quadtile::test::read_file;
using quadtile::test::refusal_of;
using quadtile::test::TemporaryDirectory;
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int WIDTH = 7;
constexpr int HEIGHT = 5;
constexpr float INFINITE = std::numeric_limits<float>::infinity();

// Each texel different, exact as a 16-bit float.
std::vector<float> ramp(float first = 0.5F) {
    std::vector<float> values(WIDTH * HEIGHT);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = first + static_cast<float>(i) * 0.25F;
    }
    return values;
}

class LoadMap : public ::testing::Test {
 protected:
    LoadedMap load(const std::string& bytes, const std::string& channel = {}) const {
        return load_map(directory_.add("map", bytes), channel);
    }

    std::vector<float> values(const std::string& bytes, const std::string& channel = {}) const {
        return reference::decode(load(bytes, channel).view());
    }

    // The message of the error; empty: there is none.
    std::string failure(const std::string& bytes, const std::string& channel = {}) const {
        return refusal_of([&] { return load(bytes, channel); });
    }

    std::vector<std::string> channels(const std::string& bytes) const {
        return channels_of(directory_.add("map", bytes));
    }

    TemporaryDirectory directory_;
};

TEST_F(LoadMap, ExrFloatChannelKeepsItsBits) {
    std::vector<float> texels = ramp();
    texels[3] = -INFINITE;
    texels[4] = INFINITE;
    texels[5] = -0.0F;
    texels[6] = std::numeric_limits<float>::denorm_min();
    texels[7] = std::nanf("");
    const LoadedMap map = load(encode_exr_channels(WIDTH, HEIGHT, {{"Y", texels}}));
    EXPECT_EQ(map.shape, (MapShape{WIDTH, HEIGHT, 1, TexelFormat::r32_float}));
    EXPECT_EQ(map.channel, "Y");
    EXPECT_EQ(std::memcmp(map.texels.get(), texels.data(), texels.size() * sizeof(float)), 0);
}

TEST_F(LoadMap, ExrUintChannelBecomesFloat) {
    std::vector<std::uint32_t> texels(WIDTH * HEIGHT, 3);
    texels[9] = 0xffffff00U;  // 24 significant bits
    const std::vector<float> expected(texels.begin(), texels.end());
    EXPECT_EQ(values(encode_exr_channels(WIDTH, HEIGHT, {{"Z", {}, texels}})), expected);

    texels[9] = 16777217;  // 2^24 + 1
    EXPECT_THAT(failure(encode_exr_channels(WIDTH, HEIGHT, {{"Z", {}, texels}})),
                AllOf(HasSubstr("16777217"), HasSubstr("(2, 1)"), HasSubstr("'Z'")));
    texels[9] = std::numeric_limits<std::uint32_t>::max();
    EXPECT_THAT(failure(encode_exr_channels(WIDTH, HEIGHT, {{"Z", {}, texels}})),
                HasSubstr("4294967295"));
}

TEST_F(LoadMap, ExrTakesYThenLuminanceThenTheFirstChannel) {
    const std::vector<float> r = ramp(1.0F);
    const std::vector<float> g = ramp(2.0F);
    const std::vector<float> b = ramp(3.0F);
    std::vector<float> luminance;
    for (std::size_t i = 0; i < r.size(); ++i) {
        luminance.push_back(0.212639F * r[i] + 0.715169F * g[i] + 0.072192F * b[i]);
    }
    EXPECT_EQ(values(encode_exr_channels(WIDTH, HEIGHT,
                                         {{"B", b}, {"G", g}, {"R", r}, {"Y", ramp(9.0F)}})),
              ramp(9.0F));
    const std::string rgb =
        encode_exr_channels(WIDTH, HEIGHT, {{"A", b}, {"B", b}, {"G", g}, {"R", r, {}, false}});
    EXPECT_EQ(values(rgb), luminance);
    EXPECT_EQ(load(rgb).channel, "luminance");
    EXPECT_EQ(values(encode_exr_channels(WIDTH, HEIGHT, {{"G", g}, {"Z", b}})), g);
}

TEST_F(LoadMap, ExrLuminanceOfMoreRowsThanOneBand) {
    constexpr int rows = 700;
    std::vector<float> red(rows);
    std::vector<float> expected;
    for (std::size_t i = 0; i < rows; ++i) {
        red[i] = static_cast<float>(i);
        expected.push_back(0.212639F * red[i] + 0.715169F * 0.5F + 0.072192F * 2.0F);
    }
    const std::vector<ExrChannel> channels{{"R", red},
                                           {"G", std::vector<float>(rows, 0.5F), {}, true},
                                           {"B", std::vector<float>(rows, 2.0F)}};
    EXPECT_EQ(values(encode_exr_channels(1, rows, channels)), expected);
    EXPECT_EQ(values(encode_exr_channels(1, rows, channels, {.top = -123, .tile_extent = 48})),
              expected);
}

TEST_F(LoadMap, ExrChannelByName) {
    const std::string bytes =
        encode_exr_channels(WIDTH, HEIGHT, {{"Y", ramp(1.0F)}, {"light.count", ramp(2.0F)}});
    EXPECT_EQ(values(bytes, "light.count"), ramp(2.0F));
    EXPECT_THAT(failure(bytes, "depth"),
                AllOf(HasSubstr("'depth'"), HasSubstr("it has Y, light.count")));
}

TEST_F(LoadMap, ExrTilesMipLevelsAndEveryCompression) {
    for (const Imf::Compression compression :
         {Imf::NO_COMPRESSION, Imf::RLE_COMPRESSION, Imf::ZIPS_COMPRESSION, Imf::ZIP_COMPRESSION,
          Imf::PIZ_COMPRESSION}) {  // the lossless ones
        for (const ExrOptions& options :
             {ExrOptions{.compression = compression, .left = -3, .top = 2},
              {.compression = compression, .left = 1000000, .top = -1000000, .tile_extent = 4},
              {.compression = compression, .tile_extent = 4, .mip_levels = true}}) {
            EXPECT_EQ(values(encode_exr_channels(WIDTH, HEIGHT,
                                                 {{"Y", ramp(), {}, options.mip_levels}}, options)),
                      ramp());
        }
    }
}

TEST_F(LoadMap, ExrLayerByNameIsItsLuminance) {
    const std::string bytes = encode_exr_channels(WIDTH, HEIGHT,
                                                  {{"diffuse.R", ramp(1.0F)},
                                                   {"diffuse.G", ramp(2.0F)},
                                                   {"diffuse.B", ramp(3.0F)},
                                                   {"flat.R", ramp(4.0F)},
                                                   {"flat.G", ramp(5.0F)}});
    std::vector<float> expected;
    for (std::size_t i = 0; i < ramp().size(); ++i) {
        expected.push_back(0.212639F * ramp(1.0F)[i] + 0.715169F * ramp(2.0F)[i] +
                           0.072192F * ramp(3.0F)[i]);
    }
    EXPECT_EQ(values(bytes, "diffuse"), expected);
    EXPECT_EQ(load(bytes, "diffuse").channel, "diffuse");
    EXPECT_EQ(values(bytes, "diffuse.R"), ramp(1.0F));
    EXPECT_THAT(failure(bytes, "flat"), HasSubstr("it has diffuse, diffuse.B, diffuse.G"));
    EXPECT_THAT(failure(bytes, "diffuse."), HasSubstr("no channel 'diffuse.'"));
    EXPECT_EQ(channels(bytes), (std::vector<std::string>{"diffuse", "diffuse.B", "diffuse.G",
                                                         "diffuse.R", "flat.G", "flat.R"}));
}

// OpenEXR itself compares as many characters as a name in a file can have.
TEST_F(LoadMap, ExrChannelWithALongerNameIsAnotherOne) {
    const std::string name(255, 'n');
    const std::string bytes = encode_exr_channels(WIDTH, HEIGHT, {{name, ramp()}});
    EXPECT_EQ(values(bytes, name), ramp());
    EXPECT_THAT(failure(bytes, name + "n"), HasSubstr("it has no channel"));
}

TEST_F(LoadMap, ExrChannelGoesBeforeALayerOfItsName) {
    const std::string bytes = encode_exr_channels(WIDTH, HEIGHT,
                                                  {{"a", ramp(1.0F)},
                                                   {"a.R", ramp(2.0F)},
                                                   {"a.G", ramp(3.0F)},
                                                   {"a.B", ramp(4.0F)},
                                                   {"b.c.R", ramp(1.0F)},
                                                   {"b.c.G", ramp(1.0F)},
                                                   {"b.c.B", ramp(1.0F)}});
    EXPECT_EQ(values(bytes, "a"), ramp(1.0F));
    EXPECT_EQ(channels(bytes), (std::vector<std::string>{"a", "a.B", "a.G", "a.R", "b.c", "b.c.B",
                                                         "b.c.G", "b.c.R"}));
    EXPECT_EQ(load(bytes, "b.c").shape.format, TexelFormat::r32_float);
    EXPECT_THAT(failure(bytes, "b"), HasSubstr("no channel 'b'"));
}

TEST_F(LoadMap, ChannelsAreThoseThatCanBeChosen) {
    const std::vector<std::uint32_t> ids(WIDTH * HEIGHT);
    const std::vector<float> pixels(12, 1.0F);
    const std::vector<std::uint16_t> samples(12, 7);
    using Names = std::vector<std::string>;
    for (const auto& [bytes, names] : std::vector<std::pair<std::string, Names>>{
             {encode_exr_channels(WIDTH, HEIGHT,
                                  {{"Y", ramp()},
                                   {"light.count", ramp(), {}, true},
                                   {"R", ramp()},
                                   {"id", {}, ids}}),
              {"R", "Y", "id", "light.count"}},
             // Their luminance has no name.
             {encode_exr_channels(WIDTH, HEIGHT, {{"R", ramp()}, {"G", ramp()}, {"B", ramp()}}),
              {"B", "G", "R"}},
             {encode_pfm_values(4, 3, false, pixels, true), {"Y"}},
             {encode_pfm_values(2, 2, true, pixels, false), {"R", "G", "B"}},
             {encode_png_samples(4, 3, PngType::grey, 16, samples), {"Y"}},
             {encode_png_samples(3, 2, PngType::grey_alpha, 8, samples), {"Y"}},
             {encode_png_samples(2, 2, PngType::colour, 8, samples), {"R", "G", "B"}},
             {encode_png_samples(3, 1, PngType::colour_alpha, 16, samples), {"R", "G", "B"}}}) {
        EXPECT_EQ(channels(bytes), names);
    }
    EXPECT_THROW((void)channels("{}"), Error);
    EXPECT_THROW((void)channels_of(directory_.path() / "missing.exr"), Error);
}

// Kinds of files that are seeds of the fuzzers.
TEST_F(LoadMap, ExrPartsSubsampledChannelsAndDeepData) {
    const std::filesystem::path seeds = QUADTILE_FUZZ_FOLDER "/seeds/exr";
    if (!std::filesystem::is_directory(seeds)) {
        GTEST_SKIP() << "the sources, with " << seeds << ", are not here";
    }
    const std::string parts = read_file(seeds / "parts.exr");
    EXPECT_EQ(channels(parts), (std::vector<std::string>{"Y", "G"}));
    EXPECT_EQ(load(parts).shape.format, TexelFormat::r32_float);
    EXPECT_EQ(values(parts, "G"), ramp());
    EXPECT_EQ(load(parts, "G").shape.format, TexelFormat::r16_float);
    EXPECT_THAT(failure(parts, "Z"), HasSubstr("it has Y, G"));

    const std::string subsampled = read_file(seeds / "subsampled.exr");
    EXPECT_EQ(channels(subsampled), std::vector<std::string>{"Y"});
    EXPECT_EQ(values(subsampled), std::vector<float>(48, 1.0F));
    EXPECT_THAT(failure(subsampled, "BY"), AllOf(HasSubstr("'BY'"), HasSubstr("subsampled")));
    const std::string deep = read_file(seeds / "deep.exr");
    EXPECT_THAT(failure(deep), HasSubstr("deep data"));
    EXPECT_THROW((void)channels(deep), Error);
}

TEST_F(LoadMap, PfmOfBothByteOrdersBottomRowFirst) {
    for (const bool big_endian : {false, true}) {
        const LoadedMap map = load(encode_pfm_values(WIDTH, HEIGHT, false, ramp(), big_endian));
        EXPECT_EQ(map.shape, (MapShape{WIDTH, HEIGHT, 1, TexelFormat::r32_float}));
        EXPECT_EQ(reference::decode(map.view()), ramp());
    }
}

TEST_F(LoadMap, PfmColour) {
    std::vector<float> pixels;
    std::vector<float> green;
    std::vector<float> luminance;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const auto value = static_cast<float>(i);
        pixels.insert(pixels.end(), {value, value + 0.5F, 3.0F});
        green.push_back(value + 0.5F);
        luminance.push_back(0.212639F * value + 0.715169F * (value + 0.5F) + 0.072192F * 3.0F);
    }
    const std::string bytes = encode_pfm_values(WIDTH, HEIGHT, true, pixels, true);
    EXPECT_EQ(values(bytes), luminance);
    EXPECT_EQ(values(bytes, "G"), green);
    EXPECT_THAT(failure(bytes, "Y"), HasSubstr("it has R, G, B"));
}

TEST_F(LoadMap, PfmWithBadHeader) {
    EXPECT_THAT(failure("Pf\n0 4\n-1\n"), HasSubstr("0 x 4"));
    EXPECT_THAT(failure("Pf\n-3 4\n-1\n"), HasSubstr("-3 x 4"));
    EXPECT_THAT(failure("Pf\n100000 100000\n-1\nxx"), HasSubstr("100000 x 100000"));
    EXPECT_THAT(failure("Pf\n3 4\n0\n"), HasSubstr("scale is 0"));
    EXPECT_THAT(failure("Pf\nthree 4\n-1\n"), HasSubstr("damaged PFM header"));
    EXPECT_THAT(failure("Pf\n99999999999999999999999 4\n-1\n"), HasSubstr("damaged PFM header"));
    EXPECT_THAT(failure("Pf\n60000 60000\n-1\nxxxx"),
                AllOf(HasSubstr("truncated"), HasSubstr("14400000018 bytes"), HasSubstr("has 22")));
}

TEST_F(LoadMap, PngColourBecomesLinearLuminanceWithoutAlpha) {
    const std::vector<std::uint16_t> rgba{255, 0, 51, 7, 10, 20, 30, 200};
    const std::vector<float> expected{
        0.212639F * 1.0F + 0.715169F * 0.0F + 0.072192F * (51.0F / 255.0F),
        0.212639F * (10.0F / 255.0F) + 0.715169F * (20.0F / 255.0F) + 0.072192F * (30.0F / 255.0F)};
    const std::string bytes = encode_png_samples(2, 1, PngType::colour_alpha, 8, rgba);
    EXPECT_EQ(values(bytes), expected);
    const LoadedMap green = load(bytes, "G");
    EXPECT_EQ(green.shape.format, TexelFormat::r8_unorm);
    EXPECT_EQ(green.texels[1], std::byte{20});
    EXPECT_THAT(failure(bytes, "A"), HasSubstr("it has R, G, B"));

    const LoadedMap rgb16 =
        load(encode_png_samples(2, 1, PngType::colour, 16, {65535, 257, 1, 65535, 257, 9999}), "B");
    EXPECT_EQ(rgb16.shape.format, TexelFormat::r16_unorm);
    EXPECT_EQ(reference::decode(rgb16.view()),
              (std::vector<float>{1.0F / 65535.0F, 9999.0F / 65535.0F}));

    const LoadedMap grey_alpha =
        load(encode_png_samples(2, 1, PngType::grey_alpha, 8, {17, 99, 18, 98}));
    EXPECT_EQ(grey_alpha.shape.format, TexelFormat::r8_unorm);
    EXPECT_EQ(grey_alpha.texels[1], std::byte{18});
}

TEST_F(LoadMap, WhatIsNoImageIsNamed) {
    EXPECT_THAT(failure(""), AllOf(HasSubstr((directory_.path() / "map").string()),
                                   HasSubstr("the file is empty")));
    EXPECT_THAT(failure("{\"tiles\": []}"), HasSubstr("not an OpenEXR, PFM or PNG image"));
    EXPECT_THAT(failure("P"), HasSubstr("not an OpenEXR, PFM or PNG image"));
    EXPECT_THROW((void)load_map(directory_.path() / "missing.exr"), Error);
    EXPECT_THROW((void)load_map(directory_.path()), Error);
}

// Files of some hundred bytes that announce gigabytes, and what becomes of them.
TEST_F(LoadMap, WhatNoFileOfItsSizeCanHoldIsRefused) {
    const std::filesystem::path found = QUADTILE_FUZZ_FOLDER "/found";
    if (!std::filesystem::is_directory(found)) {
        GTEST_SKIP() << "the sources, with " << found << ", are not here";
    }
    const auto failure_of = [&](const char* name) { return failure(read_file(found / name)); };
    EXPECT_THAT(
        failure_of("exr/attribute_announces_2_gigabytes.exr"),
        AllOf(HasSubstr("its attribute 'c"), HasSubstr("are left); copy or save it again")));
    EXPECT_THAT(failure_of("exr/attribute_of_other_size_than_its_type.exr"),
                HasSubstr("'compression' of type compression has 9 bytes instead of 1"));
    EXPECT_THAT(failure_of("exr/text_of_a_list_announces_2_gigabytes.exr"),
                HasSubstr("a text of its attribute 'multiView' announces 2147483647 bytes"));
    EXPECT_THAT(failure_of("exr/tile_of_a_gigabyte.exr"),
                HasSubstr("announces pixels of 1024 MiB"));
    EXPECT_THAT(failure_of("exr/tile_larger_than_its_image.exr"),
                AllOf(HasSubstr("32768 x 16383 texels take 2047 MiB"), HasSubstr("smaller tiles")));
    EXPECT_THAT(failure_of("exr/rows_of_2_gigabytes.exr"),
                AllOf(HasSubstr("65536 x 256 texels take 1920 MiB"), HasSubstr("save it")));
    EXPECT_THAT(failure_of("png/chunk_announces_1_gigabyte.png"),
                AllOf(HasSubstr("damaged or truncated PNG"), HasSubstr("copy or save it again")));
    EXPECT_THAT(failure_of("png/header_announces_a_gigabyte.png"),
                AllOf(HasSubstr("pixels of 1073709056 bytes"), HasSubstr("too few")));
}

// Much of one value: no method makes more of a byte than check_exr_pixels says.
TEST_F(LoadMap, ExrOfOneValueIsNotTakenForDamaged) {
    constexpr int EXTENT = 1024;
    const std::vector<float> zeros(std::size_t{EXTENT} * EXTENT);
    for (const Imf::Compression compression :
         {Imf::NO_COMPRESSION, Imf::RLE_COMPRESSION, Imf::ZIPS_COMPRESSION, Imf::ZIP_COMPRESSION,
          Imf::PIZ_COMPRESSION, Imf::PXR24_COMPRESSION, Imf::B44_COMPRESSION, Imf::B44A_COMPRESSION,
          Imf::DWAA_COMPRESSION, Imf::DWAB_COMPRESSION}) {
        for (const std::optional<int> tile : {std::optional<int>{}, std::optional(EXTENT)}) {
            const std::string bytes =
                encode_exr_channels(EXTENT, EXTENT, {{"Y", zeros, {}, tile.has_value()}},
                                    {.compression = compression, .tile_extent = tile});
            EXPECT_EQ(failure(bytes), "") << compression << tile.has_value();
        }
    }
}

// Valid files of every kind. All of their pixels are read.
std::vector<std::string> sample_files() {
    std::vector<std::string> files;
    for (const Imf::Compression compression :
         {Imf::NO_COMPRESSION, Imf::RLE_COMPRESSION, Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION,
          Imf::PXR24_COMPRESSION, Imf::B44A_COMPRESSION, Imf::DWAA_COMPRESSION}) {
        files.push_back(
            encode_exr_channels(WIDTH, HEIGHT, {{"Y", ramp()}}, {.compression = compression}));
        files.push_back(encode_exr_channels(WIDTH, HEIGHT, {{"Y", ramp(), {}, true}},
                                            {.compression = compression, .tile_extent = 4}));
    }
    files.push_back(
        encode_exr_channels(WIDTH, HEIGHT, {{"R", ramp()}, {"G", ramp()}, {"B", ramp()}}));
    files.push_back(encode_pfm_values(WIDTH, HEIGHT, false, ramp(), false));
    files.push_back(encode_pfm_values(2, 2, true, ramp(), true));
    const std::vector<std::uint16_t> samples(WIDTH * HEIGHT, 300);
    files.push_back(encode_png_samples(WIDTH, HEIGHT, PngType::grey, 8, samples));
    files.push_back(encode_png_samples(WIDTH, HEIGHT, PngType::grey, 16, samples));
    files.push_back(
        encode_png_samples(2, 2, PngType::colour_alpha, 8, std::vector<std::uint16_t>(16, 77)));
    return files;
}

TEST_F(LoadMap, EveryTruncationIsAnError) {
    for (const std::string& bytes : sample_files()) {
        ASSERT_EQ(failure(bytes), "");
        // A PNG is complete without the checksum of its end marker.
        const std::size_t complete = bytes.starts_with("\x89PNG") ? bytes.size() - 4 : bytes.size();
        for (std::size_t size = 0; size < complete; ++size) {
            EXPECT_NE(failure(bytes.substr(0, size)), "")
                << "of " << bytes.size() << " bytes, beginning " << bytes.substr(0, 4)
                << ", the first " << size;
        }
    }
}

}  // namespace
}  // namespace quadtile::app::test
