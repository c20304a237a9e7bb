#include "bake.hpp"

#include "checkpoint.hpp"
#include "direction_tiles.hpp"
#include "gathered_light.hpp"
#include "passes.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
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
         const std::vector<PointLight>& lights, const Sky& sky, const TileOptions& tile_options,
         const BakeOptions& options, Tracer& tracer, const BakeWatcher& watcher)
        : scene_(scene),
          surface_(surface),
          suns_(suns),
          lights_(lights),
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
            fingerprint_of(scene_, surface_, suns_, lights_,
                           {&direct_.directions, &bounces_.directions}, tile_options_, options_);
        const std::size_t texels = scene_.light_map.texels();
        for (auto* const light : {&state_.direct, &state_.sent, &state_.indirect}) {
            light->assign(scene_.sum_count(), glm::vec3(0.0F));
        }
        if (!suns_.empty() || !lights_.empty()) {
            state_.sources.assign(scene_.sum_count(), glm::vec3(0.0F));
            state_.sources_error.assign(texels, 0.0F);
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
        for (std::uint32_t i = 0; i < suns_.size(); ++i) {
            passes_.push_back({Pass::Kind::sun, i, "sun"});
        }
        for (std::uint32_t i = 0; i < lights_.size(); ++i) {
            passes_.push_back(
                {Pass::Kind::light, i, lights_[i].is_spot ? "spot light" : "point light"});
        }
        const auto shines = [](const glm::vec3& colour) { return greatest_of(colour) > 0.0F; };
        has_direct_ =
            std::ranges::any_of(surface_.emission, shines) ||
            std::ranges::any_of(direct_.directions, [&](const BundleDirection& direction) {
                return shines(direction.sky_ahead) || shines(direction.sky_behind);
            });
        // Without any light it is only found out which texels are known.
        if (has_direct_ || passes_.empty()) {
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
        // Squares of noise by direction, or below 0: these cannot be doubled.
        std::array<double, 2> gains{};
        const double of_sources = light_.noise_of(state_.sources_error);
        double rest = of_sources * of_sources;
        for (const bool is_bounce : {false, true}) {
            const double of_kind =
                light_.noise_of(is_bounce ? state_.indirect_error : state_.direct_error);
            const double square = of_kind * of_kind;
            const std::uint64_t directions = directions_of(more_of(is_bounce));
            const bool can_double = (is_bounce ? options_.bounces > 0 : has_direct_) &&
                                    2 * directions <= MOST_DIRECTIONS;
            rest += can_double ? 0.0 : square;
            gains[is_bounce ? 1 : 0] = can_double ? square / static_cast<double>(directions) : -1.0;
        }
        const bool is_bounce = gains[1] > gains[0];
        if (rest > options_.noise * options_.noise || std::max(gains[0], gains[1]) < 0.0) {
            return false;
        }
        passes_.push_back(more_of(is_bounce));
        state_.more.push_back(is_bounce ? 1 : 0);
        return true;
    }

    [[nodiscard]] Pass more_of(bool is_bounce) const {
        const auto doublings = std::ranges::count_if(passes_, [&](const Pass& pass) {
            return pass.doubling > 0 && is_bounce == (pass.kind == Pass::Kind::bounce);
        });
        return {is_bounce ? Pass::Kind::bounce : Pass::Kind::direct, options_.bounces,
                is_bounce ? "more bounces" : "more direct",
                static_cast<std::uint32_t>(doublings) + 1};
    }

    void plan_moments(Pass::Kind kind) {
        for (std::uint32_t axis = 0; options_.directional && axis < 3; ++axis) {
            passes_.push_back({kind, axis, std::string("moment ") + "xyz"[axis]});
        }
    }

    [[nodiscard]] std::uint64_t directions_of(const Pass& pass) {
        if (is_of_source(pass)) {
            const bool is_sun = pass.kind == Pass::Kind::sun;
            return options_.sun_directions *
                   std::uint64_t{is_sun ? 1 : faces_of(lights_[pass.number])};
        }
        return set_of(pass).directions.size() << (std::max(pass.doubling, 1U) - 1);
    }

    // Of a source's own.
    [[nodiscard]] std::vector<BundleDirection> source_directions(const Pass& pass) const {
        const std::uint32_t count = options_.sun_directions;
        const std::uint64_t seed = options_.seed + 1 + pass.number;
        return pass.kind == Pass::Kind::sun
                   ? make_sun_directions(suns_[pass.number], count, seed)
                   : make_light_directions(lights_[pass.number], count, seed + suns_.size());
    }

    // Of all points of a light one half, with all faces of each.
    [[nodiscard]] std::size_t half_of(const Pass& pass, std::size_t directions) const {
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
        for (const std::uint8_t is_bounce : state_.more) {
            passes_.push_back(more_of(is_bounce != 0));
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
        if (is_of_source(pass)) {
            own.directions = source_directions(pass);
        } else if (pass.doubling > 0) {
            own.directions = make_directions(static_cast<std::uint32_t>(directions_of(pass)),
                                             options_.seed + (std::uint64_t{pass.doubling} << 32U),
                                             is_direct(pass) ? sky_ : Sky());
        }
        DirectionSet& set = own.directions.empty() ? set_of(pass) : own;
        const std::vector<BundleDirection>& directions = set.directions;
        if (pass.kind == Pass::Kind::bounce && pass.doubling == 0) {
            state_.sent = state_.indirect;
        }
        const std::vector<glm::vec4> outgoing = outgoing_radiance(pass);
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
                if (is_of_source(pass) || (pass.kind == Pass::Kind::direct && pass.doubling == 0)) {
                    finish_pass(pass);
                }
                return false;
            }
            if (is_checkpoint_due(options_.checkpoint_interval)) {
                write_state();
            }
            const auto group_start = Clock::now();
            const std::size_t half = half_of(pass, directions.size());
            const std::size_t next = state_.directions_done < half ? half : directions.size();
            trace(pass, set, std::min<std::size_t>(group, next - state_.directions_done));
            if (half > 0 && state_.directions_done == half && state_.tiles_done == 0 &&
                !is_moment(pass) && pass.doubling == 0) {
                light_.note_half(tracer_.sums());
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

    // Once it is true, it stays so.
    [[nodiscard]] bool is_interrupted() {
        interrupted_ = interrupted_ || (watcher_.interrupted && watcher_.interrupted());
        return interrupted_;
    }

    [[nodiscard]] bool is_checkpoint_due(std::chrono::seconds interval) const {
        return Clock::now() - last_checkpoint_ > interval;
    }

    // As Tracer::begin_pass takes it.
    [[nodiscard]] std::vector<glm::vec4> outgoing_radiance(const Pass& pass) const {
        std::vector<glm::vec4> outgoing(scene_.sum_count(), glm::vec4(0.0F));
        for_texels(outgoing.size(), [&](std::size_t i) {
            const std::size_t texel = i % scene_.light_map.texels();
            const bool has_two_sides = surface_.double_sided[texel] != 0;
            if (i != texel && !has_two_sides) {
                return;
            }
            glm::vec3 radiance(0.0F);
            if (is_direct(pass)) {
                radiance = surface_.emission[texel];
            } else if (!is_of_source(pass)) {
                radiance = surface_.albedo[texel] * (light_.direct_at(i) + state_.sent[i]) *
                           std::numbers::inv_pi_v<float>;
            }
            const std::uint32_t bits =
                (has_two_sides ? TWO_SIDED : 0) |
                (surface_.smooth[texel] != 0 ? packed_normal(surface_.normal[texel]) : 0);
            outgoing[i] = glm::vec4(radiance, std::bit_cast<float>(bits));
        });
        return outgoing;
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
        const double largest_texel = pass.kind == Pass::Kind::light
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
        const std::vector<Accumulator> sums = tracer_.sums();
        const auto directions = static_cast<std::uint32_t>(directions_of(pass));
        light_.set_halves(static_cast<std::uint32_t>(half_of(pass, directions)),
                          state_.directions_done);
        add_light(pass, sums);
        state_.half = {};
        report.mean_irradiance = light_.mean_irradiance();
        report.noise = last_noise_ = light_.noise();
        report.change = report.mean_irradiance - std::exchange(last_mean_, report.mean_irradiance);
    }

    void add_light(const Pass& pass, const std::vector<Accumulator>& sums) {
        if (pass.doubling > 0) {
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
    const Sky& sky_;
    const TileOptions& tile_options_;
    const BakeOptions& options_;
    Tracer& tracer_;
    const BakeWatcher& watcher_;

    DirectionSet direct_;
    DirectionSet bounces_;
    std::vector<Pass> passes_;
    bool has_direct_ = false;  // there are emitters, or a sky
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
                const std::vector<PointLight>& lights, const Sky& sky,
                const TileOptions& tile_options, const BakeOptions& options, Tracer& tracer,
                const BakeWatcher& watcher) {
    return Bake(scene, surface, suns, lights, sky, tile_options, options, tracer, watcher).run();
}

}  // namespace quadtile::baker
