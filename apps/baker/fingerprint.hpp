// A number that tells contents apart: 64 bits, not against those who mean it.

#pragma once

#include "bake.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace quadtile::baker {

// FNV-1a over words of 8 bytes, stirred so that their upper bits count.
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

// Of everything that the light map depends on: scene, light and options. `sets` are of directions.
[[nodiscard]] std::uint64_t fingerprint_of(
    const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
    std::initializer_list<const std::vector<BundleDirection>*> sets,
    const TileOptions& tile_options, const BakeOptions& options);

}  // namespace quadtile::baker
