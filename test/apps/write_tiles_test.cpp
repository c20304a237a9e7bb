#include "write_tiles.hpp"
#include "tiles_json.hpp"

#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

namespace quadtile::app::test {
namespace {

constexpr float INF = std::numeric_limits<float>::infinity();

std::string text_of(const TileList& list, TileFormat format) {
    std::string text;
    write_tiles(list, format, [&](std::string_view bytes) { text += bytes; });
    return text;
}

// Real floats of all magnitudes, and all that is special.
TileList list_of_odd_values() {
    TileList list;
    list.shape = {65536, 40000, 3, TexelFormat::r32_float};
    list.nan_texels = 12345678901;
    std::mt19937 engine(7);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    const auto any_float = [&] {
        while (true) {
            const auto value = std::bit_cast<float>(random());
            if (!std::isnan(value)) {
                return value;
            }
        }
    };
    for (int i = 0; i < 2000; ++i) {
        list.tiles.push_back({random(), tile_node(random() % 17, random() % 2, random() % 65536),
                              any_float(), std::abs(any_float())});
    }
    list.tiles.push_back({tile_position(1, 2), tile_node(3, 0, 0), -INF, INF});
    list.tiles.push_back({tile_position(65535, 65535), tile_node(0, 1, 65535), INF, 0.0F});
    list.tiles.push_back({tile_position(0, 0), tile_node(16, 0, 0),
                          std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::max()});
    list.tiles.push_back({tile_position(0, 0), tile_node(16, 0, 0), 16777217.0F, 0.1F});
    // Its shortest digits, read as a double, give another float.
    list.tiles.push_back({0, 0, -7.038531e-26F, 7.038531e-26F});
    return list;
}

TEST(WriteTiles, JsonGivesTheSameBitsBack) {
    const TileList list = list_of_odd_values();
    const TileList read = parse_json(text_of(list, TileFormat::json));
    EXPECT_EQ(read.shape.width, list.shape.width);
    EXPECT_EQ(read.shape.height, list.shape.height);
    EXPECT_EQ(read.nan_texels, list.nan_texels);
    ASSERT_EQ(read.tiles.size(), list.tiles.size());
    for (std::size_t i = 0; i < list.tiles.size(); ++i) {
        ASSERT_EQ(std::memcmp(&read.tiles[i], &list.tiles[i], sizeof(Tile)), 0) << i;
    }
}

// Reads a float in any locale.
float float_from(const std::string& text) {
    float value = 0.0F;
    (void)std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

TEST(WriteTiles, CsvGivesTheSameValuesBack) {
    const TileList list = list_of_odd_values();
    std::istringstream csv(text_of(list, TileFormat::csv));
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "level,x,y,layer,importance,threshold,clamped");
    for (const Tile& tile : list.tiles) {
        ASSERT_TRUE(std::getline(csv, line));
        std::istringstream fields(line);
        std::vector<std::string> values;
        for (std::string field; std::getline(fields, field, ',');) {
            values.push_back(field);
        }
        ASSERT_EQ(values.size(), 7U) << line;
        EXPECT_EQ(std::stoul(values[0]), tile.level());
        EXPECT_EQ(std::stoul(values[1]), tile.x());
        EXPECT_EQ(std::stoul(values[2]), tile.y());
        EXPECT_EQ(std::stoul(values[3]), tile.layer());
        EXPECT_EQ(float_from(values[4]), tile.importance);
        EXPECT_EQ(float_from(values[5]), tile.threshold);
        EXPECT_EQ(values[6], tile.clamped() ? "true" : "false");
    }
    EXPECT_FALSE(std::getline(csv, line));
}

// Catches a side that is left out, or named after another one.
TEST(WriteTiles, BalancedListsTellTheirCoarserNeighbours) {
    TileList list;
    list.shape = {16, 16};
    list.balance = Balance::corners;
    for (std::uint32_t sides = 0; sides < 16; ++sides) {
        list.tiles.push_back({sides, tile_node(0, sides << 1U | sides % 2, 0), 1.0F, 2.0F});
    }
    const TileList read = parse_json(text_of(list, TileFormat::json));
    EXPECT_EQ(read.balance, Balance::corners);
    EXPECT_EQ(read.tiles, list.tiles);

    const std::string csv = text_of(list, TileFormat::csv);
    EXPECT_TRUE(
        csv.starts_with("level,x,y,layer,importance,threshold,clamped,coarser\n"
                        "0,0,0,0,1,2,false,\n0,1,0,0,1,2,true,l\n0,2,0,0,1,2,false,r\n"));
    EXPECT_NE(csv.find(",true,lrtb\n"), std::string::npos);
    EXPECT_NE(csv.find("\n0,12,0,0,1,2,false,tb\n"), std::string::npos);
}

TEST(WriteTiles, BinaryIsHeaderAndRecords) {
    const TileList list = list_of_odd_values();
    const std::string bytes = text_of(list, TileFormat::binary);
    ASSERT_EQ(bytes.size(), 40 + 16 * list.tiles.size());
    EXPECT_EQ(bytes.substr(0, 4), "QTIL");
    const auto word = [&](std::size_t offset) {
        std::uint64_t value = 0;
        for (std::size_t i = 8; i-- > 0;) {
            value = value << 8U | static_cast<std::uint8_t>(bytes[offset + i]);
        }
        return value;
    };
    EXPECT_EQ(word(4) & 0xffffffffU, 1U);
    EXPECT_EQ(word(8) & 0xffffffffU, 65536U);
    EXPECT_EQ(word(12) & 0xffffffffU, 40000U);
    EXPECT_EQ(word(16) & 0xffffffffU, 3U);
    EXPECT_EQ(word(20) & 0xffffffffU, 17U);
    EXPECT_EQ(word(24), list.tiles.size());
    EXPECT_EQ(word(32), 12345678901U);
    EXPECT_EQ(std::memcmp(bytes.data() + 40, list.tiles.data(), 16 * list.tiles.size()), 0);
}

}  // namespace
}  // namespace quadtile::app::test
