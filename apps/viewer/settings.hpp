// Everything that the user can turn, as plain values: no Vulkan, no window.

#pragma once

#include "arguments.hpp"
#include "write_tiles.hpp"

#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace quadtile::viewer {

enum class ThresholdKind { max_resolution, constant, per_level, memory, glsl };

struct ThresholdSettings {
    ThresholdKind kind = ThresholdKind::max_resolution;
    float max_resolution = 16.0F;  // of max_resolution and memory: pixels
    float constant = 1.0F;
    std::vector<float> levels;      // of per_level, texels first
    float nodes = 65536.0F;         // of memory
    std::string fragments_channel;  // of memory: of the same file as the map; "count" for example
    std::string glsl_file;          // of glsl: a file as the command line's --glsl takes
    std::vector<float> glsl_parameters;  // of glsl: for its threshold_parameter(0) and so on

    friend bool operator==(const ThresholdSettings&, const ThresholdSettings&) = default;
};

struct SubdivisionSettings {
    ThresholdSettings threshold;
    Strategy strategy = Strategy::automatic;  // not reference
    std::uint32_t subtree_levels = 6;
    Order order = Order::any;
    Balance balance = Balance::none;
    bool has_budget = false;
    std::uint64_t max_tiles = 1000;

    friend bool operator==(const SubdivisionSettings&, const SubdivisionSettings&) = default;
};

enum class ColourMap { inferno, viridis, magma, plasma, cividis, turbo, grey };

// What a tile is filled with: nothing, or a colour by its level, by importance / threshold, or by
// its place in the list.
enum class Fill { none, level, ratio, order };

// How the map and its tiles are drawn.
struct DrawingSettings {
    ColourMap colour_map = ColourMap::inferno;
    bool logarithmic = true;
    bool automatic_range = true;  // from the map's percentiles; else:
    float range_low = 0.0F;       // importance with the first colour
    float range_high = 1.0F;      // with the last
    std::uint32_t level = 0;      // of the pyramid; 0: the map
    bool outlines = true;
    float outline_width = 1.0F;  // pixels of a display of 96 dots per inch
    Fill fill = Fill::none;
    float fill_opacity = 0.75F;
    bool mark_clamped = true;
    bool mark_differences = true;  // from a list that is kept

    friend bool operator==(const DrawingSettings&, const DrawingSettings&) = default;
};

struct Settings {
    SubdivisionSettings subdivision;
    DrawingSettings drawing;
    std::string device;  // as in DeviceOptions::select
    bool panel = true;   // whether it is shown
    float ui_scale = 0;  // of text and panel; 0: as the display asks
    float playback_frames_per_second = 10.0F;
    std::uint32_t window_width = 1600;  // screen coordinates
    std::uint32_t window_height = 1000;

    friend bool operator==(const Settings&, const Settings&) = default;
};

// What settings files and options take, both ends included. Thresholds are finite and not negative,
// the level is one of the largest map's. A range that is not automatic goes up, from above 0 where
// it is logarithmic.
constexpr std::uint64_t MAX_TILES_LIMIT = std::numeric_limits<std::uint32_t>::max();
constexpr float MAX_OUTLINE_WIDTH = 100.0F;
constexpr float MIN_UI_SCALE = 0.25F;  // or 0
constexpr float MAX_UI_SCALE = 8.0F;
constexpr float MIN_PLAYBACK_FRAMES_PER_SECOND = 0.1F;
constexpr float MAX_PLAYBACK_FRAMES_PER_SECOND = 1000.0F;
constexpr std::uint32_t MAX_WINDOW_EXTENT = 65536;

// The names of enumerators, in their order, as they stand in settings files, options and panels.
constexpr std::array<app::Named<ThresholdKind>, 5> THRESHOLD_KINDS{
    {{"max-resolution", ThresholdKind::max_resolution},
     {"constant", ThresholdKind::constant},
     {"per-level", ThresholdKind::per_level},
     {"memory", ThresholdKind::memory},
     {"glsl", ThresholdKind::glsl}}};
constexpr std::array<app::Named<Strategy>, 3> STRATEGIES{
    {{"auto", Strategy::automatic}, {"subtree", Strategy::subtree}, {"fused", Strategy::fused}}};
constexpr std::array<app::Named<Order>, 2> ORDERS{
    {{"any", Order::any}, {"canonical", Order::canonical}}};
constexpr std::array<app::Named<ColourMap>, 7> COLOUR_MAPS{{{"inferno", ColourMap::inferno},
                                                            {"viridis", ColourMap::viridis},
                                                            {"magma", ColourMap::magma},
                                                            {"plasma", ColourMap::plasma},
                                                            {"cividis", ColourMap::cividis},
                                                            {"turbo", ColourMap::turbo},
                                                            {"grey", ColourMap::grey}}};
constexpr std::array<app::Named<Fill>, 4> FILLS{
    {{"none", Fill::none}, {"level", Fill::level}, {"ratio", Fill::ratio}, {"order", Fill::order}}};

// What a run leaves to the next one: how things look. The rest has its defaults, since a threshold,
// a range of colours or a device that came back would puzzle with another map.
[[nodiscard]] Settings appearance(const Settings& settings);

// As JSON, with a member for each setting.
[[nodiscard]] std::string to_json(const Settings& settings);
// Members that are missing keep their defaults, unknown ones are ignored: settings of other
// versions can be read. Throws std::runtime_error, which names the member, for values of another
// type or outside their range, and for what is no JSON.
[[nodiscard]] Settings settings_from_json(const std::string& json);

// $XDG_CONFIG_HOME (where it is absolute) or ~/.config, then quadtile/viewer.json; empty where
// neither is set.
[[nodiscard]] std::filesystem::path settings_path();
// The folder for caches of the device, in $XDG_CACHE_HOME or ~/.cache in the same way.
[[nodiscard]] std::filesystem::path cache_path();
// Throws std::runtime_error with the file and the reason. A file that is missing gives defaults.
[[nodiscard]] Settings load_settings(const std::filesystem::path& path);
// Makes the folders that are missing; the file appears whole or not at all.
void save_settings(const Settings& settings, const std::filesystem::path& path);

// What the settings come to on a map, `fragments` only for memory, `function` for glsl. Throws
// Error as Threshold's makers do, and where memory has no fragments or those of another size, or
// per_level no value; for per_level with fewer values than levels the last one stands for the rest,
// and values of levels that the map does not have are left out: the settings go from map to map.
[[nodiscard]] Threshold make_threshold(const ThresholdSettings& settings, const MapShape& shape,
                                       const MapView* fragments,
                                       const ThresholdFunction* function = nullptr);
// Whether scaled() does anything: what GLSL gives nobody can scale.
[[nodiscard]] bool can_scale(const ThresholdSettings& settings);
// With the value or values multiplied, so that the threshold of each node is: nodes of memory,
// which stand under a root, by the factor's square. What would be infinite is the largest float,
// what would become 0 the smallest normal one. The factor is positive and finite.
[[nodiscard]] ThresholdSettings scaled(const ThresholdSettings& settings, float factor);

// With up to six digits, in the way of printf's %g.
[[nodiscard]] std::string short_text(float value);

// "resolution 16", "threshold in GLSL".
[[nodiscard]] std::string describe(const ThresholdSettings& threshold);

}  // namespace quadtile::viewer
