// The command line of the baker: from arguments to options.

#pragma once

#include "bake.hpp"
#include "probe_file.hpp"
#include "scene.hpp"

#include "arguments.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {

using app::UsageError;

// Relation of KHR_lights_punctual's lux and candela to emission.
enum class LightUnits {
    automatic,    // `blender` for bright lights of Blender, else `photometric`
    photometric,  // emission is in candela per square metre, as in glTF
    blender,      // emission is in watts per square metre and steradian: 683 lumens are a watt
};

// Kinds of light that are baked.
struct LightKinds {
    bool sky = true;
    bool suns = true;
    bool points = true;  // point and spot lights
    bool emission = true;
    // Of lights and of emitting materials that are baked beside those kinds.
    std::vector<std::string> names;
};

struct Options {
    std::filesystem::path scene;
    std::filesystem::path output;     // lightmap, or scene with it
    std::filesystem::path lit_scene;  // scene with its lightmap; empty: none, or `output`
    std::filesystem::path preview;    // picture of the lit scene; empty: none
    std::filesystem::path atlas;      // picture of the lightmap; empty: none
    std::filesystem::path report;     // JSON; empty: none

    // An earlier bake.
    std::filesystem::path reuse;    // lightmap with its light; empty: none
    std::vector<std::string> only;  // objects to bake into it; empty with `reuse`: none

    // The lightmap.
    std::optional<Extent> extent;
    std::optional<float> texels_per_unit;
    bool unwrap = false;                // the whole scene
    bool pack = false;                  // keeps usable layouts of objects, unwraps others
    std::optional<std::uint32_t> page;  // side of pages of the lightmap, texels
    std::uint32_t gutter_texels = 2;
    Quantity quantity = Quantity::irradiance;
    std::optional<float> occlusion_distance;  // as Sky::distance
    bool half = false;                        // half floats in the .exr
    std::uint32_t dilation_rings = 8;
    bool denoises = true;

    // The light.
    std::optional<glm::vec3> sky;
    std::filesystem::path sky_picture;  // empty: none
    float sky_turn_degrees = 0.0F;      // as Sky::turn_degrees
    std::optional<Sun> sun;             // replaces the scene's
    float light_radius = 0.0F;          // for point lights without one
    LightUnits light_units = LightUnits::automatic;
    LightKinds lights;

    // Probes: in a grid, at points, or none.
    std::array<std::uint32_t, 3> probe_counts{};
    std::optional<Box<glm::dvec3>> probe_box;  // none: the box around the scene
    std::filesystem::path probe_points;
    std::filesystem::path probes_output;

    // The bake.
    BakeOptions bake;
    float pixels_per_texel = 1.0F;
    std::uint64_t pool_bytes = std::uint64_t{256} << 20U;
    std::string device;      // as in DeviceOptions::select
    std::uint32_t gpus = 1;  // devices of this process
    bool reference = false;
    std::uint32_t threads = 0;  // of the reference and of work on the CPU; 0: all
    bool validation = false;
    bool quiet = false;

    std::optional<Camera> camera;
    std::optional<float> exposure;
    Extent preview_extent{1280, 720};
};

// Returns whether lightmap coordinates are made.
[[nodiscard]] inline bool makes_coordinates(const Options& options) {
    return options.unwrap || options.pack;
}

// Returns whether texels are baked.
[[nodiscard]] inline bool bakes(const Options& options) {
    return options.reuse.empty() || !options.only.empty();
}

// Returns whether rays are traced: for texels or probes.
[[nodiscard]] inline bool traces(const Options& options) {
    return bakes(options) || !options.probes_output.empty();
}

// Returns the path of a page: light.exr becomes light_0.exr with --page.
[[nodiscard]] std::filesystem::path page_path(const Options& options,
                                              const std::filesystem::path& path,
                                              std::uint32_t page);

// Returns the path of an output of a bake that is interrupted, which leaves the last bake's as it
// is: light.exr becomes light.partial.exr. Pipes and devices are the same file.
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& path);

// Returns the files that SCENE and options name, for so many pages, with those of partial_path.
[[nodiscard]] std::vector<app::FileArgument> file_arguments(const Options& options,
                                                            std::uint32_t pages = 1);

// Parses the arguments. Throws PrintedText for --help and --version; UsageError for wrong
// arguments, and if a written file is also another one.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace quadtile::baker
