// Shadow options as JSON for reports.

#pragma once

#include <quadtile/shadow.hpp>

#include <nlohmann/json.hpp>

namespace quadtile::shadow {

[[nodiscard]] inline nlohmann::ordered_json options_json(const ShadowOptions& options) {
    return {{"lights", options.lights},
            {"map_extent", options.map_extent},
            {"atlas_extent", options.atlas_extent},
            {"tile_extent", options.tile_extent},
            {"gutter", options.gutter},
            {"max_tiles", options.max_tiles},
            {"merge_ratio", options.merge_ratio},
            {"atlas_fill", options.atlas_fill},
            {"importance_decay", options.importance_decay},
            {"resolution_scale", options.resolution_scale},
            {"edge_scale", options.edge_scale},
            {"max_stretch", options.max_stretch}};
}

}  // namespace quadtile::shadow
