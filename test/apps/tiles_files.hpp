// Reads the tile lists that quadtile writes into files. Throws where they are none.

#pragma once

#include "write_tiles.hpp"

#include <quadtile/tiles.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app::test {

inline void expect_of_file(bool holds, const std::string& what) {
    if (!holds) {
        throw std::runtime_error("no list as the page on formats says: " + what);
    }
}

inline std::uint32_t flags_of(bool is_clamped, const std::string& coarser) {
    std::uint32_t flags = is_clamped ? TILE_CLAMPED : 0;
    for (const char side : coarser) {
        flags |= TILE_COARSER_LEFT << std::string_view("lrtb").find(side);
    }
    return flags;
}

inline TileList parse_json(const std::string& text) {
    const auto number = [](const nlohmann::json& value) {
        constexpr float UNBOUNDED = std::numeric_limits<float>::infinity();
        if (value.is_string()) {
            return value == "inf" ? UNBOUNDED : -UNBOUNDED;
        }
        return static_cast<float>(value.get<double>());  // as readers without a 32-bit float do
    };
    const nlohmann::json json = nlohmann::json::parse(text);
    TileList list;
    list.shape = {json.at("width"), json.at("height"), 1, TexelFormat::r32_float};
    list.nan_texels = json.at("nan_texels");
    expect_of_file(json.at("levels") == list.levels(), "levels");
    const bool balanced = json.contains("balance");
    if (balanced) {
        expect_of_file(json["balance"] == "edges" || json["balance"] == "corners", "balance");
        list.balance = json["balance"] == "edges" ? Balance::edges : Balance::corners;
    }
    expect_of_file(json.size() == (balanced ? 6U : 5U), "members of the list");
    for (const nlohmann::json& tile : json.at("tiles")) {
        expect_of_file(tile.size() == (balanced ? 8U : 7U), "members of a tile");
        const std::uint32_t flags =
            flags_of(tile.at("clamped"), balanced ? tile.at("coarser").get<std::string>() : "");
        list.tiles.push_back({tile_position(tile.at("x"), tile.at("y")),
                              tile_node(tile.at("level"), flags, tile.at("layer")),
                              number(tile.at("importance")), number(tile.at("threshold"))});
    }
    return list;
}

// The tiles alone: a table has nothing else.
inline std::vector<Tile> parse_csv(const std::string& text, bool balanced) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    expect_of_file(line == std::string("level,x,y,layer,importance,threshold,clamped") +
                               (balanced ? ",coarser" : ""),
                   line);
    std::vector<Tile> tiles;
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::istringstream rest(line + ',');
        for (std::string cell; std::getline(rest, cell, ',');) {
            cells.push_back(cell);
        }
        expect_of_file(cells.size() == (balanced ? 8U : 7U), line);
        const auto whole = [&](std::size_t i) {
            return static_cast<std::uint32_t>(std::stoul(cells[i]));
        };
        const auto number = [&](std::size_t i) {  // in any locale
            float value = 0.0F;
            const char* const end = cells[i].data() + cells[i].size();
            expect_of_file(std::from_chars(cells[i].data(), end, value).ptr == end, line);
            return value;
        };
        expect_of_file(cells[6] == "true" || cells[6] == "false", line);
        tiles.push_back(
            {tile_position(whole(1), whole(2)),
             tile_node(whole(0), flags_of(cells[6] == "true", balanced ? cells[7] : ""), whole(3)),
             number(4), number(5)});
    }
    return tiles;
}

inline TileList parse_binary(const std::string& bytes) {
    constexpr std::size_t HEADER_BYTES = 40;
    expect_of_file(bytes.size() >= HEADER_BYTES && bytes.starts_with("QTIL"), "header");
    const auto word = [&](std::size_t offset, std::size_t size) {
        std::uint64_t value = 0;
        for (std::size_t i = size; i-- > 0;) {
            value = value << 8U | static_cast<std::uint8_t>(bytes[offset + i]);
        }
        return value;
    };
    const auto word32 = [&](std::size_t offset) {
        return static_cast<std::uint32_t>(word(offset, 4));
    };
    TileList list;
    list.shape = {word32(8), word32(12), word32(16), TexelFormat::r32_float};
    list.nan_texels = word(32, 8);
    list.tiles.resize(word(24, 8));
    expect_of_file(word32(4) == 1 && word32(20) == list.levels(), "version or levels");
    expect_of_file(bytes.size() == HEADER_BYTES + list.tiles.size() * sizeof(Tile), "length");
    std::memcpy(list.tiles.data(), bytes.data() + HEADER_BYTES, bytes.size() - HEADER_BYTES);
    return list;
}

}  // namespace quadtile::app::test
