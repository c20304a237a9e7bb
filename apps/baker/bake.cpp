#include "bake.hpp"

#include "checkpoint.hpp"
#include "direction_tiles.hpp"
#include "gathered_light.hpp"
#include "passes.hpp"
#include "probes.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace quadtile::baker {

namespace {

using namespace std::chrono_literals;

// Longer groups of directions make the GPU busier, shorter ones make Ctrl-C quicker.
constexpr double LONGEST_GROUP_SECONDS = 0.5;

constexpr std::size_t MOST_PIECES = 65536;  // that the tracer is given at a time
// Directions with more pieces request their tiles anew in each pass.
constexpr std::size_t MOST_KEPT_PIECES = 65536;

// The weight of a fragment of which the light map has one for each texel.
constexpr double MEAN_WEIGHT = 16384.0;
// The greatest radiance with the mean weight: a half of the lower word of a sum.
constexpr double LARGEST_UNITS = 2147483648.0;
constexpr double LARGEST_WEIGHT = 1073741824.0;  // four times that is a word

// What the tracer is given at a time.
struct TracerWork {
    const WindowTiles* part = nullptr;  // that the last frame is of
    std::vector<ProjectionFrame> frames;
    std::vector<TracedTile> tiles;
    std::vector<double> predicted_nodes;
};

class Bake {
 public:
    Bake(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
         const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
         const TileOptions& tile_options, const BakeOptions& options, Tracer& tracer,
         const BakeWatcher& watcher)
        : scene_(scene),
          surface_(surface),
          suns_(suns),
          lights_(lights),
          lamps_(lamps),
          sky_(sky),
          tile_options_(tile_options),
          options_(options),
          tracer_(tracer),
          watcher_(watcher),
          passes_(surface, suns, lights, lamps, sky, options) {}

    BakeResult run() {
        state_.fingerprint = fingerprint_of(scene_, surface_, suns_, lights_, lamps_,
                                            passes_.sets(), tile_options_, options_);
        const std::size_t texels = scene_.light_map.texels();
        for (auto* const light : {&state_.direct, &state_.sent, &state_.indirect}) {
            light->assign(scene_.sum_count(), glm::vec3(0.0F));
        }
        if (!suns_.empty() || !lights_.empty()) {
            state_.sources.assign(scene_.sum_count(), glm::vec3(0.0F));
            state_.sources_error.assign(texels, 0.0F);
        }
        if (!lamps_.patches.empty()) {
            state_.lamps.assign(scene_.sum_count(), glm::vec3(0.0F));
            state_.lamps_error.assign(texels, 0.0F);
        }
        state_.known.assign(texels, 0);
        state_.direct_error.assign(texels, 0.0F);
        state_.indirect_error.assign(texels, 0.0F);
        if (options_.directional) {
            state_.moments.fill(std::vector<glm::vec3>(texels, glm::vec3(0.0F)));
        }
        if (options_.resume) {
            resume();
        }
        for (; state_.pass < passes_.planned().size() || needs_more();
             ++state_.pass, state_.directions_done = 0) {
            if (!run_pass(passes_.planned()[state_.pass])) {
                result_.interrupted = true;
                break;
            }
        }
        result_.interrupted = result_.interrupted || !run_probes();
        result_.noise = light_.noise();
        result_.error = light_.error();
        result_.inside_texels = state_.inside_texels;
        result_.map = light_.make_map(!result_.interrupted);
        return std::move(result_);
    }

 private:
    // Behind all other passes: whether the noise asks for another one. It is of the kind whose
    // directions take the most of it away.
    [[nodiscard]] bool needs_more() {
        const std::optional<double> noise = light_.noise();
        if (!noise || !(*noise > options_.noise) || options_.noise == 0.0) {
            return false;
        }
        // What cannot be doubled.
        const double of_sources = light_.noise_of(state_.sources_error);
        double rest = of_sources * of_sources;
        double most = 0.0;  // of noise, squared, by direction
        std::optional<Pass> best;
        const auto consider = [&](Pass::Kind kind, bool is_planned, const auto& error) {
            const double square = light_.noise_of(error) * light_.noise_of(error);
            const Pass pass = passes_.more_of(kind);
            const auto directions = static_cast<double>(passes_.directions_of(pass));
            if (!is_planned || 2.0 * directions > MOST_DIRECTIONS) {
                rest += square;
            } else if (square / directions > most) {
                most = square / directions;
                best = pass;
            }
        };
        consider(Pass::Kind::lamps, !lamps_.patches.empty(), state_.lamps_error);
        consider(Pass::Kind::direct, passes_.has_direct(), state_.direct_error);
        consider(Pass::Kind::bounce, options_.bounces > 0, state_.indirect_error);
        if (rest > options_.noise * options_.noise || !best) {
            return false;
        }
        passes_.add(*best);
        state_.more.push_back(static_cast<std::uint8_t>(best->kind));
        return true;
    }

    // ---- Checkpoints

    void resume() {
        std::optional<Checkpoint> checkpoint = read_checkpoint(options_.checkpoint);
        if (!checkpoint) {
            return;
        }
        if (checkpoint->fingerprint != state_.fingerprint ||
            checkpoint->sums.size() != scene_.sum_count()) {
            throw std::runtime_error(
                "checkpoint '" + options_.checkpoint.string() +
                "' is of another bake: the scene, the light or an option has changed; bake without "
                "--resume, or with what it was begun with");
        }
        state_ = std::move(*checkpoint);
        for (const std::uint8_t kind : state_.more) {
            passes_.add(passes_.more_of(static_cast<Pass::Kind>(kind)));
        }
        for (std::uint32_t i = 0; i < state_.pass; ++i) {
            resumed_directions_ += passes_.directions_of(passes_.planned()[i]);
        }
        resumed_directions_ += state_.directions_done + state_.probe_steps;
        last_mean_ = light_.mean_irradiance();
        last_noise_ = light_.noise();
    }

    void write_state() {
        if (!options_.checkpoint.empty()) {
            state_.sums = tracer_.sums();
            write_checkpoint(options_.checkpoint, state_);
            state_.sums = {};
        }
        last_checkpoint_ = Clock::now();
    }

    // ---- A pass

    bool run_pass(const Pass& pass) {
        const auto start = Clock::now();
        DirectionSet own;
        own.directions = passes_.own_directions(pass);
        DirectionSet& set = own.directions.empty() ? passes_.set_of(pass) : own;
        const std::vector<BundleDirection>& directions = set.directions;
        if (pass.kind == Pass::Kind::bounce && pass.doubling == 0) {
            state_.sent = state_.indirect;
        }
        const std::vector<glm::vec4>& outgoing =
            read_outgoing(is_direct(pass) ? Emission::without_lamps : Emission::none,
                          !is_direct(pass) && !is_of_source(pass));
        choose_scale(pass, outgoing, directions);
        tracer_.begin_pass(outgoing);
        if (!state_.sums.empty()) {
            tracer_.set_sums(state_.sums);
            state_.sums = {};
        }
        const std::uint32_t done_before = state_.directions_done;
        std::uint32_t group = 1;
        while (state_.directions_done < directions.size()) {
            if (!goes_on(pass.name)) {
                // The first light is better than none; a part of a bounce is noise beside all of
                // the one before.
                if ((is_of_source(pass) || pass.kind == Pass::Kind::direct) && pass.doubling == 0) {
                    finish_pass(pass);
                }
                return false;
            }
            const auto group_start = Clock::now();
            const std::size_t half = passes_.half_of(pass, directions.size());
            const std::size_t next = pass.kind == Pass::Kind::lamps  ? end_of_point()
                                     : state_.directions_done < half ? half
                                                                     : directions.size();
            trace(pass, set, std::min<std::size_t>(group, next - state_.directions_done));
            if (pass.kind == Pass::Kind::lamps && state_.directions_done == next) {
                add_lamp_point(pass);
            }
            if (half > 0 && state_.directions_done == half && state_.tiles_done == 0 &&
                !is_moment(pass) && pass.doubling == 0) {
                light_.note_half(read_sums());
            }
            const double seconds = seconds_since(group_start);
            if (seconds < 0.5 * LONGEST_GROUP_SECONDS) {
                group = std::min(2 * group, tracer_.frames_at_once());
            } else if (seconds > LONGEST_GROUP_SECONDS) {
                group = std::max(group / 2, 1U);
            }
        }
        finish_pass(pass);
        result_.passes.back().seconds = seconds_since(start);
        result_.passes.back().directions =
            static_cast<std::uint32_t>(directions.size()) - done_before;
        return true;
    }

    // Of the lamps' point that is traced: the directions up to it and with it.
    [[nodiscard]] std::size_t end_of_point() const {
        return (state_.directions_done / FACES_A_LAMP_POINT + 1) * FACES_A_LAMP_POINT;
    }

    // The one whose last direction is done.
    void add_lamp_point(const Pass& pass) {
        const std::size_t number = state_.directions_done / FACES_A_LAMP_POINT - 1;
        const LampPoint& point = passes_.lamp_points()[number];
        const bool is_first_half = number < passes_.lamp_patches().size();
        light_.add_lamp_point(passes_.lamp_patches()[point.patch], point, is_first_half,
                              pass.doubling > 0, read_sums());
        tracer_.clear_sums();
    }

    // Reports; writes the state if it is time, or if it is interrupted: then returns false.
    [[nodiscard]] bool goes_on(const std::string& pass) {
        report(pass);
        if (is_interrupted() || is_checkpoint_due(options_.checkpoint_interval)) {
            write_state();
        }
        return !interrupted_;
    }

    // Once it is true, it stays so.
    [[nodiscard]] bool is_interrupted() {
        interrupted_ = interrupted_ || (watcher_.interrupted && watcher_.interrupted());
        return interrupted_;
    }

    [[nodiscard]] bool is_checkpoint_due(std::chrono::seconds interval) const {
        return Clock::now() - last_checkpoint_ > interval;
    }

    // Behind all passes. Returns false where it was interrupted.
    bool run_probes() {
        if (options_.probes.empty()) {
            return true;
        }
        const auto start = Clock::now();
        std::vector<ProbeSource> sources{{passes_.direct().directions}};
        for (const Pass& of : passes_.planned()) {
            if (of.kind == Pass::Kind::sun || of.kind == Pass::Kind::light) {
                const bool is_sun = of.kind == Pass::Kind::sun;
                sources.push_back({passes_.own_directions(of), is_sun ? &suns_[of.number] : nullptr,
                                   is_sun ? nullptr : &lights_[of.number]});
            }
        }
        state_.sent = state_.indirect;
        if (!gather_probes(
                scene_, options_.probes, sources, read_outgoing(Emission::all, true), tracer_,
                [&] { return goes_on("probes"); }, state_)) {
            return false;
        }
        result_.probes = probes_of(options_.probes, state_);
        result_.passes.push_back({"probes", state_.probe_steps, seconds_since(start)});
        return true;
    }

    // As Tracer::begin_pass takes it, in memory that is kept.
    [[nodiscard]] const std::vector<glm::vec4>& read_outgoing(Emission emission, bool reflects) {
        light_.read_outgoing(emission, reflects, outgoing_);
        return outgoing_;
    }

    // A power of two that no sum of a pass can overflow: of each direction a texel receives the
    // greatest radiance at most, with the weight of its whole surface, and of some pixels at its
    // edges. Of a light's point it has all that there is around that at most.
    void choose_scale(const Pass& pass, const std::vector<glm::vec4>& outgoing,
                      const std::vector<BundleDirection>& directions) {
        // Not less, so that the scale of all weights is finite where there is no light.
        float greatest = 1e-20F;
        for (const glm::vec4& radiance : outgoing) {
            greatest = std::max(greatest, greatest_of(glm::vec3(radiance)));
        }
        for (const BundleDirection& direction : directions) {
            greatest = std::max(
                {greatest, greatest_of(direction.sky_ahead), greatest_of(direction.sky_behind)});
        }
        const double largest_texel =
            pass.kind == Pass::Kind::light || pass.kind == Pass::Kind::lamps
                ? static_cast<double>(scene_.light_map.texels())
                : scene_.largest_texel;
        const double weights = (scene_.is_smooth ? 16.0 : 4.0) * MEAN_WEIGHT *
                               (largest_texel + 16.0) * static_cast<double>(directions.size());
        const double units = std::min(LARGEST_UNITS / MEAN_WEIGHT, 0x1p62 / weights);
        scale_ = std::exp2(std::floor(std::log2(units / double{greatest})));
        light_.set_scale(scale_);
    }

    [[nodiscard]] ProjectionFrame frame_of(const Pass& pass, const BundleDirection& direction,
                                           const MapWindow& window) const {
        ProjectionFrame frame = make_frame(direction, scene_, tile_options_.map_extent, window);
        frame.is_source = is_of_source(pass) ? 1 : 0;
        frame.share_ahead = 1.0F;
        frame.share_behind = 1.0F;
        if (!is_of_source(pass) && !is_direct(pass)) {
            std::ranges::fill(frame.sky_ahead, 0.0F);
            std::ranges::fill(frame.sky_behind, 0.0F);
        }
        if (is_moment(pass)) {
            const auto cosine =
                static_cast<float>(direction.direction[static_cast<int>(pass.number)]);
            frame.share_ahead = 0.5F + 0.5F * cosine;
            frame.share_behind = 0.5F - 0.5F * cosine;
        }
        return frame;
    }

    // Traces `count` directions, or as much of them as there is time for.
    void trace(const Pass& pass, DirectionSet& set, std::size_t count) {
        const std::size_t end = state_.directions_done + count;
        if (!request_missing_tiles(
                scene_, tile_options_, tracer_, [&] { return is_interrupted(); }, set,
                state_.directions_done, end)) {
            return;
        }
        std::uint64_t skipped = state_.tiles_done;
        TracerWork work;
        for (std::size_t i = state_.directions_done; i < end; ++i) {
            for (const WindowTiles& part : set.tiles[i]) {
                for (const MapTile& tile : part.tiles) {
                    const bool is_full =
                        work.tiles.size() >= MOST_PIECES ||
                        (work.part != &part && work.frames.size() == tracer_.frames_at_once());
                    if (is_full && !finish_work(work, set, end)) {
                        return;
                    }
                    if (work.part != &part) {
                        work.part = &part;
                        work.frames.push_back(frame_of(pass, set.directions[i], part.window));
                    }
                    add_pieces(work, tile, skipped);
                }
            }
        }
        (void)finish_work(work, set, end);
    }

    // Leaves out as many as are skipped, and counts these down.
    void add_pieces(TracerWork& work, const MapTile& tile, std::uint64_t& skipped) const {
        for (std::uint32_t y = 0; y < tile.resolution; y += LARGEST_PIECE) {
            for (std::uint32_t x = 0; x < tile.resolution; x += LARGEST_PIECE) {
                if (skipped > 0) {
                    --skipped;
                    continue;
                }
                TracedTile piece = traced_tile(
                    tile, static_cast<std::uint32_t>(work.frames.size()) - 1, work.frames.back());
                piece.first_x = x;
                piece.first_y = y;
                piece.width = std::min(tile.resolution - x, LARGEST_PIECE);
                piece.height = std::min(tile.resolution - y, LARGEST_PIECE);
                const double share = static_cast<double>(piece.width) * piece.height /
                                     (static_cast<double>(tile.resolution) * tile.resolution);
                work.tiles.push_back(piece);
                work.predicted_nodes.push_back(share * tile.predicted_nodes);
            }
        }
    }

    // Returns false where not all of it was done.
    bool finish_work(TracerWork& work, DirectionSet& set, std::size_t end) {
        std::size_t done = 0;
        if (!work.tiles.empty()) {
            done = tracer_.trace(work.frames, work.tiles, work.predicted_nodes, [&] {
                return is_interrupted() ||
                       is_checkpoint_due(std::max(options_.checkpoint_interval, 1s));
            });
        }
        const bool is_whole = done == work.tiles.size();
        work = {};
        state_.tiles_done += done;
        for (; state_.directions_done < end; ++state_.directions_done) {
            DirectionTiles& tiles = set.tiles[state_.directions_done];
            const std::uint64_t pieces = count_pieces(tiles);
            if (state_.tiles_done < pieces) {
                break;
            }
            state_.tiles_done -= pieces;
            if (pieces > MOST_KEPT_PIECES) {
                tiles = {};
            }
        }
        return is_whole;
    }

    [[nodiscard]] TracedTile traced_tile(const MapTile& tile, std::uint32_t frame_index,
                                         const ProjectionFrame& frame) const {
        const double map_texels = std::exp2(tile.level);
        const double scale = tile.resolution / map_texels;
        const double pixel = frame.units_per_texel / scale;
        // Around a point: at the scene's extent, where all texels would fill the sphere.
        const double unit_area = frame.is_perspective != 0
                                     ? 4.0 * std::numbers::pi * scene_.depth_extent *
                                           scene_.depth_extent /
                                           static_cast<double>(scene_.light_map.texels())
                                     : scene_.unit_area;
        const double weight =
            std::clamp(std::round(MEAN_WEIGHT * pixel * pixel / unit_area), 1.0, LARGEST_WEIGHT);
        return {.frame = frame_index,
                .map_x = static_cast<float>(std::uint32_t{tile.x} << tile.level),
                .map_y = static_cast<float>(std::uint32_t{tile.y} << tile.level),
                .scale = static_cast<float>(scale),
                .weight = static_cast<std::uint32_t>(weight),
                .radiance_scale = static_cast<float>(weight * scale_)};
    }

    // ---- What a pass has found

    void finish_pass(const Pass& pass) {
        PassReport& report = result_.passes.emplace_back(PassReport{.name = pass.name});
        if (state_.directions_done == 0 && state_.tiles_done == 0) {
            return;
        }
        const std::vector<Accumulator>& sums = read_sums();
        const auto directions = static_cast<std::uint32_t>(passes_.directions_of(pass));
        light_.set_halves(static_cast<std::uint32_t>(passes_.half_of(pass, directions)),
                          state_.directions_done);
        add_light(pass, sums);
        state_.half = {};
        report.mean_irradiance = light_.mean_irradiance();
        report.noise = last_noise_ = light_.noise();
        report.change = report.mean_irradiance - std::exchange(last_mean_, report.mean_irradiance);
    }

    // Of the tracer, in memory that is kept: making it anew takes longer than many a pass.
    [[nodiscard]] const std::vector<Accumulator>& read_sums() {
        tracer_.read_sums(sums_);
        return sums_;
    }

    void add_light(const Pass& pass, const std::vector<Accumulator>& sums) {
        if (pass.doubling > 0 && pass.kind != Pass::Kind::lamps) {
            light_.finish_more(sums, pass.kind == Pass::Kind::bounce);
            return;
        }
        switch (pass.kind) {
            case Pass::Kind::sun:
                light_.finish_sun(suns_[pass.number], sums);
                break;
            case Pass::Kind::light:
                light_.finish_light(lights_[pass.number], sums);
                break;
            case Pass::Kind::lamps:
                light_.finish_lamps(pass.doubling > 0);
                break;
            case Pass::Kind::direct:
                light_.find_known(sums);
                light_.finish_direct(sums);
                light_.begin_moments(sums);
                break;
            case Pass::Kind::bounce:
                light_.find_known(sums);
                light_.finish_bounce(sums);
                if (pass.number == options_.bounces) {
                    light_.begin_moments(sums);
                }
                break;
            case Pass::Kind::direct_moment:
            case Pass::Kind::bounce_moment:
                light_.finish_moment(pass.number, sums);
                break;
        }
    }

    void report(const std::string& pass) {
        if (watcher_.progress) {
            std::uint64_t done = state_.directions_done + state_.probe_steps;
            std::uint64_t all = options_.probes.empty() ? 0 : passes_.probe_steps();
            for (std::uint32_t i = 0; i < passes_.planned().size(); ++i) {
                done += i < state_.pass ? passes_.directions_of(passes_.planned()[i]) : 0;
                all += passes_.directions_of(passes_.planned()[i]);
            }
            watcher_.progress({.pass = pass,
                               .directions_done = done,
                               .directions = all,
                               .resumed_directions = resumed_directions_,
                               .seconds = seconds_since(start_),
                               .noise = last_noise_});
        }
    }

    const TracedScene& scene_;
    const SurfaceMap& surface_;
    const std::vector<Sun>& suns_;
    const std::vector<PointLight>& lights_;
    const Lamps& lamps_;
    const Sky& sky_;
    const TileOptions& tile_options_;
    const BakeOptions& options_;
    Tracer& tracer_;
    const BakeWatcher& watcher_;

    Passes passes_;
    std::vector<Accumulator> sums_;
    std::vector<glm::vec4> outgoing_;
    bool interrupted_ = false;
    double scale_ = 1.0;  // units of the sums in a radiance of 1 with a weight of 1

    Checkpoint state_;
    GatheredLight light_{scene_, surface_, lamps_, options_, state_};
    std::uint64_t resumed_directions_ = 0;
    double last_mean_ = 0.0;
    std::optional<double> last_noise_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_checkpoint_ = Clock::now();
    BakeResult result_;
};

}  // namespace

BakeResult bake(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
                const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
                const TileOptions& tile_options, const BakeOptions& options, Tracer& tracer,
                const BakeWatcher& watcher) {
    return Bake(scene, surface, suns, lights, lamps, sky, tile_options, options, tracer, watcher)
        .run();
}

}  // namespace quadtile::baker
