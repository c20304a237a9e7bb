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

// ---- Materials

const baker::Texture* texture_of(const baker::Scene& scene, const baker::Material& material) {
    return material.albedo_texture && !scene.texture_coordinates.empty()
               ? &scene.textures[*material.albedo_texture]
               : nullptr;
}

// Returns the colour of a material: the mean of its texture, without holes.
glm::vec3 colour_of(const baker::Scene& scene, const baker::Material& material) {
    glm::dvec3 sum(0.0);
    double weights = 0.0;
    if (const baker::Texture* const texture = texture_of(scene, material)) {
        for (const auto& texel : texture->texels) {
            const double weight = material.coverage(texel[3]);
            sum += weight * glm::dvec3(baker::linear(texel));
            weights += weight;
        }
    }
    return material.albedo * (weights > 0.0 ? glm::vec3(sum / weights) : glm::vec3(1.0F));
}

// Adds the mask of a material. Returns its number.
std::uint32_t add_mask(const baker::Scene& scene, const baker::Material& material,
                       Geometry& geometry) {
    const baker::Texture* const texture = texture_of(scene, material);
    const baker::Texture plain{{1, 1}, {{255, 255, 255, 255}}};
    const baker::Texture& from = texture != nullptr && !texture->texels.empty() ? *texture : plain;
    const auto first_word = static_cast<std::uint32_t>(geometry.mask_bits.size());
    geometry.masks.push_back({32 * first_word, from.extent.width, from.extent.height});
    geometry.mask_bits.resize(first_word + (from.texels.size() + 31) / 32);
    for (std::size_t i = 0; i < from.texels.size(); ++i) {
        const std::uint32_t bit = material.coverage(from.texels[i][3]) > 0 ? 1 : 0;
        geometry.mask_bits[first_word + i / 32] |= bit << (i % 32);
    }
    return static_cast<std::uint32_t>(geometry.masks.size() - 1);
}

// ---- Vertices

// Gives out vertices in the order of their first use, one for each material that they have.
class VertexList {
 public:
    VertexList(const baker::Scene& scene, Geometry& geometry)
        : scene_(scene), first_(scene.positions.size(), {NONE, NONE}), geometry_(geometry) {
        for (const baker::Material& material : scene.materials) {
            colours_.push_back(colour_of(scene, material));
            masks_.push_back(material.alpha_mode == baker::AlphaMode::mask
                                 ? add_mask(scene, material, geometry)
                                 : NONE);
        }
    }

    [[nodiscard]] bool is_masked(std::uint32_t triangle) const {
        return masks_[scene_.triangles[triangle].material] != NONE;
    }

    std::uint32_t index_of(std::uint32_t vertex, std::uint32_t material) {
        Use& first = first_[vertex];
        if (first.index == NONE) {
            first = {append(vertex, material), material};
        }
        if (first.material == material) {
            return first.index;
        }
        const auto [other, is_new] = others_.try_emplace({vertex, material}, NONE);
        if (is_new) {
            other->second = append(vertex, material);
        }
        return other->second;
    }

 private:
    struct Use {
        std::uint32_t index;
        std::uint32_t material;
    };

    std::uint32_t append(std::uint32_t vertex, std::uint32_t material) {
        const glm::vec3 colour =
            scene_.colours.empty() ? glm::vec3(1.0F) : glm::vec3(scene_.colours[vertex]);
        geometry_.vertices.push_back({scene_.positions[vertex], pack(colours_[material] * colour)});
        if (masks_[material] != NONE) {
            const glm::vec2 place = scene_.texture_coordinates.empty()
                                        ? glm::vec2(0.0F)
                                        : scene_.texture_coordinates[vertex];
            const glm::vec2 at =
                scene_.materials[material].albedo_coordinates * glm::vec3(place, 1.0F);
            geometry_.mask_vertices.push_back({{at.x, at.y}, masks_[material]});
        }
        return static_cast<std::uint32_t>(geometry_.vertices.size() - 1);
    }

    const baker::Scene& scene_;
    std::vector<glm::vec3> colours_;    // of materials
    std::vector<std::uint32_t> masks_;  // of materials; NONE: without holes
    std::vector<Use> first_;            // of each vertex of the scene
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> others_;
    Geometry& geometry_;
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
    Geometry geometry{.bounds = {{bounds.low.x, bounds.low.y, bounds.low.z},
                                 {bounds.high.x, bounds.high.y, bounds.high.z}}};
    VertexList vertices(scene, geometry);
    const auto is_masked = [&](std::uint32_t triangle) { return vertices.is_masked(triangle); };
    std::vector<std::uint32_t> order = baker::order_by_boxes(scene, is_masked);
    const auto masked =
        static_cast<std::size_t>(std::ranges::partition_point(order, is_masked) - order.begin());
    geometry.indices.reserve(3 * order.size());
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
        end = std::min(first < masked ? masked : order.size(),
                       (first / CLUSTER_TRIANGLES + 1) * CLUSTER_TRIANGLES);
        geometry.masked_clusters += first < masked ? 1 : 0;
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
