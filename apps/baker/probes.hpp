// The light at points in space, behind all passes: what surfaces send in the end, sky and sources.

#pragma once

#include "checkpoint.hpp"
#include "directions.hpp"
#include "tracer.hpp"

#include <functional>
#include <vector>

namespace quadtile::baker {

// The directions of all surfaces and the sky, or those of a sun's pass or of a light's.
struct ProbeSource {
    std::vector<BundleDirection> directions;
    const Sun* sun = nullptr;
    const PointLight* light = nullptr;
};

// Of a probe: red, green and blue of each coefficient, and the share of rays that see backs.
constexpr std::size_t PROBE_SUMS = 28;

// A direction as Tracer::see takes it. Its pixels are half as wide as the mean texel.
[[nodiscard]] ProjectionFrame probe_frame(const BundleDirection& direction,
                                          const TracedScene& scene);

// Goes on with Checkpoint::probe_steps; a step is a direction, of a light one of its points.
// `outgoing` is that of Tracer::begin_pass. Each probe's sums are made in the order of the steps,
// so they are the same on all devices. Each rank has a part of the probes. Returns false where
// `goes_on` did, which is asked between steps.
[[nodiscard]] bool gather_probes(const TracedScene& scene, const std::vector<glm::vec3>& positions,
                                 const std::vector<ProbeSource>& sources,
                                 const std::vector<glm::vec4>& outgoing, Tracer& tracer,
                                 const std::function<bool()>& goes_on, const Ranks& ranks,
                                 Checkpoint& state);

[[nodiscard]] std::vector<Probe> probes_of(const std::vector<glm::vec3>& positions,
                                           const Checkpoint& state);

}  // namespace quadtile::baker
