/// \file
/// What took how long, in a file that trace viewers show: Chrome's chrome://tracing, Perfetto.

#pragma once

#include <quadtile/export.h>
#include <quadtile/tiles.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile {

/// Something that took a while, on the host's clock.
struct TraceEvent {
    std::string name;  ///< what it was
    /// What it is a line of in the viewer: "lane 0". Events of one track do not overlap but for one
    /// inside the other; where they may, each has an id.
    std::string track;
    std::chrono::steady_clock::time_point start;                    ///< when it began
    std::chrono::steady_clock::duration duration;                   ///< how long it took
    std::vector<std::pair<std::string, std::string>> details = {};  ///< name, value
    std::uint64_t id = 0;  ///< not 0: it may overlap others of its track
};

/// A file in Chrome's trace-event format (JSON), written as the events come: what was written
/// before a crash can be read. Times count from `zero`.
///
/// Thread-safe.
class QUADTILE_API TraceFile {
 public:
    /// Throws Error(invalid_argument) where the file cannot be made; an old one is replaced.
    explicit TraceFile(const std::string& path, std::chrono::steady_clock::time_point zero =
                                                    std::chrono::steady_clock::now());
    /// close(), whose failure nobody hears of.
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// UTF-8; invalid bytes are replaced.
    void add(const TraceEvent& event);

    /// Stages of a list: those on the host on `track`, those on the GPU on another beside it.
    void add(std::span<const StageTime> stages, const std::string& track);

    /// Ends the file; what comes later is not written. Throws Error(invalid_argument) where it
    /// could not be written whole.
    void close();

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
