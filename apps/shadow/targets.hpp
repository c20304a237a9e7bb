// The images, buffers and descriptors of a renderer: those of the scene, and those that follow from
// the picture's extent and the options.

#pragma once

#include "geometry.hpp"
#include "gpu.hpp"
#include "renderer.hpp"

#include <quadtile/shadow.hpp>

#include <span>
#include <vector>

namespace quadtile::shadow {

// A geometry on the device.
struct SceneBuffers {
    SceneBuffers(app::Gpu& gpu, const Geometry& geometry);

    app::Buffer vertices;
    app::Buffer indices;
    app::Buffer objects;
    std::vector<ShadowObject> clusters;
    ShadowBox bounds;
};

// The shapes of the descriptors that all shaders share; set 1 is the reference of Picture::error.
[[nodiscard]] std::vector<vk::DescriptorSetLayoutBinding> frame_bindings();
[[nodiscard]] std::vector<vk::DescriptorSetLayoutBinding> reference_bindings();

struct TargetPasses {
    vk::RenderPass surfaces;
    vk::RenderPass atlas;
};

// What no render pass clears is in layout GENERAL, the fitter's memory is zeros.
struct Targets {
    Targets(app::Gpu& gpu, const quadtile::Device& device, const SceneBuffers& scene,
            vk::Extent2D extent, const ShadowOptions& options, const TargetPasses& passes);

    // For Picture::error; waits for the device where it is another one. None: a mask that nobody
    // looks at.
    void set_reference(vk::ImageView reference);

    app::Gpu& gpu;
    ShadowOptions options;
    vk::Extent2D extent;
    ShadowFitter fitter;
    ShadowFitter::Requirements needed;

    app::Image depth;
    app::Image albedo;
    app::Image normals;
    app::Image colour;
    app::Image mask;
    vk::UniqueFramebuffer surface_framebuffer;

    app::Buffer memory;  // of the fitter
    app::Image importance;
    app::Image page_table;
    app::Image atlas;
    vk::UniqueFramebuffer atlas_framebuffer;
    app::Buffer draws;
    app::Buffer instances;
    ShadowFitter::Binding binding;
    ShadowFitter::ObjectBinding objects;

    app::Buffer drawn_frame;
    app::Buffer header;  // for the host
    vk::UniqueSampler sampler;
    app::Descriptors descriptors;
    app::Descriptors reference_descriptors;
    Pictures pictures;

 private:
    void write_descriptors();
    void record_first_contents(vk::CommandBuffer commands) const;

    vk::ImageView reference_;
};

}  // namespace quadtile::shadow
