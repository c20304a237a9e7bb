// Twin of kernels/per_level.comp.

#include "twins.hpp"

namespace quadtile::reference {

std::vector<Tile> subdivide_per_level(const Pyramid& pyramid, const ResolvedThreshold& thresholds,
                                      std::uint32_t layer) {
    std::vector<Tile> tiles;
    Subdivision subdivision(pyramid, thresholds, layer, tiles);
    std::vector<Node> next;
    const auto visit = [&](const Node& node) {
        if (!subdivision.exists(node)) {
            return;
        }
        if (node.level == 0 || !subdivision.is_split(node)) {
            subdivision.append_tile(node);
        } else if (node.level == 1) {
            subdivision.append_children(node);
        } else {
            next.push_back(node);
        }
    };
    visit({static_cast<std::uint32_t>(pyramid.levels.size() - 1), 0, 0});
    while (!next.empty()) {
        std::vector<Node> parents;
        parents.swap(next);
        for (const Node& parent : parents) {
            for (std::uint32_t child = 0; child < 4; ++child) {
                visit(
                    {parent.level - 1, 2 * parent.x + (child & 1U), 2 * parent.y + (child >> 1U)});
            }
        }
    }
    return tiles;
}

}  // namespace quadtile::reference
