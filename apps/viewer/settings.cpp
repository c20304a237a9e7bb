#include "settings.hpp"

#include "output_file.hpp"
#include "platform.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace quadtile::viewer {

namespace fs = std::filesystem;

namespace {

constexpr const auto& names_of(ThresholdKind /*any*/) {
    return THRESHOLD_KINDS;
}
constexpr const auto& names_of(Order /*any*/) {
    return ORDERS;
}
constexpr const auto& names_of(Balance /*any*/) {
    return app::BALANCES;
}
constexpr const auto& names_of(ColourMap /*any*/) {
    return COLOUR_MAPS;
}
constexpr const auto& names_of(Fill /*any*/) {
    return FILLS;
}

}  // namespace

}  // namespace quadtile::viewer

// Enumerators are their names.
template <typename Enum>
struct nlohmann::adl_serializer<Enum, std::void_t<decltype(quadtile::viewer::names_of(Enum()))>> {
    static void to_json(json& member, Enum value) {
        member = quadtile::app::name_in(quadtile::viewer::names_of(value), value);
    }
    static void from_json(const json& member, Enum& value) {
        const auto& table = quadtile::viewer::names_of(value);
        const auto name = member.get<std::string>();
        const std::vector<std::string> known = quadtile::app::names_in(table);
        if (std::ranges::find(known, name) == known.end()) {
            throw std::runtime_error("'" + name + "' is none of " + quadtile::app::joined(known));
        }
        value = quadtile::app::value_in(table, name);
    }
};

namespace quadtile::viewer {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ThresholdSettings, kind, max_resolution, constant, levels, nodes,
                                   fragments_channel, glsl_file, glsl_parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SubdivisionSettings, threshold, order, balance, has_budget,
                                   max_tiles)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DrawingSettings, colour_map, logarithmic, automatic_range,
                                   range_low, range_high, level, outlines, outline_width, fill,
                                   fill_opacity, mark_clamped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ViewSettings, zoom, centre_x, centre_y)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Settings, subdivision, drawing, view, panel, ui_scale,
                                   window_width, window_height)

namespace {

using Json = nlohmann::json;
// Text with floats of 32 bits: it has 0.6, where doubles have 0.6000000238418579.
using FloatJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                       std::uint64_t, float>;

constexpr float LARGEST = std::numeric_limits<float>::max();

void check(const std::string& problem) {
    if (!problem.empty()) {
        throw std::runtime_error(problem);
    }
}

void check_within(float value, float low, float high) {
    check(app::float_between(low, high)(app::text_of(value)));
}

void check_whole(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    check(app::whole_between(low, high)(std::to_string(value)));
}

void check_list(const std::vector<float>& values, std::size_t most, float low) {
    check(values.size() <= most
              ? ""
              : app::counted(values.size(), "number") + " are more than " + std::to_string(most));
    std::ranges::for_each(values, [&](float value) { check_within(value, low, LARGEST); });
}

// Checks each value for itself.
void check_values(const Settings& settings) {
    const ThresholdSettings& threshold = settings.subdivision.threshold;
    for (const float value : {threshold.max_resolution, threshold.constant, threshold.nodes}) {
        check_within(value, 0.0F, LARGEST);
    }
    check_list(threshold.levels, MAX_LEVELS, 0.0F);
    check_list(threshold.glsl_parameters, Threshold::max_function_parameters, -LARGEST);
    check_whole(settings.subdivision.max_tiles, 1, MAX_TILES_LIMIT);
    check_whole(settings.drawing.level, 0, MAX_TOP_LEVEL);
    check_within(settings.drawing.outline_width, 0.0F, 100.0F);
    check_within(settings.drawing.fill_opacity, 0.0F, 1.0F);
    check_within(settings.view.zoom, 0.0F, 10000.0F);
    for (const float place : {settings.view.centre_x, settings.view.centre_y}) {
        check_within(place, -1.0e6F, 1.0e6F);
    }
    if (settings.ui_scale != 0.0F) {
        check_within(settings.ui_scale, 0.25F, 8.0F);
    }
    check_whole(settings.window_width, 1, MAX_WINDOW_EXTENT);
    check_whole(settings.window_height, 1, MAX_WINDOW_EXTENT);
}

// Puts a value into the settings. Throws std::runtime_error if it is impossible there.
void set(Json& settings, const Json::json_pointer& place, const Json& value) {
    Json& member = settings.at(place);
    const auto check_type = [](const Json& one, const std::string_view type) {
        check(one.type_name() == type ? ""
                                      : one.dump() + " is not of the type " + std::string(type));
    };
    check_type(value, member.type_name());
    for (const Json& element : value.is_array() ? value : Json::array()) {
        check_type(element, "number");
    }
    const auto check_is_whole = [&](bool is_whole) {
        check(is_whole ? "" : value.dump() + " is not a whole number that is possible here");
    };
    const bool must_be_whole = member.is_number_unsigned();
    // Before the conversion, which is not defined for numbers that the type cannot hold.
    check_is_whole(!must_be_whole || value.is_number_unsigned());
    member = value;
    const auto read = settings.get<Settings>();
    check_is_whole(!must_be_whole || Json(read).at(place) == value);
    check_values(read);
}

// Puts all members of an object into the settings.
void set_all(Json& settings, const Json::json_pointer& place, const std::string& prefix,
             const Json& object) {
    for (const auto& [name, value] : object.items()) {
        const Json::json_pointer inner = place / name;
        if (!settings.contains(inner)) {
            throw std::runtime_error("there is no setting " + prefix + name);
        }
        if (settings.at(inner).is_object() && value.is_object()) {
            set_all(settings, inner, prefix + name + ".", value);
            continue;
        }
        try {
            set(settings, inner, value);
        } catch (const std::exception& error) {
            throw std::runtime_error(prefix + name + ": " + error.what());
        }
    }
}

[[noreturn]] void fail(const char* action, const fs::path& path, const std::string& reason) {
    throw std::runtime_error(std::string("cannot ") + action + " '" + app::text_of(path) +
                             "': " + reason);
}

}  // namespace

DrawingSettings repaired(DrawingSettings drawing) {
    if (drawing.automatic_range) {
        return drawing;
    }
    constexpr float LEAST_NORMAL = std::numeric_limits<float>::min();
    const float least = drawing.logarithmic ? LEAST_NORMAL : -LARGEST;
    const float least_high = drawing.logarithmic ? 1024.0F * LEAST_NORMAL : -LARGEST;
    if (!(drawing.range_high > least_high && drawing.range_high <= LARGEST)) {
        drawing.range_high = 1.0F;
    }
    const float high = drawing.range_high;
    if (!(drawing.range_low >= least && drawing.range_low < high)) {
        drawing.range_low = drawing.logarithmic ? high / 1024.0F
                            : high > 0.0F       ? 0.0F
                            : high == 0.0F      ? -1.0F
                                                : std::max(2.0F * high, -LARGEST);
    }
    return drawing;
}

Settings appearance(const Settings& settings) {
    Settings kept = settings;
    kept.subdivision = {};
    kept.view = {};
    const DrawingSettings defaults;
    kept.drawing.automatic_range = defaults.automatic_range;
    kept.drawing.range_low = defaults.range_low;
    kept.drawing.range_high = defaults.range_high;
    kept.drawing.level = defaults.level;
    return kept;
}

std::string to_json(const Settings& settings) {
    std::string text;
    try {
        text = FloatJson(Json(settings)).dump(4) + "\n";
    } catch (const Json::exception&) {
        throw std::runtime_error(
            "subdivision.threshold: JSON cannot hold the name of the channel or the file, which is "
            "not UTF-8");
    }
    (void)settings_from_json(text);
    return text;
}

Settings settings_from_json(const std::string& text) {
    Json given;
    try {
        given = FloatJson::parse(text);
    } catch (const Json::exception& error) {
        throw std::runtime_error(std::string("not JSON: ") + error.what());
    }
    if (!given.is_object()) {
        throw std::runtime_error("the file has no settings: its JSON is no object");
    }
    Json settings = Settings{};
    set_all(settings, Json::json_pointer(), "", given);
    const auto read = settings.get<Settings>();
    if (repaired(read.drawing) != read.drawing) {
        throw std::runtime_error("drawing: range_low " + app::text_of(read.drawing.range_low) +
                                 " must be below range_high " +
                                 app::text_of(read.drawing.range_high) +
                                 ", and above 0 if the range is logarithmic");
    }
    return read;
}

fs::path settings_path() {
    const fs::path folder = app::platform::user_folder("XDG_CONFIG_HOME", ".config");
    return folder.empty() ? fs::path() : folder / "viewer.json";
}

Settings load_settings(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        fail("read", path, "it is a directory");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
        fail("read", path, std::generic_category().message(errno == 0 ? EIO : errno));
    }
    try {
        return settings_from_json(text);
    } catch (const std::runtime_error& problem) {
        fail("read", path, problem.what());
    }
}

void save_settings(const Settings& settings, const fs::path& path) {
    if (path.has_parent_path()) {
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error) {
            fail("write", path, error.message());
        }
    }
    app::write_file(path, to_json(settings));
}

}  // namespace quadtile::viewer
