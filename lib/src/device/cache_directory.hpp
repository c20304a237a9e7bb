// The user's folder for data that is expensive to compute again.

#pragma once

#include <quadtile/device.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

// A cache directory. Failures cost time, not results, so they are warnings in the log and never
// exceptions. Threads and processes may share it: files are replaced, not written into.
class CacheDirectory {
 public:
    CacheDirectory() = default;  // keeps nothing
    CacheDirectory(std::filesystem::path path, LogCallback log);

    [[nodiscard]] bool has(const std::string& name) const;
    // Returns the content of a file; nothing if it does not exist, and nothing with a warning if it
    // cannot be read.
    [[nodiscard]] std::optional<std::vector<std::byte>> read(const std::string& name) const;
    void write(const std::string& name, std::span<const std::byte> bytes) const;
    void warn(const std::string& message) const;

    [[nodiscard]] explicit operator bool() const noexcept { return !path_.empty(); }

 private:
    std::filesystem::path path_;
    LogCallback log_;
};

}  // namespace quadtile::detail
