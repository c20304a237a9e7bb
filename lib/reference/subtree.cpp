// Twin of kernels/subtree.comp.

#include "twins.hpp"

namespace quadtile::reference {

namespace {

// One thread of a pass: descends from `root` towards its node of the lowest level. `first_level` is
// the first level that it looks at.
void descend(Subdivision& subdivision, const Node& root, std::uint32_t first_level,
             const Node& leaf, std::vector<Node>& next) {
    if (!subdivision.exists(leaf)) {
        return;
    }
    Node node = root;
    bool split = true;
    for (std::uint32_t level = first_level + 1; split && level > leaf.level;) {
        --level;
        const std::uint32_t shift = level - leaf.level;
        node = {level, leaf.x >> shift, leaf.y >> shift};
        split = subdivision.is_split(node);
    }
    if (!split || node.level == 0) {
        const std::uint32_t shift = node.level - leaf.level;
        const bool at_corner = node.x << shift == leaf.x && node.y << shift == leaf.y;
        if (at_corner) {
            subdivision.append_tile(node);
        }
    } else if (node.level == 1) {
        subdivision.append_children(node);
    } else {
        next.push_back(node);
    }
}

}  // namespace

std::vector<Tile> subdivide_subtree(const Pyramid& pyramid, const ResolvedThreshold& thresholds,
                                    std::uint32_t layer, std::uint32_t subtree_levels) {
    std::vector<Tile> tiles;
    Subdivision subdivision(pyramid, thresholds, layer, tiles);
    std::uint32_t upper = static_cast<std::uint32_t>(pyramid.levels.size() - 1);
    std::uint32_t first_level = upper;  // later passes start from nodes known to be split
    std::vector<Node> roots{{upper, 0, 0}};
    while (!roots.empty()) {
        const std::uint32_t lower = upper > subtree_levels ? upper - subtree_levels : 0;
        const std::uint32_t depth = upper - lower;
        std::vector<Node> next;
        for (const Node& root : roots) {
            for (std::uint32_t local = 0; local < 1U << (2 * depth); ++local) {
                const Node leaf{lower, (root.x << depth) + morton_x(local),
                                (root.y << depth) + morton_y(local)};
                descend(subdivision, root, first_level, leaf, next);
            }
        }
        roots.swap(next);
        upper = lower;
        first_level = upper - 1;
    }
    return tiles;
}

}  // namespace quadtile::reference
