// Reads the JSON that quadtile writes.

#pragma once

#include <quadtile/tiles.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>

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
    EXPECT_EQ(json.size(), 5U);
    for (const nlohmann::json& tile : json.at("tiles")) {
        EXPECT_EQ(tile.size(), 7U);
        list.tiles.push_back(
            {tile_position(tile.at("x"), tile.at("y")),
             tile_node(tile.at("level"), tile.at("clamped").get<bool>() ? TILE_CLAMPED : 0,
                       tile.at("layer")),
             number(tile.at("importance")), number(tile.at("threshold"))});
    }
    return list;
}

}  // namespace quadtile::app::test
