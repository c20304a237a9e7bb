// Maps from files, one after the other, loaded by a thread of its own.

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

// Tells whether a file has changed.
struct FileStamp {
    std::filesystem::file_time_type time;
    std::uintmax_t size_bytes;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// None if there is no such file.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// A map and what is known of it.
struct MapFrame {
    std::string name;                   // of the file without its folder; "demo map"
    std::filesystem::path path;         // empty for the demo's map
    std::optional<FileStamp> stamp;     // of the file, before it was read
    std::vector<std::string> channels;  // of the file; more than one can be a map
    LoadedMap map;
    MapStatistics statistics;
};

// The demo's map, 1024 x 1024 texels.
[[nodiscard]] std::shared_ptr<const MapFrame> make_demo_frame();

// One map of a file. Throws as load_map.
[[nodiscard]] std::shared_ptr<const MapFrame> load_frame(const std::filesystem::path& path,
                                                         const std::string& channel);

// The files, which one is shown, and the thread that loads them. One thread uses it.
class MapSequence {
 public:
    // `arrived` is called when something can be taken, to wake the one that waits for events: by
    // the loading thread, or within open, go_to and the like for what is there already. The frames
    // used last are kept, up to `max_cache_bytes`; besides, there is always one loaded ahead.
    explicit MapSequence(std::function<void()> arrived,
                         std::size_t max_cache_bytes = std::size_t{512} << 20U);
    // Waits for the file that is being loaded.
    ~MapSequence();
    MapSequence(const MapSequence&) = delete;
    MapSequence& operator=(const MapSequence&) = delete;

    // Replaces the files and asks for the first one; none: for the demo's map. Reads files again
    // that were open before.
    void open(std::vector<std::filesystem::path> files, std::string channel);
    // Asks for the same file, and reads it and all others again.
    void reload();
    // Asks for the same file with another channel.
    void choose_channel(std::string channel);
    // Asks for another file; beyond the ends it goes on at the other end. The file after it is
    // loaded ahead, in the same direction.
    void go_to(std::size_t index);
    void step(std::ptrdiff_t frames);

    [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept {
        return files_;
    }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] const std::string& channel() const noexcept { return channel_; }
    // Whether what was asked for has not been taken yet.
    [[nodiscard]] bool is_loading() const noexcept { return is_loading_; }

    // Whether there is something to take.
    [[nodiscard]] bool has_arrived() const;

    // What loading came to: a frame, or why there is none.
    struct Arrival {
        std::shared_ptr<const MapFrame> frame;
        std::string error;
    };
    // What was asked for last, once: nothing while it is being loaded. What was asked for before is
    // dropped.
    [[nodiscard]] std::optional<Arrival> take();
    // The same, waiting for it; something must have been asked for (is_loading).
    [[nodiscard]] Arrival wait();

 private:
    using Frame = std::shared_ptr<const MapFrame>;

    // What is loaded. The number tells the files of one open() from those of the next: a file that
    // is opened again may be another by now.
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
        // None where it is not there.
        [[nodiscard]] Frame use(const Key& key);
        // The new one stays in any case: it may have been loaded ahead, and nobody else has it.
        void add(const Key& key, const Frame& frame);
        void clear();

     private:
        struct Entry {
            Key key;
            Frame frame;
        };

        std::size_t max_bytes_;
        std::size_t bytes_ = 0;
        std::list<Entry> entries_;  // the one used last first
    };

    static Arrival load(const Key& key);
    [[nodiscard]] Key key_of(std::size_t file) const;
    void request();
    void forget();  // all that was read
    void run();
    void finish(const Key& key, Arrival result);
    void tell_arrival() const;

    const std::function<void()> arrived_;

    // Of the one who uses it.
    std::vector<std::filesystem::path> files_;
    std::size_t index_ = 0;
    std::string channel_;
    std::ptrdiff_t direction_ = 1;  // of the last step
    bool is_loading_ = false;

    // Of both threads, under the mutex.
    mutable std::mutex mutex_;
    std::condition_variable thread_wakes_;
    std::condition_variable user_wakes_;
    bool ends_ = false;
    std::uint64_t number_of_open_ = 0;
    std::optional<Key> wanted_;  // until it has arrived
    std::optional<Key> ahead_;   // to be loaded when nothing is wanted
    std::optional<Arrival> arrival_;
    Cache cache_;

    std::jthread thread_;  // the last member: joined before what it uses is gone
};

}  // namespace quadtile::viewer
