// Ray-cast shadows from the points of a depth buffer to the lights: the reference for shadow maps.

#pragma once

#include "shaders/rays.h"
#include "targets.hpp"

#include <span>

namespace quadtile::shadow {

// Makes the frame for the shader. Rays begin above the surface, high enough that they never meet
// it, and low enough that they meet all its casters:
//
// - A drawn triangle's corners are rounded to 1/256 pixel, its depth is interpolated and rounded to
//   24 digits. So the point of a pixel's depth lies off the plane by up to 1/512 of the pixel's
//   width there. Rays begin 1/128 of that width, and 2^-18 of the distance, above.
// - Coordinates are rounded to 24 digits: 2^-18 of `largest_coordinate` is 64 times that.
//
// For a picture of 1920 x 1080, 50 units away in a scene of 40 units: 0.9 mm if a unit is a metre.
[[nodiscard]] RayFrame make_ray_frame(const FrameSettings& settings, vk::Extent2D extent,
                                      std::span<const ShadowProjection> projections,
                                      float largest_coordinate);

class RayCaster {
 public:
    // Builds a bounding volume hierarchy on the host, and copies it to the device. Throws
    // std::runtime_error if a buffer of the device is too small for it.
    RayCaster(app::Gpu& gpu, const Geometry& geometry);
    // Replaces the geometry, for example after a move. Earlier recordings must have executed.
    void set_geometry(const Geometry& geometry);

    // Casts a ray from each pixel's point to each light, and `samples` (at most MOST_SAMPLES) to
    // the disc of each of the first four with Filter::soft. Record it after Renderer::record_depth
    // of the same settings, with the clip spaces of Renderer::projections. Before and after as in
    // Targets. The last recording must have executed. A new extent waits for the device.
    static constexpr std::uint32_t MOST_SAMPLES = 64;  // since lavapipe ends long loops
    void record(vk::CommandBuffer commands, const Targets& targets, const FrameSettings& settings,
                std::span<const ShadowProjection> projections, std::uint32_t samples = 16);
    // As Targets::mask, for pictures of the last recorded extent.
    [[nodiscard]] const app::Image& mask() const { return mask_; }
    // As Targets::light; of hard shadows if the frame's filter is not soft.
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
