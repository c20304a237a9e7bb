#include "compositor.hpp"

#include "quadtile_shadow_program_shaders.hpp"

#include "shaders/composition.h"

#include <glm/common.hpp>

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

namespace {

using Type = vk::DescriptorType;
using Layout = vk::ImageLayout;

Composition composition_on(vk::Extent2D target, const vk::Rect2D& area) {
    return {.target_width = static_cast<float>(target.width),
            .target_height = static_cast<float>(target.height),
            .left = static_cast<float>(area.offset.x),
            .top = static_cast<float>(area.offset.y),
            .width = static_cast<float>(area.extent.width),
            .height = static_cast<float>(area.extent.height)};
}

}  // namespace

Compositor::Compositor(app::Gpu& gpu, vk::RenderPass render_pass)
    : gpu_(gpu),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment,
          {Type::eSampledImage, Type::eStorageImage, Type::eSampledImage, Type::eStorageImage,
           Type::eStorageImage, Type::eStorageBuffer, Type::eSampledImage},
          sizeof(Composition))) {
    const auto pipeline = [&](app::SpirV fragment_shader) {
        return gpu.make_draw_pipeline(*interface_.layout, render_pass,
                                      {app::COMPOSE_VERT, fragment_shader});
    };
    picture_pipeline_ = pipeline(app::COMPOSE_PICTURE_FRAG);
    light_view_pipeline_ = pipeline(app::LIGHT_VIEW_FRAG);
    atlas_pipeline_ = pipeline(app::ATLAS_VIEW_FRAG);
}

void Compositor::set_sources(const Source& source, const Source& other) {
    const Targets& targets = *source.targets;
    gpu_.device().waitIdle();  // a frame may still use the descriptors
    picture_extent_ = targets.extent;
    map_extent_ = targets.options.map_extent;
    atlas_extent_ = targets.options.atlas_extent;
    page_table_ = gpu_.device().createImageViewUnique({.image = *targets.page_table.handle,
                                                       .viewType = vk::ImageViewType::e2DArray,
                                                       .format = vk::Format::eR32Uint,
                                                       .subresourceRange = app::COLOUR_RANGE});
    has_other_ = other.targets != nullptr;
    const auto write = [&](std::uint32_t binding, const Source& shown) {
        const app::Image& marks =
            shown.comparison == nullptr ? shown.targets->mask : shown.comparison->marks();
        interface_.write(binding, *shown.targets->colour.view, Layout::eGeneral);
        interface_.write(binding + 1, *marks.view, Layout::eGeneral);
    };
    write(0, source);
    write(2, has_other_ ? other : source);
    interface_.write(4, *page_table_, Layout::eGeneral);
    interface_.write(5, vk::DescriptorBufferInfo{
                            *targets.memory.handle, targets.needed.tiles_offset_bytes,
                            vk::DeviceSize{targets.options.max_tiles} * sizeof(ShadowTile)});
    interface_.write(6, *targets.atlas.view, Layout::eDepthStencilReadOnlyOptimal);
}

void Compositor::draw(vk::CommandBuffer commands, vk::Extent2D target, Display display,
                      const Insets& insets) const {
    commands.setViewport(0, vk::Viewport{.width = static_cast<float>(target.width),
                                         .height = static_cast<float>(target.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, vk::Rect2D{.extent = target});
    const auto draw_one = [&](const vk::UniquePipeline& pipeline, const Composition& composition) {
        interface_.bind(commands, *pipeline, composition);
        commands.draw(4, 1, 0, 0);
    };
    Composition picture = composition_on(target, {.extent = picture_extent_});
    picture.shown_extent = 1.0F;
    picture.marks = display == Display::error ? 1 : 0;
    draw_one(picture_pipeline_, picture);
    const float line =
        std::round(std::clamp(insets.wipe, 0.0F, 1.0F) * static_cast<float>(picture_extent_.width));
    if (display == Display::sides) {
        picture.left = static_cast<float>(picture_extent_.width);
        picture.marks = 1;
        draw_one(picture_pipeline_, picture);
    } else if (has_other_ && line < picture.width) {
        picture.left = line;
        picture.width -= line;
        picture.shown_x = line;
        picture.layer = 1;
        draw_one(picture_pipeline_, picture);
    }
    if (insets.magnifier) {
        const Magnifier& magnifier = *insets.magnifier;
        Composition part = composition_on(target, magnifier.area);
        part.marks = display == Display::error || display == Display::sides ? 1 : 0;
        part.layer = has_other_ && magnifier.centre.x >= line ? 1 : 0;
        part.shown_extent = 1.0F / magnifier.zoom;
        part.shown_x = magnifier.centre.x + 0.5F - 0.5F * part.width * part.shown_extent;
        part.shown_y = magnifier.centre.y + 0.5F - 0.5F * part.height * part.shown_extent;
        draw_one(picture_pipeline_, part);
    }
    if (insets.light_view) {
        Composition view = composition_on(target, *insets.light_view);
        view.extent = map_extent_;
        view.layer = insets.light;
        view.shown_extent = 1.0F / insets.zoom;
        const glm::vec2 corner =
            glm::clamp(insets.centre - 0.5F * view.shown_extent, 0.0F, 1.0F - view.shown_extent);
        view.shown_x = corner.x;
        view.shown_y = corner.y;
        view.marks = insets.shows_changes ? 1 : 0;
        draw_one(light_view_pipeline_, view);
    }
    if (insets.atlas) {
        Composition view = composition_on(target, *insets.atlas);
        view.extent = atlas_extent_;
        draw_one(atlas_pipeline_, view);
    }
}

}  // namespace quadtile::shadow
