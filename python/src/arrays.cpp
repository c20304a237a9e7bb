#include "arrays.hpp"

#include "errors.hpp"

#include <array>
#include <quadtile/tiles.hpp>

#include <limits>
#include <string>

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

// Returns the given array; no texel is copied.
py::array array_from(py::handle given, const char* name) {
    static const py::handle masked_array =
        py::object(py::module_::import("numpy.ma").attr("MaskedArray")).release();
    if (py::isinstance(given, masked_array)) {
        throw py::type_error(std::string(name) +
                             " is a masked array, but importance has no mask; give " + name +
                             ".filled(value)");
    }
    py::array array = py::array::ensure(given);
    if (!array) {
        throw_type_error(name, "a NumPy array or what numpy.asarray takes", given);
    }
    const py::dtype dtype = array.dtype();
    const auto size = static_cast<std::size_t>(dtype.itemsize());
    const bool is_texel = (dtype.kind() == 'f' && (size == 4 || size == 2)) ||
                          (dtype.kind() == 'u' && (size == 2 || size == 1));
    if (!is_texel) {
        throw py::type_error(
            std::string(name) + " must be an array of float32, float16, uint16 or uint8, not of " +
            text(dtype) + "; convert it, e.g. by " + name + ".astype(numpy.float32)");
    }
    return array;
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

// `axes`: the last one is the channels if has_channels.
HostImage image_from(py::handle given, bool has_channels, bool srgb, const char* name) {
    py::array array = array_from(given, name);
    const py::ssize_t axes = array.ndim() - (has_channels ? 1 : 0);
    if (axes != 2 && axes != 3) {
        const std::string channels = has_channels ? ", channels" : "";
        throw py::value_error(std::string(name) + " must have the axes (height, width" + channels +
                              ") or (layers, height, width" + channels + "), but its shape is " +
                              text(array.attr("shape")));
    }
    const auto channels = has_channels ? static_cast<std::size_t>(array.shape(axes)) : 1;
    const ImageShape shape = {
        .width = extent(array, axes - 1, name),
        .height = extent(array, axes - 2, name),
        .layers = axes == 3 ? extent(array, 0, name) : 1,
        .format = texel_format(array.dtype().kind(), static_cast<std::size_t>(array.itemsize()),
                               channels, srgb)};
    check_image(shape);  // before a copy, which may be too large
    const bool is_swapped = array.dtype().byteorder() == '>';
    constexpr int READABLE =
        py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
    if (is_swapped || (array.flags() & READABLE) != READABLE) {
        array =
            array.attr("astype")(array.dtype().attr("newbyteorder")("="), py::arg("order") = "C");
    }
    const ImageView view = {array.data(), shape};
    return {std::move(array), view};
}

}  // namespace

HostImage map_from(py::handle given, const char* name) {
    return image_from(given, false, false, name);
}

HostImage image_with_channels_from(py::handle given, bool srgb, const char* name) {
    return image_from(given, true, srgb, name);
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
    return {py::dtype(type), extents, texels, owner};
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
