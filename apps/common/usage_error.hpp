#pragma once

#include <stdexcept>
#include <string>

namespace quadtile::app {

// The command line itself is wrong: exit status 2.
class UsageError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// What --help and --version print. run_program prints it, and the exit status is 0.
struct PrintedText {
    std::string text;
};

}  // namespace quadtile::app
