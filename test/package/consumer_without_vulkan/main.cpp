#include <quadtile/reference.hpp>

#include <vector>

int main() {
    const std::vector<float> importance(200 * 120, 0.1F);
    const auto list = quadtile::reference::subdivide(quadtile::view_of(importance, 200, 120),
                                                     quadtile::Threshold::constant(1.0F));
    return list.tiles.size() == 1 ? 0 : 1;
}
