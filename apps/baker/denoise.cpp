#include "denoise.hpp"

#include "parallel.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace quadtile::baker {

namespace {

// Number of passes. Each takes 5 x 5 texels that are twice as far apart as in the pass before (the
// a-trous filter), with the weights of a cubic B-spline.
constexpr int PASSES = 3;
constexpr std::array<float, 3> SPLINE{0.375F, 0.25F, 0.0625F};
constexpr float SAME_WAY_COSINE = 0.9F;
// Largest difference of light, in standard errors.
constexpr float MOST_DIFFERENCE = 2.5F;
constexpr int ERROR_RADIUS = 2;  // texels; the noise of a texel is that around it
constexpr int TILE_WIDTH = 128;
constexpr int TILE_HEIGHT = 64;

// Returns the value where the mask's bits are 1, and 0 where they are 0. Loops without branches
// take several texels at once.
float masked(std::uint32_t mask, float value) {
    return std::bit_cast<float>(mask & std::bit_cast<std::uint32_t>(value));
}

// The texels of a rectangle, with a margin around it, a number per texel and value. Texels that are
// unknown, or outside of the map, have no normal: none is related to them.
struct Tile {
    Tile(std::size_t value_count, int margin_texels)
        : margin(margin_texels),
          pitch(TILE_WIDTH + 2 * margin),
          charts(static_cast<std::size_t>(pitch * (TILE_HEIGHT + 2 * margin))),
          values(value_count, std::vector<float>(charts.size())) {}

    // Returns the index of a texel by its distance from another.
    [[nodiscard]] std::size_t at(int x, int y, std::size_t from) const {
        return from + static_cast<std::size_t>(std::ptrdiff_t{y} * pitch + x);
    }
    // Calls work(first, end) for each row of the tile, and of a part of its margin.
    void for_rows(int part, const auto& work) const {
        for (int y = margin - part; y < margin + part + TILE_HEIGHT; ++y) {
            const std::size_t first = at(margin - part, y, 0);
            work(first, first + static_cast<std::size_t>(TILE_WIDTH + 2 * part));
        }
    }
    void for_texels(int part, const auto& work) const {
        for_rows(part, [&](std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i) {
                work(i);
            }
        });
    }
    // Sets for each texel whether the one at a distance is related to it, as a mask.
    void relate(int part, int dx, int dy, std::vector<std::uint32_t>& related) const {
        for_texels(part, [&, &x = normals[0], &y = normals[1], &z = normals[2]](std::size_t i) {
            const std::size_t j = at(dx, dy, i);
            const float cosine = x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
            related[i] = ((charts[i] == charts[j]) & (cosine > SAME_WAY_COSINE)) ? ~0U : 0U;
        });
    }
    [[nodiscard]] float light(std::size_t texel) const {
        return grey({values[0][texel], values[1][texel], values[2][texel]});
    }

    int margin;
    int pitch;
    int left = 0;
    int top = 0;
    std::vector<std::uint32_t> charts;
    std::array<std::vector<float>, 3> normals;
    // Red, green and blue of each of the map's planes, then the error and its variance.
    std::vector<std::vector<float>> values;
};

class Denoiser {
 public:
    Denoiser(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
             const std::vector<std::uint32_t>& charts, std::uint32_t threads)
        : map_(map),
          error_(error),
          surface_(surface),
          charts_(charts),
          threads_(threads),
          planes_(map.planes()),
          new_planes_(planes_.size(), std::vector<glm::vec3>(error.size())),
          new_error_(error.size()),
          variances_(error.size()) {}

    void pass(int step) {
        for_tiles(ERROR_RADIUS, [&](const Tile& tile) { find_variances(tile); });
        for_tiles(2 * step + 1, [&](const Tile& tile) { filter(step, tile); });
        for (std::size_t i = 0; i < planes_.size(); ++i) {
            planes_[i]->swap(new_planes_[i]);
        }
        error_.swap(new_error_);
    }

 private:
    void for_tiles(int margin, const auto& work) const {
        const auto tile_row = [&](std::size_t row) {
            Tile tile(3 * planes_.size() + 2, margin);
            tile.top = static_cast<int>(row) * TILE_HEIGHT;
            for (; tile.left < static_cast<int>(map_.extent.width); tile.left += TILE_WIDTH) {
                load(tile);
                work(tile);
            }
        };
        parallel_for((map_.extent.height + TILE_HEIGHT - 1) / TILE_HEIGHT, threads_, tile_row);
    }

    // Calls work(texel, index in the tile) for the tile's texels, and those of a part of its
    // margin, which are in the map.
    void for_texels(const Tile& tile, int part, const auto& work) const {
        const auto end = [&](int first, int size, std::uint32_t most) {
            return std::min(first + size + part, static_cast<int>(most));
        };
        for (int y = std::max(tile.top - part, 0);
             y < end(tile.top, TILE_HEIGHT, map_.extent.height); ++y) {
            for (int x = std::max(tile.left - part, 0);
                 x < end(tile.left, TILE_WIDTH, map_.extent.width); ++x) {
                work(static_cast<std::size_t>(y) * map_.extent.width + static_cast<std::size_t>(x),
                     tile.at(x - tile.left + tile.margin, y - tile.top + tile.margin, 0));
            }
        }
    }

    void load(Tile& tile) const {
        tile.normals.fill(std::vector<float>(tile.charts.size()));
        for_texels(tile, tile.margin, [&](std::size_t texel, std::size_t i) {
            for (std::size_t k = 0; k + 2 < tile.values.size(); ++k) {
                tile.values[k][i] = (*planes_[k / 3])[texel][static_cast<int>(k % 3)];
            }
            tile.values[3 * planes_.size()][i] = error_[texel];
            tile.values.back()[i] = variances_[texel];
            if (map_.known[texel] != 0) {
                const std::uint32_t number = surface_.texels[texel];
                tile.charts[i] = charts_[surface_.triangle[number]];
                for (int c = 0; c < 3; ++c) {
                    tile.normals[static_cast<std::size_t>(c)][i] = surface_.normal[number][c];
                }
            }
        });
    }

    // Finds the variance of the noise, from the texels around. If a part of the directions meets a
    // light, its variance grows with the light, so a shadow has less of it than the lit texels
    // beside it.
    void find_variances(const Tile& tile) {
        const std::vector<float>& errors = tile.values[3 * planes_.size()];
        std::vector<float> squares(tile.charts.size());
        std::vector<float> light(tile.charts.size());
        std::vector<std::uint32_t> related(tile.charts.size());
        for (int v = -ERROR_RADIUS; v <= ERROR_RADIUS; ++v) {
            for (int u = -ERROR_RADIUS; u <= ERROR_RADIUS; ++u) {
                tile.relate(0, u, v, related);
                tile.for_texels(0, [&](std::size_t i) {
                    const float error = errors[tile.at(u, v, i)];
                    squares[i] += masked(related[i], error * error);
                });
                tile.for_texels(0, [&](std::size_t i) {
                    light[i] += masked(related[i], tile.light(tile.at(u, v, i)));
                });
            }
        }
        for_texels(tile, 0, [&](std::size_t texel, std::size_t i) {
            variances_[texel] = light[i] > 0.0F ? squares[i] / light[i] * tile.light(i) : 0.0F;
        });
    }

    void filter(int step, const Tile& tile) {
        constexpr float OWN = SPLINE[0] * SPLINE[0];
        // By texel: the related ones among 3 x 3.
        std::vector<std::vector<std::uint32_t>> neighbours(9, tile.charts);
        for (int k = 0; k < 9; ++k) {
            tile.relate(0, k % 3 - 1, k / 3 - 1, neighbours[static_cast<std::size_t>(k)]);
        }
        std::vector<float> weights(tile.charts.size(), OWN);
        std::vector<std::vector<float>> sums(tile.values.begin(), tile.values.end() - 1);
        for (std::vector<float>& sum : sums) {
            std::ranges::for_each(sum, [](float& value) { value *= OWN; });
        }
        for (int k = 0; k < 25; ++k) {
            const int u = k % 5 - 2;
            const int v = k / 5 - 2;
            if (u != 0 || v != 0) {
                add(tile, u * step, v * step,
                    SPLINE[static_cast<std::size_t>(std::abs(u))] *
                        SPLINE[static_cast<std::size_t>(std::abs(v))],
                    neighbours, weights, sums);
            }
        }
        for_texels(tile, 0, [&](std::size_t texel, std::size_t i) {
            const float factor = 1.0F / weights[i];
            for (std::size_t k = 0; k + 1 < sums.size(); ++k) {
                new_planes_[k / 3][texel][static_cast<int>(k % 3)] = sums[k][i] * factor;
            }
            new_error_[texel] = sums.back()[i] * factor;
        });
    }

    // Adds to each texel the one at a distance, with a weight by their difference: the mean over 3
    // x 3 pairs around the two.
    static void add(const Tile& tile, int dx, int dy, float most,
                    const std::vector<std::vector<std::uint32_t>>& neighbours,
                    std::vector<float>& weights, std::vector<std::vector<float>>& sums) {
        // Squared differences, relative to that of noise on average, of related texels.
        std::vector<float> differences(tile.charts.size());
        std::vector<float> counts(tile.charts.size());  // 1 or 0: whether it has one
        std::vector<std::uint32_t> related(tile.charts.size());
        const std::vector<float>& variances = tile.values.back();
        tile.relate(1, dx, dy, related);
        tile.for_texels(1, [&](std::size_t i) {
            const std::size_t there = tile.at(dx, dy, i);
            const float red = tile.values[0][i] - tile.values[0][there];
            const float green = tile.values[1][i] - tile.values[1][there];
            const float blue = tile.values[2][i] - tile.values[2][there];
            const float difference = grey({red * red, green * green, blue * blue}) /
                                     (variances[i] + variances[there] + FLT_MIN);
            differences[i] = masked(related[i], difference);
        });
        tile.for_texels(1, [&](std::size_t i) { counts[i] = masked(related[i], 1.0F); });
        tile.for_rows(0, [&](std::size_t first, std::size_t end) {
            std::array<float, TILE_WIDTH> sum{};
            std::array<float, TILE_WIDTH> count{};
            for (int row = -1; row <= 1; ++row) {
                const auto* const masks = &neighbours[static_cast<std::size_t>(3 * row + 3)];
                const auto add_row = [&](std::size_t i, const std::vector<float>& values,
                                         float before) {
                    const std::size_t pair = tile.at(0, row, i);
                    return before + masked(masks[0][i], values[pair - 1]) +
                           masked(masks[1][i], values[pair]) +
                           masked(masks[2][i], values[pair + 1]);
                };
                for (std::size_t i = first; i < end; ++i) {
                    sum[i - first] = add_row(i, differences, sum[i - first]);
                    count[i - first] = add_row(i, counts, count[i - first]);
                }
            }
            std::array<float, TILE_WIDTH>& weight = sum;
            for (std::size_t i = first; i < end; ++i) {
                const float left =
                    1.0F - sum[i - first] / (count[i - first] * MOST_DIFFERENCE * MOST_DIFFERENCE);
                weight[i - first] =
                    ((counts[i] > 0.0F) & (left > 0.0F)) ? most * left * left : 0.0F;
                weights[i] += weight[i - first];
            }
            for (std::size_t k = 0; k < sums.size(); ++k) {
                for (std::size_t i = first; i < end; ++i) {
                    const float before = sums[k][i];
                    const float added =
                        before + weight[i - first] * tile.values[k][tile.at(dx, dy, i)];
                    sums[k][i] = weight[i - first] > 0.0F ? added : before;
                }
            }
        });
    }

    LightMap& map_;
    std::vector<float>& error_;
    const SurfaceMap& surface_;
    const std::vector<std::uint32_t>& charts_;  // by triangle
    std::uint32_t threads_;
    std::vector<std::vector<glm::vec3>*> planes_;
    std::vector<std::vector<glm::vec3>> new_planes_;  // after the pass, and the error
    std::vector<float> new_error_;
    std::vector<float> variances_;  // by texel
};

}  // namespace

std::vector<std::uint32_t> charts_of(const Scene& scene) {
    std::vector<std::uint32_t> parents(scene.positions.size());
    std::iota(parents.begin(), parents.end(), 0U);
    const auto root = [&](std::uint32_t vertex) {
        while (parents[vertex] != vertex) {
            vertex = parents[vertex] = parents[parents[vertex]];
        }
        return vertex;
    };
    const auto place = [&](std::uint32_t vertex) {
        const glm::vec3& position = scene.positions[vertex];
        return std::tie(position.x, position.y, position.z);
    };
    std::vector<std::pair<std::array<float, 2>, std::uint32_t>> order(parents.size());
    for (const std::uint32_t vertex : parents) {
        const glm::vec2& coordinates = scene.light_map_coordinates[vertex];
        order[vertex] = {{coordinates.x, coordinates.y}, vertex};
    }
    parallel_sort(order, [&](const auto& a, const auto& b) {
        return a.first == b.first ? place(a.second) < place(b.second) : a.first < b.first;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const auto& [coordinates, vertex] = order[i];
        const auto& [last_coordinates, last] = order[i - 1];
        if (last_coordinates == coordinates && place(last) == place(vertex)) {
            parents[root(vertex)] = root(last);
        }
    }
    for (const Triangle& triangle : scene.triangles) {
        parents[root(triangle.vertices[1])] = root(triangle.vertices[0]);
        parents[root(triangle.vertices[2])] = root(triangle.vertices[0]);
    }
    std::vector<std::uint32_t> charts;
    for (const Triangle& triangle : scene.triangles) {
        charts.push_back(root(triangle.vertices[0]));
    }
    return charts;
}

double denoise(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
               const std::vector<std::uint32_t>& charts, std::uint32_t threads) {
    const auto square = [&] {
        std::vector<double> sums((error.size() + SHORT_CALLS - 1) / SHORT_CALLS);
        const auto add = [&](std::size_t i) {
            sums[i / SHORT_CALLS] += map.known[i] != 0 ? double{error[i]} * error[i] : 0.0;
        };
        parallel_for(error.size(), threads, add, SHORT_CALLS);
        return std::accumulate(sums.begin(), sums.end(), 0.0);
    };
    const double before = square();
    Denoiser denoiser(map, error, surface, charts, threads);
    for (int i = 0; i < PASSES; ++i) {
        denoiser.pass(1 << i);
    }
    return std::sqrt(square() / before);
}

}  // namespace quadtile::baker
