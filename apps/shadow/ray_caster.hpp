// Hard shadows by casting rays from the points of a depth buffer to the lights: what shadow maps
// are measured against.

#pragma once

#include "geometry.hpp"
#include "gpu.hpp"
#include "renderer.hpp"

#include <memory>
#include <span>

namespace quadtile::shadow {

// How two masks differ (Pictures::mask), over the pixels with surfaces.
struct MaskDifference {
    std::uint32_t surface_pixels = 0;
    std::uint32_t wrong = 0;             // where any light differs
    std::uint32_t wrongly_lit = 0;       // lit in the mask, not by rays, of any light
    std::uint32_t wrongly_shadowed = 0;  // the other way round
};

class RayCaster {
 public:
    // Builds a hierarchy of bounding volumes on the host, and copies it to the device. Throws
    // std::runtime_error where a buffer of the device has no room for it.
    RayCaster(app::Gpu& gpu, const Geometry& geometry);
    ~RayCaster();
    RayCaster(const RayCaster&) = delete;
    RayCaster& operator=(const RayCaster&) = delete;

    // After Renderer::record_depth of the same settings, with the clip spaces of
    // Renderer::projections: casts a ray from each pixel's point to each light. Before and after as
    // Pictures says. Of the recordings that were made before, two at most may not have executed;
    // another extent waits for the device.
    void record(vk::CommandBuffer commands, const Pictures& pictures, const FrameSettings& settings,
                std::span<const ShadowProjection> projections);
    // Its mask, as Pictures::mask: valid for pictures of the extent that was recorded last.
    [[nodiscard]] vk::ImageView mask() const;
    [[nodiscard]] vk::Image mask_image() const;

    // Records the comparison of a renderer's mask with its own, after Renderer::record_shadows;
    // difference() is that of the comparison that has executed last.
    void record_comparison(vk::CommandBuffer commands, const Pictures& pictures);
    [[nodiscard]] MaskDifference difference() const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile::shadow
