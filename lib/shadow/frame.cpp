// The host's description of a frame: matrices of 64-bit floats, the clip spaces of lights, and the
// frame as the kernels read it.
//
// GLM does not replace these matrices: it adds four products in pairs, which gives other bits, and
// every user of the library's sources would need it.

#include <quadtile/shadow.hpp>

#include "values/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

namespace quadtile {

namespace {

// ---- Vectors and matrices

using Vector = std::array<double, 3>;   // in the world
using Vector4 = std::array<double, 4>;  // homogeneous, or a row of a matrix
using Matrix = std::array<Vector4, 4>;  // by row

Vector vector(const std::array<float, 3>& v) {
    return {v[0], v[1], v[2]};
}

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double length(const Vector& v) {
    return std::sqrt(dot(v, v));
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector4& a, const Vector4& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

// Part of a matrix row that applies to directions.
Vector linear_part(const Vector4& row) {
    return {row[0], row[1], row[2]};
}

Matrix matrix(const ShadowMatrix& m) {
    Matrix rows{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            rows[row][column] = m[4 * column + row];
        }
    }
    return rows;
}

// Rounds a matrix to floats.
ShadowMatrix shadow_matrix(const Matrix& m) {
    ShadowMatrix columns{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            columns[4 * column + row] = static_cast<float>(m[row][column]);
        }
    }
    return columns;
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix result{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            for (std::size_t i = 0; i < 4; ++i) {
                result[row][column] += a[row][i] * b[i][column];
            }
        }
    }
    return result;
}

// Throws Error(invalid_argument) if a number of `what` is infinite or NaN.
template <std::size_t N>
void check_finite(const std::array<float, N>& numbers, const std::string& what) {
    if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
        detail::refuse(what, " has a number that is infinite or NaN; give finite ones");
    }
}

// A corner of a box, 0 to 7.
Vector4 corner_of(const ShadowBox& box, unsigned corner) {
    return {(corner & 1U) != 0 ? box.high[0] : box.low[0],
            (corner & 2U) != 0 ? box.high[1] : box.low[1],
            (corner & 4U) != 0 ? box.high[2] : box.low[2], 1.0};
}

// ---- Clip spaces of lights

struct Axes {
    Vector x;
    Vector y;
    Vector forward;
};

// Axes of a light; they depend on its direction alone.
Axes axes_along(const std::array<float, 3>& direction) {
    check_finite(direction, "the direction of the light");
    Vector forward = vector(direction);
    const double size = length(forward);
    if (size == 0.0) {
        detail::refuse("the direction of the light has length 0; give it one");
    }
    for (double& component : forward) {
        component /= size;
    }
    // The world axis closest to perpendicular to the direction.
    std::size_t farthest = 0;
    for (std::size_t i = 1; i < 3; ++i) {
        farthest = std::abs(forward[i]) < std::abs(forward[farthest]) ? i : farthest;
    }
    Vector axis{};
    axis[farthest] = 1.0;
    Vector x = cross(axis, forward);
    const double x_size = length(x);
    for (double& component : x) {
        component /= x_size;
    }
    return {x, cross(forward, x), forward};
}

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    [[nodiscard]] double size() const { return high - low; }
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

Range range_along(const Vector& axis, const ShadowBox& box) {
    Range range;
    for (unsigned corner = 0; corner < 8; ++corner) {
        range.add(dot(axis, linear_part(corner_of(box, corner))));
    }
    return range;
}

constexpr double EIGHTH = 1.0 / 8;
constexpr double MARGIN = 1.0 / 64;  // of the extent, at each end

// Least extent that holds `size` from any place in its first eighth, in steps of an eighth of the
// power of two below.
double snapped_extent(double size) {
    const double least = size / (1.0 - EIGHTH - 2.0 * MARGIN);
    const double step = EIGHTH * std::exp2(std::floor(std::log2(least)));
    return std::ceil(least / step) * step;
}

// Begin of an extent that holds a range from `low` on, in eighths of the extent.
double snapped_origin(double low, double extent) {
    return std::floor((low - extent * MARGIN) / (extent * EIGHTH));
}

void check_box(const ShadowBox& box) {
    check_finite(box.low, "the low corner of the box");
    check_finite(box.high, "the high corner of the box");
    for (std::size_t i = 0; i < 3; ++i) {
        if (box.low[i] > box.high[i]) {
            detail::refuse("the box is inside out: its ", std::string(1, "xyz"[i]), " begins at ",
                           box.low[i], " and ends at ", box.high[i], "; swap them");
        }
    }
}

// Least size that a flat box counts as, so that floats distinguish its ends.
double least_size(const ShadowBox& box) {
    double size = 0.0;
    double farthest = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
        size = std::max(size, double{box.high[i]} - box.low[i]);
        farthest =
            std::max({farthest, std::abs(double{box.low[i]}), std::abs(double{box.high[i]})});
    }
    return std::max({size / 1024.0, farthest / 65536.0, 0x1p-60});
}

ShadowProjection projection(const Matrix& clip_from_world) {
    ShadowProjection result{shadow_matrix(clip_from_world)};
    check_finite(result.clip_from_world, "the matrix of the light, as it follows from these,");
    return result;
}

// Row of a matrix: the coordinate of a point along `axis`, times `scale`, plus `offset`. Offsets of
// parallel lights are exact multiples of an eighth: shadow_step finds boxes that have moved by it.
Vector4 row_of(const Vector& axis, double scale, double offset) {
    return {axis[0] * scale, axis[1] * scale, axis[2] * scale, offset};
}

void check_spot(float angle_degrees, float nearest, float farthest) {
    if (!(angle_degrees >= 0.1F && angle_degrees <= 170.0F)) {
        detail::refuse("the angle of the spot light is ", angle_degrees,
                       " degrees; give it 0.1 to 170");
    }
    if (!(nearest > 0.0F && nearest < farthest && std::isfinite(farthest))) {
        detail::refuse(
            "the spot light reaches from ", nearest, " to ", farthest,
            "; give distances that are finite, the first above 0 and the second above it");
    }
}

}  // namespace

ShadowProjection directional_shadow_projection(const std::array<float, 3>& direction,
                                               const ShadowBox& box) {
    const Axes axes = axes_along(direction);
    check_box(box);
    const Range x = range_along(axes.x, box);
    const Range y = range_along(axes.y, box);
    const Range depth = range_along(axes.forward, box);
    const double least = least_size(box);
    const double extent = snapped_extent(std::max({x.size(), y.size(), least}));
    const double depth_extent = snapped_extent(std::max(depth.size(), least));
    const double scale = 2.0 / extent;
    return projection({row_of(axes.x, scale, -1.0 - 2.0 * EIGHTH * snapped_origin(x.low, extent)),
                       row_of(axes.y, scale, -1.0 - 2.0 * EIGHTH * snapped_origin(y.low, extent)),
                       row_of(axes.forward, 1.0 / depth_extent,
                              -EIGHTH * snapped_origin(depth.low, depth_extent)),
                       Vector4{0.0, 0.0, 0.0, 1.0}});
}

std::vector<ShadowProjection> directional_shadow_levels(const std::array<float, 3>& direction,
                                                        const ShadowBox& world,
                                                        const std::array<float, 3>& eye,
                                                        float nearest_extent,
                                                        std::uint32_t levels) {
    check_finite(eye, "the position of the camera");
    if (!(nearest_extent > 0.0F && std::isfinite(nearest_extent)) || levels == 0 ||
        levels > SHADOW_MAX_LEVELS) {
        detail::refuse(levels, " levels of a parallel light, the first ", nearest_extent,
                       " wide, were asked for; give 1 to ", SHADOW_MAX_LEVELS,
                       " of a finite extent above 0");
    }
    const Matrix of_world = matrix(directional_shadow_projection(direction, world).clip_from_world);
    const Axes axes = axes_along(direction);
    const Vector middle = vector(eye);
    std::vector<ShadowProjection> all;
    double extent = nearest_extent;
    for (std::uint32_t level = 0; level < levels; ++level, extent *= 2.0) {
        const auto row = [&](const Vector& axis) {
            const double place =
                std::round(dot(axis, middle) / (extent * EIGHTH));  // of the middle
            return row_of(axis, 2.0 / extent, -2.0 * EIGHTH * place);
        };
        all.push_back(projection({row(axes.x), row(axes.y), of_world[2], of_world[3]}));
        all.back().layers = level == 0 ? levels : 0;
    }
    return all;
}

ShadowProjection spot_shadow_projection(const std::array<float, 3>& position,
                                        const std::array<float, 3>& direction, float angle_degrees,
                                        float nearest, float farthest) {
    check_finite(position, "the position of the spot light");
    const Axes axes = axes_along(direction);
    check_spot(angle_degrees, nearest, farthest);
    const Vector eye = vector(position);
    const double scale = 1.0 / std::tan(0.5 * angle_degrees * (std::numbers::pi / 180.0));
    const double depth_scale = farthest / (double{farthest} - nearest);
    const double distance = dot(axes.forward, eye);  // along the direction
    ShadowProjection light =
        projection({row_of(axes.x, scale, -scale * dot(axes.x, eye)),
                    row_of(axes.y, scale, -scale * dot(axes.y, eye)),
                    row_of(axes.forward, depth_scale, -depth_scale * (distance + nearest)),
                    row_of(axes.forward, 1.0, -distance)});
    light.range = farthest;
    return light;
}

std::array<ShadowProjection, SHADOW_FACES> point_shadow_projections(
    const std::array<float, 3>& position, float nearest, float farthest) {
    std::array<ShadowProjection, SHADOW_FACES> faces;
    for (std::size_t i = 0; i < faces.size(); ++i) {
        std::array<float, 3> direction{};
        direction[i / 2] = i % 2 == 0 ? 1.0F : -1.0F;
        faces[i] = spot_shadow_projection(position, direction, 90.0F, nearest, farthest);
        faces[i].layers = i == 0 ? SHADOW_FACES : 0;
    }
    return faces;
}

// ---- The frame

namespace {

// Determinant of the matrix with these rows.
double determinant(const Vector& a, const Vector& b, const Vector& c) {
    return dot(a, cross(b, c));
}

// Determinant of three rows without one column.
double minor_of(const Vector4& a, const Vector4& b, const Vector4& c, std::size_t without) {
    const auto others = [without](const Vector4& row) {
        Vector left{};
        for (std::size_t i = 0; i < 3; ++i) {
            left[i] = row[i < without ? i : i + 1];
        }
        return left;
    };
    return determinant(others(a), others(b), others(c));
}

// Vector orthogonal to three rows: the cross product in four dimensions.
Vector4 null_vector(const Vector4& a, const Vector4& b, const Vector4& c) {
    return {minor_of(a, b, c, 0), -minor_of(a, b, c, 1), minor_of(a, b, c, 2),
            -minor_of(a, b, c, 3)};
}

constexpr float LEAST_WEIGHT = 1.0F / 64.0F;
constexpr double ROUNDING = 1e-15;  // of products, relative to the factors

// Inverse by the adjugate, whose columns are null vectors; nullopt if there is none.
std::optional<Matrix> inverse(const Matrix& m) {
    const std::array<Vector4, 4> columns{
        null_vector(m[1], m[2], m[3]), null_vector(m[2], m[3], m[0]), null_vector(m[3], m[0], m[1]),
        null_vector(m[0], m[1], m[2])};
    Matrix result{};
    for (std::size_t column = 0; column < 4; ++column) {
        const Vector4& orthogonal = columns[column];  // to the other rows
        const double scale = dot(m[column], orthogonal);
        const double sizes = dot(m[column], m[column]) * dot(orthogonal, orthogonal);
        if (!(std::abs(scale) > ROUNDING * std::sqrt(sizes))) {
            return std::nullopt;
        }
        for (std::size_t row = 0; row < 4; ++row) {
            result[row][column] = orthogonal[row] / scale;
        }
    }
    return result;
}

Matrix inverse_or_refuse(const Matrix& m, const std::string& what) {
    const std::optional<Matrix> inverted = inverse(m);
    if (!inverted) {
        detail::refuse(
            what,
            " cannot be inverted: it sees all of the world in a plane, a line or a point; "
            "give the product of a projection and a rigid motion");
    }
    return *inverted;
}

bool is_parallel(const Matrix& clip_from_world) {
    return linear_part(clip_from_world[3]) == Vector{0.0, 0.0, 0.0};
}

// Returns 1 if a surface seen from the front keeps the orientation of its vertices in the picture,
// or -1 if it is reversed, up to a sign common to all cameras and lights.
//
// The orientation of a triangle in the plane p is the sign of p . e, where e is the null vector of
// the rows x, y and w (Cauchy and Binet). With perspective e is a multiple of (eye, 1), and p .
// (eye, 1) > 0 if the eye is in front of the plane. Otherwise e is a direction along the line of
// sight, and the front is seen if the direction towards the eye leaves it.
int turning(const Matrix& clip_from_world, bool depth_grows) {
    const auto& [x, y, z, w] = clip_from_world;
    const Vector4 e = null_vector(x, y, w);
    double sign = e[3];
    if (is_parallel(clip_from_world)) {
        const double towards_depth = dot(linear_part(z), linear_part(e));
        sign = depth_grows ? -towards_depth : towards_depth;
    }
    return sign > 0.0 ? 1 : -1;
}

// Row for texels (or pixels) times w along an axis, from the rows of a clip coordinate and w.
Vector4 scaled(const Vector4& coordinate, const Vector4& w, double extent) {
    Vector4 result{};
    for (std::size_t i = 0; i < 4; ++i) {
        result[i] = (coordinate[i] + w[i]) * 0.5 * extent;
    }
    return result;
}

Matrix ndc_from_pixel(VkExtent2D extent) {
    return {Vector4{2.0 / extent.width, 0.0, 0.0, -1.0},
            Vector4{0.0, 2.0 / extent.height, 0.0, -1.0}, Vector4{0.0, 0.0, 1.0, 0.0},
            Vector4{0.0, 0.0, 0.0, 1.0}};
}

// Extent of the widest texel of the map, at w = 1.
double texel_extent(const Matrix& clip_from_world, std::uint32_t map_extent) {
    const double width = length(linear_part(clip_from_world[0]));
    const double height = length(linear_part(clip_from_world[1]));
    const double w = is_parallel(clip_from_world) ? clip_from_world[3][3] : 1.0;
    return 2.0 * w / (std::min(width, height) * map_extent);
}

struct Camera {
    Matrix world_from_pixel;
    int turning;
};

Camera camera_of(const ShadowView& view, VkExtent2D extent) {
    check_finite(view.clip_from_world, "the matrix of the camera");
    if (!std::isfinite(view.background_depth)) {
        detail::refuse(
            "the background depth of the camera is infinite or NaN; give what its depth buffer "
            "is cleared to: 0 or 1");
    }
    if (extent.width == 0 || extent.height == 0) {
        detail::refuse("the depth buffer has ", extent.width, " x ", extent.height,
                       " pixels; give it one at least");
    }
    const Matrix clip_from_world = matrix(view.clip_from_world);
    const Matrix world_from_clip = inverse_or_refuse(clip_from_world, "the matrix of the camera");
    const bool depth_grows = view.background_depth > 0.0F;  // away from the camera
    return {product(world_from_clip, ndc_from_pixel(extent)),
            turning(clip_from_world, depth_grows)};
}

ShadowLight light_of(const ShadowProjection& projection, const std::string& what,
                     std::uint32_t map_extent, const Camera& camera) {
    check_finite(projection.clip_from_world, what);
    const Matrix clip_from_world = matrix(projection.clip_from_world);
    (void)inverse_or_refuse(clip_from_world, what);
    const auto& [x, y, z, w] = clip_from_world;
    if (is_parallel(clip_from_world) && w[3] < 0.0) {
        detail::refuse(what, " makes all w negative; multiply it by -1");
    }
    const Matrix map_from_pixel = product(
        {scaled(x, w, map_extent), scaled(y, w, map_extent), z, w}, camera.world_from_pixel);
    ShadowLight light{};
    std::ranges::copy(projection.clip_from_world, light.clip_from_world);
    for (std::size_t row = 0; row < 4; ++row) {
        std::ranges::transform(map_from_pixel[row], light.map_from_pixel + 4 * row,
                               [](double number) { return static_cast<float>(number); });
    }
    light.facing = static_cast<float>(camera.turning * turning(clip_from_world, true));
    light.texel_extent = static_cast<float>(texel_extent(clip_from_world, map_extent));
    light.perspective = is_parallel(clip_from_world) ? 0.0F : 1.0F;
    light.weight = projection.weight;
    light.layers = projection.layers;
    return light;
}

void check_weight(const ShadowProjection& light, std::size_t number) {
    if (!(light.weight >= LEAST_WEIGHT && light.weight <= 1.0F / LEAST_WEIGHT)) {
        detail::refuse("ShadowProjection::weight of light ", number, " is ", light.weight,
                       ", but must be 1/64 to 64");
    }
}

bool is_unused(const ShadowProjection& light) {
    return light.clip_from_world == ShadowMatrix{};
}

void check_layers(std::span<const ShadowProjection> lights) {
    std::size_t first = 0;  // layer of the last light
    std::size_t next = 0;   // first layer of the next one
    for (std::size_t i = 0; i < lights.size(); ++i) {
        const auto refuse = [&](const std::string& must) {
            detail::refuse("ShadowProjection::layers of light ", i, " is ", lights[i].layers,
                           ", but must be ", must);
        };
        check_weight(lights[i], i);
        if (!(lights[i].range > 0.0F)) {
            detail::refuse("ShadowProjection::range of light ", i, " is ", lights[i].range,
                           "; give a distance above 0, or infinity");
        }
        const std::uint32_t layers = lights[i].layers;
        const bool parallel = is_parallel(matrix(lights[i].clip_from_world));
        if (i == next && is_unused(lights[i])) {
            next = i + 1;
        } else if (i == next) {
            if (parallel && (layers == 0 || layers > SHADOW_MAX_LEVELS)) {
                refuse("1, or up to 8 for the first level of a parallel light");
            }
            if (!parallel && layers != 1 && layers != SHADOW_FACES) {
                refuse("1, or 6 for the first face of a point light");
            }
            first = next;
            next += layers;
        } else if (layers != 0) {
            refuse("0: it belongs to light " + std::to_string(first));
        } else if (is_unused(lights[i])) {
            detail::refuse("light ", i, " belongs to light ", first,
                           ", but its matrix has only zeros; give that of its face or sun level");
        } else if (parallel != is_parallel(matrix(lights[first].clip_from_world))) {
            detail::refuse("light ", i, " belongs to light ", first,
                           ", but one of them is parallel and the other is not");
        }
    }
    if (next != lights.size()) {
        detail::refuse("light ", first, " has ", lights[first].layers, " layers, but only ",
                       lights.size() - first, " projections are left for them");
    }
}

}  // namespace

ShadowFrame make_shadow_frame(const ShadowOptions& options, const ShadowView& view,
                              VkExtent2D depth_extent, std::span<const ShadowProjection> lights) {
    (void)shadow_parameters(options);  // checks them
    if (lights.size() > options.lights) {
        detail::refuse("ShadowOptions::lights is ", options.lights, ", but ", lights.size(),
                       " projections were given; give fewer, or a greater number in the options");
    }
    check_layers(lights);
    const Camera camera = camera_of(view, depth_extent);
    ShadowFrame frame{};
    frame.depth_width = depth_extent.width;
    frame.depth_height = depth_extent.height;
    frame.background_depth = view.background_depth;
    std::size_t first = 0;  // layer of the light
    for (std::size_t i = 0; i < lights.size(); ++i) {
        if (is_unused(lights[i])) {
            continue;
        }
        first = lights[i].layers > 0 ? i : first;
        frame.layers = static_cast<std::uint32_t>(i + 1);
        frame.lights[i] = light_of(lights[i], "the matrix of light " + std::to_string(i),
                                   options.map_extent, camera);
        frame.lights[i].range = lights[first].range;
    }
    return frame;
}

}  // namespace quadtile
