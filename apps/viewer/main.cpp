#include "options.hpp"
#include "run.hpp"

#include "message_line.hpp"

#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>

namespace quadtile::viewer {

namespace {

int fail(std::string_view message, int status) {
    std::cerr << app::message_line("quadtile-viewer: error", message) << std::endl;
    return status;
}

int run(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    if (parsed.text) {
        std::cout << parsed.text->text;
        return 0;
    }
    if (!parsed.warning.empty()) {
        std::cerr << app::message_line("quadtile-viewer: warning", parsed.warning) << std::endl;
    }
    const Options& options = parsed.options;
    const std::uint32_t messages =
        options.screenshot.empty() ? run_window(options) : run_screenshot(options);
    if (messages > 0) {
        throw std::runtime_error("the validation layer has complained " + std::to_string(messages) +
                                 " times");
    }
    return 0;
}

}  // namespace

}  // namespace quadtile::viewer

int main(int argc, char** argv) {
    using namespace quadtile::viewer;
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return fail("there is not enough memory for this map; use a smaller one", 1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
