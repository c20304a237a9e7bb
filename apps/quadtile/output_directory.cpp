#include "output_directory.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace quadtile::app {

namespace fs = std::filesystem;

OutputDirectories::~OutputDirectories() {
    for (auto directory = created_.rbegin(); directory != created_.rend(); ++directory) {
        std::error_code ignored;  // it has files
        fs::remove(*directory, ignored);
    }
}

void OutputDirectories::create(const fs::path& directory) {
    std::error_code error;
    const fs::file_status status = fs::status(directory, error);
    if (fs::is_directory(status)) {
        return;
    }
    if (fs::exists(status)) {
        error = std::make_error_code(std::errc::not_a_directory);
    } else {
        const fs::path above = directory.parent_path();
        if (!above.empty() && above != directory) {
            create(above);
        }
        removed_by_signal_.emplace_back(directory);
        if (fs::create_directory(directory, error)) {
            created_.push_back(directory);
        }
    }
    if (error) {
        throw std::runtime_error("cannot create the directory '" + directory.string() +
                                 "': " + error.message());
    }
}

}  // namespace quadtile::app
