// A user's program: tiles of a map on the device, alone, by the service and in C, and thresholds in
// GLSL, checked against the reference.

#include <quadtile/quadtile.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
extern const char* const version_in_c;
long count_tiles_in_c(const float* texels, unsigned width, unsigned height, float threshold);
}

// What is wrong; null: nothing.
const char* shadow_fault(const quadtile::Device& device);
#ifdef WITH_IMAGES
const char* images_fault(const quadtile::Device& device);
#endif

namespace {

int fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

// An error of the library's is caught by its type.
bool catches_errors() {
    try {
        (void)quadtile::Threshold::constant(-1.0F);
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument;
    } catch (...) {
        return false;
    }
    return false;
}

// By the service, with a threshold in GLSL where this build has a compiler.
bool answers_requests(const quadtile::Device& device, const quadtile::MapView& map) {
    const auto constant = quadtile::Threshold::constant(0.5F);
    const auto expected = quadtile::reference::subdivide(map, constant).tiles;
    quadtile::Service service(device);
    quadtile::Ticket plain = service.submit({.map = map, .threshold = constant});
    if (plain.result.get().tiles != expected) {
        return false;
    }
    const auto function =
        "float threshold(uint level, uvec2 position, uint layer) {"
        "    return threshold_parameter(0);"
        "}";
    quadtile::Ticket by_glsl =
        service.submit({.map = map, .threshold = quadtile::Threshold::function(function, {0.5F})});
    try {
        return by_glsl.result.get().tiles == expected;
    } catch (const quadtile::Error& error) {
        std::printf("%s\n", error.what());
        return error.code() == quadtile::ErrorCode::unsupported;  // no compiler
    }
}

}  // namespace

int main() {
    if (std::strcmp(version_in_c, EXPECTED_VERSION) != 0) {
        return fail("the version is " QUADTILE_VERSION_STRING ", not " EXPECTED_VERSION);
    }
    if (!catches_errors()) {
        return fail("an error of the library's was not caught as quadtile::Error");
    }

    std::vector<float> importance(200 * 120, 0.1F);
    importance[42] = 50.0F;
    const quadtile::MapView map = quadtile::view_of(importance, 200, 120);
    const auto threshold = quadtile::Threshold::max_resolution(64);

    const quadtile::Device device = quadtile::Device::create();
    quadtile::Tiler tiler(device);
    const quadtile::TileList list = tiler.subdivide(map, threshold);
    if (list.tiles.size() < 2 ||
        list.tiles != quadtile::reference::subdivide(map, threshold).tiles) {
        return fail("the device's tiles differ from the reference's");
    }
    if (!answers_requests(device, map)) {
        return fail("the service's tiles differ from the reference's");
    }
    if (count_tiles_in_c(importance.data(), 200, 120, 0.5F) !=
        static_cast<long>(quadtile::reference::subdivide(map, quadtile::Threshold::constant(0.5F))
                              .tiles.size())) {
        return fail("the C API's tiles differ from the reference's");
    }
    if (const char* const fault = shadow_fault(device)) {
        return fail(fault);
    }
#ifdef WITH_IMAGES
    if (const char* const fault = images_fault(device)) {
        return fail(fault);
    }
#endif
    std::printf("%zu tiles on %s\n", list.tiles.size(), list.report.device.c_str());
    return 0;
}
