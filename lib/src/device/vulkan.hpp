// Vulkan-Hpp as the library uses it: in a namespace of its own and with a dispatcher for each
// device, so that a host application's Vulkan-Hpp of any version never meets quadtile's.
// Precompiled.

#pragma once

#define VULKAN_HPP_NAMESPACE quadtile_vulkan
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_NO_SPACESHIP_OPERATOR
#include <vulkan/vulkan.hpp>

namespace quadtile {

namespace vk = ::quadtile_vulkan;

using Dispatch = vk::DispatchLoaderDynamic;

template <typename Handle>
using Unique = vk::UniqueHandle<Handle, Dispatch>;

}  // namespace quadtile
