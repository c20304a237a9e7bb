#include "baker_truth.hpp"

#include "path_tracer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

namespace quadtile::baker {

namespace {

constexpr float LEAST_COVERAGE = 0.5F;
constexpr float MOST_BACKS = 0.01F;

// Two runs with half of the samples each. Their difference tells the error of their mean.
struct Halves {
    std::array<std::vector<glm::vec3>, 2> irradiance;
    std::vector<float> back_share;
    std::vector<std::uint32_t> samples;
};

// Returns what texels send that have received light.
UnsetVector<glm::vec3> sent_light(const SurfaceMap& surface, const test::PathTracedMap& map) {
    UnsetVector<glm::vec3> sent = surface.emission;
    sent.resize(surface.texels.places(), glm::vec3(0.0F));
    for (std::size_t i = 0; i < surface.texels.count() && !map.irradiance.empty(); ++i) {
        sent[i] += surface.albedo[i] * map.irradiance[surface.texels.texel(i)] *
                   std::numbers::inv_pi_v<float>;
    }
    return sent;
}

Halves trace_halves(const Scene& scene, const SurfaceMap& surface, const TruthOptions& options) {
    Halves halves;
    const bool has_backs = std::ranges::any_of(surface.double_sided, std::identity());
    for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t gatherings = options.is_of_texels ? options.bounces + 1 : 1;
        test::PathTracedMap map;
        test::PathTracedMap backs;
        for (std::uint32_t gathering = 0; gathering < gatherings; ++gathering) {
            SurfaceMap lit = surface;
            lit.emission = sent_light(surface, map);
            const UnsetVector<glm::vec3> of_backs = sent_light(surface, backs);
            test::PathTracerOptions paths{
                .samples_per_texel = std::max(options.samples_per_texel / 2, 1U),
                .bounces = options.is_of_texels ? 0 : options.bounces,
                .sky = options.sky,
                .seed = 1001 + 2 * gathering + i,
                .back_emission = of_backs};
            map = test::trace_paths(scene, lit, paths);
            paths.is_of_backs = true;
            if (has_backs && gathering + 1 < gatherings) {
                backs = test::trace_paths(scene, lit, paths);
            }
        }
        halves.irradiance[i] = std::move(map.irradiance);
        halves.samples = std::move(map.samples);
        halves.back_share = std::move(map.back_share);
    }
    return halves;
}

}  // namespace

Truth find_truth(const Scene& scene, const SurfaceMap& surface, const TruthOptions& options) {
    const std::size_t texels = surface.texels.extent().texels();
    const Halves halves = trace_halves(scene, surface, options);
    Truth truth{.irradiance = std::vector<glm::vec3>(texels),
                .is_used = std::vector<std::uint8_t>(texels)};
    double squares = 0.0;
    for (std::size_t i = 0; i < texels; ++i) {
        const glm::vec3& first = halves.irradiance[0][i];
        const glm::vec3& second = halves.irradiance[1][i];
        truth.irradiance[i] = 0.5F * (first + second);
        const bool is_used = surface.coverage[surface.texels[i]] >= LEAST_COVERAGE &&
                             halves.samples[i] > 0 && halves.back_share[i] < MOST_BACKS;
        truth.is_used[i] = is_used ? 1 : 0;
        if (is_used) {
            ++truth.used_texels;
            const glm::dvec3 both(truth.irradiance[i]);
            const glm::dvec3 apart(first - second);
            truth.mean += (both.x + both.y + both.z) / 3.0;
            squares += (apart.x * apart.x + apart.y * apart.y + apart.z * apart.z) / 3.0;
        }
    }
    if (truth.used_texels == 0) {
        throw std::runtime_error("there is no texel to compare");
    }
    truth.mean /= static_cast<double>(truth.used_texels);
    truth.error = 0.5 * std::sqrt(squares / static_cast<double>(truth.used_texels));
    return truth;
}

Difference compare(std::span<const glm::vec3> irradiance, std::span<const std::uint8_t> known,
                   const Truth& truth) {
    Difference difference;
    double squares = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < irradiance.size(); ++i) {
        if (truth.is_used[i] == 0 || known[i] == 0) {
            continue;
        }
        const glm::dvec3 apart(irradiance[i] - truth.irradiance[i]);
        squares += (apart.x * apart.x + apart.y * apart.y + apart.z * apart.z) / 3.0;
        sum += (apart.x + apart.y + apart.z) / 3.0;
        ++difference.texels;
    }
    if (difference.texels == 0) {
        return difference;
    }
    const auto count = static_cast<double>(difference.texels);
    difference.bias = sum / count;
    difference.rmse = std::sqrt(squares / count);
    difference.error = std::sqrt(std::max(squares / count - truth.error * truth.error, 0.0));
    difference.is_noise = difference.rmse < 2.0 * truth.error;
    return difference;
}

}  // namespace quadtile::baker
