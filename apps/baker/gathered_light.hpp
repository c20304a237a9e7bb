// Light of each texel from the passes of a bake.

#pragma once

#include "bake_state.hpp"
#include "light_map.hpp"
#include "parallel.hpp"
#include "ranks.hpp"
#include "surface_map.hpp"
#include "traced_scene.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Texels per block; ranks have parts of the lightmap in whole blocks.
constexpr std::size_t TEXEL_BLOCK = 1024;

// Emission that leaves a texel.
enum class Emission { none, without_lamps, all };

// The light in a checkpoint's state, which the bake owns. Each rank has and changes the light of
// its own texels; sums are those of these texels and their neighbours. All ranks call the functions
// that change the light of a pass, and the means, in the same order.
class GatheredLight {
 public:
    GatheredLight(const TracedScene& scene, const SurfaceMap& surface, const Lamps& lamps,
                  const BakeOptions& options, Ranks& ranks, BakeState& state)
        : scene_(scene),
          ranks_(ranks),
          own_(ranks.own_part(scene.light_map.texels(), TEXEL_BLOCK)),
          surface_(surface),
          lamps_(lamps),
          directional_(options.directional),
          light_shares_(options.light_shares),
          state_(state) {}

    // Sets the units of the sums for a radiance of 1 with a weight of 1.
    void set_scale(double scale) noexcept { scale_ = scale; }

    // Notes the sums after `directions`, half of a pass. finish_* compares them with those after
    // `all`, which may be other than twice as many if the pass was interrupted.
    void note_half(const std::vector<Accumulator>& sums);
    void set_halves(std::uint32_t directions, std::uint32_t all);

    void finish_sun(const Sun& sun, const std::vector<Accumulator>& sums);
    void finish_light(const PointLight& light, const std::vector<Accumulator>& sums);
    // Begins with all points of these patches.
    void begin_lamps(const std::vector<LampPatch>& patches, bool is_more);
    // Adds the sums of a point of a lamp's patch to all texels. Moments count in the first pass.
    void add_lamp_point(const LampPatch& lamp, const LampPoint& point, bool is_first_half,
                        const std::vector<Accumulator>& sums);
    // Moves the sums of all ranks to the first one; the others begin anew.
    void move_lamp_sums();
    // Makes the light of all points, or its mean with that of as many other ones.
    void finish_lamps(bool is_more);
    void find_known(const std::vector<Accumulator>& sums);
    void finish_direct(const std::vector<Accumulator>& sums);
    void finish_bounce(const std::vector<Accumulator>& sums);
    // Takes the mean of direct light, or of a bounce, and the light from as many other directions.
    void finish_more(const std::vector<Accumulator>& sums, bool is_bounce);
    void begin_moments(const std::vector<Accumulator>& sums);
    void finish_moment(std::uint32_t axis, const std::vector<Accumulator>& sums);

    // Moves the light of all ranks to the first one.
    void gather();

    // Returns the mean over the known texels.
    [[nodiscard]] double mean_irradiance() const;
    // Returns the error of all light, by texel, grey, estimated from two halves of the directions.
    [[nodiscard]] std::vector<float> error() const;
    // Returns the root mean square error of the known texels' light, relative to their mean light,
    // estimated from the second halves of the directions. None: no light, or no halves.
    [[nodiscard]] std::optional<double> noise() const;
    // Does the same for a part of the light, BakeState::sources_error and so on, relative to all
    // light.
    [[nodiscard]] double noise_of(const std::vector<float>& error) const;

    // Returns the light straight from suns, point lights, lamps, other emitters and sky. The places
    // of backs are behind those of all fronts.
    [[nodiscard]] glm::vec3 direct_at(std::size_t place) const;

    // Reads the radiance that leaves each texel, of all ranks, for Tracer::begin_pass: emission,
    // and the reflection of direct light and of `sent`.
    void read_outgoing(Emission emission, bool reflects, std::vector<glm::vec4>& outgoing) const;

    // Takes the light out of the state. Directional light needs a whole bake.
    [[nodiscard]] LightMap make_map(bool is_whole);

 private:
    // Calls work(block, i) for this rank's texels, in blocks, from several threads.
    void for_blocks(const auto& work) const {
        const std::size_t first = own_.first / TEXEL_BLOCK;
        parallel_for((own_.size() + TEXEL_BLOCK - 1) / TEXEL_BLOCK, 0, [&](std::size_t i) {
            const std::size_t block = first + i;
            const std::size_t end = std::min(own_.end, (block + 1) * TEXEL_BLOCK);
            for (std::size_t texel = block * TEXEL_BLOCK; texel < end; ++texel) {
                work(block, texel);
            }
        });
    }
    void for_texels(const auto& work) const {
        for_blocks([&](std::size_t, std::size_t i) { work(i); });
    }
    // Visits this rank's texels: the places of fronts, and of backs if a surface has two sides.
    void for_sides(const auto& work) const {
        for_texels([&](std::size_t i) {
            work(i);
            if (scene_.has_two_sides) {
                work(i + scene_.light_map.texels());
            }
        });
    }
    // Sums over all ranks; bit-identical for any number of ranks and threads.
    [[nodiscard]] double sum_over_texels(const auto& value) const {
        std::vector<double> sums((scene_.light_map.texels() + TEXEL_BLOCK - 1) / TEXEL_BLOCK);
        for_blocks([&](std::size_t block, std::size_t i) { sums[block] += value(i); });
        ranks_.gather(std::span(sums), 1, true);
        return std::accumulate(sums.begin(), sums.end(), 0.0);
    }

    // Gathers values of all ranks, by texel or by place of sums, for the first one or for all.
    template <typename T>
    void gather(std::vector<T>& values, bool to_all) const;
    // Adds up the lamps' points of all ranks: those of some texels, for one rank.
    void add_up_lamps(const Range& texels, std::uint32_t to);

    [[nodiscard]] glm::vec3 mean_of(const Accumulator& sums) const;
    [[nodiscard]] double known_texels() const;
    // Returns whether a front, or a back (places behind those of all fronts), receives light.
    [[nodiscard]] bool is_lit_side(std::size_t place) const;
    [[nodiscard]] std::optional<glm::vec3> share_of_light(const std::vector<Accumulator>& sums,
                                                          std::size_t texel,
                                                          std::size_t side) const;
    void add_irradiance(const std::vector<Accumulator>& sums, std::vector<glm::vec3>& irradiance,
                        std::vector<float>& error) const;
    [[nodiscard]] float error_of(std::size_t texel, const glm::vec3& mean) const;
    [[nodiscard]] float error_at(std::size_t texel) const;
    [[nodiscard]] double noise_by(const auto& error_at) const;
    void forget_slivers();

    const TracedScene& scene_;
    Ranks& ranks_;
    Range own_;  // texels
    const SurfaceMap& surface_;
    const Lamps& lamps_;
    bool directional_;
    bool light_shares_;
    BakeState& state_;
    double scale_ = 1.0;
    double lamp_scale_ = 1.0;   // units of LampSums for an irradiance of 1
    float half_weight_ = 1.0F;  // weight of the change since half of the directions
};

}  // namespace quadtile::baker
