// quadtile._native: the interface of the package quadtile to the library. The functions for users,
// with their docstrings, are in python/quadtile.

#include "arguments.hpp"
#include "arrays.hpp"
#include "calls.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "service.hpp"
#include "subdivision.hpp"

#include <quadtile/version.h>
#include <quadtile/reference.hpp>

#include <sstream>

namespace quadtile::python {

namespace {

py::tuple subdivide(py::handle map, const py::tuple& threshold, const py::tuple& options,
                    py::handle strategy, py::handle device) {
    const Subdivision given = subdivision_from(map, threshold, options);
    const Strategy chosen = strategy_from(strategy);
    const std::string select = text_from(device, "device");
    if (chosen != Strategy::reference) {
        check_process();
    }
    TileList list;
    {
        const WithoutGil without_gil;
        if (chosen == Strategy::reference) {
            list = reference::subdivide(given.map.view, given.threshold, given.options);
        } else {
            list = with_device(select, [&](SharedDevice& shared) {
                return shared.tilers.use<TileList>(
                    std::to_string(static_cast<int>(chosen)),
                    [&] { return Tiler(shared.device, {.strategy = chosen}); },
                    [&](Tiler& tiler) {
                        return tiler.subdivide(given.map.view, given.threshold, given.options);
                    });
            });
        }
    }
    return tile_list(std::move(list));
}

py::list mip_levels(py::handle image, py::handle channel_axis, py::handle is_srgb,
                    py::handle reduction, py::handle edge_rule, py::handle level_count,
                    const py::object& dtype, py::handle given_glsl, py::handle method,
                    py::handle device) {
    const bool has_channels = flag_from(channel_axis, "channels");
    const bool srgb = flag_from(is_srgb, "srgb");
    const std::uint32_t levels = count32_from(level_count, "levels");
    const std::string glsl = text_from(given_glsl, "glsl");
    const std::string select = text_from(device, "device");
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
    const std::size_t item = item_size_bytes(texel);
    options.format = texel_format(texel.kind(), item, channels, srgb && item == 1);
    check_process();
    std::ostringstream key;
    key << static_cast<int>(options.reduction) << ' ' << static_cast<int>(options.edge_rule) << ' '
        << static_cast<int>(options.method) << ' ' << static_cast<int>(options.source_format) << ' '
        << static_cast<int>(options.format) << ' ' << glsl;
    MipChain chain;
    {
        const WithoutGil without_gil;
        chain = with_device(select, [&](SharedDevice& shared) {
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
        py::list rejections;
        for (const std::string& rejection : info.rejections) {
            rejections.append(text_of(rejection));
        }
        infos.append(py::make_tuple(info.index, text_of(info.name), info.type, text_of(info.driver),
                                    info.subgroup_size, info.max_map_extent, info.max_layers,
                                    info.max_tiles, info.local_memory_bytes,
                                    py::tuple(rejections)));
    }
    return infos;
}

// Ends calls before the interpreter does.
void end() {
    if (is_forked()) {
        return;  // the devices' threads do not exist here
    }
    end_calls(&shut_down_services, &all_answers_taken);
    keep_pipelines();
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
