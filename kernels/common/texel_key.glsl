// Key of a texel as the texture unit delivers it.

uint texel_key(float texel) { return key_from_bits(floatBitsToUint(texel)); }
