#include "light_map.hpp"

#include <algorithm>

namespace quadtile::baker {

namespace {

enum : std::uint8_t { EMPTY, FILLED, WAITING };

}  // namespace

std::vector<std::vector<glm::vec3>*> LightMap::planes() {
    std::vector<std::vector<glm::vec3>*> all = {&irradiance};
    for (auto& band : radiance_sh) {
        if (!band.empty()) {
            all.push_back(&band);
        }
    }
    return all;
}

void dilate(LightMap& map, std::uint32_t rings) {
    const std::vector<std::vector<glm::vec3>*> planes = map.planes();
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
