// Passes of a bake in their order.

#pragma once

#include "bake.hpp"
#include "directions.hpp"
#include "lamps.hpp"
#include "tracer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::baker {

// A pass over all directions of a set.
struct Pass {
    enum class Kind {
        sun,     // straight from a sun
        light,   // straight from a point light
        lamps,   // straight from small emitters
        direct,  // straight from other emitters and sky
        bounce,  // from surfaces, by their light so far
        // Moments of the last of these: its radiance times x, y or z of its direction.
        direct_moment,
        bounce_moment,
    } kind;
    std::uint32_t number;  // of the sun, the light, the bounce or the axis
    std::string name;
    // 0: as planned; 1, 2, ...: with as many directions or points as all earlier passes of the kind
    // together.
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

// Tiles of the whole map of a direction, and of its texels with maps of their own. Empty: not
// requested yet.
struct WindowTiles {
    MapWindow window;
    std::vector<MapTile> tiles;
};
using DirectionTiles = std::vector<WindowTiles>;

// Directions and their tiles, which are the same in every pass over the set.
struct DirectionSet {
    std::vector<BundleDirection> directions;
    std::vector<DirectionTiles> tiles;  // by direction
};

// The passes of a bake and their directions.
class Passes {
 public:
    Passes(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
           const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
           const BakeOptions& options);

    // Returns the planned passes in their order.
    [[nodiscard]] const std::vector<Pass>& planned() const noexcept { return planned_; }
    void add(const Pass& pass) { planned_.push_back(pass); }
    // Returns the next pass that doubles the directions of a kind.
    [[nodiscard]] Pass more_of(Pass::Kind kind) const;
    // Returns whether there are emitters that are not lamps, or a sky.
    [[nodiscard]] bool has_direct() const noexcept { return has_direct_; }

    [[nodiscard]] std::uint64_t directions_of(const Pass& pass);
    // Returns the end of the first half of a pass's directions, with all faces of a light's point.
    // Lamps have halves of their own: 0.
    [[nodiscard]] std::size_t half_of(const Pass& pass, std::size_t directions) const;
    // Returns a pass's own directions, and chooses the points of lamps; none: it uses those of its
    // set.
    [[nodiscard]] std::vector<BundleDirection> own_directions(const Pass& pass);
    [[nodiscard]] DirectionSet& set_of(const Pass& pass);
    [[nodiscard]] const DirectionSet& direct() const noexcept { return direct_; }
    [[nodiscard]] std::array<const std::vector<BundleDirection>*, 2> sets() const {
        return {&direct_.directions, &bounces_.directions};
    }
    // Returns the number of directions along which probes gather light.
    [[nodiscard]] std::uint64_t probe_steps() const;

    // Returns the patches of the last pass of lamps whose directions were made.
    [[nodiscard]] const std::vector<LampPatch>& lamp_patches() const noexcept {
        return lamp_patches_;
    }
    [[nodiscard]] const std::vector<LampPoint>& lamp_points() const noexcept {
        return lamp_points_;
    }

 private:
    void plan_moments(Pass::Kind kind);
    // Returns the number of a light's points: one of those without a radius, unless holes make
    // noise.
    [[nodiscard]] std::uint32_t points_of(const PointLight& light) const {
        return light.radius > 0.0F || has_holes_ ? options_.sun_directions : 1;
    }

    bool has_holes_;
    const std::vector<Sun>& suns_;
    const std::vector<PointLight>& lights_;
    const Lamps& lamps_;
    const Sky& sky_;
    const BakeOptions& options_;
    DirectionSet direct_;
    DirectionSet bounces_;  // without directions: those of direct light
    std::vector<Pass> planned_;
    bool has_direct_ = false;
    std::vector<LampPatch> lamp_patches_;
    std::vector<LampPoint> lamp_points_;
};

}  // namespace quadtile::baker
