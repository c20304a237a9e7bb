#include "program.hpp"

#include <cstdlib>

namespace quadtile::app::test {

ProgramResult run_program(const std::vector<std::string>& arguments,
                          const ProgramOptions& options) {
    const char* const path = std::getenv("QUADTILE_CLI");
    return run_executable(path != nullptr ? path : QUADTILE_CLI_PATH, arguments, options);
}

}  // namespace quadtile::app::test
