/// \file
/// Trace files with the times of runs, for chrome://tracing and Perfetto.

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

/// An interval on the host's clock, such as a stage of a run.
struct TraceEvent {
    std::string name;  ///< name that the viewer shows
    /// Line of the viewer that shows the event, such as "lane 0". Events of one track are apart or
    /// nested. Events that may overlap in another way have an id.
    std::string track;
    std::chrono::steady_clock::time_point start;                    ///< start
    std::chrono::steady_clock::duration duration;                   ///< length
    std::vector<std::pair<std::string, std::string>> details = {};  ///< pairs of name and value
    std::uint64_t id = 0;  ///< not 0: the event may overlap others of its track
};

/// A file in Chrome's trace-event format (JSON). Events are written as they come, so after a
/// crash the part that was written is readable. Times count from `zero`. Thread-safe.
class QUADTILE_API TraceFile {
 public:
    /// Makes the file, or replaces an old one. Throws Error(invalid_argument) if it cannot be made.
    explicit TraceFile(const std::string& path, std::chrono::steady_clock::time_point zero =
                                                    std::chrono::steady_clock::now());
    /// Closes the file as close() does, and ignores errors.
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Writes an event. Texts are UTF-8; invalid bytes are replaced.
    void add(const TraceEvent& event);

    /// Writes the stages of a list: those on the host on `track`, those on the GPU on another one.
    void add(std::span<const StageTime> stages, const std::string& track);

    /// Ends the file; later events are not written. Throws Error(invalid_argument) if it could not
    /// be written as a whole.
    void close();

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
