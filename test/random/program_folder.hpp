// A folder of files in which the program `quadtile` runs.

#pragma once

#include "apps/program.hpp"
#include "choices.hpp"

#include <quadtile/image.hpp>

#include <map>
#include <string>

namespace quadtile::test {

using Words = app::test::Arguments;
using app::test::operator+;
using Contents = std::map<std::string, std::string>;  // the bytes of each file by its name

struct Folder {
    const TemporaryDirectory& cache;  // of compiled pipelines
    TemporaryDirectory directory;

    [[nodiscard]] Contents contents() const {
        namespace fs = std::filesystem;
        Contents all;
        for (const auto& entry : fs::recursive_directory_iterator(directory.path())) {
            if (entry.is_regular_file()) {
                all[fs::relative(entry.path(), directory.path())] = read_file(entry.path());
            }
        }
        return all;
    }
    [[nodiscard]] app::test::ProgramResult run(const Words& words) const {
        return app::test::run_program(
            words, {.directory = directory.path(),
                    .environment = {{"QUADTILE_CACHE_DIRECTORY", cache.path()}}});
    }
};

inline std::string line_of(const Words& words) {
    std::string text = "quadtile";
    for (const std::string& word : words) {
        text += " '" + word + "'";
    }
    return text;
}

// A PFM file of an image of 32-bit floats: its rows go from the bottom.
inline std::string encode_pfm(const ImageView& image) {
    const std::size_t row = image.shape.width * sizeof(float);
    std::string bytes = "Pf\n" + std::to_string(image.shape.width) + " " +
                        std::to_string(image.shape.height) + "\n-1\n";
    for (std::size_t y = image.shape.height; y-- > 0;) {
        bytes.append(static_cast<const char*>(image.texels) + y * row, row);
    }
    return bytes;
}

// A command line that is wrong in one thing: it is refused, and no file changes.
[[nodiscard]] std::string check_refusal(Choices& choices, const Folder& folder);

}  // namespace quadtile::test
