// quadtile._native: the interface of the package quadtile to the library. The functions for users,
// with their docstrings, are in python/quadtile.

#include "arrays.hpp"
#include "calls.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "service.hpp"
#include "subdivision.hpp"

#include <quadtile/version.h>
#include <quadtile/reference.hpp>

#include <pybind11/stl.h>

#include <sstream>

namespace quadtile::python {

namespace {

py::tuple subdivide(py::handle map, const py::tuple& threshold, const py::tuple& options,
                    const std::string& strategy, const std::string& device) {
    const Subdivision given = subdivision_from(map, threshold, options);
    const Strategy chosen = strategy_from(strategy);
    if (chosen != Strategy::reference) {
        check_process();
    }
    TileList list;
    {
        const WithoutGil without_gil;
        if (chosen == Strategy::reference) {
            list = reference::subdivide(given.map.view, given.threshold, given.options);
        } else {
            list = with_device(device, [&](SharedDevice& shared) {
                return shared.tilers.use<TileList>(
                    strategy, [&] { return Tiler(shared.device, {.strategy = chosen}); },
                    [&](Tiler& tiler) {
                        return tiler.subdivide(given.map.view, given.threshold, given.options);
                    });
            });
        }
    }
    return tile_list(std::move(list));
}

py::list mip_levels(py::handle image, bool has_channels, bool srgb, const std::string& reduction,
                    const std::string& edge_rule, std::uint32_t levels, const py::object& dtype,
                    const std::string& glsl, const std::string& method, const std::string& device) {
    const HostImage given =
        has_channels ? image_with_channels_from(image, srgb, "image") : map_from(image, "image");
    DownsamplerOptions options = {.source_format = given.view.shape.format, .custom_glsl = glsl};
    options.reduction = static_cast<Reduction>(
        choice_from("reduction", reduction, {"max", "min", "mean", "sum", "min_max", "custom"}));
    options.edge_rule =
        static_cast<EdgeRule>(choice_from("edge_rule", edge_rule, {"round_up", "fold", "drop"}));
    options.method = static_cast<MipMethod>(
        choice_from("method", method, {"automatic", "spd", "subgroup", "per_level", "blit"}));
    const std::size_t channels =
        options.reduction == Reduction::min_max ? 2 : channel_count(options.source_format);
    const py::dtype texel = py::dtype::from_args(dtype);
    options.format = texel_format(texel.kind(), static_cast<std::size_t>(texel.itemsize()),
                                  channels, srgb && texel.itemsize() == 1);
    check_process();
    std::ostringstream key;
    key << static_cast<int>(options.reduction) << ' ' << static_cast<int>(options.edge_rule) << ' '
        << static_cast<int>(options.method) << ' ' << static_cast<int>(options.source_format) << ' '
        << static_cast<int>(options.format) << ' ' << glsl;
    MipChain chain;
    {
        const WithoutGil without_gil;
        chain = with_device(device, [&](SharedDevice& shared) {
            return shared.mipmappers.use<MipChain>(
                key.str(), [&] { return Mipmapper(shared.device, options); },
                [&](Mipmapper& mipmapper) { return mipmapper.make(given.view, levels); });
        });
    }
    py::list arrays;
    const bool has_layers = given.array.ndim() == (has_channels ? 4 : 3);
    for (MipChain::Level& level : chain.levels) {
        arrays.append(array_of(std::move(level.texels), level.shape, has_layers));
    }
    return arrays;
}

py::list devices() {
    check_process();
    std::vector<DeviceInfo> found;
    {
        const WithoutGil without_gil;
        found = Device::enumerate();
    }
    py::list infos;
    for (const DeviceInfo& info : found) {
        infos.append(py::make_tuple(info.index, info.name, info.type, info.driver,
                                    info.subgroup_size, info.max_map_extent, info.max_layers,
                                    info.max_tiles, info.local_memory_bytes,
                                    py::tuple(py::cast(info.rejections))));
    }
    return infos;
}

// Ends calls before the interpreter does.
void end() {
    end_calls(&shut_down_services, &all_answers_taken);
}

}  // namespace

}  // namespace quadtile::python

PYBIND11_MODULE(_native, module) {
    using namespace quadtile::python;
    translate_errors();
    module.attr("version") = QUADTILE_VERSION_STRING;
    module.attr("tile_dtype") = tile_dtype();
    module.attr("TILE_CLAMPED") = quadtile::TILE_CLAMPED;
    module.attr("TILE_COARSER_LEFT") = quadtile::TILE_COARSER_LEFT;
    module.attr("TILE_COARSER_RIGHT") = quadtile::TILE_COARSER_RIGHT;
    module.attr("TILE_COARSER_TOP") = quadtile::TILE_COARSER_TOP;
    module.attr("TILE_COARSER_BOTTOM") = quadtile::TILE_COARSER_BOTTOM;
    module.def("subdivide", &subdivide);
    module.def("mip_levels", &mip_levels);
    module.def("devices", &devices);
    module.def("end_calls", &end);
    define_service(module);
}
