// Reports of bakes as JSON, and their progress on standard error.

#pragma once

#include "bake.hpp"
#include "options.hpp"
#include "tracer.hpp"

#include <chrono>
#include <string>
#include <thread>
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
    Quantity quantity = Quantity::irradiance;  // quantity in the output
    std::optional<double> rgbm_range;          // factor of (RGB * A)^2 in a PNG
    std::uint32_t pages = 1;                   // pages of light_map
    std::size_t covered_texels = 0;
    std::size_t known_texels = 0;
    std::size_t inside_texels = 0;
    std::size_t overlapping_texels = 0;
    std::size_t seams = 0;
    bool interrupted = false;
    BakeOptions bake;
    std::uint64_t pool_bytes = 0;
    std::vector<Stage> stages;
    std::vector<PassReport> passes;
    std::optional<double> noise;     // as in BakeResult
    std::optional<double> denoised;  // remaining noise; none: not denoised
    TracerStatistics statistics;
    std::vector<std::string> warnings;
};

[[nodiscard]] std::string report_json(const BakeReport& report);

// Returns a summary of a few lines.
[[nodiscard]] std::string report_summary(const BakeReport& report);

// Returns "[#########...........]  45 %  bounce 1, 12 s left"; `width` columns for the bar alone.
[[nodiscard]] std::string progress_text(const BakeProgress& progress, std::uint32_t width = 30);

// Progress on a terminal as one line that changes; elsewhere as a line per tenth, and at least one
// per minute.
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

// Writes to standard error what is being done, if it takes longer than two seconds.
[[nodiscard]] std::jthread tell_if_long(std::string what);

}  // namespace quadtile::baker
