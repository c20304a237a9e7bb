// Twin of kernels/common/subdivision.glsl.

#include "twins.hpp"

namespace quadtile::reference {

bool Subdivision::exists(const Node& node) const {
    const Level& level = pyramid_.levels[node.level];
    return node.x < level.width && node.y < level.height;
}

bool Subdivision::is_split(const Node& node) const {
    return !(pyramid_.levels[node.level].at(node.x, node.y) <
             thresholds_.at(node.level, node.x, node.y, layer_));
}

void Subdivision::append_tile(const Node& node) {
    const std::uint32_t flags = is_split(node) ? TILE_CLAMPED : 0;
    tiles_.push_back({tile_position(node.x, node.y), tile_node(node.level, flags, layer_),
                      pyramid_.levels[node.level].at(node.x, node.y),
                      thresholds_.at(node.level, node.x, node.y, layer_)});
}

void Subdivision::append_children(const Node& parent) {
    for (std::uint32_t child = 0; child < 4; ++child) {
        const Node texel{0, 2 * parent.x + (child & 1U), 2 * parent.y + (child >> 1U)};
        if (exists(texel)) {
            append_tile(texel);
        }
    }
}

}  // namespace quadtile::reference
