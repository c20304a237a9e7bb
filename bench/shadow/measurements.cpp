#include "measurements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace quadtile::shadow {

namespace {

constexpr int LEAD_IN_FRAMES = 45;
constexpr float STEADY_FRAMES_PER_SECOND = 60.0F;

double percent(std::uint32_t part, std::uint32_t whole) {
    return whole == 0 ? 0.0 : 100.0 * part / whole;
}

// Appends the values' mean, median, 95 % rank and maximum.
void add_distribution(bench::Row& row, const std::string& name, std::vector<double> values,
                      int digits) {
    if (values.empty()) {
        values.push_back(0.0);
    }
    std::ranges::sort(values);
    const auto rank = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) +
                                               0.5)];
    };
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    row.insert(row.end(), {{name, sum / static_cast<double>(values.size()), digits},
                           {name + "_median", rank(0.5), digits},
                           {name + "_p95", rank(0.95), digits},
                           {name + "_max", values.back(), digits}});
}

}  // namespace

FrameSettings Measurements::begin() {
    rig_.configure(options_);
    return {.lights = filming_.lights, .filter = Filter::hard};
}

void Measurements::set_second(FrameSettings& settings, float second) const {
    settings.camera = filming_.flight.at(second);
    settings.second = second;
}

// Flies to the pose, since fitted shadow maps depend on earlier frames.
void Measurements::lead_in(FrameSettings& settings, Technique technique, std::uint32_t i) {
    const float share =
        static_cast<float>(i) / static_cast<float>(std::max(1U, filming_.frames - 1));
    const float second = share * filming_.flight.seconds();
    const int frames = technique == Technique::fitted ? LEAD_IN_FRAMES : 0;
    for (int before = frames; before >= 0; --before) {
        set_second(settings,
                   std::max(0.0F, second - static_cast<float>(before) / STEADY_FRAMES_PER_SECOND));
        if (before > 0) {
            rig_.draw(settings);
        }
    }
}

bench::Row Measurements::errors(const Variant& variant) {
    FrameSettings settings = begin();
    std::vector<double> wrong;
    std::vector<double> shadowed;
    std::vector<double> undecided;
    std::vector<double> settled;
    for (std::uint32_t i = 0; i < filming_.frames; ++i) {
        lead_in(settings, variant.technique, i);
        const Difference now =
            rig_.compare(settings, variant.technique).difference(filming_.counted);
        wrong.push_back(percent(now.wrong, now.surfaces));
        shadowed.push_back(percent(now.wrongly_shadowed, now.surfaces));
        undecided.push_back(percent(now.undecided, now.surfaces));
        if (variant.technique != Technique::fitted) {
            settled.push_back(wrong.back());  // no frame depends on earlier ones
            continue;
        }
        for (int frame = 0; frame < LEAD_IN_FRAMES; ++frame) {
            rig_.draw(settings);
        }
        const Difference later =
            rig_.compare(settings, variant.technique).difference(filming_.counted);
        settled.push_back(percent(later.wrong, later.surfaces));
    }
    bench::Row row;
    add_distribution(row, "wrong_%", wrong, 4);
    add_distribution(row, "shadowed_%", shadowed, 4);
    add_distribution(row, "settled_%", settled, 4);
    add_distribution(row, "undecided_%", undecided, 4);
    return row;
}

Measurements::Run Measurements::run(const Variant& variant) {
    FrameSettings settings = begin();
    const float seconds = std::min(filming_.seconds, filming_.flight.seconds());
    const auto count = static_cast<std::uint32_t>(seconds * STEADY_FRAMES_PER_SECOND) + 1;
    std::array<std::vector<double>, 3> tallies;
    std::array<std::vector<double>, 6> times;
    for (std::uint32_t i = 0; i < count; ++i) {
        set_second(settings, static_cast<float>(i) / STEADY_FRAMES_PER_SECOND);
        rig_.draw(settings, variant.technique);
        if (i == 0) {
            continue;
        }
        const ShadowHeader header = rig_.renderer().header();
        const std::array tally{double(header.tiles),
                               double(header.added + header.removed + header.resized),
                               double(header.factor)};
        const auto [depth, fit, cull, maps, shade] = rig_.timings();
        const std::array time{depth, fit, cull, maps, shade, depth + fit + cull + maps + shade};
        for (std::size_t k = 0; k < tally.size(); ++k) {
            tallies[k].push_back(tally[k]);
        }
        for (std::size_t k = 0; k < time.size(); ++k) {
            times[k].push_back(time[k]);
        }
    }
    Run result;
    for (std::size_t k = 0; const char* const name : {"tiles", "changed", "factor"}) {
        add_distribution(result.tiles, name, tallies[k++], 2);
    }
    for (std::size_t k = 0;
         const char* const name : {"depth", "fit", "cull", "maps", "shade", "all"}) {
        add_distribution(result.microseconds, name, times[k++], 1);
    }
    return result;
}

}  // namespace quadtile::shadow
