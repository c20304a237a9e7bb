#include "map_sequence.hpp"

#include "demo_map.hpp"
#include "process.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace quadtile::viewer {

namespace {

using Frame = std::shared_ptr<const MapFrame>;

// What is loaded. The number tells the files of one open() from those of the next: a file that is
// opened again may be another by now.
struct Key {
    std::uint64_t number_of_open;
    std::filesystem::path path;  // empty: the demo's map
    std::string channel;

    friend bool operator==(const Key&, const Key&) = default;
};

std::size_t size_bytes(const MapFrame& frame) {
    const ImageShape& shape = frame.map.shape;
    const MapStatistics& statistics = frame.statistics;
    return std::size_t{shape.width} * shape.height * texel_size_bytes(shape.format) +
           statistics.positive_by_key.size() * sizeof(std::uint32_t) +
           statistics.odd_texels.size() * sizeof(OddTexel);
}

// The frames that were used last.
class Cache {
 public:
    explicit Cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    [[nodiscard]] bool contains(const Key& key) const {
        return std::ranges::find(entries_, key, &Entry::key) != entries_.end();
    }

    // None where it is not there.
    [[nodiscard]] Frame use(const Key& key) {
        const auto found = std::ranges::find(entries_, key, &Entry::key);
        if (found == entries_.end()) {
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, found);
        return found->frame;
    }

    // The new one stays in any case: it may have been loaded ahead, and nobody else has it.
    void add(const Key& key, const Frame& frame) {
        entries_.push_front({key, frame});
        bytes_ += size_bytes(*frame);
        while (bytes_ > max_bytes_ && entries_.size() > 1) {
            bytes_ -= size_bytes(*entries_.back().frame);
            entries_.pop_back();
        }
    }

    void clear() {
        entries_.clear();
        bytes_ = 0;
    }

 private:
    struct Entry {
        Key key;
        Frame frame;
    };

    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    std::list<Entry> entries_;  // the one used last first
};

MapSequence::Arrival load(const Key& key) {
    try {
        return {key.path.empty() ? make_demo_frame() : load_frame(key.path, key.channel), {}};
    } catch (const std::exception& error) {
        return {nullptr, app::is_out_of_memory(error)
                             ? key.path.string() + ": there is not enough memory for it"
                             : error.what()};
    }
}

// `index` of `count` items in a ring.
std::size_t wrapped(std::size_t index, std::ptrdiff_t offset, std::size_t count) {
    const auto signed_count = static_cast<std::ptrdiff_t>(count);
    const std::ptrdiff_t remainder = (static_cast<std::ptrdiff_t>(index) + offset) % signed_count;
    return static_cast<std::size_t>(remainder < 0 ? remainder + signed_count : remainder);
}

}  // namespace

std::shared_ptr<const MapFrame> make_demo_frame() {
    constexpr std::uint32_t EXTENT = 1024;
    const auto texels = std::make_shared<const std::vector<float>>(app::render_demo_map(EXTENT));
    const LoadedImage image{{texels, reinterpret_cast<const std::byte*>(texels->data())},
                            view_of(*texels, EXTENT, EXTENT).shape};
    auto frame = std::make_shared<MapFrame>();
    frame->name = "demo map";
    frame->map = {image, "Y"};
    frame->statistics = measure(frame->map.view());
    return frame;
}

std::shared_ptr<const MapFrame> load_frame(const std::filesystem::path& path,
                                           const std::string& channel) {
    auto frame = std::make_shared<MapFrame>();
    frame->name = path.filename().string();
    frame->path = path;
    frame->channels = channels_of(path);
    frame->map = load_map(path, channel);
    frame->statistics = measure(frame->map.view());
    return frame;
}

struct MapSequence::Impl {
    Impl(std::function<void()> arrived_, std::size_t max_cache_bytes)
        : arrived(std::move(arrived_)), cache(max_cache_bytes) {}

    const std::function<void()> arrived;

    // Of the one who uses it.
    std::vector<std::filesystem::path> files;
    std::size_t index = 0;
    std::string channel;
    std::ptrdiff_t direction = 1;  // of the last step
    bool is_loading = false;

    // Of both threads, under the mutex.
    std::mutex mutex;
    std::condition_variable thread_wakes;
    std::condition_variable user_wakes;
    bool ends = false;
    std::uint64_t number_of_open = 0;
    std::optional<Key> wanted;  // until it has arrived
    std::optional<Key> ahead;   // to be loaded when nothing is wanted
    std::optional<Arrival> arrival;
    Cache cache;

    std::jthread thread;  // the last member: joined before what it uses is gone

    [[nodiscard]] Key key_of(std::size_t file) const;
    void request();
    void run();
    void finish(const Key& key, Arrival result);
    void tell_arrival() const;
};

Key MapSequence::Impl::key_of(std::size_t file) const {
    return files.empty() ? Key{number_of_open, {}, {}} : Key{number_of_open, files[file], channel};
}

// Asks for the file at `index`, and for the next one after it.
void MapSequence::Impl::request() {
    is_loading = true;
    bool is_there = false;
    {
        const std::lock_guard lock(mutex);
        const Key key = key_of(index);
        const Frame frame = cache.use(key);
        is_there = frame != nullptr;
        arrival = is_there ? std::optional(Arrival{frame, {}}) : std::nullopt;
        wanted = is_there ? std::nullopt : std::optional(key);
        ahead.reset();
        if (files.size() > 1) {
            ahead = key_of(wrapped(index, direction, files.size()));
        }
    }
    thread_wakes.notify_one();
    if (is_there) {
        tell_arrival();
    }
}

void MapSequence::Impl::run() {
    std::unique_lock lock(mutex);
    while (true) {
        thread_wakes.wait(lock, [&] { return ends || wanted || ahead; });
        if (ends) {
            return;
        }
        const Key key = wanted ? *wanted : *std::exchange(ahead, std::nullopt);
        if (!wanted && cache.contains(key)) {
            continue;
        }
        lock.unlock();
        Arrival result = load(key);
        finish(key, std::move(result));
        lock.lock();
    }
}

// What was loaded ahead may be wanted by now, what was wanted may not be any more.
void MapSequence::Impl::finish(const Key& key, Arrival result) {
    {
        const std::lock_guard lock(mutex);
        if (result.frame && key.number_of_open == number_of_open) {
            cache.add(key, result.frame);
        }
        if (ends || wanted != key) {
            return;
        }
        wanted.reset();
        arrival = std::move(result);
    }
    user_wakes.notify_one();
    tell_arrival();
}

void MapSequence::Impl::tell_arrival() const {
    if (arrived) {
        arrived();
    }
}

MapSequence::MapSequence(std::function<void()> arrived, std::size_t max_cache_bytes)
    : impl_(std::make_unique<Impl>(std::move(arrived), max_cache_bytes)) {
    impl_->thread = std::jthread([impl = impl_.get()] { impl->run(); });
}

MapSequence::~MapSequence() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->ends = true;
    }
    impl_->thread_wakes.notify_one();
}

void MapSequence::open(std::vector<std::filesystem::path> files, std::string channel) {
    {
        const std::lock_guard lock(impl_->mutex);
        ++impl_->number_of_open;
        impl_->cache.clear();
    }
    impl_->files = std::move(files);
    impl_->channel = std::move(channel);
    impl_->index = 0;
    impl_->direction = 1;
    impl_->request();
}

void MapSequence::choose_channel(std::string channel) {
    impl_->channel = std::move(channel);
    impl_->request();
}

void MapSequence::go_to(std::size_t index) {
    const std::size_t count = std::max<std::size_t>(impl_->files.size(), 1);
    const std::size_t target = index % count;
    if (target != impl_->index) {
        impl_->direction = target > impl_->index ? 1 : -1;
    }
    impl_->index = target;
    impl_->request();
}

void MapSequence::step(std::ptrdiff_t frames) {
    const std::size_t count = std::max<std::size_t>(impl_->files.size(), 1);
    if (frames != 0) {
        impl_->direction = frames > 0 ? 1 : -1;
    }
    impl_->index = wrapped(impl_->index, frames, count);
    impl_->request();
}

const std::vector<std::filesystem::path>& MapSequence::files() const noexcept {
    return impl_->files;
}

std::size_t MapSequence::index() const noexcept {
    return impl_->index;
}

const std::string& MapSequence::channel() const noexcept {
    return impl_->channel;
}

bool MapSequence::is_loading() const noexcept {
    return impl_->is_loading;
}

bool MapSequence::has_arrived() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->arrival.has_value();
}

std::optional<MapSequence::Arrival> MapSequence::take() {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->arrival) {
        impl_->is_loading = false;
    }
    return std::exchange(impl_->arrival, std::nullopt);
}

MapSequence::Arrival MapSequence::wait() {
    if (!impl_->is_loading) {
        throw std::logic_error("MapSequence::wait: nothing was asked for");
    }
    {
        std::unique_lock lock(impl_->mutex);
        impl_->user_wakes.wait(lock, [&] { return impl_->arrival.has_value(); });
    }
    return *take();
}

}  // namespace quadtile::viewer
