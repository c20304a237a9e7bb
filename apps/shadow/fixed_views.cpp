#include "fixed_views.hpp"

#include "cascades.hpp"

#include <glm/gtc/type_ptr.hpp>
#include <glm/matrix.hpp>
#include <glm/trigonometric.hpp>
#include <glm/vec4.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace quadtile::shadow {

namespace {

void add_cascades(std::vector<FixedView>& views, std::uint32_t light) {
    for (std::uint32_t i = 0; i < CASCADES; ++i) {
        views.push_back({.light = light});
    }
}

// Columns and rows of rectangles.
void share_out(std::vector<FixedView>& views, std::uint32_t extent) {
    const auto count = static_cast<std::uint32_t>(views.size());
    const auto columns =
        static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    const std::uint32_t rows = (count + columns - 1) / columns;
    for (std::uint32_t i = 0; i < count; ++i) {
        views[i].width = extent / columns;
        views[i].height = extent / rows;
        views[i].x = i % columns * views[i].width;
        views[i].y = i / columns * views[i].height;
    }
}

// The projection of a spot, which leaves the edges free.
void fit_spot(FixedView& view, const Light& light, const ShadowProjection& projection) {
    view.clip_from_world = glm::make_mat4(projection.clip_from_world.data());
    const glm::vec2 texels(static_cast<float>(view.width), static_cast<float>(view.height));
    const glm::vec2 inside = 1.0F - 2.0F * static_cast<float>(EDGE_TEXELS) / texels;
    for (int column = 0; column < 4; ++column) {
        view.clip_from_world[column][0] *= inside.x;
        view.clip_from_world[column][1] *= inside.y;
    }
    const float size = 2.0F * std::tan(glm::radians(0.5F * light.angle_degrees));
    view.texel_extent = size / std::min(inside.x * texels.x, inside.y * texels.y);
}

}  // namespace

std::vector<FixedView> fixed_views(const FrameSettings& settings,
                                   std::span<const ShadowProjection> projections,
                                   const ShadowBox& bounds, float aspect, std::uint32_t extent) {
    std::vector<FixedView> views;
    for (std::uint32_t i = 0; i < settings.lights.size(); ++i) {
        if (settings.technique != Technique::single &&
            settings.lights[i].kind == Light::Kind::sun) {
            add_cascades(views, i);
        } else {
            views.push_back({.light = i});
        }
    }
    share_out(views, extent);

    const Corners scene = corners_of(bounds);
    const bool is_stable = settings.technique == Technique::stable_cascades;
    const Splits splits =
        is_stable ? stable_splits(scene) : tight_splits(settings.camera, aspect, scene);
    std::uint32_t cascade = 0;
    for (FixedView& view : views) {
        const Light& light = settings.lights[view.light];
        view.farthest = std::numeric_limits<float>::max();
        if (light.kind == Light::Kind::spot) {
            fit_spot(view, light, projections[view.light]);
        } else if (settings.technique == Technique::single) {
            set_parallel(view, smallest_map(light.direction, scene), scene);
        } else {
            const Slice slice{settings.camera, aspect, splits[cascade], splits[cascade + 1]};
            const ParallelMap map = is_stable ? stable_map(smallest_map(light.direction, scene),
                                                           slice, {view.width, view.height})
                                              : tight_map(light.direction, slice, scene);
            set_parallel(view, map, scene);
            cascade = (cascade + 1) % CASCADES;
            if (cascade != 0) {
                view.farthest = static_cast<float>(splits[cascade]);
            }
        }
    }
    return views;
}

std::vector<IndexRange> visible_ranges(std::span<const ShadowObject> clusters,
                                       const glm::mat4& clip_from_world) {
    const glm::mat4 rows = glm::transpose(clip_from_world);
    const std::array planes{rows[3] + rows[0], rows[3] - rows[0], rows[3] + rows[1],
                            rows[3] - rows[1], rows[3] - rows[2]};
    // Of the corner that is farthest in.
    const auto is_outside = [](const ShadowObject& box, const glm::vec4& plane) {
        return plane.x * (plane.x > 0.0F ? box.high[0] : box.low[0]) +
                   plane.y * (plane.y > 0.0F ? box.high[1] : box.low[1]) +
                   plane.z * (plane.z > 0.0F ? box.high[2] : box.low[2]) + plane.w <
               0.0F;
    };
    std::vector<IndexRange> ranges;
    for (const ShadowObject& cluster : clusters) {
        if (std::ranges::any_of(
                planes, [&](const glm::vec4& plane) { return is_outside(cluster, plane); })) {
            continue;
        }
        if (!ranges.empty() && ranges.back().first + ranges.back().count == cluster.first_index) {
            ranges.back().count += cluster.index_count;
        } else {
            ranges.push_back({cluster.first_index, cluster.index_count});
        }
    }
    return ranges;
}

}  // namespace quadtile::shadow
