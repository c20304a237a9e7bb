#include "fuzz_image.hpp"

#include "expectations.hpp"

#include <quadtile/images.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace quadtile::app::fuzz {

namespace {

// A file in memory with a path, as the loaders need.
class MemoryFile {
 public:
    explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("quadtile-fuzz", 0)) {
        if (file_ < 0) {
            throw std::system_error(errno, std::generic_category(), "memfd_create");
        }
        while (!bytes.empty()) {
            const ssize_t written = ::write(file_, bytes.data(), bytes.size());
            if (written < 0) {
                const int error = errno;
                ::close(file_);
                throw std::system_error(error, std::generic_category(), "write to a memfd");
            }
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(file_); }

    [[nodiscard]] std::filesystem::path path() const {
        return "/proc/self/fd/" + std::to_string(file_);
    }

 private:
    int file_;
};

template <typename Load>
void expect_image_or_error(const std::filesystem::path& path, Load&& load) {
    try {
        check_texels(load());
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): main has a message for it
    } catch (const std::runtime_error& error) {
        check_message(error.what(), "cannot read '" + path.string() + "': ");
    }
}

}  // namespace

void fuzz_image(std::string_view bytes, const std::vector<std::string>& channels,
                const std::vector<ImageSelection>& selections) {
    const MemoryFile file(bytes);
    const std::filesystem::path path = file.path();
    expect_image_or_error(path, [&] { return load_map(path); });
    for (const std::string& channel : channels) {
        expect_image_or_error(path, [&] { return load_map(path, channel); });
    }
    for (const ImageSelection& selection : selections) {
        expect_image_or_error(path, [&] { return load_image(path, selection); });
    }
}

}  // namespace quadtile::app::fuzz
