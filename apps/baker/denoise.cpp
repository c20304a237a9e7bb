#include "denoise.hpp"

#include "parallel.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstdint>
#include <cstdlib>
#include <numeric>
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
constexpr int BLOCK_ROWS = 32;   // rows per work item of a thread

// Returns a number per triangle, equal for triangles that are connected by points which are equal
// in the scene and in the lightmap.
std::vector<std::uint32_t> number_charts(const Scene& scene) {
    std::vector<std::uint32_t> parents(scene.positions.size());
    std::iota(parents.begin(), parents.end(), 0U);
    const auto root = [&](std::uint32_t vertex) {
        while (parents[vertex] != vertex) {
            vertex = parents[vertex] = parents[parents[vertex]];
        }
        return vertex;
    };
    std::vector<std::uint32_t> order = parents;
    const auto place = [&](std::uint32_t vertex) {
        const glm::vec3& position = scene.positions[vertex];
        const glm::vec2& coordinates = scene.light_map_coordinates[vertex];
        return std::array{coordinates.x, coordinates.y, position.x, position.y, position.z};
    };
    std::ranges::sort(order, {}, place);
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (place(order[i - 1]) == place(order[i])) {
            parents[root(order[i])] = root(order[i - 1]);
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

class Denoiser {
 public:
    Denoiser(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
             const Scene& scene, std::uint32_t threads)
        : map_(map),
          error_(error),
          surface_(surface),
          charts_(number_charts(scene)),
          threads_(threads),
          width_(static_cast<int>(map.extent.width)),
          height_(static_cast<int>(map.extent.height)),
          neighbours_(error.size()),
          variances_(error.size()) {
        for_texels([&](int x, int y) {
            for (int k = 0; k < 9; ++k) {
                const int u = x + k % 3 - 1;
                const int v = y + k / 3 - 1;
                if (is_inside(u, v) && are_related(texel(x, y), texel(u, v))) {
                    neighbours_[texel(x, y)] |= static_cast<std::uint16_t>(1U << k);
                }
            }
        });
    }

    void pass(int step) {
        for_texels([&](int x, int y) { variances_[texel(x, y)] = variance_at(x, y); });
        std::vector<std::vector<glm::vec3>> planes;
        for (const std::vector<glm::vec3>* const plane : map_.planes()) {
            planes.push_back(*plane);
        }
        std::vector<float> error = error_;
        for_blocks([&](int top, int bottom) {
            Rows rows{top, bottom, planes, error};
            filter(step, rows);
        });
        for (std::size_t i = 0; i < planes.size(); ++i) {
            *map_.planes()[i] = std::move(planes[i]);
        }
        error_ = std::move(error);
    }

 private:
    // Rows from `top` to before `bottom`, of the planes and of the error after this pass.
    struct Rows {
        int top;
        int bottom;
        std::vector<std::vector<glm::vec3>>& planes;
        std::vector<float>& error;
    };

    void for_blocks(const auto& work) const {
        parallel_for((map_.extent.height + BLOCK_ROWS - 1) / BLOCK_ROWS, threads_,
                     [&](std::size_t block) {
                         const int top = static_cast<int>(block) * BLOCK_ROWS;
                         work(top, std::min(top + BLOCK_ROWS, height_));
                     });
    }
    void for_texels(const auto& work) const {
        for_blocks([&](int top, int bottom) {
            for (int y = top; y < bottom; ++y) {
                for (int x = 0; x < width_; ++x) {
                    work(x, y);
                }
            }
        });
    }

    [[nodiscard]] std::size_t texel(int x, int y) const {
        return static_cast<std::size_t>(y) * map_.extent.width + static_cast<std::size_t>(x);
    }
    [[nodiscard]] bool is_inside(int x, int y) const {
        return x >= 0 && x < width_ && y >= 0 && y < height_;
    }
    [[nodiscard]] bool are_related(std::size_t a, std::size_t b) const {
        if (map_.known[a] == 0 || map_.known[b] == 0) {
            return false;
        }
        const std::uint32_t here = surface_.texels[a];
        const std::uint32_t there = surface_.texels[b];
        return charts_[surface_.triangle[here]] == charts_[surface_.triangle[there]] &&
               glm::dot(surface_.normal[here], surface_.normal[there]) > SAME_WAY_COSINE;
    }

    // Returns the variance of the noise, from the texels around. If a part of the directions meets
    // a light, its variance grows with the light, so a shadow has less of it than the lit texels
    // beside it.
    [[nodiscard]] float variance_at(int x, int y) const {
        const std::size_t here = texel(x, y);
        float squares = 0.0F;
        float light = 0.0F;
        for (int v = y - ERROR_RADIUS; v <= y + ERROR_RADIUS; ++v) {
            for (int u = x - ERROR_RADIUS; u <= x + ERROR_RADIUS; ++u) {
                if (is_inside(u, v) && are_related(here, texel(u, v))) {
                    squares += error_[texel(u, v)] * error_[texel(u, v)];
                    light += grey(map_.irradiance[texel(u, v)]);
                }
            }
        }
        return light > 0.0F ? squares / light * grey(map_.irradiance[here]) : 0.0F;
    }

    // Returns the squared difference from the texel at a distance, relative to that of noise on
    // average; below 0: the texels are unrelated.
    [[nodiscard]] float difference(int x, int y, int dx, int dy) const {
        if (!is_inside(x + dx, y + dy)) {
            return -1.0F;
        }
        const std::size_t here = texel(x, y);
        const std::size_t there = texel(x + dx, y + dy);
        if (!are_related(here, there)) {
            return -1.0F;
        }
        const glm::vec3 change = map_.irradiance[here] - map_.irradiance[there];
        return grey(change * change) / (variances_[here] + variances_[there] + FLT_MIN);
    }

    void filter(int step, Rows& rows) const {
        constexpr float OWN = SPLINE[0] * SPLINE[0];
        const std::size_t first = texel(0, rows.top);
        std::vector<float> weights(texel(0, rows.bottom) - first, OWN);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            scale(rows, first + i, OWN);
        }
        for (int v = -2; v <= 2; ++v) {
            for (int u = -2; u <= 2; ++u) {
                if (u != 0 || v != 0) {
                    add(u * step, v * step,
                        SPLINE[static_cast<std::size_t>(std::abs(u))] *
                            SPLINE[static_cast<std::size_t>(std::abs(v))],
                        rows, weights);
                }
            }
        }
        for (std::size_t i = 0; i < weights.size(); ++i) {
            scale(rows, first + i, 1.0F / weights[i]);
        }
    }

    static void scale(Rows& rows, std::size_t texel, float factor) {
        rows.error[texel] *= factor;
        for (std::vector<glm::vec3>& plane : rows.planes) {
            plane[texel] *= factor;
        }
    }

    // Adds to each texel the one at a distance, with a weight by their difference: the mean over 3
    // x 3 pairs around the two.
    void add(int dx, int dy, float most, Rows& rows, std::vector<float>& weights) const {
        const std::vector<std::vector<glm::vec3>*> sources = map_.planes();
        const int first_row = std::max(rows.top - 1, 0);
        const int end_row = std::min(rows.bottom + 1, height_);
        std::vector<float> differences(texel(0, end_row - first_row));
        for (int y = first_row; y < end_row; ++y) {
            for (int x = 0; x < width_; ++x) {
                differences[texel(x, y - first_row)] = difference(x, y, dx, dy);
            }
        }
        for (int y = rows.top; y < rows.bottom; ++y) {
            for (int x = 0; x < width_; ++x) {
                if (differences[texel(x, y - first_row)] < 0.0F) {
                    continue;
                }
                const std::size_t here = texel(x, y);
                float sum = 0.0F;
                float count = 0.0F;
                for (int k = 0; k < 9; ++k) {
                    const bool counts = (neighbours_[here] >> k & 1) != 0;
                    const int row = y + k / 3 - 1 - first_row;
                    const float pair = counts ? differences[texel(x + k % 3 - 1, row)] : -1.0F;
                    sum += std::max(pair, 0.0F);
                    count += pair >= 0.0F ? 1.0F : 0.0F;
                }
                const float left = 1.0F - sum / (count * MOST_DIFFERENCE * MOST_DIFFERENCE);
                if (!(left > 0.0F)) {
                    continue;
                }
                const float weight = most * left * left;
                const std::size_t there = texel(x + dx, y + dy);
                weights[here - texel(0, rows.top)] += weight;
                rows.error[here] += weight * error_[there];
                for (std::size_t i = 0; i < sources.size(); ++i) {
                    rows.planes[i][here] += weight * (*sources[i])[there];
                }
            }
        }
    }

    LightMap& map_;
    std::vector<float>& error_;
    const SurfaceMap& surface_;
    std::vector<std::uint32_t> charts_;  // by triangle
    std::uint32_t threads_;
    int width_;
    int height_;
    std::vector<std::uint16_t> neighbours_;  // by texel: related texels among 3 x 3
    std::vector<float> variances_;           // by texel
};

}  // namespace

void denoise(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
             const Scene& scene, std::uint32_t threads) {
    Denoiser denoiser(map, error, surface, scene, threads);
    for (int i = 0; i < PASSES; ++i) {
        denoiser.pass(1 << i);
    }
}

}  // namespace quadtile::baker
