#include "session.hpp"

#include "process.hpp"

#include <glm/gtc/type_ptr.hpp>
#include <glm/vec4.hpp>

#include <algorithm>
#include <iostream>

namespace quadtile::shadow {

namespace {

using PipelineStage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

vk::Extent2D picture_extent_of(vk::Extent2D target, Display display) {
    return {display == Display::sides ? std::max(1U, target.width / 2) : target.width,
            target.height};
}

Picture picture_of(Display display) {
    switch (display) {
        case Display::tiles:
            return Picture::tiles;
        case Display::error:
            return Picture::error;
        case Display::shaded:
        case Display::sides:
            break;
    }
    return Picture::shaded;
}

// The city's walls and roofs have room there; its light map is not used.
constexpr baker::Extent CITY_EXTENT{16384, 16384};

Light make_sun(const Options& options, const baker::Scene& scene) {
    Light sun{.nearest_extent = options.nearest_extent,
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

// ---- What is shown

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
    return options.camera ? *options.camera : show.flight.at(options.flight_second);
}

// ---- On a device

Session::Session(app::Gpu& gpu, const Show& show, vk::RenderPass render_pass, vk::Extent2D target,
                 const Options& options)
    : gpu_(gpu),
      show_(show),
      device_(quadtile::Device::adopt(gpu.for_quadtile({}))),
      display_(options.display),
      renderer_(gpu, device_, show.geometry, picture_extent_of(target, options.display),
                options.shadows),
      compositor_(gpu, render_pass) {}

void Session::configure(vk::Extent2D target, Display display, const ShadowOptions& shadows) {
    const vk::Extent2D extent = picture_extent_of(target, display);
    if (extent != renderer_.targets().extent || shadows != renderer_.targets().options) {
        is_bound_ = false;
        renderer_.configure(extent, shadows);
    }
    display_ = display;
}

void Session::draw(FrameSettings settings) {
    if (shows_errors() && !rays_) {
        rays_ = std::make_unique<RayCaster>(gpu_, show_.geometry);
        is_bound_ = false;
    }
    if (shows_errors() && !show_.geometry.moving.empty()) {
        Geometry geometry = show_.geometry;
        move_vertices(geometry, settings.second);
        rays_->set_geometry(geometry);
    }
    settings.picture = picture_of(display_);
    gpu_.run([&](vk::CommandBuffer commands) {
        // The window may still be reading the last picture.
        app::memory_barrier(commands, {PipelineStage::eFragmentShader, Access::eShaderRead},
                            {PipelineStage::eAllCommands, Access::eMemoryWrite});
        record(commands, settings);
        app::memory_barrier(commands, {PipelineStage::eAllCommands, Access::eMemoryWrite},
                            {PipelineStage::eFragmentShader, Access::eShaderRead});
    });
    if (!is_bound_) {
        compositor_.set_source(renderer_.targets(), shows_errors() ? rays_.get() : nullptr);
        is_bound_ = true;
    }
    statistics_ = {.atlas_cells = shadow_atlas_cells(shadow_parameters(shadows())),
                   .max_tiles = shadows().max_tiles,
                   .timings = renderer_.timings()};
    if (settings.technique == Technique::fitted) {
        statistics_.header = renderer_.header();
    }
    if (shows_errors()) {
        statistics_.difference = rays_->difference();
    }
}

void Session::record(vk::CommandBuffer commands, const FrameSettings& settings) {
    if (!shows_errors()) {
        renderer_.record(commands, settings);
        return;
    }
    renderer_.record_depth(commands, settings);
    rays_->record(commands, renderer_.targets(), settings, renderer_.projections(settings));
    renderer_.record_shadows(commands, settings, *rays_->mask().view);
    rays_->record_comparison(commands, renderer_.targets());
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
    compositor_.draw(commands, target, display_, shown);
}

}  // namespace quadtile::shadow
