// The file of compiled pipelines, with which the next program starts sooner.

#pragma once

#include <quadtile/device.hpp>

#include <cstddef>
#include <filesystem>
#include <vector>

namespace quadtile::app {

// Returns pipelines.bin in $QUADTILE_CACHE_DIRECTORY, else in the folder `quadtile` of
// $XDG_CACHE_HOME or ~/.cache; empty if none is set.
[[nodiscard]] std::filesystem::path pipelines_file();

// Returns the file's bytes for DeviceOptions::pipeline_cache; empty if it cannot be read.
[[nodiscard]] std::vector<std::byte> kept_pipelines();

// Puts a device's pipelines into the file, unless they are there. The file appears whole or not at
// all; if it cannot be written, nothing happens.
void keep_pipelines(const Device& device) noexcept;

}  // namespace quadtile::app
