// Conversion of NumPy arrays to maps and images, and of the library's results to NumPy arrays.

#pragma once

#include <quadtile/image.hpp>

#include <pybind11/numpy.h>

#include <cstddef>
#include <vector>

namespace quadtile::python {

namespace py = pybind11;

// An array's texels in C order and native byte order, which the library reads; a copy if the array
// has others.
struct HostImage {
    py::array array;  // owns the texels
    ImageView view;
};

// Returns a map of (height, width) or (layers, height, width), of float32, float16, uint16 or
// uint8. `name` is for messages. Throws TypeError (dtype, no array), ValueError (shape).
[[nodiscard]] HostImage map_from(py::handle given, const char* name);

// Does the same for counts: any integers, which are not scaled, or floats.
[[nodiscard]] HostImage counts_from(py::handle given, const char* name);

// Thresholds in C order; each is to be divided by `divisor`.
struct ThresholdArray {
    py::array_t<float, py::array::c_style | py::array::forcecast> values;
    float divisor;
};

// Returns thresholds in the unit of the importance: of the types of maps, with the same meaning, or
// of float64. Throws TypeError.
[[nodiscard]] ThresholdArray thresholds_from(py::handle given, const char* name);

// Does the same as map_from for an image whose last axis is its channels.
[[nodiscard]] HostImage image_with_channels_from(py::handle given, bool srgb, const char* name);

// Returns the format of texels; throws ValueError if there is none.
[[nodiscard]] TexelFormat texel_format(char kind, std::size_t size_bytes, std::size_t channels,
                                       bool srgb);

// Returns texels as an array of (height, width), with a first axis for layers if `has_layers` and a
// last one for channels if there are several. The array then owns `texels`.
[[nodiscard]] py::array array_of(std::vector<std::byte> texels, const ImageShape& shape,
                                 bool has_layers);
// Does the same for texels that `owner` owns.
[[nodiscard]] py::array array_of(const void* texels, const ImageShape& shape, bool has_layers,
                                 py::handle owner);

[[nodiscard]] std::size_t item_size_bytes(const py::dtype& dtype);

// Returns the numpy.dtype of quadtile::Tile.
[[nodiscard]] py::dtype tile_dtype();

// Returns an object that owns `value`.
template <typename T>
[[nodiscard]] py::capsule owner_of(T value) {
    return {new T(std::move(value)), [](void* pointer) { delete static_cast<T*>(pointer); }};
}

}  // namespace quadtile::python
