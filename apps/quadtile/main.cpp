#include "command_line.hpp"
#include "output_file.hpp"
#include "process.hpp"

namespace quadtile::app {

namespace {

void run(const TextRequest& request) {
    OutputFile output = OutputFile::standard_output();
    output.write(request.text);
    output.commit();
}

}  // namespace

}  // namespace quadtile::app

int main(int argc, char** argv) {
    using namespace quadtile::app;
    return run_program(
        "quadtile", "there is not enough memory for this image; use a smaller one", [&] {
            std::visit([](const auto& request) { run(request); }, parse_command_line(argc, argv));
            return 0;
        });
}
