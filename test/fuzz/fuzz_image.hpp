// What the targets of all image files share.

#pragma once

#include <quadtile/images.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app::fuzz {

// Loads a file of these bytes as a map, by default and by each of the channels, and as an image by
// each of the selections. Throws std::logic_error where what comes is neither an image nor an
// error.
void fuzz_image(std::string_view bytes, const std::vector<std::string>& channels,
                const std::vector<ImageSelection>& selections);

}  // namespace quadtile::app::fuzz
