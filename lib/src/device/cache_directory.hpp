// A folder of the user's in which the library keeps what is costly to make again.

#pragma once

#include <quadtile/device.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

// What goes wrong here costs time, not results: it is a warning in the log, never an exception.
// Thread-safe, and among processes: files are replaced, not written into.
class CacheDirectory {
 public:
    CacheDirectory() = default;  // keeps nothing
    CacheDirectory(std::filesystem::path path, LogCallback log);

    [[nodiscard]] bool has(const std::string& name) const;
    // Nothing where there is no such file; nothing and a warning where it cannot be read.
    [[nodiscard]] std::optional<std::vector<std::byte>> read(const std::string& name) const;
    void write(const std::string& name, std::span<const std::byte> bytes) const;
    void warn(const std::string& message) const;

    [[nodiscard]] explicit operator bool() const noexcept { return !path_.empty(); }

 private:
    std::filesystem::path path_;
    LogCallback log_;
};

}  // namespace quadtile::detail
