// What pyramid.cpp and subdivider.cpp both know of a map and its pyramid.

#pragma once

#include "device/compute_program.hpp"

#include <quadtile/image.hpp>
#include <quadtile/pyramid.hpp>

#include <vector>

namespace quadtile::detail {

// Throws Error where the device cannot sample images of this shape and format.
void check_map(const DeviceContext& context, const MapShape& shape);

// Throws Error where the device cannot address the map's pyramid.
void check_pyramid(const DeviceContext& context, const MapShape& shape);

// 8 or 16 for the unorm formats, 0 for the others: what the kernels are told of a format.
[[nodiscard]] std::uint32_t unorm_bits(TexelFormat format) noexcept;

[[nodiscard]] vk::DeviceSize pyramid_size_bytes(const MapShape& shape) noexcept;

// The specialization constant of kernels/common/pyramid_chunks.glsl.
[[nodiscard]] Specialization::value_type pyramid_chunk_constant(const DeviceContext& context);

[[nodiscard]] bool pyramid_is_one_chunk(const DeviceContext& context, const MapShape& shape);

// The descriptors of its bindings.
void append_pyramid_chunks(std::vector<Descriptor>& descriptors, const DeviceContext& context,
                           const MapShape& shape, const BufferRange& pyramid);

// The descriptors of `count` elements of one size, in BUFFER_CHUNKS chunks of 2^chunk_shift
// elements. Each begins `lead_bytes` before its elements. Chunks that nothing lies in get the first
// one's range.
void append_chunks(std::vector<Descriptor>& descriptors, const BufferRange& range,
                   std::uint64_t count, vk::DeviceSize element_bytes, std::uint32_t chunk_shift,
                   vk::DeviceSize lead_bytes);

}  // namespace quadtile::detail
