#include "gathered_light.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <utility>

namespace quadtile::baker {

namespace {

// Shares of a texel's rays that see backs of surfaces. All: the texel is inside of something. Most:
// a part of it may be, or a sheet is nearby, whose share changes little from texel to texel.
constexpr float ALL_BACKS = 0.999F;
constexpr float MOST_BACKS = 0.5F;
constexpr float LITTLE_CHANGE = 0.4F;

// Coverage of texels that see too few rays, and of those that see enough.
constexpr float SLIVER_COVERAGE = 0.2F;
constexpr float WELL_COVERED = 0.5F;
constexpr float SAME_PLANE_COSINE = 0.9F;

double joined(const std::uint32_t* low_and_high) {
    return static_cast<double>(std::uint64_t{low_and_high[1]} << 32U | low_and_high[0]);
}

// Returns a value, or 0 of light that there is none of.
template <typename Value, typename Allocator>
Value value_at(const std::vector<Value, Allocator>& values, std::size_t i) {
    return values.empty() ? Value(0.0F) : values[i];
}

}  // namespace

Range GatheredLight::with_neighbours(const Range& texels) const {
    const CoveredTexels& all = scene_.texels;
    const std::size_t row = all.extent().width + std::size_t{1};
    const std::size_t first = all.texel(static_cast<std::uint32_t>(texels.first));
    const std::size_t end = all.texel(static_cast<std::uint32_t>(texels.end - 1)) + row + 1;
    return {first < row ? 0 : all.first_from(first - row),
            end < all.extent().texels() ? all.first_from(end) : all.count()};
}

// Irradiance is pi times the mean radiance of the fragments, which are denser the more the surface
// faces the rays: that is the cosine.
glm::vec3 GatheredLight::mean_of(const Accumulator& sums) const {
    const double weight = joined(sums.weight);
    if (!(weight > 0.0)) {
        return glm::vec3(0.0F);
    }
    glm::dvec3 mean(0.0);
    for (int colour = 0; colour < 3; ++colour) {
        mean[colour] = joined(sums.radiance + 2 * colour) / (weight * scale_);
    }
    return mean;
}

// Few directions see suns, so only a gathering decides which texels are known, if there is one.
bool GatheredLight::find_known(const PieceOfSums& sums, std::size_t texel) {
    // 1 also if no ray meets the texel.
    const auto backs_of = [&](std::size_t i) {
        const double weight = joined(sums[i].weight);
        return weight > 0.0 ? static_cast<float>(joined(sums[i].back) / weight) : 1.0F;
    };
    const float backs = backs_of(texel);
    bool is_inside = backs > ALL_BACKS;
    if (!is_inside && backs > MOST_BACKS) {
        scene_.texels.visit_neighbours(texel, [&](std::size_t neighbour) {
            is_inside = is_inside || backs_of(neighbour) < backs - LITTLE_CHANGE;
        });
    }
    const bool is_met = joined(sums[texel].weight) > 0.0;
    state_.known[texel] = is_met && !is_inside ? 1 : 0;
    return is_met && is_inside;
}

void GatheredLight::note_half() {
    state_.half.resize(state_.known.size());
    for_sums(
        [&](const PieceOfSums& sums, std::size_t i) { state_.half[i] = grey(mean_of(sums[i])); });
}

// The mean over the first m of n directions differs from the mean over all by an error of variance
// v / m - v / n, if v / n is the variance of the mean over all.
void GatheredLight::set_halves(std::uint32_t directions, std::uint32_t all) {
    half_weight_ = all > directions
                       ? static_cast<float>(std::sqrt(1.0 * directions / (all - directions)))
                       : std::numeric_limits<float>::quiet_NaN();
}

float GatheredLight::error_of(std::size_t texel, const glm::vec3& mean) const {
    return state_.half.empty() ? std::numeric_limits<float>::quiet_NaN()
                               : (grey(mean) - state_.half[texel]) * half_weight_;
}

void GatheredLight::set_irradiance(std::vector<glm::vec3>& irradiance, std::vector<float>& error) {
    begin_light(irradiance, error);
    std::vector<double> inside((scene_.texels.count() + TEXEL_BLOCK - 1) / TEXEL_BLOCK);
    for_sums([&](const PieceOfSums& sums, std::size_t texel) {
        if (find_known(sums, texel)) {  // few: threads share the cache lines of blocks
            inside[texel / TEXEL_BLOCK] += 1.0;
        }
        for_sides(texel, [&](std::size_t i) {
            const glm::vec3 mean = mean_of(sums[i]);
            irradiance[i] = std::numbers::pi_v<float> * mean;
            if (i == texel) {
                error[i] = std::numbers::pi_v<float> * error_of(i, mean);
            }
        });
    });
    state_.inside_texels = static_cast<std::uint64_t>(total(inside));
    forget_slivers();
}

void GatheredLight::begin(Pass::Kind kind) {
    if (kind == Pass::Kind::direct) {
        begin_light(state_.direct, state_.direct_error);
    } else if (kind == Pass::Kind::bounce) {
        begin_light(state_.indirect, state_.indirect_error);
    } else if (kind == Pass::Kind::sun || kind == Pass::Kind::light) {
        begin_light(state_.sources, state_.sources_error);
    }
}

// Begins with darkness if there is no such light yet.
void GatheredLight::begin_light(std::vector<glm::vec3>& irradiance,
                                std::vector<float>& error) const {
    irradiance.resize(scene_.sum_count(), glm::vec3(0.0F));
    error.resize(scene_.texels.places(), 0.0F);
}

void GatheredLight::finish_direct() {
    set_irradiance(state_.direct, state_.direct_error);
}

void GatheredLight::finish_bounce(bool keeps_sent) {
    if (keeps_sent) {
        state_.sent = std::move(state_.indirect);
        state_.sent.resize(scene_.sum_count(), glm::vec3(0.0F));  // at first there is none
    }
    set_irradiance(state_.indirect, state_.indirect_error);
}

void GatheredLight::finish_more(bool is_bounce) {
    std::vector<glm::vec3>& irradiance = is_bounce ? state_.indirect : state_.direct;
    std::vector<float>& error = is_bounce ? state_.indirect_error : state_.direct_error;
    for_sums([&](const PieceOfSums& sums, std::size_t texel) {
        for_sides(texel, [&](std::size_t i) {
            glm::vec3 change(0.0F);
            if (joined(sums[i].weight) > 0.0) {
                change = 0.5F * (std::numbers::pi_v<float> * mean_of(sums[i]) - irradiance[i]);
                irradiance[i] += change;
            }
            if (i == texel) {
                error[i] = grey(change);
            }
        });
    });
}

void GatheredLight::finish_sun(const Sun& sun) {
    begin_light(state_.sources, state_.sources_error);
    const glm::vec3 to_sun = -glm::normalize(sun.direction);
    for_sums([&](const PieceOfSums& sums, std::size_t texel) {
        for_sides(texel, [&](std::size_t i) {
            const bool is_front = i == texel;
            // Parts that face away count, too, if others do not: rays that meet them are among the
            // sums, without light.
            float cosine = 0.0F;
            float away = 0.0F;
            for_facets(texel, is_front ? 1.0F : -1.0F, [&](const glm::vec3& normal, float share) {
                const float of_part = share * glm::dot(normal, to_sun);
                (of_part > 0.0F ? cosine : away) += std::abs(of_part);
            });
            cosine += cosine > 0.0F ? away : 0.0F;
            const float factor = light_shares_ ? 1.0F : cosine;
            const glm::vec3 mean =
                factor > 0.0F ? share_of_light(sums, texel, i - texel).value_or(glm::vec3(0.0F))
                              : glm::vec3(0.0F);
            const glm::vec3 irradiance = mean * factor * sun.irradiance;
            state_.sources[i] += irradiance;
            if (!is_front) {
                return;
            }
            const bool is_met = joined(sums[i].weight) > 0.0;
            if (is_met) {
                state_.sources_error[i] += error_of(i, mean) * factor * grey(sun.irradiance);
            }
            // A texel that faces away from the sun may see no ray at all.
            state_.known[i] = is_met || !(cosine > 0.0F) ? 1 : state_.known[i];
            for (int axis = 0; directional_ && axis < 3; ++axis) {
                state_.moments[static_cast<std::size_t>(axis)][i] += irradiance * to_sun[axis];
            }
        });
    });
    forget_slivers();
}

// Returns the share for the rays that meet the texel's side, or those of its neighbours if there
// are none, because light along the surface meets few texels. None: its neighbours have none
// either.
std::optional<glm::vec3> GatheredLight::share_of_light(const PieceOfSums& sums, std::size_t texel,
                                                       std::size_t side) const {
    if (joined(sums[texel + side].weight) > 0.0) {
        const glm::vec3 share = mean_of(sums[texel + side]);
        return light_shares_ ? glm::vec3(greatest_of(share)) : share;  // masks have no colours
    }
    glm::vec3 sum(0.0F);
    float count = 0.0F;
    scene_.texels.visit_neighbours(texel, [&](std::size_t neighbour) {
        if (joined(sums[neighbour + side].weight) > 0.0 &&
            glm::dot(surface_.normal[texel], surface_.normal[neighbour]) > SAME_PLANE_COSINE) {
            sum += mean_of(sums[neighbour + side]);
            count += 1.0F;
        }
    });
    return count > 0.0F ? std::optional(sum / count) : std::nullopt;
}

void GatheredLight::finish_light(const PointLight& light) {
    begin_light(state_.sources, state_.sources_error);
    for_sums([&](const PieceOfSums& sums, std::size_t texel) {
        for_lit_sides(texel, [&](std::size_t i) {
            LightReceived open;
            for_facets(texel, i == texel ? 1.0F : -1.0F, [&](const glm::vec3& normal, float share) {
                const LightReceived part = received(light, surface_.patches[texel], normal);
                open.irradiance += double{share} * part.irradiance;
                open.direction += double{share} * part.direction;
            });
            if (light_shares_ && open.irradiance > 0.0) {
                open.irradiance = 1.0;
            }
            const std::optional<glm::vec3> share =
                open.irradiance > 0.0 ? share_of_light(sums, texel, i - texel) : glm::vec3(0.0F);
            const glm::vec3 light_here = light.intensity * share.value_or(glm::vec3(0.0F));
            state_.sources[i] +=
                glm::min(light_here * static_cast<float>(open.irradiance), BRIGHTEST);
            if (i != texel) {
                return;
            }
            if (joined(sums[i].weight) > 0.0 && !state_.half.empty()) {
                state_.sources_error[i] += error_of(i, *share) *
                                           static_cast<float>(open.irradiance) *
                                           grey(light.intensity);
            }
            state_.known[i] = share ? 1 : state_.known[i];
            for (int axis = 0; directional_ && axis < 3; ++axis) {
                state_.moments[static_cast<std::size_t>(axis)][i] += glm::clamp(
                    light_here * static_cast<float>(open.direction[axis]), -BRIGHTEST, BRIGHTEST);
            }
        });
    });
    forget_slivers();
}

// Keeps sums from overflowing: a polygon that fills the hemisphere gives pi times its radiance.
void GatheredLight::begin_lamps(const std::vector<LampPatch>& patches, bool is_more) {
    double most = 1e-20;
    lamp_triangles_.clear();
    lamp_firsts_ = {0};
    for (const LampPatch& patch : patches) {
        for (const LampPiece& piece : patch.pieces) {
            most += 4.0 * double{greatest_of(piece.radiance)};
            lamp_triangles_.push_back(lamp_triangle(piece));
        }
        lamp_firsts_.push_back(static_cast<std::uint32_t>(lamp_triangles_.size()));
    }
    lamp_scale_ = std::exp2(std::floor(std::log2(0x1p62 / most)));
    for (std::size_t i = 0; i < LAMP_NUMBERS.size(); ++i) {
        const std::size_t places = i < 2                      ? scene_.sum_count()
                                   : directional_ && !is_more ? scene_.texels.places()
                                                              : 0;
        state_.lamp_sums[i].resize(LAMP_NUMBERS[i] * places);
    }
    tracers_.front()->begin_lamps(surface_, lamp_triangles_, state_.lamp_sums);
}

void GatheredLight::add_lamp_point(const LampPatch& lamp, const LampPoint& point,
                                   bool is_first_half) {
    LampParameters parameters{.light_map_width = scene_.texels.extent().width,
                              .light_map_height = scene_.texels.extent().height,
                              .covered_texels = scene_.texels.count(),
                              .back_texels = static_cast<std::uint32_t>(scene_.back_texels()),
                              .is_first_half = is_first_half ? 1U : 0U,
                              .has_moments = state_.lamp_sums.back().empty() ? 0U : 1U,
                              .share_unit = static_cast<float>(1.0 / scale_),
                              .words = static_cast<float>(lamp_scale_ * 0x1p-32)};
    for (int axis = 0; axis < 3; ++axis) {
        parameters.low[axis] = static_cast<float>(lamp.box.low[axis]);
        parameters.high[axis] = static_cast<float>(lamp.box.high[axis]);
        parameters.point[axis] = static_cast<float>(point.position[axis]);
        parameters.normal[axis] = static_cast<float>(point.normal[axis]);
    }
    const std::uint32_t end = lamp_firsts_[point.patch + 1];
    for (std::uint32_t first = lamp_firsts_[point.patch]; first < end; first += LAMP_TRIANGLES) {
        parameters.first_triangle = first;
        parameters.end_triangle = std::min(end, first + LAMP_TRIANGLES);
        tracers_.front()->add_lamp(parameters);
    }
}

void GatheredLight::add_up_lamps(const Range& texels, std::uint32_t to) {
    for (std::size_t i = 0; i < LAMP_NUMBERS.size(); ++i) {
        const std::span<std::uint64_t> sums(state_.lamp_sums[i]);
        const std::size_t of_side = LAMP_NUMBERS[i] * scene_.texels.places();
        for (std::size_t side = 0; side < sums.size(); side += of_side) {
            ranks_.add_up(sums.subspan(side + LAMP_NUMBERS[i] * texels.first,
                                       LAMP_NUMBERS[i] * texels.size()),
                          to);
        }
    }
}

void GatheredLight::move_lamp_sums() {
    if (state_.lamp_sums[0].empty()) {
        return;
    }
    tracers_.front()->read_lamps();
    if (ranks_.count() > 1) {
        add_up_lamps({0, scene_.texels.count()}, 0);
        if (!ranks_.is_first()) {
            for (auto& sums : state_.lamp_sums) {
                std::ranges::fill(sums, 0);
            }
        }
        tracers_.front()->begin_lamps(surface_, lamp_triangles_, state_.lamp_sums);
    }
}

// Unknown light is taken as the rest. There are no moments of other light yet.
void GatheredLight::finish_lamps(bool is_more) {
    tracers_.front()->read_lamps();
    for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) {
        add_up_lamps(ranks_.part_of(rank, scene_.texels.count(), TEXEL_BLOCK), rank);
    }
    begin_light(state_.lamps, state_.lamps_error);
    const LampSums sums = std::exchange(state_.lamp_sums, {});
    const auto number = [&](std::size_t array, std::size_t i, std::size_t k) {
        const auto whole = static_cast<std::int64_t>(sums[array][LAMP_NUMBERS[array] * i + k]);
        return static_cast<double>(whole) / lamp_scale_;
    };
    const auto colour = [&](std::size_t array, std::size_t i) {
        return glm::vec3(number(array, i, 0), number(array, i, 1), number(array, i, 2));
    };
    const auto finish = [&](std::size_t i) {
        const double open = number(1, i, 0);
        const double met = number(1, i, 1);
        const double half = number(1, i, 2);
        const double half_met = number(1, i, 3);
        const glm::vec3 light = colour(0, i);
        const float scale = met > 0.0 ? static_cast<float>(open / met) : 0.0F;
        const glm::vec3 change = glm::min(scale * light, BRIGHTEST) - state_.lamps[i];
        state_.lamps[i] += is_more ? 0.5F * change : change;
        if (i >= state_.known.size()) {
            return;
        }
        const double rest_met = met - half_met;
        const double difference = half_met > 0.0 && rest_met > 0.0
                                      ? half / half_met - (grey(light) - half) / rest_met
                                      : 0.0;
        state_.lamps_error[i] =
            0.5F * (is_more ? grey(change) : static_cast<float>(open * difference));
        state_.known[i] = is_more ? state_.known[i] : met > 0.0 ? 1 : 0;
        for (std::size_t axis = 0; !sums[2].empty() && axis < 3; ++axis) {
            state_.moments[axis][i] = scale * colour(2 + axis, i);
        }
    };
    for_texels(own_, [&](std::size_t texel) {
        if (!surface_.keeps(texel)) {
            for_sides(texel, finish);
        }
    });
}

// Sums cannot be negative, so moment passes weigh radiance by (1 + cosine) / 2. Twice that, less
// the radiance itself, is radiance * cosine.
void GatheredLight::begin_moments() {
    if (!directional_) {
        return;
    }
    for_sums([&](const PieceOfSums& sums, std::size_t i) {
        for (std::vector<glm::vec3>& moment : state_.moments) {
            moment[i] -= std::numbers::pi_v<float> * mean_of(sums[i]);
        }
    });
}

void GatheredLight::finish_moment(std::uint32_t axis) {
    for_sums([&](const PieceOfSums& sums, std::size_t i) {
        state_.moments[axis][i] += std::numbers::pi_v<float> * 2.0F * mean_of(sums[i]);
    });
}

glm::vec3 GatheredLight::direct_at(std::size_t place) const {
    return value_at(state_.sources, place) + value_at(state_.lamps, place) +
           value_at(state_.direct, place);
}

float GatheredLight::read_outgoing(
    Emission emission, bool reflects,
    const std::function<void(std::size_t first, std::span<const glm::vec4>)>& take) const {
    const std::size_t texels = scene_.texels.count();
    const auto part = [&](std::uint32_t rank, std::size_t first, std::size_t size) {
        const Range all = ranks_.part_of(rank, texels, TEXEL_BLOCK);
        return Range{std::min(all.end, all.first + first),
                     std::min(all.end, all.first + first + size)};
    };
    const std::size_t most = texels / ranks_.count() + TEXEL_BLOCK;  // of a rank
    const std::size_t size = std::min(PIECE_TEXELS / ranks_.count() + 1, most);
    std::vector<glm::vec4> radiance(size * ranks_.count());
    float greatest = 0.0F;
    std::mutex mutex;
    for (std::size_t side = 0; side < scene_.sum_count(); side += scene_.texels.places()) {
        for (std::size_t first = 0; first < most; first += size) {
            const Range own = part(ranks_.number(), first, size);
            for_blocks(own, [&](const Range& block) {
                float of_block = 0.0F;
                for (std::size_t i = block.first; i < block.end; ++i) {
                    const glm::vec4 outgoing = outgoing_at(side + i, emission, reflects);
                    radiance[ranks_.number() * size + i - own.first] = outgoing;
                    of_block = std::max(of_block, greatest_of(glm::vec3(outgoing)));
                }
                const std::scoped_lock lock(mutex);
                greatest = std::max(greatest, of_block);
            });
            ranks_.gather(std::span(radiance), size, true);
            for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) {
                const Range piece = part(rank, first, size);
                if (piece.size() > 0) {
                    take(side + piece.first,
                         std::span(radiance).subspan(rank * size, piece.size()));
                }
            }
        }
        take(side + texels, std::array{glm::vec4(0.0F)});
    }
    return static_cast<float>(ranks_.greatest(greatest));
}

glm::vec4 GatheredLight::outgoing_at(std::size_t place, Emission emission, bool reflects) const {
    const std::size_t texel = place % scene_.texels.places();
    const bool has_two_sides = surface_.double_sided[texel] != 0;
    if (place != texel && !has_two_sides) {
        return glm::vec4(0.0F);
    }
    glm::vec3 radiance = emission == Emission::all ||
                                 (emission == Emission::without_lamps && !lamps_.is_of_lamp(texel))
                             ? value_at(surface_.emission, texel)
                             : glm::vec3(0.0F);
    if (reflects) {
        const glm::vec3 light =
            surface_.keeps(texel)
                ? surface_.kept_light[texel]
                : direct_at(place) +
                      value_at(state_.sent.empty() ? state_.indirect : state_.sent, place);
        radiance += surface_.albedo[texel] * light * std::numbers::inv_pi_v<float>;
    }
    const std::uint32_t bits =
        (has_two_sides ? TWO_SIDED : 0) |
        (surface_.smooth[texel] != 0 ? packed_normal(surface_.normal[texel]) : 0);
    return {radiance, std::bit_cast<float>(bits)};
}

template <typename T>
void GatheredLight::gather(std::vector<T>& values, bool to_all) const {
    for (std::size_t first = 0; first < values.size(); first += scene_.texels.places()) {
        ranks_.gather(std::span(values).subspan(first, scene_.texels.count()), TEXEL_BLOCK, to_all);
    }
}

void GatheredLight::gather() {
    BakeState::visit_light(state_, [&](auto& values) { gather(values, false); });
}

GatheredLight::Totals GatheredLight::totals(const auto& error_at) const {
    std::vector<Totals> blocks((scene_.texels.count() + TEXEL_BLOCK - 1) / TEXEL_BLOCK);
    for_blocks(own_, [&](const Range& block) {
        Totals sums;  // not in place: neighbours share a cache line
        for (std::size_t i = block.first; i < block.end; ++i) {
            if (state_.known[i] != 0) {
                const glm::vec3 irradiance = direct_at(i) + value_at(state_.indirect, i);
                const double error = error_at(i);
                sums.texels += 1.0;
                sums.light += (irradiance.r + irradiance.g + irradiance.b) / 3.0;
                sums.squares += error * error;
            }
        }
        blocks[block.first / TEXEL_BLOCK] = sums;
    });
    ranks_.gather(std::span(blocks), 1, true);
    Totals all;
    for (const Totals& block : blocks) {
        all.texels += block.texels;
        all.light += block.light;
        all.squares += block.squares;
    }
    return all;
}

GatheredLight::Means GatheredLight::means() const {
    const Totals all = totals([&](std::size_t i) { return error_at(i); });
    const double noise = all.noise();
    return {all.mean(), std::isfinite(noise) ? std::optional(noise) : std::nullopt};
}

float GatheredLight::error_at(std::size_t texel) const {
    return value_at(state_.direct_error, texel) +
           (value_at(state_.indirect_error, texel) + value_at(state_.sources_error, texel) +
            value_at(state_.lamps_error, texel));
}

double GatheredLight::noise_of(const std::vector<float>& error) const {
    return error.empty() ? 0.0 : totals([&](std::size_t i) { return error[i]; }).noise();
}

// Few rays meet a texel that charts hardly cover, and their light is noise. A neighbour in the same
// plane is more exact; it fills the texel when the map is dilated.
void GatheredLight::forget_slivers() {
    gather(state_.known, true);
    const std::vector<std::uint8_t> all_known = state_.known;
    const auto knows_better = [&](std::size_t texel, std::size_t neighbour) {
        return all_known[neighbour] != 0 && surface_.coverage[neighbour] >= WELL_COVERED &&
               glm::dot(surface_.normal[texel], surface_.normal[neighbour]) > SAME_PLANE_COSINE;
    };
    for_texels(own_, [&](std::size_t i) {
        if (surface_.coverage[i] >= SLIVER_COVERAGE) {
            return;
        }
        scene_.texels.visit_neighbours(i, [&](std::size_t neighbour) {
            if (knows_better(i, neighbour)) {
                state_.known[i] = 0;
            }
        });
    });
}

std::pair<LightMap, std::vector<float>> GatheredLight::make_map(bool is_whole) {
    state_.indirect.resize(scene_.texels.places(), glm::vec3(0.0F));
    state_.indirect_error.resize(scene_.texels.places(), 0.0F);
    for_texels(own_, [&](std::size_t i) {
        state_.indirect[i] = direct_at(i) + state_.indirect[i];
        state_.indirect_error[i] = error_at(i);
    });
    state_.sources = {};
    state_.lamps = {};
    state_.direct = {};
    gather(state_.known, false);
    gather(state_.indirect, false);
    gather(state_.indirect_error, false);
    for (std::vector<glm::vec3>& moment : state_.moments) {
        gather(moment, false);
    }
    if (!ranks_.is_first()) {
        return {};
    }
    // Frees the values of covered texels.
    const auto by_texel = [&]<typename Value>(std::vector<Value>& of_covered) {
        std::vector<Value> values(scene_.texels.extent().texels());
        for_texels({0, values.size()},
                   [&](std::size_t i) { values[i] = of_covered[scene_.texels[i]]; });
        of_covered = {};
        return values;
    };
    LightMap map;
    map.extent = scene_.texels.extent();
    std::vector<float> error;
    // New memory takes most of the time, by one thread each.
    parallel_for(3, 0, [&](std::size_t i) {
        if (i == 0) {
            map.irradiance = by_texel(state_.indirect);
        } else if (i == 1) {
            error = by_texel(state_.indirect_error);
        } else {
            map.known = by_texel(state_.known);
        }
    });
    if (directional_ && is_whole) {
        // Y00 and Y1m (real spherical harmonics) of light from (x, y, z).
        constexpr float Y0 = 0.282094792F;
        constexpr float Y1 = 0.488602512F;
        map.radiance_sh[0] = map.irradiance;
        map.radiance_sh[1] = by_texel(state_.moments[1]);
        map.radiance_sh[2] = by_texel(state_.moments[2]);
        map.radiance_sh[3] = by_texel(state_.moments[0]);
        for (std::size_t band = 0; band < 4; ++band) {
            std::vector<glm::vec3>& values = map.radiance_sh[band];
            const float factor = band == 0 ? Y0 : Y1;
            for_texels({0, values.size()}, [&](std::size_t i) { values[i] *= factor; });
        }
    }
    return {std::move(map), std::move(error)};
}

}  // namespace quadtile::baker
