#include "curve.hpp"

#include <glm/common.hpp>

#include <algorithm>
#include <tuple>

namespace quadtile::baker {

namespace {

// Each bit is followed by two zeros.
std::uint64_t spread(std::uint64_t bits) {
    bits &= 0x1fffffU;
    bits = (bits | bits << 32U) & 0x1f00000000ffffU;
    bits = (bits | bits << 16U) & 0x1f0000ff0000ffU;
    bits = (bits | bits << 8U) & 0x100f00f00f00f00fU;
    bits = (bits | bits << 4U) & 0x10c30c30c30c30c3U;
    bits = (bits | bits << 2U) & 0x1249249249249249U;
    return bits;
}

}  // namespace

std::vector<PlaceOnCurve> sort_along_curve(const Scene& scene, const glm::dvec3& lower,
                                           const glm::dvec3& extent) {
    constexpr double CELLS = 2097151.0;  // 21 bits
    std::vector<PlaceOnCurve> places;
    places.reserve(scene.triangles.size());
    for (const Triangle& triangle : scene.triangles) {
        glm::dvec3 middle(0.0);
        for (const std::uint32_t vertex : triangle.vertices) {
            middle += glm::dvec3(scene.positions[vertex]) / 3.0;
        }
        const glm::dvec3 cell =
            glm::clamp((middle - lower) / glm::max(extent, glm::dvec3(1e-300)), 0.0, 1.0) * CELLS;
        places.push_back({spread(static_cast<std::uint64_t>(cell.x)) |
                              spread(static_cast<std::uint64_t>(cell.y)) << 1U |
                              spread(static_cast<std::uint64_t>(cell.z)) << 2U,
                          static_cast<std::uint32_t>(places.size())});
    }
    std::ranges::sort(places, {}, [](const PlaceOnCurve& place) {
        return std::tuple(place.code, place.triangle);
    });
    return places;
}

}  // namespace quadtile::baker
