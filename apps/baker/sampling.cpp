#include "sampling.hpp"

#include <cmath>

namespace quadtile::baker {

namespace {

// Two neighbours among `size` texels, and the weight of the second one.
struct Neighbours {
    std::size_t first;
    std::size_t second;
    float weight;
};

Neighbours repeated_neighbours(double coordinate, std::uint32_t size) {
    // The fraction first, because coordinates may be larger than any integer.
    const double position = (coordinate - std::floor(coordinate)) * size + (size - 0.5);
    const double lower = std::floor(position);
    const std::size_t first = static_cast<std::size_t>(lower) % size;
    return {first, (first + 1) % size, static_cast<float>(position - lower)};
}

glm::vec3 textured(const Scene& scene, const glm::vec3& factor,
                   const std::optional<std::uint32_t>& texture, const glm::mat3x2& transform,
                   const glm::dvec2& coordinates) {
    if (!texture || scene.texture_coordinates.empty()) {
        return factor;
    }
    return factor * sample_texture(scene.textures[*texture],
                                   glm::dmat3x2(transform) * glm::dvec3(coordinates, 1.0));
}

}  // namespace

glm::vec3 sample_texture(const Texture& texture, const glm::dvec2& coordinates) {
    if (texture.texels.empty() || !std::isfinite(coordinates.x) || !std::isfinite(coordinates.y)) {
        return glm::vec3(0.0F);
    }
    const Neighbours x = repeated_neighbours(coordinates.x, texture.extent.width);
    const Neighbours y = repeated_neighbours(coordinates.y, texture.extent.height);
    const auto row = [&](std::size_t index) {
        const auto* texels = texture.texels.data() + index * texture.extent.width;
        return linear(texels[x.first]) * (1.0F - x.weight) + linear(texels[x.second]) * x.weight;
    };
    return row(y.first) * (1.0F - y.weight) + row(y.second) * y.weight;
}

glm::vec3 albedo_at(const Scene& scene, const Material& material, const glm::dvec2& coordinates) {
    return textured(scene, material.albedo, material.albedo_texture, material.albedo_coordinates,
                    coordinates);
}

glm::vec3 emission_at(const Scene& scene, const Material& material, const glm::dvec2& coordinates) {
    return textured(scene, material.emission, material.emission_texture,
                    material.emission_coordinates, coordinates);
}

std::uint8_t coverage_at(const Scene& scene, const Material& material,
                         const glm::dvec2& coordinates, float vertex_alpha) {
    if (material.alpha_mode == AlphaMode::opaque || !material.albedo_texture ||
        scene.texture_coordinates.empty()) {
        return material.coverage(255, vertex_alpha);
    }
    const Texture& texture = scene.textures[*material.albedo_texture];
    const glm::dvec2 place =
        glm::dmat3x2(material.albedo_coordinates) * glm::dvec3(coordinates, 1.0);
    const glm::dvec2 part = place - glm::floor(place);
    if (texture.texels.empty() || !(part.x >= 0.0 && part.y >= 0.0)) {
        return material.coverage(255, vertex_alpha);
    }
    const auto along = [](double at, std::uint32_t size) {
        return std::min(static_cast<std::uint32_t>(at * size), size - 1);
    };
    const std::size_t row = along(part.y, texture.extent.height);
    return material.coverage(
        texture.texels[row * texture.extent.width + along(part.x, texture.extent.width)][3],
        vertex_alpha);
}

bool has_textures(const Scene& scene, const Material& material) {
    return (material.albedo_texture || material.emission_texture) &&
           !scene.texture_coordinates.empty();
}

double doubled_area(const Corners& corners) {
    const glm::dvec2 a = corners[1] - corners[0];
    const glm::dvec2 b = corners[2] - corners[0];
    return a.x * b.y - a.y * b.x;
}

std::optional<Corners> corners_of(const Scene& scene, const Triangle& triangle,
                                  const Extent& extent) {
    Corners corners;
    for (std::size_t i = 0; i < 3; ++i) {
        const glm::dvec2 coordinates = scene.light_map_coordinates[triangle.vertices[i]];
        if (!(coordinates.x >= 0.0 && coordinates.x <= 1.0 && coordinates.y >= 0.0 &&
              coordinates.y <= 1.0)) {
            return std::nullopt;
        }
        corners[i] = coordinates * glm::dvec2(extent.width, extent.height);
    }
    if (doubled_area(corners) == 0.0) {
        return std::nullopt;
    }
    return corners;
}

}  // namespace quadtile::baker
