// The pyramid as a storage buffer, seen through descriptors of 2^PYRAMID_CHUNK_SHIFT floats each, because one
// descriptor may not reach the whole pyramid. They are at PYRAMID_BINDING and the three bindings after it.

layout(constant_id = 3) const uint PYRAMID_CHUNK_SHIFT = 25;
layout(constant_id = 4) const bool PYRAMID_IN_ONE_CHUNK = false;  // the cost of the choice shows in the pyramid kernel
const uint PYRAMID_CHUNK = 1U << PYRAMID_CHUNK_SHIFT;

layout(set = 0, binding = PYRAMID_BINDING, std430) buffer Pyramid0 { float pyramid_0[]; };
layout(set = 0, binding = PYRAMID_BINDING + 1, std430) buffer Pyramid1 { float pyramid_1[]; };
layout(set = 0, binding = PYRAMID_BINDING + 2, std430) buffer Pyramid2 { float pyramid_2[]; };
layout(set = 0, binding = PYRAMID_BINDING + 3, std430) buffer Pyramid3 { float pyramid_3[]; };

void write_pyramid(uint index, float importance) {
    const uint place = PYRAMID_IN_ONE_CHUNK ? index : index & (PYRAMID_CHUNK - 1);
    if (PYRAMID_IN_ONE_CHUNK || index < PYRAMID_CHUNK) {
        pyramid_0[place] = importance;
    } else if (index >> PYRAMID_CHUNK_SHIFT == 1) {
        pyramid_1[place] = importance;
    } else if (index >> PYRAMID_CHUNK_SHIFT == 2) {
        pyramid_2[place] = importance;
    } else {
        pyramid_3[place] = importance;
    }
}

float read_pyramid(uint index) {
    const uint place = PYRAMID_IN_ONE_CHUNK ? index : index & (PYRAMID_CHUNK - 1);
    if (PYRAMID_IN_ONE_CHUNK || index < PYRAMID_CHUNK) {
        return pyramid_0[place];
    }
    if (index >> PYRAMID_CHUNK_SHIFT == 1) {
        return pyramid_1[place];
    }
    return index >> PYRAMID_CHUNK_SHIFT == 2 ? pyramid_2[place] : pyramid_3[place];
}
