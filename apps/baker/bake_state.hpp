// The state of a bake, which checkpoints keep.

#pragma once

#include "bake.hpp"
#include "ranks.hpp"
#include "tracer.hpp"

#include <glm/vec3.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace quadtile::baker {

// A bake that is under way: all that it needs to go on.
struct BakeState {
    // Fingerprint of everything that the lightmap depends on: scene, light and options.
    std::uint64_t fingerprint = 0;
    std::uint32_t pass = 0;             // running pass
    std::uint32_t directions_done = 0;  // finished directions of the pass
    std::uint64_t tiles_done = 0;       // finished tiles of the next direction
    std::vector<std::uint8_t> more;     // passes of more directions or points, as Pass::Kind
    LampSums lamp_sums;                 // of the running pass
    // Arrays by covered texel (CoveredTexels::places); `sources`, `lamps`, `direct`, `sent` and
    // `indirect` by TracedScene::sum_count. Empty: none yet, or not needed.
    std::vector<glm::vec3> sources;  // irradiance straight from suns and point lights
    std::vector<glm::vec3> lamps;    // irradiance straight from lamps
    std::vector<glm::vec3> direct;   // irradiance straight from other emitters and sky
    // Light of other surfaces for the running pass; empty: `indirect`.
    std::vector<glm::vec3> sent;
    std::vector<glm::vec3> indirect;  // light of other surfaces from the last bounce
    std::vector<std::uint8_t> known;  // as LightMap::known
    std::uint64_t inside_texels = 0;  // as in BakeResult
    // Grey: the mean radiance of the running pass after half of its directions; empty:
    // half is not done. Then the errors of the light, estimated from two halves of the directions.
    std::vector<float> half;
    std::vector<float> sources_error;
    std::vector<float> lamps_error;
    std::vector<float> direct_error;
    std::vector<float> indirect_error;
    std::array<std::vector<glm::vec3>, 3> moments;
    std::uint32_t probe_steps = 0;   // of gather_probes, after all passes
    std::vector<double> probe_sums;  // of gather_probes

    // Calls visit(vector) for the light of texels, of which each rank has a part.
    template <typename Self>
    static void visit_light(Self& self, const auto& visit) {
        for (auto* const light :
             {&self.sources, &self.lamps, &self.direct, &self.sent, &self.indirect}) {
            visit(*light);
        }
        visit(self.known);
        for (auto* const grey : {&self.half, &self.sources_error, &self.lamps_error,
                                 &self.direct_error, &self.indirect_error}) {
            visit(*grey);
        }
        for (auto& moment : self.moments) {
            visit(moment);
        }
    }
};

// Gives all ranks the first one's state, except sums.
void broadcast_state(BakeState& state, Ranks& ranks);

}  // namespace quadtile::baker
