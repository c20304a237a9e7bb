// A Vulkan loader whose buffers lie at the end of their pages, behind them one that nobody may
// touch: what writes or reads beyond staging memory crashes there. Where a buffer ends within its
// alignment (up to 63 bytes), the rest holds a pattern that must stay, and the address sanitizer
// guards it, too. New memory is full of the pattern.
//
// Needs VK_EXT_external_memory_host and works on CPU drivers alone; elsewhere calls go on to the
// real loader.

#pragma once

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

namespace quadtile::test::guarded_memory {

// For DeviceOptions; calls go on to the loader that quadtile opens by itself.
[[nodiscard]] PFN_vkGetInstanceProcAddr entry();

// Returns a sentence for each buffer behind which somebody wrote since the last call.
[[nodiscard]] std::vector<std::string> take_mistakes();

}  // namespace quadtile::test::guarded_memory
