// Light at points in space after all passes: the final light of surfaces, sky and sources.

#pragma once

#include "bake_state.hpp"
#include "directions.hpp"
#include "tracer.hpp"

#include <functional>
#include <vector>

namespace quadtile::baker {

// Directions of all surfaces and the sky, or those of a sun's or a light's pass.
struct ProbeSource {
    std::vector<BundleDirection> directions;
    const Sun* sun = nullptr;
    const PointLight* light = nullptr;
};

// Sums of a probe: red, green and blue of each coefficient, and the share of rays that see backs.
constexpr std::size_t PROBE_SUMS = 28;

// Returns a direction for Tracer::see. Its pixels are half as wide as the mean texel.
[[nodiscard]] ProjectionFrame probe_frame(const BundleDirection& direction,
                                          const TracedScene& scene);

// Continues from BakeState::probe_steps. A step is a direction, or for a light one of its points.
// `outgoing` is that of Tracer::begin_pass. Each probe's sums are made in the order of the steps,
// so they are bit-identical on all devices. Each rank has a part of the probes. Returns false if
// `goes_on`, called between steps, returned it.
[[nodiscard]] bool gather_probes(const TracedScene& scene, const std::vector<glm::vec3>& positions,
                                 const std::vector<ProbeSource>& sources,
                                 const std::vector<glm::vec4>& outgoing, Tracer& tracer,
                                 const std::function<bool()>& goes_on, const Ranks& ranks,
                                 BakeState& state);

[[nodiscard]] std::vector<Probe> probes_of(const std::vector<glm::vec3>& positions,
                                           const BakeState& state);

}  // namespace quadtile::baker
