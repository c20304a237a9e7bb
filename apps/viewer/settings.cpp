#include "settings.hpp"

#include "output_file.hpp"

#include <quadtile/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr float LARGEST = std::numeric_limits<float>::max();

std::string join(const std::vector<std::string>& names) {
    std::string joined;
    for (const std::string& name : names) {
        joined += (joined.empty() ? "" : ", ") + name;
    }
    return joined;
}

// Returns the double with the digits that a float needs, so that the file has 0.6 instead of
// 0.6000000238418579. A float stays as it is if these digits, read as a double first, give another
// float.
double with_few_digits(float value) {
    char text[32];
    const auto written = std::to_chars(std::begin(text), std::end(text), value);
    double few = value;
    std::from_chars(std::begin(text), written.ptr, few);
    return static_cast<float>(few) == value ? few : value;
}

// Returns the number for a message, with no more digits than the float needs.
std::string text_of(float value) {
    return Json(with_few_digits(value)).dump();
}

// Writes members. `describe` lists the settings' members once, for writing and for reading.
class Writer {
 public:
    explicit Writer(Json& object) : object_(object) { object_ = Json::object(); }

    void flag(const char* name, bool value) { object_[name] = value; }
    void text(const char* name, const std::string& value) { object_[name] = value; }
    void number(const char* name, float value, float /*low*/, float /*high*/) {
        object_[name] = with_few_digits(value);
    }
    template <typename Whole>
    void whole(const char* name, Whole value, Whole /*low*/, Whole /*high*/) {
        object_[name] = value;
    }
    void numbers(const char* name, const std::vector<float>& values, float /*low*/) {
        object_[name] = Json::array();
        for (const float value : values) {
            object_[name].push_back(with_few_digits(value));
        }
    }
    template <typename Enum, typename Table>
    void choice(const char* name, Enum value, const Table& table) {
        object_[name] = app::name_in(table, value);
    }
    template <typename Group>
    void group(const char* name, Group& members) {
        Writer writer(object_[name]);
        describe(writer, members);
    }

 private:
    Json& object_;
};

class Reader {
 public:
    // `prefix` stands before the names in messages.
    Reader(const Json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {}

    void flag(const char* name, bool& value) const {
        if (const Json* const found = find(name)) {
            if (!found->is_boolean()) {
                fail(name, text_of(*found) + " is neither true nor false");
            }
            value = found->get<bool>();
        }
    }

    void text(const char* name, std::string& value) const {
        if (const Json* const found = find(name)) {
            if (!found->is_string()) {
                fail(name, text_of(*found) + " is no text");
            }
            value = found->get<std::string>();
        }
    }

    void number(const char* name, float& value, float low, float high) const {
        if (const Json* const found = find(name)) {
            value = number_of(name, *found, low, high);
        }
    }

    template <typename Whole>
    void whole(const char* name, Whole& value, Whole low, Whole high) const {
        if (const Json* const found = find(name)) {
            if (!found->is_number_unsigned() || found->get<std::uint64_t>() < low ||
                found->get<std::uint64_t>() > high) {
                fail(name, text_of(*found) + " is no whole number from " + std::to_string(low) +
                               " to " + std::to_string(high));
            }
            value = found->get<Whole>();
        }
    }

    void numbers(const char* name, std::vector<float>& values, float low) const {
        if (const Json* const found = find(name)) {
            if (!found->is_array() || found->size() > MAX_LEVELS) {
                fail(name, text_of(*found) + " is no list of at most " +
                               std::to_string(MAX_LEVELS) + " numbers");
            }
            values.clear();
            for (const Json& value : *found) {
                values.push_back(number_of(name, value, low, LARGEST));
            }
        }
    }

    template <typename Enum, typename Table>
    void choice(const char* name, Enum& value, const Table& table) const {
        if (const Json* const found = find(name)) {
            const std::vector<std::string> names = app::names_in(table);
            if (!found->is_string() ||
                std::ranges::find(names, found->get<std::string>()) == names.end()) {
                fail(name, text_of(*found) + " is none of " + join(names));
            }
            value = app::value_in(table, found->get<std::string>());
        }
    }

    template <typename Group>
    void group(const char* name, Group& members) const {
        if (const Json* const found = find(name)) {
            if (!found->is_object()) {
                fail(name, text_of(*found) + " is no object");
            }
            Reader reader(*found, prefix_ + name + ".");
            describe(reader, members);
        }
    }

 private:
    [[nodiscard]] const Json* find(const char* name) const {
        const auto found = object_.find(name);
        return found == object_.end() ? nullptr : &*found;
    }

    [[nodiscard]] float number_of(const char* name, const Json& value, float low,
                                  float high) const {
        // Compares doubles: a float would round a value just outside to the limit.
        const double number = value.is_number() ? value.get<double>() : std::nan("");
        if (!(number >= with_few_digits(low) && number <= with_few_digits(high))) {
            fail(name, text_of(value) + " is no number from " + viewer::text_of(low) + " to " +
                           viewer::text_of(high));
        }
        return static_cast<float>(number);
    }

    // Returns the value for a message.
    static std::string text_of(const Json& value) {
        if (value.is_string()) {
            return '\'' + value.get<std::string>() + '\'';
        }
        if (value.is_array()) {
            return "a list of " + std::to_string(value.size());
        }
        return value.is_object() ? "an object" : value.dump();
    }

    [[noreturn]] void fail(const char* name, const std::string& problem) const {
        throw std::runtime_error(prefix_ + name + ": " + problem);
    }

    const Json& object_;
    std::string prefix_;
};

template <typename Members>
void describe(Members& members, ThresholdSettings& settings) {
    members.choice("kind", settings.kind, THRESHOLD_KINDS);
    members.number("max_resolution", settings.max_resolution, 0.0F, LARGEST);
    members.number("constant", settings.constant, 0.0F, LARGEST);
    members.numbers("levels", settings.levels, 0.0F);
    members.number("nodes", settings.nodes, 0.0F, LARGEST);
    members.text("fragments_channel", settings.fragments_channel);
    members.text("glsl_file", settings.glsl_file);
    members.numbers("glsl_parameters", settings.glsl_parameters, -LARGEST);
}

template <typename Members>
void describe(Members& members, SubdivisionSettings& settings) {
    members.group("threshold", settings.threshold);
    members.choice("strategy", settings.strategy, STRATEGIES);
    members.whole("subtree_levels", settings.subtree_levels, 1U, std::uint32_t{MAX_SUBTREE_LEVELS});
    members.choice("order", settings.order, ORDERS);
    members.choice("balance", settings.balance, app::BALANCES);
    members.flag("has_budget", settings.has_budget);
    members.whole("max_tiles", settings.max_tiles, std::uint64_t{1}, MAX_TILES_LIMIT);
}

template <typename Members>
void describe(Members& members, DrawingSettings& settings) {
    members.choice("colour_map", settings.colour_map, COLOUR_MAPS);
    members.flag("logarithmic", settings.logarithmic);
    members.flag("automatic_range", settings.automatic_range);
    members.number("range_low", settings.range_low, -LARGEST, LARGEST);
    members.number("range_high", settings.range_high, -LARGEST, LARGEST);
    members.whole("level", settings.level, 0U, std::uint32_t{MAX_TOP_LEVEL});
    members.flag("outlines", settings.outlines);
    members.number("outline_width", settings.outline_width, 0.0F, MAX_OUTLINE_WIDTH);
    members.choice("fill", settings.fill, FILLS);
    members.number("fill_opacity", settings.fill_opacity, 0.0F, 1.0F);
    members.flag("mark_clamped", settings.mark_clamped);
    members.flag("mark_differences", settings.mark_differences);
}

template <typename Members>
void describe(Members& members, Settings& settings) {
    members.group("subdivision", settings.subdivision);
    members.group("drawing", settings.drawing);
    members.text("device", settings.device);
    members.flag("panel", settings.panel);
    members.number("ui_scale", settings.ui_scale, 0.0F, MAX_UI_SCALE);
    members.number("playback_frames_per_second", settings.playback_frames_per_second,
                   MIN_PLAYBACK_FRAMES_PER_SECOND, MAX_PLAYBACK_FRAMES_PER_SECOND);
    members.whole("window_width", settings.window_width, 1U, MAX_WINDOW_EXTENT);
    members.whole("window_height", settings.window_height, 1U, MAX_WINDOW_EXTENT);
}

// Checks what depends on several members.
void check(const Settings& settings) {
    if (settings.ui_scale > 0.0F && settings.ui_scale < MIN_UI_SCALE) {
        throw std::runtime_error("ui_scale: " + text_of(settings.ui_scale) +
                                 " is neither 0 nor at least " + text_of(MIN_UI_SCALE));
    }
    const DrawingSettings& drawing = settings.drawing;
    if (drawing.automatic_range) {
        return;
    }
    if (drawing.range_high <= drawing.range_low) {
        throw std::runtime_error("drawing.range_high: " + text_of(drawing.range_high) +
                                 " is not above range_low, " + text_of(drawing.range_low));
    }
    if (drawing.logarithmic && drawing.range_low <= 0.0F) {
        throw std::runtime_error("drawing.range_low: " + text_of(drawing.range_low) +
                                 " is not above 0, which a logarithmic range needs");
    }
}

Json parse(const std::string& json) {
    std::string member;  // the last key, for numbers that no double holds
    const auto note = [&](int /*depth*/, Json::parse_event_t event, const Json& parsed) {
        if (event == Json::parse_event_t::key) {
            member = parsed.get<std::string>();
        }
        return true;
    };
    try {
        return Json::parse(json, note);
    } catch (const Json::out_of_range&) {
        throw std::runtime_error(member + ": the number is outside the range of a 32-bit float");
    } catch (const Json::exception& error) {
        throw std::runtime_error(std::string("not JSON: ") + error.what());
    }
}

[[noreturn]] void fail(const char* action, const fs::path& path, const std::string& reason) {
    throw std::runtime_error(std::string("cannot ") + action + " '" + path.string() +
                             "': " + reason);
}

std::string read_text(const fs::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
        fail("read", path, std::generic_category().message(errno == 0 ? EIO : errno));
    }
    return text;
}

// Multiplies. A positive value stays positive, since no factor leads back from 0.
float bounded_product(float value, double factor) {
    constexpr double SMALLEST = std::numeric_limits<float>::min();
    return value > 0.0F ? static_cast<float>(std::clamp(value * factor, SMALLEST, double{LARGEST}))
                        : value;
}

// Returns a value per level of the map.
std::vector<float> fitted(std::vector<float> levels, const MapShape& shape) {
    if (levels.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the threshold per level has no values; give at least one");
    }
    levels.resize(std::size_t{top_level(shape.width, shape.height)} + 1, levels.back());
    return levels;
}

Threshold threshold_of(const ThresholdSettings& settings, const MapShape& shape,
                       const MapView* fragments, const ThresholdFunction* function) {
    switch (settings.kind) {
        case ThresholdKind::max_resolution:
            return Threshold::max_resolution(settings.max_resolution);
        case ThresholdKind::constant:
            return Threshold::constant(settings.constant);
        case ThresholdKind::per_level:
            return Threshold::per_level(fitted(settings.levels, shape));
        case ThresholdKind::glsl:
            if (function == nullptr) {
                throw Error(ErrorCode::invalid_argument,
                            "the GLSL threshold needs a file; give one");
            }
            return Threshold::function(*function, settings.glsl_parameters);
        case ThresholdKind::memory:
            break;
    }
    if (fragments == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    "the memory threshold needs fragments; give their channel");
    }
    return Threshold::memory(settings.max_resolution, settings.nodes, *fragments);
}

// Returns quadtile's folder in the one that the variable names, or in the one in the home.
fs::path user_folder(const char* variable, const char* in_home) {
    const auto folder_of = [](const char* name) {
        const char* const value = std::getenv(name);
        return fs::path(value == nullptr ? "" : value);
    };
    // The XDG Base Directory Specification ignores relative paths.
    const fs::path given = folder_of(variable);
    if (given.is_absolute()) {
        return given / "quadtile";
    }
    const fs::path home = folder_of("HOME");
    return home.empty() ? fs::path() : home / in_home / "quadtile";
}

}  // namespace

std::string to_json(const Settings& settings) {
    Json json;
    Writer writer(json);
    Settings described = settings;  // writing and reading share a list of members
    describe(writer, described);
    // Names of devices and channels may contain bytes that are no UTF-8, which JSON cannot hold.
    return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

Settings settings_from_json(const std::string& json) {
    const Json parsed = parse(json);
    if (!parsed.is_object()) {
        throw std::runtime_error("the file has no settings: its JSON is no object");
    }
    Settings settings;
    Reader reader(parsed, "");
    describe(reader, settings);
    check(settings);
    return settings;
}

fs::path settings_path() {
    const fs::path folder = user_folder("XDG_CONFIG_HOME", ".config");
    return folder.empty() ? fs::path() : folder / "viewer.json";
}

fs::path cache_path() {
    const char* const given = std::getenv("QUADTILE_CACHE_DIRECTORY");
    return given != nullptr && *given != '\0' ? given : user_folder("XDG_CACHE_HOME", ".cache");
}

Settings appearance(const Settings& settings) {
    Settings kept = settings;
    kept.subdivision = {};
    kept.device.clear();
    const DrawingSettings defaults;
    kept.drawing.automatic_range = defaults.automatic_range;
    kept.drawing.range_low = defaults.range_low;
    kept.drawing.range_high = defaults.range_high;
    kept.drawing.level = defaults.level;
    return kept;
}

Settings load_settings(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        return {};
    }
    if (status.type() != fs::file_type::regular) {
        fail("read", path, error ? error.message() : "not a regular file");
    }
    const std::string text = read_text(path);
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

Threshold make_threshold(const ThresholdSettings& settings, const MapShape& shape,
                         const MapView* fragments, const ThresholdFunction* function) {
    Threshold threshold = threshold_of(settings, shape, fragments, function);
    threshold.check_fits(shape);
    return threshold;
}

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

bool can_scale(const ThresholdSettings& settings) {
    return settings.kind != ThresholdKind::glsl;
}

ThresholdSettings scaled(const ThresholdSettings& settings, double factor) {
    ThresholdSettings result = settings;
    switch (settings.kind) {
        case ThresholdKind::memory:
            result.nodes = bounded_product(settings.nodes, factor * factor);
            result.max_resolution = bounded_product(settings.max_resolution, factor);
            break;
        case ThresholdKind::max_resolution:
            result.max_resolution = bounded_product(settings.max_resolution, factor);
            break;
        case ThresholdKind::constant:
            result.constant = bounded_product(settings.constant, factor);
            break;
        case ThresholdKind::per_level:
            for (float& level : result.levels) {
                level = bounded_product(level, factor);
            }
            break;
        case ThresholdKind::glsl:
            break;
    }
    return result;
}

std::string short_text(float value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

std::string describe(const ThresholdSettings& threshold) {
    switch (threshold.kind) {
        case ThresholdKind::max_resolution:
        case ThresholdKind::memory:
            return "resolution " + short_text(threshold.max_resolution);
        case ThresholdKind::constant:
            return "threshold " + short_text(threshold.constant);
        case ThresholdKind::glsl:
            return "threshold in GLSL";
        case ThresholdKind::per_level:
            break;
    }
    return "thresholds per level";
}

}  // namespace quadtile::viewer
