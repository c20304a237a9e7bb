#include "options.hpp"
#include "run_bake.hpp"

#include "message_line.hpp"

#include <vulkan/vulkan.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>

namespace quadtile::baker {

namespace {

int fail(std::string_view message, int status) {
    std::cerr << app::message_line("quadtile-bake: error", message) << std::endl;
    return status;
}

int run(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    if (parsed.text) {
        std::cout << parsed.text->text;
        return 0;
    }
    return run_bake(parsed.options);
}

}  // namespace

}  // namespace quadtile::baker

int main(int argc, char** argv) {
    using namespace quadtile::baker;
    // Failed writes become errors where they happen instead of signals that end the process.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return fail(
            "there is not enough memory for this scene; make the light map smaller with --size", 1);
    } catch (const vk::OutOfDeviceMemoryError&) {
        return fail(
            "the device has not enough memory; allow less with --memory, or make the light map "
            "smaller with --size",
            1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
