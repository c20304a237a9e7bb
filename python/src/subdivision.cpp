#include "subdivision.hpp"

#include "arguments.hpp"
#include "calls.hpp"

#include <array>
#include <vector>

namespace quadtile::python {

namespace {

std::vector<float> numbers_from(py::handle given, const char* name) {
    std::vector<float> numbers;
    if (!py::isinstance<py::iterable>(given) || py::isinstance<py::str>(given)) {
        throw_type_error(name, "a sequence of numbers", given);
    }
    for (const py::handle number : given) {
        numbers.push_back(float_from(number, name));
    }
    return numbers;
}

py::sequence sequence_from(py::handle given, const char* name, const char* wanted) {
    if (!py::isinstance<py::sequence>(given) || py::isinstance<py::str>(given)) {
        throw_type_error(name, wanted, given);
    }
    return py::reinterpret_borrow<py::sequence>(given);
}

Threshold memory_threshold(py::handle given) {
    const py::sequence values = sequence_from(given, "memory", "(pixels, nodes, fragments)");
    if (values.size() != 3) {
        throw py::value_error("memory must be (pixels, nodes, fragments), not " +
                              std::to_string(values.size()) + " values");
    }
    const float pixels = float_from(values[0], "memory[0]");
    const float nodes = float_from(values[1], "memory[1]");
    const HostImage fragments = counts_from(py::object(values[2]), "fragments");
    const WithoutGil without_gil;
    return Threshold::memory(pixels, nodes, fragments.view);
}

Threshold map_threshold(py::handle given, const MapShape& map) {
    const py::sequence levels =
        sequence_from(given, "threshold_map", "a sequence of an array for each level");
    NodeThresholds nodes(map.width, map.height, map.layers);
    if (levels.size() != nodes.top() + 1) {
        throw py::value_error("threshold_map has " + std::to_string(levels.size()) +
                              " levels, but the map has " + std::to_string(nodes.top() + 1) +
                              "; give one array per level");
    }
    for (std::uint32_t level = 0; level <= nodes.top(); ++level) {
        const std::string name = "threshold_map[" + std::to_string(level) + "]";
        const std::size_t width = level_extent(map.width, level);
        const std::size_t height = level_extent(map.height, level);
        const auto [values, divisor] = thresholds_from(py::object(levels[level]), name.c_str());
        const py::tuple wanted = values.ndim() == 2 ? py::make_tuple(height, width)
                                                    : py::make_tuple(map.layers, height, width);
        if (!wanted.equal(values.attr("shape")) || (values.ndim() == 2 && map.layers != 1)) {
            throw py::value_error(
                name + " must have the shape " +
                py::str(py::make_tuple(map.layers, height, width)).cast<std::string>() +
                ", without the first axis for one layer, but has " +
                py::str(values.attr("shape")).cast<std::string>());
        }
        const float* value = values.data();
        for (std::uint32_t layer = 0; layer < map.layers; ++layer) {
            for (std::uint32_t y = 0; y < height; ++y) {
                for (std::uint32_t x = 0; x < width; ++x) {
                    nodes.at(level, x, y, layer) = *value++ / divisor;
                }
            }
        }
    }
    return Threshold::map(std::move(nodes));
}

Threshold threshold_from(const py::tuple& given, const MapShape& map) {
    constexpr std::array NAMES = {"max_resolution", "constant",      "per_level",
                                  "memory",         "threshold_map", "glsl"};
    std::string names;
    std::size_t which = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < NAMES.size(); ++i) {
        if (!given[i].is_none()) {
            names += (count == 0 ? "" : ", ") + std::string(NAMES[i]);
            which = i;
            ++count;
        }
    }
    if (count != 1) {
        throw py::type_error(
            "give exactly one threshold: max_resolution, constant, per_level, memory, "
            "threshold_map or glsl" +
            (count == 0 ? std::string() : ", not " + names));
    }
    const std::vector<float> parameters = numbers_from(given[NAMES.size()], "parameters");
    const py::object value = given[which];
    if (!parameters.empty() && std::string_view(NAMES[which]) != "glsl") {
        throw py::type_error(std::string("parameters belong to glsl, but ") + NAMES[which] +
                             " was given");
    }
    switch (which) {
        case 0:
            return Threshold::max_resolution(float_from(value, NAMES[which]));
        case 1:
            return Threshold::constant(float_from(value, NAMES[which]));
        case 2:
            return Threshold::per_level(numbers_from(value, NAMES[which]));
        case 3:
            return memory_threshold(value);
        case 4:
            return map_threshold(value, map);
        default:
            return Threshold::function(text_from(value, NAMES[which]), parameters);
    }
}

// Names of enumerators in their order.
constexpr std::initializer_list<const char*> ORDERS = {"any", "canonical"};
constexpr std::initializer_list<const char*> BALANCES = {"none", "edges", "corners"};
constexpr std::initializer_list<const char*> STRATEGIES = {"automatic", "reference", "subtree",
                                                           "fused"};

template <typename Enumerator>
const char* name_of(std::initializer_list<const char*> names, Enumerator enumerator) {
    return names.begin()[static_cast<std::size_t>(enumerator)];
}

SubdivideOptions options_from(const py::tuple& given) {
    SubdivideOptions options;
    options.order = static_cast<Order>(choice_from("order", given[0], ORDERS));
    if (!given[1].is_none()) {
        options.max_tiles = count_from(given[1], "max_tiles");
    }
    options.balance = static_cast<Balance>(choice_from("balance", given[2], BALANCES));
    return options;
}

}  // namespace

Subdivision subdivision_from(py::handle map, const py::tuple& threshold, const py::tuple& options) {
    HostImage image = map_from(map, "map");
    Threshold made = threshold_from(threshold, image.view.shape);
    return {std::move(image), std::move(made), options_from(options)};
}

Strategy strategy_from(py::handle given) {
    return static_cast<Strategy>(choice_from("strategy", given, STRATEGIES));
}

py::tuple tile_list(TileList list) {
    py::list stages;
    for (const StageTime& stage : list.report.stages) {
        stages.append(py::make_tuple(stage.stage, stage.milliseconds, stage.on_gpu));
    }
    const py::tuple run = py::make_tuple(
        list.shape.width, list.shape.height, list.shape.layers, list.levels(),
        name_of(ORDERS, list.order), name_of(BALANCES, list.balance), list.threshold_factor,
        list.nan_texels, name_of(STRATEGIES, list.report.strategy), list.report.strategy_reason,
        text_of(list.report.device), list.report.buffer_repeats, py::tuple(stages));
    const void* const first = list.tiles.data();  // moving does not change it
    const auto count = static_cast<py::ssize_t>(list.tiles.size());
    const py::capsule owner = owner_of(std::move(list.tiles));
    return py::make_tuple(
        py::array(tile_dtype(), {count}, {py::ssize_t{sizeof(Tile)}}, first, owner), run);
}

}  // namespace quadtile::python
