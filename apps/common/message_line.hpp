// How a program says on standard error what failed.

#pragma once

#include <string>
#include <string_view>

namespace quadtile::app {

// "`start`: `message`" as one line, without its end, whatever the message contains: line breaks and
// tabs become spaces. What a terminal could take for a command (control characters of ASCII and
// Unicode), and bytes that are not UTF-8, are written as \x1b. File names, arguments and the names
// in damaged files have all of these.
[[nodiscard]] std::string message_line(std::string_view start, std::string_view message);

}  // namespace quadtile::app
