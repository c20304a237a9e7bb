#include "memory.hpp"

#include "bake_state.hpp"
#include "gathered_light.hpp"
#include "lamps.hpp"
#include "surface_map.hpp"

#include "arguments.hpp"
#include "platform.hpp"
#include "process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t SMALL_SIDE = 512;
constexpr double OF_PROGRAM = 40e6;

}  // namespace

BakeNeeds needs_of(const Scene& scene, const Extent& extent, const BakeOptions& options,
                   std::optional<std::uint64_t> tracer_bytes, std::uint32_t threads) {
    const double ratio =
        std::max(1.0, static_cast<double>(std::max(extent.width, extent.height)) / SMALL_SIDE);
    const auto small = [&](std::uint32_t side) {
        return std::max(1U, static_cast<std::uint32_t>(side / ratio));
    };
    const SurfaceMap map =
        make_surface_map(scene, {small(extent.width), small(extent.height)}, threads);
    const auto texels = static_cast<double>(extent.texels());
    const double least = std::accumulate(map.coverage.begin(), map.coverage.end(), 0.0) * texels /
                         static_cast<double>(map.texels.extent().texels());
    const auto at_borders = static_cast<double>(
        std::ranges::count_if(map.coverage, [](float share) { return share < 1.0F; }));
    const double covered = std::min(texels, least + at_borders * ratio);

    constexpr double COLOUR = sizeof(glm::vec3);
    const bool has_lights = !scene.point_lights.empty();
    const bool has_lamps =
        !find_lamps(scene, map, options.lamp_points, options.direct_directions).patches.empty();
    const double sides = std::ranges::any_of(scene.materials, &Material::double_sided) ? 2.0 : 1.0;
    const double directional = options.directional ? 1.0 : 0.0;

    // Coverage, albedo, normal, two flags and a triangle; emission; a patch.
    const double of_surface = 10.0 + 2.0 * COLOUR + (map.emission.empty() ? 0.0 : COLOUR) +
                              (map.patches.empty() ? 0.0 : sizeof(Patch));
    const double of_tracer = tracer_bytes ? sizeof(glm::vec4) + sizeof(Accumulator) : 0.0;
    // Kinds of light, with errors: direct, of other surfaces, of sources, of lamps.
    const double kinds = 1.0 + (options.bounces > 0 ? 1.0 : 0.0) +
                         (has_lights || !scene.suns.empty() ? 1.0 : 0.0) + (has_lamps ? 1.0 : 0.0);
    const double sent = options.directional || options.noise > 0.0 ? COLOUR : 0.0;
    const double of_light =
        sides * (kinds * COLOUR + sent) + kinds * sizeof(float) + sizeof(float) + 1.0;
    // The sums have a copy on the tracer's device, beside patches and normals.
    const double of_lamp_sums = sizeof(std::uint64_t) * (7.0 * sides + 9.0 * directional);
    const double of_lamps = has_lamps
                                ? of_lamp_sums + sides * COLOUR + sizeof(float) + 1.0 +
                                      (tracer_bytes ? of_lamp_sums + sizeof(Patch) + COLOUR : 0.0)
                                : 0.0;
    const double tracing =
        covered * (of_surface + sides * of_tracer + directional * 3.0 * COLOUR +
                   (options.noise > 0.0 ? of_light + of_lamps : std::max(of_light, of_lamps))) +
        static_cast<double>(tracer_bytes.value_or(0));

    const double of_map = COLOUR + 1.0 + directional * 4.0 * COLOUR;
    // Errors, the planes before and after each pass of the denoiser, variances and neighbours.
    const double denoising = texels * (2.0 * of_map + 12.0) + covered * (10.0 + COLOUR);
    // The planes, in another quantity and as half floats, and known texels as floats.
    const double writing = texels * (2.5 * of_map + sizeof(float));
    const double pieces = std::min<double>(PIECE_TEXELS, covered) *
                          (2.0 * sides * sizeof(Accumulator) + sizeof(glm::vec4));
    return {least, OF_PROGRAM + pieces + std::max({tracing, denoising, writing})};
}

std::string check_memory(double bytes, const Extent& extent) {
    const auto available = static_cast<double>(app::platform::available_memory());
    const auto gigabytes = [](double size) {
        return app::text_of(std::round(static_cast<float>(size / 1e8)) / 10.0F) + " GB of memory";
    };
    if (available > 0 && bytes > available) {
        throw std::runtime_error("a lightmap of " + std::to_string(extent.width) + " x " +
                                 std::to_string(extent.height) + " texels needs about " +
                                 gigabytes(bytes) + ", but only " + gigabytes(available) +
                                 " are free; make it smaller with --size or --texels-per-unit");
    }
    return bytes > available / 4 ? "needs about " + gigabytes(bytes) : "";
}

}  // namespace quadtile::baker
