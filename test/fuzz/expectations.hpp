// Expectations of the targets on errors and images.

#pragma once

#include <quadtile/images.hpp>

#include <string_view>

namespace quadtile::app::fuzz {

// Throws std::logic_error unless the message begins with `beginning`, says more than that, and
// becomes one line that no terminal takes for a command.
void check_message(std::string_view message, std::string_view beginning);

// Throws std::logic_error unless there is an image; touches its texels for the address sanitizer.
void check_texels(const LoadedImage& image);

}  // namespace quadtile::app::fuzz
