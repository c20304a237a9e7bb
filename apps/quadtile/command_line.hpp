// Conversion of the arguments of main to a request.

#pragma once

#include "commands.hpp"

#include <variant>

namespace quadtile::app {

// Request for a text: --help and --version.
using TextRequest = PrintedText;

using Request = std::variant<TextRequest, TilesRequest, MipmapRequest, DevicesRequest, DemoRequest>;

// Throws UsageError with one line that names the argument and refers to the help.
[[nodiscard]] Request parse_command_line(int argc, const char* const* argv);

}  // namespace quadtile::app
