#include "passes.hpp"

#include <algorithm>
#include <string>

namespace quadtile::baker {

namespace {

DirectionSet set_of_directions(std::uint32_t count, std::uint64_t seed, const Sky& sky) {
    return {make_directions(count, seed, sky), {}};
}

std::uint32_t times_doubled(const Pass& pass) {
    return std::max(pass.doubling, 1U) - 1;
}

}  // namespace

Passes::Passes(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
               const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
               const BakeOptions& options)
    : has_holes_(!scene.alpha_triangles.empty()),
      suns_(suns),
      lights_(lights),
      lamps_(lamps),
      sky_(sky),
      options_(options),
      direct_(set_of_directions(
          options.direct_directions > 0 ? options.direct_directions : options.directions,
          options.seed, sky)) {
    if (options.directions != direct_.directions.size()) {
        bounces_ = set_of_directions(options.directions, options.seed, {});
    }
    if (surface.keeps_all()) {
        return;
    }
    if (!lamps.patches.empty()) {
        planned_.push_back({Pass::Kind::lamps, 0, "lamps"});
    }
    for (std::uint32_t i = 0; i < suns.size(); ++i) {
        planned_.push_back({Pass::Kind::sun, i, "sun"});
    }
    for (std::uint32_t i = 0; i < lights.size(); ++i) {
        planned_.push_back(
            {Pass::Kind::light, i, lights[i].is_spot ? "spot light" : "point light"});
    }
    const auto shines = [](const glm::vec3& colour) { return greatest_of(colour) > 0.0F; };
    for (std::size_t i = 0; i < surface.emission.size() && !has_direct_; ++i) {
        has_direct_ = !lamps.is_of_lamp(i) && shines(surface.emission[i]);
    }
    has_direct_ = has_direct_ ||
                  std::ranges::any_of(direct_.directions, [&](const BundleDirection& direction) {
                      return shines(direction.sky_ahead) || shines(direction.sky_behind);
                  });
    // Without any light the pass only finds the known texels.
    if (has_direct_ || planned_.empty() || (!lamps.patches.empty() && options.bounces == 0)) {
        planned_.push_back({Pass::Kind::direct, 0, "direct light"});
        plan_moments(Pass::Kind::direct_moment);
    }
    for (std::uint32_t i = 1; i <= options.bounces; ++i) {
        planned_.push_back({Pass::Kind::bounce, i, "bounce " + std::to_string(i)});
    }
    if (options.bounces > 0) {
        plan_moments(Pass::Kind::bounce_moment);
    }
}

Pass Passes::more_of(Pass::Kind kind) const {
    const auto doublings = std::ranges::count_if(
        planned_, [&](const Pass& pass) { return pass.doubling > 0 && pass.kind == kind; });
    return {kind, kind == Pass::Kind::bounce ? options_.bounces : 0,
            kind == Pass::Kind::bounce  ? "more bounces"
            : kind == Pass::Kind::lamps ? "more of lamps"
                                        : "more direct",
            static_cast<std::uint32_t>(doublings) + 1};
}

void Passes::plan_moments(Pass::Kind kind) {
    for (std::uint32_t axis = 0; options_.directional && axis < 3; ++axis) {
        planned_.push_back({kind, axis, std::string("moment ") + "xyz"[axis]});
    }
}

std::uint64_t Passes::directions_of(const Pass& pass) {
    switch (pass.kind) {
        case Pass::Kind::sun:
            return options_.sun_directions;
        case Pass::Kind::light:
            return std::uint64_t{points_of(lights_[pass.number])} * faces_of(lights_[pass.number]);
        case Pass::Kind::lamps:
            return lamps_.patches.size() * POINTS_A_PATCH * FACES_A_LAMP_POINT
                   << times_doubled(pass);
        default:
            return set_of(pass).directions.size() << times_doubled(pass);
    }
}

std::vector<BundleDirection> Passes::own_directions(const Pass& pass) {
    const std::uint64_t seed = options_.seed + (std::uint64_t{pass.doubling} << 32U);
    const std::uint64_t source_seed = seed + 1 + pass.number;
    switch (pass.kind) {
        case Pass::Kind::sun:
            return make_sun_directions(suns_[pass.number], options_.sun_directions, source_seed);
        case Pass::Kind::light:
            return make_light_directions(lights_[pass.number], points_of(lights_[pass.number]),
                                         source_seed + suns_.size());
        case Pass::Kind::lamps: {
            lamp_patches_ = with_more_patches(lamps_.patches, times_doubled(pass));
            lamp_points_ = make_lamp_points(lamp_patches_, seed);
            return make_lamp_directions(lamp_points_, seed);
        }
        default:
            return pass.doubling == 0
                       ? std::vector<BundleDirection>()
                       : make_directions(static_cast<std::uint32_t>(directions_of(pass)), seed,
                                         is_direct(pass) ? sky_ : Sky());
    }
}

std::uint64_t Passes::probe_steps() const {
    std::uint64_t steps = direct_.directions.size() + options_.sun_directions * suns_.size();
    std::ranges::for_each(lights_, [&](const PointLight& light) { steps += points_of(light); });
    return steps;
}

std::size_t Passes::half_of(const Pass& pass, std::size_t directions) const {
    if (pass.kind == Pass::Kind::lamps) {
        return 0;
    }
    const std::size_t faces = pass.kind == Pass::Kind::light ? faces_of(lights_[pass.number]) : 1;
    return directions / faces / 2 * faces;
}

DirectionSet& Passes::set_of(const Pass& pass) {
    return is_direct(pass) || bounces_.directions.empty() ? direct_ : bounces_;
}

}  // namespace quadtile::baker
