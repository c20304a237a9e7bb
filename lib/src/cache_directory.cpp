#include "cache_directory.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace quadtile::detail {

namespace {

// Nobody else's: of this process, this call.
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
    std::ifstream file(path_ / name, std::ios::binary);
    if (!file) {
        return std::nullopt;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const std::span view = std::as_bytes(std::span(bytes));
    return std::vector<std::byte>(view.begin(), view.end());
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
