// The two events that objects survive although their device does not: a fork, after which threads
// and drivers are the parent's, and exit(), which ends drivers before objects made earlier.

#pragma once

#include <cstdint>
#include <memory>

namespace quadtile::detail {

// What systems know: process_posix.cpp, process_windows.cpp.
[[nodiscard]] int process_id() noexcept;
// Returns whether exit() may have ended the drivers, after watch_drivers_end.
[[nodiscard]] bool is_ending() noexcept;
void watch_drivers_end();
// Returns whether the system has ended all threads but this one.
[[nodiscard]] bool have_threads_ended() noexcept;

// Throws Error(cancelled) if exit() may have ended the drivers.
void check_not_ending();

// The process that an object was made in.
class MadeIn {
 public:
    // Returns whether the object's device can be used. Otherwise its handles must be leaked.
    [[nodiscard]] bool has_device() const noexcept;
    [[nodiscard]] bool is_forked() const noexcept;
    // Throws Error: unsupported in a process that was forked since, cancelled while exit() runs.
    void check() const;

 private:
    int process_ = process_id();
};

// Keeps a handle that is not destroyed, so that leak checkers find what its driver has.
void abandon(std::uint64_t handle) noexcept;
template <typename Handle>
void abandon(Handle handle) noexcept {
    abandon(reinterpret_cast<std::uint64_t>(static_cast<typename Handle::CType>(handle)));
}

// Work that ends before the drivers do.
class EndsWithProcess {
 public:
    virtual ~EndsWithProcess() = default;
    virtual void end() noexcept = 0;

 protected:
    EndsWithProcess() = default;
    EndsWithProcess(const EndsWithProcess&) = default;
    EndsWithProcess& operator=(const EndsWithProcess&) = default;
};

// Calls end() at exit(), or when the shared library with this code is closed, for the latest work
// first; but not in processes that are forked from this one.
void end_with_process(const std::weak_ptr<EndsWithProcess>& work);

// Lets exit() do so before it destroys the statics that drivers and layers have now; after that no
// handle is destroyed if `leaks`.
void watch_exit(bool leaks);

// Returns whether the process was forked from one that has called watch_exit.
[[nodiscard]] bool is_forked_from_user() noexcept;

// Lets exit() end processes that are forked from this one before it calls functions of the parent,
// for drivers whose functions fail there.
void protect_children();

}  // namespace quadtile::detail
