// The bake: passes over all directions, from light straight from its source to the last bounce.
// Light straight from small emitters needs many directions, light from surfaces fewer.

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
#include <span>
#include <string>
#include <vector>

namespace quadtile::baker {

constexpr std::uint32_t MOST_DIRECTIONS = 65536;  // of direct light and of bounces, for a noise

struct BakeOptions {
    std::uint32_t directions = 512;       // per bounce
    std::uint32_t direct_directions = 0;  // for light straight from emitters and sky; 0: as many
    std::uint32_t bounces = 3;            // 0: only light straight from emitters, sky and suns
    std::uint32_t sun_directions = 64;    // per sun; points per point light
    std::uint32_t lamp_points = 0;        // of all lamps, as in find_lamps
    std::uint64_t seed = 1;
    bool directional = false;  // LightMap::radiance_sh
    // Whether lights light all surfaces that face them alike: shadow masks.
    bool light_shares = false;
    std::vector<glm::vec3> probes;  // positions in world units
    // Largest noise of the map; 0: no limit. Directions are doubled until it is reached, up to
    // MOST_DIRECTIONS of direct light, of lamps or of a bounce.
    double noise = 0.0;

    std::filesystem::path checkpoint;  // empty: no checkpoints
    std::chrono::seconds checkpoint_interval{30};
    bool resume = false;  // whether to go on from the checkpoint, if there is one
};

// Progress of a bake.
struct BakeProgress {
    std::string pass;                   // description for the user
    std::uint64_t directions_done = 0;  // of all passes
    std::uint64_t directions = 0;
    std::uint64_t resumed_directions = 0;  // of those done, in an earlier run
    double seconds = 0.0;                  // of this run
    std::optional<double> noise;           // PassReport::noise of the passes before
};

struct PassReport {
    std::string name;
    std::uint32_t directions = 0;
    double seconds = 0.0;
    // Mean over the known texels, red, green and blue, of all light so far; and the new part of it.
    double mean_irradiance = 0.0;
    double change = 0.0;
    // GatheredLight::noise of all light so far.
    std::optional<double> noise;
};

// All light at a point, in real spherical harmonics: y, z, x; xy, yz, 3zz - 1, xz, xx - yy.
struct Probe {
    glm::vec3 position{0.0F};
    bool is_valid = false;                   // whether it sees mostly fronts of surfaces, and sky
    std::array<glm::vec3, 9> radiance_sh{};  // docs/baker.md has their use
};

struct BakeResult {
    LightMap map;               // neither dilated nor blended; kept texels are black and unknown
    std::vector<float> error;   // by texel, for denoise()
    std::vector<Probe> probes;  // empty: none requested, or interrupted before
    std::vector<PassReport> passes;
    std::optional<double> noise;      // PassReport::noise of the map
    bool interrupted = false;         // whether a checkpoint was written and the map is incomplete
    std::uint64_t inside_texels = 0;  // texels that saw mostly backs of surfaces, and are not known
};

// Its functions are called by one thread at a time, which need not be the one that has called
// bake().
struct BakeWatcher {
    std::function<void(const BakeProgress&)> progress;
    std::function<bool()> interrupted;
    // The tracer is needed no more: what it holds may be freed before the map is made.
    std::function<void()> traced;
};

// Bakes. The surface must have the patches of its texels if there are point lights or lamps. The
// same scene, surface, sky, tile options and options give a bit-identical result from all tracers,
// one or several, interrupted or not, with any number of ranks (null: this process alone). Each
// tracer is used by one thread at a time. All ranks call it; the
// first one returns the map, error and probes. Throws std::runtime_error for a checkpoint that is
// damaged or of another bake, and the exceptions of the tracer.
[[nodiscard]] BakeResult bake(const TracedScene& scene, const SurfaceMap& surface,
                              const std::vector<Sun>& suns, const std::vector<PointLight>& lights,
                              const Lamps& lamps, const Sky& sky, const TileOptions& tile_options,
                              const BakeOptions& options, std::span<Tracer* const> tracers,
                              const BakeWatcher& watcher = {}, Ranks* ranks = nullptr);

}  // namespace quadtile::baker
