// Interface of a bake to a device, or to the CPU reference.

#pragma once

#include "scene.hpp"
#include "traced_scene.hpp"

#include "shaders/bake.h"

#include <glm/vec4.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::baker {

struct SurfaceMap;

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Division of directions into tiles.
struct TileOptions {
    std::uint32_t map_extent = 256;  // texels of importance maps on a side: a power of two
    float max_resolution = 64.0F;    // pixels of a tile on a side
    float max_nodes = 0.0F;          // predicted list nodes of a tile
};

// A node of the quadtree over a direction's importance map, and its resolution.
struct MapTile {
    std::uint32_t level = 0;
    std::uint32_t x = 0;  // in units of 2^level map texels
    std::uint32_t y = 0;
    std::uint32_t resolution = 0;  // pixels on a side
    double predicted_nodes = 0.0;

    bool operator==(const MapTile&) const = default;
};

// Counts since the tracer was made.
struct TracerStatistics {
    std::uint64_t tiles = 0;
    std::uint64_t pixels = 0;
    double predicted_nodes = 0.0;
    std::uint64_t nodes = 0;            // of all tiles
    std::uint64_t repeated_tiles = 0;   // tiles that did not fit at first
    std::uint64_t most_pool_bytes = 0;  // list heads and nodes in use at a time
    double map_seconds = 0.0;           // importance maps and their tiles, with the host's wait
    // By the device's clock, if it has one.
    double cull_seconds = 0.0;
    double rasterise_seconds = 0.0;
    double walk_seconds = 0.0;

    // Adds the counts of another tracer at the same time.
    void add(const TracerStatistics& other) {
        tiles += other.tiles;
        pixels += other.pixels;
        predicted_nodes += other.predicted_nodes;
        nodes += other.nodes;
        repeated_tiles += other.repeated_tiles;
        most_pool_bytes = std::max(most_pool_bytes, other.most_pool_bytes);
        map_seconds += other.map_seconds;
        cull_seconds += other.cull_seconds;
        rasterise_seconds += other.rasterise_seconds;
        walk_seconds += other.walk_seconds;
    }
};

// Sums of lamps over the finished points of a pass: whole numbers of a unit, so that they do not
// depend on the order. Numbers by place, of TracedScene::sum_count: the irradiance; grey irradiance
// without occlusion, the part of it whose rays have met the texel, and of the first half of the
// points the irradiance and that part. By covered texel, or none: the irradiance times each
// component of its direction.
using LampSums = std::array<std::vector<std::uint64_t>, 5>;
constexpr std::array<std::size_t, 5> LAMP_NUMBERS{3, 4, 3, 3, 3};

constexpr std::size_t MOST_PROBES = 262144;  // and rays through probes traced together
constexpr std::size_t MOST_SUMS = 1572864;   // read at a time
constexpr std::size_t SUMS_AT_ONCE = 4;
using Stop = std::function<bool()>;

// Makes the exact sums of a pass.
class Tracer {
 public:
    Tracer() = default;
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;
    virtual ~Tracer() = default;

    // Returns the number of frames that are best requested and traced together.
    [[nodiscard]] virtual std::uint32_t frames_at_once() const = 0;

    // Returns the tiles of each frame with any content, in canonical order; nothing if stopped.
    [[nodiscard]] virtual std::vector<std::vector<MapTile>> request_tiles(
        std::span<const ProjectionFrame> frames, const Stop& stop = {}) = 0;

    // Begins a pass with sums of zero. `open`: triangles that block no light of a source.
    virtual void begin_pass(const std::vector<std::uint32_t>& open) = 0;
    // Sets places from `first` on, of TracedScene::sum_count: the radiance that leaves a texel's
    // front or back, and in w the bits TWO_SIDED and SMOOTH_NORMAL.
    virtual void set_outgoing(std::size_t first, std::span<const glm::vec4> outgoing) = 0;
    // Adds the light that the lightmap receives from tiles, whose `first_head` has no meaning yet.
    // Returns the number of finished tiles: all, unless stopped, and at least one.
    virtual std::size_t trace(std::span<const ProjectionFrame> frames,
                              std::span<const TracedTile> tiles,
                              std::span<const double> predicted_nodes, const Stop& stop = {}) = 0;
    // Returns the sums of `count` places from `first` on, at most MOST_SUMS, in memory that the
    // next call with this number, less than SUMS_AT_ONCE, overwrites.
    [[nodiscard]] virtual std::span<const Accumulator> sums(std::size_t first, std::size_t count,
                                                            std::size_t number) = 0;
    virtual void clear_sums() = 0;
    // Replaces sums from `first` on, to go on from them.
    virtual void set_sums(std::size_t first, std::span<const Accumulator> sums) = 0;

    // Begins a pass of lamps with these sums. All must outlive it.
    virtual void begin_lamps(const SurfaceMap& surface, std::span<const LampTriangle> triangles,
                             LampSums& sums) = 0;
    // Adds the light of some triangles to the sums of lamps, by the sums of the pass so far.
    virtual void add_lamp(const LampParameters& parameters) = 0;
    // Brings the sums of begin_lamps up to date.
    virtual void read_lamps() = 0;

    // Returns the nearest surfaces to each point along the ray of each frame through it, frame by
    // frame, at most MOST_PROBES. Frames are from probe_frame. Points are relative to the scene's
    // centre; w is the number of depth steps ahead that count. Surfaces in the same step as the
    // point are passed.
    [[nodiscard]] virtual std::vector<ProbeSight> see(std::span<const ProjectionFrame> frames,
                                                      std::span<const glm::vec4> points) = 0;

    [[nodiscard]] virtual const TracerStatistics& statistics() const = 0;
    [[nodiscard]] virtual std::string device_name() const = 0;
};

// Returns the pixels on a side of a tile with this level and importance. Beyond the largest number
// a tile's rows would not fit the 16 bits of images; tiles that need more are texels of the
// importance map, the smallest tiles.
[[nodiscard]] inline std::uint32_t tile_resolution(std::uint32_t level, float importance) {
    const float pixels = std::ceil(std::ldexp(importance, static_cast<int>(level)));
    return static_cast<std::uint32_t>(std::clamp(pixels, 1.0F, 16384.0F));
}

// Returns the list nodes of a tile, from the fragments of its texels of the importance map.
[[nodiscard]] inline double predicted_nodes(std::uint32_t level, std::uint32_t resolution,
                                            float fragments) {
    return std::ldexp(static_cast<double>(fragments), -2 * static_cast<int>(level)) * resolution *
           resolution;
}

}  // namespace quadtile::baker
