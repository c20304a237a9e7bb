// Files of interrupted bakes, and fingerprints of contents.

#pragma once

#include "bake_state.hpp"
#include "parallel.hpp"

#include "shaders/bake.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
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
    // Adds the fingerprints of blocks, which all processors find.
    template <typename T, typename Allocator>
    void add_all(const std::vector<T, Allocator>& values) {
        constexpr std::size_t BLOCK = 1U << 18U;
        std::vector<std::uint64_t> blocks((values.size() + BLOCK - 1) / BLOCK);
        parallel_for(blocks.size(), 0, [&](std::size_t i) {
            Fingerprint block;
            const std::size_t first = i * BLOCK;
            block.add(&values[first], std::min(BLOCK, values.size() - first) * sizeof(T));
            blocks[i] = block.value();
        });
        add(std::uint64_t{values.size()});
        add(blocks.data(), blocks.size() * sizeof(std::uint64_t));
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

// Throws std::runtime_error if `path` is a regular file other than a checkpoint, which must not be
// replaced or removed.
void check_replaceable(const std::filesystem::path& path);

// Removes the file if it is a checkpoint; never other files, devices or pipes.
void remove_checkpoint(const std::filesystem::path& path);

// Sums of the running pass are not held in memory: they are read and written by pieces.
using ReadSums = std::function<void(std::size_t first, std::span<Accumulator> sums)>;
// Calls read(first, sums) for pieces of so many sums.
void read_pieces(std::size_t count, const ReadSums& read);

// Writes a checkpoint with so many sums. Throws as check_replaceable. The file appears whole or not
// at all, also if the program is killed meanwhile. Throws std::runtime_error with the file and the
// reason.
void write_checkpoint(const std::filesystem::path& path, const BakeState& checkpoint,
                      std::size_t sum_count, const ReadSums& read);

// Reads a checkpoint, of any number of sums for another bake; nothing if the file does not exist.
// Throws std::runtime_error with the file and the reason if it is damaged.
[[nodiscard]] std::optional<BakeState> read_checkpoint(const std::filesystem::path& path);
// Gives the sums of a checkpoint that was read, piece by piece.
void read_sums(const std::filesystem::path& path, std::size_t sum_count,
               const std::function<void(std::size_t first, std::span<const Accumulator>)>& take);

}  // namespace quadtile::baker
