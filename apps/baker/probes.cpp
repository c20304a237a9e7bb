#include "probes.hpp"

#include "lamps.hpp"
#include "parallel.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>

namespace quadtile::baker {

namespace {

constexpr std::size_t BACKS = 27;   // index in PROBE_SUMS
constexpr double MOST_BACKS = 0.5;  // for a valid probe

constexpr double LIGHT_STEPS = 131072.0;  // depth steps from a light to a probe

void add_light(double* sums, const glm::dvec3& radiance, const glm::dvec3& from) {
    constexpr double Y0 = 0.28209479177387814;
    constexpr double Y1 = 0.4886025119029199;
    constexpr double Y2 = 1.0925484305920792;
    constexpr double Y20 = 0.31539156525252005;
    const auto& [x, y, z] = std::array{from.x, from.y, from.z};
    for (const double basis : {Y0, Y1 * y, Y1 * z, Y1 * x, Y2 * x * y, Y2 * y * z,
                               Y20 * (3.0 * z * z - 1.0), Y2 * x * z, 0.5 * Y2 * (x * x - y * y)}) {
        for (int colour = 0; colour < 3; ++colour) {
            *sums++ += radiance[colour] * basis;
        }
    }
}

// Gathers the light of a source in probes.
struct Gathering {
    const TracedScene& scene;
    std::span<const glm::vec3> positions;
    const std::vector<glm::vec4>& outgoing;
    const ProbeSource& source;
    std::span<double> sums;

    // Gathers along the parallel rays of `count` directions.
    void look_along(Tracer& tracer, std::size_t first, std::size_t count) const {
        std::vector<ProjectionFrame> frames;
        for (std::size_t i = first; i < first + count; ++i) {
            frames.push_back(probe_frame(source.directions[i], scene));
        }
        std::vector<glm::vec4> points;
        for (const glm::vec3& position : positions) {
            points.emplace_back(glm::dvec3(position) - scene.centre, NOWHERE);
        }
        const std::vector<ProbeSight> sights = tracer.see(frames, points);
        parallel_for(points.size(), 0, [&](std::size_t probe) {
            for (std::size_t i = 0; i < count; ++i) {
                add(&sums[PROBE_SUMS * probe], source.directions[first + i],
                    sights[i * points.size() + probe]);
            }
        });
    }

    void add(double* here, const BundleDirection& along, const ProbeSight& sight) const {
        const auto directions = static_cast<double>(source.directions.size());
        if (source.sun != nullptr) {
            if (sight.behind == NO_TEXEL) {
                add_light(here, glm::dvec3(source.sun->irradiance) / directions,
                          -glm::normalize(glm::dvec3(source.sun->direction)));
            }
            return;
        }
        for (const bool is_ahead : {true, false}) {
            const std::uint32_t seen = is_ahead ? sight.ahead : sight.behind;
            glm::dvec3 radiance(is_ahead ? along.sky_ahead : along.sky_behind);
            if (seen != NO_TEXEL) {
                const bool sees_front = (seen & SEES_BACK) == 0;
                const glm::vec4& light =
                    outgoing[(seen & ~SEES_BACK) + (sees_front ? 0 : scene.back_texels())];
                const bool shines =
                    sees_front || (std::bit_cast<std::uint32_t>(light.w) & TWO_SIDED) != 0;
                radiance = shines ? glm::dvec3(light) : glm::dvec3(0.0);
                here[BACKS] += shines ? 0.0 : 0.5 / directions;
            }
            add_light(here, radiance * (2.0 * std::numbers::pi / directions),
                      is_ahead ? along.direction : -along.direction);
        }
    }

    // Gathers from a point of a light to each probe, and no farther.
    void look_from(Tracer& tracer, const glm::dvec3& point, double share) const {
        std::vector<ProjectionFrame> frames(positions.size());
        parallel_for(frames.size(), 0, [&](std::size_t i) {
            const glm::dvec3 way = glm::dvec3(positions[i]) - point;
            const double distance = std::max(glm::length(way), 1e-30);
            frames[i] = probe_frame({.direction = way / distance}, scene);
            for (int axis = 0; axis < 3; ++axis) {
                frames[i].axis_z[axis] =
                    static_cast<float>(LIGHT_STEPS / distance * (way[axis] / distance));
            }
        });
        const std::vector<ProbeSight> sights =
            tracer.see(frames, std::array{glm::vec4(point - scene.centre, LIGHT_STEPS)});
        parallel_for(frames.size(), 0, [&](std::size_t i) {
            const PointLight& light = *source.light;
            const glm::dvec3 way = glm::dvec3(light.position) - glm::dvec3(positions[i]);
            const glm::dvec3 from = way / std::max(glm::length(way), 1e-30);
            if (sights[i].ahead == NO_TEXEL) {
                const double open =
                    received(light, {.centre = positions[i]}, glm::vec3(from)).irradiance;
                add_light(&sums[PROBE_SUMS * i],
                          share * glm::min(open * glm::dvec3(light.intensity), double{BRIGHTEST}),
                          from);
            }
        });
    }
};

}  // namespace

ProjectionFrame probe_frame(const BundleDirection& direction, const TracedScene& scene) {
    ProjectionFrame frame = make_frame(direction, scene, 4);
    const float pixels =
        frame.units_per_texel / static_cast<float>(0.5 * std::sqrt(scene.unit_area));
    for (std::size_t i = 0; i < 3; ++i) {
        frame.axis_x[i] *= pixels;
        frame.axis_y[i] *= pixels;
    }
    frame.offset_x = 0.0F;
    frame.offset_y = 0.0F;
    return frame;
}

bool gather_probes(const TracedScene& scene, const std::vector<glm::vec3>& positions,
                   const std::vector<ProbeSource>& sources, const std::vector<glm::vec4>& outgoing,
                   Tracer& tracer, const std::function<bool()>& goes_on, const Ranks& ranks,
                   BakeState& state) {
    state.probe_sums.resize(PROBE_SUMS * positions.size());
    const Range own = ranks.own_part(positions.size(), 1);
    const std::size_t most_of_a_rank = (positions.size() + ranks.count() - 1) / ranks.count();
    std::size_t end = 0;  // end of the source's steps
    for (const ProbeSource& source : sources) {
        const Gathering gathering{
            scene, std::span(positions).subspan(own.first, own.size()), outgoing, source,
            std::span(state.probe_sums).subspan(PROBE_SUMS * own.first, PROBE_SUMS * own.size())};
        const std::size_t faces = source.light != nullptr ? faces_of(*source.light) : 1;
        const std::size_t steps = source.directions.size() / faces;
        end += steps;
        while (state.probe_steps < end) {
            if (!goes_on()) {
                return false;
            }
            const std::size_t left = end - state.probe_steps;
            const std::size_t count =
                source.light != nullptr ? 1 : std::min(left, MOST_PROBES / most_of_a_rank);
            if (own.size() == 0) {
                // There are fewer probes than ranks.
            } else if (source.light != nullptr) {
                gathering.look_from(tracer, source.directions[(steps - left) * faces].point,
                                    1.0 / static_cast<double>(steps));
            } else {
                gathering.look_along(tracer, steps - left, count);
            }
            state.probe_steps += static_cast<std::uint32_t>(count);
        }
    }
    return true;
}

std::vector<Probe> probes_of(const std::vector<glm::vec3>& positions, const BakeState& state) {
    std::vector<Probe> probes;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const double* sums = &state.probe_sums[PROBE_SUMS * i];
        Probe& probe = probes.emplace_back(Probe{positions[i], sums[BACKS] <= MOST_BACKS});
        for (glm::vec3& coefficient : probe.radiance_sh) {
            coefficient = {sums[0], sums[1], sums[2]};
            sums += 3;
        }
    }
    return probes;
}

}  // namespace quadtile::baker
