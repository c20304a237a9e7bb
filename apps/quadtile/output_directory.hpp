// Directories that stay only where something came of them.

#pragma once

#include "process.hpp"

#include <filesystem>
#include <vector>

namespace quadtile::app {

// Creates directories, and removes those again that are empty in the end, or when a signal ends the
// program.
//
// Throws std::runtime_error with the directory and the reason.
class OutputDirectories {
 public:
    OutputDirectories() = default;
    OutputDirectories(const OutputDirectories&) = delete;
    OutputDirectories& operator=(const OutputDirectories&) = delete;
    ~OutputDirectories();

    // With those above it; one that is there already is left as it is.
    void create(const std::filesystem::path& directory);

 private:
    std::vector<std::filesystem::path> created_;  // outer ones first
    std::vector<RemovedBySignal> removed_by_signal_;
};

}  // namespace quadtile::app
