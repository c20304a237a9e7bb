#include "show.hpp"

#include "message_line.hpp"

#include <algorithm>
#include <iostream>

namespace quadtile::shadow {

namespace {

// The city's walls and roofs have room there; its light map is not used.
constexpr baker::Extent CITY_EXTENT{16384, 16384};

Light make_sun(const Options& options, const baker::Scene& scene) {
    Light sun;
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

}  // namespace

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
    show.lights = {make_sun(options, loaded.scene)};
    show.lights.insert(show.lights.end(), options.spots.begin(), options.spots.end());
    show.warnings = std::move(loaded.warnings);
    for (const std::string& warning : show.warnings) {
        std::cerr << app::message_line("quadtile-shadow: warning", warning) << std::endl;
    }
    show.files = std::move(loaded.files);
    return show;
}

Camera first_camera(const Options& options, const Show& show) {
    return options.camera ? *options.camera : show.flight.at(options.flight_second);
}

}  // namespace quadtile::shadow
