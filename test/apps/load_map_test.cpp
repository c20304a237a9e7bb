// Maps and images from files, and all that the fuzzers keep.

#include "exr_files.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <tuple>

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

const std::filesystem::path FUZZ = QUADTILE_FUZZ_FOLDER;

class LoadMap : public ::testing::Test {
 protected:
    void SetUp() override {
        if (!std::filesystem::is_directory(FUZZ)) {
            GTEST_SKIP() << "the sources, with " << FUZZ << ", are not here";
        }
    }

    // A file that the fuzzers begin with.
    static std::string seed(const std::string& name) {
        const std::string bytes = read_file(FUZZ / "seeds" / name);
        EXPECT_NE(bytes, "") << name;
        return bytes;
    }
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

TEST_F(LoadMap, ExrUintChannelBecomesFloat) {
    std::vector<std::uint32_t> texels(WIDTH * HEIGHT, 3);
    for (const auto& [value, text] : {std::pair(0xffffff00U, ""),  // 24 significant bits
                                      {16777217U, "16777217 at texel (2, 1)"},
                                      {0xffffffffU, "4294967295"}}) {
        texels[9] = value;
        const std::string bytes = encode_exr_channels(WIDTH, HEIGHT, {{"Z", {}, texels}});
        EXPECT_THAT(failure(bytes), HasSubstr(text));
        if (*text == '\0') {
            EXPECT_EQ(values(bytes), std::vector<float>(texels.begin(), texels.end()));
        }
    }
}

std::string encode_ramps(const std::vector<std::string>& names) {  // from 1, 2, 3 ... on
    std::vector<ExrChannel> channels;
    for (const std::string& name : names) {
        channels.push_back({name, ramp(static_cast<float>(channels.size() + 1))});
    }
    return encode_exr_channels(WIDTH, HEIGHT, channels);
}

std::vector<float> luminance_of(float red, float green, float blue) {
    std::vector<float> values;
    for (std::size_t i = 0; i < ramp().size(); ++i) {
        values.push_back(0.212639F * ramp(red)[i] + 0.715169F * ramp(green)[i] +
                         0.072192F * ramp(blue)[i]);
    }
    return values;
}

// Catches alpha as importance, and a choice among others that is not told.
TEST_F(LoadMap, ExrDefaultChannel) {
    struct Case {
        std::vector<std::string> channels;
        const char* chosen;
        bool is_guess;
        std::vector<float> values;
    };
    for (const auto& [names, chosen, is_guess, expected] : std::vector<Case>{
             {{"B", "G", "R", "Y"}, "Y", false, ramp(4.0F)},
             {{"A", "B", "G", "R", "Z", "a.R"}, "luminance", false, luminance_of(4.0F, 3.0F, 2.0F)},
             {{"A", "AB", "AG", "AR", "Z"}, "Z", false, ramp(5.0F)},
             {{"A", "D", "Z"}, "Z", true, ramp(3.0F)},
             {{"A", "AR", "D"}, "D", false, ramp(3.0F)},
             {{"D", "E"}, "D", true, ramp(1.0F)},
             {{"A"}, "A", false, ramp(1.0F)},
             // Krita's and Blender's.
             {{"Layer 1.A", "Layer 1.B", "Layer 1.G", "Layer 1.R", "Layer 2.A", "Layer 2.B",
               "Layer 2.G", "Layer 2.R"},
              "Layer 1",
              true,
              luminance_of(4.0F, 3.0F, 2.0F)},
             {{"View Layer.Combined.A", "View Layer.Combined.B", "View Layer.Combined.G",
               "View Layer.Combined.R", "View Layer.Depth.Z"},
              "View Layer.Combined",
              true,
              luminance_of(4.0F, 3.0F, 2.0F)},
             {{"grey.A", "grey.Y"}, "grey.Y", false, ramp(2.0F)},
             {{"a.A", "a.U", "b.Z"}, "b.Z", true, ramp(3.0F)}}) {
        const std::string bytes = encode_ramps(names);
        EXPECT_EQ(values(bytes), expected) << chosen;
        EXPECT_EQ(load(bytes).channel, chosen);
        EXPECT_EQ(load(bytes).is_guess, is_guess) << chosen;
        EXPECT_FALSE(load(bytes, names[0]).is_guess);
    }
}

TEST_F(LoadMap, ExrLuminanceIsThatOfTheFilesPrimaries) {
    const std::vector<ExrChannel> rgb{{"R", ramp(1.0F)}, {"G", ramp(2.0F)}, {"B", ramp(3.0F)}};
    const auto luminance_with = [&](const Imf::Chromaticities& chromaticities) {
        return values(encode_exr_channels(WIDTH, HEIGHT, rgb, {.chromaticities = chromaticities}));
    };
    EXPECT_EQ(luminance_with({}), luminance_of(1.0F, 2.0F, 3.0F));
    // The Y of XYZ is its luminance; Rec. 2020 and ACES publish theirs.
    const Imf::Chromaticities xyz({1, 0}, {0, 1}, {0, 0}, {1.0F / 3.0F, 1.0F / 3.0F});
    const Imf::Chromaticities rec_2020({0.708F, 0.292F}, {0.17F, 0.797F}, {0.131F, 0.046F},
                                       {0.3127F, 0.329F});
    const Imf::Chromaticities aces({0.7347F, 0.2653F}, {0.0F, 1.0F}, {0.0001F, -0.077F},
                                   {0.32168F, 0.33767F});
    for (const auto& [chromaticities, red, green, blue] :
         std::vector<std::tuple<Imf::Chromaticities, float, float, float>>{
             {xyz, 0.0F, 1.0F, 0.0F},
             {rec_2020, 0.2627F, 0.6780F, 0.0593F},
             {aces, 0.343966F, 0.728166F, -0.072133F}}) {
        const std::vector<float> actual = luminance_with(chromaticities);
        for (std::size_t i = 0; i < actual.size(); ++i) {
            EXPECT_NEAR(actual[i],
                        red * ramp(1.0F)[i] + green * ramp(2.0F)[i] + blue * ramp(3.0F)[i], 1e-3F);
        }
    }
    const std::string none = encode_exr_channels(
        WIDTH, HEIGHT, rgb,
        {.chromaticities = Imf::Chromaticities({0, 0}, {0, 0}, {0, 0}, {0, 0})});
    EXPECT_THAT(failure(none), HasSubstr("chromaticities define no luminance"));
    EXPECT_EQ(values(none, "G"), ramp(2.0F));
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

// Catches a layer that hides a channel of its name, or names that lead to no channel.
TEST_F(LoadMap, ChannelsAreThoseThatCanBeChosen) {
    const std::string layers = encode_ramps(
        {"diffuse.R", "diffuse.G", "diffuse.B", "flat.R", "flat.G", "Y", "light.count"});
    EXPECT_EQ(values(layers, "diffuse"), luminance_of(1.0F, 2.0F, 3.0F));
    EXPECT_EQ(load(layers, "diffuse").channel, "diffuse");
    EXPECT_EQ(values(layers, "diffuse.R"), ramp(1.0F));
    EXPECT_EQ(values(layers, "light.count"), ramp(7.0F));
    const std::string both = encode_ramps({"a", "a.R", "a.G", "a.B", "b.c.R", "b.c.G", "b.c.B"});
    EXPECT_EQ(values(both, "a"), ramp(1.0F));
    EXPECT_EQ(load(both, "b.c").shape.format, TexelFormat::r32_float);
    // OpenEXR itself compares as many characters as a name in a file can have.
    const std::string long_name(255, 'n');
    const std::string longer_name = long_name + "n";
    const std::string with_long_name = encode_ramps({long_name});
    EXPECT_EQ(values(with_long_name, long_name), ramp(1.0F));
    for (const auto& [bytes, channel, message] :
         {std::tuple(layers, "depth", "no channel 'depth'; it has Y, diffuse, diffuse.B"),
          {layers, "flat", "no channel 'flat'"},
          {layers, "diffuse.", "no channel 'diffuse.'"},
          {both, "b", "no channel 'b'"},
          {with_long_name, longer_name.c_str(), "it has no channel"}}) {
        EXPECT_THAT(failure(bytes, channel), HasSubstr(message));
    }
    using Names = std::vector<std::string>;
    for (const auto& [bytes, names] : std::vector<std::pair<std::string, Names>>{
             {layers,
              {"Y", "diffuse", "diffuse.B", "diffuse.G", "diffuse.R", "flat.G", "flat.R",
               "light.count"}},
             {both, {"a", "a.B", "a.G", "a.R", "b.c", "b.c.B", "b.c.G", "b.c.R"}},
             {encode_ramps({"R", "G", "B"}), {"B", "G", "R"}},  // their luminance has no name
             {seed("pfm/grey_big_endian.pfm"), {"Y"}},
             {seed("pfm/colour_big_endian.pfm"), {"R", "G", "B"}},
             {seed("png/grey_16.png"), {"Y"}},
             {seed("png/grey_alpha_8.png"), {"Y"}},
             {seed("png/colour_8.png"), {"R", "G", "B"}},
             {seed("png/colour_alpha_16.png"), {"R", "G", "B"}}}) {
        EXPECT_EQ(channels(bytes), names);
    }
    EXPECT_THROW((void)channels("{}"), Error);
    EXPECT_THROW((void)channels_of(directory_.path() / "missing.exr"), Error);
}

// Kinds of files that are seeds of the fuzzers.
TEST_F(LoadMap, ExrPartsSubsampledChannelsAndDeepData) {
    const std::string parts = seed("exr/parts.exr");
    EXPECT_EQ(channels(parts), (std::vector<std::string>{"Y", "G"}));
    EXPECT_EQ(load(parts).shape.format, TexelFormat::r32_float);
    EXPECT_EQ(values(parts, "G"), ramp());
    EXPECT_EQ(load(parts, "G").shape.format, TexelFormat::r16_float);
    EXPECT_THAT(failure(parts, "Z"), HasSubstr("it has Y, G"));

    // Two parts with the same names, and one whose own name has a slash.
    const std::string stereo = seed("exr/stereo.exr");
    EXPECT_EQ(channels(stereo),
              (std::vector<std::string>{"B", "G", "R", "Z", "right/", "right/B", "right/G",
                                        "right/R", "right/Z", "a/b/Z"}));
    for (const auto& [channel, value] : std::vector<std::pair<std::string, float>>{
             {"Z", 4.0F},
             {"left/Z", 4.0F},
             {"right/Z", 8.0F},
             {"1/Z", 8.0F},
             {"a/b/Z", 9.0F},
             {"a/b/", 9.0F},
             {"2/", 9.0F},
             {"right/", 0.212639F * 5.0F + 0.715169F * 6.0F + 0.072192F * 7.0F}}) {
        EXPECT_EQ(values(stereo, channel), std::vector<float>(12, value)) << channel;
        EXPECT_EQ(load(stereo, channel).channel, channel);
    }
    EXPECT_TRUE(load(stereo).is_guess);
    EXPECT_THAT(failure(stereo, "3/Z"), HasSubstr("it has B, G, R, Z, right/, right/B"));
    EXPECT_THAT(failure(stereo, "right/A"), HasSubstr("no channel 'right/A'"));

    const std::string subsampled = seed("exr/subsampled.exr");
    EXPECT_EQ(channels(subsampled), std::vector<std::string>{"Y"});
    EXPECT_EQ(values(subsampled), std::vector<float>(48, 1.0F));
    EXPECT_THAT(failure(subsampled, "BY"), AllOf(HasSubstr("'BY'"), HasSubstr("subsampled")));
    const std::string deep = seed("exr/deep.exr");
    EXPECT_THAT(failure(deep), HasSubstr("deep data"));
    EXPECT_THROW((void)channels(deep), Error);
}

// Little-endian files are in random cases of programs (test/random).
TEST_F(LoadMap, PfmOfBothByteOrdersAreTheSame) {
    for (const std::string type : {"pfm/grey", "pfm/colour"}) {
        const std::string big = seed(type + "_big_endian.pfm");
        EXPECT_EQ(values(big), values(seed(type + "_little_endian.pfm")));
        EXPECT_EQ(load(big).shape, (MapShape{WIDTH, HEIGHT, 1, TexelFormat::r32_float}));
    }
    EXPECT_THAT(failure(seed("pfm/colour_big_endian.pfm"), "Y"), HasSubstr("it has R, G, B"));
}

// Rows shifted by a byte, and numbers that are read up to a comma or a letter.
TEST_F(LoadMap, PfmWithBadHeader) {
    const std::string texel = "\x01\x02\x03\x04";
    for (const auto& [bytes, part] : std::vector<std::pair<std::string, std::string>>{
             {"Pf\n0 4\n-1\n", "0 x 4"},
             {"Pf\n-3 4\n-1\n", "-3 x 4"},
             {"Pf\n100000 100000\n-1\nxx", "100000 x 100000"},
             {"Pf\n1 1\n0\n" + texel, "scale is 0"},
             {"Pf\n1 1\n-0.0e7\n" + texel, "scale is 0"},
             {"Pf\nthree 4\n-1\n", "the width is 'three', which is no whole number"},
             {"Pf\n1 1.0\n-1\n" + texel, "the height is '1.0'"},
             {"Pf\n1 99999999999999999999999\n-1\n", "no whole number"},
             {"Pf\n1 1\n-1,0\n" + texel, "the scale is '-1,0', which is no decimal number"},
             {"Pf\n1 1\n-1.0f\n" + texel, "'-1.0f'"},
             {"Pf\n1 1\nnan\n" + texel, "'nan'"},
             {"Pf\n1 1\n-inf\n" + texel, "'-inf'"},
             {"Pf\n1 1\n- 1\n" + texel, "'-'"},
             {"Pf#\n1 1\n-1\n" + texel, "begins with 'Pf#'"},
             {"Pf\n1 1\n-1", "no white space ends the scale"},
             {"Pf\r\n1 1\r\n-1\r\n" + texel, "one line feed behind the scale"},
             {"Pf\n1 1\n-1 \n" + texel, "announces 14 bytes, it has 15"},
             {"Pf\n1 1\n-1\n" + texel + "x", "too long"},
             {"Pf\n60000 60000\n-1\nxxxx", "truncated: its header announces 14400000018 bytes"}}) {
        EXPECT_THAT(failure(bytes), HasSubstr(part)) << bytes;
    }
    for (const char* const header :
         {"Pf\n1 1\n-1.0\n", "Pf 1 1 -1e-400 ", "Pf\r\n 1  1\r\n-.5\n", "Pf\n01 1\n-2E3\t"}) {
        EXPECT_EQ(values(header + texel), std::vector<float>{std::bit_cast<float>(0x04030201)})
            << header;
    }
}

// A chunk of a PNG file, with a wrong checksum: that of skipped chunks does not count.
std::string png_chunk(const std::string& type, const std::string& content) {
    std::string length;
    for (int shift = 24; shift >= 0; shift -= 8) {
        length += static_cast<char>((content.size() >> static_cast<unsigned int>(shift)) & 0xffU);
    }
    return length + type + content + "????";
}

// Valid files that libspng refuses, or keeps much of: its limits of chunks and of their memory.
TEST_F(LoadMap, PngChunksWithoutPixelsAreSkipped) {
    const std::string bytes = seed("png/grey_8.png");
    constexpr std::size_t HEADER_END = 33;
    const auto with = [&](const std::string& chunks) {
        return bytes.substr(0, HEADER_END) + chunks + bytes.substr(HEADER_END);
    };
    std::string texts;
    for (int i = 0; i < 3000; ++i) {
        texts += png_chunk("tEXt", "key" + std::string(1, '\0') + "text");
    }
    const std::string large(1 << 21, 'x');
    for (const std::string& chunks :
         {texts, png_chunk("zTXt", large), png_chunk("eXIf", ""), png_chunk("gAMA", "damaged"),
          png_chunk("sBIT", large) + png_chunk("sBIT", ""), png_chunk("abCd", "unknown")}) {
        EXPECT_EQ(failure(with(chunks)), "") << chunks.substr(0, 8);
        EXPECT_EQ(reference::decode(load(with(chunks)).view()),
                  reference::decode(load(bytes).view()));
    }
    EXPECT_THAT(failure(with(png_chunk("ABCD", "needed"))), HasSubstr("damaged"));
    EXPECT_THAT(failure(bytes.substr(0, 8) + png_chunk("CgBI", "0000") + bytes.substr(8)),
                AllOf(HasSubstr("Apple's own kind (CgBI)"), HasSubstr("convert")));
}

// Valid files that the installed OpenEXR takes for damaged ones.
TEST_F(LoadMap, ExrCompressionOfNewerVersionsIsNamed) {
    std::string bytes = encode_exr_channels(WIDTH, HEIGHT, {{"Y", ramp()}});
    const std::string attribute("compression\0compression\0\1\0\0\0", 28);
    const std::size_t value = bytes.find(attribute) + attribute.size();
    for (const char method : {'\x0a', '\x0b'}) {
        bytes[value] = method;
        EXPECT_THAT(failure(bytes), AllOf(HasSubstr("compressed by HTJ2K"), HasSubstr("ZIP")));
    }
    bytes[value] = '\x77';
    EXPECT_THAT(failure(bytes), HasSubstr("the unknown method 119"));
}

TEST_F(LoadMap, WhatIsNoImageIsNamed) {
    EXPECT_THAT(failure(""), AllOf(HasSubstr((directory_.path() / "map").string()),
                                   HasSubstr("the file is empty")));
    for (const char* const bytes : {"{\"tiles\": []}", "P"}) {
        EXPECT_THAT(failure(bytes), HasSubstr("not an OpenEXR, PFM or PNG image"));
    }
    EXPECT_THROW((void)load_map(directory_.path()), Error);
}

// Files of some hundred bytes that announce gigabytes, and what becomes of them.
TEST_F(LoadMap, WhatNoFileOfItsSizeCanHoldIsRefused) {
    for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
             {"exr/attribute_announces_2_gigabytes.exr", "are left); copy or save it again"},
             {"exr/attribute_of_other_size_than_its_type.exr",
              "'compression' of type compression has 9 bytes instead of 1"},
             {"exr/text_of_a_list_announces_2_gigabytes.exr",
              "a text of its attribute 'multiView' announces 2147483647 bytes"},
             {"exr/tile_of_a_gigabyte.exr", "announces pixels of 1024 MiB"},
             {"exr/tile_larger_than_its_image.exr", "32768 x 16383 texels take 2047 MiB"},
             {"exr/rows_of_2_gigabytes.exr", "65536 x 256 texels take 1920 MiB"},
             {"png/chunk_announces_1_gigabyte.png", "damaged or truncated PNG"},
             {"png/header_announces_a_gigabyte.png", "pixels of 1073709056 bytes"}}) {
        EXPECT_THAT(failure(read_file(FUZZ / "found" / name)), HasSubstr(text)) << name;
    }
}

// Catches windows, tiles and halves that are read at another place, valid files that are taken for
// damaged ones, and damaged ones for valid ones.
TEST_F(LoadMap, EverySeedIsReadWholeAndEveryTruncationIsAnError) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(FUZZ / "seeds")) {
        const std::string name = entry.path().stem();
        const std::string bytes = entry.is_directory() ? "" : read_file(entry.path());
        const bool has_unread_parts = name == "mip_levels" || name == "parts" || name == "stereo";
        if (entry.path().extension() == "" || failure(bytes).find("deep") != std::string::npos) {
            continue;
        }
        ASSERT_EQ(failure(bytes), "") << name;
        for (const char* const lossless : {"none_", "rle_", "zips_", "zip_", "piz_"}) {
            if (name.starts_with(lossless) && !name.ends_with("colour")) {
                EXPECT_EQ(values(bytes), ramp()) << name;
            }
        }
        // A PNG is complete without the checksum of its end marker.
        const std::size_t complete = bytes.size() - (bytes.starts_with("\x89PNG") ? 4 : 0);
        for (std::size_t size = has_unread_parts ? complete : 0; size < complete; ++size) {
            EXPECT_NE(failure(bytes.substr(0, size)), "") << name << " cut to " << size;
        }
    }
    // Much of one value: no method makes more of a byte than check_exr_pixels says.
    constexpr int EXTENT = 1024;
    const std::vector<float> zeros(std::size_t{EXTENT} * EXTENT);
    for (int method = Imf::NO_COMPRESSION; method < Imf::NUM_COMPRESSION_METHODS; ++method) {
        for (const std::optional<int> tile : {std::optional<int>{}, std::optional(EXTENT)}) {
            const std::string bytes = encode_exr_channels(
                EXTENT, EXTENT, {{"Y", zeros, {}, tile.has_value()}},
                {.compression = static_cast<Imf::Compression>(method), .tile_extent = tile});
            EXPECT_EQ(failure(bytes), "") << method << tile.has_value();
        }
    }
}

// Catches channels that are swapped or added in another value, and codes that are decoded by
// another transfer: bytes of the seeds are 11 more than those to the left, 37 more than those
// above.
TEST_F(LoadMap, PngChannels) {
    struct Case {
        const char* name;
        std::size_t bytes;
        std::size_t components;
        TexelFormat format;
        std::vector<std::size_t> channels;
    };
    for (const auto& [name, bytes, components, format, channels] :
         {Case{"grey_8", 1, 1, TexelFormat::rgba8_srgb, {0, 0, 0}},
          {"grey_alpha_8", 1, 2, TexelFormat::rgba8_srgb, {0, 0, 0, 1}},
          {"colour_8", 1, 3, TexelFormat::rgba8_srgb, {0, 1, 2}},
          {"colour_alpha_8", 1, 4, TexelFormat::rgba8_srgb, {0, 1, 2, 3}},
          {"grey_16", 2, 1, TexelFormat::r16_unorm, {0}},  // 16 bits are linear
          {"colour_16", 2, 3, TexelFormat::rgba32_float, {0, 1, 2}}}) {
        SCOPED_TRACE(name);
        const auto path = FUZZ / "seeds/png" / (std::string(name) + ".png");
        EXPECT_EQ(load_image(path).shape, (ImageShape{WIDTH, HEIGHT, 1, format}));
        const LoadedImage image = load_image(path, {.linear = true});
        const std::size_t count = channel_count(image.shape.format);
        std::vector<float> expected(4, 1.0F);
        for (std::size_t i = 0; i < channels.size(); ++i) {
            const std::size_t code = 11 * bytes * (3 * components + channels[i]) + 2 * 37;
            expected[i] = bytes == 1
                              ? static_cast<float>(code % 256) / 255.0F
                              : static_cast<float>(code % 256 * 256 + (code + 11) % 256) / 65535.0F;
        }
        const auto texel = reference::decode_texels(image.view())[2 * WIDTH + 3];
        EXPECT_TRUE(std::equal(texel.begin(), texel.begin() + count, expected.begin()));
        if (components == 3) {  // maps: luminance without alpha, or a channel
            EXPECT_FLOAT_EQ(
                values(read_file(path))[2 * WIDTH + 3],
                0.212639F * expected[0] + 0.715169F * expected[1] + 0.072192F * expected[2]);
            EXPECT_EQ(values(read_file(path), "B")[2 * WIDTH + 3], expected[2]);
        }
    }
    EXPECT_THAT(failure(seed("png/colour_alpha_8.png"), "A"), HasSubstr("it has R, G, B"));
}

// ---- Images

TEST_F(LoadMap, ExrImagesKeepHalvesOnlyWhereAllAre) {
    struct Channel {
        const char* name;
        float value;
        bool is_half = true;
    };
    const Channel red{"R", 0.5F};
    const Channel green{"G", 1.5F};
    const Channel blue{"B", 2.0F};
    for (const auto& [channels, format, expected] :
         std::vector<std::tuple<std::vector<Channel>, TexelFormat, std::vector<float>>>{
             {{red, green, blue}, TexelFormat::rgba16_float, {0.5F, 1.5F, 2.0F, 1.0F}},
             // Y is one more channel beside them.
             {{red, green, blue, {"A", 0.25F, false}, {"Y", 9.0F}},
              TexelFormat::rgba32_float,
              {0.5F, 1.5F, 2.0F, 0.25F}},
             {{{"Z", 3.0F}, {"Q", 4.0F}}, TexelFormat::r16_float, {3.0F}},
             // The first layer with colours, with its own alpha.
             {{{"a.A", 3.0F},
               {"b.A", 0.25F},
               {"b.B", 2.0F},
               {"b.R", 0.5F},
               {"b.G", 1.5F},
               {"c.R", 4}},
              TexelFormat::rgba16_float,
              {0.5F, 1.5F, 2.0F, 0.25F}}}) {
        std::vector<ExrChannel> all;
        for (const Channel& one : channels) {
            all.push_back({one.name, std::vector(6, one.value), {}, one.is_half});
        }
        const LoadedImage image = load_image(
            directory_.add("image", encode_exr_channels(3, 2, all, {.left = -2, .top = 7})));
        EXPECT_EQ(image.shape, (ImageShape{3, 2, 1, format}));
        for (const reference::Texel& texel : reference::decode_texels(image.view())) {
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), texel.begin()));
        }
    }
}

// ---- The fuzzers' files

TEST_F(LoadMap, TheFuzzersFilesDoNoHarm) {
    std::size_t files = 0;
    for (const char* const folder : {"seeds", "found"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(FUZZ / folder)) {
            const std::string kind = entry.path().extension();
            if (entry.is_directory()) {
                continue;
            }
            const auto target = kind == ".exr"   ? fuzz::fuzz_exr
                                : kind == ".pfm" ? fuzz::fuzz_pfm
                                                 : fuzz::fuzz_png;
            std::cout << entry.path().string() << std::endl;  // names the one that crashes
            EXPECT_NO_THROW(target(read_file(entry.path()))) << entry.path();
            ++files;
        }
    }
    EXPECT_GT(files, 80U);
}

}  // namespace
}  // namespace quadtile::app::test
