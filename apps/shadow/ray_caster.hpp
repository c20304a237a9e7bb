// Shadows by casting rays from the points of a depth buffer to the lights: what shadow maps are
// measured against.

#pragma once

#include "shaders/rays.h"
#include "targets.hpp"

#include <span>

namespace quadtile::shadow {

// The frame as the shader takes it. Rays begin above the surface, by so much that they never meet
// the surface that they come from, and by so little that they meet all that shadows it:
//
// - Where a triangle is drawn, its corners have been rounded to 1/256 pixel, its depth was
//   interpolated and rounded to 24 digits. So the point of a pixel's depth lies off the plane by up
//   to 1/512 of a pixel's width there; rays begin 1/128 of it, and 2^-18 of the distance, above.
// - Coordinates are rounded to 24 digits: 2^-18 of `largest_coordinate` is 64 times that.
//
// On a picture of 1920 x 1080, 50 units away in a scene of 40 units: 0.9 mm where a unit is a
// metre.
[[nodiscard]] RayFrame make_ray_frame(const FrameSettings& settings, vk::Extent2D extent,
                                      std::span<const ShadowProjection> projections,
                                      float largest_coordinate);

class RayCaster {
 public:
    // Builds a hierarchy of bounding volumes on the host, and copies it to the device. Throws
    // std::runtime_error where a buffer of the device has no room for it.
    RayCaster(app::Gpu& gpu, const Geometry& geometry);
    // Another one, as where something has moved. What was recorded must have executed.
    void set_geometry(const Geometry& geometry);

    // After Renderer::record_depth of the same settings, with the clip spaces of
    // Renderer::projections: casts a ray from each pixel's point to each light, and `samples` (at
    // most MOST_SAMPLES) to the disc of each of the first four with Filter::soft. Before and after
    // as Targets says. The recording before must have executed. Another extent waits for the
    // device.
    static constexpr std::uint32_t MOST_SAMPLES = 64;  // lavapipe ends long loops
    void record(vk::CommandBuffer commands, const Targets& targets, const FrameSettings& settings,
                std::span<const ShadowProjection> projections, std::uint32_t samples = 16);
    // As Targets::mask: valid for pictures of the extent that was recorded last.
    [[nodiscard]] const app::Image& mask() const { return mask_; }
    // As Targets::light; of hard shadows where the frame's filter is not soft.
    [[nodiscard]] const app::Image& light() const { return light_; }

 private:
    void prepare_images(vk::CommandBuffer commands, vk::Extent2D extent);

    app::Gpu& gpu_;
    float largest_coordinate_ = 0.0F;
    app::Buffer nodes_;
    app::Buffer triangles_;
    app::Buffer frame_;
    app::ProgramInterface interface_;
    vk::UniquePipeline cast_;
    app::Image mask_;
    app::Image light_;
};

}  // namespace quadtile::shadow
