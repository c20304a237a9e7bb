#include "session.hpp"

#include "process.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace quadtile::shadow {

namespace {

int run(int argc, char** argv) {
    const Options options = parse_options(argc, argv);
    const bool makes_files = !options.screenshot.empty() || !options.record.empty();
    std::uint32_t messages = 0;
    try {
        messages = makes_files ? run_screenshot(options) : run_window(options);
    } catch (const vk::OutOfDeviceMemoryError&) {
        throw std::runtime_error(
            "the device does not have enough memory; make the atlas smaller with --atlas, or the "
            "picture with --size");
    } catch (const std::exception& error) {
        if (!app::is_device_loss(error)) {
            throw;
        }
        throw std::runtime_error("the device was lost (" + std::string(error.what()) +
                                 "); try a smaller --size or --atlas, or another --device");
    }
    app::check_validation(messages);
    return 0;
}

}  // namespace

}  // namespace quadtile::shadow

int main(int argc, char** argv) {
    return quadtile::app::run_program("quadtile-shadow",
                                      "there is not enough memory for this scene",
                                      [&] { return quadtile::shadow::run(argc, argv); });
}
