// Common parts of pyramid.cpp, subdivider.cpp and downsampler.cpp.

#pragma once

#include "device/compute_program.hpp"

#include <quadtile/kernel_parameters.h>
#include <quadtile/image.hpp>
#include <quadtile/subdivider.hpp>

#include <string>
#include <vector>

namespace quadtile::detail {

// Throws Error if the device cannot sample images of this shape and format.
void check_map(const DeviceContext& context, const MapShape& shape);

// Throws Error(unsupported) for a buffer that one descriptor cannot reach. `what` is in it;
// `remedy` comes before the general one: "use less, ".
void check_reach(const DeviceContext& context, const std::string& what, std::uint64_t size_bytes,
                 const char* remedy = "");

// Throws Error if the device cannot address the map's pyramid.
void check_pyramid(const DeviceContext& context, const MapShape& shape);

[[nodiscard]] vk::DeviceSize pyramid_size_bytes(const MapShape& shape) noexcept;

[[nodiscard]] bool pyramid_is_one_chunk(const DeviceContext& context, const MapShape& shape);

// Records downsample.comp for all blocks. `by_steps`: a dispatch for each hand-over (blocks.glsl).
void record_downsampling(vk::CommandBuffer commands, const ComputeProgram& program,
                         vk::Pipeline pipeline, vk::DescriptorSet descriptors,
                         DownsampleParameters parameters, std::uint32_t edge_rule, bool by_steps);

// Appends the descriptors of its bindings.
void append_pyramid_chunks(std::vector<Descriptor>& descriptors, const DeviceContext& context,
                           const MapShape& shape, const BufferRange& pyramid);

// Appends the descriptors of `count` elements of one size, in BUFFER_CHUNKS chunks of 2^chunk_shift
// elements. Each descriptor begins `lead_bytes` before its elements. Empty chunks get the range of
// the first one.
void append_chunks(std::vector<Descriptor>& descriptors, const BufferRange& range,
                   std::uint64_t count, vk::DeviceSize element_bytes, std::uint32_t chunk_shift,
                   vk::DeviceSize lead_bytes);

}  // namespace quadtile::detail
