// The specialization constants of kernels/downsample.comp and what it includes.

#pragma once

#include <cstdint>

namespace quadtile::detail {

constexpr std::uint32_t REDUCTION = 1;
constexpr std::uint32_t EDGE_RULE = 2;
constexpr std::uint32_t PYRAMID_CHUNK_SHIFT = 3;
constexpr std::uint32_t PYRAMID_IN_ONE_CHUNK = 4;
constexpr std::uint32_t FILTERED = 5;
constexpr std::uint32_t SOURCE_ENCODING = 6;
constexpr std::uint32_t TARGET_ENCODING = 7;
constexpr std::uint32_t SOURCE_CHANNELS = 8;
constexpr std::uint32_t DYNAMIC_INDEXING = 9;
constexpr std::uint32_t COPY_SOURCE = 10;
constexpr std::uint32_t BLOCKS_FROM_LIST = 11;
constexpr std::uint32_t IN_CODES = 12;
constexpr std::uint32_t WEIGHTED = 13;

}  // namespace quadtile::detail
