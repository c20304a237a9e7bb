// What the downsampler reduces: how a texel becomes an item, how four items become one, and how an
// item becomes a texel again. Its kernel defines
//
//   CHANNELS  1, 2 or 4
//   KEYS      1: items are keys (importance_key.h), for exact minima and maxima of anything, NaN too
//   HALVES    1: items are halves; half the registers and shared memory, 11 bits of accuracy
//   CUSTOM    1: items are floats, and four become one by the user's own
//             TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d); a and b are the upper two
//
// and, with neither, floats for means and sums.

#include "quadtile/mip.h"
#include "quadtile/texel_encoding.h"
#include "texel_key.glsl"

layout(constant_id = 1) const uint REDUCTION = REDUCE_MAX;
layout(constant_id = 2) const uint EDGE_RULE = EDGE_ROUND_UP;
layout(constant_id = 6) const uint SOURCE_ENCODING = ENCODING_FLOAT32;
layout(constant_id = 7) const uint TARGET_ENCODING = ENCODING_FLOAT32;
layout(constant_id = 8) const uint SOURCE_CHANNELS = CHANNELS;
// Whether each quad is read as one texel, filtered by the sampler.
layout(constant_id = 5) const bool FILTERED = false;

#if CHANNELS == 1
#define TEXEL float
#define OF_CHANNELS(scalar) scalar
#define ON_EACH(f, v) f(v)
#define TEXEL_OF(v) (v).r
#define VEC4_OF(t) vec4(t, 0.0, 0.0, 1.0)
#elif CHANNELS == 2
#define TEXEL vec2
#define ON_EACH(f, v) ITEM(f(v.x), f(v.y))
#define TEXEL_OF(v) (v).rg
#define VEC4_OF(t) vec4(t, 0.0, 1.0)
#else
#define TEXEL vec4
#define ON_EACH(f, v) ITEM(f(v.x), f(v.y), f(v.z), f(v.w))
#define TEXEL_OF(v) (v)
#define VEC4_OF(t) (t)
#endif

#if KEYS
#define SCALAR uint
#if CHANNELS == 1
#define ITEM uint
#elif CHANNELS == 2
#define ITEM uvec2
#else
#define ITEM uvec4
#endif
#elif HALVES
#define SCALAR float16_t
#if CHANNELS == 1
#define ITEM float16_t
#elif CHANNELS == 2
#define ITEM f16vec2
#else
#define ITEM f16vec4
#endif
#else
#define SCALAR float
#define ITEM TEXEL
#endif

const uint SOURCE_UNORM_BITS =
    SOURCE_ENCODING == ENCODING_UNORM16 ? 16
                                        : (SOURCE_ENCODING >= ENCODING_UNORM8 ? 8 : 0);
const bool IS_SUM = REDUCTION == REDUCE_MEAN || REDUCTION == REDUCE_SUM;

#if CUSTOM
TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d);
#endif

#if KEYS

// NaN counts as the extreme that is asked for: nothing is known of it.
uint key_for_minimum(uint key) { return key_is_nan(key) ? 0 : key; }

ITEM item_of(TEXEL texel) {
    ITEM keys;
#if CHANNELS == 1
    keys = texel_key(texel, SOURCE_UNORM_BITS);
    return REDUCTION == REDUCE_MIN ? key_for_minimum(keys) : keys;
#else
    for (uint i = 0; i < CHANNELS; ++i) {
        keys[i] = texel_key(texel[i], SOURCE_UNORM_BITS);
        if (REDUCTION == REDUCE_MIN || (REDUCTION == REDUCE_MIN_MAX && i == 0)) {
            keys[i] = key_for_minimum(keys[i]);
        }
    }
    return keys;
#endif
}

ITEM nothing() {
    ITEM keys = ITEM(REDUCTION == REDUCE_MIN ? 0xffffffffU : 0);
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        keys.x = 0xffffffffU;
    }
#endif
    return keys;
}

ITEM reduce_two(ITEM a, ITEM b) {
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return uvec2(min(a.x, b.x), max(a.y, b.y));
    }
#endif
    return REDUCTION == REDUCE_MIN ? min(a, b) : max(a, b);
}

ITEM reduce_four(ITEM a, ITEM b, ITEM c, ITEM d) {
    return reduce_two(reduce_two(a, b), reduce_two(c, d));
}

ITEM mean_of_four(ITEM sum) { return sum; }  // there are no means of keys

float float_of(uint key) { return uintBitsToFloat(bits_from_key(settle_key(key))); }

#if CHANNELS == 1
TEXEL encode(ITEM item) { return float_of(item); }
uint word_of(ITEM item, uint i) { return item; }
void set_word(inout ITEM item, uint i, uint word) { item = word; }
#else
TEXEL encode(ITEM item) {
    TEXEL texel;
    for (uint i = 0; i < CHANNELS; ++i) {
        texel[i] = float_of(item[i]);
    }
    return texel;
}
uint word_of(ITEM item, uint i) { return item[i]; }
void set_word(inout ITEM item, uint i, uint word) { item[i] = word; }
#endif

#else  // floats and halves

// Whether unorm channels are reduced as codes, because they stay unorm: sums of integers are exact.
layout(constant_id = 12) const bool IN_CODES = false;
#define LARGEST_SOURCE_CODE float(encoding_largest_code(SOURCE_ENCODING))
#define LARGEST_TARGET_CODE float(encoding_largest_code(TARGET_ENCODING))

float decode_linear(float texel) {
    if (SOURCE_UNORM_BITS == 0) {
        return texel;
    }
    if (FILTERED) {
        return IN_CODES ? texel * LARGEST_SOURCE_CODE : texel;
    }
    const float code = floor(texel * LARGEST_SOURCE_CODE + 0.5);
    return IN_CODES ? code : uintBitsToFloat(bits_from_unorm(uint(code), SOURCE_UNORM_BITS));
}

#if CHANNELS == 4
#if !ODD_BLOCKS
shared float shared_light[256];  // srgb_light
#endif

float decode_colour(float texel) {
    if (FILTERED) {
        return texel;
    }
    const uint code = uint(texel * 255.0 + 0.5);
#if ODD_BLOCKS  // there shared memory has other uses
    return srgb_light[code];
#else
    return shared_light[code];
#endif
}
#endif

ITEM item_of(TEXEL texel) {
#if CHANNELS == 4
    if (SOURCE_ENCODING == ENCODING_SRGB8) {
        return ITEM(decode_colour(texel.r), decode_colour(texel.g), decode_colour(texel.b),
                    decode_linear(texel.a));
    }
#endif
#if CHANNELS == 1
    return ITEM(decode_linear(texel));
#else
    ITEM item;
    for (uint i = 0; i < CHANNELS; ++i) {
        item[i] = SCALAR(decode_linear(texel[i]));
    }
    return item;
#endif
}

ITEM nothing() {
    const SCALAR infinity = SCALAR(uintBitsToFloat(0x7f800000U));
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return ITEM(infinity, -infinity);
    }
#endif
    return ITEM(REDUCTION == REDUCE_MAX ? -infinity
                                        : (REDUCTION == REDUCE_MIN ? infinity : SCALAR(0.0)));
}

ITEM reduce_two(ITEM a, ITEM b) {
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return ITEM(min(a.x, b.x), max(a.y, b.y));
    }
#endif
    return REDUCTION == REDUCE_MIN ? min(a, b) : (REDUCTION == REDUCE_MAX ? max(a, b) : a + b);
}

ITEM mean_of_four(ITEM sum) { return sum * SCALAR(0.25); }

ITEM reduce_four(ITEM a, ITEM b, ITEM c, ITEM d) {
#if CUSTOM
    return reduce(a, b, c, d);
#else
#if HALVES
    if (REDUCTION == REDUCE_MEAN) {  // quarters first: a sum of halves may be too large for a half
        const SCALAR quarter = SCALAR(0.25);
        return (a * quarter + b * quarter) + (c * quarter + d * quarter);
    }
#endif
    const ITEM reduced = reduce_two(reduce_two(a, b), reduce_two(c, d));
    return REDUCTION == REDUCE_MEAN ? mean_of_four(reduced) : reduced;
#endif
}

float encode_linear(float value) {
    if (TARGET_ENCODING == ENCODING_FLOAT32) {
        return value;
    }
    if (TARGET_ENCODING == ENCODING_FLOAT16) {
        return uintBitsToFloat(round_to_half(floatBitsToUint(value)));
    }
    const float code = IN_CODES ? value : value * LARGEST_TARGET_CODE;
    return roundEven(clamp(code, 0.0, LARGEST_TARGET_CODE)) * (1.0 / LARGEST_TARGET_CODE);
}

#if CHANNELS == 4
// The code whose linear light is nearest on the scale of codes. The formula finds it but for values
// close to the border of two codes, where the table of borders decides: log2 and exp2 may be off by
// some units of the last place, together by less than 0.0005 codes.
float encode_colour(float linear) {
    const float value = clamp(linear, 0.0, 1.0);
    const float scaled =
        255.0 * (value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1.0 / 2.4) - 0.055);
    uint code = uint(scaled + 0.5);
    if (abs(fract(scaled) - 0.5) < 0.001) {
        code = uint(scaled);
        code += uint(code < 255 && value >= srgb_border[min(code, 254)]);
    }
    return float(code) * (1.0 / 255.0);
}
#endif

TEXEL encode(ITEM item) {
    const TEXEL value = TEXEL(item);
#if CHANNELS == 1
    return encode_linear(value);
#else
#if CHANNELS == 4
    if (TARGET_ENCODING == ENCODING_SRGB8) {
        return vec4(encode_colour(value.r), encode_colour(value.g), encode_colour(value.b),
                    encode_linear(value.a));
    }
#endif
    TEXEL texel;
    for (uint i = 0; i < CHANNELS; ++i) {
        texel[i] = encode_linear(value[i]);
    }
    return texel;
#endif
}

#if CHANNELS == 1
uint word_of(ITEM item, uint i) { return floatBitsToUint(float(item)); }
void set_word(inout ITEM item, uint i, uint word) { item = ITEM(uintBitsToFloat(word)); }
#else
uint word_of(ITEM item, uint i) { return floatBitsToUint(float(item[i])); }
void set_word(inout ITEM item, uint i, uint word) { item[i] = SCALAR(uintBitsToFloat(word)); }
#endif

#endif

// A texel of level 0 as it is copied.
TEXEL copy_of(TEXEL texel) {
    return SOURCE_ENCODING == TARGET_ENCODING ? texel : encode(item_of(texel));
}
