#include "options.hpp"
#include "run_bake.hpp"

#include "process.hpp"

#include <vulkan/vulkan.hpp>

#include <stdexcept>

namespace quadtile::baker {

namespace {

int run(int argc, char** argv) {
    const Options options = parse_options(argc, argv);
    try {
        return run_bake(options);
    } catch (const vk::OutOfDeviceMemoryError&) {
        throw std::runtime_error(
            "the device has not enough memory; allow less with --memory, or make the light map "
            "smaller with --size");
    }
}

}  // namespace

}  // namespace quadtile::baker

int main(int argc, char** argv) {
    return quadtile::app::run_program(
        "quadtile-bake",
        "there is not enough memory for this scene; make the light map smaller with --size",
        [&] { return quadtile::baker::run(argc, argv); });
}
