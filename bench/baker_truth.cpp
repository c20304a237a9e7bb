#include "baker_truth.hpp"

#include "checkpoint.hpp"
#include "output_file.hpp"
#include "path_tracer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadtile::baker {

namespace {

constexpr float LEAST_COVERAGE = 0.5F;
constexpr float MOST_BACKS = 0.01F;
constexpr std::uint64_t MAGIC = 0x3168747572747471U;  // "qttruth1"

// Two runs with half of the samples each. Their difference tells the error of their mean.
struct Halves {
    std::array<std::vector<glm::vec3>, 2> irradiance;
    std::vector<float> back_share;
    std::vector<std::uint32_t> samples;
    double seconds = 0.0;
    std::uint64_t rays = 0;
};

std::uint64_t fingerprint_of(const Scene& scene, const SurfaceMap& surface,
                             const TruthOptions& options) {
    Fingerprint all;
    all.add_all(scene.positions);
    all.add_all(scene.light_map_coordinates);
    for (const Triangle& triangle : scene.triangles) {
        all.add(triangle.vertices);
    }
    for (const Sun& sun : scene.suns) {
        all.add(sun.direction);
        all.add(sun.irradiance);
    }
    all.add(surface.extent);
    all.add_all(surface.albedo);
    all.add_all(surface.emission);
    all.add_all(surface.double_sided);
    all.add(options.samples_per_texel);
    all.add(options.bounces);
    all.add(options.sky);
    all.add(options.is_of_texels);
    all.add_all(options.texels);
    return all.value();
}

// Returns a surface whose texels emit the light that they have received.
SurfaceMap lit_surface(const SurfaceMap& surface, const std::vector<glm::vec3>& irradiance) {
    SurfaceMap lit = surface;
    for (std::size_t i = 0; i < irradiance.size(); ++i) {
        lit.emission[i] += surface.albedo[i] * irradiance[i] * std::numbers::inv_pi_v<float>;
    }
    return lit;
}

Halves trace_halves(const Scene& scene, const SurfaceMap& surface, const TruthOptions& options) {
    Halves halves;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t gatherings = options.is_of_texels ? options.bounces + 1 : 1;
        test::PathTracedMap map;
        for (std::uint32_t gathering = 0; gathering < gatherings; ++gathering) {
            map = test::trace_paths(
                scene, gathering == 0 ? surface : lit_surface(surface, map.irradiance),
                {.samples_per_texel = std::max(options.samples_per_texel / 2, 1U),
                 .bounces = options.is_of_texels ? 0 : options.bounces,
                 .sky = options.sky,
                 .seed = 1001 + 2 * gathering + i,
                 .texels = options.texels});
            halves.seconds += map.seconds;
            halves.rays += map.rays;
        }
        halves.irradiance[i] = std::move(map.irradiance);
        halves.samples = std::move(map.samples);
        halves.back_share = std::move(map.back_share);
    }
    return halves;
}

void for_arrays(auto& halves, const auto& work) {
    work(halves.irradiance[0]);
    work(halves.irradiance[1]);
    work(halves.back_share);
    work(halves.samples);
}

Halves read_halves(const std::filesystem::path& path, std::uint64_t fingerprint,
                   std::size_t texels) {
    std::ifstream file(path, std::ios::binary);
    std::array<std::uint64_t, 2> header{};
    file.read(reinterpret_cast<char*>(header.data()), sizeof(header));
    if (!file || header != std::array{MAGIC, fingerprint}) {
        throw std::runtime_error("'" + path.string() +
                                 "' is no truth of this scene, light and options: name another "
                                 "file, or remove it");
    }
    Halves halves;
    for_arrays(halves, [&](auto& array) {
        array.resize(texels);
        file.read(reinterpret_cast<char*>(array.data()),
                  static_cast<std::streamsize>(texels * sizeof(array[0])));
    });
    if (!file) {
        throw std::runtime_error("'" + path.string() + "' is cut off: remove it");
    }
    return halves;
}

void write_halves(const std::filesystem::path& path, std::uint64_t fingerprint,
                  const Halves& halves) {
    app::OutputFile file(path);
    const auto write = [&](const void* bytes, std::size_t size_bytes) {
        file.write(std::string_view(static_cast<const char*>(bytes), size_bytes));
    };
    const std::array header{MAGIC, fingerprint};
    write(header.data(), sizeof(header));
    for_arrays(halves,
               [&](const auto& array) { write(array.data(), array.size() * sizeof(array[0])); });
    file.commit();
}

}  // namespace

Truth find_truth(const Scene& scene, const SurfaceMap& surface, const TruthOptions& options) {
    const std::size_t texels = surface.extent.texels();
    Halves halves;
    if (!options.file.empty() && std::filesystem::exists(options.file)) {
        halves = read_halves(options.file, fingerprint_of(scene, surface, options), texels);
    } else {
        halves = trace_halves(scene, surface, options);
        if (!options.file.empty()) {
            write_halves(options.file, fingerprint_of(scene, surface, options), halves);
        }
    }
    Truth truth{.irradiance = std::vector<glm::vec3>(texels),
                .is_used = std::vector<std::uint8_t>(texels),
                .seconds = halves.seconds,
                .rays = halves.rays};
    double squares = 0.0;
    for (std::size_t i = 0; i < texels; ++i) {
        const glm::vec3& first = halves.irradiance[0][i];
        const glm::vec3& second = halves.irradiance[1][i];
        truth.irradiance[i] = 0.5F * (first + second);
        const bool is_used = surface.coverage[i] >= LEAST_COVERAGE && halves.samples[i] > 0 &&
                             halves.back_share[i] < MOST_BACKS;
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
    std::vector<double> sizes;
    sizes.reserve(truth.used_texels);
    double squares = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < irradiance.size(); ++i) {
        if (truth.is_used[i] == 0 || (!known.empty() && known[i] == 0)) {
            continue;
        }
        const glm::dvec3 apart(irradiance[i] - truth.irradiance[i]);
        squares += (apart.x * apart.x + apart.y * apart.y + apart.z * apart.z) / 3.0;
        sum += (apart.x + apart.y + apart.z) / 3.0;
        sizes.push_back((std::abs(apart.x) + std::abs(apart.y) + std::abs(apart.z)) / 3.0);
    }
    difference.texels = sizes.size();
    if (sizes.empty()) {
        return difference;
    }
    const auto count = static_cast<double>(sizes.size());
    const auto rank = static_cast<std::ptrdiff_t>(0.99 * (count - 1.0));
    std::nth_element(sizes.begin(), sizes.begin() + rank, sizes.end());
    difference.largest_1 = sizes[static_cast<std::size_t>(rank)];
    difference.bias = sum / count;
    difference.rmse = std::sqrt(squares / count);
    difference.error = std::sqrt(std::max(squares / count - truth.error * truth.error, 0.0));
    difference.is_noise = difference.rmse < 2.0 * truth.error;
    return difference;
}

}  // namespace quadtile::baker
