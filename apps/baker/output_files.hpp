// The files of a bake, which appear together.

#pragma once

#include "options.hpp"
#include "output_file.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace quadtile::baker {

class OutputFiles {
 public:
    bool are_partial = false;  // files of a bake that was interrupted, under their partial paths

    app::OutputFile& open(const std::filesystem::path& path) {
        paths_.push_back(path);
        return files_.emplace_back(are_partial ? partial_path(path) : path);
    }

    void add(const std::filesystem::path& path, std::string_view bytes) {
        app::OutputFile& file = open(path);
        file.write(bytes);
        file.finish();
    }

    // Lets all files appear. Those of an earlier interrupted bake go, unless this one was, too.
    void commit() {
        app::OutputFile::commit_all(files_);
        for (const std::filesystem::path& path : paths_) {
            const std::filesystem::path partial = partial_path(path);
            std::error_code ignored;
            if (!are_partial && partial != path) {
                std::filesystem::remove(partial, ignored);
            }
        }
    }

 private:
    std::vector<app::OutputFile> files_;
    std::vector<std::filesystem::path> paths_;  // of complete bakes
};

}  // namespace quadtile::baker
