// Random shapes, texels and thresholds of importance maps and images.

#pragma once

#include "choices.hpp"

#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::test {

// Limits of a random shape.
struct ShapeLimits {
    std::uint32_t max_extent;  // texels on a side
    std::uint32_t max_layers;
    std::uint32_t max_texels;  // in all layers
};

// From one texel to the limits: small maps mostly, thin ones, extents beside powers of two. Its
// format is left as it is.
[[nodiscard]] MapShape random_shape(Choices& choices, const ShapeLimits& limits);

// One of the formats of importance maps.
[[nodiscard]] TexelFormat random_map_format(Choices& choices, const std::string& name);

// The choices of a shape. A case keeps those of the case before it, mostly: drivers allocate images
// longer than most cases take.
[[nodiscard]] const std::vector<std::string>& shape_choices();
[[nodiscard]] bool keeps_shape(const Choices& choices);

// A few values that texels and thresholds share, so that they are equal now and then: finite and
// not negative.
[[nodiscard]] std::vector<float> random_palette(const Choices& choices);

// A value of the palette, or one at the edge of what thresholds may be.
[[nodiscard]] float threshold_value(Random& random, const std::vector<float>& palette);
// A threshold by level, monotone.
[[nodiscard]] Threshold level_threshold(Random& random, const MapShape& shape,
                                        const std::vector<float>& palette);

// The texels of an image of any format, in memory as ImageView takes them. `finite`: no NaN, no
// infinity, nothing larger than 1000 nor negative, for sums and fragments.
[[nodiscard]] std::vector<std::byte> random_texels(Choices& choices, const ImageShape& shape,
                                                   const std::vector<float>& palette,
                                                   bool finite = false);

// The same for some texels of it: each is drawn anew.
void change_texels(Random& random, const ImageShape& shape, const std::vector<float>& palette,
                   std::vector<std::byte>& texels, std::uint32_t layer, std::uint32_t x,
                   std::uint32_t y, std::uint32_t width, std::uint32_t height, bool finite = false);

}  // namespace quadtile::test
