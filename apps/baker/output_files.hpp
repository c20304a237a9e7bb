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
    // Opens a file; of a bake that was interrupted, under its partial path.
    app::OutputFile& open(const std::filesystem::path& path, bool is_partial) {
        paths_.push_back(path);
        return files_.emplace_back(is_partial ? partial_path(path) : path);
    }

    void add(const std::filesystem::path& path, bool is_partial, std::string_view bytes) {
        app::OutputFile& file = open(path, is_partial);
        file.write(bytes);
        file.finish();
    }

    // Lets all files appear. Those of an earlier interrupted bake go, unless this one was, too.
    void commit(bool is_partial) {
        app::OutputFile::commit_all(files_);
        for (const std::filesystem::path& path : paths_) {
            const std::filesystem::path partial = partial_path(path);
            std::error_code ignored;
            if (!is_partial && partial != path) {
                std::filesystem::remove(partial, ignored);
            }
        }
    }

 private:
    std::vector<app::OutputFile> files_;
    std::vector<std::filesystem::path> paths_;  // of complete bakes
};

}  // namespace quadtile::baker
