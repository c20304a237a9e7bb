// What a bake does one after the other.

#pragma once

#include "bake.hpp"
#include "direction_tiles.hpp"
#include "lamps.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::baker {

// One walk over all directions of a set.
struct Pass {
    enum class Kind {
        sun,     // straight from a sun
        light,   // straight from a point light
        lamps,   // straight from small emitters
        direct,  // straight from other emitters and sky
        bounce,  // from surfaces, by what they have received so far
        // What x, y or z of their direction has to do with the light: of the last one of these.
        direct_moment,
        bounce_moment,
    } kind;
    std::uint32_t number;  // of the sun, the light, the bounce, the axis
    std::string name;
    // With as many directions or points as all passes of the kind had before; 0: as planned. 1, 2,
    // ...
    std::uint32_t doubling = 0;
};

inline bool is_moment(const Pass& pass) {
    return pass.kind == Pass::Kind::direct_moment || pass.kind == Pass::Kind::bounce_moment;
}

inline bool is_of_source(const Pass& pass) {
    return pass.kind == Pass::Kind::sun || pass.kind == Pass::Kind::light ||
           pass.kind == Pass::Kind::lamps;
}

inline bool is_direct(const Pass& pass) {
    return pass.kind == Pass::Kind::direct || pass.kind == Pass::Kind::direct_moment;
}

// The passes of a bake and their directions.
class Passes {
 public:
    Passes(const SurfaceMap& surface, const std::vector<Sun>& suns,
           const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
           const BakeOptions& options);

    // In their order.
    [[nodiscard]] const std::vector<Pass>& planned() const noexcept { return planned_; }
    void add(const Pass& pass) { planned_.push_back(pass); }
    // The next one that doubles the directions of a kind.
    [[nodiscard]] Pass more_of(Pass::Kind kind) const;
    // Whether there are emitters that are no lamps, or a sky.
    [[nodiscard]] bool has_direct() const noexcept { return has_direct_; }

    [[nodiscard]] std::uint64_t directions_of(const Pass& pass);
    // Where half of a pass's directions end: with all faces of a light's point. Lamps have halves
    // of their own: 0.
    [[nodiscard]] std::size_t half_of(const Pass& pass, std::size_t directions) const;
    // A pass's own; none: it takes those of its set. Chooses the points of lamps, too.
    [[nodiscard]] std::vector<BundleDirection> own_directions(const Pass& pass);
    [[nodiscard]] DirectionSet& set_of(const Pass& pass);
    [[nodiscard]] const DirectionSet& direct() const noexcept { return direct_; }
    [[nodiscard]] std::array<const std::vector<BundleDirection>*, 2> sets() const {
        return {&direct_.directions, &bounces_.directions};
    }
    // Directions that probes gather light along.
    [[nodiscard]] std::uint64_t probe_steps() const;

    // Of the pass of lamps whose directions were made last.
    [[nodiscard]] const std::vector<LampPatch>& lamp_patches() const noexcept {
        return lamp_patches_;
    }
    [[nodiscard]] const std::vector<LampPoint>& lamp_points() const noexcept {
        return lamp_points_;
    }

 private:
    void plan_moments(Pass::Kind kind);

    const std::vector<Sun>& suns_;
    const std::vector<PointLight>& lights_;
    const Lamps& lamps_;
    const Sky& sky_;
    const BakeOptions& options_;
    DirectionSet direct_;
    DirectionSet bounces_;  // without directions: they are those of direct light
    std::vector<Pass> planned_;
    bool has_direct_ = false;
    std::vector<LampPatch> lamp_patches_;
    std::vector<LampPoint> lamp_points_;
};

}  // namespace quadtile::baker
