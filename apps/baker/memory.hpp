// What a bake needs, before it begins.

#pragma once

#include "bake.hpp"
#include "scene.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace quadtile::baker {

struct BakeNeeds {
    double least_texels = 0.0;  // that charts cover
    double bytes = 0.0;         // of this host, in the stage that needs most
};

// Estimates what a bake needs, by a small map. `tracer_bytes`: those of the tracer beside sums and
// radiance, if it is on this host, as is a CPU's.
[[nodiscard]] BakeNeeds needs_of(const Scene& scene, const Extent& extent,
                                 const BakeOptions& options,
                                 std::optional<std::uint64_t> tracer_bytes, std::uint32_t threads);

// Throws std::runtime_error if this host has not so many bytes free. Returns a note for the user if
// they are more than a quarter; otherwise nothing.
[[nodiscard]] std::string check_memory(double bytes, const Extent& extent);

}  // namespace quadtile::baker
