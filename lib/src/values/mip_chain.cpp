#include <quadtile/mip_chain.hpp>

#include <algorithm>
#include <bit>

namespace quadtile {

std::uint32_t full_mip_levels(std::uint32_t width, std::uint32_t height,
                              EdgeRule edge_rule) noexcept {
    const std::uint32_t extent = std::max(width, height);
    const auto floor_levels = static_cast<std::uint32_t>(std::bit_width(extent));
    const bool rounds_up = edge_rule == EdgeRule::round_up && !std::has_single_bit(extent);
    return rounds_up ? floor_levels + 1 : floor_levels;
}

}  // namespace quadtile
