// quadtile._images: maps and images from files. It is a module of its own, so that the others need
// no OpenEXR.

#include "arguments.hpp"
#include "arrays.hpp"
#include "calls.hpp"
#include "errors.hpp"

#include <quadtile/images.hpp>

namespace quadtile::python {

namespace {

py::array array_of_image(const LoadedImage& image) {
    return array_of(image.texels.get(), image.shape, false, owner_of(image.texels));
}

// `path`: bytes, as os.fsencode returns.
py::array load_map(const py::bytes& path, py::handle channel) {
    const std::string file = path;
    const std::string name = text_from(channel, "channel");
    LoadedMap map;
    {
        const WithoutGil without_gil;
        map = quadtile::load_map(file, name);
    }
    return array_of_image(map);
}

py::array load_image(const py::bytes& path) {
    const std::string file = path;
    LoadedImage image;
    {
        const WithoutGil without_gil;
        image = quadtile::load_image(file);
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
