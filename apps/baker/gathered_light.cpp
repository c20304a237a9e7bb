#include "gathered_light.hpp"

#include "point_light.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace quadtile::baker {

namespace {

// Of a texel's rays, those that see the backs of surfaces. All: it is inside of something. Most:
// a part of it may be; or there is a sheet nearby, whose share changes little from texel to texel.
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

}  // namespace

// Irradiance is pi times the mean of the radiance over the fragments, which lie denser the more
// the surface faces the rays: that is the cosine.
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

// Suns are seen by few directions: only what a gathering finds of texels counts, if there is
// one.
void GatheredLight::find_known(const std::vector<Accumulator>& sums) {
    const std::size_t texels = state_.known.size();
    std::vector<float> backs(texels, 1.0F);  // 1: no ray meets the texel, too
    for_texels(texels, [&](std::size_t i) {
        const double weight = joined(sums[i].weight);
        if (weight > 0.0) {
            backs[i] = static_cast<float>(joined(sums[i].back) / weight);
        }
    });
    std::atomic<std::uint64_t> inside_texels = 0;
    for_texels(texels, [&](std::size_t i) {
        bool is_inside = backs[i] > ALL_BACKS;
        if (!is_inside && backs[i] > MOST_BACKS) {
            visit_neighbours(scene_.light_map, i, [&](std::size_t neighbour) {
                is_inside = is_inside || backs[neighbour] < backs[i] - LITTLE_CHANGE;
            });
        }
        // Rays at a chart's edge are rounded beyond it, too.
        const bool is_met = joined(sums[i].weight) > 0.0 && surface_.coverage[i] > 0.0F;
        inside_texels += is_met && is_inside ? 1 : 0;
        state_.known[i] = is_met && !is_inside ? 1 : 0;
    });
    state_.inside_texels = inside_texels;
    forget_slivers();
}

void GatheredLight::note_half(const std::vector<Accumulator>& sums) {
    state_.half.resize(state_.known.size());
    for_texels(state_.half.size(), [&](std::size_t i) { state_.half[i] = grey(mean_of(sums[i])); });
}

// Of n directions, the mean over the first m differs from that over all by an error of variance
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

void GatheredLight::add_irradiance(const std::vector<Accumulator>& sums,
                                   std::vector<glm::vec3>& irradiance,
                                   std::vector<float>& error) const {
    for_texels(sums.size(), [&](std::size_t i) {
        const glm::vec3 mean = mean_of(sums[i]);
        irradiance[i] += std::numbers::pi_v<float> * mean;
        if (i < error.size()) {
            error[i] += std::numbers::pi_v<float> * error_of(i, mean);
        }
    });
}

void GatheredLight::finish_direct(const std::vector<Accumulator>& sums) {
    add_irradiance(sums, state_.direct, state_.direct_error);
}

void GatheredLight::finish_bounce(const std::vector<Accumulator>& sums) {
    state_.indirect.assign(sums.size(), glm::vec3(0.0F));
    state_.indirect_error.assign(state_.known.size(), 0.0F);
    add_irradiance(sums, state_.indirect, state_.indirect_error);
}

void GatheredLight::finish_more(const std::vector<Accumulator>& sums, bool is_bounce) {
    std::vector<glm::vec3>& irradiance = is_bounce ? state_.indirect : state_.direct;
    std::vector<float>& error = is_bounce ? state_.indirect_error : state_.direct_error;
    for_texels(sums.size(), [&](std::size_t i) {
        glm::vec3 change(0.0F);
        if (joined(sums[i].weight) > 0.0) {
            change = 0.5F * (std::numbers::pi_v<float> * mean_of(sums[i]) - irradiance[i]);
            irradiance[i] += change;
        }
        if (i < error.size()) {
            error[i] = grey(change);
        }
    });
}

void GatheredLight::finish_sun(const Sun& sun, const std::vector<Accumulator>& sums) {
    const glm::vec3 to_sun = -glm::normalize(sun.direction);
    const std::size_t texels = state_.known.size();
    for_texels(sums.size(), [&](std::size_t i) {
        const bool is_front = i < texels;
        const glm::vec3 normal = is_front ? surface_.normal[i] : -surface_.normal[i - texels];
        const float cosine = std::max(glm::dot(normal, to_sun), 0.0F);
        const float factor = sun_shares_ ? 1.0F : cosine;
        const std::size_t side = is_front ? 0 : texels;
        const glm::vec3 mean(factor > 0.0F ? share_of_light(sums, i - side, side).value_or(0.0F)
                                           : 0.0F);
        const glm::vec3 irradiance = mean * factor * sun.irradiance;
        state_.sources[i] += irradiance;
        if (!is_front) {
            return;
        }
        if (joined(sums[i].weight) > 0.0) {
            state_.sources_error[i] += error_of(i, mean) * factor * grey(sun.irradiance);
        }
        // What does not face the sun may see no ray at all.
        const bool is_dark = surface_.coverage[i] > 0.0F && !(cosine > 0.0F);
        state_.known[i] = is_dark || joined(sums[i].weight) > 0.0 ? 1 : state_.known[i];
        for (int axis = 0; directional_ && axis < 3; ++axis) {
            state_.moments[static_cast<std::size_t>(axis)][i] += irradiance * to_sun[axis];
        }
    });
    forget_slivers();
}

// Of the rays that meet the texel's side, or those of its neighbours where there are none: light
// that comes along the surface meets few texels. None: they have none, too.
std::optional<float> GatheredLight::share_of_light(const std::vector<Accumulator>& sums,
                                                   std::size_t texel, std::size_t side) const {
    if (joined(sums[texel + side].weight) > 0.0) {
        return mean_of(sums[texel + side]).x;
    }
    float sum = 0.0F;
    float count = 0.0F;
    visit_neighbours(scene_.light_map, texel, [&](std::size_t neighbour) {
        if (joined(sums[neighbour + side].weight) > 0.0 &&
            glm::dot(surface_.normal[texel], surface_.normal[neighbour]) > SAME_PLANE_COSINE) {
            sum += mean_of(sums[neighbour + side]).x;
            count += 1.0F;
        }
    });
    return count > 0.0F ? std::optional(sum / count) : std::nullopt;
}

bool GatheredLight::is_lit_side(std::size_t place) const {
    const std::size_t texel = place % state_.known.size();
    return surface_.coverage[texel] > 0.0F && (place == texel || surface_.double_sided[texel] != 0);
}

void GatheredLight::finish_light(const PointLight& light, const std::vector<Accumulator>& sums) {
    const std::size_t texels = state_.known.size();
    for_texels(sums.size(), [&](std::size_t i) {
        if (!is_lit_side(i)) {
            return;
        }
        const std::size_t texel = i % texels;
        const bool is_front = i == texel;
        const glm::vec3 normal = is_front ? surface_.normal[texel] : -surface_.normal[texel];
        const LightReceived open = received(light, surface_.patches[texel], normal);
        const std::optional<float> share =
            open.irradiance > 0.0 ? share_of_light(sums, texel, i - texel) : 0.0F;
        const glm::vec3 light_here = light.intensity * share.value_or(0.0F);
        state_.sources[i] += glm::min(light_here * static_cast<float>(open.irradiance), BRIGHTEST);
        if (!is_front) {
            return;
        }
        if (joined(sums[i].weight) > 0.0) {
            state_.sources_error[i] += error_of(i, glm::vec3(*share)) *
                                       static_cast<float>(open.irradiance) * grey(light.intensity);
        }
        state_.known[i] = share ? 1 : state_.known[i];
        for (int axis = 0; directional_ && axis < 3; ++axis) {
            state_.moments[static_cast<std::size_t>(axis)][i] += glm::clamp(
                light_here * static_cast<float>(open.direction[axis]), -BRIGHTEST, BRIGHTEST);
        }
    });
    forget_slivers();
}

void GatheredLight::add_lamp_point(const LampPatch& lamp, const LampPoint& point,
                                   bool is_first_half, bool is_more,
                                   const std::vector<Accumulator>& sums) {
    const std::size_t texels = state_.known.size();
    const glm::dvec3 middle = 0.5 * (lamp.box.low + lamp.box.high);
    state_.lamp_sums.resize(sums.size());
    for_texels(sums.size(), [&](std::size_t i) {
        if (!is_lit_side(i)) {
            return;
        }
        const std::size_t texel = i % texels;
        const bool is_front = i == texel;
        const Patch& patch = surface_.patches[texel];
        const glm::vec3 normal = is_front ? surface_.normal[texel] : -surface_.normal[texel];
        const glm::vec3 open =
            glm::min(received(lamp, patch, normal), BRIGHTEST) / float{POINTS_A_PATCH};
        if (!(greatest_of(open) > 0.0F)) {
            return;
        }
        LampLight& light = state_.lamp_sums[i];
        light.open += grey(open);
        const glm::dvec3 from_point = glm::dvec3(patch.centre) - point.position;
        // Behind the point it is not known which of the patch's other pieces the texel sees.
        const std::optional<float> share = glm::dot(from_point, point.normal) > 0.0
                                               ? share_of_light(sums, texel, i - texel)
                                               : std::nullopt;
        if (!share) {
            return;
        }
        const glm::vec3 irradiance = *share * open;
        light.met += grey(open);
        light.irradiance += irradiance;
        light.half += is_first_half ? grey(irradiance) : 0.0F;
        light.half_met += is_first_half ? grey(open) : 0.0F;
        const glm::vec3 to_lamp(glm::normalize(middle - glm::dvec3(patch.centre)));
        for (int axis = 0; directional_ && is_front && !is_more && axis < 3; ++axis) {
            state_.moments[static_cast<std::size_t>(axis)][i] += irradiance * to_lamp[axis];
        }
    });
}

// Light that is not known is as the rest. There are no moments of other light yet.
void GatheredLight::finish_lamps(bool is_more) {
    const std::vector<LampLight> sums = std::exchange(state_.lamp_sums, {});
    for_texels(sums.size(), [&](std::size_t i) {
        const LampLight& sum = sums[i];
        const float scale = sum.met > 0.0F ? sum.open / sum.met : 0.0F;
        const glm::vec3 change = scale * sum.irradiance - state_.lamps[i];
        state_.lamps[i] += is_more ? 0.5F * change : change;
        if (i >= state_.known.size()) {
            return;
        }
        const float rest_met = sum.met - sum.half_met;
        const float difference =
            sum.half_met > 0.0F && rest_met > 0.0F
                ? sum.half / sum.half_met - (grey(sum.irradiance) - sum.half) / rest_met
                : 0.0F;
        state_.lamps_error[i] = 0.5F * (is_more ? grey(change) : sum.open * difference);
        if (!is_more) {
            state_.known[i] = sum.met > 0.0F ? 1 : 0;
            for (std::vector<glm::vec3>& moment : state_.moments) {
                if (directional_) {
                    moment[i] *= scale;
                }
            }
        }
    });
}

// Sums cannot be negative, so moment passes weigh radiance by (1 + cosine) / 2. Twice that,
// less the radiance itself, is radiance * cosine.
void GatheredLight::begin_moments(const std::vector<Accumulator>& sums) {
    for_texels(directional_ ? state_.known.size() : 0, [&](std::size_t i) {
        for (std::vector<glm::vec3>& moment : state_.moments) {
            moment[i] -= std::numbers::pi_v<float> * mean_of(sums[i]);
        }
    });
}

void GatheredLight::finish_moment(std::uint32_t axis, const std::vector<Accumulator>& sums) {
    for_texels(state_.known.size(), [&](std::size_t i) {
        state_.moments[axis][i] += std::numbers::pi_v<float> * 2.0F * mean_of(sums[i]);
    });
}

glm::vec3 GatheredLight::direct_at(std::size_t place) const {
    const glm::vec3 of_sources = state_.sources.empty() ? glm::vec3(0.0F) : state_.sources[place];
    const glm::vec3 of_lamps = state_.lamps.empty() ? glm::vec3(0.0F) : state_.lamps[place];
    return of_sources + of_lamps + state_.direct[place];
}

double GatheredLight::known_texels() const {
    return sum_over_texels(state_.known.size(), [&](std::size_t i) { return state_.known[i]; });
}

void GatheredLight::read_outgoing(Emission emission, bool reflects,
                                  std::vector<glm::vec4>& outgoing) const {
    outgoing.resize(scene_.sum_count());
    for_texels(outgoing.size(), [&](std::size_t i) {
        const std::size_t texel = i % scene_.light_map.texels();
        const bool has_two_sides = surface_.double_sided[texel] != 0;
        if (i != texel && !has_two_sides) {
            return;
        }
        glm::vec3 radiance = emission == Emission::all || (emission == Emission::without_lamps &&
                                                           !lamps_.is_of_lamp(texel))
                                 ? surface_.emission[texel]
                                 : glm::vec3(0.0F);
        if (reflects) {
            radiance += surface_.albedo[texel] * (direct_at(i) + state_.sent[i]) *
                        std::numbers::inv_pi_v<float>;
        }
        const std::uint32_t bits =
            (has_two_sides ? TWO_SIDED : 0) |
            (surface_.smooth[texel] != 0 ? packed_normal(surface_.normal[texel]) : 0);
        outgoing[i] = glm::vec4(radiance, std::bit_cast<float>(bits));
    });
}

double GatheredLight::mean_irradiance() const {
    const double known = known_texels();
    const double total = sum_over_texels(state_.known.size(), [&](std::size_t i) {
        const glm::vec3 irradiance = direct_at(i) + state_.indirect[i];
        return state_.known[i] != 0 ? (irradiance.r + irradiance.g + irradiance.b) / 3.0 : 0.0;
    });
    return known > 0.0 ? total / known : 0.0;
}

std::vector<float> GatheredLight::error() const {
    std::vector<float> error = state_.direct_error;
    for_texels(error.size(), [&](std::size_t i) {
        error[i] += state_.indirect_error[i] +
                    (state_.sources.empty() ? 0.0F : state_.sources_error[i]) +
                    (state_.lamps.empty() ? 0.0F : state_.lamps_error[i]);
    });
    return error;
}

std::optional<double> GatheredLight::noise() const {
    const double noise = noise_of(error());
    return std::isfinite(noise) ? std::optional(noise) : std::nullopt;
}

double GatheredLight::noise_of(const std::vector<float>& error) const {
    const double squares = sum_over_texels(error.size(), [&](std::size_t i) {
        return state_.known[i] != 0 ? double{error[i]} * error[i] : 0.0;
    });
    return error.empty() ? 0.0 : std::sqrt(squares / known_texels()) / mean_irradiance();
}

// Few rays meet a texel of which charts cover little, and what these found is noise. A
// neighbour in the same plane knows better; it fills the texel when the map is dilated.
void GatheredLight::forget_slivers() {
    const std::vector<std::uint8_t> all_known = state_.known;
    const auto knows_better = [&](std::size_t texel, std::size_t neighbour) {
        return all_known[neighbour] != 0 && surface_.coverage[neighbour] >= WELL_COVERED &&
               glm::dot(surface_.normal[texel], surface_.normal[neighbour]) > SAME_PLANE_COSINE;
    };
    for_texels(state_.known.size(), [&](std::size_t i) {
        if (surface_.coverage[i] >= SLIVER_COVERAGE) {
            return;
        }
        visit_neighbours(scene_.light_map, i, [&](std::size_t neighbour) {
            if (knows_better(i, neighbour)) {
                state_.known[i] = 0;
            }
        });
    });
}

LightMap GatheredLight::make_map(bool is_whole) {
    LightMap map;
    map.extent = scene_.light_map;
    map.irradiance.resize(state_.known.size());
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        map.irradiance[i] = direct_at(i) + state_.indirect[i];
    }
    map.known = std::move(state_.known);
    if (directional_ && is_whole) {
        // Y00 and Y1m (real spherical harmonics) of light that comes from (x, y, z).
        constexpr float Y0 = 0.282094792F;
        constexpr float Y1 = 0.488602512F;
        map.radiance_sh[0] = map.irradiance;
        map.radiance_sh[1] = std::move(state_.moments[1]);
        map.radiance_sh[2] = std::move(state_.moments[2]);
        map.radiance_sh[3] = std::move(state_.moments[0]);
        for (std::size_t band = 0; band < 4; ++band) {
            for (glm::vec3& coefficient : map.radiance_sh[band]) {
                coefficient *= band == 0 ? Y0 : Y1;
            }
        }
    }
    return map;
}

}  // namespace quadtile::baker
