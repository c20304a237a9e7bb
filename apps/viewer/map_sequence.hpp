// Maps from files, one after the other, loaded by a thread.

#pragma once

#include "map_statistics.hpp"

#include <quadtile/images.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
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
    MapStatistics statistics;
};

// The demo's map, 1024 x 1024 texels.
[[nodiscard]] std::shared_ptr<const MapFrame> make_demo_frame();

// Loads a map from a file. Throws as load_map.
[[nodiscard]] std::shared_ptr<const MapFrame> load_frame(const std::filesystem::path& path,
                                                         const std::string& channel);

// The open files, the one that is shown, and the thread that loads them. Not thread-safe.
class MapSequence {
 public:
    // `arrived` is called when take() has a result: by the loading thread, or within open, go_to
    // and the like if the map is in the cache. The cache keeps the frames used last, up to
    // `max_cache_bytes`, and the one that is loaded ahead.
    explicit MapSequence(std::function<void()> arrived,
                         std::size_t max_cache_bytes = std::size_t{512} << 20U);
    // Waits for the file that is being loaded.
    ~MapSequence();
    MapSequence(const MapSequence&) = delete;
    MapSequence& operator=(const MapSequence&) = delete;

    // Replaces the files and requests the first one, or the demo's map if there are no files. Reads
    // files again that were open before.
    void open(std::vector<std::filesystem::path> files, std::string channel);
    // Requests the same file. Reads it and all others again.
    void reload();
    // Requests the same file with another channel.
    void choose_channel(std::string channel);
    // Requests another file. Beyond one end the index continues at the other end. The next file in
    // the same direction is loaded ahead.
    void go_to(std::size_t index);
    void step(std::ptrdiff_t frames);

    [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept {
        return files_;
    }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] const std::string& channel() const noexcept { return channel_; }
    // Tells whether take() has not returned the last request's result yet.
    [[nodiscard]] bool is_loading() const noexcept { return is_loading_; }

    // Tells whether take() has a result.
    [[nodiscard]] bool has_arrived() const;

    // Result of a request: a frame, or the reason why there is none.
    struct Arrival {
        std::shared_ptr<const MapFrame> frame;
        std::string error;
    };
    // Returns the result of the last request, once; nothing while it is being loaded. Results of
    // earlier requests are dropped.
    [[nodiscard]] std::optional<Arrival> take();
    // Waits for the result and returns it. There must be a request (is_loading).
    [[nodiscard]] Arrival wait();

 private:
    using Frame = std::shared_ptr<const MapFrame>;

    // A map to load. The number counts calls of open(), since a file that is opened again may have
    // changed.
    struct Key {
        std::uint64_t number_of_open;
        std::filesystem::path path;  // empty: the demo's map
        std::string channel;

        friend bool operator==(const Key&, const Key&) = default;
    };

    // The frames that were used last.
    class Cache {
     public:
        explicit Cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

        [[nodiscard]] bool contains(const Key& key) const;
        // Returns none if there is no such frame.
        [[nodiscard]] Frame use(const Key& key);
        // Adds a frame. It stays at any size: if it was loaded ahead, only the cache holds it.
        void add(const Key& key, const Frame& frame);
        void clear();

     private:
        struct Entry {
            Key key;
            Frame frame;
        };

        std::size_t max_bytes_;
        std::size_t bytes_ = 0;
        std::list<Entry> entries_;  // the one used last comes first
    };

    static Arrival load(const Key& key);
    [[nodiscard]] Key key_of(std::size_t file) const;
    void request();
    void forget();  // drops all frames that were read
    void run();
    void finish(const Key& key, Arrival result);
    void tell_arrival() const;

    const std::function<void()> arrived_;

    // State of the thread that calls open(), take() and the like.
    std::vector<std::filesystem::path> files_;
    std::size_t index_ = 0;
    std::string channel_;
    std::ptrdiff_t direction_ = 1;  // of the last step
    bool is_loading_ = false;

    // State of both threads, guarded by the mutex.
    mutable std::mutex mutex_;
    std::condition_variable thread_wakes_;
    std::condition_variable user_wakes_;
    bool ends_ = false;
    std::uint64_t number_of_open_ = 0;
    std::optional<Key> wanted_;  // until it has arrived
    std::optional<Key> ahead_;   // loaded when wanted_ is empty
    std::optional<Arrival> arrival_;
    Cache cache_;

    std::jthread thread_;  // the last member: it is joined before the others are destroyed
};

}  // namespace quadtile::viewer
