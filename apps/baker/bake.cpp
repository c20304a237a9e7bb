#include "bake.hpp"

#include "checkpoint.hpp"
#include "direction_tiles.hpp"
#include "gathered_light.hpp"
#include "passes.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
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
constexpr double LARGEST_WEIGHT = 2147483648.0;

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
          direct_{make_directions(options.direct_directions > 0 ? options.direct_directions
                                                                : options.directions,
                                  options.seed, sky),
                  {}},
          bounces_{options.directions == direct_.directions.size()
                       ? std::vector<BundleDirection>()
                       : make_directions(options.directions, options.seed, {}),
                   {}} {
        plan_passes();
    }

    BakeResult run() {
        state_.fingerprint =
            fingerprint_of(scene_, surface_, suns_, lights_, lamps_,
                           {&direct_.directions, &bounces_.directions}, tile_options_, options_);
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
        for (; state_.pass < passes_.size() || needs_more();
             ++state_.pass, state_.directions_done = 0) {
            if (!run_pass(passes_[state_.pass])) {
                result_.interrupted = true;
                break;
            }
        }
        result_.noise = light_.noise();
        result_.error = light_.error();
        result_.inside_texels = state_.inside_texels;
        result_.map = light_.make_map(!result_.interrupted);
        return std::move(result_);
    }

 private:
    void plan_passes() {
        if (!lamps_.patches.empty()) {
            passes_.push_back({Pass::Kind::lamps, 0, "lamps"});
        }
        for (std::uint32_t i = 0; i < suns_.size(); ++i) {
            passes_.push_back({Pass::Kind::sun, i, "sun"});
        }
        for (std::uint32_t i = 0; i < lights_.size(); ++i) {
            passes_.push_back(
                {Pass::Kind::light, i, lights_[i].is_spot ? "spot light" : "point light"});
        }
        const auto shines = [](const glm::vec3& colour) { return greatest_of(colour) > 0.0F; };
        has_direct_ =
            std::ranges::any_of(std::views::iota(std::size_t{0}, surface_.emission.size()),
                                [&](std::size_t i) { return shines(emission_at(i)); }) ||
            std::ranges::any_of(direct_.directions, [&](const BundleDirection& direction) {
                return shines(direction.sky_ahead) || shines(direction.sky_behind);
            });
        // Without any light it is only found out which texels are known.
        if (has_direct_ || passes_.empty() || (!lamps_.patches.empty() && options_.bounces == 0)) {
            passes_.push_back({Pass::Kind::direct, 0, "direct light"});
            plan_moments(Pass::Kind::direct_moment);
        }
        for (std::uint32_t i = 1; i <= options_.bounces; ++i) {
            passes_.push_back({Pass::Kind::bounce, i, "bounce " + std::to_string(i)});
        }
        if (options_.bounces > 0) {
            plan_moments(Pass::Kind::bounce_moment);
        }
    }

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
            const Pass pass = more_of(kind);
            const auto directions = static_cast<double>(directions_of(pass));
            if (!is_planned || 2.0 * directions > MOST_DIRECTIONS) {
                rest += square;
            } else if (square / directions > most) {
                most = square / directions;
                best = pass;
            }
        };
        consider(Pass::Kind::lamps, !lamps_.patches.empty(), state_.lamps_error);
        consider(Pass::Kind::direct, has_direct_, state_.direct_error);
        consider(Pass::Kind::bounce, options_.bounces > 0, state_.indirect_error);
        if (rest > options_.noise * options_.noise || !best) {
            return false;
        }
        passes_.push_back(*best);
        state_.more.push_back(static_cast<std::uint8_t>(best->kind));
        return true;
    }

    [[nodiscard]] Pass more_of(Pass::Kind kind) const {
        const auto doublings = std::ranges::count_if(
            passes_, [&](const Pass& pass) { return pass.doubling > 0 && pass.kind == kind; });
        return {kind, kind == Pass::Kind::bounce ? options_.bounces : 0,
                kind == Pass::Kind::bounce  ? "more bounces"
                : kind == Pass::Kind::lamps ? "more of lamps"
                                            : "more direct",
                static_cast<std::uint32_t>(doublings) + 1};
    }

    void plan_moments(Pass::Kind kind) {
        for (std::uint32_t axis = 0; options_.directional && axis < 3; ++axis) {
            passes_.push_back({kind, axis, std::string("moment ") + "xyz"[axis]});
        }
    }

    [[nodiscard]] std::uint64_t directions_of(const Pass& pass) {
        const std::uint32_t doublings = std::max(pass.doubling, 1U) - 1;
        switch (pass.kind) {
            case Pass::Kind::sun:
                return options_.sun_directions;
            case Pass::Kind::light:
                return std::uint64_t{options_.sun_directions} * faces_of(lights_[pass.number]);
            case Pass::Kind::lamps:
                return lamps_.patches.size() * POINTS_A_PATCH * FACES_A_LAMP_POINT << doublings;
            default:
                return set_of(pass).directions.size() << doublings;
        }
    }

    // A pass's own; none: it takes those of its set.
    [[nodiscard]] std::vector<BundleDirection> own_directions(const Pass& pass) {
        const std::uint64_t seed = options_.seed + (std::uint64_t{pass.doubling} << 32U);
        const std::uint64_t source_seed = seed + 1 + pass.number;
        switch (pass.kind) {
            case Pass::Kind::sun:
                return make_sun_directions(suns_[pass.number], options_.sun_directions,
                                           source_seed);
            case Pass::Kind::light:
                return make_light_directions(lights_[pass.number], options_.sun_directions,
                                             source_seed + suns_.size());
            case Pass::Kind::lamps: {
                const std::uint32_t doublings = std::max(pass.doubling, 1U) - 1;
                pass_lamps_ = with_more_patches(lamps_.patches, doublings);
                lamp_points_ = make_lamp_points(pass_lamps_, seed);
                return make_lamp_directions(lamp_points_, seed);
            }
            default:
                return pass.doubling == 0
                           ? std::vector<BundleDirection>()
                           : make_directions(static_cast<std::uint32_t>(directions_of(pass)), seed,
                                             is_direct(pass) ? sky_ : Sky());
        }
    }

    // Of all points of a light one half, with all faces of each. Lamps have halves of their own.
    [[nodiscard]] std::size_t half_of(const Pass& pass, std::size_t directions) const {
        if (pass.kind == Pass::Kind::lamps) {
            return 0;
        }
        const std::size_t faces =
            pass.kind == Pass::Kind::light ? faces_of(lights_[pass.number]) : 1;
        return directions / faces / 2 * faces;
    }

    // Where there are as many, they are the same ones.
    [[nodiscard]] DirectionSet& set_of(const Pass& pass) {
        return is_direct(pass) || bounces_.directions.empty() ? direct_ : bounces_;
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
            passes_.push_back(more_of(static_cast<Pass::Kind>(kind)));
        }
        for (std::uint32_t i = 0; i < state_.pass; ++i) {
            resumed_directions_ += directions_of(passes_[i]);
        }
        resumed_directions_ += state_.directions_done;
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
        own.directions = own_directions(pass);
        DirectionSet& set = own.directions.empty() ? set_of(pass) : own;
        const std::vector<BundleDirection>& directions = set.directions;
        if (pass.kind == Pass::Kind::bounce && pass.doubling == 0) {
            state_.sent = state_.indirect;
        }
        const std::vector<glm::vec4>& outgoing = outgoing_radiance(pass);
        choose_scale(pass, outgoing, directions);
        tracer_.begin_pass(outgoing);
        if (!state_.sums.empty()) {
            tracer_.set_sums(state_.sums);
            state_.sums = {};
        }
        const std::uint32_t done_before = state_.directions_done;
        std::uint32_t group = 1;
        while (state_.directions_done < directions.size()) {
            report(pass);
            if (is_interrupted()) {
                write_state();
                // The first light is better than none; a part of a bounce is noise beside all of
                // the one before.
                if ((is_of_source(pass) || pass.kind == Pass::Kind::direct) && pass.doubling == 0) {
                    finish_pass(pass);
                }
                return false;
            }
            if (is_checkpoint_due(options_.checkpoint_interval)) {
                write_state();
            }
            const auto group_start = Clock::now();
            const std::size_t half = half_of(pass, directions.size());
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
        const LampPoint& point = lamp_points_[number];
        const bool is_first_half = number < pass_lamps_.size();
        light_.add_lamp_point(pass_lamps_[point.patch], point, is_first_half, pass.doubling > 0,
                              read_sums());
        tracer_.clear_sums();
    }

    // Once it is true, it stays so.
    [[nodiscard]] bool is_interrupted() {
        interrupted_ = interrupted_ || (watcher_.interrupted && watcher_.interrupted());
        return interrupted_;
    }

    [[nodiscard]] bool is_checkpoint_due(std::chrono::seconds interval) const {
        return Clock::now() - last_checkpoint_ > interval;
    }

    // Of what is no lamp.
    [[nodiscard]] glm::vec3 emission_at(std::size_t texel) const {
        return lamps_.patches.empty() || lamps_.texels[texel] == 0 ? surface_.emission[texel]
                                                                   : glm::vec3(0.0F);
    }

    // As Tracer::begin_pass takes it.
    [[nodiscard]] const std::vector<glm::vec4>& outgoing_radiance(const Pass& pass) {
        outgoing_.resize(scene_.sum_count());
        for_texels(outgoing_.size(), [&](std::size_t i) {
            const std::size_t texel = i % scene_.light_map.texels();
            const bool has_two_sides = surface_.double_sided[texel] != 0;
            if (i != texel && !has_two_sides) {
                return;
            }
            glm::vec3 radiance(0.0F);
            if (is_direct(pass)) {
                radiance = emission_at(texel);
            } else if (!is_of_source(pass)) {
                radiance = surface_.albedo[texel] * (light_.direct_at(i) + state_.sent[i]) *
                           std::numbers::inv_pi_v<float>;
            }
            outgoing_[i] = glm::vec4(radiance, has_two_sides ? 1.0F : 0.0F);
        });
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
        const double weights =
            4.0 * MEAN_WEIGHT * (largest_texel + 16.0) * static_cast<double>(directions.size());
        const double units = std::min(LARGEST_UNITS / MEAN_WEIGHT, 0x1p62 / weights);
        scale_ = std::exp2(std::floor(std::log2(units / double{greatest})));
        light_.set_scale(scale_);
    }

    [[nodiscard]] ProjectionFrame frame_of(const Pass& pass, const BundleDirection& direction,
                                           const MapWindow& window) const {
        ProjectionFrame frame = make_frame(direction, scene_, tile_options_.map_extent, window);
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
        const auto directions = static_cast<std::uint32_t>(directions_of(pass));
        light_.set_halves(static_cast<std::uint32_t>(half_of(pass, directions)),
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

    void report(const Pass& pass) {
        if (watcher_.progress) {
            std::uint64_t done = state_.directions_done;
            std::uint64_t all = 0;
            for (std::uint32_t i = 0; i < passes_.size(); ++i) {
                done += i < state_.pass ? directions_of(passes_[i]) : 0;
                all += directions_of(passes_[i]);
            }
            watcher_.progress({.pass = pass.name,
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

    DirectionSet direct_;
    DirectionSet bounces_;
    std::vector<Pass> passes_;
    // Of the pass that runs.
    std::vector<LampPatch> pass_lamps_;
    std::vector<LampPoint> lamp_points_;
    std::vector<Accumulator> sums_;
    std::vector<glm::vec4> outgoing_;
    bool has_direct_ = false;  // there are emitters that are no lamps, or a sky
    bool interrupted_ = false;
    double scale_ = 1.0;  // units of the sums in a radiance of 1 with a weight of 1

    Checkpoint state_;
    GatheredLight light_{scene_, surface_, options_, state_};
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
