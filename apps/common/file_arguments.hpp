// The files that a command line names: none may destroy another.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::app {

struct FileArgument {
    std::string name;            // of the option, for messages
    std::filesystem::path path;  // empty: not given
    bool is_written;
};

// Throws UsageError where a file that is written is also another one of `files`. Files are the same
// by device and inode, whatever paths and links lead to them; files that do not exist yet by the
// directory and the name. Devices such as /dev/null may be given several times. Opens nothing.
//
// `scene_files`: what the file SCENE names, which is read, too.
void check_files(std::vector<FileArgument> files,
                 const std::vector<std::filesystem::path>& scene_files = {});

// The path that writing to `path` creates or replaces: where a symbolic link leads, also where
// nothing is there yet.
[[nodiscard]] std::filesystem::path follow_links(std::filesystem::path path);

}  // namespace quadtile::app
