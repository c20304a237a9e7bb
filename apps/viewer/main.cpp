#include "run_modes.hpp"

#include "process.hpp"

#include <iostream>

namespace quadtile::viewer {

namespace {

int run(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    if (!parsed.warning.empty()) {
        std::cerr << app::message_line("quadtile-viewer: warning", parsed.warning) << std::endl;
    }
    const Options& options = parsed.options;
    app::check_validation(options.screenshot.empty() ? run_window(options)
                                                     : run_screenshot(options));
    return 0;
}

}  // namespace

}  // namespace quadtile::viewer

int main(int argc, char** argv) {
    return quadtile::app::run_program("quadtile-viewer",
                                      "there is not enough memory for this map; use a smaller one",
                                      [&] { return quadtile::viewer::run(argc, argv); });
}
