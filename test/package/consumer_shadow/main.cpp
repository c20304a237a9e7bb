// Start of a user's program: the pipelines of a sun's shadow map on the device, and the tiles of a
// frame by the reference. docs/shadows.md has the rest, which the tests of its code run.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr VkExtent2D PICTURE{64, 36};

int fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

// An error of the library's is caught by its type, whichever library throws it.
bool catches_errors() {
    quadtile::ShadowOptions options;
    options.map_extent = 1000;
    try {
        quadtile::check_shadow_options(options);
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument;
    }
    return false;
}

quadtile::ShadowFrame make_frame(const quadtile::ShadowOptions& options) {
    quadtile::ShadowView view;
    view.background_depth = 0.0F;
    view.clip_from_world = {0.1F, 0.0F, 0.0F,  0.0F,  // x of the world to the right
                            0.0F, 0.0F, 0.05F, 0.0F,  // y towards the camera: reversed depths
                            0.0F, 0.1F, 0.0F,  0.0F,  // z downwards
                            0.0F, 0.0F, 0.5F,  1.0F};
    const quadtile::ShadowProjection sun = quadtile::directional_shadow_projection(
        {0.3F, -1.0F, 0.2F}, {{-10.0F, 0.0F, -10.0F}, {10.0F, 3.0F, 10.0F}});
    return quadtile::make_shadow_frame(options, view, PICTURE, {&sun, 1});
}

}  // namespace

int main() {
    if (!catches_errors()) {
        return fail("a map of 1000 texels on a side is no quadtile::Error");
    }
    const quadtile::ShadowOptions options{
        .map_extent = 64, .atlas_extent = 1024, .max_tiles = 100, .resolution_scale = 8.0F};
    const quadtile::Device device = quadtile::Device::create();
    const quadtile::ShadowFitter fitter(device, options);
    if (fitter.requirements().memory_size_bytes == 0) {
        return fail("the device's shadow map needs no memory");
    }
    // A plane seen from above.
    const std::vector<float> depth(std::size_t{PICTURE.width} * PICTURE.height, 0.5F);
    quadtile::reference::ShadowFitter twin(options);
    const std::vector<float> atlas(std::size_t{options.atlas_extent} * options.atlas_extent, 1.0F);
    const std::size_t tiles = twin.next(make_frame(options), depth, atlas).tiles.size();
    if (tiles < 2) {
        return fail("the reference fits no tiles");
    }
    std::printf("%zu tiles, for %s\n", tiles, device.info().name.c_str());
    return 0;
}
