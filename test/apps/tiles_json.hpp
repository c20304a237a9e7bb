// Reads the JSON that quadtile writes.

#pragma once

#include <quadtile/tiles.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace quadtile::app::test {

inline TileList parse_json(const std::string& text) {
    const auto number = [](const nlohmann::json& value) {
        constexpr float INFINITE = std::numeric_limits<float>::infinity();
        if (value.is_string()) {
            return value == "inf" ? INFINITE : -INFINITE;
        }
        return static_cast<float>(value.get<double>());  // as readers without a 32-bit float do
    };
    const nlohmann::json json = nlohmann::json::parse(text);
    TileList list;
    list.shape = {json.at("width"), json.at("height"), 1, TexelFormat::r32_float};
    list.nan_texels = json.at("nan_texels");
    EXPECT_EQ(json.at("levels"), list.levels());
    const bool balanced = json.contains("balance");
    if (balanced) {
        EXPECT_TRUE(json["balance"] == "edges" || json["balance"] == "corners");
        list.balance = json["balance"] == "edges" ? Balance::edges : Balance::corners;
    }
    EXPECT_EQ(json.size(), balanced ? 6U : 5U);
    for (const nlohmann::json& tile : json.at("tiles")) {
        EXPECT_EQ(tile.size(), balanced ? 8U : 7U);
        std::uint32_t flags = tile.at("clamped").get<bool>() ? TILE_CLAMPED : 0;
        for (const char side : balanced ? tile.at("coarser").get<std::string>() : "") {
            flags |= TILE_COARSER_LEFT << std::string_view("lrtb").find(side);
        }
        list.tiles.push_back({tile_position(tile.at("x"), tile.at("y")),
                              tile_node(tile.at("level"), flags, tile.at("layer")),
                              number(tile.at("importance")), number(tile.at("threshold"))});
    }
    return list;
}

}  // namespace quadtile::app::test
