// The mip levels as storage images, written only: image i is the level i above the base level. Devices
// that cannot choose among them at run time get a ladder of constant choices.

layout(constant_id = 9) const bool DYNAMIC_INDEXING = false;

layout(set = 0, binding = 5) uniform writeonly image2DArray mip_images[MAX_LEVELS];

#define STORE_IN(i)                                 \
    case i:                                         \
        imageStore(mip_images[i], position, texel); \
        break;

// `image` must be the same for all threads of a subgroup.
void store_texel(uint image, ivec3 position, vec4 texel) {
    if (DYNAMIC_INDEXING) {
        imageStore(mip_images[image], position, texel);
        return;
    }
    switch (image) {
        STORE_IN(0)
        STORE_IN(1)
        STORE_IN(2)
        STORE_IN(3)
        STORE_IN(4)
        STORE_IN(5)
        STORE_IN(6)
        STORE_IN(7)
        STORE_IN(8)
        STORE_IN(9)
        STORE_IN(10)
        STORE_IN(11)
        STORE_IN(12)
        STORE_IN(13)
        STORE_IN(14)
        STORE_IN(15)
        STORE_IN(16)
    }
}
