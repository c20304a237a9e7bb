// Masks of the GPU's rays against all triangles on the CPU: by the same arithmetic, to the bit, and
// by that of textbooks in doubles. Depths and normals are those that the renderer has drawn.

#include "ray_caster.hpp"
#include "../shadow_app/brute_force.hpp"
#include "bvh.hpp"
#include "studio.hpp"

#include <gmock/gmock.h>
#include <glm/glm.hpp>
#include <glm/gtc/packing.hpp>
#include <glm/gtc/type_ptr.hpp>

#include <random>

namespace quadtile::shadow {
namespace {

constexpr vk::Extent2D EXTENT{97, 61};  // no multiple of a workgroup's
constexpr std::size_t PIXELS = std::size_t{EXTENT.width} * EXTENT.height;

// Triangles of all sizes above a floor.
Geometry random_geometry() {
    std::mt19937 random(5);
    const auto unit = [&] { return static_cast<float>(random() % 65536) / 65536.0F; };
    const auto vector = [&] { return glm::vec3(unit(), unit(), unit()) - 0.5F; };
    baker::Scene scene;
    scene.materials.emplace_back();
    const auto add = [&](const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        scene.positions.insert(scene.positions.end(), {a, b, c});
        scene.triangles.push_back({.vertices = {first, first + 1, first + 2}});
    };
    add({-20.0F, 0.0F, -20.0F}, {-20.0F, 0.0F, 20.0F}, {20.0F, 0.0F, 20.0F});
    add({-20.0F, 0.0F, -20.0F}, {20.0F, 0.0F, 20.0F}, {20.0F, 0.0F, -20.0F});
    for (int i = 0; i < 300; ++i) {
        const glm::vec3 middle = glm::vec3(16.0F, 5.0F, 16.0F) * vector() + glm::vec3(0, 3, 0);
        const float size = 0.1F + 3.0F * unit() * unit();
        add(middle + size * vector(), middle + size * vector(), middle + size * vector());
    }
    return make_geometry(scene);
}

const std::vector<Light> LIGHTS{{.direction = {-0.4F, -1.0F, -0.3F}},
                                {.direction = {0.0F, -1.0F, 0.0F}},  // along an axis
                                {.kind = Light::Kind::spot,
                                 .direction = {0.2F, -1.0F, -0.1F},
                                 .position = {-3.0F, 8.0F, 1.0F},
                                 .angle_degrees = 70.0F},
                                {.kind = Light::Kind::spot,
                                 .direction = {-0.1F, -1.0F, 0.1F},
                                 .position = {3.0F, 3.0F, -2.0F},  // amid triangles
                                 .angle_degrees = 100.0F}};

FrameSettings settings_of(std::vector<Light> lights) {
    return {
        .technique = Technique::single,
        .camera = {.position = {2.0F, 9.0F, 14.0F}, .yaw_degrees = 10.0F, .pitch_degrees = -32.0F},
        .lights = std::move(lights)};
}

ShadowOptions options_of(const FrameSettings& settings) {
    return {.lights = static_cast<std::uint32_t>(settings.lights.size()),
            .map_extent = 64,
            .atlas_extent = 512};
}

// The renderer's frame and the rays' frame.
struct Drawn {
    Drawn(const Studio& studio, const Geometry& geometry, const FrameSettings& settings)
        : depth(studio.depth()),
          normals(studio.normals()),
          projections(studio.renderer().projections(settings)),
          frame(make_ray_frame(settings, EXTENT, projections,
                               build_bvh(ray_triangles(geometry)).largest_coordinate)) {}

    std::vector<float> depth;
    std::vector<glm::u16vec4> normals;  // 16-bit floats
    std::vector<ShadowProjection> projections;
    RayFrame frame;
};

// As the shader has it, but with all triangles.
std::vector<std::uint32_t> mask_of_all(const Geometry& geometry, const Drawn& drawn) {
    const std::vector<RayTriangle> triangles = ray_triangles(geometry);
    std::vector<std::uint32_t> mask(PIXELS);
    for (std::uint32_t i = 0; i < PIXELS; ++i) {
        if (drawn.depth[i] == 0.0F) {
            continue;
        }
        const RayFrame& frame = drawn.frame;
        const glm::vec4 n = glm::unpackHalf(drawn.normals[i]);
        const MaskVector normal = mask_vector(n.x, n.y, n.z);
        const MaskVector point =
            ray_surface_point(frame.camera, i % EXTENT.width, i / EXTENT.width, drawn.depth[i]);
        const MaskVector origin = ray_origin(frame.camera, point, normal);
        mask[i] = MASK_SURFACE;
        for (std::uint32_t l = 0; l < frame.light_count; ++l) {
            const Ray ray = ray_to_light(frame.lights[l], origin);
            if (mask_may_light(frame.lights[l], point, normal) &&
                std::ranges::none_of(triangles, [&](const RayTriangle& triangle) {
                    return ray_meets(ray, triangle);
                })) {
                mask[i] |= 1U << l;
            }
        }
    }
    return mask;
}

std::vector<std::uint32_t> mask_in_doubles(const Geometry& geometry, const Drawn& drawn,
                                           const FrameSettings& settings) {
    const float aspect = static_cast<float>(EXTENT.width) / EXTENT.height;
    const glm::dmat4 world_from_clip =
        glm::inverse(glm::dmat4(settings.camera.clip_from_world(aspect, CAMERA_NEAREST)));
    std::vector<std::uint32_t> mask(PIXELS);
    for (std::size_t i = 0; i < PIXELS; ++i) {
        if (drawn.depth[i] == 0.0F) {
            continue;
        }
        const double column = static_cast<double>(i % EXTENT.width) + 0.5;
        const double row = static_cast<double>(i / EXTENT.width) + 0.5;
        const glm::dvec4 world =
            world_from_clip * glm::dvec4(2.0 * column / EXTENT.width - 1.0,
                                         2.0 * row / EXTENT.height - 1.0, drawn.depth[i], 1.0);
        const glm::dvec3 point = glm::dvec3(world) / world.w;
        const glm::dvec3 normal(glm::unpackHalf(drawn.normals[i]));
        const glm::dvec3 origin = point + 2e-3 * normal;
        mask[i] = MASK_SURFACE;
        for (std::size_t l = 0; l < settings.lights.size(); ++l) {
            const Light& light = settings.lights[l];
            const bool is_spot = light.kind == Light::Kind::spot;
            const glm::dvec3 way = is_spot ? glm::dvec3(light.position) - origin
                                           : -1e3 * glm::normalize(glm::dvec3(light.direction));
            const glm::dvec4 clip =
                glm::dmat4(glm::make_mat4(drawn.projections[l].clip_from_world.data())) *
                glm::dvec4(point, 1.0);
            const bool is_inside = clip.w > 0.0 && std::abs(clip.x) <= clip.w &&
                                   std::abs(clip.y) <= clip.w && clip.z >= 0.0 && clip.z <= clip.w;
            const bool is_lit = glm::dot(normal, way) > 0.0 && (!is_spot || is_inside) &&
                                first_hit(geometry, origin, way).distance >= 1.0;
            mask[i] |= is_lit ? 1U << l : 0U;
        }
    }
    return mask;
}

TEST_F(ShadowRenderer, SeesByRaysWhatAllTrianglesShadow) {
    const Geometry geometry = random_geometry();
    const FrameSettings settings = settings_of(LIGHTS);
    Studio studio(geometry, EXTENT, options_of(settings));
    (void)studio.compare(settings);
    const Drawn drawn(studio, geometry, settings);
    const std::vector<std::uint32_t> mask = studio.ray_mask();
    EXPECT_TRUE(mask == mask_of_all(geometry, drawn));
    // Rays begin elsewhere there, so edges of shadows differ.
    EXPECT_LT(share_that_differs(mask, mask_in_doubles(geometry, drawn, settings)), 0.01);

    // The frame has lit and unlit pixels of each light.
    for (std::uint32_t light = 0; light < settings.lights.size(); ++light) {
        const auto lit = std::ranges::count_if(
            mask, [&](std::uint32_t pixel) { return (pixel >> light & 1U) != 0; });
        EXPECT_GT(static_cast<double>(lit) / PIXELS, 0.02) << light;
        EXPECT_LT(static_cast<double>(lit) / PIXELS, 0.8) << light;
    }
    EXPECT_GT(std::ranges::count(mask, 0U), 0);
}

// With fewer lights and another camera in each; and what differs from the renderer's is counted.
TEST_F(ShadowRenderer, CastsRaysAndCountsInEachFrameAnew) {
    const Geometry geometry = random_geometry();
    FrameSettings settings = settings_of(LIGHTS);
    Studio studio(geometry, EXTENT, options_of(settings));
    std::uint32_t wrong = 0;
    while (!settings.lights.empty()) {
        studio.configure(options_of(settings));
        const MaskDifference difference = studio.compare(settings);
        const std::vector<std::uint32_t> cast = studio.ray_mask();
        EXPECT_TRUE(cast == mask_of_all(geometry, Drawn(studio, geometry, settings)));
        const std::vector<std::uint32_t> mask = studio.mask();
        MaskDifference expected;
        for (std::size_t i = 0; i < PIXELS; ++i) {
            if ((cast[i] & MASK_SURFACE) != 0) {
                const std::uint32_t lit = mask[i] & ~cast[i] & SHADOW_LIT;
                const std::uint32_t shadowed = cast[i] & ~mask[i] & SHADOW_LIT;
                ++expected.surface_pixels;
                expected.wrong += (lit | shadowed) != 0 ? 1U : 0U;
                expected.wrongly_lit += lit != 0 ? 1U : 0U;
                expected.wrongly_shadowed += shadowed != 0 ? 1U : 0U;
            }
        }
        wrong += expected.wrong;
        EXPECT_EQ(difference.surface_pixels, expected.surface_pixels);
        EXPECT_EQ(difference.wrong, expected.wrong);
        EXPECT_EQ(difference.wrongly_lit, expected.wrongly_lit);
        EXPECT_EQ(difference.wrongly_shadowed, expected.wrongly_shadowed);
        settings.camera.position.x -= 1.0F;
        settings.camera.yaw_degrees -= 5.0F;
        settings.lights.erase(settings.lights.begin());
    }
    EXPECT_GT(wrong, 0U);
}

TEST(RayFrame, NeedsAClipSpaceForEachLight) {
    EXPECT_THROW((void)make_ray_frame(settings_of(LIGHTS), EXTENT, {}, 1.0F),
                 std::invalid_argument);
}

}  // namespace
}  // namespace quadtile::shadow
