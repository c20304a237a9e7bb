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

/// Builds the maximum quadtree of every layer of a map in one dispatch (AMD's single-pass
/// downsampling, with counters that cascade: no limit of 4096 x 4096 texels). Owns pipelines only.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time.
class QUADTILE_API Pyramid {
 public:
    /// Compiles a pipeline; `bind` compiles others when a shape or format first needs them.
    /// Throws Error: out_of_memory, device_lost, vulkan.
    explicit Pyramid(const Device& device);

    /// What the caller must bring: two buffers, or ranges of one.
    struct Requirements {
        /// The pyramid: levels 1 to TOP, 32-bit floats, placed as quadtile/quadtree.h says
        /// (pyramid_index).
        VkDeviceSize pyramid_size_bytes;
        /// Counters. Fill it with zeros once; every run leaves it ready for the next one. Its first
        /// `layers` words hold the NaN texels of each layer after a run.
        VkDeviceSize state_size_bytes;
        VkDeviceSize alignment_bytes;  ///< of the offsets of both in their buffers
        VkBufferUsageFlags usage;      ///< STORAGE_BUFFER; add to it freely
    };

    /// What the caller must bring for maps of this shape.
    /// Throws Error(invalid_argument, unsupported) for a shape that the device cannot hold.
    [[nodiscard]] Requirements requirements(const MapShape& shape) const;

    /// What the caller brings; all of it stays the caller's.
    struct Resources {
        MapImage map;         ///< only read
        BufferRange pyramid;  ///< pyramid_size_bytes; what it holds before does not matter
        BufferRange state;    ///< state_size_bytes, zeros at first
    };

    /// The descriptors of one set of resources; copies share them. Keep one until the commands
    /// recorded with it have executed; then destroy it before the resources or after, as you like.
    class Binding {
        friend class Pyramid;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Writes the descriptors; the resources must exist, their contents do not matter yet.
    /// Throws Error: invalid_argument and unsupported as requirements does, out_of_memory.
    [[nodiscard]] Binding bind(const MapShape& shape, const Resources& resources) const;

    /// Records one dispatch into a command buffer of a queue with compute, outside a render pass.
    /// Leaves its own pipeline, descriptor set 0 and push constants bound.
    ///
    /// Before: writes to the map available and visible to COMPUTE_SHADER / SHADER_READ; earlier
    /// uses of the pyramid and the state finished or ordered before COMPUTE_SHADER / SHADER_WRITE
    /// (state: SHADER_READ too). After: pyramid and state were written by COMPUTE_SHADER /
    /// SHADER_WRITE; the map's layout is unchanged.
    ///
    /// Does not allocate, submit or wait.
    void record(VkCommandBuffer commands, const Binding& binding) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
