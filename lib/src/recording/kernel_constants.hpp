// Specialization constants of the kernels by constant_id, and the host's choice of their values;
// sizes of the kernels' state (kernel_parameters.h).

#pragma once

#include <quadtile/kernel_parameters.h>

#include <algorithm>
#include <compare>
#include <cstdint>

namespace quadtile::detail {

// downsample.glsl, downsample.comp and their includes
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
constexpr std::uint32_t IN_CODES = 12;
constexpr std::uint32_t WEIGHTED = 13;
constexpr std::uint32_t WHOLE_BLOCKS = 14;
constexpr std::uint32_t SOME_BLOCKS = 15;
constexpr std::uint32_t CREW_SIZE = 16;
constexpr std::uint32_t GROUP_LEVELS = 17;
constexpr std::uint32_t ONE_GROUP = 18;
constexpr std::uint32_t MIP_IMAGES = 19;
// chunks.glsl
constexpr std::uint32_t TILE_CHUNK_SHIFT = 20;
constexpr std::uint32_t TILES_IN_ONE_CHUNK = 21;
// blocks.glsl
constexpr std::uint32_t BY_STEPS = 29;
// fused.glsl, fused_share.glsl, balance.glsl
constexpr std::uint32_t WITH_BUDGET = 22;
constexpr std::uint32_t LAYER_THRESHOLDS = 23;
constexpr std::uint32_t THRESHOLDS_BY_NODE = 25;  // also in subtree.comp
constexpr std::uint32_t SHARE_LEVELS = 26;
constexpr std::uint32_t CORNERS = 27;
constexpr std::uint32_t STAGE = 28;

// How one dispatch makes the levels above the blocks of 64 x 64 texels. Measured on an H200: if one
// group makes them, up to 2048 x 2048 texels, its many threads are worth their barriers. At 4096 x
// 4096, with two steps of small groups, a subgroup is faster than the whole workgroup. Wide groups
// are too much work for a subgroup.
struct UpperLevels {
    std::uint32_t group_levels;  // GROUP_LEVELS
    bool one_group;              // ONE_GROUP

    [[nodiscard]] std::uint32_t crew_size(bool subgroups, std::uint32_t subgroup_size) const {
        constexpr std::uint32_t workgroup_size = 256;
        return subgroups && subgroup_size >= 32 && group_levels <= 4 && !one_group ? subgroup_size
                                                                                   : workgroup_size;
    }

    auto operator<=>(const UpperLevels&) const = default;
};

[[nodiscard]] constexpr UpperLevels upper_levels(std::uint32_t width, std::uint32_t height,
                                                 std::uint32_t top_level, std::uint32_t edge_rule) {
    UpperLevels upper{};
    for (std::uint32_t level = BLOCK_LEVELS; level < top_level;
         level += step_levels(level, top_level)) {
        const std::uint32_t levels = step_levels(level, top_level);
        upper.group_levels = std::max(upper.group_levels, levels);
        upper.one_group =
            level + levels == top_level && blocks_along(width, level, levels, edge_rule) == 1 &&
            blocks_along(height, level, levels, edge_rule) == 1 && level == BLOCK_LEVELS;
    }
    return upper;
}

// Returns whether WHOLE_BLOCKS holds if all levels are made.
[[nodiscard]] constexpr bool has_whole_blocks(std::uint32_t width, std::uint32_t height) {
    constexpr std::uint32_t last = (1U << BLOCK_LEVELS) - 1;
    return (width & last) == 0 && (height & last) == 0;
}

// Returns the words of one level that is handed over in groups of 2^levels, with so many words per
// node and per slot.
[[nodiscard]] constexpr uint handover_words(uint width, uint height, uint level, uint levels,
                                            uint edge_rule, uint node_words, uint slot_words) {
    const uint groups = blocks_along(width, level, levels, edge_rule) *
                        blocks_along(height, level, levels, edge_rule);
    const uint nodes = mip_extent(width, level, edge_rule) * mip_extent(height, level, edge_rule);
    return 2 * groups + node_words * nodes + slot_words * groups * slots_of_group(levels);
}

[[nodiscard]] constexpr uint state_words_per_layer(uint width, uint height, uint top_level,
                                                   uint edge_rule, uint node_words,
                                                   uint slot_words) {
    uint words = 1;
    for (uint level = BLOCK_LEVELS; level < top_level; level += step_levels(level, top_level)) {
        words += handover_words(width, height, level, step_levels(level, top_level), edge_rule,
                                node_words, slot_words);
    }
    return words;
}

[[nodiscard]] constexpr uint fused_words_per_layer(uint width, uint height, uint top_level) {
    return LAYER_WORDS - 1 +
           state_words_per_layer(width, height, top_level, EDGE_ROUND_UP, 0, FUSED_SLOT_WORDS);
}

}  // namespace quadtile::detail
