// Render passes, images, buffers and descriptors of a renderer, for a scene, an extent and options.

#pragma once

#include "lights.hpp"
#include "moving_boxes.hpp"
#include "shaders/frame.h"

#include <quadtile/shadow.hpp>

#include <optional>
#include <span>
#include <vector>

namespace quadtile::shadow {

enum class Filter {
    hard,  // the nearest texel
    box,   // 3 x 3 texels
    soft,  // as wide as the penumbra of a light with an extent
};

// Input of a frame; it may change from frame to frame at no cost.
struct FrameSettings {
    Camera camera;
    float second = 0.0F;                 // of moving boxes
    bool has_leaves = true;              // triangles with holes are drawn
    std::vector<Light> lights{Light{}};  // with as many layers as ShadowOptions::lights
    Filter filter = Filter::box;
    bool shows_tiles = false;  // in the colours of their levels, texels as a grid
};

constexpr vk::Format DEPTH_FORMAT = vk::Format::eD32Sfloat;
constexpr vk::Format ALBEDO_FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Format NORMAL_FORMAT = vk::Format::eR16G16B16A16Sfloat;

// ---- Render passes and vertices for drawing with a depth buffer

// Makes the pass of the camera's view: depth, albedo, normals, all cleared. It leaves them in the
// layouts of Targets, visible to COMPUTE_SHADER / SHADER_READ.
[[nodiscard]] vk::UniqueRenderPass make_surface_pass(vk::Device device);

// Makes the pass for depths of shadow maps, cleared or kept. It leaves the image, and if kept
// expects it, in DEPTH_STENCIL_READ_ONLY_OPTIMAL, and makes it visible to COMPUTE_SHADER and
// FRAGMENT_SHADER / SHADER_READ. Earlier reads must be ordered before COMPUTE_SHADER.
enum class AtlasContents { cleared, kept };
[[nodiscard]] vk::UniqueRenderPass make_atlas_pass(vk::Device device, AtlasContents contents);

// Vertex input for DrawState, with 1: Vertex::position; 2: colour, too.
[[nodiscard]] vk::PipelineVertexInputStateCreateInfo vertices_with(std::uint32_t attributes);

// ---- Resources

struct SceneBuffers {
    SceneBuffers(app::Gpu& gpu, const Geometry& geometry);

    app::Buffer vertices;
    app::Buffer indices;
    app::Buffer mask_vertices;
    app::Buffer masks;
    app::Buffer mask_bits;
    std::uint32_t masked_clusters;  // the first ones
    app::Buffer objects;            // of static clusters, the first ones
    std::uint32_t static_clusters;
    ShadowChange leaves;  // if triangles with holes come or go
    std::uint32_t change_capacity;
    app::Buffer changes;  // that, then those of moving boxes
    app::Buffer change_count;
    std::optional<MovingBoxes> moving;
    std::vector<ShadowObject> clusters;
    ShadowBox bounds;
};

struct TargetPasses {
    vk::RenderPass surfaces;
    vk::RenderPass atlas;
};

// D32_SFLOAT, SAMPLED, DEPTH_STENCIL_READ_ONLY_OPTIMAL.
struct Atlas {
    Atlas(const app::Gpu& gpu, std::uint32_t extent, vk::RenderPass pass);

    app::Image image;
    vk::UniqueFramebuffer framebuffer;
};

// Targets of frames. Images that no render pass clears are in layout GENERAL; the fitter's memory
// is zeros. Images are written before COMPUTE_SHADER / SHADER_READ after a frame.
struct Targets {
    Targets(app::Gpu& gpu, const quadtile::Device& device, const SceneBuffers& scene,
            vk::Extent2D extent, const ShadowOptions& options, const TargetPasses& passes);

    app::Gpu& gpu;
    ShadowOptions options;
    vk::Extent2D extent;  // of the picture
    ShadowFitter fitter;
    ShadowFitter::Requirements needed;

    // Images of the picture's extent; GENERAL after a frame, but `depth`:
    // DEPTH_STENCIL_READ_ONLY_OPTIMAL.
    app::Image depth;  // D32_SFLOAT, SAMPLED | TRANSFER_SRC
    app::Image albedo;
    app::Image normals;  // SAMPLED | TRANSFER_SRC: of triangles, towards the camera
    app::Image colour;   // R8G8B8A8_UNORM, sRGB-encoded values; STORAGE | SAMPLED | TRANSFER_SRC
    vk::UniqueFramebuffer surface_framebuffer;

    app::Buffer memory;  // of the fitter
    app::Image importance;
    app::Image page_table;
    Atlas atlas;                           // of static clusters
    std::optional<app::Image> both_atlas;  // if boxes move: R32_SFLOAT, SAMPLED | STORAGE, GENERAL
    app::Buffer draws;
    app::Buffer instances;
    ShadowFitter::Binding binding;
    ShadowFitter::ObjectBinding objects;
    ShadowFitter::ChangeBinding changes;
    // Of moving boxes, if there are some.
    struct Moving {
        Atlas atlas;
        app::Buffer draws;
        ShadowFitter::ObjectBinding objects;
        app::ProgramInterface interface;  // of merge_atlases.comp
    };
    std::optional<Moving> moving;

    app::Buffer drawn_frame;
    app::Buffer header;  // for the host
    vk::UniqueSampler sampler;
    app::ProgramInterface interface;  // of all shaders of a frame

    // The atlas in which shadows are looked up.
    struct LookedUp {
        vk::ImageView view;
        vk::ImageLayout layout;
    };
    [[nodiscard]] LookedUp looked_up() const;
    // Parts of the fitter's memory, for descriptors.
    [[nodiscard]] vk::DescriptorBufferInfo part(vk::DeviceSize offset_bytes,
                                                vk::DeviceSize size_bytes) const {
        return {*memory.handle, offset_bytes, size_bytes};
    }
    [[nodiscard]] vk::DescriptorBufferInfo tiles_part() const {
        return part(needed.tiles_offset_bytes, options.max_tiles * sizeof(ShadowTile));
    }
    [[nodiscard]] vk::DescriptorBufferInfo render_part() const {
        return part(needed.render_offset_bytes, options.max_tiles * sizeof(std::uint32_t));
    }

 private:
    [[nodiscard]] Moving make_moving(const SceneBuffers& scene, const TargetPasses& passes) const;
    void write_descriptors(const SceneBuffers& scene);
    void record_first_contents(vk::CommandBuffer commands) const;
};

// Push constants of the vertex shaders.
struct Viewpoint {
    glm::mat4 clip_from_world;
    glm::vec4 camera_position;
};

// Returns the input of a frame's shaders.
[[nodiscard]] DrawnFrame make_drawn_frame(const FrameSettings& settings, const Targets& targets);

}  // namespace quadtile::shadow
