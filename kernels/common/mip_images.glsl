// Mip levels as storage images, only written: image i is the level i above the base level. Devices that cannot index
// them at run time get a ladder of constant indices.
//
// A device whose shaders have room for fewer images than there are levels gets a window of the levels, and the host
// runs the whole dispatch again per window. So every level is made from the same values as on other devices.

layout(constant_id = 9) const bool DYNAMIC_INDEXING = false;
layout(constant_id = 19) const uint MIP_IMAGES = MAX_LEVELS;  // or the most that a shader of the device can use
// Bound for devices with fewer images. SwiftShader also reads images in branches that are not taken, at any index.
const uint LARGEST_INDEX = MIP_IMAGES < MAX_LEVELS ? MIP_IMAGES - 1 : ~0U;

layout(set = 0, binding = 5) uniform writeonly image2DArray mip_images[MIP_IMAGES];

// No case names an image behind the last, because drivers also check cases that never run.
#define STORE_IN(i) case i: imageStore(mip_images[i < MIP_IMAGES ? i : 0], position, texel); break;

// `image` must be the same for all threads of a subgroup.
void store_texel(uint image, ivec3 position, vec4 texel) {
    if (MIP_IMAGES < MAX_LEVELS) {
        image -= parameters.first_image;
        if (image >= MIP_IMAGES) {  // or below the window
            return;
        }
    }
    if (DYNAMIC_INDEXING) {
        imageStore(mip_images[min(image, LARGEST_INDEX)], position, texel);
        return;
    }
    switch (image) {
        STORE_IN(0) STORE_IN(1) STORE_IN(2) STORE_IN(3) STORE_IN(4) STORE_IN(5)
        STORE_IN(6) STORE_IN(7) STORE_IN(8) STORE_IN(9) STORE_IN(10) STORE_IN(11)
        STORE_IN(12) STORE_IN(13) STORE_IN(14) STORE_IN(15) STORE_IN(16)
    }
}
