// What the passes of a bake have found of each texel.

#pragma once

#include "checkpoint.hpp"
#include "light_map.hpp"
#include "parallel.hpp"
#include "surface_map.hpp"
#include "traced_scene.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Calls work(block, i) for all texels, which come in blocks, from many threads.
constexpr std::size_t TEXEL_BLOCK = 8192;
void for_blocks(std::size_t texels, const auto& work) {
    parallel_for((texels + TEXEL_BLOCK - 1) / TEXEL_BLOCK, 0, [&](std::size_t block) {
        const std::size_t end = std::min(texels, (block + 1) * TEXEL_BLOCK);
        for (std::size_t i = block * TEXEL_BLOCK; i < end; ++i) {
            work(block, i);
        }
    });
}

void for_texels(std::size_t texels, const auto& work) {
    for_blocks(texels, [&](std::size_t, std::size_t i) { work(i); });
}

// The same bits for any number of threads.
double sum_over_texels(std::size_t texels, const auto& value) {
    std::vector<double> sums(texels / TEXEL_BLOCK + 1);
    for_blocks(texels, [&](std::size_t block, std::size_t i) { sums[block] += value(i); });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Whose light leaves a texel.
enum class Emission { none, without_lamps, all };

// The light lies in a checkpoint's state, which the bake owns.
class GatheredLight {
 public:
    GatheredLight(const TracedScene& scene, const SurfaceMap& surface, const Lamps& lamps,
                  const BakeOptions& options, Checkpoint& state)
        : scene_(scene),
          surface_(surface),
          lamps_(lamps),
          directional_(options.directional),
          sun_shares_(options.sun_shares),
          state_(state) {}

    // Units of the sums in a radiance of 1 with a weight of 1.
    void set_scale(double scale) noexcept { scale_ = scale; }

    // Of a pass after `directions`, half of them; finish_* compares it with what is gathered after
    // `all`, which need not be twice as many where the pass was interrupted.
    void note_half(const std::vector<Accumulator>& sums);
    void set_halves(std::uint32_t directions, std::uint32_t all);

    void finish_sun(const Sun& sun, const std::vector<Accumulator>& sums);
    void finish_light(const PointLight& light, const std::vector<Accumulator>& sums);
    // By what a point of a lamp's patch has found. The moments of the first pass alone count.
    void add_lamp_point(const LampPatch& lamp, const LampPoint& point, bool is_first_half,
                        bool is_more, const std::vector<Accumulator>& sums);
    // Of all points: the light, or its mean with that of as many other ones.
    void finish_lamps(bool is_more);
    void find_known(const std::vector<Accumulator>& sums);
    void finish_direct(const std::vector<Accumulator>& sums);
    void finish_bounce(const std::vector<Accumulator>& sums);
    // Of direct light or a bounce: takes the mean of it and of what as many other directions found.
    void finish_more(const std::vector<Accumulator>& sums, bool is_bounce);
    void begin_moments(const std::vector<Accumulator>& sums);
    void finish_moment(std::uint32_t axis, const std::vector<Accumulator>& sums);

    // Over the known texels.
    [[nodiscard]] double mean_irradiance() const;
    // By texel, of all light, grey: as far as two halves of the directions tell it.
    [[nodiscard]] std::vector<float> error() const;
    // The root mean square of the errors of the known texels' light, in parts of their mean light,
    // as far as the second halves of the directions tell them. None: no light, or no halves.
    [[nodiscard]] std::optional<double> noise() const;
    // The same of a part of the light, Checkpoint::sources_error and so on, in parts of all light.
    [[nodiscard]] double noise_of(const std::vector<float>& error) const;

    // Straight from suns, point lights, lamps, other emitters and sky. A back's place is behind
    // those of all fronts.
    [[nodiscard]] glm::vec3 direct_at(std::size_t place) const;

    // Radiance that leaves each texel, as Tracer::begin_pass takes it: emission, and what it
    // reflects of direct light and of what is sent.
    void read_outgoing(Emission emission, bool reflects, std::vector<glm::vec4>& outgoing) const;

    // Takes the light out of the state. Directional light needs a whole bake.
    [[nodiscard]] LightMap make_map(bool is_whole);

 private:
    [[nodiscard]] glm::vec3 mean_of(const Accumulator& sums) const;
    [[nodiscard]] double known_texels() const;
    // Of a front or a back, whose place is behind those of all fronts: whether it receives light.
    [[nodiscard]] bool is_lit_side(std::size_t place) const;
    [[nodiscard]] std::optional<float> share_of_light(const std::vector<Accumulator>& sums,
                                                      std::size_t texel, std::size_t side) const;
    void add_irradiance(const std::vector<Accumulator>& sums, std::vector<glm::vec3>& irradiance,
                        std::vector<float>& error) const;
    [[nodiscard]] float error_of(std::size_t texel, const glm::vec3& mean) const;
    void forget_slivers();

    const TracedScene& scene_;
    const SurfaceMap& surface_;
    const Lamps& lamps_;
    bool directional_;
    bool sun_shares_;
    Checkpoint& state_;
    double scale_ = 1.0;
    float half_weight_ = 1.0F;  // of the change since the half of the directions
};

}  // namespace quadtile::baker
