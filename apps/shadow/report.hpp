// What frames were like, as JSON.

#pragma once

#include "session.hpp"

#include <string>
#include <vector>

namespace quadtile::shadow {

struct ReportedFrame {
    float flight_second = 0.0F;
    Camera camera;
    FrameStatistics statistics;
};

struct Report {
    const Options& options;
    const Show& show;
    std::string device;
    std::vector<ReportedFrame> frames;
};

[[nodiscard]] std::string report_json(const Report& report);

}  // namespace quadtile::shadow
