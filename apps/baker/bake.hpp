// The bake: passes over all directions, from light that comes straight from its source to the last
// bounce. Light straight from small emitters needs many directions, what surfaces send on fewer.

#pragma once

#include "directions.hpp"
#include "lamps.hpp"
#include "light_map.hpp"
#include "ranks.hpp"
#include "surface_map.hpp"
#include "tracer.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {

constexpr std::uint32_t MOST_DIRECTIONS = 65536;  // of direct light and of bounces, for a noise

struct BakeOptions {
    std::uint32_t directions = 512;       // of each bounce
    std::uint32_t direct_directions = 0;  // of light straight from emitters and sky; 0: as many
    std::uint32_t bounces = 3;          // 0: light that comes straight from emitters, sky and suns
    std::uint32_t sun_directions = 64;  // of each sun; and points of each point light
    std::uint32_t lamp_points = 0;      // of all lamps, as find_lamps takes them
    std::uint64_t seed = 1;
    bool directional = false;       // LightMap::radiance_sh
    bool sun_shares = false;        // suns light all that faces them alike: shadow masks
    std::vector<glm::vec3> probes;  // their places, in world units
    // Directions are doubled until the map's noise is no more, as long as there are no more than
    // MOST_DIRECTIONS of direct light, of lamps or of a bounce. 0: no more than given.
    double noise = 0.0;

    std::filesystem::path checkpoint;  // empty: none is written
    std::chrono::seconds checkpoint_interval{30};
    bool resume = false;  // from the checkpoint, where there is one
};

// Where a bake is.
struct BakeProgress {
    std::string pass;                   // what it does, for people
    std::uint64_t directions_done = 0;  // of all passes
    std::uint64_t directions = 0;
    std::uint64_t resumed_directions = 0;  // of those done, by an earlier run
    double seconds = 0.0;                  // of this run
    std::optional<double> noise;           // as PassReport::noise, of the passes before
};

struct PassReport {
    std::string name;
    std::uint32_t directions = 0;
    double seconds = 0.0;
    // Mean over the known texels, red, green and blue, of all light so far; and how much of it was
    // not there before.
    double mean_irradiance = 0.0;
    double change = 0.0;
    // Of all light so far: GatheredLight::noise.
    std::optional<double> noise;
};

// All light at a place, in real spherical harmonics: y, z, x; xy, yz, 3zz - 1, xz, xx - yy.
struct Probe {
    glm::vec3 position{0.0F};
    bool is_valid = false;                   // sees mostly fronts of surfaces, and sky
    std::array<glm::vec3, 9> radiance_sh{};  // docs/baker.md says how these are used
};

struct BakeResult {
    LightMap map;               // neither dilated nor blended
    std::vector<float> error;   // by texel, as denoise() takes it
    std::vector<Probe> probes;  // empty: none are asked for, or it was interrupted before
    std::vector<PassReport> passes;
    std::optional<double> noise;  // as PassReport::noise, of the map
    bool interrupted = false;     // a checkpoint was written, and the map is that of what was done
    std::uint64_t inside_texels = 0;  // that saw mostly backs of surfaces: not known
};

struct BakeWatcher {
    std::function<void(const BakeProgress&)> progress;
    std::function<bool()> interrupted;
};

// The surface has the patches of its texels where there are point lights or lamps. The same scene,
// surface, sky, tile options and options give the same bits, from every tracer, interrupted or not,
// by however many ranks (null: this process alone). All of these call it; the result's map, error
// and probes are the first one's.
// Throws std::runtime_error for a checkpoint that is damaged or of another bake, and what the
// tracer throws.
[[nodiscard]] BakeResult bake(const TracedScene& scene, const SurfaceMap& surface,
                              const std::vector<Sun>& suns, const std::vector<PointLight>& lights,
                              const Lamps& lamps, const Sky& sky, const TileOptions& tile_options,
                              const BakeOptions& options, Tracer& tracer,
                              const BakeWatcher& watcher = {}, Ranks* ranks = nullptr);

}  // namespace quadtile::baker
