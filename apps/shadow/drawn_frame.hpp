// What the shaders of a frame are told (shaders/frame.h).

#pragma once

#include "fixed_views.hpp"
#include "renderer.hpp"
#include "shaders/frame.h"

#include <span>

namespace quadtile::shadow {

// `views` are those of techniques other than the fitted one. Everything of a picture with a
// reference but where the reference is.
[[nodiscard]] DrawnFrame make_drawn_frame(const FrameSettings& settings,
                                          const ShadowOptions& options, vk::Extent2D extent,
                                          const ShadowBox& bounds, std::span<const FixedView> views,
                                          bool has_reference);

}  // namespace quadtile::shadow
