#include "light_map.hpp"

#include <algorithm>

namespace quadtile::baker {

namespace {

enum : std::uint8_t { EMPTY, FILLED, WAITING };

// Calls visit(index) for the up to 8 neighbours of a texel, always in the same order.
template <typename Visit>
void visit_neighbours(const Extent& extent, std::size_t texel, const Visit& visit) {
    const std::size_t x = texel % extent.width;
    const std::size_t y = texel / extent.width;
    for (std::size_t v = y == 0 ? 0 : y - 1; v <= std::min<std::size_t>(y + 1, extent.height - 1);
         ++v) {
        for (std::size_t u = x == 0 ? 0 : x - 1;
             u <= std::min<std::size_t>(x + 1, extent.width - 1); ++u) {
            if (u != x || v != y) {
                visit(v * extent.width + u);
            }
        }
    }
}

}  // namespace

void dilate(LightMap& map, std::uint32_t rings) {
    std::vector<std::vector<glm::vec3>*> planes = {&map.irradiance};
    for (auto& band : map.radiance_sh) {
        if (!band.empty()) {
            planes.push_back(&band);
        }
    }
    std::vector<std::uint8_t> state(map.extent.texels());
    for (std::size_t texel = 0; texel < state.size(); ++texel) {
        state[texel] = map.known[texel] != 0 ? FILLED : EMPTY;
    }

    // The empty texels beside the last ring.
    std::vector<std::size_t> ring;
    const auto wait_beside = [&](std::size_t texel) {
        visit_neighbours(map.extent, texel, [&](std::size_t neighbour) {
            if (state[neighbour] == EMPTY) {
                state[neighbour] = WAITING;
                ring.push_back(neighbour);
            }
        });
    };
    for (std::size_t texel = 0; rings > 0 && texel < state.size(); ++texel) {
        if (state[texel] == FILLED) {
            wait_beside(texel);
        }
    }
    for (std::uint32_t i = 0; i < rings && !ring.empty(); ++i) {
        for (const std::size_t texel : ring) {
            for (std::vector<glm::vec3>* plane : planes) {
                glm::vec3 sum(0.0F);
                float count = 0.0F;
                visit_neighbours(map.extent, texel, [&](std::size_t neighbour) {
                    if (state[neighbour] == FILLED) {
                        sum += (*plane)[neighbour];
                        count += 1.0F;
                    }
                });
                (*plane)[texel] = sum / count;
            }
        }
        for (const std::size_t texel : ring) {
            state[texel] = FILLED;
        }
        std::vector<std::size_t> last;
        last.swap(ring);
        for (const std::size_t texel : last) {
            wait_beside(texel);
        }
    }
}

}  // namespace quadtile::baker
