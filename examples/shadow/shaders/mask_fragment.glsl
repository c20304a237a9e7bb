// Discards fragments in holes.

#include "mask.h"

layout(std430, set = 0, binding = 12) readonly buffer Masks { Mask masks[]; };
layout(std430, set = 0, binding = 13) readonly buffer MaskBits { uint mask_bits[]; };

layout(location = 2) in vec2 mask_coordinates;
layout(location = 3) in flat uint mask_number;

void discard_holes() {
    const uint bit = mask_bit(masks[mask_number], mask_coordinates.x, mask_coordinates.y);
    if ((mask_bits[bit / 32] >> (bit % 32) & 1U) == 0) {
        discard;
    }
}
