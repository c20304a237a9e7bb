#include "options.hpp"
#include "run_screenshot.hpp"
#include "run_window.hpp"

#include "message_line.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadtile::shadow {

namespace {

int fail(std::string_view message, int status) {
    std::cerr << app::message_line("quadtile-shadow: error", message) << std::endl;
    return status;
}

int run(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    if (parsed.text) {
        std::cout << parsed.text->text;
        return 0;
    }
    const Options& options = parsed.options;
    const bool makes_files = !options.screenshot.empty() || !options.record.empty();
    const std::uint32_t messages = makes_files ? run_screenshot(options) : run_window(options);
    if (messages > 0) {
        throw std::runtime_error("the validation layer has complained " + std::to_string(messages) +
                                 " times");
    }
    return 0;
}

}  // namespace

}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    using namespace quadtile::shadow;
    // Failed writes become errors where they happen instead of signals that end the process.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return fail("there is not enough memory for this scene", 1);
    } catch (const vk::OutOfDeviceMemoryError&) {
        return fail(
            "the device has not enough memory; make the atlas smaller with --atlas, or the picture "
            "with --size",
            1);
    } catch (const std::exception& error) {
        if (quadtile::app::is_device_loss(error)) {
            return fail("the device was lost (" + std::string(error.what()) +
                            "); try a smaller --size or --atlas, or another --device",
                        1);
        }
        return fail(error.what(), 1);
    }
}
