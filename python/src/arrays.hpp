// NumPy arrays as maps and images, and what the library makes as NumPy arrays.

#pragma once

#include <quadtile/image.hpp>

#include <pybind11/numpy.h>

#include <cstddef>
#include <vector>

namespace quadtile::python {

namespace py = pybind11;

// An array's texels as the library reads them: C order, native byte order. A copy where the array
// is otherwise.
struct HostImage {
    py::array array;  // owns the texels
    ImageView view;
};

// A map of (height, width) or (layers, height, width), of float32, float16, uint16 or uint8. `name`
// is what messages call it. Throws TypeError (dtype, no array), ValueError (shape).
[[nodiscard]] HostImage map_from(py::handle given, const char* name);

// The same of an image whose last axis is its channels.
[[nodiscard]] HostImage image_with_channels_from(py::handle given, bool srgb, const char* name);

// The format of texels; throws ValueError where there is none.
[[nodiscard]] TexelFormat texel_format(char kind, std::size_t size_bytes, std::size_t channels,
                                       bool srgb);

// Texels as an array of (height, width), with a first axis for layers if `has_layers` and a last
// one for channels if there are several. The array owns `texels` from then on.
[[nodiscard]] py::array array_of(std::vector<std::byte> texels, const ImageShape& shape,
                                 bool has_layers);
// The same of texels that `owner` owns.
[[nodiscard]] py::array array_of(const void* texels, const ImageShape& shape, bool has_layers,
                                 py::handle owner);

// numpy.dtype of quadtile::Tile.
[[nodiscard]] py::dtype tile_dtype();

// An object that frees `value` with itself.
template <typename T>
[[nodiscard]] py::capsule owner_of(T value) {
    return {new T(std::move(value)), [](void* pointer) { delete static_cast<T*>(pointer); }};
}

}  // namespace quadtile::python
