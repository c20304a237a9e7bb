// A user's program: tiles of a map on the device, alone, by the service and in C, by a threshold in
// GLSL, checked against the reference; fitted shadow maps, and an error of each library.

#include <quadtile/quadtile.hpp>
#include <quadtile/shadow.hpp>
#ifdef WITH_IMAGES
#include <quadtile/images.hpp>
#endif

#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
extern const char* const version_in_c;
long count_tiles_in_c(const float* texels, unsigned width, unsigned height, float threshold);
}

namespace {

using namespace quadtile;

bool is_right = true;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "%s\n", what);
        is_right = false;
    }
}

// An error of the library's is caught by its type, whichever library throws it.
template <typename Call>
bool is_refused(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code() == ErrorCode::invalid_argument;
    }
    return false;
}

// The pipelines of a sun's map on the device.
void check_shadow(const Device& device) {
    expect(is_refused([] { (void)shadow_parameters({.map_extent = 1000}); }),
           "no error of shadows");
    const ShadowOptions options{.map_extent = 64, .atlas_extent = 1024, .max_tiles = 100};
    expect(ShadowFitter(device, options).requirements().memory_size_bytes > 0, "no shadow map");
    (void)reference::ShadowFitter(options);
}

}  // namespace

int main() {
    expect(std::strcmp(version_in_c, EXPECTED_VERSION) == 0, "another version");
    expect(is_refused([] { (void)Threshold::constant(-1.0F); }), "no error of the library");

    std::vector<float> importance(200 * 120, 0.1F);
    importance[42] = 50.0F;
    const MapView map = view_of(importance, 200, 120);
    const auto threshold = Threshold::constant(0.5F);
    const std::vector<Tile> expected = reference::subdivide(map, threshold).tiles;
    const Device device = Device::create();
    const TileList list = Tiler(device).subdivide(map, threshold);
    expect(list.tiles.size() > 1 && list.tiles == expected, "other tiles on the device");
    Service service(device);
    Ticket plain = service.submit({.map = map, .threshold = threshold});
    expect(plain.result.get().tiles == expected, "other tiles by the service");
    const auto glsl =
        "float threshold(uint level, uvec2 position, uint layer) {"
        "    return threshold_parameter(0);"
        "}";
    Ticket by_glsl = service.submit({.map = map, .threshold = Threshold::function(glsl, {0.5F})});
    try {
        expect(by_glsl.result.get().tiles == expected, "other tiles by GLSL");
    } catch (const Error& error) {
        expect(error.code() == ErrorCode::unsupported, error.what());  // no compiler
    }
    expect(
        count_tiles_in_c(importance.data(), 200, 120, 0.5F) == static_cast<long>(expected.size()),
        "other tiles in C");
    check_shadow(device);
#ifdef WITH_IMAGES
    expect(is_refused([] { (void)load_map("/missing.exr"); }), "no error of images");
#endif
    std::printf("%zu tiles on %s\n", list.tiles.size(), list.report.device.c_str());
    return is_right ? 0 : 1;
}
