// Light of lamps by the CPU twin of lamps.comp.

#pragma once

#include "surface_map.hpp"
#include "tracer.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

namespace quadtile::baker {

// A pass of lamps, as in Tracer::begin_lamps.
class ReferenceLamps {
 public:
    using SumsAt = std::function<Accumulator(std::size_t place)>;

    ReferenceLamps(const TracedScene& scene, const SurfaceMap& surface,
                   std::span<const LampTriangle> triangles, LampSums& sums)
        : scene_(scene), surface_(surface), triangles_(triangles), sums_(sums) {}

    // Does the work of one thread.
    void add(const LampParameters& parameters, std::size_t texel, bool has_two_sides,
             const SumsAt& sums_at) const;

 private:
    [[nodiscard]] std::optional<glm::vec3> share_at(float unit, std::size_t texel, std::size_t side,
                                                    const SumsAt& sums_at) const;
    void receive(const LampParameters& parameters, std::size_t texel, std::size_t side,
                 const SumsAt& sums_at) const;

    const TracedScene& scene_;
    const SurfaceMap& surface_;
    std::span<const LampTriangle> triangles_;
    LampSums& sums_;
};

}  // namespace quadtile::baker
