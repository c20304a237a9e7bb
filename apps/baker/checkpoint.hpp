// Checkpoints of interrupted bakes, with all data to go on; and fingerprints of contents.

#pragma once

#include "bake.hpp"
#include "ranks.hpp"
#include "shaders/bake.h"

#include <glm/vec3.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace quadtile::baker {

// A fingerprint of 64 bits, not secure against intent: FNV-1a over words of 8 bytes, stirred so
// that their upper bits count.
class Fingerprint {
 public:
    void add(const void* bytes, std::size_t size_bytes) {
        const auto* next = static_cast<const std::byte*>(bytes);
        for (; size_bytes > 0;) {
            std::uint64_t word = 0;
            const std::size_t part = size_bytes < sizeof(word) ? size_bytes : sizeof(word);
            std::memcpy(&word, next, part);
            value_ = (value_ ^ word) * 0x100000001b3U;
            value_ ^= value_ >> 29U;
            next += part;
            size_bytes -= part;
        }
    }
    template <typename T>
    void add(const T& value) {
        add(&value, sizeof(value));
    }
    template <typename T>
    void add_all(const std::vector<T>& values) {
        add(std::uint64_t{values.size()});
        add(values.data(), values.size() * sizeof(T));
    }

    [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

// Returns the fingerprint of everything that the lightmap depends on: scene, light and options.
// `sets` are those of directions.
[[nodiscard]] std::uint64_t fingerprint_of(
    const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
    const std::vector<PointLight>& lights, const Lamps& lamps,
    std::span<const std::vector<BundleDirection>* const> sets, const TileOptions& tile_options,
    const BakeOptions& options);

// Sums of lamps over the finished points of a pass: whole numbers of a unit, so that sums do not
// depend on the order.
struct LampSums {
    std::array<std::int64_t, 3> irradiance{};
    // Grey irradiance without occlusion, and the part of it whose rays have met the texel.
    std::int64_t open = 0;
    std::int64_t met = 0;
    // Sums of the first half of the points.
    std::int64_t half = 0;  // grey irradiance
    std::int64_t half_met = 0;
};
// Red, green and blue of each axis, for a front.
using LampMoments = std::array<std::int64_t, 9>;

struct Checkpoint {
    // Fingerprint of everything that the lightmap depends on: scene, light and options.
    std::uint64_t fingerprint = 0;
    std::uint32_t pass = 0;             // running pass
    std::uint32_t directions_done = 0;  // finished directions of the pass
    std::uint64_t tiles_done = 0;       // finished tiles of the next direction
    std::vector<std::uint8_t> more;     // passes of more directions or points, as Pass::Kind
    // Arrays by texel; `sources`, `lamps`, `lamp_sums`, `direct`, `sent`, `indirect` and `sums` by
    // TracedScene::sum_count. Empty: none yet, or not needed.
    std::vector<glm::vec3> sources;   // irradiance straight from suns and point lights; empty: none
    std::vector<glm::vec3> lamps;     // irradiance straight from lamps; empty: there are none
    std::vector<LampSums> lamp_sums;  // of the running pass
    std::vector<LampMoments> lamp_moments;  // of the running pass, by texel; empty: not needed
    std::vector<glm::vec3> direct;          // irradiance straight from other emitters and sky
    std::vector<glm::vec3> sent;            // light of other surfaces for the running pass
    std::vector<glm::vec3> indirect;        // light of other surfaces from the last bounce
    std::vector<std::uint8_t> known;        // as LightMap::known
    std::uint64_t inside_texels = 0;        // as in BakeResult
    // By texel, grey: the mean radiance of the running pass after half of its directions; empty:
    // half is not done. Then the errors of the light, estimated from two halves of the directions.
    std::vector<float> half;
    std::vector<float> sources_error;  // empty: no sources
    std::vector<float> lamps_error;    // empty: no lamps
    std::vector<float> direct_error;
    std::vector<float> indirect_error;
    std::array<std::vector<glm::vec3>, 3> moments;
    std::vector<Accumulator> sums;   // of the running pass
    std::uint32_t probe_steps = 0;   // of gather_probes, after all passes
    std::vector<double> probe_sums;  // of gather_probes

    // Calls visit(vector) for the light of texels, of which each rank has a part.
    template <typename Self>
    static void visit_light(Self& self, const auto& visit) {
        for (auto* const light :
             {&self.sources, &self.lamps, &self.direct, &self.sent, &self.indirect}) {
            visit(*light);
        }
        visit(self.known);
        for (auto* const grey : {&self.half, &self.sources_error, &self.lamps_error,
                                 &self.direct_error, &self.indirect_error}) {
            visit(*grey);
        }
        for (auto& moment : self.moments) {
            visit(moment);
        }
    }
};

// Gives all ranks the first one's state, except sums.
void broadcast_checkpoint(Checkpoint& checkpoint, Ranks& ranks);

// Throws std::runtime_error if `path` is a regular file other than a checkpoint, which must not be
// replaced or removed.
void check_replaceable(const std::filesystem::path& path);

// Removes the file if it is a checkpoint; never other files, devices or pipes.
void remove_checkpoint(const std::filesystem::path& path);

// Writes a checkpoint. Throws as check_replaceable. The file appears whole or not at all, also if
// the program is killed meanwhile. Throws std::runtime_error with the file and the reason.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

// Reads a checkpoint; nothing if the file does not exist. Throws std::runtime_error with the file
// and the reason if it is damaged.
[[nodiscard]] std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& path);

}  // namespace quadtile::baker
