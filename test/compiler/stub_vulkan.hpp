// A Vulkan loader whose devices compile but do not run: pipelines and their layouts are the
// driver's, all else succeeds and does nothing. Mapped memory holds zeros at first. With Mesa's
// RADV_FORCE_FAMILY it shows what AMD's compiler makes of the kernels, without AMD's hardware.
//
// The executable's own vkGetInstanceProcAddr is this loader. Not thread-safe.

#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test::stub_vulkan {

// A pipeline and the driver's statistics of it (VK_KHR_pipeline_executable_properties) by name.
struct Compiled {
    std::vector<std::uint32_t> spirv;
    std::map<std::string, std::uint64_t> statistics;
};

// Devices say that their subgroups have so many threads.
void set_subgroup_size(std::uint32_t size);

// Returns the pipelines since the last call.
[[nodiscard]] std::vector<Compiled> take_compiled();

}  // namespace quadtile::test::stub_vulkan

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                          const char* name);
