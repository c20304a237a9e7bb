#include "map_files.hpp"

#include "platform.hpp"
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace {

MapFrame frame_of(const std::filesystem::path& path, const std::string& channel) {
    if (path.empty()) {
        return {.name = "demo map", .map = load_map(app::demo_map_path())};
    }
    return {.name = app::text_of(path.filename()),
            .path = path,
            .stamp = stamp_of(path),
            .channels = channels_of(path),
            .map = load_map(path, channel)};
}

MapFiles::Arrival load(const std::filesystem::path& path, const std::string& channel) {
    try {
        MapFrame frame = frame_of(path, channel);
        frame.statistics = app::measure(frame.map.view());
        return {std::make_shared<const MapFrame>(std::move(frame)), {}};
    } catch (const std::exception& error) {
        return {nullptr, app::is_out_of_memory(error)
                             ? app::text_of(path) + ": there is not enough memory for it"
                             : error.what()};
    }
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
    std::error_code error;
    const FileStamp stamp{std::filesystem::last_write_time(path, error),
                          error ? 0 : std::filesystem::file_size(path, error)};
    return error ? std::nullopt : std::optional(stamp);
}

void MapFiles::open(std::vector<std::filesystem::path> files, std::string channel) {
    files_ = std::move(files);
    channel_ = std::move(channel);
    index_ = 0;
    request();
}

void MapFiles::choose_channel(std::string channel) {
    channel_ = std::move(channel);
    request();
}

void MapFiles::step(std::ptrdiff_t files) {
    const auto count = static_cast<std::ptrdiff_t>(std::max<std::size_t>(files_.size(), 1));
    const std::ptrdiff_t place = (static_cast<std::ptrdiff_t>(index_) + files) % count;
    index_ = static_cast<std::size_t>(place < 0 ? place + count : place);
    request();
}

void MapFiles::request() {
    is_outdated_ = loading_.valid();
    if (!is_outdated_) {
        start();
    }
}

void MapFiles::start() {
    std::promise<Arrival> promise;
    loading_ = promise.get_future();
    thread_ =
        std::jthread([promise = std::move(promise), arrived = arrived_, channel = channel_,
                      path = files_.empty() ? std::filesystem::path() : files_[index_]]() mutable {
            promise.set_value(load(path, channel));
            arrived();
        });
}

bool MapFiles::has_arrived() const {
    return loading_.valid() &&
           loading_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::optional<MapFiles::Arrival> MapFiles::take() {
    if (!has_arrived()) {
        return std::nullopt;
    }
    Arrival arrival = loading_.get();
    if (std::exchange(is_outdated_, false)) {
        start();
        return std::nullopt;
    }
    return arrival;
}

}  // namespace quadtile::viewer
