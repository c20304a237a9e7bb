// A scene whose depth buffers are made by formula: spheres on a plane, seen by a camera that
// wanders.

#pragma once

#include "scene.hpp"

#include <limits>
#include <vector>

namespace quadtile::test {

// A pinhole at `eye`; reversed depths, 1 at NEAREST, 0 at infinity.
struct Pinhole {
    Point eye;
    Point target;
    double tangent = 0.7;  // of half the horizontal field
    std::uint32_t width = 96;
    std::uint32_t height = 54;

    [[nodiscard]] Camera camera() const {
        const double aspect = static_cast<double>(width) / height;
        return camera_at(eye, target, tangent / aspect, aspect);
    }
    [[nodiscard]] ShadowView view() const { return camera().view; }

    // Through the centre of a pixel; its part along forward() is 1.
    [[nodiscard]] Point ray(std::uint32_t x, std::uint32_t y) const {
        const auto [view, at, forward, right, down, is_parallel] = camera();
        const double across = tangent * (2.0 * (x + 0.5) / width - 1.0);
        const double downwards = tangent * height / width * (2.0 * (y + 0.5) / height - 1.0);
        return forward + across * right + downwards * down;
    }
};

// The plane y = 0 as far as 60, and balls on it.
inline double distance_along(const Point& eye, const Point& ray) {
    double nearest = std::numeric_limits<double>::infinity();
    if (ray[1] < 0.0) {
        const double t = -eye[1] / ray[1];
        const Point at = eye + t * ray;
        if (dot(at, at) < 60.0 * 60.0) {
            nearest = t;
        }
    }
    for (int i = 0; i < 12; ++i) {
        const double radius = 0.5 + 0.3 * (i % 4);
        const Point centre{8.0 * std::cos(2.3 * i), radius, 8.0 * std::sin(1.7 * i) - 2.0};
        const Point to = centre - eye;
        const double b = dot(ray, to);
        const double a = dot(ray, ray);
        const double root = b * b - a * (dot(to, to) - radius * radius);
        if (root > 0.0) {
            const double t = (b - std::sqrt(root)) / a;
            nearest = t > 0.0 && t < nearest ? t : nearest;
        }
    }
    return nearest;
}

// Row by row; 0 where there is nothing.
inline std::vector<float> depth_buffer(const Pinhole& camera) {
    std::vector<float> depth;
    for (std::uint32_t y = 0; y < camera.height; ++y) {
        for (std::uint32_t x = 0; x < camera.width; ++x) {
            depth.push_back(
                static_cast<float>(NEAREST / distance_along(camera.eye, camera.ray(x, y))));
        }
    }
    return depth;
}

// Where the camera is in a frame: it walks in a circle and looks ahead.
inline Pinhole camera_of_frame(int frame) {
    const double angle = 0.02 * frame;
    Pinhole camera;
    camera.eye = {6.0 * std::cos(angle), 1.7, 6.0 * std::sin(angle)};
    camera.target = {4.0 * std::cos(angle + 1.0), 0.8, 4.0 * std::sin(angle + 1.0)};
    return camera;
}

inline ShadowBox spheres_box() {
    return {{-60.0F, 0.0F, -60.0F}, {60.0F, 3.0F, 60.0F}};
}

// An atlas without casters of shadows.
inline std::vector<float> empty_atlas(const ShadowOptions& options) {
    return std::vector<float>(std::size_t{options.atlas_extent} * options.atlas_extent,
                              std::numeric_limits<float>::max());
}

// Tiles for depth buffers as small: the least that there are.
inline ShadowOptions with_small_tiles(ShadowOptions options) {
    options.tile_extent = 64;
    options.gutter = 1;
    return options;
}

}  // namespace quadtile::test
