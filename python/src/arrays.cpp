#include "arrays.hpp"

#include <quadtile/tiles.hpp>

#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace quadtile::python {

namespace {

struct ArrayFormat {
    char kind;  // as numpy.dtype.kind
    std::size_t size_bytes;
    std::size_t channels;
    bool srgb;
    TexelFormat format;
};

constexpr std::array FORMATS = std::to_array<ArrayFormat>({
    {'f', 4, 1, false, TexelFormat::r32_float},
    {'f', 4, 2, false, TexelFormat::rg32_float},
    {'f', 4, 4, false, TexelFormat::rgba32_float},
    {'f', 2, 1, false, TexelFormat::r16_float},
    {'f', 2, 2, false, TexelFormat::rg16_float},
    {'f', 2, 4, false, TexelFormat::rgba16_float},
    {'u', 2, 1, false, TexelFormat::r16_unorm},
    {'u', 1, 1, false, TexelFormat::r8_unorm},
    {'u', 1, 4, false, TexelFormat::rgba8_unorm},
    {'u', 1, 4, true, TexelFormat::rgba8_srgb},
});

std::string text(py::handle object) {
    return py::str(object).cast<std::string>();
}

// Returns the given array; no texel is copied. What its __array__ raises goes through.
py::array array_from(py::handle given, const char* name) {
    static const py::handle masked_array =
        py::object(py::module_::import("numpy.ma").attr("MaskedArray")).release();
    if (py::isinstance(given, masked_array)) {
        throw py::type_error(std::string(name) +
                             " is a masked array, but texels have no mask; give " + name +
                             ".filled(value)");
    }
    return py::array(py::reinterpret_borrow<py::object>(given));
}

bool is_texel(const py::dtype& dtype) {
    const std::size_t size = item_size_bytes(dtype);
    return (dtype.kind() == 'f' && (size == 4 || size == 2)) ||
           (dtype.kind() == 'u' && (size == 2 || size == 1));
}

[[noreturn]] void throw_dtype_error(const py::array& array, const char* name, const char* wanted) {
    throw py::type_error(std::string(name) + " must be an array of " + wanted + ", not of " +
                         text(array.dtype()) + "; convert it, e.g. by " + name +
                         ".astype(numpy.float32)");
}

std::uint32_t extent(const py::array& array, py::ssize_t axis, const char* name) {
    const py::ssize_t size = array.shape(axis);
    if (size > std::numeric_limits<std::uint32_t>::max()) {
        throw py::value_error(std::string(name) + " of the shape " + text(array.attr("shape")) +
                              " is too large: the most are 65536 texels on a side and 65536 "
                              "layers; cut it into several arrays");
    }
    return static_cast<std::uint32_t>(size);
}

py::array texels_from(py::handle given, const char* name) {
    py::array array = array_from(given, name);
    if (!is_texel(array.dtype())) {
        throw_dtype_error(array, name, "float32, float16, uint16 or uint8");
    }
    return array;
}

// An array of other types than texels becomes one of float32. The last axis is the channels if
// has_channels.
HostImage image_from(py::array array, bool has_channels, bool srgb, const char* name) {
    const py::ssize_t axes = array.ndim() - (has_channels ? 1 : 0);
    if (axes != 2 && axes != 3) {
        const std::string channels = has_channels ? ", channels" : "";
        throw py::value_error(std::string(name) + " must have the axes (height, width" + channels +
                              ") or (layers, height, width" + channels + "), but its shape is " +
                              text(array.attr("shape")));
    }
    const auto channels = has_channels ? static_cast<std::size_t>(array.shape(axes)) : 1;
    const bool is_read = is_texel(array.dtype());
    const py::dtype dtype =
        is_read ? py::dtype(array.dtype().attr("newbyteorder")("=")) : py::dtype::of<float>();
    const ImageShape shape = {
        .width = extent(array, axes - 1, name),
        .height = extent(array, axes - 2, name),
        .layers = axes == 3 ? extent(array, 0, name) : 1,
        .format = texel_format(dtype.kind(), item_size_bytes(dtype), channels, srgb)};
    check_image(shape);  // before a copy, which may be too large
    const bool is_swapped = array.dtype().byteorder() == '>';
    constexpr int READABLE =
        py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
    if (!is_read || is_swapped || (array.flags() & READABLE) != READABLE) {
        array = array.attr("astype")(dtype, py::arg("order") = "C");
    }
    const ImageView view = {array.data(), shape};
    return {std::move(array), view};
}

}  // namespace

// pybind11 before 2.12 reads 0 from the dtypes of NumPy 2, so it may not look itself.
std::size_t item_size_bytes(const py::dtype& dtype) {
    return dtype.attr("itemsize").cast<std::size_t>();
}

HostImage map_from(py::handle given, const char* name) {
    return image_from(texels_from(given, name), false, false, name);
}

HostImage image_with_channels_from(py::handle given, bool srgb, const char* name) {
    return image_from(texels_from(given, name), true, srgb, name);
}

HostImage counts_from(py::handle given, const char* name) {
    const py::array array = array_from(given, name);
    if (std::string_view("fiu").find(array.dtype().kind()) == std::string_view::npos) {
        throw_dtype_error(array, name, "floats or integers");
    }
    return image_from(array, false, false, name);
}

ThresholdArray thresholds_from(py::handle given, const char* name) {
    const py::array array = array_from(given, name);
    const bool is_integer = array.dtype().kind() == 'u';
    if (array.dtype().kind() != 'f' && !is_texel(array.dtype())) {
        throw_dtype_error(array, name,
                          "float64 or a type of maps (float32, float16, uint16, uint8)");
    }
    return {py::array_t<float, py::array::c_style | py::array::forcecast>(array),
            !is_integer                           ? 1.0F
            : item_size_bytes(array.dtype()) == 1 ? 255.0F
                                                  : 65535.0F};
}

TexelFormat texel_format(char kind, std::size_t size_bytes, std::size_t channels, bool srgb) {
    for (const ArrayFormat& known : FORMATS) {
        if (known.kind == kind && known.size_bytes == size_bytes && known.channels == channels &&
            known.srgb == srgb) {
            return known.format;
        }
    }
    const std::string type = (kind == 'f' ? "float" : "uint") + std::to_string(8 * size_bytes);
    throw py::value_error("quadtile has no format with " + std::to_string(channels) +
                          (channels == 1 ? " channel of " : " channels of ") + type +
                          (srgb ? " in sRGB" : "") +
                          ": float32 and float16 have 1, 2 or 4 channels, uint16 has 1, uint8 has "
                          "1 or 4, and sRGB is "
                          "uint8 with 4");
}

py::array array_of(const void* texels, const ImageShape& shape, bool has_layers, py::handle owner) {
    const std::size_t channels = channel_count(shape.format);
    const std::size_t size_bytes = texel_size_bytes(shape.format) / channels;
    std::string type;
    for (const ArrayFormat& known : FORMATS) {
        if (known.format == shape.format) {
            type = known.kind + std::to_string(size_bytes);
        }
    }
    std::vector<py::ssize_t> extents;
    if (has_layers) {
        extents.push_back(shape.layers);
    }
    extents.insert(extents.end(), {shape.height, shape.width});
    if (channels > 1) {
        extents.push_back(static_cast<py::ssize_t>(channels));
    }
    const auto item = static_cast<py::ssize_t>(size_bytes);
    return {py::dtype(type), extents, py::detail::c_strides(extents, item), texels, owner};
}

py::array array_of(std::vector<std::byte> texels, const ImageShape& shape, bool has_layers) {
    const void* const first = texels.data();  // moving does not change it
    return array_of(first, shape, has_layers, owner_of(std::move(texels)));
}

py::dtype tile_dtype() {
    static const py::handle dtype = [] {
        static_assert(sizeof(Tile) == 16);
        py::list fields;
        for (const auto& [name, type] : {std::pair{"x", "<u2"},
                                         {"y", "<u2"},
                                         {"level", "u1"},
                                         {"flags", "u1"},
                                         {"layer", "<u2"},
                                         {"importance", "<f4"},
                                         {"threshold", "<f4"}}) {
            fields.append(py::make_tuple(name, type));
        }
        return py::dtype::from_args(std::move(fields)).release();
    }();
    return py::reinterpret_borrow<py::dtype>(dtype);
}

}  // namespace quadtile::python
