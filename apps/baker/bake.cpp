#include "bake.hpp"

#include "checkpoint.hpp"
#include "gathered_light.hpp"
#include "pass_tracing.hpp"
#include "passes.hpp"
#include "platform.hpp"
#include "probes.hpp"

#include <quadtile/version.h>

#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <future>
#include <iterator>
#include <ranges>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace quadtile::baker {

namespace {

using namespace std::chrono_literals;

// Longer groups of directions use the GPU better, shorter ones react to Ctrl-C sooner.
constexpr double LONGEST_GROUP_SECONDS = 0.5;

class Bake {
 public:
    Bake(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
         const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
         const TileOptions& tile_options, const BakeOptions& options,
         std::span<Tracer* const> tracers, const BakeWatcher& watcher, Ranks* ranks)
        : scene_(scene),
          surface_(surface),
          suns_(suns),
          lights_(lights),
          lamps_(lamps),
          tile_options_(tile_options),
          options_(options),
          tracers_(tracers),
          watcher_(watcher),
          ranks_(ranks != nullptr ? *ranks : alone_),
          passes_(scene, surface, suns, lights, lamps, sky, options),
          groups_(tracers.size(), 1) {}

    BakeResult run() {
        state_.fingerprint = fingerprint_of(scene_, surface_, suns_, lights_, lamps_,
                                            passes_.sets(), tile_options_, options_);
        check_ranks();
        const std::size_t texels = scene_.texels.places();
        state_.known.assign(texels, 0);
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
        wait_for_room();
        result_.interrupted = result_.interrupted || !run_probes();
        if (watcher_.traced) {
            watcher_.traced();
        }
        result_.noise = last_means_.noise;
        result_.inside_texels = state_.inside_texels;
        std::tie(result_.map, result_.error) = light_.make_map(!result_.interrupted);
        return std::move(result_);
    }

 private:
    // Returns whether the noise after all other passes requires another pass. It doubles the kind
    // whose directions reduce the noise most.
    [[nodiscard]] bool needs_more() {
        const std::optional<double> noise = last_means_.noise;
        if (!noise || !(*noise > options_.noise) || options_.noise == 0.0) {
            return false;
        }
        // noise that cannot be reduced by doubling
        const double of_sources = light_.noise_of(state_.sources_error);
        double rest = of_sources * of_sources;
        double most = 0.0;  // squared noise per direction
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

    // Checks that all ranks bake the same, because another bake would spoil the light of all.
    void check_ranks() {
        Fingerprint all;
        all.add(state_.fingerprint);
        all.add(std::uint32_t{options_.resume});
        all.add(std::uint32_t{options_.checkpoint.empty()});
        all.add(QUADTILE_VERSION_STRING);
        std::uint64_t of_first = all.value();
        ranks_.broadcast(std::as_writable_bytes(std::span(&of_first, 1)));
        ranks_.together([&] {
            if (all.value() != of_first) {
                throw std::runtime_error(
                    "its scene or options differ from those of rank 0; give all ranks the same "
                    "command, files and version of the program");
            }
        });
    }

    void resume() {
        bool is_there = false;
        ranks_.together([&] { is_there = ranks_.is_first() && read_state(); });
        if (ranks_.greatest(is_there ? 1.0 : 0.0) == 0.0) {
            return;
        }
        broadcast_state(state_, ranks_);
        for (const std::uint8_t kind : state_.more) {
            passes_.add(passes_.more_of(static_cast<Pass::Kind>(kind)));
        }
        for (std::uint32_t i = 0; i < state_.pass; ++i) {
            resumed_directions_ += passes_.directions_of(passes_.planned()[i]);
        }
        resumed_directions_ += state_.directions_done + state_.probe_steps;
        last_means_ = light_.means();
        has_sums_ = true;
    }

    // Reads the state. Returns false if there is none.
    [[nodiscard]] bool read_state() {
        std::optional<BakeState> checkpoint = read_checkpoint(options_.checkpoint);
        if (!checkpoint) {
            return false;
        }
        if (checkpoint->fingerprint != state_.fingerprint) {
            throw std::runtime_error(
                "checkpoint '" + app::text_of(options_.checkpoint) +
                "' belongs to another bake: the scene, the light or an option has changed; bake "
                "without --resume, or with the scene and options of the first run");
        }
        state_ = std::move(*checkpoint);
        return true;
    }

    void write_state() {
        wait_for_room();
        if (!options_.checkpoint.empty()) {
            if (!std::exchange(is_light_gathered_, true)) {
                light_.gather();
            }
            light_.move_lamp_sums();
            ranks_.gather(std::span(state_.probe_sums), PROBE_SUMS, false);
            const auto read = [&](std::size_t first, std::span<Accumulator> sums) {
                read_tracers(tracers_, first, sums);
                ranks_.add_up({reinterpret_cast<std::uint64_t*>(sums.data()),
                               sums.size_bytes() / sizeof(std::uint64_t)},
                              0);
            };
            if (ranks_.is_first()) {
                write_checkpoint(options_.checkpoint, state_, scene_.sum_count(), read);
            } else {
                read_pieces(scene_.sum_count(), read);
            }
        }
        last_checkpoint_ = Clock::now();
    }

    // ---- A pass

    bool run_pass(const Pass& pass) {
        const auto start = Clock::now();
        is_light_gathered_ = false;
        DirectionSet own;
        if (pass.kind == Pass::Kind::light && ranks_.count() == 1) {
            own = set_of_light();
        } else {
            own.directions = passes_.own_directions(pass);
        }
        DirectionSet& set = own.directions.empty() ? passes_.set_of(pass) : own;
        const std::vector<BundleDirection>& directions = set.directions;
        if (pass.kind == Pass::Kind::bounce && pass.doubling == 0) {
            state_.sent = {};
        }
        set_outgoing(is_direct(pass) ? Emission::without_lamps : Emission::none,
                     !is_direct(pass) && !is_of_source(pass));
        const double scale = scale_of(scene_, pass, directions, greatest_radiance_);
        light_.set_scale(scale);
        const auto open = pass.kind == Pass::Kind::light
                              ? triangles_in_plane(scene_, lights_[pass.number].position)
                              : std::vector<std::uint32_t>();
        for (Tracer* const tracer : tracers_) {
            tracer->begin_pass(open);
        }
        if (pass.kind == Pass::Kind::lamps) {
            light_.begin_lamps(passes_.lamp_patches(), pass.doubling > 0);
        }
        if (std::exchange(has_sums_, false) && ranks_.is_first()) {
            read_sums(options_.checkpoint, scene_.sum_count(),
                      [&](std::size_t first, std::span<const Accumulator> sums) {
                          tracers_.front()->set_sums(first, sums);
                      });
        }
        if (pass.doubling == 0) {
            room_ =
                std::async(std::launch::async, [this, kind = pass.kind] { light_.begin(kind); });
        }
        // The sums of lamps are on one device.
        std::vector<PassTracing> tracings;
        for (Tracer* const tracer :
             tracers_.first(pass.kind == Pass::Kind::lamps ? 1 : tracers_.size())) {
            tracings.emplace_back(scene_, tile_options_, *tracer, pass, set, scale);
        }
        const std::uint32_t done_before = state_.directions_done;
        const std::size_t half = passes_.half_of(pass, directions.size());
        while (state_.directions_done < directions.size()) {
            const bool is_first_half = state_.directions_done < half;
            if (!run_round(pass, tracings, is_first_half ? half : directions.size())) {
                // The first light is better than none; a part of a bounce is noise beside the whole
                // previous bounce.
                if ((is_of_source(pass) || pass.kind == Pass::Kind::direct) && pass.doubling == 0) {
                    finish_pass(pass);
                }
                return false;
            }
            if (is_first_half && state_.directions_done == half && !is_moment(pass) &&
                pass.doubling == 0) {
                light_.note_half();
                is_light_gathered_ = false;
            }
        }
        finish_pass(pass);
        result_.passes.back().seconds = seconds_since(start);
        result_.passes.back().directions =
            static_cast<std::uint32_t>(directions.size()) - done_before;
        return true;
    }

    // Returns the set of this pass. Requests the tiles of this light and the next ones together: a
    // device makes many maps in the time of a few.
    DirectionSet set_of_light() {
        if (sets_of_lights_.empty()) {
            DirectionSet all;
            std::vector<std::size_t> ends{0};
            for (std::size_t i = state_.pass; i < passes_.planned().size(); ++i) {
                const Pass& pass = passes_.planned()[i];
                const auto size = all.directions.size() + passes_.directions_of(pass);
                if (pass.kind != Pass::Kind::light ||
                    (i > state_.pass && size > frames_at_once())) {
                    break;
                }
                std::ranges::copy(passes_.own_directions(pass), std::back_inserter(all.directions));
                ends.push_back(all.directions.size());
            }
            all.tiles.resize(all.directions.size());
            if (ends.size() > 2) {
                (void)PassTracing(scene_, tile_options_, *tracers_.front(),
                                  passes_.planned()[state_.pass], all, 1.0)
                    .request_missing_tiles({0, all.directions.size()},
                                           [&] { return is_interrupted(); });
            }
            for (std::size_t i = 1; i < ends.size(); ++i) {
                const auto part = [&](const auto& values) {
                    return std::vector(values.begin() + static_cast<std::ptrdiff_t>(ends[i - 1]),
                                       values.begin() + static_cast<std::ptrdiff_t>(ends[i]));
                };
                sets_of_lights_.push_back({part(all.directions), part(all.tiles)});
            }
        }
        DirectionSet set = std::move(sets_of_lights_.front());
        sets_of_lights_.pop_front();
        return set;
    }

    // Distributes the directions before `end`, until all are done or a checkpoint is due. Returns
    // false if the bake is interrupted. A device alone stops within a direction, which may take
    // minutes; several finish theirs, because each has another one.
    bool run_round(const Pass& pass, std::vector<PassTracing>& tracings, std::size_t end) {
        if (!goes_on(pass.name, state_.directions_done)) {
            return false;
        }
        const std::size_t unit = unit_of(pass);
        // Part of a direction in the checkpoint.
        const std::size_t first = state_.directions_done;
        const std::size_t next = (first + (state_.tiles_done > 0 ? 1 : 0) + unit - 1) / unit * unit;
        Range begun{first, ranks_.is_first() ? next : first};
        state_.tiles_done = ranks_.is_first() ? state_.tiles_done : 0;
        ranks_.hand_out({next / unit, end / unit}, tracings.size());
        std::vector<std::future<void>> others;
        for (std::size_t i = 1; i < tracings.size(); ++i) {
            others.push_back(std::async(std::launch::async, [&, i] {
                Range none;
                std::uint64_t no_tiles = 0;
                trace_share(pass, i, tracings[i], none, no_tiles);
            }));
        }
        trace_share(pass, 0, tracings.front(), begun, state_.tiles_done);
        for (std::future<void>& other : others) {
            other.get();
        }
        const std::size_t done = begun.size() > 0 ? begun.first : ranks_.handed_out() * unit;
        state_.directions_done = static_cast<std::uint32_t>(
            ranks_.greatest(ranks_.is_first() ? static_cast<double>(done) : 0.0));
        return true;
    }

    // Traces the directions that are begun, and those that this thread takes. Only for the first
    // tracer the watcher is called.
    void trace_share(const Pass& pass, std::size_t number, PassTracing& tracing, Range& own,
                     std::uint64_t& tiles_done) {
        const bool is_first = number == 0;
        const std::size_t unit = unit_of(pass);
        const bool is_alone = ranks_.count() == 1 && tracers_.size() == 1;
        const auto is_due = [&](std::chrono::seconds interval) {
            return ranks_.is_first() && is_checkpoint_due(interval);
        };
        std::uint32_t& group = groups_[number];
        try {
            while (true) {
                if (own.size() == 0) {
                    const Range units = ranks_.take(unit > 1 ? 1 : group);
                    own = {units.first * unit, units.end * unit};
                }
                if (own.size() == 0) {
                    return;
                }
                const auto start = Clock::now();
                tracing.trace(
                    own, tiles_done, [&] { return is_alone && is_interrupted(); },
                    [&] {
                        return is_alone && (is_interrupted() ||
                                            is_due(std::max(options_.checkpoint_interval, 1s)));
                    });
                if (unit > 1 && own.size() == 0) {
                    add_lamp_point(own.end / unit - 1);
                }
                group = suited_group(group, seconds_since(start));
                if (is_first) {
                    if (is_interrupted() || is_due(options_.checkpoint_interval)) {
                        ranks_.stop();
                        if (is_alone) {
                            return;
                        }
                    }
                    report(pass.name, own.size() > 0 ? own.first : ranks_.handed_out() * unit);
                }
            }
        } catch (...) {
            ranks_.stop();
            throw;
        }
    }

    // Returns the number of directions that a device traces together: the faces around a lamp's
    // point, because it adds up their results.
    [[nodiscard]] static std::size_t unit_of(const Pass& pass) {
        return pass.kind == Pass::Kind::lamps ? FACES_A_LAMP_POINT : 1;
    }

    // Returns the number of directions to trace together after so many have taken `seconds`.
    [[nodiscard]] std::uint32_t suited_group(std::uint32_t group, double seconds) const {
        return seconds < 0.5 * LONGEST_GROUP_SECONDS ? std::min(2 * group, frames_at_once())
               : seconds > LONGEST_GROUP_SECONDS     ? std::max(group / 2, 1U)
                                                     : group;
    }

    [[nodiscard]] std::uint32_t frames_at_once() const {
        return tracers_.front()->frames_at_once();
    }

    void add_lamp_point(std::size_t number) {
        const LampPoint& point = passes_.lamp_points()[number];
        light_.add_lamp_point(passes_.lamp_patches()[point.patch], point,
                              number < passes_.lamp_patches().size());
        tracers_.front()->clear_sums();
    }

    // Reports progress. Writes the state if it is time; also if interrupted, then returns false.
    [[nodiscard]] bool goes_on(const std::string& pass, std::size_t directions_done) {
        report(pass, directions_done);
        const double interrupted = are_interrupted() ? 1.0 : 0.0;
        const bool is_due = ranks_.is_first() && is_checkpoint_due(options_.checkpoint_interval);
        if (ranks_.greatest(is_due ? 1.0 : interrupted) > 0.0) {
            write_state();
        }
        return interrupted == 0.0;
    }

    // Returns whether the bake is interrupted; stays true.
    [[nodiscard]] bool is_interrupted() {
        interrupted_ = interrupted_ || (watcher_.interrupted && watcher_.interrupted());
        return interrupted_;
    }

    // Returns whether any rank is interrupted.
    [[nodiscard]] bool are_interrupted() {
        interrupted_ = ranks_.greatest(is_interrupted() ? 1.0 : 0.0) > 0.0;
        return interrupted_;
    }

    [[nodiscard]] bool is_checkpoint_due(std::chrono::seconds interval) const {
        return !options_.checkpoint.empty() && Clock::now() - last_checkpoint_ > interval;
    }

    // Runs the probes after all passes. Returns false if they were interrupted.
    bool run_probes() {
        if (options_.probes.empty()) {
            return true;
        }
        const auto start = Clock::now();
        is_light_gathered_ = false;
        std::vector<ProbeSource> sources{{passes_.direct().directions}};
        for (std::uint32_t i = 0; i < suns_.size(); ++i) {
            sources.push_back(
                {passes_.own_directions({Pass::Kind::sun, i, ""}), &suns_[i], nullptr});
        }
        for (std::uint32_t i = 0; i < lights_.size(); ++i) {
            sources.push_back(
                {passes_.own_directions({Pass::Kind::light, i, ""}), nullptr, &lights_[i]});
        }
        state_.sent = {};
        std::vector<glm::vec4> outgoing(scene_.sum_count());
        (void)light_.read_outgoing(Emission::all, true,
                                   [&](std::size_t first, std::span<const glm::vec4> radiance) {
                                       std::ranges::copy(radiance, &outgoing[first]);
                                   });
        if (!gather_probes(
                scene_, options_.probes, sources, outgoing, *tracers_.front(),
                [&] { return goes_on("probes", 0); }, ranks_, state_)) {
            return false;
        }
        ranks_.gather(std::span(state_.probe_sums), PROBE_SUMS, false);
        result_.probes = probes_of(options_.probes, state_);
        result_.passes.push_back({"probes", state_.probe_steps, seconds_since(start)});
        return true;
    }

    // Gives the tracers the radiance of all texels, if it is another one.
    void set_outgoing(Emission emission, bool reflects) {
        if (!reflects && emission_ == emission) {
            return;
        }
        emission_ = reflects ? std::nullopt : std::optional(emission);
        greatest_radiance_ = light_.read_outgoing(
            emission, reflects, [&](std::size_t first, std::span<const glm::vec4> radiance) {
                parallel_for(tracers_.size(), static_cast<std::uint32_t>(tracers_.size()),
                             [&](std::size_t i) { tracers_[i]->set_outgoing(first, radiance); });
            });
    }

    void wait_for_room() {
        if (room_.valid()) {
            room_.get();
        }
    }

    // ---- Results of a pass

    void finish_pass(const Pass& pass) {
        PassReport& report = result_.passes.emplace_back(PassReport{.name = pass.name});
        if (state_.directions_done == 0 && state_.tiles_done == 0) {
            return;
        }
        wait_for_room();
        const auto directions = static_cast<std::uint32_t>(passes_.directions_of(pass));
        light_.set_halves(static_cast<std::uint32_t>(passes_.half_of(pass, directions)),
                          state_.directions_done);
        add_light(pass);
        state_.half = {};
        const double before = std::exchange(last_means_, light_.means()).irradiance;
        report.mean_irradiance = last_means_.irradiance;
        report.noise = last_means_.noise;
        report.change = last_means_.irradiance - before;
    }

    void add_light(const Pass& pass) {
        if (pass.doubling > 0 && pass.kind != Pass::Kind::lamps) {
            light_.finish_more(pass.kind == Pass::Kind::bounce);
            return;
        }
        switch (pass.kind) {
            case Pass::Kind::sun:
                light_.finish_sun(suns_[pass.number]);
                break;
            case Pass::Kind::light:
                light_.finish_light(lights_[pass.number]);
                break;
            case Pass::Kind::lamps:
                light_.finish_lamps(pass.doubling > 0);
                break;
            case Pass::Kind::direct:
                light_.finish_direct();
                light_.begin_moments();
                break;
            case Pass::Kind::bounce: {
                const bool is_last = pass.number == options_.bounces;
                light_.finish_bounce(is_last && (options_.directional || options_.noise > 0.0));
                if (is_last) {
                    light_.begin_moments();
                }
                break;
            }
            case Pass::Kind::direct_moment:
            case Pass::Kind::bounce_moment:
                light_.finish_moment(pass.number);
                break;
        }
    }

    void report(const std::string& pass, std::size_t directions_done) {
        if (watcher_.progress) {
            std::uint64_t done = directions_done + state_.probe_steps;
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
                               .noise = last_means_.noise});
        }
    }

    const TracedScene& scene_;
    const SurfaceMap& surface_;
    const std::vector<Sun>& suns_;
    const std::vector<PointLight>& lights_;
    const Lamps& lamps_;
    const TileOptions& tile_options_;
    const BakeOptions& options_;
    std::span<Tracer* const> tracers_;
    const BakeWatcher& watcher_;
    Ranks alone_;
    Ranks& ranks_;

    Passes passes_;
    std::optional<Emission> emission_;         // that alone leaves the texels
    float greatest_radiance_ = 0.0F;           // that leaves a texel
    bool has_sums_ = false;                    // whether the checkpoint has sums of this pass
    std::deque<DirectionSet> sets_of_lights_;  // of this pass and the next ones
    bool interrupted_ = false;
    std::vector<std::uint32_t> groups_;  // by tracer: directions traced together
    bool is_light_gathered_ = false;     // whether the state is that of light_.gather()

    BakeState state_;
    GatheredLight light_{scene_, surface_, lamps_, options_, tracers_, ranks_, state_};
    std::uint64_t resumed_directions_ = 0;
    GatheredLight::Means last_means_{};
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_checkpoint_ = Clock::now();
    BakeResult result_;
    std::future<void> room_;  // of GatheredLight::begin; ends before the state does
};

}  // namespace

BakeResult bake(const TracedScene& scene, const SurfaceMap& surface, const std::vector<Sun>& suns,
                const std::vector<PointLight>& lights, const Lamps& lamps, const Sky& sky,
                const TileOptions& tile_options, const BakeOptions& options,
                std::span<Tracer* const> tracers, const BakeWatcher& watcher, Ranks* ranks) {
    return Bake(scene, surface, suns, lights, lamps, sky, tile_options, options, tracers, watcher,
                ranks)
        .run();
}

}  // namespace quadtile::baker
