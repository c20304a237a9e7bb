// quadtile._images: maps and images from files. It is a module of its own, so that the others need
// no OpenEXR.

#include "arrays.hpp"
#include "calls.hpp"
#include "errors.hpp"

#include <quadtile/images.hpp>

#include <pybind11/stl/filesystem.h>

namespace quadtile::python {

namespace {

py::array array_of_image(const LoadedImage& image) {
    return array_of(image.texels.get(), image.shape, false, owner_of(image.texels));
}

py::array load_map(const std::filesystem::path& path, const std::string& channel) {
    LoadedMap map;
    {
        const WithoutGil without_gil;
        map = quadtile::load_map(path, channel);
    }
    return array_of_image(map);
}

py::array load_image(const std::filesystem::path& path) {
    LoadedImage image;
    {
        const WithoutGil without_gil;
        image = quadtile::load_image(path);
    }
    return array_of_image(image);
}

}  // namespace

}  // namespace quadtile::python

PYBIND11_MODULE(_images, module) {
    using namespace quadtile::python;
    translate_errors();
    module.def("load_map", &load_map);
    module.def("load_image", &load_image);
    module.def("end_calls", [] { end_calls(); });
}
