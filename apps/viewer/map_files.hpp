// The open files, one of which is shown, and the loading of its map.

#pragma once

#include "map_statistics.hpp"

#include <quadtile/images.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace quadtile::viewer {

// State of a file. It differs if the file has changed.
struct FileStamp {
    std::filesystem::file_time_type time;
    std::uintmax_t size_bytes;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Returns none if there is no such file.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// A map, its origin and its statistics.
struct MapFrame {
    std::string name;                   // file name without the folder, or "demo map"
    std::filesystem::path path;         // empty for the demo's map
    std::optional<FileStamp> stamp;     // the file's before it was read
    std::vector<std::string> channels;  // the file's channels that can be a map
    LoadedMap map;
    app::MapStatistics statistics;
};

// Not thread-safe.
class MapFiles {
 public:
    // `arrived` is called by the loading thread when take() has a result.
    explicit MapFiles(std::function<void()> arrived) : arrived_(std::move(arrived)) {}

    // Replaces the files and requests the first one, or the demo's map if there are no files.
    void open(std::vector<std::filesystem::path> files, std::string channel);
    // Requests the same file again.
    void reload() { request(); }
    // Requests the same file with another channel.
    void choose_channel(std::string channel);
    // Requests another file. Beyond one end the index continues at the other end.
    void step(std::ptrdiff_t files);

    [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept {
        return files_;
    }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    // Tells whether take() has not returned the last request's result yet.
    [[nodiscard]] bool is_loading() const noexcept { return loading_.valid(); }
    // Tells whether a result, even of an outdated request, waits for take().
    [[nodiscard]] bool has_arrived() const;

    // Result of a request: a frame, or the reason why there is none.
    struct Arrival {
        std::shared_ptr<const MapFrame> frame;
        std::string error;
    };
    // Returns the result of the last request, once; nothing while it is being loaded.
    [[nodiscard]] std::optional<Arrival> take();
    // Waits until has_arrived(). There must be a request.
    void wait() const { loading_.wait(); }

 private:
    void request();
    void start();

    const std::function<void()> arrived_;
    std::vector<std::filesystem::path> files_;
    std::size_t index_ = 0;
    std::string channel_;
    bool is_outdated_ = false;  // another request came while one was loaded
    std::future<Arrival> loading_;
    std::jthread thread_;  // the last member: it is joined first
};

}  // namespace quadtile::viewer
