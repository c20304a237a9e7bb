// All settings of the user, as plain values.

#pragma once

#include "arguments.hpp"
#include "colour_maps.hpp"
#include "write_tiles.hpp"

#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

enum class ThresholdKind { max_resolution, constant, per_level, memory, glsl };

// Values are finite and not negative, but for parameters of GLSL.
struct ThresholdSettings {
    ThresholdKind kind = ThresholdKind::max_resolution;
    float max_resolution = 16.0F;  // of max_resolution and memory, pixels
    float constant = 1.0F;
    std::vector<float> levels;      // of per_level, from level 0 on
    float nodes = 65536.0F;         // of memory
    std::string fragments_channel;  // of memory: a channel of the map's file, for example "count"
    std::string glsl_file;          // of glsl: a file as for --glsl of the command line
    std::vector<float> glsl_parameters;  // of glsl: threshold_parameter(0) and so on

    friend bool operator==(const ThresholdSettings&, const ThresholdSettings&) = default;
};

struct SubdivisionSettings {
    ThresholdSettings threshold;
    Order order = Order::any;
    Balance balance = Balance::none;
    bool has_budget = false;
    std::uint64_t max_tiles = 1000;

    [[nodiscard]] std::optional<std::uint64_t> budget() const {
        return has_budget ? std::optional(max_tiles) : std::nullopt;
    }
    friend bool operator==(const SubdivisionSettings&, const SubdivisionSettings&) = default;
};

using app::ColourMap;

// Fill of a tile: none, or a colour by its level, by importance / threshold, or by its place in the
// list.
enum class Fill { none, level, ratio, order };

// Drawing of the map and its tiles.
struct DrawingSettings {
    ColourMap colour_map = ColourMap::inferno;
    bool logarithmic = true;
    bool automatic_range = true;  // from the map's percentiles; otherwise:
    float range_low = 0.0F;       // importance of the first colour
    float range_high = 1.0F;      // importance of the last colour
    std::uint32_t level = 0;      // of the pyramid; 0: the map
    bool outlines = true;
    float outline_width = 1.0F;  // pixels of a display of 96 dots per inch
    Fill fill = Fill::none;
    float fill_opacity = 0.75F;
    bool mark_clamped = true;

    friend bool operator==(const DrawingSettings&, const DrawingSettings&) = default;
};

// Returns settings whose range is valid unless it is automatic: finite, low < high, and above 0 if
// it is logarithmic.
[[nodiscard]] DrawingSettings repaired(DrawingSettings drawing);

// Part of the map that is shown.
struct ViewSettings {
    float zoom = 0.0F;      // pixels per texel; 0: the whole map
    float centre_x = 0.0F;  // place in the middle, in texels, if zoom is not 0
    float centre_y = 0.0F;

    friend bool operator==(const ViewSettings&, const ViewSettings&) = default;
};

struct Settings {
    SubdivisionSettings subdivision;
    DrawingSettings drawing;
    ViewSettings view;
    bool panel = true;                  // the panel is shown
    float ui_scale = 0;                 // of text and panel; 0: the display's
    std::uint32_t window_width = 1600;  // screen coordinates
    std::uint32_t window_height = 1000;

    friend bool operator==(const Settings&, const Settings&) = default;
};

// Limits, both ends included.
constexpr std::uint64_t MAX_TILES_LIMIT = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t MAX_WINDOW_EXTENT = 16384;

// Names of enumerators, in their order, for settings files, options and panels.
constexpr std::array<app::Named<ThresholdKind>, 5> THRESHOLD_KINDS{
    {{"max-resolution", ThresholdKind::max_resolution},
     {"constant", ThresholdKind::constant},
     {"per-level", ThresholdKind::per_level},
     {"memory", ThresholdKind::memory},
     {"glsl", ThresholdKind::glsl}}};
using app::COLOUR_MAPS;
using app::ORDERS;
constexpr std::array<app::Named<Fill>, 4> FILLS{
    {{"none", Fill::none}, {"level", Fill::level}, {"ratio", Fill::ratio}, {"order", Fill::order}}};

// Returns the settings that the next run keeps: the appearance. The rest has its defaults, since an
// old threshold, range of colours or view would confuse with another map.
[[nodiscard]] Settings appearance(const Settings& settings);

// Returns JSON with a member for each setting. Throws std::runtime_error for settings that
// settings_from_json would refuse.
[[nodiscard]] std::string to_json(const Settings& settings);
// Reads JSON. Missing members have their defaults. Throws std::runtime_error, which names the
// member, for an unknown member or a value that is impossible.
[[nodiscard]] Settings settings_from_json(const std::string& text);

// Returns $XDG_CONFIG_HOME (if absolute) or ~/.config, followed by quadtile/viewer.json; empty if
// neither is set.
[[nodiscard]] std::filesystem::path settings_path();
// Throws std::runtime_error with the file and the reason.
[[nodiscard]] Settings load_settings(const std::filesystem::path& path);
// Makes missing folders. The file appears whole or not at all.
void save_settings(const Settings& settings, const std::filesystem::path& path);

}  // namespace quadtile::viewer
