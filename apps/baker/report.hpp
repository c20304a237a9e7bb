// What a bake did, as JSON.

#pragma once

#include "bake.hpp"
#include "options.hpp"
#include "tracer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace quadtile::baker {

struct Stage {
    std::string name;
    double seconds;
};

struct BakeReport {
    std::string device;
    std::size_t triangles = 0;
    Extent light_map;
    std::size_t covered_texels = 0;
    std::size_t known_texels = 0;
    std::size_t inside_texels = 0;
    std::size_t overlapping_texels = 0;
    std::size_t seams = 0;
    bool interrupted = false;
    TileOptions tiles;
    BakeOptions bake;
    std::uint64_t pool_bytes = 0;
    std::vector<Stage> stages;
    std::vector<PassReport> passes;
    TracerStatistics statistics;
    std::vector<std::string> warnings;
};

[[nodiscard]] std::string report_json(const BakeReport& report);

// A few lines for people.
[[nodiscard]] std::string report_summary(const BakeReport& report);

}  // namespace quadtile::baker
