#include "preview.hpp"

#include "parallel.hpp"
#include "sampling.hpp"
#if QUADTILE_HAS_PREVIEW
#include "embree_rays.hpp"
#endif

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace quadtile::baker {

namespace {

constexpr double NEAR = 1e-4;  // in diagonals of the scene; nearer surfaces are not seen

#if QUADTILE_HAS_PREVIEW
Box<glm::dvec3> bounds_of(const Scene& scene) {
    return scene.positions.empty() ? Box<glm::dvec3>{glm::dvec3(0.0), glm::dvec3(0.0)}
                                   : box_around(scene.positions);
}

// ---- Rays

struct Hit {
    std::uint32_t triangle = EmbreeRays::NOTHING;
    std::array<float, 3> weights{};  // of the corners

    // Interpolates; 0 if there are no coordinates.
    template <int N>
    [[nodiscard]] glm::vec<N, double> interpolate(
        const Scene& scene, const std::vector<glm::vec<N, float>>& values) const {
        glm::vec<N, double> sum(0.0);
        for (std::size_t i = 0; i < 3 && !values.empty(); ++i) {
            sum += double{weights[i]} *
                   glm::vec<N, double>(values[scene.triangles[triangle].vertices[i]]);
        }
        return sum;
    }
    [[nodiscard]] glm::vec4 colour(const Scene& scene) const {
        return scene.colours.empty() ? glm::vec4(1.0F)
                                     : glm::vec4(interpolate(scene, scene.colours));
    }
};

Hit hit_of(const RTCHit& found) {
    return {found.primID, {1.0F - found.u - found.v, found.u, found.v}};
}

struct Context {
    RTCIntersectContext embree = EmbreeRays::plain_context();
    const Scene* scene = nullptr;
};

// Refuses the back of a material with one side, and holes, which stop less than half of the light.
void leave_out(const RTCFilterFunctionNArguments* arguments) {
    const Scene& scene = *reinterpret_cast<const Context*>(arguments->context)->scene;
    const auto& ray = *reinterpret_cast<const RTCRay*>(arguments->ray);
    const auto& found = *reinterpret_cast<const RTCHit*>(arguments->hit);
    const Hit hit = hit_of(found);
    const Material& material = scene.materials[scene.triangles[hit.triangle].material];
    const float towards = ray.dir_x * found.Ng_x + ray.dir_y * found.Ng_y + ray.dir_z * found.Ng_z;
    if ((!material.double_sided && !(towards < 0.0F)) ||
        (material.alpha_mode != AlphaMode::opaque &&
         coverage_at(scene, material, hit.interpolate(scene, scene.texture_coordinates),
                     hit.colour(scene).a) < 128)) {
        arguments->valid[0] = 0;
    }
}

// Returns the nearest surface that is drawn.
Hit nearest(const Scene& scene, const EmbreeRays& rays, const glm::vec3& origin,
            const glm::vec3& direction, float near) {
    Context context{.scene = &scene};
    context.embree.filter = leave_out;
    return hit_of(rays.nearest(origin, direction, near, context.embree).hit);
}

// ---- Cameras

// Camera space: x to the right, y down, z forward.
struct View {
    glm::dvec3 position;
    glm::dvec3 right;
    glm::dvec3 down;
    glm::dvec3 forward;
    glm::dvec2 half_size{1.0};  // half size of the picture at z = 1

    View(const Camera& camera, double aspect) : position(camera.position) {
        const glm::dvec3 sight = glm::dvec3(camera.target) - position;
        const double distance = glm::length(sight);
        forward = distance > 0.0 ? sight / distance : glm::dvec3(0.0, 0.0, -1.0);
        const bool upright = std::abs(forward.y) < 0.9999;
        const glm::dvec3 up = upright ? glm::dvec3(0.0, 1.0, 0.0) : glm::dvec3(0.0, 0.0, -1.0);
        right = glm::normalize(glm::cross(forward, up));
        down = glm::cross(forward, right);
        half_size.y = std::tan(double{camera.vertical_field_degrees} * std::numbers::pi / 360.0);
        half_size.x = half_size.y * aspect;
    }

    [[nodiscard]] glm::dvec3 turned(const glm::dvec3& direction) const {
        return {glm::dot(direction, right), glm::dot(direction, down),
                glm::dot(direction, forward)};
    }
};

// Returns a camera above the scene that sees all of it; `aspect`: the picture's width by its
// height.
Camera camera_that_sees(const Scene& scene, double aspect) {
    const Box<glm::dvec3> bounds = bounds_of(scene);
    Camera camera;
    camera.vertical_field_degrees = 40.0F;
    camera.position = {1.0F, 1.1F, 1.6F};
    camera.target = glm::vec3(0.0F);
    const View view(camera, aspect);

    // A camera at c sees a corner if |corner - c| <= half_size * (corner.z - c.z), in x and y. The
    // extreme corners are on both borders of the picture.
    glm::dvec2 low(-std::numeric_limits<double>::infinity());  // largest -corner - edge
    glm::dvec2 high = low;                                     // largest corner - edge
    for (unsigned corner = 0; corner < 8; ++corner) {
        const glm::dvec3 seen = view.turned({(corner & 1U) != 0 ? bounds.high.x : bounds.low.x,
                                             (corner & 2U) != 0 ? bounds.high.y : bounds.low.y,
                                             (corner & 4U) != 0 ? bounds.high.z : bounds.low.z});
        const glm::dvec2 edge = view.half_size * seen.z;
        low = glm::max(low, -glm::dvec2(seen) - edge);
        high = glm::max(high, glm::dvec2(seen) - edge);
    }
    const glm::dvec2 middle = (high - low) / 2.0;
    const glm::dvec2 depth = -(high + low) / 2.0 / view.half_size;
    const double nearest = std::min(depth.x, depth.y);
    const glm::dvec3 centre = view.turned((bounds.low + bounds.high) / 2.0);
    constexpr double MARGIN = 1.05;
    const double distance = std::max((centre.z - nearest) * MARGIN, 1e-3);
    const auto in_scene = [&](double z) {
        return glm::vec3(view.right * middle.x + view.down * middle.y + view.forward * z);
    };
    camera.position = in_scene(centre.z - distance);
    camera.target = in_scene(centre.z);
    return camera;
}

// ---- Colours

glm::vec3 radiance_of(const Scene& scene, const LightMap& map, const Hit& hit) {
    const Material& material = scene.materials[scene.triangles[hit.triangle].material];
    glm::vec3 irradiance(0.0F);
    if (!scene.light_map_coordinates.empty()) {
        const BilinearFetch fetch =
            bilinear_fetch(map.extent, hit.interpolate(scene, scene.light_map_coordinates));
        for (std::size_t i = 0; i < 4; ++i) {
            irradiance += fetch.weights[i] * map.irradiance[fetch.texels[i]];
        }
    }
    const glm::dvec2 texture = hit.interpolate(scene, scene.texture_coordinates);
    return albedo_at(scene, material, texture) * glm::vec3(hit.colour(scene)) * irradiance /
               std::numbers::pi_v<float> +
           emission_at(scene, material, texture);
}
#endif

constexpr std::uint32_t SAMPLES_PER_AXIS = 2;  // per pixel
constexpr app::Rgb UNKNOWN_COLOUR = {40, 40, 40};
// Automatic exposure: this part of the lit samples is darker than EXPOSED_AS.
constexpr double EXPOSED_PART = 0.96;
constexpr float EXPOSED_AS = 0.8F;

float luminance(const glm::vec3& colour) {
    return 0.2126F * colour.x + 0.7152F * colour.y + 0.0722F * colour.z;
}

// Returns the luminance that is shown as 1 before the curve. Luminances may be infinite or NaN.
float automatic_exposure(std::vector<float> lit) {
    std::erase_if(lit, [](float value) { return !(value > 0.0F) || !std::isfinite(value); });
    if (lit.empty()) {
        return 1.0F;
    }
    const auto place = static_cast<std::size_t>(EXPOSED_PART * static_cast<double>(lit.size() - 1));
    const auto nth = lit.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(lit.begin(), nth, lit.end());
    return *nth / EXPOSED_AS;
}

// Applies a film's curve (K. Narkowicz' fit of ACES): 0..1 for any radiance; 1 becomes 0.8.
glm::vec3 tone_mapped(const glm::vec3& radiance, float exposure) {
    glm::vec3 shown(0.0F);
    for (int c = 0; c < 3; ++c) {
        // Above the maximum the curve is white in any case; NaN is black.
        const float x = radiance[c] > 0.0F ? std::min(radiance[c] / exposure, 1e3F) : 0.0F;
        shown[c] = std::min(x * (2.51F * x + 0.03F) / (x * (2.43F * x + 0.59F) + 0.14F), 1.0F);
    }
    return shown;
}

app::Rgb srgb(const glm::vec3& colour) {
    return {srgb_code(colour.r), srgb_code(colour.g), srgb_code(colour.b)};
}

}  // namespace

app::Picture draw_atlas(const LightMap& map) {
    std::vector<float> lit;
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        if (map.known[i] != 0) {
            lit.push_back(luminance(map.irradiance[i]));
        }
    }
    const float exposure = automatic_exposure(std::move(lit));
    app::Picture picture(map.extent.width, map.extent.height);
    parallel_for(picture.height, 0, [&](std::size_t y) {
        for (std::size_t i = y * picture.width; i < (y + 1) * picture.width; ++i) {
            picture.pixels[i] =
                map.known[i] != 0 ? srgb(tone_mapped(map.irradiance[i], exposure)) : UNKNOWN_COLOUR;
        }
    });
    return picture;
}

#if QUADTILE_HAS_PREVIEW
app::Picture draw_preview(const Scene& scene, const LightMap& map, const Sky& sky,
                          const PreviewOptions& options) {
    const EmbreeRays rays(
        scene.positions.size(), [&](std::size_t i) { return scene.positions[i]; },
        scene.triangles.size(), [&](std::size_t i) { return scene.triangles[i].vertices; },
        options.threads);
    const double aspect = static_cast<double>(options.width) / options.height;
    std::optional<Camera> camera = options.camera ? options.camera : scene.camera;
    if (!camera) {
        camera = camera_that_sees(scene, aspect);
    }
    const View view(*camera, aspect);
    const Box<glm::dvec3> bounds = bounds_of(scene);
    const auto near = static_cast<float>(NEAR * glm::distance(bounds.low, bounds.high));
    const Extent samples{options.width * SAMPLES_PER_AXIS, options.height * SAMPLES_PER_AXIS};
    std::vector<glm::vec3> radiances(samples.texels());
    std::vector<float> lit(samples.texels());  // luminances; 0: the sky
    parallel_for(samples.height, options.threads, [&](std::size_t y) {
        for (std::size_t x = 0; x < samples.width; ++x) {
            const glm::dvec2 place =
                (glm::dvec2(x, y) + 0.5) / glm::dvec2(samples.width, samples.height) * 2.0 - 1.0;
            const glm::dvec3 direction = view.forward + place.x * view.half_size.x * view.right +
                                         place.y * view.half_size.y * view.down;
            const Hit hit = nearest(scene, rays, view.position, direction, near);
            const std::size_t sample = y * samples.width + x;
            if (hit.triangle == EmbreeRays::NOTHING) {
                radiances[sample] = radiance_from(sky, direction);
            } else {
                radiances[sample] = radiance_of(scene, map, hit);
                lit[sample] = luminance(radiances[sample]);
            }
        }
    });
    const float exposure =
        options.exposure ? *options.exposure : automatic_exposure(std::move(lit));
    app::Picture picture(options.width, options.height);
    parallel_for(options.height, options.threads, [&](std::size_t y) {
        for (std::size_t x = 0; x < options.width; ++x) {
            // After the curve, so that edges of bright surfaces are smooth too.
            glm::vec3 sum(0.0F);
            for (std::size_t v = 0; v < SAMPLES_PER_AXIS; ++v) {
                for (std::size_t u = 0; u < SAMPLES_PER_AXIS; ++u) {
                    sum += tone_mapped(radiances[(y * SAMPLES_PER_AXIS + v) * samples.width +
                                                 x * SAMPLES_PER_AXIS + u],
                                       exposure);
                }
            }
            picture.pixels[y * options.width + x] =
                srgb(sum / static_cast<float>(SAMPLES_PER_AXIS * SAMPLES_PER_AXIS));
        }
    });
    return picture;
}
#else
app::Picture draw_preview(const Scene& /*scene*/, const LightMap& /*map*/, const Sky& /*sky*/,
                          const PreviewOptions& /*options*/) {
    throw std::logic_error("built without Embree");
}
#endif

}  // namespace quadtile::baker
