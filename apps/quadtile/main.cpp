#include "commands.hpp"
#include "process.hpp"

int main(int argc, char** argv) {
    using namespace quadtile::app;
    return run_program("quadtile", "there is not enough memory for this image; use a smaller one",
                       [&] {
                           parse_command_line(argc, argv)();
                           return 0;
                       });
}
