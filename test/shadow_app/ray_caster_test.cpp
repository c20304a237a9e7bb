// Masks of the GPU's rays against all triangles on the CPU: by the same arithmetic, to the bit, and
// by that of textbooks in doubles.

#include "ray_caster.hpp"

#include "apps/app_gpu_test.hpp"
#include "brute_force.hpp"
#include "bvh.hpp"
#include "ray_frame.hpp"

#include <gmock/gmock.h>
#include <glm/ext/matrix_clip_space.hpp>
#include <glm/ext/matrix_double4x4.hpp>
#include <glm/ext/matrix_transform.hpp>
#include <glm/geometric.hpp>
#include <glm/gtc/packing.hpp>
#include <glm/gtc/type_ptr.hpp>
#include <glm/matrix.hpp>
#include <glm/trigonometric.hpp>

#include <cstring>
#include <limits>
#include <random>

namespace quadtile::shadow {
namespace {

constexpr vk::Extent2D EXTENT{97, 61};  // no multiple of a workgroup's
constexpr std::size_t PIXELS = std::size_t{EXTENT.width} * EXTENT.height;

void add_triangle(Geometry& geometry, const std::array<glm::vec3, 3>& corners) {
    for (const glm::vec3& corner : corners) {
        geometry.indices.push_back(static_cast<std::uint32_t>(geometry.vertices.size()));
        geometry.vertices.push_back({corner, 0});
    }
}

// Triangles of all sizes above a floor.
Geometry random_geometry() {
    std::mt19937 random(5);
    const auto unit = [&] { return static_cast<float>(random() % 65536) / 65536.0F; };
    const auto vector = [&] { return glm::vec3(unit(), unit(), unit()) - 0.5F; };
    Geometry geometry;
    add_triangle(geometry, {{{-20.0F, 0.0F, -20.0F}, {-20.0F, 0.0F, 20.0F}, {20.0F, 0.0F, 20.0F}}});
    add_triangle(geometry, {{{-20.0F, 0.0F, -20.0F}, {20.0F, 0.0F, 20.0F}, {20.0F, 0.0F, -20.0F}}});
    for (int i = 0; i < 300; ++i) {
        const glm::vec3 middle = glm::vec3(16.0F, 5.0F, 16.0F) * vector() + glm::vec3(0, 3, 0);
        const float size = 0.1F + 3.0F * unit() * unit();
        add_triangle(geometry, {middle + size * vector(), middle + size * vector(),
                                middle + size * vector()});
    }
    return geometry;
}

FrameSettings settings_of(const std::vector<Light>& lights) {
    FrameSettings settings;
    settings.camera = {
        .position = {2.0F, 9.0F, 14.0F}, .yaw_degrees = 10.0F, .pitch_degrees = -32.0F};
    settings.lights = lights;
    return settings;
}

// Spots look down.
ShadowProjection projection_of(const Light& light) {
    glm::mat4 matrix(1.0F);
    if (light.kind == Light::Kind::spot) {
        matrix = glm::perspectiveRH_ZO(glm::radians(light.angle_degrees), 1.0F, 0.1F, 30.0F) *
                 glm::lookAt(light.position, light.position + light.direction,
                             glm::vec3(0.0F, 0.0F, 1.0F));
    }
    ShadowProjection projection;
    std::memcpy(projection.clip_from_world.data(), glm::value_ptr(matrix), sizeof(matrix));
    return projection;
}

std::vector<ShadowProjection> projections_of(const std::vector<Light>& lights) {
    std::vector<ShadowProjection> projections;
    for (const Light& light : lights) {
        projections.push_back(projection_of(light));
    }
    return projections;
}

// ---- What a renderer would have drawn

struct Drawn {
    std::vector<float> depth;
    std::vector<glm::u16vec4> normals;  // 16-bit floats
    std::vector<glm::dvec3> points;
};

Drawn draw(const Geometry& geometry, const Camera& camera) {
    const float aspect = static_cast<float>(EXTENT.width) / EXTENT.height;
    const glm::dmat4 world_from_clip =
        glm::inverse(glm::dmat4(camera.clip_from_world(aspect, CAMERA_NEAREST)));
    const glm::dvec3 eye(camera.position);
    Drawn drawn;
    for (std::uint32_t y = 0; y < EXTENT.height; ++y) {
        for (std::uint32_t x = 0; x < EXTENT.width; ++x) {
            const glm::dvec4 on_plane =
                world_from_clip * glm::dvec4(2.0 * (x + 0.5) / EXTENT.width - 1.0,
                                             2.0 * (y + 0.5) / EXTENT.height - 1.0, 1.0, 1.0);
            const glm::dvec3 ray = glm::dvec3(on_plane) / on_plane.w - eye;  // to the near plane
            const Hit hit = first_hit(geometry, eye, ray);
            drawn.depth.push_back(static_cast<float>(1.0 / hit.distance));
            drawn.normals.push_back(glm::packHalf(glm::vec4(hit.normal, 0.0F)));
            drawn.points.push_back(eye + hit.distance * ray);
        }
    }
    return drawn;
}

// ---- Masks on the CPU

// As the shader has it, but with all triangles.
std::vector<std::uint32_t> mask_of_all(const Geometry& geometry, const Drawn& drawn,
                                       const RayFrame& frame) {
    const std::vector<RayTriangle> triangles = ray_triangles(geometry);
    std::vector<std::uint32_t> mask(PIXELS);
    for (std::uint32_t i = 0; i < PIXELS; ++i) {
        if (drawn.depth[i] == 0.0F) {
            continue;
        }
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

bool reaches(const Geometry& geometry, const Light& light, const glm::dvec3& point,
             const glm::dvec3& normal) {
    const glm::dvec3 origin = point + 1e-4 * normal;
    const bool is_spot = light.kind == Light::Kind::spot;
    const glm::dvec3 way = is_spot ? glm::dvec3(light.position) - origin
                                   : -1e3 * glm::normalize(glm::dvec3(light.direction));
    const glm::dmat4 clip_from_world(glm::make_mat4(projection_of(light).clip_from_world.data()));
    const glm::dvec4 clip = clip_from_world * glm::dvec4(point, 1.0);
    const bool is_inside = clip.w > 0.0 && std::abs(clip.x) <= clip.w &&
                           std::abs(clip.y) <= clip.w && clip.z >= 0.0 && clip.z <= clip.w;
    return glm::dot(normal, way) > 0.0 && (!is_spot || is_inside) &&
           first_hit(geometry, origin, way).distance >= 1.0;
}

std::vector<std::uint32_t> mask_in_doubles(const Geometry& geometry, const Drawn& drawn,
                                           const std::vector<Light>& lights) {
    std::vector<std::uint32_t> mask(PIXELS);
    for (std::size_t i = 0; i < PIXELS; ++i) {
        if (drawn.depth[i] == 0.0F) {
            continue;
        }
        const glm::dvec3 normal(glm::unpackHalf(drawn.normals[i]));
        mask[i] = MASK_SURFACE;
        for (std::size_t l = 0; l < lights.size(); ++l) {
            mask[i] |= reaches(geometry, lights[l], drawn.points[i], normal) ? 1U << l : 0U;
        }
    }
    return mask;
}

// ---- On the GPU

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Usage = vk::ImageUsageFlagBits;

// Pictures as a renderer leaves them.
class Uploaded {
 public:
    Uploaded(app::Gpu& gpu, const Drawn& drawn, const std::vector<std::uint32_t>& mask)
        : depth_(
              make(gpu, vk::Format::eD32Sfloat, Usage::eSampled | Usage::eDepthStencilAttachment)),
          normals_(make(gpu, vk::Format::eR16G16B16A16Sfloat, Usage::eSampled)),
          mask_(make(gpu, vk::Format::eR32Uint, Usage::eStorage)) {
        fill(gpu, depth_, drawn.depth.data(), 4, vk::ImageAspectFlagBits::eDepth,
             Layout::eDepthStencilReadOnlyOptimal);
        fill(gpu, normals_, drawn.normals.data(), 8, vk::ImageAspectFlagBits::eColor,
             Layout::eGeneral);
        fill(gpu, mask_, mask.data(), 4, vk::ImageAspectFlagBits::eColor, Layout::eGeneral);
    }

    [[nodiscard]] Pictures pictures() const {
        return {.extent = EXTENT,
                .depth = *depth_.view,
                .normals = *normals_.view,
                .mask = *mask_.view,
                .mask_image = *mask_.handle};
    }

 private:
    static app::Image make(app::Gpu& gpu, vk::Format format, vk::ImageUsageFlags usage) {
        return gpu.make_image(EXTENT, format, usage | Usage::eTransferDst, vk::ImageViewType::e2D);
    }

    static void fill(app::Gpu& gpu, const app::Image& image, const void* texels,
                     std::size_t texel_bytes, vk::ImageAspectFlags aspect, Layout layout) {
        const app::Buffer buffer = gpu.make_buffer(
            PIXELS * texel_bytes, vk::BufferUsageFlagBits::eTransferSrc, app::MemoryUse::upload);
        std::memcpy(buffer.mapped, texels, PIXELS * texel_bytes);
        const auto change = [&](vk::CommandBuffer commands, Layout from, Layout to,
                                const app::Scope& before, const app::Scope& after) {
            commands.pipelineBarrier(
                before.stages, after.stages, {}, {}, {},
                vk::ImageMemoryBarrier{.srcAccessMask = before.accesses,
                                       .dstAccessMask = after.accesses,
                                       .oldLayout = from,
                                       .newLayout = to,
                                       .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .image = *image.handle,
                                       .subresourceRange = {aspect, 0, 1, 0, 1}});
        };
        gpu.run([&](vk::CommandBuffer commands) {
            const app::Scope transfer{Stage::eTransfer, Access::eTransferWrite};
            change(commands, Layout::eUndefined, Layout::eTransferDstOptimal,
                   {Stage::eTopOfPipe, {}}, transfer);
            commands.copyBufferToImage(
                *buffer.handle, *image.handle, Layout::eTransferDstOptimal,
                vk::BufferImageCopy{.imageSubresource = {aspect, 0, 0, 1},
                                    .imageExtent = {EXTENT.width, EXTENT.height, 1}});
            change(commands, Layout::eTransferDstOptimal, layout, transfer,
                   {Stage::eComputeShader, Access::eShaderRead});
        });
    }

    app::Image depth_;
    app::Image normals_;
    app::Image mask_;
};

std::vector<std::uint32_t> read_mask(app::Gpu& gpu, vk::Image image) {
    const app::Buffer buffer = gpu.make_buffer(4 * PIXELS, vk::BufferUsageFlagBits::eTransferDst,
                                               app::MemoryUse::readback);
    gpu.run([&](vk::CommandBuffer commands) {
        app::change_layout(commands, image, Layout::eGeneral, Layout::eTransferSrcOptimal,
                           {Stage::eComputeShader, Access::eShaderWrite},
                           {Stage::eTransfer, Access::eTransferRead});
        commands.copyImageToBuffer(
            image, Layout::eTransferSrcOptimal, *buffer.handle,
            vk::BufferImageCopy{.imageSubresource = {vk::ImageAspectFlagBits::eColor, 0, 0, 1},
                                .imageExtent = {EXTENT.width, EXTENT.height, 1}});
        app::change_layout(commands, image, Layout::eTransferSrcOptimal, Layout::eGeneral,
                           {Stage::eTransfer, {}}, {Stage::eComputeShader, Access::eShaderRead});
        app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                            {Stage::eHost, Access::eHostRead});
    });
    std::vector<std::uint32_t> mask(PIXELS);
    std::memcpy(mask.data(), buffer.mapped, 4 * PIXELS);
    return mask;
}

class RayCasterTest : public app::test::AppGpuTest {};

std::vector<Light> lights_of_all_kinds() {
    return {{.direction = {-0.4F, -1.0F, -0.3F}},
            {.direction = {0.0F, -1.0F, 0.0F}},  // along an axis
            {.kind = Light::Kind::spot,
             .direction = {0.2F, -1.0F, -0.1F},
             .position = {-3.0F, 8.0F, 1.0F},
             .angle_degrees = 70.0F},
            {.kind = Light::Kind::spot,
             .direction = {-0.1F, -1.0F, 0.1F},
             .position = {3.0F, 3.0F, -2.0F},  // amid triangles
             .angle_degrees = 100.0F}};
}

float largest_coordinate(const Geometry& geometry) {
    float largest = 0.0F;
    for (const Vertex& vertex : geometry.vertices) {
        for (int i = 0; i < 3; ++i) {
            largest = std::max(largest, std::abs(vertex.position[i]));
        }
    }
    return largest;
}

double share_that_differs(const std::vector<std::uint32_t>& a,
                          const std::vector<std::uint32_t>& b) {
    double different = 0.0;
    for (std::size_t i = 0; i < PIXELS; ++i) {
        different += a[i] == b[i] ? 0.0 : 1.0;
    }
    return different / PIXELS;
}

TEST_F(RayCasterTest, SeesWhatAllTrianglesShadow) {
    const Geometry geometry = random_geometry();
    const FrameSettings settings = settings_of(lights_of_all_kinds());
    const auto projections = projections_of(settings.lights);
    const Drawn drawn = draw(geometry, settings.camera);
    const Uploaded uploaded(*gpu_, drawn, std::vector<std::uint32_t>(PIXELS));
    RayCaster caster(*gpu_, geometry);
    gpu_->run([&](vk::CommandBuffer commands) {
        caster.record(commands, uploaded.pictures(), settings, projections);
    });
    const std::vector<std::uint32_t> mask = read_mask(*gpu_, caster.mask_image());

    const RayFrame frame =
        make_ray_frame(settings, EXTENT, projections, largest_coordinate(geometry));
    EXPECT_EQ(share_that_differs(mask, mask_of_all(geometry, drawn, frame)), 0.0);
    // Rays begin elsewhere there, by less than a thousandth of a unit, so edges of shadows differ.
    EXPECT_LT(share_that_differs(mask, mask_in_doubles(geometry, drawn, settings.lights)), 2e-3);

    // Of all that is asked for there is something.
    for (std::uint32_t light = 0; light < settings.lights.size(); ++light) {
        double lit = 0.0;
        for (const std::uint32_t pixel : mask) {
            lit += (pixel >> light) & 1U;
        }
        EXPECT_GT(lit / PIXELS, 0.02) << light;
        EXPECT_LT(lit / PIXELS, 0.8) << light;
    }
    EXPECT_GT(std::ranges::count(mask, 0U), 0);
}

// Another frame, with fewer lights and another camera, and then another size.
TEST_F(RayCasterTest, CastsEachFrameAnew) {
    const Geometry geometry = random_geometry();
    FrameSettings settings = settings_of(lights_of_all_kinds());
    RayCaster caster(*gpu_, geometry);
    for (int i = 0; i < 3; ++i) {
        const auto projections = projections_of(settings.lights);
        const Drawn drawn = draw(geometry, settings.camera);
        const Uploaded uploaded(*gpu_, drawn, std::vector<std::uint32_t>(PIXELS));
        gpu_->run([&](vk::CommandBuffer commands) {
            caster.record(commands, uploaded.pictures(), settings, projections);
        });
        const RayFrame frame =
            make_ray_frame(settings, EXTENT, projections, largest_coordinate(geometry));
        EXPECT_EQ(read_mask(*gpu_, caster.mask_image()), mask_of_all(geometry, drawn, frame));
        settings.camera.position.x -= 1.0F;
        settings.camera.yaw_degrees -= 5.0F;
        settings.lights.erase(settings.lights.begin());
    }
}

TEST_F(RayCasterTest, CountsWhatDiffers) {
    const Geometry geometry = random_geometry();
    const FrameSettings settings = settings_of(lights_of_all_kinds());
    const auto projections = projections_of(settings.lights);
    const Drawn drawn = draw(geometry, settings.camera);
    std::vector<std::uint32_t> mask =
        mask_of_all(geometry, drawn,
                    make_ray_frame(settings, EXTENT, projections, largest_coordinate(geometry)));
    MaskDifference expected;
    for (std::size_t i = 0; i < PIXELS; ++i) {
        if ((mask[i] & MASK_SURFACE) == 0) {
            mask[i] = 0x7fffU;  // of no account
            continue;
        }
        ++expected.surface_pixels;
        const std::uint32_t flipped = i % 7 == 0 ? 1U : i % 11 == 0 ? 5U : 0U;
        const bool is_lit = (flipped & ~mask[i]) != 0;
        const bool is_shadowed = (flipped & mask[i]) != 0;
        mask[i] ^= flipped;
        expected.wrong += flipped != 0 ? 1U : 0U;
        expected.wrongly_lit += is_lit ? 1U : 0U;
        expected.wrongly_shadowed += is_shadowed ? 1U : 0U;
    }
    ASSERT_GT(expected.wrongly_lit + expected.wrongly_shadowed, expected.wrong);

    const Uploaded uploaded(*gpu_, drawn, mask);
    RayCaster caster(*gpu_, geometry);
    for (int i = 0; i < 2; ++i) {  // counts begin anew
        gpu_->run([&](vk::CommandBuffer commands) {
            caster.record(commands, uploaded.pictures(), settings, projections);
            caster.record_comparison(commands, uploaded.pictures());
        });
        const MaskDifference difference = caster.difference();
        EXPECT_EQ(difference.surface_pixels, expected.surface_pixels);
        EXPECT_EQ(difference.wrong, expected.wrong);
        EXPECT_EQ(difference.wrongly_lit, expected.wrongly_lit);
        EXPECT_EQ(difference.wrongly_shadowed, expected.wrongly_shadowed);
    }
}

TEST_F(RayCasterTest, NeedsAClipSpaceForEachLight) {
    const FrameSettings settings = settings_of(lights_of_all_kinds());
    EXPECT_THROW((void)make_ray_frame(settings, EXTENT, {}, 1.0F), std::invalid_argument);
}

}  // namespace
}  // namespace quadtile::shadow
