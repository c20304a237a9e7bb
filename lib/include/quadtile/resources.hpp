/// \file
/// Vulkan resources that the caller brings to the recording layer.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <vulkan/vulkan_core.h>

namespace quadtile {

/// The map as the kernels see it.
struct MapImage {
    /// Type VK_IMAGE_VIEW_TYPE_2D_ARRAY, format of the MapShape, one mip level, `layers` layers, of
    /// an image with VK_IMAGE_USAGE_SAMPLED_BIT. Depth formats: the depth aspect.
    VkImageView view = VK_NULL_HANDLE;
    /// The layout the image is in when the commands execute: SHADER_READ_ONLY_OPTIMAL, GENERAL, or
    /// one of the read-only depth layouts.
    VkImageLayout layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
};

/// A range of a buffer of the caller's.
struct BufferRange {
    VkBuffer buffer = VK_NULL_HANDLE;  ///< stays the caller's
    VkDeviceSize offset_bytes = 0;     ///< aligned as Requirements::alignment_bytes says
};

/// The VkFormat of an image's format.
[[nodiscard]] QUADTILE_API VkFormat vk_format(TexelFormat format) noexcept;

/// An image of the caller's, described as it was created.
struct ImageResource {
    VkImage image = VK_NULL_HANDLE;  ///< stays the caller's
    /// What the image was created with; pNext is not looked at.
    VkImageCreateInfo created = {};
    /// The layout it is in when the commands execute.
    VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
};

}  // namespace quadtile
