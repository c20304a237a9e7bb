#include "denoise.hpp"

#include "call_wide.hpp"
#include "parallel.hpp"
#include "topology.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
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
constexpr int ERROR_SIDE = 5;  // texels; the noise of a texel is that around it
constexpr int TILE_WIDTH = 128;
constexpr int TILE_HEIGHT = 64;
template <typename Value>
using TileRow = std::array<Value, TILE_WIDTH>;
using Neighbours = std::array<TileRow<std::uint32_t>, 9>;  // masks

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
    // Sets for texels of a row whether each is related to the one at a distance, as masks.
    template <std::size_t COUNT>
    void relate(std::size_t here, std::size_t there,
                std::array<std::uint32_t, COUNT>& related) const {
        const float* const x = normals[0].data();
        const float* const y = normals[1].data();
        const float* const z = normals[2].data();
        const std::uint32_t* const chart = charts.data();
        for (std::size_t i = 0; i < COUNT; ++i) {
            const float cosine = x[here + i] * x[there + i] + y[here + i] * y[there + i] +
                                 z[here + i] * z[there + i];
            const bool is_related =
                (chart[here + i] == chart[there + i]) & (cosine > SAME_WAY_COSINE);
            related[i] = is_related ? ~0U : 0U;
        }
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
        : map_(map), surface_(surface), charts_(charts), threads_(threads), error_(error.data()) {
        const std::size_t texels = error.size();
        for (std::vector<glm::vec3>* const plane : map.planes()) {
            planes_.push_back(plane->data());
            own_planes_.push_back(std::make_unique_for_overwrite<glm::vec3[]>(texels));
            new_planes_.push_back(own_planes_.back().get());
        }
        own_errors_ = std::make_unique_for_overwrite<float[]>(texels);
        new_error_ = own_errors_.get();
        variances_ = std::make_unique_for_overwrite<float[]>(texels);
    }

    // With `is_last` the map and the error have the results.
    void pass(int step, bool is_last) {
        for_tiles(ERROR_SIDE / 2, [&](const Tile& tile) { find_variances(tile); });
        for_tiles(2 * step + 1, [&](Tile& tile) { filter(step, tile); });
        std::swap(planes_, new_planes_);
        std::swap(error_, new_error_);
        if (is_last && error_ == own_errors_.get()) {
            const auto copy = [&](std::size_t i) {
                for (std::size_t k = 0; k < planes_.size(); ++k) {
                    new_planes_[k][i] = planes_[k][i];
                }
                new_error_[i] = error_[i];
            };
            parallel_for(map_.extent.texels(), threads_, copy, SHORT_CALLS);
        }
    }

 private:
    void for_tiles(int margin, const auto& work) const {
        const auto tile_row = [&](std::size_t row) {
            Tile tile(3 * planes_.size() + 2, margin);
            tile.top = static_cast<int>(row) * TILE_HEIGHT;
            for (; tile.left < static_cast<int>(map_.extent.width); tile.left += TILE_WIDTH) {
                load(tile);
                call_wide([&] { work(tile); });
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
                tile.values[k][i] = planes_[k / 3][texel][static_cast<int>(k % 3)];
            }
            tile.values[3 * planes_.size()][i] = error_[texel];
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
        std::vector<float> squares = tile.values[3 * planes_.size()];
        std::ranges::for_each(squares, [](float& error) { error *= error; });
        std::vector<float> light(squares.size());
        for (std::size_t i = 0; i < light.size(); ++i) {
            light[i] = grey({tile.values[0][i], tile.values[1][i], tile.values[2][i]});
        }
        std::vector<float> variances(squares.size());
        for (int y = tile.margin; y < tile.margin + TILE_HEIGHT; ++y) {
            const std::size_t first = tile.at(tile.margin, y, 0);
            TileRow<float> square_sum{};
            TileRow<float> light_sum{};
            for (int k = 0; k < ERROR_SIDE * ERROR_SIDE; ++k) {
                const std::size_t there = tile.at(k % ERROR_SIDE - ERROR_SIDE / 2,
                                                  k / ERROR_SIDE - ERROR_SIDE / 2, first);
                TileRow<std::uint32_t> related;
                tile.relate(first, there, related);
                for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
                    square_sum[i] += masked(related[i], squares[there + i]);
                    light_sum[i] += masked(related[i], light[there + i]);
                }
            }
            for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
                variances[first + i] =
                    light_sum[i] > 0.0F ? square_sum[i] / light_sum[i] * light[first + i] : 0.0F;
            }
        }
        for_texels(tile, 0,
                   [&](std::size_t texel, std::size_t i) { variances_[texel] = variances[i]; });
    }

    void filter(int step, Tile& tile) {
        constexpr float OWN = SPLINE[0] * SPLINE[0];
        for_texels(tile, tile.margin, [&](std::size_t texel, std::size_t i) {
            tile.values.back()[i] = variances_[texel];
        });
        // By row: the related ones among 3 x 3.
        std::vector<Neighbours> neighbours(TILE_HEIGHT);
        for (int i = 0; i < 9 * TILE_HEIGHT; ++i) {
            const std::size_t first = tile.at(tile.margin, tile.margin + i / 9, 0);
            tile.relate(
                first, tile.at(i % 3 - 1, i % 9 / 3 - 1, first),
                neighbours[static_cast<std::size_t>(i / 9)][static_cast<std::size_t>(i % 9)]);
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

    // Adds up 3 x 3 values around each texel of a row, where masks say so.
    static void add_masked(const Neighbours& masks, const float* __restrict above,
                           const float* __restrict own, const float* __restrict below,
                           TileRow<float>& sums) {
        for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
            sums[i] = masked(masks[0][i], above[i]) + masked(masks[1][i], above[i + 1]) +
                      masked(masks[2][i], above[i + 2]) + masked(masks[3][i], own[i]) +
                      masked(masks[4][i], own[i + 1]) + masked(masks[5][i], own[i + 2]) +
                      masked(masks[6][i], below[i]) + masked(masks[7][i], below[i + 1]) +
                      masked(masks[8][i], below[i + 2]);
        }
    }

    // Adds to each texel the one at a distance, with a weight by their difference: the mean over 3
    // x 3 pairs around the two.
    static void add(const Tile& tile, int dx, int dy, float most,
                    const std::vector<Neighbours>& neighbours, std::vector<float>& weights,
                    std::vector<std::vector<float>>& sums) {
        // Of three rows: related ones, and squared differences, relative to that of noise on
        // average.
        std::array<std::array<float, TILE_WIDTH + 2>, 3> all_differences;
        std::array<std::array<float, TILE_WIDTH + 2>, 3> all_ones;
        const auto compare = [&](int row) {
            const std::size_t here = tile.at(tile.margin - 1, tile.margin + row, 0);
            const std::size_t there = tile.at(dx, dy, here);
            std::array<std::uint32_t, TILE_WIDTH + 2> related;
            auto& ones = all_ones[static_cast<std::size_t>(row + 3) % 3];
            auto& differences = all_differences[static_cast<std::size_t>(row + 3) % 3];
            tile.relate(here, there, related);
            const float* const reds = tile.values[0].data();
            const float* const greens = tile.values[1].data();
            const float* const blues = tile.values[2].data();
            const float* const variances = tile.values.back().data();
            for (std::size_t i = 0; i < TILE_WIDTH + 2; ++i) {
                const float red = reds[here + i] - reds[there + i];
                const float green = greens[here + i] - greens[there + i];
                const float blue = blues[here + i] - blues[there + i];
                const float difference = grey({red * red, green * green, blue * blue}) /
                                         (variances[here + i] + variances[there + i] + FLT_MIN);
                differences[i] = masked(related[i], difference);
                ones[i] = masked(related[i], 1.0F);
            }
        };
        compare(-1);
        compare(0);
        for (int row = 0; row < TILE_HEIGHT; ++row) {
            compare(row + 1);
            TileRow<float> sum;
            TileRow<float> count;
            const auto& masks = neighbours[static_cast<std::size_t>(row)];
            const auto above = static_cast<std::size_t>(row + 2) % 3;
            const auto own = static_cast<std::size_t>(row) % 3;
            const auto below = static_cast<std::size_t>(row + 1) % 3;
            add_masked(masks, all_differences[above].data(), all_differences[own].data(),
                       all_differences[below].data(), sum);
            add_masked(masks, all_ones[above].data(), all_ones[own].data(), all_ones[below].data(),
                       count);
            const std::size_t here = tile.at(tile.margin, tile.margin + row, 0);
            const std::size_t there = tile.at(dx, dy, here);
            TileRow<float> weight;
            for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
                const float left = 1.0F - sum[i] / (count[i] * MOST_DIFFERENCE * MOST_DIFFERENCE);
                weight[i] =
                    ((all_ones[own][i + 1] > 0.0F) & (left > 0.0F)) ? most * left * left : 0.0F;
            }
            float* const all = &weights[here];
            for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
                all[i] += weight[i];
            }
            for (std::size_t k = 0; k < sums.size(); ++k) {
                const float* const values = &tile.values[k][there];
                float* const to = &sums[k][here];
                for (std::size_t i = 0; i < TILE_WIDTH; ++i) {
                    const float added = to[i] + weight[i] * values[i];
                    to[i] = weight[i] > 0.0F ? added : to[i];
                }
            }
        }
    }

    const LightMap& map_;
    const SurfaceMap& surface_;
    const std::vector<std::uint32_t>& charts_;  // by triangle
    std::uint32_t threads_;
    // By texel, before and after a pass: the map's, and memory of this object that all threads
    // touch first, since that takes as long as a pass.
    std::vector<glm::vec3*> planes_;
    std::vector<glm::vec3*> new_planes_;
    float* error_;
    float* new_error_;
    std::vector<std::unique_ptr<glm::vec3[]>> own_planes_;
    std::unique_ptr<float[]> own_errors_;
    std::unique_ptr<float[]> variances_;
};

}  // namespace

std::vector<std::uint32_t> charts_of(const Scene& scene) {
    JoinedSets sets(scene.positions.size());
    const auto place = [&](std::uint32_t vertex) {
        const glm::vec3& position = scene.positions[vertex];
        return std::tie(position.x, position.y, position.z);
    };
    std::vector<std::pair<std::array<float, 2>, std::uint32_t>> order(scene.positions.size());
    for (std::uint32_t vertex = 0; vertex < order.size(); ++vertex) {
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
            sets.join(vertex, last);
        }
    }
    for (const Triangle& triangle : scene.triangles) {
        sets.join(triangle.vertices[1], triangle.vertices[0]);
        sets.join(triangle.vertices[2], triangle.vertices[0]);
    }
    std::vector<std::uint32_t> charts;
    for (const Triangle& triangle : scene.triangles) {
        charts.push_back(sets.root(triangle.vertices[0]));
    }
    return charts;
}

double denoise(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
               const std::vector<std::uint32_t>& charts, std::uint32_t threads) {
    const auto square = [&] {
        return parallel_sum<double>(error.size(), threads, [&](std::size_t i) {
            return map.known[i] != 0 ? double{error[i]} * error[i] : 0.0;
        });
    };
    const double before = square();
    Denoiser denoiser(map, error, surface, charts, threads);
    for (int i = 0; i < PASSES; ++i) {
        denoiser.pass(1 << i, i + 1 == PASSES);
    }
    return std::sqrt(square() / before);
}

}  // namespace quadtile::baker
