#include "compositor.hpp"

#include "quadtile_shadow_program_shaders.hpp"

#include "shaders/composition.h"

#include <glm/common.hpp>

#include <array>

namespace quadtile::shadow {

namespace {

using Type = vk::DescriptorType;
using Layout = vk::ImageLayout;

constexpr auto STAGES = vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment;

Composition composition_on(vk::Extent2D target, const vk::Rect2D& area) {
    return {.target_width = static_cast<float>(target.width),
            .target_height = static_cast<float>(target.height),
            .left = static_cast<float>(area.offset.x),
            .top = static_cast<float>(area.offset.y),
            .width = static_cast<float>(area.extent.width),
            .height = static_cast<float>(area.extent.height)};
}

}  // namespace

Compositor::Compositor(app::Gpu& gpu, vk::RenderPass render_pass) : gpu_(gpu) {
    constexpr auto FRAGMENT = vk::ShaderStageFlagBits::eFragment;
    const std::array<vk::DescriptorSetLayoutBinding, 6> bindings{
        {{0, Type::eSampledImage, 1, FRAGMENT},
         {1, Type::eStorageImage, 1, FRAGMENT},
         {2, Type::eStorageImage, 1, FRAGMENT},
         {3, Type::eStorageImage, 1, FRAGMENT},
         {4, Type::eStorageBuffer, 1, FRAGMENT},
         {5, Type::eSampledImage, 1, FRAGMENT}}};
    descriptors_ = gpu.make_descriptors(bindings);
    const vk::PushConstantRange composition{.stageFlags = STAGES, .size = sizeof(Composition)};
    pipeline_layout_ =
        gpu.device().createPipelineLayoutUnique(vk::PipelineLayoutCreateInfo{}
                                                    .setSetLayouts(*descriptors_.layout)
                                                    .setPushConstantRanges(composition));
    const auto pipeline = [&](app::SpirV fragment_shader) {
        return gpu.make_draw_pipeline(*pipeline_layout_, render_pass,
                                      {app::COMPOSE_VERT, fragment_shader});
    };
    picture_pipeline_ = pipeline(app::COMPOSE_PICTURE_FRAG);
    light_view_pipeline_ = pipeline(app::LIGHT_VIEW_FRAG);
    atlas_pipeline_ = pipeline(app::ATLAS_VIEW_FRAG);
}

void Compositor::set_source(const Renderer& renderer, const RayCaster* rays) {
    gpu_.device().waitIdle();  // a frame may still use the descriptors
    picture_extent_ = renderer.pictures().extent;
    map_extent_ = renderer.options().map_extent;
    atlas_extent_ = renderer.options().atlas_extent;
    page_table_ = gpu_.device().createImageViewUnique({.image = renderer.page_table(),
                                                       .viewType = vk::ImageViewType::e2DArray,
                                                       .format = vk::Format::eR32Uint,
                                                       .subresourceRange = app::COLOUR_RANGE});
    const auto bind = [&](std::uint32_t number, Type type, vk::ImageView view,
                          Layout layout = Layout::eGeneral) {
        app::write_image(gpu_.device(), descriptors_.set, number, type, view, layout);
    };
    const Pictures& pictures = renderer.pictures();
    bind(0, Type::eSampledImage, pictures.colour);
    bind(1, Type::eStorageImage, pictures.mask);
    bind(2, Type::eStorageImage, rays == nullptr ? pictures.mask : rays->mask());
    bind(3, Type::eStorageImage, *page_table_);
    app::write_buffer(
        gpu_.device(), descriptors_.set, 4,
        {renderer.fitter_memory(), renderer.fitter().requirements().tiles_offset_bytes,
         vk::DeviceSize{renderer.options().max_tiles} * sizeof(ShadowTile)});
    bind(5, Type::eSampledImage, renderer.atlas(), Layout::eDepthStencilReadOnlyOptimal);
}

void Compositor::draw(vk::CommandBuffer commands, vk::Extent2D target, Display display,
                      const Insets& insets) const {
    commands.bindDescriptorSets(vk::PipelineBindPoint::eGraphics, *pipeline_layout_, 0,
                                descriptors_.set, {});
    commands.setViewport(0, vk::Viewport{.width = static_cast<float>(target.width),
                                         .height = static_cast<float>(target.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, vk::Rect2D{.extent = target});
    const auto draw_one = [&](const vk::UniquePipeline& pipeline, const Composition& composition) {
        commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *pipeline);
        commands.pushConstants<Composition>(*pipeline_layout_, STAGES, 0, composition);
        commands.draw(4, 1, 0, 0);
    };
    Composition picture = composition_on(target, {.extent = picture_extent_});
    draw_one(picture_pipeline_, picture);
    if (display == Display::sides) {
        picture.left = static_cast<float>(picture_extent_.width);
        picture.marks = 1;
        draw_one(picture_pipeline_, picture);
    }
    if (insets.light_view) {
        Composition view = composition_on(target, *insets.light_view);
        view.extent = map_extent_;
        view.light = insets.light;
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
