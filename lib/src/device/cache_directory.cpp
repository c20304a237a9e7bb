#include "device/cache_directory.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace quadtile::detail {

namespace {

// Largest entry that is read: more than any pipeline cache has, and little enough to read at once.
constexpr std::uintmax_t MAX_ENTRY_BYTES = std::uintmax_t{256} << 20U;

// Returns a file name that no other call and no other process uses.
std::string temporary_name(const std::string& name) {
    static std::atomic<unsigned> count = 0;
    return name + ".new." + std::to_string(getpid()) + "." + std::to_string(count++);
}

}  // namespace

CacheDirectory::CacheDirectory(std::filesystem::path path, LogCallback log)
    : path_(std::move(path)), log_(std::move(log)) {
    std::error_code failure;
    if (!path_.empty() && !std::filesystem::is_directory(path_, failure)) {
        std::filesystem::create_directories(path_, failure);
        if (failure) {
            warn("cannot make the cache directory " + path_.string() + " (" + failure.message() +
                 "): nothing is kept there");
            path_.clear();
        }
    }
}

bool CacheDirectory::has(const std::string& name) const {
    std::error_code failure;
    return !path_.empty() && std::filesystem::exists(path_ / name, failure);
}

std::optional<std::vector<std::byte>> CacheDirectory::read(const std::string& name) const {
    if (path_.empty()) {
        return std::nullopt;
    }
    const std::filesystem::path path = path_ / name;
    const auto pass_over = [&](const std::string& why) {
        warn("the cache entry " + path.string() + ' ' + why + ": what it held is made again");
        return std::nullopt;
    };
    std::error_code failure;
    const std::filesystem::file_type type = std::filesystem::status(path, failure).type();
    if (type == std::filesystem::file_type::not_found) {
        return std::nullopt;
    }
    if (type != std::filesystem::file_type::regular) {  // opening a FIFO would wait
        return pass_over("is no file that can be read");
    }
    const std::uintmax_t size_bytes = std::filesystem::file_size(path, failure);
    if (failure || size_bytes > MAX_ENTRY_BYTES) {
        return pass_over("is larger than " + std::to_string(MAX_ENTRY_BYTES >> 20U) + " MiB");
    }
    std::vector<std::byte> bytes(size_bytes);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()))) {
        return pass_over("cannot be read; may this user read it?");
    }
    return bytes;
}

void CacheDirectory::write(const std::string& name, std::span<const std::byte> bytes) const {
    if (path_.empty()) {
        return;
    }
    const std::filesystem::path temporary = path_ / temporary_name(name);
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    std::error_code failure;
    if (file) {
        std::filesystem::rename(temporary, path_ / name, failure);
    }
    if (!file || failure) {
        warn("cannot write " + (path_ / name).string() +
             ": it is made again the next time; is the disk full or the folder read-only?");
        std::filesystem::remove(temporary, failure);
    }
}

void CacheDirectory::warn(const std::string& message) const {
    if (log_) {
        log_(Severity::warning, message);
    }
}

}  // namespace quadtile::detail
