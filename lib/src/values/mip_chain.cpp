#include "refuse.hpp"
#include "texel_codec.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace quadtile {

namespace {

using detail::encoding_of;
using detail::is_depth;
using detail::refuse;

std::string from_to(TexelFormat source, TexelFormat target) {
    return std::string("from ") + name_of(source) + " to " + name_of(target);
}

}  // namespace

std::uint32_t full_mip_levels(std::uint32_t width, std::uint32_t height,
                              EdgeRule edge_rule) noexcept {
    const std::uint32_t extent = std::max(width, height);
    const auto floor_levels = static_cast<std::uint32_t>(std::bit_width(extent));
    const bool rounds_up = edge_rule == EdgeRule::round_up && !std::has_single_bit(extent);
    return rounds_up ? floor_levels + 1 : floor_levels;
}

void check_formats(Reduction reduction, TexelFormat source, TexelFormat target) {
    if (is_depth(target)) {
        refuse("levels cannot be stored as ", name_of(target),
               ": depth formats can only be read; make them r32_float");
    }
    const std::uint32_t source_channels = channel_count(source);
    const std::uint32_t target_channels = channel_count(target);
    const std::uint32_t encoding = encoding_of(target);
    if (reduction == Reduction::min_max) {
        if (target_channels != 2 || source_channels > 2) {
            refuse("min_max needs a source with one or two channels and levels with two, not ",
                   from_to(source, target));
        }
    } else if (source_channels != target_channels) {
        refuse("the number of channels cannot change ", from_to(source, target),
               "; choose a format with as many channels");
    }
    if (detail::is_extreme(reduction)) {
        const bool same_values = encoding == encoding_of(source);
        if (!same_values && encoding != ENCODING_FLOAT32) {
            refuse("extremes must be exact, but would be rounded ", from_to(source, target),
                   "; choose the source's format or 32-bit floats for the levels");
        }
    }
    if (reduction == Reduction::sum && encoding >= ENCODING_UNORM8) {
        refuse("sums exceed the values that ", name_of(target),
               " can hold; choose a float format for the levels");
    }
}

}  // namespace quadtile
