/// \file
/// The maximum pyramid of an importance map, recorded into the caller's command buffer.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/resources.hpp>

#include <vulkan/vulkan_core.h>

#include <memory>
#include <utility>

namespace quadtile {

/// Builds the maximum pyramid of every layer of a map in one dispatch. The method is AMD's
/// single-pass downsampling with cascading counters, so maps may exceed 4096 x 4096 texels. Owns
/// pipelines only.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time.
class QUADTILE_API Pyramid {
 public:
    /// Compiles a pipeline; `bind` compiles others for the first use of a shape or format. Throws
    /// Error: out_of_memory, device_lost, vulkan.
    explicit Pyramid(const Device& device);

    /// Sizes, alignment and usage of the caller's two buffers, or of ranges of one buffer.
    struct Requirements {
        /// The pyramid: level 1 to the root's, 32-bit floats, placed by pyramid_index (quadtree.h).
        VkDeviceSize pyramid_size_bytes;
        /// Counters. Fill the range with zeros once; every run leaves it ready for the next one.
        /// After a run the first `layers` words hold the number of NaN texels of each layer.
        VkDeviceSize state_size_bytes;
        VkDeviceSize alignment_bytes;  ///< of the offsets of both ranges in their buffers
        VkBufferUsageFlags usage;      ///< STORAGE_BUFFER; others may be added
    };

    /// Returns the requirements of maps of this shape. Throws Error(invalid_argument, unsupported)
    /// for a shape that the device cannot hold.
    [[nodiscard]] Requirements requirements(const MapShape& shape) const;

    /// The caller's resources. The caller owns all of them.
    struct Resources {
        MapImage map;         ///< only read
        BufferRange pyramid;  ///< pyramid_size_bytes; earlier contents do not matter
        BufferRange state;    ///< state_size_bytes, zeros at first
    };

    /// Descriptors of one set of resources; copies share them. Keep a binding until the commands
    /// recorded with it have executed. It may be destroyed before or after the resources.
    class Binding {
        friend class Pyramid;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Writes the descriptors. The resources must exist; their contents do not matter yet. Throws
    /// Error: invalid_argument and unsupported as requirements does, out_of_memory.
    [[nodiscard]] Binding bind(const MapShape& shape, const Resources& resources) const;

    /// Records one dispatch into a command buffer of a queue with compute, outside a render pass.
    /// Leaves its own pipeline, descriptor set 0 and push constants bound. Does not allocate,
    /// submit or wait.
    ///
    /// Before: writes to the map available and visible to COMPUTE_SHADER / SHADER_READ; earlier
    /// uses of the pyramid and the state finished, or ordered before COMPUTE_SHADER / SHADER_WRITE
    /// (state: SHADER_READ too).
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written pyramid and state; the map's layout stays.
    void record(VkCommandBuffer commands, const Binding& binding) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
