/// \file
/// The caller's Vulkan resources for the recording layer.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <vulkan/vulkan_core.h>

namespace quadtile {

/// A map as an image view.
struct MapImage {
    /// View of type VK_IMAGE_VIEW_TYPE_2D_ARRAY with the MapShape's format, one mip level and all
    /// layers, of an image with VK_IMAGE_USAGE_SAMPLED_BIT. Depth formats: the depth aspect.
    VkImageView view = VK_NULL_HANDLE;
    /// Layout of the image when the commands execute: SHADER_READ_ONLY_OPTIMAL, GENERAL, or one of
    /// the read-only depth layouts.
    VkImageLayout layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
};

/// A range of the caller's buffer.
struct BufferRange {
    VkBuffer buffer = VK_NULL_HANDLE;  ///< owned by the caller
    VkDeviceSize offset_bytes = 0;     ///< a multiple of Requirements::alignment_bytes
};

/// Returns the VkFormat of a texel format.
[[nodiscard]] QUADTILE_API VkFormat vk_format(TexelFormat format) noexcept;

/// An image of the caller with its creation parameters.
struct ImageResource {
    VkImage image = VK_NULL_HANDLE;  ///< owned by the caller
    /// Creation parameters of the image; pNext is ignored.
    VkImageCreateInfo created = {};
    /// Layout of the image when the commands execute.
    VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
};

}  // namespace quadtile
