// Start of a user's program with fitted shadow maps: the pipelines of a sun's map on the device,
// and the tiles of a frame by the reference. docs/shadows.md has the rest, which the tests of its
// code run.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include <vector>

namespace {

// An error of the library's is caught by its type, whichever library throws it.
bool catches_errors() {
    quadtile::ShadowOptions options;
    options.map_extent = 1000;
    try {
        (void)quadtile::shadow_parameters(options);
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument;
    }
    return false;
}

}  // namespace

const char* shadow_fault(const quadtile::Device& device) {
    constexpr VkExtent2D PICTURE{64, 36};
    if (!catches_errors()) {
        return "a map of 1000 texels on a side is no quadtile::Error";
    }
    const quadtile::ShadowOptions options{
        .map_extent = 64, .atlas_extent = 1024, .max_tiles = 100, .resolution_scale = 8.0F};
    if (quadtile::ShadowFitter(device, options).requirements().memory_size_bytes == 0) {
        return "the device's shadow map needs no memory";
    }
    // A plane seen from above: y towards the camera, z downwards, reversed depths.
    quadtile::ShadowView view;
    view.background_depth = 0.0F;
    view.clip_from_world = {0.1F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.05F, 0.0F,
                            0.0F, 0.1F, 0.0F, 0.0F, 0.0F, 0.0F, 0.5F,  1.0F};
    const quadtile::ShadowProjection sun = quadtile::directional_shadow_projection(
        {0.3F, -1.0F, 0.2F}, {{-10.0F, 0.0F, -10.0F}, {10.0F, 3.0F, 10.0F}});
    const std::vector<float> depth(std::size_t{PICTURE.width} * PICTURE.height, 0.5F);
    const std::vector<float> atlas(std::size_t{options.atlas_extent} * options.atlas_extent, 1.0F);
    quadtile::reference::ShadowFitter twin(options);
    const auto frame = quadtile::make_shadow_frame(options, view, PICTURE, {&sun, 1});
    return twin.next(frame, depth, atlas).tiles.size() < 2 ? "the reference fits no tiles"
                                                           : nullptr;
}
