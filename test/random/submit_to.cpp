#include "device/device_context.hpp"
#include "subjects.hpp"

namespace quadtile::test {

SubmitFunction submit_to(const Device& device) {
    return [context = device.context()](const VkSubmitInfo& work, VkFence fence) {
        context->submit(vk::SubmitInfo(work), vk::Fence(fence));  // throws where it fails
        return VK_SUCCESS;
    };
}

}  // namespace quadtile::test
