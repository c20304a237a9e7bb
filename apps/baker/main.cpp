// The baker: from a scene to its lightmap, pictures and report.

#include "bake.hpp"
#include "checkpoint.hpp"
#include "choose_light.hpp"
#include "denoise.hpp"
#include "devices.hpp"
#include "earlier_light.hpp"
#include "gpu_tracer.hpp"
#include "light_map.hpp"
#include "lit_gltf.hpp"
#include "load_scene.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "preview.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "surface_map.hpp"
#include "traced_scene.hpp"
#include "unwrap.hpp"

#include "arguments.hpp"
#include "output_files.hpp"
#include "platform.hpp"
#include "process.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <future>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace quadtile::baker {

namespace {

constexpr int INTERRUPTED_STATUS = 130;  // as in shells, for SIGINT
constexpr Extent DEFAULT_EXTENT{1024, 1024};
constexpr const char* NO_MEMORY =
    "there is not enough memory for this scene; make the lightmap smaller with --size";

// ---- Interruption

volatile std::sig_atomic_t interrupt_signals = 0;

// Message of a job of several ranks that mpirun ends, since another one has died; else empty.
std::string_view last_words;

// Notes an interrupt. The first one ends the bake in order, the second one ends the program.
void note_interrupt(int signal) {
    if (interrupt_signals == 0) {
        (void)app::platform::write(2, last_words.data(), last_words.size());
    }
    interrupt_signals = 1;
    std::signal(signal, app::end_by_signal);
}

// ---- The bake

class Run {
 public:
    Run(const Options& options, Ranks& ranks) : options_(options), ranks_(ranks) {}

    // Prepares everything that may fail because of the command or this host.
    void prepare() {
        set_threads(options_.threads > 0 ? options_.threads : ranks_.fair_threads());
        check_outputs();
        devices_are_open_ = std::async(std::launch::async,
                                       [&] { devices_.open(options_, ranks_.number_on_host()); });
        load();
        sky_ = choose_light(options_, generator_, scene_,
                            [&](const std::string& message) { warn(message); });
        choose_light_map();
        choose_probes();
        if (traces(options_)) {
            measure("device", [&] { check_sizes(); });
        }
        measure("surface", [&] { surface_ = make_surface_map(scene_, extent_, options_.threads); });
        requests_ = reuse_light(options_, scene_, earlier_, surface_,
                                [&](const std::string& message) { warn(message); });
        if (surface_.overlapping_texels > 0) {
            const std::string names = names_of(scene_, surface_.overlapping);
            warn(std::to_string(surface_.overlapping_texels) +
                 " texels of the lightmap belong to more than one place of the scene, and share "
                 "their light" +
                 (names.empty() ? "" : ": those of " + names) +
                 (makes_coordinates(options_) ? ""
                                              : "; give each object its own place with --pack, or "
                                                "make new coordinates with --unwrap"));
        }
        const auto without = objects_without_texels(scene_, extent_);
        if (!makes_coordinates(options_) && !without.empty() &&
            without.size() < scene_.parts.size()) {
            warn("lightmap coordinates have less than the area of a texel: those of " +
                 names_of(scene_, without) + "; give them a place with --pack");
        }
        if (traces(options_)) {
            make_tracer();
        }
    }

    // Bakes, and returns the exit status.
    int bake_light_map() {
        BakeResult result = traces(options_) ? bake_scene() : BakeResult();
        if (ranks_.is_first()) {
            finish(result);
        }
        return result.interrupted ? INTERRUPTED_STATUS : 0;
    }

 private:
    // Says what is being done if it takes longer than a moment.
    void measure(const std::string& name, const auto& work) {
        const auto start = Clock::now();
        std::jthread teller;
        if (name != "bake" && !options_.quiet && ranks_.is_first()) {
            teller = tell_if_long("busy: " + name);
        }
        work();
        report_.stages.push_back({name, seconds_since(start)});
    }

    void warn(const std::string& message) {
        report_.warnings.push_back(message);
        if (ranks_.is_first()) {
            std::cerr << app::message_line("quadtile-bake: warning", message) << std::endl;
        }
    }

    // Tries to open the outputs, so that errors come before hours of baking. Pipes and devices are
    // left out, because their readers would take the end of this attempt for that of the file.
    void check_outputs() const {
        if (!ranks_.is_first()) {
            return;
        }
        check_replaceable(options_.bake.checkpoint);
        for (const auto& [option, path, is_written] : file_arguments(options_, pages_.count)) {
            std::error_code ignored;
            const std::filesystem::file_status status = std::filesystem::status(path, ignored);
            if (is_written && !path.empty() &&
                (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
                 std::filesystem::is_directory(status))) {
                const app::OutputFile probe(path);
            }
        }
    }

    // Returns the path of the lit scene; empty: it is not written.
    [[nodiscard]] const std::filesystem::path& lit_scene() const {
        return ending_of(options_.output) == ".glb" ? options_.output : options_.lit_scene;
    }

    void load() {
        measure("load", [&] {
            earlier_ = read_earlier_light(options_);
            LoadedScene loaded = load_scene(options_.scene,
                                            options_.unwrap ? LightMapCoordinates::ignore
                                            : options_.pack ? LightMapCoordinates::where_given
                                                            : LightMapCoordinates::read,
                                            !lit_scene().empty());
            files_ = std::move(loaded.files);
            app::check_files(file_arguments(options_), files_);
            scene_ = std::move(loaded.scene);
            generator_ = loaded.generator;
            lit_gltf_ = std::move(loaded.gltf);
            for (const std::string& warning : loaded.warnings) {
                warn(warning);
            }
        });
        if (makes_coordinates(options_)) {
            make_coordinates();
        } else if (std::ranges::any_of(scene_.parts, &ScenePart::excluded)) {
            warn("extras.lightmap_exclude is ignored; --unwrap and --pack leave these objects out");
            for (ScenePart& part : scene_.parts) {
                part.excluded = false;
            }
        }
        if (scene_.light_map_coordinates.empty()) {
            throw std::runtime_error("'" + app::text_of(options_.scene) +
                                     "' has no lightmap coordinates (glTF: TEXCOORD_1); export it "
                                     "with a second UV map, or let --unwrap make charts");
        }
    }

    void make_coordinates() {
        measure("unwrap", [&] {
            const std::vector<std::uint32_t> without_use = unwrap(
                scene_,
                {.extent = options_.page ? Extent{*options_.page, *options_.page} : options_.extent,
                 .texels_per_unit = options_.texels_per_unit,
                 .gutter_texels = options_.gutter_texels,
                 .keeps_layouts = options_.pack,
                 .makes_pages = options_.page.has_value()});
            if (!without_use.empty()) {
                warn(
                    "lightmap coordinates overlap, have no area or lie outside 0..1, and are "
                    "replaced: those of " +
                    names_of(scene_, without_use));
            }
        });
        pages_ = *scene_.pages;
        app::check_files(file_arguments(options_, pages_.count), files_);
        check_outputs();
        if (lit_gltf_) {
            lit_gltf_->set_light_map_coordinates(scene_);
        }
    }

    void choose_light_map() {
        if (makes_coordinates(options_)) {
            extent_ = *scene_.light_map_extent;
            return;
        }
        const Extent of_scene = scene_.light_map_extent.value_or(DEFAULT_EXTENT);
        extent_ = options_.extent.value_or(options_.reuse.empty() ? of_scene : earlier_.map.extent);
        if (options_.texels_per_unit) {
            const TracedScene probe = make_traced_scene(scene_, CoveredTexels(Extent{1, 1}), 1.0F);
            const double side = *options_.texels_per_unit * std::sqrt(probe.texel_area());
            if (!(side <= 32768.0)) {
                throw std::runtime_error("--texels-per-unit " +
                                         std::to_string(*options_.texels_per_unit) +
                                         " makes a lightmap of more than 32768 texels on a side; "
                                         "use fewer texels per unit");
            }
            const auto texels = static_cast<std::uint32_t>(std::max(1.0, std::ceil(side)));
            extent_ = {texels, texels};
        }
        pages_ = {extent_};
    }

    void choose_probes() {
        const auto& [x, y, z] = options_.probe_counts;
        probe_grid_ = {{x, y, z}, box_around(scene_.positions)};
        if (options_.probe_box) {
            probe_grid_.box = {options_.probe_box->low - scene_.origin,
                               options_.probe_box->high - scene_.origin};
        }
        bake_options_.probes = options_.probe_points.empty()
                                   ? probe_grid_.places()
                                   : read_probe_points(options_.probe_points, scene_.origin);
    }

    // Checks that the lightmap suits the device and this host's memory before work begins.
    void check_sizes() {
        const bool has_backs = std::ranges::any_of(scene_.materials, &Material::double_sided);
        devices_are_open_.get();
        tiles_ = suited_tiles(extent_, options_.pixels_per_texel, options_.pool_bytes);
        const auto [texels, bytes] =
            needs_of(scene_, extent_, options_.bake,
                     devices_.tracer_bytes(tiles_, options_.pool_bytes), options_.threads);
        devices_.check_light_map(extent_, static_cast<std::size_t>(texels) * (has_backs ? 2 : 1));
        const std::string note = check_memory(bytes, extent_);
        if (!note.empty() && !options_.quiet && ranks_.is_first()) {
            std::cerr << "quadtile-bake: " << note << std::endl;
        }
    }

    void make_tracer() {
        if (const auto baked = std::ranges::count(surface_.kept, 0); baked > 0) {
            tiles_ = suited_tiles(extent_, options_.pixels_per_texel, options_.pool_bytes,
                                  static_cast<double>(baked) / surface_.texels.count());
        }
        measure("prepare", [&] {
            traced_ =
                make_traced_scene(scene_, surface_.texels, options_.pixels_per_texel, requests_);
        });
        measure("tracer", [&] { devices_.make_tracers(*traced_, tiles_, options_); });
    }

    // Reports the devices of all ranks, and frees what only tracing needs.
    void end_tracing() {
        struct OfRank {
            std::array<char, 1024> names;
            TracerStatistics statistics;
        };
        std::vector<OfRank> ranks(ranks_.count());
        OfRank& own = ranks[ranks_.number()];
        devices_.names().copy(own.names.data(), own.names.size() - 1);
        own.statistics = devices_.statistics();
        ranks_.gather(std::span(ranks), 1, false);
        std::map<std::string, std::uint32_t> counts;
        for (const OfRank& rank : ranks) {
            std::istringstream names(rank.names.data());
            for (std::string name; std::getline(names, name);) {
                ++counts[name];
            }
            report_.statistics.add(rank.statistics);
        }
        for (const auto& [name, count] : counts) {
            report_.device += (report_.device.empty() ? "" : ", ") +
                              (count > 1 ? std::to_string(count) + " x " : "") + name;
        }
        report_.ranks = ranks_.count();
        set_threads(options_.threads);  // only the first rank goes on
        devices_.close();
        surface_.patches = {};
        surface_.albedo = {};
        surface_.emission = {};
    }

    BakeResult bake_scene() {
        interrupt_signals = 0;
        if (ranks_.count() > 1 && ranks_.is_first() && !options_.bake.checkpoint.empty()) {
            last_words =
                "quadtile-bake: asked to end, and writes a checkpoint if it is given the time; in "
                "any case the same command with --resume continues from the last checkpoint\n";
        }
        app::platform::on_interrupt(note_interrupt);
        const std::string checkpoint = "'" + app::text_of(options_.bake.checkpoint) + "'";
        bool tells_where = options_.bake.resume;
        if (tells_where && ranks_.is_first() &&
            !std::filesystem::exists(options_.bake.checkpoint)) {
            warn("nothing to resume: there is no checkpoint " + checkpoint + "; it begins anew");
            tells_where = false;
        }
        if (ranks_.is_first() && bakes(options_)) {
            charts_ = std::async(std::launch::async, [&] { return charts_of(scene_); });
            seams_ = std::async(std::launch::async, [&] { return find_seams(scene_, extent_); });
        }
        ProgressLine line(options_.quiet || !ranks_.is_first());
        BakeResult result;
        measure("bake", [&] {
            result = bake(*traced_, surface_, scene_.suns, scene_.point_lights,
                          find_lamps(scene_, surface_, options_.bake.lamp_points,
                                     options_.bake.direct_directions),
                          sky_, tiles_, bake_options_, devices_.tracers(),
                          {.progress =
                               [&](const BakeProgress& progress) {
                                   if (std::exchange(tells_where, false) && !options_.quiet &&
                                       ranks_.is_first()) {
                                       std::cerr << "quadtile-bake: resumes " << checkpoint
                                                 << " with direction "
                                                 << progress.directions_done + 1 << " of "
                                                 << progress.directions << std::endl;
                                   }
                                   line.show(progress);
                               },
                           .interrupted = [] { return interrupt_signals != 0; },
                           .traced = [&] { end_tracing(); }},
                          &ranks_);
        });
        line.end();
        app::check_validation(devices_.validation_messages());
        return result;
    }

    void write_pages(const LightMap& map) {
        std::vector<LightMapPage> pictures;
        std::size_t cut = 0;
        const bool writes_rgbm = ending_of(options_.output) == ".png";
        const double unit = unit_of(options_.quantity);
        if (writes_rgbm) {
            report_.rgbm_range = rgbm_range(map, unit);  // one for all pages
        }
        for (std::uint32_t i = 0; i < pages_.count; ++i) {
            std::optional<LightMap> part;
            if (pages_.extent != extent_) {
                part = page_of(map, pages_, i);
            }
            const LightMap& page = part ? *part : map;
            if (lit_gltf_) {
                // Godot 3 hangs on half floats in a .glb; beside another file they are not needed.
                const LightMapPictures lit = encode_light_map(
                    page, options_.quantity, options_.half && options_.lit_scene.empty());
                if (lit.brightest > 2.0 * lit.intensity) {
                    warn("a hundredth of the lightmap's texels is brighter than " +
                         app::text_of(static_cast<float>(lit.intensity)) + ", up to " +
                         app::text_of(static_cast<float>(lit.brightest)) +
                         ": it is cut there in 8 bits; --half, an .exr or a .png holds all");
                }
                pictures.push_back({lit.png, lit.intensity, lit.ktx2});
            }
            const std::filesystem::path path = page_path(options_, options_.output, i);
            if (writes_rgbm) {
                outputs_.add(path, encode_rgbm(page, *report_.rgbm_range / unit));
            } else if (lit_scene() != options_.output) {
                app::OutputFile& file = outputs_.open(path);
                cut += write_light_map(page, options_.quantity, options_.half, file, earlier_);
                file.finish();
            }
            if (!options_.atlas.empty()) {
                outputs_.add(page_path(options_, options_.atlas, i),
                             app::encode_png(draw_atlas(page)));
            }
        }
        if (lit_gltf_) {
            outputs_.add(lit_scene(), lit_gltf_->with_light_map(scene_, pictures, pages_.extent));
        }
        if (cut > 0) {
            warn(std::to_string(cut) + " values of the lightmap are beyond " +
                 app::text_of(LARGEST_HALF) +
                 ", the largest half float, and were cut there; leave --half away, or take "
                 "a larger unit of light");
        }
    }

    void finish(BakeResult& result) {
        report_.interrupted = outputs_.are_partial = result.interrupted;
        LightMap& map = result.map;
        const std::size_t written =
            std::min(extent_.texels(), std::size_t{pages_.first_row(pages_.count)} * extent_.width);
        report_.known_texels = static_cast<std::size_t>(
            std::ranges::count(std::span(map.known).first(std::min(written, map.known.size())), 1));
        report_.covered_texels = written < extent_.texels() ? surface_.texels.first_from(written)
                                                            : surface_.texels.count();
        if (options_.denoises && result.noise.value_or(0.0) > 0.0) {
            measure("denoise", [&] {
                report_.denoised = *result.noise * denoise(map, result.error, surface_,
                                                           charts_.get(), options_.threads);
            });
        }
        result.error = {};
        complete(map, surface_, options_.dilation_rings, earlier_);
        surface_ = {.overlapping_texels = surface_.overlapping_texels};
        if (bakes(options_)) {
            measure("dilate", [&] { dilate(map, options_.dilation_rings); });
            measure("seams", [&] {
                const Seams seams = seams_.get();
                report_.seams = seams.count;
                blend_seams(map, seams, earlier_.kept);
            });
        }
        earlier_.keep_in(map, earlier_.unit);
        measure("write", [&] {
            write_pages(map);
            if (!result.probes.empty()) {
                std::vector<Probe> probes = result.probes;
                for (Probe& probe : probes) {
                    probe.position = glm::dvec3(probe.position) + scene_.origin;
                }
                const ProbeGrid grid{
                    probe_grid_.counts,
                    {probe_grid_.box.low + scene_.origin, probe_grid_.box.high + scene_.origin}};
                outputs_.add(
                    options_.probes_output,
                    encode_probes(probes, grid, ending_of(options_.probes_output) == ".json"));
            }
        });
        if (!options_.preview.empty()) {
            std::optional<Camera> camera = options_.camera;
            if (camera) {
                camera->position = glm::dvec3(camera->position) - scene_.origin;
                camera->target = glm::dvec3(camera->target) - scene_.origin;
            }
            measure("preview", [&] {
                outputs_.add(options_.preview,
                             app::encode_png(draw_preview(scene_, map, sky_,
                                                          {.width = options_.preview_extent.width,
                                                           .height = options_.preview_extent.height,
                                                           .camera = camera,
                                                           .exposure = options_.exposure,
                                                           .threads = options_.threads})));
            });
        }
        report_.triangles = scene_.triangles.size();
        report_.light_map = pages_.extent;
        report_.pages = pages_.count;
        report_.quantity = options_.quantity;
        report_.inside_texels = result.inside_texels;
        report_.overlapping_texels = surface_.overlapping_texels;
        report_.bake = options_.bake;
        report_.pool_bytes = options_.pool_bytes;
        report_.passes = result.passes;
        report_.noise = result.noise;
        if (!result.interrupted && options_.bake.noise > 0.0 &&
            result.noise.value_or(0.0) > options_.bake.noise) {
            const double percent = std::round(1e4 * *result.noise) / 100.0;
            warn("the noise is " + app::text_of(static_cast<float>(percent)) +
                 " %, more than --noise allows: " + std::to_string(MOST_DIRECTIONS) +
                 " samples, or those of suns, are too few for less; allow more noise, or give more "
                 "--sun-samples or --pixels-per-texel");
        }
        if (!options_.report.empty()) {
            outputs_.add(options_.report, report_json(report_));
        }
        outputs_.commit();
        if (!options_.quiet && (traces(options_) || report_.rgbm_range)) {
            std::cerr << report_summary(report_);
        }
        if (result.interrupted) {
            const std::filesystem::path output = page_path(options_, options_.output, 0);
            const std::string file = "'" + app::text_of(partial_path(output)) + "'";
            std::cerr << "quadtile-bake: interrupted"
                      << (output.empty() ? "" : ": " + file + " has the light so far")
                      << (options_.bake.checkpoint.empty()
                              ? ""
                              : "; the same command with --resume continues")
                      << std::endl;
        } else if (!options_.bake.checkpoint.empty()) {
            remove_checkpoint(options_.bake.checkpoint);
        }
    }

    const Options& options_;
    Ranks& ranks_;
    BakeOptions bake_options_ = options_.bake;  // with the probes
    ProbeGrid probe_grid_;                      // empty: no grid
    Scene scene_;
    std::string generator_;              // as in LoadedScene
    std::unique_ptr<LitGltf> lit_gltf_;  // scene to write; none: only the lightmap
    EarlierLight earlier_;
    std::vector<std::uint8_t> requests_;  // by triangle: whether its texels are baked; empty: all
    Sky sky_;
    Extent extent_;
    Pages pages_;                               // of the lightmap
    std::vector<std::filesystem::path> files_;  // named by the scene's file
    TileOptions tiles_;
    SurfaceMap surface_;
    std::optional<TracedScene> traced_;
    Devices devices_;
    std::future<void> devices_are_open_;
    // Of the first rank: how triangles are linked, which it finds while it traces.
    std::future<std::vector<std::uint32_t>> charts_;
    std::future<Seams> seams_;
    BakeReport report_;
    OutputFiles outputs_;
};

// Runs work that may exhaust the device's memory, and adds advice to that error.
int with_advice(const std::function<int()>& work) {
    try {
        return work();
    } catch (const vk::OutOfDeviceMemoryError&) {
        throw std::runtime_error(
            "the device does not have enough memory; allow less with --memory, or make the light "
            "map smaller with --size");
    }
}

// Returns the exit status: 0, or 130 if it was interrupted and can be resumed.
int run(int argc, char** argv) {
    const std::unique_ptr<Ranks> ranks = make_ranks(argc, argv);
    Options options;
    std::optional<Run> bake;
    try {
        ranks->together([&] {
            options = parse_options(argc, argv);
            (void)with_advice([&] {
                bake.emplace(options, *ranks).prepare();
                return 0;
            });
        });
        return with_advice([&] { return bake->bake_light_map(); });
    } catch (const EndedElsewhere&) {
        return 0;
    } catch (const std::exception& error) {
        if (ranks->count() == 1 || ranks->has_ended_together()) {
            throw;
        }
        // Otherwise the other ranks would wait for this one for ever.
        const std::string reason =
            app::is_out_of_memory(error) ? std::string(NO_MEMORY) : error.what();
        const std::string advice = options.bake.checkpoint.empty()
                                       ? "all ranks end"
                                       : "all ranks end; once the cause is removed, the same "
                                         "command with --resume continues from the last checkpoint";
        std::cerr << app::message_line("quadtile-bake: error",
                                       ranks->name() + ": " + reason + "; " + advice)
                  << std::endl;
        ranks->abort();
        throw;
    }
}

}  // namespace

}  // namespace quadtile::baker

int main(int argc, char** argv) {
    return quadtile::app::run_program("quadtile-bake", quadtile::baker::NO_MEMORY,
                                      [&] { return quadtile::baker::run(argc, argv); });
}
