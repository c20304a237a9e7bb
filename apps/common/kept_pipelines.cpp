#include "kept_pipelines.hpp"

#include "platform.hpp"

#include <cstdint>
#include <exception>
#include <fstream>
#include <string>
#include <system_error>

namespace quadtile::app {

namespace fs = std::filesystem;

fs::path pipelines_file() {
    const char* const given = std::getenv("QUADTILE_CACHE_DIRECTORY");
    const fs::path folder = given != nullptr && *given != '\0'
                                ? path_of(given)
                                : platform::user_folder("XDG_CACHE_HOME", ".cache");
    return folder.empty() ? folder : folder / "pipelines.bin";
}

std::vector<std::byte> kept_pipelines() {
    constexpr std::uintmax_t MOST_BYTES = std::uintmax_t{256} << 20U;  // more than any driver keeps
    const fs::path path = pipelines_file();
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {  // opening a FIFO would wait
        return {};
    }
    const std::uintmax_t size_bytes = fs::file_size(path, failure);
    if (failure || size_bytes > MOST_BYTES) {
        return {};
    }
    std::vector<std::byte> bytes(size_bytes);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file ? bytes : std::vector<std::byte>();
}

void keep_pipelines(const Device& device) noexcept {
    try {
        const fs::path path = pipelines_file();
        const std::vector<std::byte> bytes = device.pipeline_cache();
        if (path.empty() || bytes == kept_pipelines()) {
            return;
        }
        fs::create_directories(path.parent_path());
        const fs::path temporary =
            path.parent_path() / ("pipelines.bin.new." + std::to_string(platform::process_id()));
        std::ofstream file(temporary, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        file.close();
        std::error_code failure;
        if (file) {
            fs::rename(temporary, path, failure);
        }
        if (!file || failure) {
            fs::remove(temporary, failure);
        }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next program compiles
    }
}

}  // namespace quadtile::app
