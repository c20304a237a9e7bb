// What a bake did, as JSON, and how far it is, on standard error.

#pragma once

#include "bake.hpp"
#include "options.hpp"
#include "tracer.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::baker {

struct Stage {
    std::string name;
    double seconds;
};

struct BakeReport {
    std::string device;  // of all ranks, if these are several: "2 x A, B"
    std::uint32_t ranks = 1;
    std::size_t triangles = 0;
    Extent light_map;
    Quantity quantity = Quantity::irradiance;  // that the output holds
    std::uint32_t pages = 1;                   // of light_map
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
    std::optional<double> noise;     // as BakeResult has it
    std::optional<double> denoised;  // what is left of it; none: it is left as it is
    TracerStatistics statistics;
    std::vector<std::string> warnings;
};

[[nodiscard]] std::string report_json(const BakeReport& report);

// A few lines for people.
[[nodiscard]] std::string report_summary(const BakeReport& report);

// "[#########...........]  45 %  bounce 1, 12 s left"; `width` columns for the bar alone.
[[nodiscard]] std::string progress_text(const BakeProgress& progress, std::uint32_t width = 30);

// On a terminal one line that changes; elsewhere a line for each tenth, and at least one a minute.
class ProgressLine {
 public:
    explicit ProgressLine(bool quiet);
    // Ends the line that changes.
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const BakeProgress& progress);
    void end();

 private:
    bool quiet_;
    bool is_terminal_;
    bool is_open_ = false;
    std::uint64_t last_tenth_ = ~std::uint64_t{0};
    std::chrono::steady_clock::time_point last_time_;
};

}  // namespace quadtile::baker
