// Positions of probes, and the files of their light: docs/baker.md has the formats.

#pragma once

#include "bake.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::baker {

// Probes in the middles of equal cells of a box, x first, then y, then z.
struct ProbeGrid {
    glm::uvec3 counts{0};  // 0: no grid
    Box<glm::dvec3> box;

    [[nodiscard]] std::vector<glm::vec3> places() const;
};

// Reads a text file with a position per line. Throws std::runtime_error with the file, the line and
// the remedy.
[[nodiscard]] std::vector<glm::vec3> read_probe_points(const std::filesystem::path& path,
                                                       const glm::dvec3& origin);

// Returns the bytes of a file, JSON or binary.
[[nodiscard]] std::string encode_probes(const std::vector<Probe>& probes, const ProbeGrid& grid,
                                        bool as_json);

}  // namespace quadtile::baker
