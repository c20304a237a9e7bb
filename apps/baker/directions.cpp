#include "directions.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace quadtile::baker {

namespace {

constexpr double PI = std::numbers::pi;
// Depth steps along half of the scene. Depths are 32-bit floats: those of one place may differ by
// half a step.
constexpr double DEPTH_STEPS = 2097152.0;

// Widest cone: the map of a wider one would have most of its pixels near its edge.
constexpr float WIDEST_CONE = static_cast<float>(PI / 3.0);
constexpr double NARROWEST_CONE = 1e-4;  // its tangent, because a map needs an extent

// Returns a uniformly random rotation (Shoemake 1992).
glm::dmat3 random_rotation(std::mt19937_64& random) {
    const double a = random_unit(random);
    const double b = 2.0 * PI * random_unit(random);
    const double c = 2.0 * PI * random_unit(random);
    const double x = std::sqrt(1.0 - a) * std::sin(b);
    const double y = std::sqrt(1.0 - a) * std::cos(b);
    const double z = std::sqrt(a) * std::sin(c);
    const double w = std::sqrt(a) * std::cos(c);
    return {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w),       2.0 * (x * z - y * w),
            2.0 * (x * y - z * w),       1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w),
            2.0 * (x * z + y * w),       2.0 * (y * z - x * w),       1.0 - 2.0 * (x * x + y * y)};
}

// Returns two axes that form a right-handed frame with `direction`: x, y, direction.
std::array<glm::dvec3, 2> axes_across(const glm::dvec3& direction, double turn) {
    const glm::dvec3 other =
        std::abs(direction.y) < 0.9 ? glm::dvec3(0.0, 1.0, 0.0) : glm::dvec3(1.0, 0.0, 0.0);
    const glm::dvec3 x = glm::normalize(glm::cross(other, direction));
    const glm::dvec3 y = glm::cross(direction, x);
    const double c = std::cos(2.0 * PI * turn);
    const double s = std::sin(2.0 * PI * turn);
    return {c * x + s * y, c * y - s * x};
}

void shift_at_random(BundleDirection& direction, std::mt19937_64& random) {
    direction.turn = random_unit(random);
    direction.shift_x = random_unit(random);
    direction.shift_y = random_unit(random);
}

// Returns a step that visits all of `count` and goes far each time: about count / golden ratio.
std::uint32_t spreading_step(std::uint32_t count) {
    auto step = static_cast<std::uint32_t>(count / std::numbers::phi);
    while (step > 1 && std::gcd(step, count) != 1) {
        --step;
    }
    return std::max(step, 1U);
}

// Returns the place in a lattice of `count` of the i-th direction. The odd places come first: every
// other point of a spiral is a lattice of half the points.
std::uint32_t spread_place(std::uint32_t i, std::uint32_t count) {
    const std::uint32_t odd = count / 2;
    const auto spread = [](std::uint64_t index, std::uint32_t all) {
        return static_cast<std::uint32_t>(index * spreading_step(all) % all);
    };
    return i < odd ? 2 * spread(i, odd) + 1 : 2 * spread(i - odd, count - odd);
}

// Points of the lattice without its turn, for a quick search of the nearest point to a direction.
class Lattice {
 public:
    Lattice(std::uint32_t count, const glm::dmat3& turn) : count_(count), turn_(turn) {}

    [[nodiscard]] glm::dvec3 point(std::uint32_t index) const {
        const double z = height(index);
        const double radius = std::sqrt(1.0 - z * z);
        const double angle = 2.0 * PI * std::fmod(index * (std::numbers::phi - 1.0), 1.0);
        return turn_ * glm::dvec3(radius * std::cos(angle), radius * std::sin(angle), z);
    }

    // Nearest among the points and their opposites: the index, and whether it is the opposite.
    struct Nearest {
        std::uint32_t index;
        bool is_opposite;
    };
    [[nodiscard]] Nearest nearest(const glm::dvec3& direction) const {
        const double z = glm::dot(turn_[2], direction);
        Nearest best{};
        double most = -2.0;
        // Points lie in rings by height, about one in a band of 2 / count. A few times the distance
        // between neighbours, sqrt(2 pi / count), reaches the nearest.
        for (const bool is_opposite : {false, true}) {
            const double height_here = is_opposite ? -z : z;
            const double reach = 3.0 * std::sqrt(2.0 * PI / count_);
            const double angle = std::acos(std::clamp(height_here, -1.0, 1.0));
            const double highest = std::cos(std::max(angle - reach, 0.0));
            const double lowest = std::cos(std::min(angle + reach, PI));
            const auto first = static_cast<std::int64_t>(std::floor((1.0 - highest) * count_)) - 1;
            const auto last = static_cast<std::int64_t>(std::ceil((1.0 - lowest) * count_)) + 1;
            for (std::int64_t i = std::max<std::int64_t>(first, 0);
                 i < std::min<std::int64_t>(last, count_); ++i) {
                const auto index = static_cast<std::uint32_t>(i);
                const double cosine =
                    glm::dot(points_.empty() ? point(index) : points_[index], direction);
                if ((is_opposite ? -cosine : cosine) > most) {
                    most = is_opposite ? -cosine : cosine;
                    best = {index, is_opposite};
                }
            }
        }
        return best;
    }

    void remember_points() {
        for (std::uint32_t i = 0; i < count_; ++i) {
            points_.push_back(point(i));
        }
    }

 private:
    [[nodiscard]] double height(std::uint32_t index) const { return 1.0 - (index + 0.5) / count_; }

    std::uint32_t count_;
    glm::dmat3 turn_;
    std::vector<glm::dvec3> points_;
};

// Returns the projection from the direction's point: p - point is at (dot(x, p - point), dot(y, p -
// point)) / dot(direction, p - point) map texels, which are `texel` wide at a distance of 1.
ProjectionFrame make_perspective_frame(const BundleDirection& direction, const TracedScene& scene,
                                       const glm::dvec3& x, const glm::dvec3& y, double texel) {
    // Numbers are about 1 in scenes of any size.
    const double unit = 1.0 / scene.depth_extent;
    const glm::dvec3 point = direction.point - scene.centre;
    const glm::vec3 axis_x(x * unit);
    const glm::vec3 axis_y(y * unit);
    const glm::vec3 axis_z(direction.direction * (DEPTH_STEPS * unit));
    const glm::vec3 axis_w(direction.direction * unit);
    const glm::vec3& sky = direction.sky_behind;
    return {.axis_x = {axis_x.x, axis_x.y, axis_x.z},
            .offset_x = static_cast<float>(-glm::dot(x, point) * unit),
            .axis_y = {axis_y.x, axis_y.y, axis_y.z},
            .offset_y = static_cast<float>(-glm::dot(y, point) * unit),
            .axis_z = {axis_z.x, axis_z.y, axis_z.z},
            .units_per_texel = static_cast<float>(texel * scene.depth_extent),
            .sky_behind = {sky.x, sky.y, sky.z},
            .is_perspective = 1,
            .axis_w = {axis_w.x, axis_w.y, axis_w.z},
            .offset_w = static_cast<float>(-glm::dot(direction.direction, point) * unit),
            .range = static_cast<float>(std::min(direction.range * unit, 1e30)),
            .refinement = direction.refinement};
}

// Means of a picture over the parts nearest to each direction, ahead and behind.
struct SkyMeans {
    std::vector<glm::dvec3> sums;
    std::vector<double> solid_angles;
};

SkyMeans sky_means(const Sky& sky, std::uint32_t count, Lattice lattice) {
    lattice.remember_points();
    SkyMeans means{std::vector<glm::dvec3>(2 * std::size_t{count}, glm::dvec3(0.0)),
                   std::vector<double>(2 * std::size_t{count}, 0.0)};
    // Texels larger than a direction's part of the sphere are split.
    const double texel = PI / sky.extent.height;
    const double part = std::sqrt(2.0 * PI / count);
    const auto pieces = static_cast<std::uint32_t>(std::clamp(4.0 * texel / part, 1.0, 16.0));
    for (std::uint32_t y = 0; y < sky.extent.height * pieces; ++y) {
        const double from = std::cos(PI * y / (sky.extent.height * pieces));
        const double to = std::cos(PI * (y + 1.0) / (sky.extent.height * pieces));
        const double solid_angle = 2.0 * PI * (from - to) / (sky.extent.width * pieces);
        const double height = std::cos(PI * (y + 0.5) / (sky.extent.height * pieces));
        const double radius = std::sqrt(1.0 - height * height);
        for (std::uint32_t x = 0; x < sky.extent.width * pieces; ++x) {
            const double longitude = 2.0 * PI * ((x + 0.5) / (sky.extent.width * pieces) - 0.5) -
                                     sky.turn_degrees * PI / 180.0;
            const glm::dvec3 direction(radius * std::sin(longitude), height,
                                       -radius * std::cos(longitude));
            const Lattice::Nearest nearest = lattice.nearest(direction);
            const std::size_t place =
                2 * std::size_t{nearest.index} + (nearest.is_opposite ? 1 : 0);
            const glm::vec3 radiance =
                sky.texels[std::size_t{y / pieces} * sky.extent.width + x / pieces];
            means.sums[place] += glm::dvec3(radiance) * solid_angle;
            means.solid_angles[place] += solid_angle;
        }
    }
    return means;
}

}  // namespace

glm::vec3 radiance_from(const Sky& sky, const glm::dvec3& direction) {
    if (sky.texels.empty()) {
        return sky.radiance;
    }
    const double turns =
        std::atan2(direction.x, -direction.z) / (2.0 * PI) + sky.turn_degrees / 360.0 + 0.5;
    const double down = std::acos(std::clamp(direction.y / glm::length(direction), -1.0, 1.0)) / PI;
    const auto texel = [](double share, std::uint32_t count) {
        return std::min(static_cast<std::uint32_t>(share * count), count - 1);
    };
    const std::size_t row = texel(down, sky.extent.height);
    return sky.radiance *
           sky.texels[row * sky.extent.width + texel(turns - std::floor(turns), sky.extent.width)];
}

std::vector<BundleDirection> make_directions(std::uint32_t count, std::uint64_t seed,
                                             const Sky& sky) {
    std::mt19937_64 random(seed);
    const Lattice lattice(count, random_rotation(random));
    SkyMeans means;
    if (!sky.texels.empty()) {
        means = sky_means(sky, count, lattice);
    }
    const auto radiance_of = [&](std::uint32_t index, std::size_t side) {
        if (means.sums.empty()) {
            return sky.radiance;
        }
        const std::size_t place = 2 * std::size_t{index} + side;
        const double solid_angle = means.solid_angles[place];
        return solid_angle > 0.0 ? sky.radiance * glm::vec3(means.sums[place] / solid_angle)
                                 : glm::vec3(0.0F);
    };
    std::vector<BundleDirection> directions;
    directions.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t place = spread_place(i, count);
        BundleDirection& direction = directions.emplace_back(
            BundleDirection{.direction = glm::normalize(lattice.point(place)),
                            .sky_ahead = radiance_of(place, 0),
                            .sky_behind = radiance_of(place, 1),
                            .range = sky.distance});
        shift_at_random(direction, random);
    }
    return directions;
}

std::vector<BundleDirection> make_sun_directions(const Sun& sun, std::uint32_t count,
                                                 std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const glm::dvec3 axis = glm::normalize(glm::dvec3(sun.direction));
    const auto [x, y] = axes_across(axis, random_unit(random));
    const double disc = std::tan(0.5 * sun.angular_diameter_degrees * PI / 180.0);
    std::vector<BundleDirection> directions;
    directions.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t place = spread_place(i, count);
        const double radius = disc * std::sqrt((place + 0.5) / count);
        const double angle = 2.0 * PI * std::fmod(place * (std::numbers::phi - 1.0), 1.0);
        BundleDirection& direction = directions.emplace_back(BundleDirection{
            .direction =
                glm::normalize(axis + radius * (std::cos(angle) * x + std::sin(angle) * y)),
            .sky_behind = glm::vec3(1.0F)});
        shift_at_random(direction, random);
    }
    return directions;
}

double random_unit(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11U) * 0x1p-53;
}

glm::dmat3 cube_along(const glm::dvec3& axis, std::mt19937_64& random) {
    const auto [x, y] = axes_across(axis, random_unit(random));
    return {x, y, axis};
}

void add_faces(std::vector<BundleDirection>& directions, const glm::dvec3& point,
               const glm::dmat3& cube, std::uint32_t faces, double half_width,
               std::mt19937_64& random) {
    const auto add = [&](const glm::dvec3& direction, const glm::dvec3& across, double width) {
        BundleDirection& face =
            directions.emplace_back(BundleDirection{.direction = direction,
                                                    .sky_behind = glm::vec3(1.0F),
                                                    .half_width = width,
                                                    .point = point});
        shift_at_random(face, random);
        const auto [x, y] = axes_across(direction, 0.0);
        face.turn = std::atan2(glm::dot(y, across), glm::dot(x, across)) / (2.0 * PI);
    };
    if (faces == 1) {
        add(cube[2], cube[0], std::max(half_width, NARROWEST_CONE));
        return;
    }
    for (int axis = 2; axis >= 0; --axis) {
        const glm::dvec3& across = cube[(axis + 1) % 3];
        add(cube[axis], across, 1.0);
        if (axis < 2 || faces == 6) {
            add(-cube[axis], across, 1.0);
        }
    }
}

std::uint32_t faces_of(const PointLight& light) {
    return !light.is_spot ? 6 : light.outer_angle > WIDEST_CONE ? 5 : 1;
}

std::vector<BundleDirection> make_light_directions(const PointLight& light, std::uint32_t count,
                                                   std::uint64_t seed) {
    // Steps of a low-discrepancy sequence in the plane (Roberts 2018).
    constexpr double STEP_B = 0.7548776662466927;
    constexpr double STEP_C = 0.5698402909980532;
    std::mt19937_64 random(seed);
    const glm::dmat3 turn = random_rotation(random);
    const double first_b = random_unit(random);
    const double first_c = random_unit(random);
    std::vector<BundleDirection> directions;
    for (std::uint32_t i = 0; i < count; ++i) {
        // Three of four coordinates of points on the sphere in four dimensions (Shoemake 1992):
        // they are uniform in a ball, and two of them in a disc.
        const std::uint32_t place = spread_place(i, count);
        const double a = (place + 0.5) / count;
        const double b = 2.0 * PI * std::fmod(first_b + place * STEP_B, 1.0);
        const double c = 2.0 * PI * std::fmod(first_c + place * STEP_C, 1.0);
        const glm::dvec3 in_ball(std::sqrt(1.0 - a) * std::sin(b), std::sqrt(1.0 - a) * std::cos(b),
                                 std::sqrt(a) * std::sin(c));
        const glm::dvec3 point = glm::dvec3(light.position) + double{light.radius} * turn * in_ball;
        add_faces(directions, point,
                  light.is_spot ? cube_along(glm::normalize(glm::dvec3(light.direction)), random)
                                : random_rotation(random),
                  faces_of(light), std::tan(double{light.outer_angle}), random);
    }
    for (BundleDirection& direction : directions) {
        direction.range = double{light.range} + double{light.radius};
        direction.refinement = count == 1 ? 1.5F : 1.0F;
    }
    return directions;
}

ProjectionFrame make_frame(const BundleDirection& direction, const TracedScene& scene,
                           std::uint32_t map_extent, const MapWindow& window) {
    const auto [x, y] = axes_across(direction.direction, direction.turn);
    // The box around the scene, seen along the direction, and a free texel on each side for the
    // shift and for rounding.
    const auto reach = [&](const glm::dvec3& axis) {
        return glm::dot(glm::abs(axis), scene.half_extent);
    };
    const bool is_perspective = direction.half_width > 0.0;
    const double half_side =
        is_perspective ? direction.half_width : std::max({reach(x), reach(y), 1e-30});
    const double scale = (map_extent - 3.0) / (2.0 * half_side);
    const double middle = 0.5 * map_extent - 0.5;
    if (is_perspective) {
        const glm::dvec3& forward = direction.direction;
        return make_perspective_frame(
            direction, scene,
            (x * scale + forward * (middle + direction.shift_x - window.x)) / window.texel,
            (y * scale + forward * (middle + direction.shift_y - window.y)) / window.texel,
            window.texel / scale);
    }
    const auto to_integer = [](double part) {
        return static_cast<std::int32_t>(std::lround(1023.0 * part));
    };
    const glm::dvec2 offset =
        (glm::dvec2(middle + direction.shift_x - glm::dot(x, scene.box_middle) * scale,
                    middle + direction.shift_y - glm::dot(y, scene.box_middle) * scale) -
         glm::dvec2(window.x, window.y)) /
        window.texel;
    const glm::vec3 axis_x(x * (scale / window.texel));
    const glm::vec3 axis_y(y * (scale / window.texel));
    const glm::vec3 axis_z(direction.direction * (DEPTH_STEPS / scene.depth_extent));
    return {.axis_x = {axis_x.x, axis_x.y, axis_x.z},
            .offset_x = static_cast<float>(offset.x),
            .axis_y = {axis_y.x, axis_y.y, axis_y.z},
            .offset_y = static_cast<float>(offset.y),
            .axis_z = {axis_z.x, axis_z.y, axis_z.z},
            .units_per_texel = static_cast<float>(1.0 / scale * window.texel),
            .sky_ahead = {direction.sky_ahead.x, direction.sky_ahead.y, direction.sky_ahead.z},
            .sky_behind = {direction.sky_behind.x, direction.sky_behind.y, direction.sky_behind.z},
            .range = static_cast<float>(
                std::min(direction.range * DEPTH_STEPS / scene.depth_extent, double{NOWHERE})),
            .refinement = 1.0F,
            .direction = {to_integer(direction.direction.x), to_integer(direction.direction.y),
                          to_integer(direction.direction.z)}};
}

}  // namespace quadtile::baker
