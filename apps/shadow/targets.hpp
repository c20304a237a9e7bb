// The render passes, images, buffers and descriptors of a renderer: those of the scene, and those
// that follow from the picture's extent and the options.

#pragma once

#include "fixed_views.hpp"
#include "gpu.hpp"
#include "moving_boxes.hpp"
#include "shaders/frame.h"

#include <quadtile/shadow.hpp>

#include <optional>
#include <span>
#include <vector>

namespace quadtile::shadow {

constexpr vk::Format DEPTH_FORMAT = vk::Format::eD32Sfloat;
constexpr vk::Format ALBEDO_FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Format NORMAL_FORMAT = vk::Format::eR16G16B16A16Sfloat;

// ---- Render passes and vertices for what is drawn with a depth buffer

// The camera's view: depth, albedo, normals; all cleared. Left in the layouts that Targets says,
// and visible to COMPUTE_SHADER / SHADER_READ.
[[nodiscard]] vk::UniqueRenderPass make_surface_pass(vk::Device device);

// Depths of shadow maps: cleared, or what is there is kept. Left and, where it is kept, found in
// DEPTH_STENCIL_READ_ONLY_OPTIMAL; visible to COMPUTE_SHADER and FRAGMENT_SHADER / SHADER_READ. All
// that is read of it before must have been ordered before COMPUTE_SHADER.
enum class AtlasContents { cleared, kept };
[[nodiscard]] vk::UniqueRenderPass make_atlas_pass(vk::Device device, AtlasContents contents);

// Vertices for DrawState, with 1: Vertex::position; 2: colour, too.
[[nodiscard]] vk::PipelineVertexInputStateCreateInfo vertices_with(std::uint32_t attributes);

// ---- Resources

// A geometry on the device.
struct SceneBuffers {
    SceneBuffers(app::Gpu& gpu, const Geometry& geometry);

    app::Buffer vertices;
    app::Buffer indices;
    app::Buffer objects;
    std::optional<MovingBoxes> moving;
    std::vector<ShadowObject> clusters;
    ShadowBox bounds;
};

struct TargetPasses {
    vk::RenderPass surfaces;
    vk::RenderPass atlas;
};

// What no render pass clears is in layout GENERAL, the fitter's memory is zeros. After a frame
// images are written before COMPUTE_SHADER / SHADER_READ.
struct Targets {
    Targets(app::Gpu& gpu, const quadtile::Device& device, const SceneBuffers& scene,
            vk::Extent2D extent, const ShadowOptions& options, const TargetPasses& passes);

    // For Technique::rays; waits for the device where it is another one. None: `light`, which is
    // not read.
    void set_traced_light(vk::ImageView traced_light);

    app::Gpu& gpu;
    ShadowOptions options;
    vk::Extent2D extent;  // of the picture
    ShadowFitter fitter;
    ShadowFitter::Requirements needed;

    // Of the picture's extent; GENERAL after a frame, but for `depth`:
    // DEPTH_STENCIL_READ_ONLY_OPTIMAL.
    app::Image depth;  // D32_SFLOAT, SAMPLED | TRANSFER_SRC
    app::Image albedo;
    app::Image normals;  // SAMPLED | TRANSFER_SRC: of the triangle, to the camera's side
    app::Image colour;   // R8G8B8A8_UNORM, sRGB-encoded values; STORAGE | SAMPLED | TRANSFER_SRC
    // R32_UINT, STORAGE | SAMPLED: words of a lit mask (quadtile/shadow.h), by hard shadows, of
    // surfaces with N.L > 0. Written in every frame, also where the picture is filtered.
    app::Image mask;
    app::Image light;  // R32_UINT, STORAGE | TRANSFER_SRC: shaders/light.h
    vk::UniqueFramebuffer surface_framebuffer;

    app::Buffer memory;  // of the fitter
    app::Image importance;
    app::Image page_table;
    app::Image atlas;  // D32_SFLOAT, SAMPLED | TRANSFER_SRC, DEPTH_STENCIL_READ_ONLY_OPTIMAL
    vk::UniqueFramebuffer atlas_framebuffer;
    app::Buffer draws;
    app::Buffer instances;
    ShadowFitter::Binding binding;
    ShadowFitter::ObjectBinding objects;
    std::optional<ShadowFitter::ChangeBinding> changes;  // where something moves

    app::Buffer drawn_frame;
    app::Buffer header;  // for the host
    vk::UniqueSampler sampler;
    app::ProgramInterface interface;  // of all shaders of a frame

 private:
    void write_descriptors();
    void record_first_contents(vk::CommandBuffer commands) const;

    vk::ImageView traced_light_;
};

// Push constants of the vertex shaders.
struct Viewpoint {
    glm::mat4 clip_from_world;
    glm::vec4 camera_position;
};

// What the shaders of a frame are told. `views` are those of techniques other than the fitted one.
[[nodiscard]] DrawnFrame make_drawn_frame(const FrameSettings& settings, const Targets& targets,
                                          const ShadowBox& bounds,
                                          std::span<const FixedView> views);

}  // namespace quadtile::shadow
