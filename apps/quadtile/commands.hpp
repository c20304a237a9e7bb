// The commands of the command line: their requests and their execution.
//
// Each throws UsageError for arguments that cannot be used, std::exception for other failures.
// Standard output carries only the result; summaries and statistics go to standard error.

#pragma once

#include "arguments.hpp"
#include "write_tiles.hpp"

#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quadtile {
class Device;
}

namespace quadtile::app {

// Thresholds, of which one is given.
struct ThresholdRequest {
    std::optional<float> constant;
    std::optional<float> max_resolution;
    std::vector<float> per_level;     // the last one stays
    std::array<float, 2> memory{};    // of Threshold::memory: the resolution and the nodes
    std::filesystem::path fragments;  // of `memory`
    std::filesystem::path glsl;
    std::vector<float> glsl_parameters;
};

struct TilesRequest {
    std::filesystem::path input;
    std::string channel;
    std::filesystem::path output;      // empty: standard output
    std::optional<TileFormat> format;  // none: JSON
    std::filesystem::path image;       // empty: no picture
    ThresholdRequest threshold;
    Strategy strategy = Strategy::automatic;
    std::uint32_t subtree_levels = 6;
    SubdivideOptions options{.order = Order::canonical};
    std::string device;  // as in DeviceOptions::select
    bool stats = false;
    std::filesystem::path trace;  // empty: no trace
};

// Methods of `mipmap`: those of the GPU, as MipMethod has them, the CPU reference, and all of them.
enum class LevelMethod { automatic, spd, subgroup, per_level, blit, reference, all };

struct MipmapRequest {
    std::filesystem::path input;
    std::filesystem::path directory;
    std::string channel;
    bool linear = false;
    LevelMethod method = LevelMethod::automatic;
    Reduction reduction = Reduction::mean;  // custom: by `glsl`
    std::filesystem::path glsl;
    EdgeRule edge_rule = EdgeRule::fold;
    std::optional<std::uint32_t> levels;  // level 0 included; none: the full chain
    std::optional<TexelFormat> format;    // none: the best for the source
    std::string device;                   // as in DeviceOptions::select
};

void run(const TilesRequest& request);
void run(const MipmapRequest& request);
void run_devices(bool check);
void run_demo();

// Returns the command of the arguments of main. Throws UsageError with one line that names the
// argument and refers to the help; PrintedText for --help and --version.
[[nodiscard]] std::function<void()> parse_command_line(int argc, const char* const* argv);

// Opens the device of a command, with kept pipelines. `select` as in DeviceOptions. If there is
// none, the error says that `without` ("--method reference") works without a device.
[[nodiscard]] Device open_device(const std::string& select, const std::string& without);

// Names in options, messages and folders, in the order of messages.

constexpr const char* PER_LEVEL = "per-level";  // subtree with one level per dispatch
constexpr std::array<Named<Strategy>, 5> STRATEGIES{{{"auto", Strategy::automatic},
                                                     {"fused", Strategy::fused},
                                                     {"subtree", Strategy::subtree},
                                                     {PER_LEVEL, Strategy::subtree},
                                                     {"reference", Strategy::reference}}};
constexpr std::array<Named<LevelMethod>, 7> LEVEL_METHODS{{{"all", LevelMethod::all},
                                                           {"auto", LevelMethod::automatic},
                                                           {"blit", LevelMethod::blit},
                                                           {"per-level", LevelMethod::per_level},
                                                           {"reference", LevelMethod::reference},
                                                           {"spd", LevelMethod::spd},
                                                           {"subgroup", LevelMethod::subgroup}}};
constexpr std::array<Named<EdgeRule>, 3> EDGE_RULES{
    {{"drop", EdgeRule::drop}, {"fold", EdgeRule::fold}, {"round-up", EdgeRule::round_up}}};
constexpr std::array<Named<Reduction>, 5> REDUCTIONS{{{"max", Reduction::max},
                                                      {"mean", Reduction::mean},
                                                      {"min", Reduction::min},
                                                      {"min-max", Reduction::min_max},
                                                      {"sum", Reduction::sum}}};

}  // namespace quadtile::app
