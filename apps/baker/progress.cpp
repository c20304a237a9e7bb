#include "progress.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace quadtile::baker {

namespace {

using namespace std::chrono_literals;

// "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
    if (whole < 60) {
        return std::to_string(whole) + " s";
    }
    if (whole < 3600) {
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    }
    return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

double share_of(const BakeProgress& progress) {
    return progress.directions == 0 ? 1.0
                                    : static_cast<double>(progress.directions_done) /
                                          static_cast<double>(progress.directions);
}

}  // namespace

std::string progress_text(const BakeProgress& progress, std::uint32_t width) {
    const double share = share_of(progress);
    const auto filled = static_cast<std::uint32_t>(share * width);
    char percent[8];
    std::snprintf(percent, sizeof(percent), "%3d %%", static_cast<int>(100.0 * share));
    std::string text = "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
                       percent + "  " + progress.pass;
    const auto done_now =
        static_cast<double>(progress.directions_done - progress.resumed_directions);
    const auto left = static_cast<double>(progress.directions - progress.directions_done);
    if (done_now > 0.0 && progress.seconds > 0.5) {
        text += ", " + duration_text(left * progress.seconds / done_now) + " left";
    }
    return text;
}

ProgressLine::ProgressLine(bool quiet)
    : quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      last_time_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
    end();
}

void ProgressLine::show(const BakeProgress& progress) {
    if (quiet_) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (is_terminal_) {
        if (!is_open_ || now - last_time_ >= 100ms) {
            // To its end the line may still hold a longer one.
            std::fprintf(stderr, "\r%s\033[K", progress_text(progress).c_str());
            std::fflush(stderr);
            is_open_ = true;
            last_time_ = now;
        }
        return;
    }
    const auto tenth = static_cast<std::uint64_t>(10.0 * share_of(progress));
    if (tenth != last_tenth_ || now - last_time_ >= 60s) {
        std::fprintf(stderr, "%s\n", progress_text(progress).c_str());
        last_tenth_ = tenth;
        last_time_ = now;
    }
}

void ProgressLine::end() {
    if (is_open_) {
        std::fprintf(stderr, "\r\033[K");
        std::fflush(stderr);
        is_open_ = false;
    }
}

}  // namespace quadtile::baker
