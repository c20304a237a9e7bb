#include "reference_lamps.hpp"

#include "shaders/lamps.h"

#include <bit>
#include <cstdint>

namespace quadtile::baker {

// None: no ray meets the texel or its neighbours.
std::optional<glm::vec3> ReferenceLamps::share_at(float unit, std::size_t texel, std::size_t side,
                                                  const SumsAt& sums_at) const {
    const auto own_share = [&](std::size_t at) {
        const Accumulator sums = sums_at(at + side);
        return (sums.weight[0] | sums.weight[1]) != 0 ? std::optional(lamps::share_of(sums, unit))
                                                      : std::nullopt;
    };
    if (const std::optional<glm::vec3> own = own_share(texel)) {
        return own;
    }
    glm::vec3 sum(0.0F);
    float count = 0.0F;
    scene_.texels.visit_neighbours(texel, [&](std::size_t neighbour) {
        const std::optional<glm::vec3> share = own_share(neighbour);
        if (share && lamps::product(surface_.normal[texel], surface_.normal[neighbour]) >
                         lamps::SAME_PLANE_COSINE) {
            sum += *share;
            count += 1.0F;
        }
    });
    const float root = lamps::inverse_root(count);
    return count > 0.0F ? std::optional(sum * (root * root)) : std::nullopt;
}

void ReferenceLamps::receive(const LampParameters& parameters, std::size_t texel, std::size_t side,
                             const SumsAt& sums_at) const {
    const auto& [centre, across, down] = surface_.patches[texel];
    if (across == glm::vec3(0.0F) && down == glm::vec3(0.0F)) {
        return;
    }
    const glm::vec3 normal = side == 0 ? surface_.normal[texel] : -surface_.normal[texel];
    const float points = lamps::points_of(parameters, centre, across, down);
    glm::vec3 of_points(0.0F);
    for (std::uint32_t i = parameters.first_triangle; i < parameters.end_triangle; ++i) {
        float light = 0.0F;
        for (float y = 0.0F; y < points; ++y) {
            for (float x = 0.0F; x < points; ++x) {
                const glm::vec3 place = lamps::place_of(x, y, points, across, down);
                light += lamps::triangle_light(triangles_[i], centre, place, normal);
            }
        }
        of_points += light * lamps::vector_of(triangles_[i].radiance);
    }
    const glm::vec3 open = lamps::mean_over(of_points, points);
    if (!(greatest_of(open) > 0.0F)) {
        return;
    }
    const auto add = [&](std::size_t array, std::size_t i, float value) {
        std::uint64_t& sum = sums_[array][LAMP_NUMBERS[array] * (texel + side) + i];
        sum = std::bit_cast<std::uint64_t>(lamps::added(std::bit_cast<glm::uvec2>(sum), value));
    };
    const float open_words = lamps::grey_of(open) * parameters.words;
    add(1, 0, open_words);
    const std::optional<glm::vec3> share =
        lamps::faces(parameters, centre) ? share_at(parameters.share_unit, texel, side, sums_at)
                                         : std::nullopt;
    if (!share) {
        return;
    }
    const glm::vec3 words = *share * open * parameters.words;
    add(1, 1, open_words);
    if (parameters.is_first_half != 0) {
        add(1, 2, lamps::grey_of(words));
        add(1, 3, open_words);
    }
    const glm::vec3 direction = lamps::direction_to(parameters, centre);
    const std::size_t axes = parameters.has_moments != 0 && side == 0 ? 3 : 0;
    for (int colour = 0; colour < 3; ++colour) {
        const auto i = static_cast<std::size_t>(colour);
        add(0, i, words[colour]);
        for (std::size_t axis = 0; axis < axes; ++axis) {
            add(2 + axis, i, words[colour] * direction[static_cast<int>(axis)]);
        }
    }
}

void ReferenceLamps::add(const LampParameters& parameters, std::size_t texel, bool has_two_sides,
                         const SumsAt& sums_at) const {
    receive(parameters, texel, 0, sums_at);
    if (has_two_sides && scene_.back_texels() > 0) {
        receive(parameters, texel, scene_.back_texels(), sums_at);
    }
}

}  // namespace quadtile::baker
