// The devices of this process, with the Tilers and Mipmappers that calls share. They need no GIL,
// and must not be called with it unless a comment allows it: another thread that holds a lock may
// wait for the GIL.

#pragma once

#include <quadtile/device.hpp>
#include <quadtile/downsampler.hpp>
#include <quadtile/error.hpp>
#include <quadtile/tiler.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace quadtile::python {

// Tools that one thread uses at a time, kept for the next call with the same key. At most MOST
// exist, to bound the memory of many threads; further threads wait.
template <typename Tool>
class Pool {
 public:
    // Runs with a free tool of this key, or a new one. A tool that fails is not kept.
    template <typename Result>
    Result use(const std::string& key, const std::function<Tool()>& make,
               const std::function<Result(Tool&)>& run) {
        std::optional<Tool> tool = take(key);
        const Return back{*this};
        if (!tool) {
            tool.emplace(make());
        }
        Result result = run(*tool);
        const std::lock_guard lock(mutex_);
        free_.emplace_back(key, std::move(*tool));
        return result;
    }

 private:
    static constexpr std::size_t MOST = 4;

    struct Return {
        Pool& pool;
        ~Return() {
            {
                const std::lock_guard lock(pool.mutex_);
                --pool.in_use_;
            }
            pool.changed_.notify_one();
        }
    };

    std::optional<Tool> take(const std::string& key) {
        std::optional<Tool> dropped;  // destroyed after the lock is released
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return in_use_ < MOST; });
        ++in_use_;
        // The last one has the warmest caches.
        for (auto tool = free_.rbegin(); tool != free_.rend(); ++tool) {
            if (tool->first == key) {
                std::optional<Tool> taken(std::move(tool->second));
                free_.erase(std::next(tool).base());
                return taken;
            }
        }
        if (in_use_ + free_.size() > MOST) {
            dropped.emplace(std::move(free_.front().second));
            free_.pop_front();
        }
        return std::nullopt;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t in_use_ = 0;
    std::deque<std::pair<std::string, Tool>> free_;  // the most recently used one is at the end
};

struct SharedDevice {
    explicit SharedDevice(Device made) : device(std::move(made)) {}

    Device device;
    Pool<Tiler> tilers;
    Pool<Mipmapper> mipmappers;
};

// Returns the device that `select` names as in DeviceOptions::select; the first call makes it.
// Throws as Device::create does.
[[nodiscard]] std::shared_ptr<SharedDevice> shared_device(const std::string& select);

// Releases a device that was lost: the next call makes it anew.
void forget_device(const std::string& select);

// Keeps the pipelines of all devices for the next process.
void keep_pipelines();

// Returns the result of `run`; forgets the device if it is lost meanwhile.
template <typename Run>
auto with_device(const std::string& select, const Run& run) {
    const std::shared_ptr<SharedDevice> device = shared_device(select);
    try {
        return run(*device);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_lost) {
            forget_device(select);
        }
        throw;
    }
}

}  // namespace quadtile::python
