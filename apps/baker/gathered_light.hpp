// Light of each texel from the passes of a bake.

#pragma once

#include "bake_state.hpp"
#include "light_map.hpp"
#include "parallel.hpp"
#include "passes.hpp"
#include "piece_of_sums.hpp"
#include "ranks.hpp"
#include "surface_map.hpp"
#include "traced_scene.hpp"
#include "tracer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace quadtile::baker {

// Texels per block; ranks have parts of the lightmap in whole blocks.
constexpr std::size_t TEXEL_BLOCK = 1024;

// Texels whose sums are read, or whose radiance is made, at a time.
constexpr std::size_t PIECE_TEXELS = 1024 * TEXEL_BLOCK;

// Emission that leaves a texel.
enum class Emission { none, without_lamps, all };

// The light in a checkpoint's state, which the bake owns, from the sums of the tracers. Each rank
// has and changes the light of its own texels. All ranks call the functions that change the light
// of a pass, and the means, in the same order.
class GatheredLight {
 public:
    GatheredLight(const TracedScene& scene, const SurfaceMap& surface, const Lamps& lamps,
                  const BakeOptions& options, std::span<Tracer* const> tracers, Ranks& ranks,
                  BakeState& state)
        : scene_(scene),
          tracers_(tracers),
          ranks_(ranks),
          own_(ranks.own_part(scene.texels.count(), TEXEL_BLOCK)),
          surface_(surface),
          lamps_(lamps),
          directional_(options.directional),
          light_shares_(options.light_shares),
          state_(state) {}

    // Sets the units of the sums for a radiance of 1 with a weight of 1.
    void set_scale(double scale) noexcept { scale_ = scale; }

    // Notes the sums after `directions`, half of a pass. finish_* compares them with those after
    // `all`, which may be other than twice as many if the pass was interrupted.
    void note_half();
    void set_halves(std::uint32_t directions, std::uint32_t all);

    // Makes room for the light of a pass, in another thread while it is traced, because new memory
    // takes longer than some passes. finish_* does so if this was not called.
    void begin(Pass::Kind kind);

    void finish_sun(const Sun& sun);
    void finish_light(const PointLight& light);
    // Begins with all points of these patches.
    void begin_lamps(const std::vector<LampPatch>& patches, bool is_more);
    // Adds the light of a patch to all texels, by the first tracer's sums of one of its points.
    void add_lamp_point(const LampPatch& lamp, const LampPoint& point, bool is_first_half);
    // Moves the sums of all ranks to the first one; the others begin anew.
    void move_lamp_sums();
    // Makes the light of all points, or its mean with that of as many other ones.
    void finish_lamps(bool is_more);
    // Decide also which texels are known, in one reading of the sums.
    void finish_direct();
    // Keeps the light that the bounce has sent if passes follow that send it again.
    void finish_bounce(bool keeps_sent);
    // Takes the mean of direct light, or of a bounce, and the light from as many other directions.
    void finish_more(bool is_bounce);
    void begin_moments();
    void finish_moment(std::uint32_t axis);

    // Moves the light of all ranks to the first one, for a checkpoint.
    void gather();

    // Means over the known texels.
    struct Means {
        double irradiance;
        // Root mean square error of the light, relative to its mean, estimated from the second
        // halves of the directions. None: no light, or no halves.
        std::optional<double> noise;
    };
    [[nodiscard]] Means means() const;
    // Returns the noise of a part of the light, BakeState::sources_error and so on, relative to all
    // light.
    [[nodiscard]] double noise_of(const std::vector<float>& error) const;

    // Returns the light straight from suns, point lights, lamps, other emitters and sky. The places
    // of backs are behind those of all fronts.
    [[nodiscard]] glm::vec3 direct_at(std::size_t place) const;

    // Gives the radiance that leaves each texel, of all ranks, piece by piece, as for
    // Tracer::set_outgoing: emission, and the reflection of direct light and of the light that
    // surfaces send; of texels that are not baked that of their kept light, on both sides. Returns
    // the greatest component of any texel.
    float read_outgoing(
        Emission emission, bool reflects,
        const std::function<void(std::size_t first, std::span<const glm::vec4>)>& take) const;

    // Takes the light of all ranks out of the state, for the first one, and its error, 0 where
    // light is kept, by texel, grey, estimated from two halves of the directions. Directional light
    // needs a whole bake.
    [[nodiscard]] std::pair<LightMap, std::vector<float>> make_map(bool is_whole);

 private:
    // Returns whether a texel is inside of something; tells whether it is known.
    [[nodiscard]] bool find_known(const PieceOfSums& sums, std::size_t texel);
    // Calls work(block) for blocks of texels, from several threads.
    static void for_blocks(const Range& texels, const auto& work) {
        parallel_for((texels.size() + TEXEL_BLOCK - 1) / TEXEL_BLOCK, 0, [&](std::size_t block) {
            const std::size_t first = texels.first + block * TEXEL_BLOCK;
            work(Range{first, std::min(texels.end, first + TEXEL_BLOCK)});
        });
    }
    // Calls work(i) for texels in the same way.
    static void for_texels(const Range& texels, const auto& work) {
        for_blocks(texels, [&](const Range& block) {
            for (std::size_t i = block.first; i < block.end; ++i) {
                work(i);
            }
        });
    }
    // Calls work(sums, i) for this rank's texels that are baked, with the sums of all ranks, which
    // work on theirs at once. Reads a piece while it adds up the one before and works on it.
    void for_sums(const auto& work) {
        struct Piece {
            Range texels;
            std::uint32_t to;  // rank
        };
        std::vector<Piece> pieces;
        for (std::size_t first = 0; first < scene_.texels.count(); first += PIECE_TEXELS) {
            for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) {
                const Range part = ranks_.part_of(rank, scene_.texels.count(), TEXEL_BLOCK);
                if (first < part.size()) {
                    pieces.push_back({{part.first + first,
                                       std::min(part.end, part.first + first + PIECE_TEXELS)},
                                      rank});
                }
            }
        }
        std::future<void> is_read;
        for (std::size_t i = 0; i <= pieces.size(); ++i) {
            if (is_read.valid()) {
                is_read.get();
            }
            if (i < pieces.size()) {
                is_read = std::async(std::launch::async, [this, i, &piece = pieces[i]] {
                    sums_[i % 2].read(tracers_, with_neighbours(piece.texels), scene_.back_texels(),
                                      i % 2);
                });
            }
            if (i > 0) {
                const Piece& piece = pieces[i - 1];
                PieceOfSums& sums = sums_[(i - 1) % 2];
                sums.add_up(ranks_, piece.to);
                if (piece.to == ranks_.number()) {
                    for_texels(piece.texels, [&](std::size_t texel) {
                        if (!surface_.keeps(texel)) {
                            work(sums, texel);
                        }
                    });
                }
            }
        }
    }
    // Calls side(i) for a texel's front, and for its back if a surface has two sides.
    void for_sides(std::size_t texel, const auto& side) const {
        side(texel);
        if (scene_.has_two_sides) {
            side(texel + scene_.back_texels());
        }
    }
    // Calls side(i) for those that receive light: a back if its surface has two sides.
    void for_lit_sides(std::size_t texel, const auto& side) const {
        side(texel);
        if (surface_.double_sided[texel] != 0 && scene_.has_two_sides) {
            side(texel + scene_.back_texels());
        }
    }
    // Calls part(normal, share) for the parts of a texel, seen from a side (1 or -1).
    void for_facets(std::size_t texel, float side, const auto& part) const {
        const std::span<const Facet> facets = surface_.facets_of(texel);
        if (facets.empty()) {
            part(side * surface_.normal[texel], 1.0F);
        }
        for (const Facet& facet : facets) {
            part(side * facet.normal, facet.share);
        }
    }
    // Sums over the known texels of all ranks: their number, their light, and the squares of their
    // errors. Bit-identical for any number of ranks and threads.
    struct Totals {
        double texels = 0.0;
        double light = 0.0;
        double squares = 0.0;

        [[nodiscard]] double mean() const { return texels > 0.0 ? light / texels : 0.0; }
        [[nodiscard]] double noise() const { return std::sqrt(squares / texels) / mean(); }
    };
    [[nodiscard]] Totals totals(const auto& error_at) const;
    [[nodiscard]] double total(std::vector<double>& sums_of_blocks) const {
        ranks_.gather(std::span(sums_of_blocks), 1, true);
        return std::accumulate(sums_of_blocks.begin(), sums_of_blocks.end(), 0.0);
    }
    [[nodiscard]] Range with_neighbours(const Range& texels) const;

    // Gathers values of all ranks, by texel or by place of sums, for the first one or for all.
    template <typename T>
    void gather(std::vector<T>& values, bool to_all) const;
    // Adds up the lamps' points of all ranks: those of some texels, for one rank.
    void add_up_lamps(const Range& texels, std::uint32_t to);

    [[nodiscard]] glm::vec3 mean_of(const Accumulator& sums) const;
    [[nodiscard]] std::optional<glm::vec3> share_of_light(const PieceOfSums& sums,
                                                          std::size_t texel,
                                                          std::size_t side) const;
    void begin_light(std::vector<glm::vec3>& irradiance, std::vector<float>& error) const;
    void set_irradiance(std::vector<glm::vec3>& irradiance, std::vector<float>& error);
    [[nodiscard]] glm::vec4 outgoing_at(std::size_t place, Emission emission, bool reflects) const;
    [[nodiscard]] float error_of(std::size_t texel, const glm::vec3& mean) const;
    [[nodiscard]] float error_at(std::size_t texel) const;
    void forget_slivers();

    const TracedScene& scene_;
    std::span<Tracer* const> tracers_;
    Ranks& ranks_;
    Range own_;  // texels
    const SurfaceMap& surface_;
    const Lamps& lamps_;
    bool directional_;
    bool light_shares_;
    BakeState& state_;
    std::array<PieceOfSums, 2> sums_;  // one that is read, one that is worked on
    double scale_ = 1.0;
    double lamp_scale_ = 1.0;  // units of LampSums for an irradiance of 1
    std::vector<LampTriangle> lamp_triangles_;
    std::vector<std::uint32_t> lamp_firsts_;  // of each patch's triangles, and the end
    float half_weight_ = 1.0F;                // weight of the change since half of the directions
};

}  // namespace quadtile::baker
