// Measurements along a flight through a scene.

#pragma once

#include "flights.hpp"
#include "rig.hpp"

#include "../tables.hpp"

#include <string>
#include <vector>

namespace quadtile::shadow {

// A technique and its option.
struct Variant {
    std::string name;
    Technique technique = Technique::fitted;
};

// Parameters of a flight.
struct Filming {
    Flight flight;
    std::vector<Light> lights;    // a sun first
    std::uint32_t counted = ~0U;  // bits of the lights whose errors count
    std::uint32_t frames = 60;    // frames that are compared with rays, spread over the flight
    float seconds = 0.0F;         // of the flight at 60 frames per second, for churn and times
};

class Measurements {
 public:
    Measurements(Rig& rig, const ShadowOptions& options, const Filming& filming)
        : rig_(rig), options_(options), filming_(filming) {}

    // Measures errors against rays, in percent of the pixels with surfaces; those of "settled"
    // after camera and sun have stood still.
    [[nodiscard]] bench::Row errors(const Variant& variant);

    struct Run {
        // Per frame, without the first, which finds nothing. "changed": tiles added, removed and
        // resized.
        bench::Row tiles;
        bench::Row microseconds;  // GPU times
    };
    [[nodiscard]] Run run(const Variant& variant);

 private:
    [[nodiscard]] FrameSettings begin();
    // Sets camera and sun of a second of the flight.
    void set_second(FrameSettings& settings, float second) const;
    void lead_in(FrameSettings& settings, Technique technique, std::uint32_t i);

    Rig& rig_;
    ShadowOptions options_;
    const Filming& filming_;
};

}  // namespace quadtile::shadow
