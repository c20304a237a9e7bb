#include "session.hpp"

#include "process.hpp"

#include <glm/gtc/type_ptr.hpp>
#include <glm/vec4.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <tuple>

namespace quadtile::shadow {

namespace {

using PipelineStage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

vk::Extent2D picture_extent_of(vk::Extent2D target, Display display) {
    return {display == Display::sides ? std::max(1U, target.width / 2) : target.width,
            target.height};
}

// The city's walls and roofs have room there; its lightmap is not used.
constexpr baker::Extent CITY_EXTENT{16384, 16384};

Light make_sun(const Options& options, const baker::Scene& scene) {
    Light sun{.radius = options.sun_radius_degrees,
              .nearest_extent = options.nearest_extent,
              .levels = options.nearest_extent > 0.0F ? options.levels : 1};
    if (options.sun) {
        sun.direction = *options.sun;
    } else if (!scene.suns.empty()) {
        const baker::Sun& first = scene.suns.front();
        const glm::vec3& colour = first.irradiance;
        const float brightest = std::max({colour.r, colour.g, colour.b});
        sun.direction = first.direction;
        if (brightest > 0.0F) {
            sun.colour = colour / brightest;
        }
    }
    return sun;
}

// On both sides of the flight, a little below it, out of the camera's way.
void add_moving_boxes(Show& show, std::uint32_t count) {
    const float size =
        0.005F * glm::distance(low_of(show.geometry.bounds), high_of(show.geometry.bounds));
    for (std::uint32_t i = 0; i < count; ++i) {
        const float part = (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
        const Camera camera = show.flight.at(part * show.flight.seconds());
        const glm::vec3 right = glm::normalize(glm::cross(camera.forward(), {0.0F, 1.0F, 0.0F}));
        const float sideways = (i / 2 % 2 == 0 ? 1.0F : -1.0F) * (3.0F + static_cast<float>(i % 5));
        add_moving_box(show.geometry,
                       camera.position + size * (sideways * right - glm::vec3(0.0F, 1.0F, 0.0F)),
                       size);
    }
}

}  // namespace

// ---- Shows

Show load_show(const Options& options) {
    baker::LoadedScene loaded;
    Show show;
    if (options.scene.empty()) {
        loaded.scene = baker::city_scene(options.city_triangles, CITY_EXTENT);
        show.name = "city";
    } else {
        loaded = baker::load_scene(options.scene, baker::LightMapCoordinates::ignore);
        app::check_files(file_arguments(options), loaded.files);
        show.name = options.scene.filename().string();
    }
    show.geometry = make_geometry(loaded.scene);
    show.flight = options.scene.empty() ? city_flight(show.geometry.bounds)
                                        : flight_for(options.scene, show.geometry.bounds);
    add_moving_boxes(show, options.moving);
    show.lights = {make_sun(options, loaded.scene)};
    show.lights.insert(show.lights.end(), options.spots.begin(), options.spots.end());
    show.warnings = std::move(loaded.warnings);
    if (!loaded.scene.point_lights.empty()) {
        show.warnings.push_back(
            std::to_string(loaded.scene.point_lights.size()) +
            " point and spot lights of the scene ignored: give --spot or --point-light");
    }
    for (const std::string& warning : show.warnings) {
        std::cerr << app::message_line("quadtile-shadow: warning", warning) << std::endl;
    }
    show.files = std::move(loaded.files);
    return show;
}

Camera first_camera(const Options& options, const Show& show) {
    if (options.camera) {
        return *options.camera;
    }
    const bool is_on_flight = options.at || options.flies || !options.record.empty();
    return is_on_flight ? show.flight.at(options.at.value_or(0.0F))
                        : aerial_view(show.geometry.bounds);
}

// ---- On a device

Session::Session(app::Gpu& gpu, const Show& show, vk::RenderPass render_pass, vk::Extent2D target,
                 const Options& options)
    : gpu_(gpu),
      show_(show),
      device_(quadtile::Device::adopt(gpu.for_quadtile({}))),
      shown_{.display = options.display},
      renderer_(gpu, device_, show.geometry, picture_extent_of(target, options.display),
                options.shadows),
      comparison_(gpu),
      other_comparison_(gpu),
      compositor_(gpu, render_pass) {}

void Session::configure(vk::Extent2D target, const Shown& shown, const ShadowOptions& shadows) {
    const vk::Extent2D extent = picture_extent_of(target, shown.display);
    if (extent != renderer_.targets().extent || shadows != renderer_.targets().options) {
        is_bound_ = false;
        renderer_.configure(extent, shadows);
    }
    if (other_ && (extent != other_->targets().extent || shadows != other_->targets().options)) {
        is_bound_ = false;
        other_->configure(extent, shadows);
    }
    shown_ = shown;
    if (shown.display == Display::sides) {
        shown_.other.reset();
    }
}

// Makes the resources that the frame is the first to need.
void Session::prepare(const FrameSettings& settings) {
    const bool needs_rays =
        shows_errors() || settings.technique == Technique::rays || shown_.other == Technique::rays;
    if (needs_rays && !rays_) {
        rays_ = std::make_unique<RayCaster>(gpu_, show_.geometry);
        is_bound_ = false;
    }
    if (shown_.other.has_value() != (other_ != nullptr)) {
        gpu_.device().waitIdle();  // a window may still show it
        other_ = shown_.other ? std::make_unique<Renderer>(gpu_, device_, show_.geometry,
                                                           renderer_.targets().extent, shadows())
                              : nullptr;
        is_bound_ = false;
    }
    if (needs_rays && !show_.geometry.moving.empty()) {
        Geometry geometry = show_.geometry;
        move_vertices(geometry, settings.second);
        rays_->set_geometry(geometry);
    }
    const vk::DeviceSize size_bytes = vk::DeviceSize{shadows().max_tiles} * sizeof(ShadowTile);
    if (read_tiles_.size_bytes != size_bytes) {
        read_tiles_ = gpu_.make_buffer(size_bytes, vk::BufferUsageFlagBits::eTransferDst,
                                       app::MemoryUse::readback);
    }
}

void Session::draw(FrameSettings settings, std::uint32_t samples, std::uint32_t mark_pixels) {
    prepare(settings);
    settings.picture = shown_.display == Display::tiles ? Picture::tiles : Picture::shaded;
    const auto marks = [this] {
        const app::Image& first = comparison_.marks();
        const app::Image& other = other_comparison_.marks();
        return std::tuple(*first.handle, first.extent, *other.handle, other.extent);
    };
    const auto marks_before = marks();
    gpu_.run([&](vk::CommandBuffer commands) {
        // The window may still be reading the last picture.
        app::memory_barrier(commands, {PipelineStage::eFragmentShader, Access::eShaderRead},
                            {PipelineStage::eAllCommands, Access::eMemoryWrite});
        record(commands, settings, samples, mark_pixels);
        app::memory_barrier(commands, {PipelineStage::eAllCommands, Access::eMemoryWrite},
                            {PipelineStage::eFragmentShader, Access::eShaderRead});
    });
    if (!is_bound_ || marks() != marks_before) {
        compositor_.set_sources(
            {&renderer_.targets(), comparison_.marks().handle ? &comparison_ : nullptr},
            {other_ ? &other_->targets() : nullptr,
             other_comparison_.marks().handle ? &other_comparison_ : nullptr});
        is_bound_ = true;
    }
    read_statistics(settings);
}

void Session::record(vk::CommandBuffer commands, const FrameSettings& settings,
                     std::uint32_t samples, std::uint32_t mark_pixels) {
    renderer_.record_depth(commands, settings);
    vk::ImageView traced_light;
    if (rays_ && (shows_errors() || settings.technique == Technique::rays ||
                  shown_.other == Technique::rays)) {
        rays_->record(commands, renderer_.targets(), settings, renderer_.projections(settings),
                      samples);
        traced_light = *rays_->light().view;
    }
    renderer_.record_shadows(commands, settings, traced_light);
    if (shows_errors()) {
        comparison_.record(commands, renderer_.targets(), *rays_, mark_pixels);
    }
    if (settings.technique == Technique::fitted) {
        record_tiles(commands);
    }
    if (other_) {
        FrameSettings other = settings;
        other.technique = *shown_.other;
        other.marked_tile.reset();
        other_->record_depth(commands, other);
        other_->record_shadows(commands, other, traced_light);
        if (shows_errors()) {
            other_comparison_.record(commands, other_->targets(), *rays_, mark_pixels);
        }
    }
}

void Session::record_tiles(vk::CommandBuffer commands) const {
    const Targets& targets = renderer_.targets();
    app::memory_barrier(commands, app::ALL_WRITES,
                        {PipelineStage::eTransfer, Access::eTransferRead});
    commands.copyBuffer(*targets.memory.handle, *read_tiles_.handle,
                        vk::BufferCopy{.srcOffset = targets.needed.tiles_offset_bytes,
                                       .size = read_tiles_.size_bytes});
    app::memory_barrier(commands, {PipelineStage::eTransfer, Access::eTransferWrite},
                        app::HOST_READS);
}

void Session::read_statistics(const FrameSettings& settings) {
    statistics_ = {.atlas_cells = shadow_atlas_cells(shadow_parameters(shadows())),
                   .max_tiles = shadows().max_tiles,
                   .timings = renderer_.timings()};
    tiles_.clear();
    if (settings.technique == Technique::fitted) {
        statistics_.header = renderer_.header();
        tiles_.resize(statistics_.header->tiles);
        if (!tiles_.empty()) {
            std::memcpy(tiles_.data(), read_tiles_.mapped, tiles_.size() * sizeof(ShadowTile));
        }
    }
    tile_ages_.add_frame(shadow_parameters(shadows()), renderer_.shadow_frame(settings), tiles_);
    if (shows_errors()) {
        statistics_.difference = comparison_.difference();
    }
    if (other_) {
        statistics_.other_timings = other_->timings();
        if (shows_errors()) {
            statistics_.other_difference = other_comparison_.difference();
        }
    }
}

// ---- Places

glm::mat4 Session::clip_from_world(const Camera& camera) const {
    const vk::Extent2D extent = picture_extent();
    return camera.clip_from_world(
        static_cast<float>(extent.width) / static_cast<float>(extent.height), CAMERA_NEAREST);
}

// Copies a part of an image of 4 bytes per pixel, which stays in its layout, to a buffer that the
// host reads.
void Session::copy(vk::Image image, vk::ImageLayout layout, vk::ImageAspectFlags aspect,
                   const vk::Rect2D& area, const app::Buffer& target) const {
    constexpr auto SOURCE = vk::ImageLayout::eTransferSrcOptimal;
    const vk::ImageSubresourceRange all{aspect, 0, 1, 0, 1};
    gpu_.run([&](vk::CommandBuffer commands) {
        app::change_layout(commands, image, layout, SOURCE, app::ALL_USES, app::ALL_USES, all);
        commands.copyImageToBuffer(
            image, SOURCE, *target.handle,
            vk::BufferImageCopy{.imageSubresource = {aspect, 0, 0, 1},
                                .imageOffset = {area.offset.x, area.offset.y, 0},
                                .imageExtent = {area.extent.width, area.extent.height, 1}});
        app::change_layout(commands, image, SOURCE, layout, app::ALL_USES, app::ALL_USES, all);
        app::memory_barrier(commands, app::ALL_USES, app::HOST_READS);
    });
}

std::optional<glm::vec3> Session::point_at(const Camera& camera, const glm::uvec2& pixel) const {
    const vk::Extent2D extent = picture_extent();
    if (pixel.x >= extent.width || pixel.y >= extent.height) {
        return std::nullopt;
    }
    const app::Buffer buffer = gpu_.make_buffer(
        sizeof(float), vk::BufferUsageFlagBits::eTransferDst, app::MemoryUse::readback);
    copy(*renderer_.targets().depth.handle, vk::ImageLayout::eDepthStencilReadOnlyOptimal,
         vk::ImageAspectFlagBits::eDepth,
         {{static_cast<std::int32_t>(pixel.x), static_cast<std::int32_t>(pixel.y)}, {1, 1}},
         buffer);
    float depth = 0.0F;
    std::memcpy(&depth, buffer.mapped, sizeof(depth));
    if (depth == 0.0F) {
        return std::nullopt;
    }
    const glm::dvec2 place =
        2.0 * (glm::dvec2(pixel) + 0.5) / glm::dvec2(extent.width, extent.height) - 1.0;
    const glm::dvec4 point =
        glm::inverse(glm::dmat4(clip_from_world(camera))) * glm::dvec4(place, depth, 1.0);
    return glm::vec3(point / point.w);
}

std::optional<glm::vec2> Session::pixel_of(const Camera& camera, const glm::vec3& point) const {
    const glm::vec4 clip = clip_from_world(camera) * glm::vec4(point, 1.0F);
    if (!(clip.w > CAMERA_NEAREST)) {
        return std::nullopt;
    }
    const vk::Extent2D extent = picture_extent();
    return 0.5F * (glm::vec2(clip) / clip.w + 1.0F) * glm::vec2(extent.width, extent.height) - 0.5F;
}

std::vector<ErrorPlace> Session::error_places() const {
    if (!statistics_.difference) {
        return {};
    }
    const vk::Extent2D extent = picture_extent();
    std::vector<std::uint32_t> marks(std::size_t{extent.width} * extent.height);
    const app::Buffer buffer =
        gpu_.make_buffer(marks.size() * sizeof(std::uint32_t),
                         vk::BufferUsageFlagBits::eTransferDst, app::MemoryUse::readback);
    copy(*comparison_.marks().handle, vk::ImageLayout::eGeneral, vk::ImageAspectFlagBits::eColor,
         {{0, 0}, extent}, buffer);
    std::memcpy(marks.data(), buffer.mapped, buffer.size_bytes);
    return shadow::error_places(marks, extent.width);
}

glm::vec2 Session::place_on_map(const FrameSettings& settings, std::uint32_t light,
                                const glm::vec3& point) const {
    const ShadowProjection projection = renderer_.projections(settings).at(light);
    const glm::vec4 clip = glm::make_mat4(projection.clip_from_world.data()) * glm::vec4(point, 1);
    return clip.w > 0.0F ? 0.5F * (glm::vec2(clip) / clip.w + 1.0F) : glm::vec2(0.5F);
}

void Session::compose(vk::CommandBuffer commands, vk::Extent2D target, const Insets& insets) const {
    Insets shown = insets;
    if (!statistics_.header) {
        shown.light_view.reset();  // there are no tiles
    }
    compositor_.draw(commands, target, shown_.display, shown);
}

}  // namespace quadtile::shadow
