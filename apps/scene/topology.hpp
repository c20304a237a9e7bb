// Which vertices of a scene are one point, and which triangles meet at an edge.

#pragma once

#include "scene.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace quadtile::baker {

// Return a number per vertex that is the same for all vertices at one point. `weld_equal`: the
// positions are equal, bit by bit, but 0 and -0 are equal, too. `weld_nearby`: they differ by
// rounding. Charts and lamps need the first, since a sheet right above another must not join it;
// blending both along their borders does little harm.
[[nodiscard]] std::vector<std::uint32_t> weld_equal(const std::vector<glm::vec3>& positions);
[[nodiscard]] std::vector<std::uint32_t> weld_nearby(const std::vector<glm::vec3>& positions);

// Sets of numbers from 0, each alone at first.
class JoinedSets {
 public:
    explicit JoinedSets(std::size_t count) : parents_(count) {
        std::iota(parents_.begin(), parents_.end(), 0U);
    }

    // Returns a number that is the same for all of a set.
    [[nodiscard]] std::uint32_t root(std::uint32_t i) {
        while (parents_[i] != i) {
            i = parents_[i] = parents_[parents_[i]];
        }
        return i;
    }
    // Joins two sets. The root becomes that of the second one.
    void join(std::uint32_t a, std::uint32_t b) { parents_[root(a)] = root(b); }

 private:
    std::vector<std::uint32_t> parents_;
};

// An edge of a triangle.
struct Edge {
    std::uint32_t low;  // the lower number of its points
    std::uint32_t high;
    std::uint32_t side;  // 3 * triangle + the number of the edge
    bool forward;        // whether the triangle has `low` first

    [[nodiscard]] std::uint32_t triangle() const { return side / 3; }
    // Returns the vertex at `low`, and the one at `high`.
    [[nodiscard]] std::uint32_t start(const Scene& scene) const {
        return scene.triangles[triangle()].vertices[(side + (forward ? 0 : 1)) % 3];
    }
    [[nodiscard]] std::uint32_t end(const Scene& scene) const {
        return scene.triangles[triangle()].vertices[(side + (forward ? 1 : 0)) % 3];
    }
    [[nodiscard]] bool meets(const Edge& other) const {
        return low == other.low && high == other.high;
    }
};

// Returns the edges of all triangles, but for those from a point to itself, by points and then by
// side. `points`: by vertex.
[[nodiscard]] std::vector<Edge> sorted_edges(const Scene& scene,
                                             const std::vector<std::uint32_t>& points);

}  // namespace quadtile::baker
