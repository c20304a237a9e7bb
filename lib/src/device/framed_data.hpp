// Frames for bytes that leave the process and come back: a header that gives their content and
// detects damage.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::detail {

enum class Content : std::uint32_t {
    user_kernels = 1,    // user_kernels.hpp
    pipeline_cache = 2,  // pipeline_cache.hpp
};

enum class FrameState {
    whole,
    foreign,        // not a frame of quadtile, or with other content
    other_version,  // a frame for other kernels
    damaged,        // cut, longer, or changed
};

// Puts a header in front of bytes. `version` is that of the data that the content depends on.
[[nodiscard]] std::vector<std::byte> frame(Content content, std::uint64_t version,
                                           std::span<const std::byte> payload);

struct Unframed {
    FrameState state;
    std::span<const std::byte> payload;  // in `bytes`; empty unless it is whole
};
[[nodiscard]] Unframed unframe(Content content, std::uint64_t version,
                               std::span<const std::byte> bytes) noexcept;

// FNV-1a, 64 bits; against accidents, not against attackers.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace quadtile::detail
