// Draws a scene with shadows: the depth buffer first, then the shadow maps that it asks for, then
// the picture, all in one command buffer.

#pragma once

#include "camera.hpp"
#include "geometry.hpp"
#include "gpu.hpp"

#include <quadtile/shadow.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::shadow {

// Of the camera's depth buffer, in units of the world: what Camera::clip_from_world is given.
constexpr float CAMERA_NEAREST = 0.05F;

enum class Technique {
    fitted,           // quadtile::ShadowFitter
    single,           // one map of the whole scene for each light
    cascades,         // four for each parallel light, along the camera's view
    stable_cascades,  // so, too; of a size that does not change, moved by whole texels
};

enum class Picture {
    shaded,
    tiles,  // shaded, each tile in a colour of its level, slots' texels as a grid
    error,  // shaded; pixels whose hard shadow is not that of ray casting in red and blue
};

struct Light {
    enum class Kind { sun, spot };
    Kind kind = Kind::sun;
    glm::vec3 direction{-0.4F, -1.0F, -0.3F};  // that the light goes
    glm::vec3 position{0.0F};                  // of a spot
    float angle_degrees = 60.0F;               // of a spot
    glm::vec3 colour{1.0F};                    // 1: about that of a bright day
};

// What may change from frame to frame at no cost.
struct FrameSettings {
    Technique technique = Technique::fitted;
    Picture picture = Picture::shaded;
    bool filtered = true;  // else hard shadows, of the nearest texel
    Camera camera;
    std::vector<Light> lights{Light{}};  // as many as ShadowOptions::lights
};

// Of the last frame that was measured, microseconds of the GPU; 0 where there are no timestamps.
struct Timings {
    double depth = 0.0;  // the camera's depth buffer and normals
    double fit = 0.0;    // importance to page table (ShadowFitter::record)
    double cull = 0.0;   // ShadowFitter::record_cull
    double maps = 0.0;   // drawing into the shadow maps
    double shade = 0.0;  // the picture
};

// What other passes read: of the picture's extent, in layout GENERAL after a frame (depth:
// DEPTH_STENCIL_READ_ONLY_OPTIMAL), written before COMPUTE_SHADER / SHADER_READ.
struct Pictures {
    vk::Extent2D extent;
    vk::ImageView colour;  // R8G8B8A8_UNORM, sRGB-encoded values; STORAGE | SAMPLED | TRANSFER_SRC
    vk::Image colour_image;
    vk::ImageView depth;  // D32_SFLOAT, SAMPLED | TRANSFER_SRC
    vk::Image depth_image;
    // R16G16B16A16_SFLOAT, SAMPLED | TRANSFER_SRC: of the triangle, to the camera's side
    vk::ImageView normals;
    vk::Image normals_image;
    // R32_UINT, STORAGE | SAMPLED: words of a lit mask (quadtile/shadow.h), by hard shadows, of
    // surfaces with N.L > 0. Written in every frame, also where the picture is filtered.
    vk::ImageView mask;
    vk::Image mask_image;
};

class Renderer {
 public:
    // The geometry is copied to the device. The atlas has ShadowOptions::atlas_extent; the other
    // techniques divide an image of the same size among their maps.
    Renderer(app::Gpu& gpu, const quadtile::Device& device, const Geometry& geometry,
             vk::Extent2D extent, const ShadowOptions& options);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    // Another size or other options, where they differ; waits for the device, forgets the last
    // frame. Throws quadtile::Error for options that are not allowed, and nothing has changed.
    void configure(vk::Extent2D extent, const ShadowOptions& options);

    // Records all of a frame. The maps of all techniques are in the same image, so the first fitted
    // frame after another technique draws all of its tiles. The last frame must have executed, or
    // be before it on the same queue. For Picture::error `reference` is a mask (shaders/mask.h)
    // of ray casting: its view, in layout GENERAL; it must be of the depth that this frame draws,
    // so see record_depth.
    void record(vk::CommandBuffer commands, const FrameSettings& settings);
    // The two halves of record, for what needs the depth between them (ray casting).
    void record_depth(vk::CommandBuffer commands, const FrameSettings& settings);
    void record_shadows(vk::CommandBuffer commands, const FrameSettings& settings,
                        vk::ImageView reference = {});

    [[nodiscard]] const Pictures& pictures() const;
    [[nodiscard]] const ShadowOptions& options() const;
    // Of the frame that has executed last; waits for nothing.
    [[nodiscard]] Timings timings() const;
    // That of the frame that has executed last, copied to the host by every frame.
    [[nodiscard]] ShadowHeader header() const;

    // The clip spaces of lights, as frames are made with.
    [[nodiscard]] std::vector<ShadowProjection> projections(const FrameSettings& settings) const;
    // For tests: what a frame was made from.
    [[nodiscard]] ShadowFrame shadow_frame(const FrameSettings& settings) const;
    // The buffers of the fitter, for tests and overlays.
    [[nodiscard]] const ShadowFitter& fitter() const;
    [[nodiscard]] vk::Buffer fitter_memory() const;
    [[nodiscard]] vk::Image page_table() const;
    // D32_SFLOAT, SAMPLED | TRANSFER_SRC, DEPTH_STENCIL_READ_ONLY_OPTIMAL
    [[nodiscard]] vk::ImageView atlas() const;
    [[nodiscard]] vk::Image atlas_image() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile::shadow
