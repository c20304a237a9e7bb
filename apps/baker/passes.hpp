// What a bake does one after the other.

#pragma once

#include <cstdint>
#include <string>

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
    // With as many directions or points as all passes of the kind had before; 0: as planned. 1, 2, ...
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

}  // namespace quadtile::baker
