#include "map_sequence.hpp"

#include "demo_map.hpp"
#include "process.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace {

std::size_t size_bytes(const MapFrame& frame) {
    const ImageShape& shape = frame.map.shape;
    const MapStatistics& statistics = frame.statistics;
    return std::size_t{shape.width} * shape.height * texel_size_bytes(shape.format) +
           statistics.positive_by_key.size() * sizeof(std::uint32_t) +
           statistics.odd_texels.size() * sizeof(TexelPosition);
}

// Returns the index after the step in a ring of `count` items.
std::size_t wrapped(std::size_t index, std::ptrdiff_t offset, std::size_t count) {
    const auto signed_count = static_cast<std::ptrdiff_t>(count);
    const std::ptrdiff_t remainder = (static_cast<std::ptrdiff_t>(index) + offset) % signed_count;
    return static_cast<std::size_t>(remainder < 0 ? remainder + signed_count : remainder);
}

}  // namespace

std::shared_ptr<const MapFrame> make_demo_frame() {
    auto frame = std::make_shared<MapFrame>();
    frame->name = "demo map";
    frame->map = load_map(app::demo_map_path());
    frame->statistics = measure(frame->map.view());
    return frame;
}

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
    std::error_code error;
    const FileStamp stamp{std::filesystem::last_write_time(path, error),
                          error ? 0 : std::filesystem::file_size(path, error)};
    return error ? std::nullopt : std::optional(stamp);
}

std::shared_ptr<const MapFrame> load_frame(const std::filesystem::path& path,
                                           const std::string& channel) {
    auto frame = std::make_shared<MapFrame>();
    frame->name = path.filename().string();
    frame->path = path;
    frame->stamp = stamp_of(path);
    frame->channels = channels_of(path);
    frame->map = load_map(path, channel);
    frame->statistics = measure(frame->map.view());
    return frame;
}

bool MapSequence::Cache::contains(const Key& key) const {
    return std::ranges::find(entries_, key, &Entry::key) != entries_.end();
}

MapSequence::Frame MapSequence::Cache::use(const Key& key) {
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    if (found == entries_.end()) {
        return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found);
    return found->frame;
}

void MapSequence::Cache::add(const Key& key, const Frame& frame) {
    entries_.push_front({key, frame});
    bytes_ += size_bytes(*frame);
    while (bytes_ > max_bytes_ && entries_.size() > 1) {
        bytes_ -= size_bytes(*entries_.back().frame);
        entries_.pop_back();
    }
}

void MapSequence::Cache::clear() {
    entries_.clear();
    bytes_ = 0;
}

MapSequence::Arrival MapSequence::load(const Key& key) {
    try {
        return {key.path.empty() ? make_demo_frame() : load_frame(key.path, key.channel), {}};
    } catch (const std::exception& error) {
        return {nullptr, app::is_out_of_memory(error)
                             ? key.path.string() + ": there is not enough memory for it"
                             : error.what()};
    }
}

MapSequence::Key MapSequence::key_of(std::size_t file) const {
    return files_.empty() ? Key{number_of_open_, {}, {}}
                          : Key{number_of_open_, files_[file], channel_};
}

// Requests the file at the index, and the next one after it.
void MapSequence::request() {
    is_loading_ = true;
    bool is_there = false;
    {
        const std::lock_guard lock(mutex_);
        const Key key = key_of(index_);
        const Frame frame = cache_.use(key);
        is_there = frame != nullptr;
        arrival_ = is_there ? std::optional(Arrival{frame, {}}) : std::nullopt;
        wanted_ = is_there ? std::nullopt : std::optional(key);
        ahead_.reset();
        if (files_.size() > 1) {
            ahead_ = key_of(wrapped(index_, direction_, files_.size()));
        }
    }
    thread_wakes_.notify_one();
    if (is_there) {
        tell_arrival();
    }
}

void MapSequence::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        thread_wakes_.wait(lock, [&] { return ends_ || wanted_ || ahead_; });
        if (ends_) {
            return;
        }
        const Key key = wanted_ ? *wanted_ : *std::exchange(ahead_, std::nullopt);
        if (!wanted_ && cache_.contains(key)) {
            continue;
        }
        lock.unlock();
        Arrival result = load(key);
        finish(key, std::move(result));
        lock.lock();
    }
}

// Takes a result. Since its loading began, its key may have become wanted, or unwanted.
void MapSequence::finish(const Key& key, Arrival result) {
    {
        const std::lock_guard lock(mutex_);
        if (result.frame && key.number_of_open == number_of_open_) {
            cache_.add(key, result.frame);
        }
        if (ends_ || wanted_ != key) {
            return;
        }
        wanted_.reset();
        arrival_ = std::move(result);
    }
    user_wakes_.notify_one();
    tell_arrival();
}

void MapSequence::tell_arrival() const {
    if (arrived_) {
        arrived_();
    }
}

MapSequence::MapSequence(std::function<void()> arrived, std::size_t max_cache_bytes)
    : arrived_(std::move(arrived)), cache_(max_cache_bytes), thread_([this] { run(); }) {}

MapSequence::~MapSequence() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    thread_wakes_.notify_one();
}

void MapSequence::forget() {
    const std::lock_guard lock(mutex_);
    ++number_of_open_;
    cache_.clear();
}

void MapSequence::reload() {
    forget();
    request();
}

void MapSequence::open(std::vector<std::filesystem::path> files, std::string channel) {
    forget();
    files_ = std::move(files);
    channel_ = std::move(channel);
    index_ = 0;
    direction_ = 1;
    request();
}

void MapSequence::choose_channel(std::string channel) {
    channel_ = std::move(channel);
    request();
}

void MapSequence::go_to(std::size_t index) {
    const std::size_t count = std::max<std::size_t>(files_.size(), 1);
    const std::size_t target = index % count;
    if (target != index_) {
        direction_ = target > index_ ? 1 : -1;
    }
    index_ = target;
    request();
}

void MapSequence::step(std::ptrdiff_t frames) {
    const std::size_t count = std::max<std::size_t>(files_.size(), 1);
    if (frames != 0) {
        direction_ = frames > 0 ? 1 : -1;
    }
    index_ = wrapped(index_, frames, count);
    request();
}

bool MapSequence::has_arrived() const {
    const std::lock_guard lock(mutex_);
    return arrival_.has_value();
}

std::optional<MapSequence::Arrival> MapSequence::take() {
    const std::lock_guard lock(mutex_);
    if (arrival_) {
        is_loading_ = false;
    }
    return std::exchange(arrival_, std::nullopt);
}

MapSequence::Arrival MapSequence::wait() {
    if (!is_loading_) {
        throw std::logic_error("MapSequence::wait: there is no request");
    }
    {
        std::unique_lock lock(mutex_);
        user_wakes_.wait(lock, [&] { return arrival_.has_value(); });
    }
    return *take();
}

}  // namespace quadtile::viewer
