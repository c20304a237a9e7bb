// The CPU twins of the subdivision's kernels: the same passes and lists, in plain loops. Tests hold
// them against the recursion of subdivide.cpp and the kernels against both.

#pragma once

#include <quadtile/reference.hpp>

namespace quadtile::reference {

// A node of the quadtree of one layer.
struct Node {
    std::uint32_t level;
    std::uint32_t x;
    std::uint32_t y;
};

// Twin of kernels/common/subdivision.glsl: what a pass does with the nodes it meets.
class Subdivision {
 public:
    Subdivision(const Pyramid& pyramid, const std::vector<float>& thresholds, std::uint32_t layer,
                std::vector<Tile>& tiles)
        : pyramid_(pyramid), thresholds_(thresholds), layer_(layer), tiles_(tiles) {}

    [[nodiscard]] bool exists(const Node& node) const;
    [[nodiscard]] bool is_split(const Node& node) const;
    void append_tile(const Node& node);
    // The texels of a split node of level 1.
    void append_children(const Node& parent);

 private:
    const Pyramid& pyramid_;
    const std::vector<float>& thresholds_;
    std::uint32_t layer_;
    std::vector<Tile>& tiles_;
};

// Twin of kernels/per_level.comp: tiles of one layer in the order of the passes.
[[nodiscard]] std::vector<Tile> subdivide_per_level(const Pyramid& pyramid,
                                                    const std::vector<float>& thresholds,
                                                    std::uint32_t layer);

// Twin of kernels/subtree.comp: tiles of one layer in the order of the passes.
[[nodiscard]] std::vector<Tile> subdivide_subtree(const Pyramid& pyramid,
                                                  const std::vector<float>& thresholds,
                                                  std::uint32_t layer,
                                                  std::uint32_t subtree_levels);

}  // namespace quadtile::reference
