// Reduction of the downsampler: from a texel to an item, from four items to one, and from an item to a texel. Items are
// floats, for means and sums. The kernel defines
//
//   CHANNELS  1, 2 or 4
//   EXTREMES  1: minima and maxima, exact with NaN: texels are compared as keys, items are settled (texel_encoding.h)
//   CUSTOM    1: four items become one by the user's reduce; a and b are the upper two

#include "quadtile/mip.h"
#include "quadtile/texel_encoding.h"

layout(constant_id = 1) const uint REDUCTION = REDUCE_MAX;
layout(constant_id = 2) const uint EDGE_RULE = EDGE_ROUND_UP;
layout(constant_id = 6) const uint SOURCE_ENCODING = ENCODING_FLOAT32;
layout(constant_id = 7) const uint TARGET_ENCODING = ENCODING_FLOAT32;
layout(constant_id = 8) const uint SOURCE_CHANNELS = CHANNELS;
layout(constant_id = 5) const bool FILTERED = false;  // whether the sampler filters each quad to one texel

// CHANNEL(v, i): channel i of a texel, an item or a key. EACH_CHANNEL(i): repeats the next block for each channel.
#if CHANNELS == 1
#define TEXEL float
#define KEY_WORDS uint
#define TEXEL_OF(v) (v).r
#define VEC4_OF(t) vec4(t, 0.0, 0.0, 1.0)
#define CHANNEL(v, i) v
#define EACH_CHANNEL(i) const uint i = 0;
#else
#define CHANNEL(v, i) v[i]
#define EACH_CHANNEL(i) for (uint i = 0; i < CHANNELS; ++i)
#if CHANNELS == 2
#define TEXEL vec2
#define KEY_WORDS uvec2
#define TEXEL_OF(v) (v).rg
#define VEC4_OF(t) vec4(t, 0.0, 1.0)
#else
#define TEXEL vec4
#define KEY_WORDS uvec4
#define TEXEL_OF(v) (v)
#define VEC4_OF(t) (t)
#endif
#endif
#define ITEM TEXEL  // a decoded texel

// The sRGB tables, in shared memory if they fit.
#if CHANNELS == 4 && !EXTREMES && !ODD_BLOCKS
shared SrgbTables shared_srgb;
#define SRGB shared_srgb
void copy_srgb_tables(uint thread) {
    if (SOURCE_ENCODING == ENCODING_SRGB8 && !FILTERED) {
        for (uint i = thread; i < SRGB_CODES; i += WORKGROUP_SIZE) {
            shared_srgb.light[i] = srgb.light[i];
        }
    }
    if (TARGET_ENCODING == ENCODING_SRGB8) {
        for (uint i = thread; i < SRGB_CODES; i += WORKGROUP_SIZE) {
            shared_srgb.border[i] = srgb.border[i];
        }
        for (uint i = thread; i < SRGB_START_WORDS; i += WORKGROUP_SIZE) {
            shared_srgb.starts[i] = srgb.starts[i];
        }
    }
    barrier();
}
#else
#define SRGB srgb
void copy_srgb_tables(uint thread) {}
#endif

const uint SOURCE_UNORM_BITS = SOURCE_ENCODING == ENCODING_UNORM16 ? 16 : (SOURCE_ENCODING >= ENCODING_UNORM8 ? 8 : 0);
const bool IS_SUM = REDUCTION == REDUCE_MEAN || REDUCTION == REDUCE_SUM;

#if CUSTOM
TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d);
#endif

ITEM nothing() {
    const float infinity = uintBitsToFloat(0x7f800000U);
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return ITEM(infinity, -infinity);
    }
#endif
    return ITEM(REDUCTION == REDUCE_MAX ? -infinity : (REDUCTION == REDUCE_MIN ? infinity : 0.0));
}

ITEM reduce_two(ITEM a, ITEM b) {
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return ITEM(min(a.x, b.x), max(a.y, b.y));
    }
#endif
    return REDUCTION == REDUCE_MIN ? min(a, b) : (REDUCTION == REDUCE_MAX ? max(a, b) : a + b);
}

// Returns the item of a texel from the result of reduce_two over all items below it. Extremes have no choice here:
// SLOW_CHOICES (cpu_drivers.glsl).
#if EXTREMES
ITEM finished(ITEM item) { return item; }
#else
ITEM finished(ITEM item) { return REDUCTION == REDUCE_MEAN ? item * 0.25 : item; }
#endif

ITEM reduce_four(ITEM a, ITEM b, ITEM c, ITEM d) {
#if CUSTOM
    return reduce(a, b, c, d);
#else
    return finished(reduce_two(reduce_two(a, b), reduce_two(c, d)));
#endif
}

#if EXTREMES

#define KEY KEY_WORDS

bool is_minimum(uint channel) { return REDUCTION == REDUCE_MIN || (REDUCTION == REDUCE_MIN_MAX && channel == 0); }

// Returns the key of a float's bits: as in texel_encoding.h, or, if the source is unorm, the bits themselves, which are
// in order because they are neither negative nor NaN. Only this function and float_of choose the kind of key, so keys
// of texels and of items that were handed over can be compared.
uint key_of_bits(uint bits) { return SOURCE_UNORM_BITS != 0 ? bits : key_from_bits(bits); }

float float_of(uint key) { return uintBitsToFloat(SOURCE_UNORM_BITS != 0 ? key : settled_bits(key)); }

bool counts_as_nan(uint key) { return SOURCE_UNORM_BITS == 0 && key_is_nan(key); }

// Returns the key of a channel. NaN counts as the extreme in question, because its value is unknown.
uint channel_key(float texel, uint channel) {
    const float exact = SOURCE_UNORM_BITS != 0 ? unorm_texel(texel, SOURCE_UNORM_BITS) : texel;
    const uint key = key_of_bits(floatBitsToUint(exact));
    return is_minimum(channel) && counts_as_nan(key) ? 0 : key;
}

KEY key_of(TEXEL texel) {
    KEY key;
    EACH_CHANNEL(i) { CHANNEL(key, i) = channel_key(CHANNEL(texel, i), i); }
    return key;
}

ITEM item_of_key(KEY key) {
    ITEM item;
    EACH_CHANNEL(i) { CHANNEL(item, i) = float_of(CHANNEL(key, i)); }
    return item;
}

KEY reduce_keys(KEY a, KEY b) {
#if CHANNELS == 2
    if (REDUCTION == REDUCE_MIN_MAX) {
        return uvec2(min(a.x, b.x), max(a.y, b.y));
    }
#endif
    return REDUCTION == REDUCE_MIN ? min(a, b) : max(a, b);
}

ITEM item_of(TEXEL texel) { return item_of_key(key_of(texel)); }

KEY reduce_four(KEY a, KEY b, KEY c, KEY d) { return reduce_keys(reduce_keys(a, b), reduce_keys(c, d)); }

TEXEL encode(ITEM item) { return item; }

#else

// Whether unorm channels are reduced as codes, because they stay unorm: sums of integers are exact.
layout(constant_id = 12) const bool IN_CODES = false;
#define LARGEST_TARGET_CODE float(encoding_largest_code(TARGET_ENCODING))

float decode_linear(float texel, uint encoding, bool filtered) {
    if (encoding < ENCODING_UNORM8) {
        return texel;
    }
    const float largest_code = float(encoding_largest_code(encoding));
    if (filtered) {
        return IN_CODES ? texel * largest_code : texel;
    }
    const float code = floor(texel * largest_code + 0.5);
    return IN_CODES ? code : uintBitsToFloat(bits_from_unorm(uint(code), encoding == ENCODING_UNORM16 ? 16 : 8));
}

#if CHANNELS == 4
float decode_colour(float texel, bool stored) {
    const uint code = uint(texel * 255.0 + 0.5);
    return stored ? srgb.light[code] : (FILTERED ? texel : SRGB.light[code]);
}
#endif

// Returns the item of a texel of the source, or of one that was stored.
ITEM decode(TEXEL texel, bool stored) {
    const uint encoding = stored ? TARGET_ENCODING : SOURCE_ENCODING;
    const bool filtered = !stored && FILTERED;
#if CHANNELS == 4
    if (encoding == ENCODING_SRGB8) {
        return ITEM(decode_colour(texel.r, stored), decode_colour(texel.g, stored),
                    decode_colour(texel.b, stored), decode_linear(texel.a, encoding, filtered));
    }
#endif
    ITEM item;
    EACH_CHANNEL(i) { CHANNEL(item, i) = decode_linear(CHANNEL(texel, i), encoding, filtered); }
    return item;
}

ITEM item_of(TEXEL texel) { return decode(texel, false); }

// Items are reduced without keys.
#define KEY ITEM
#define key_of item_of
#define item_of_key(key) key

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
// Returns the code whose linear light is nearest on the scale of codes; see SrgbTables.
float encode_colour(float linear) {
    const float value = clamp(linear, uintBitsToFloat(SRGB_DARKEST), uintBitsToFloat(SRGB_BRIGHTEST));
    const uint cell = srgb_cell(floatBitsToUint(value));
    const uint code = bitfieldExtract(SRGB.starts[cell / 4], int(8 * (cell % 4)), 8);
    return float(code + uint(value >= SRGB.border[code])) * (1.0 / 255.0);
}
#endif

TEXEL encode(ITEM item) {
#if CHANNELS == 4
    if (TARGET_ENCODING == ENCODING_SRGB8) {
        return vec4(encode_colour(item.r), encode_colour(item.g), encode_colour(item.b), encode_linear(item.a));
    }
#endif
    TEXEL texel;
    EACH_CHANNEL(i) { CHANNEL(texel, i) = encode_linear(CHANNEL(item, i)); }
    return texel;
}

// Returns the item of the texel as which an item is stored.
ITEM item_of_stored(ITEM item) { return decode(encode(item), true); }

#endif

uint word_of(ITEM item, uint i) { return floatBitsToUint(CHANNEL(item, i)); }
void set_word(inout ITEM item, uint i, uint word) { CHANNEL(item, i) = uintBitsToFloat(word); }

// Returns a texel of level 0 for the copy.
TEXEL copy_of(TEXEL texel) { return SOURCE_ENCODING == TARGET_ENCODING ? texel : encode(item_of(texel)); }
