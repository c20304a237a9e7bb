#include "fuzz_targets.hpp"

#include "process.hpp"

#include <quadtile/images.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadtile::app::fuzz {

namespace {

// libFuzzer keeps inputs that set new ones of these. Libraries that are not built for it, as
// OpenEXR, show by their messages alone how far an input came.
__attribute__((section("__libfuzzer_extra_counters"))) std::array<std::uint8_t, 4096> messages;

void count_as_new(std::string_view message) {
    std::string kind(message);  // numbers do not make another one
    std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
    messages.at(std::hash<std::string>{}(kind) % messages.size()) = 1;
}

// Throws std::logic_error unless the message begins with `beginning`, says more than that, and
// becomes one line that no terminal takes for a command.
void check_message(std::string_view message, std::string_view beginning) {
    if (!message.starts_with(beginning) || message.size() == beginning.size()) {
        throw std::logic_error("an error says '" + std::string(message) + "' instead of '" +
                               std::string(beginning) + "' and more");
    }
    count_as_new(message.substr(beginning.size()));
    for (const char c : message_line("quadtile: error", message)) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte < 0x20U || byte == 0x7fU) {
            throw std::logic_error("an error is printed with the control character " +
                                   std::to_string(byte));
        }
    }
}

// Throws std::logic_error unless there is an image; touches its texels for the address sanitizer.
void check_texels(const LoadedImage& image) {
    check_image(image.shape);
    if (image.shape.layers != 1) {
        throw std::logic_error("a file has " + std::to_string(image.shape.layers) + " layers");
    }
    // The ends of each row; all of a giant would take long.
    const std::size_t row_bytes = image.shape.width * texel_size_bytes(image.shape.format);
    const std::byte* row = image.texels.get();
    volatile std::byte touched{};
    for (std::uint32_t y = 0; y < image.shape.height; ++y, row += row_bytes) {
        touched = row[0];
        touched = row[row_bytes - 1];
    }
    (void)touched;
}

// A file in memory with a path, as the loaders need.
class MemoryFile {
 public:
    explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("quadtile-fuzz", 0)) {
        std::ofstream stream(path(), std::ios::binary);
        if (!(stream << bytes).flush()) {
            throw std::runtime_error("cannot write a file in memory");
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

// Loads a file of these bytes as a map, by default and by a channel, and as an image by each of the
// selections. Throws std::logic_error where what comes is neither an image nor an error.
void fuzz_image(std::string_view bytes, const std::vector<ImageSelection>& selections) {
    const MemoryFile file(bytes);
    const std::filesystem::path path = file.path();
    expect_image_or_error(path, [&] { return load_map(path); });
    expect_image_or_error(path, [&] { return load_map(path, "G"); });
    for (const ImageSelection& selection : selections) {
        expect_image_or_error(path, [&] { return load_image(path, selection); });
    }
}

constexpr std::string_view EXR = "\x76\x2f\x31\x01";
constexpr std::string_view PNG = "\x89PNG\r\n\x1a\n";

}  // namespace

void fuzz_exr(std::string_view bytes) {
    if (bytes.starts_with(EXR)) {
        fuzz_image(bytes, {{}});
    }
}

// Also tries bytes whose beginning fits no loader.
void fuzz_pfm(std::string_view bytes) {
    if (!bytes.starts_with(EXR) && !bytes.starts_with(PNG.substr(0, 4))) {
        fuzz_image(bytes, {{}});
    }
}

void fuzz_png(std::string_view bytes) {
    if (bytes.starts_with(PNG)) {
        fuzz_image(bytes, {{}, {.linear = true}});
    }
}

}  // namespace quadtile::app::fuzz

#ifdef QUADTILE_FUZZ_TARGET
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    quadtile::app::fuzz::QUADTILE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
#endif
