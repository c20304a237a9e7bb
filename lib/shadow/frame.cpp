#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "matrices.hpp"

#include <optional>

namespace quadtile {

namespace {

using namespace shadow;

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
        throw_invalid(
            what +
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
        throw_invalid(
            "the background depth of the camera is infinite or NaN; give what its depth buffer "
            "is cleared to: 0 or 1");
    }
    if (extent.width == 0 || extent.height == 0) {
        throw_invalid("the depth buffer has " + std::to_string(extent.width) + " x " +
                      std::to_string(extent.height) + " pixels; give it one at least");
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
        throw_invalid(what + " makes all w negative; multiply it by -1");
    }
    const std::array<Vector4, 4> map_from_world{scaled(x, w, map_extent), scaled(y, w, map_extent),
                                                w, z};
    ShadowLight light{};
    std::ranges::copy(projection.clip_from_world, light.clip_from_world);
    for (std::size_t row = 0; row < map_from_world.size(); ++row) {
        float* const target = row < 3 ? light.map_from_pixel + 4 * row : light.depth_from_pixel;
        for (std::size_t column = 0; column < 4; ++column) {
            double sum = 0.0;
            for (std::size_t i = 0; i < 4; ++i) {
                sum += map_from_world[row][i] * camera.world_from_pixel[i][column];
            }
            target[column] = static_cast<float>(sum);
        }
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
        throw_invalid("ShadowProjection::weight of light ", number, " is ", light.weight,
                      ", but must be 1/64 to 64");
    }
}

void check_layers(std::span<const ShadowProjection> lights) {
    std::size_t first = 0;  // layer of the last light
    std::size_t next = 0;   // first layer of the next one
    for (std::size_t i = 0; i < lights.size(); ++i) {
        const auto refuse = [&](const std::string& must) {
            throw_invalid("ShadowProjection::layers of light " + std::to_string(i) + " is " +
                          std::to_string(lights[i].layers) + ", but must be " + must);
        };
        check_weight(lights[i], i);
        const std::uint32_t layers = lights[i].layers;
        const bool parallel = is_parallel(matrix(lights[i].clip_from_world));
        if (i == next) {
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
        } else if (parallel != is_parallel(matrix(lights[first].clip_from_world))) {
            throw_invalid("light " + std::to_string(i) + " belongs to light " +
                          std::to_string(first) +
                          ", but one of them is parallel and the other is not");
        }
    }
    if (next != lights.size()) {
        throw_invalid("light " + std::to_string(first) + " has " +
                      std::to_string(lights[first].layers) + " layers, but only " +
                      std::to_string(lights.size() - first) + " projections are left for them");
    }
}

}  // namespace

ShadowFrame make_shadow_frame(const ShadowOptions& options, const ShadowView& view,
                              VkExtent2D depth_extent, std::span<const ShadowProjection> lights) {
    (void)shadow_parameters(options);  // checks them
    if (lights.size() != options.lights) {
        throw_invalid("ShadowOptions::lights is " + std::to_string(options.lights) + ", but " +
                      std::to_string(lights.size()) + " projections were given; give one for each");
    }
    check_layers(lights);
    const Camera camera = camera_of(view, depth_extent);
    ShadowFrame frame{};
    frame.depth_width = depth_extent.width;
    frame.depth_height = depth_extent.height;
    frame.background_depth = view.background_depth;
    for (std::size_t i = 0; i < lights.size(); ++i) {
        frame.lights[i] = light_of(lights[i], "the matrix of light " + std::to_string(i),
                                   options.map_extent, camera);
    }
    return frame;
}

}  // namespace quadtile
