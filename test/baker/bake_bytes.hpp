// The bits of a bake, to compare two.

#pragma once

#include "bake.hpp"

#include <string>

namespace quadtile::baker::test {

inline std::string bytes_of(const BakeResult& result) {
    std::string bytes;
    const auto add = [&](const auto& values) {
        bytes.append(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(values[0]));
    };
    add(result.map.irradiance);
    add(result.map.known);
    add(result.error);
    add(result.probes);
    for (const auto& band : result.map.radiance_sh) {
        add(band);
    }
    const double noise = result.noise.value_or(-1.0);
    bytes.append(reinterpret_cast<const char*>(&noise), sizeof(noise));
    return bytes + std::to_string(result.inside_texels);
}

}  // namespace quadtile::baker::test
