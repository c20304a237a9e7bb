// Bytes that leave the process and come back: behind a header that tells what they are, and whether
// they are whole.

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
    foreign,        // nothing of ours, or of another kind
    other_version,  // ours, for other kernels
    damaged,        // cut, longer, or changed
};

// `version` is that of what the content depends on.
[[nodiscard]] std::vector<std::byte> frame(Content content, std::uint64_t version,
                                           std::span<const std::byte> payload);

struct Unframed {
    FrameState state;
    std::span<const std::byte> payload;  // in `bytes`; empty where it is not whole
};
[[nodiscard]] Unframed unframe(Content content, std::uint64_t version,
                               std::span<const std::byte> bytes) noexcept;

// FNV-1a, 64 bits. Against accidents, not against attackers.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace quadtile::detail
