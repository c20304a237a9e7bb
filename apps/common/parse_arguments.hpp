// How a program reads its command line with CLI11, once all options are defined.

#pragma once

#include "usage_error.hpp"

#include <CLI/CLI.hpp>

#include <stdexcept>
#include <string>

namespace quadtile::app {

// What `read` returns after the arguments are parsed. Throws UsageError, which names --help, for
// arguments that are wrong and for runtime errors of `read`; PrintedText for --help and --version.
template <typename Read>
[[nodiscard]] auto parse_arguments(CLI::App& app, int argc, const char* const* argv, Read&& read) {
    try {
        app.parse(argc, argv);
        return read();
    } catch (const CLI::CallForVersion& version) {
        throw PrintedText{std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        throw PrintedText{app.help()};
    } catch (const std::runtime_error& error) {  // CLI::ParseError, UsageError or Error
        throw UsageError(std::string(error.what()) + "; see '" + app.get_name() + " --help'");
    }
}

}  // namespace quadtile::app
