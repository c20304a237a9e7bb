// Main function of the benchmarks that print tables.

#pragma once

#include "process.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace quadtile::bench {

// Reads the arguments and runs; the exit status.
template <typename Arguments>
int run_program(int argc, char** argv, const std::string& name, const std::string& description,
                const std::function<void(CLI::App&, Arguments&)>& define_options,
                const std::function<void(const CLI::App&, Arguments&)>& run) {
    Arguments arguments;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    define_options(app, arguments);
    CLI11_PARSE(app, argc, argv);
    return quadtile::app::run_program(name, "there is not enough memory", [&] {
        run(app, arguments);
        return 0;
    });
}

}  // namespace quadtile::bench
