#include "geometry.hpp"

#include "scene.hpp"

#include <glm/common.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace quadtile::shadow {

namespace {

constexpr std::uint32_t NONE = 0xffffffffU;

using Box = baker::Box<glm::vec3>;

// ---- Colours

glm::vec3 mean_of(const baker::Texture& texture) {
    glm::dvec3 sum(0.0);
    for (const auto& texel : texture.texels) {
        sum += glm::dvec3(baker::linear(texel));
    }
    return {sum / std::max(1.0, static_cast<double>(texture.texels.size()))};
}

// Returns the colour of each material: the mean of its texture.
std::vector<glm::vec3> material_colours(const baker::Scene& scene) {
    std::vector<glm::vec3> textures;
    for (const baker::Texture& texture : scene.textures) {
        textures.push_back(mean_of(texture));
    }
    std::vector<glm::vec3> colours;
    for (const baker::Material& material : scene.materials) {
        const bool is_textured =
            material.albedo_texture.has_value() && !scene.texture_coordinates.empty();
        colours.push_back(material.albedo *
                          (is_textured ? textures[*material.albedo_texture] : glm::vec3(1.0F)));
    }
    return colours;
}

// ---- Vertices

// Gives out vertices in the order of their first use, one for each colour that they have.
class VertexList {
 public:
    VertexList(const baker::Scene& scene, std::vector<Vertex>& vertices)
        : scene_(scene),
          colours_(material_colours(scene)),
          first_(scene.positions.size(), NONE),
          vertices_(vertices) {}

    std::uint32_t index_of(std::uint32_t vertex, std::uint32_t material) {
        const std::uint32_t colour =
            pack(scene_.colours.empty() ? colours_[material]
                                        : colours_[material] * glm::vec3(scene_.colours[vertex]));
        if (first_[vertex] == NONE) {
            return first_[vertex] = append(vertex, colour);
        }
        if (vertices_[first_[vertex]].colour == colour) {
            return first_[vertex];
        }
        const auto [other, is_new] = others_.try_emplace({vertex, colour}, NONE);
        if (is_new) {
            other->second = append(vertex, colour);
        }
        return other->second;
    }

 private:
    std::uint32_t append(std::uint32_t vertex, std::uint32_t colour) {
        vertices_.push_back({scene_.positions[vertex], colour});
        return static_cast<std::uint32_t>(vertices_.size() - 1);
    }

    const baker::Scene& scene_;
    std::vector<glm::vec3> colours_;    // of materials
    std::vector<std::uint32_t> first_;  // of each vertex of the scene
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> others_;
    std::vector<Vertex>& vertices_;
};

}  // namespace

std::uint32_t pack(const glm::vec3& colour) {
    const glm::uvec3 bytes(glm::clamp(colour, 0.0F, 1.0F) * 255.0F + 0.5F);
    return bytes.x | bytes.y << 8U | bytes.z << 16U | 0xff000000U;
}

Geometry make_geometry(const baker::Scene& scene) {
    Box bounds;
    for (const baker::Triangle& triangle : scene.triangles) {
        for (const std::uint32_t vertex : triangle.vertices) {
            bounds.include(scene.positions[vertex]);
        }
    }
    std::vector<std::uint32_t> order =
        baker::order_by_boxes(scene, [](std::uint32_t) { return true; });

    Geometry geometry{.bounds = {{bounds.low.x, bounds.low.y, bounds.low.z},
                                 {bounds.high.x, bounds.high.y, bounds.high.z}}};
    geometry.indices.reserve(3 * order.size());
    VertexList vertices(scene, geometry.vertices);
    for (std::size_t first = 0; first < order.size(); first += CLUSTER_TRIANGLES) {
        const std::size_t end = std::min<std::size_t>(order.size(), first + CLUSTER_TRIANGLES);
        // In the file's order neighbours share vertices.
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
                  order.begin() + static_cast<std::ptrdiff_t>(end));
        Box box;
        const auto first_index = static_cast<std::uint32_t>(geometry.indices.size());
        for (std::size_t i = first; i < end; ++i) {
            const baker::Triangle& triangle = scene.triangles[order[i]];
            for (const std::uint32_t vertex : triangle.vertices) {
                box.include(scene.positions[vertex]);
                geometry.indices.push_back(vertices.index_of(vertex, triangle.material));
            }
        }
        geometry.clusters.push_back({.low = {box.low.x, box.low.y, box.low.z},
                                     .index_count = 3 * static_cast<std::uint32_t>(end - first),
                                     .high = {box.high.x, box.high.y, box.high.z},
                                     .first_index = first_index,
                                     .vertex_offset = 0});
    }
    return geometry;
}

}  // namespace quadtile::shadow
