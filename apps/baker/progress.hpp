// How far a bake is, on standard error.

#pragma once

#include "bake.hpp"

#include <chrono>
#include <string>

namespace quadtile::baker {

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
