// Scenes: triangles with lightmap coordinates, their materials, and the light.

#pragma once

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::baker {

// Bounding box of points; empty at first: low above high.
template <typename Point>
struct Box {
    Point low = Point(std::numeric_limits<typename Point::value_type>::infinity());
    Point high = -low;

    void include(const Point& point) {
        low = glm::min(low, point);
        high = glm::max(high, point);
    }
    void include(const Box& box) {
        low = glm::min(low, box.low);
        high = glm::max(high, box.high);
    }
    [[nodiscard]] Point size() const { return high - low; }
};

[[nodiscard]] inline Box<glm::dvec3> box_around(const std::vector<glm::vec3>& positions) {
    Box<glm::dvec3> box;
    for (const glm::vec3& position : positions) {
        box.include(position);
    }
    return box;
}

// Extent of a lightmap. Texel (x, y) has its centre at ((x + 0.5) / width, (y + 0.5) / height) in
// lightmap coordinates; (0, 0) is the upper left corner. Its index is y * width + x.
struct Extent {
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    [[nodiscard]] std::size_t texels() const { return std::size_t{width} * height; }
    bool operator==(const Extent&) const = default;
};

// A texture of 8 bits per channel, as in files: colours with the sRGB curve. It repeats in both
// directions.
struct Texture {
    Extent extent;
    std::vector<std::array<std::uint8_t, 4>> texels;
};

// Returns red, green and blue of a texel without the sRGB curve.
[[nodiscard]] glm::vec3 linear(const std::array<std::uint8_t, 4>& texel);
// Returns the sRGB code of a value, 0..1.
[[nodiscard]] std::uint8_t srgb_code(float value);

// Transparency of a material: opaque; open if alpha is below a limit; or open by 1 - alpha.
enum class AlphaMode : std::uint8_t { opaque, mask, blend };

// A Lambertian material. The radiosity of a surface under irradiance E is albedo * E + pi *
// emission.
struct Material {
    std::string name;
    glm::vec3 albedo{0.7F};
    glm::vec3 emission{0.0F};                       // radiance
    bool double_sided = false;                      // whether the back is lit and radiates too
    std::optional<std::uint32_t> albedo_texture;    // times albedo
    std::optional<std::uint32_t> emission_texture;  // times emission
    // Transforms from texture_coordinates to each texture's own.
    glm::mat3x2 albedo_coordinates{1.0F};
    glm::mat3x2 emission_coordinates{1.0F};
    AlphaMode alpha_mode = AlphaMode::opaque;
    float alpha = 1.0F;  // times that of albedo_texture
    float alpha_cutoff = 0.5F;
    glm::vec3 tint{1.0F};  // of light that goes through holes: glass

    // Returns the share of the light, from 0 to 255, that a place with this alpha in its texture
    // and at its vertices stops.
    [[nodiscard]] std::uint8_t coverage(std::uint8_t texture_alpha,
                                        float vertex_alpha = 1.0F) const;
};

[[nodiscard]] inline float greatest_of(const glm::vec3& colour) {
    return std::max({colour.r, colour.g, colour.b});
}

// Largest radiance and irradiance: sums and squares of it are finite too.
constexpr float BRIGHTEST = 1e12F;

// Parallel light.
struct Sun {
    std::string name;
    glm::vec3 direction{0.0F, -1.0F, 0.0F};  // of the light, of length 1
    glm::vec3 irradiance{0.0F};              // on a surface that faces it
    float angular_diameter_degrees = 0.53F;
};

// Light from a point or a small sphere, to all sides or in a cone.
struct PointLight {
    std::string name;
    glm::vec3 position{0.0F};
    glm::vec3 intensity{0.0F};  // irradiance on a surface that faces it at a distance of 1
    float radius = 0.0F;        // of the sphere
    float range = std::numeric_limits<float>::infinity();  // distance at which the light ends
    bool is_spot = false;
    // Spot lights: the axis of the cone, of length 1, and its half angles in radians, at which the
    // light begins to fall off and at which it ends.
    glm::vec3 direction{0.0F, 0.0F, -1.0F};
    float inner_angle = 0.0F;
    float outer_angle = 0.25F * std::numbers::pi_v<float>;
};

struct Camera {
    glm::vec3 position{0.0F};
    glm::vec3 target{0.0F, 0.0F, -1.0F};
    float vertical_field_degrees = 60.0F;
};

struct Triangle {
    std::array<std::uint32_t, 3> vertices{};  // counter-clockwise, seen from its front
    std::uint32_t material = 0;
};

// Smallest density of a part.
constexpr float LEAST_DENSITY = 0.001F;
constexpr float GREATEST_DENSITY = 1000.0F;

// Consecutive triangles that form a unit in the file: an object or a mesh primitive.
struct ScenePart {
    std::size_t first_triangle = 0;
    std::string name;
    std::string object{};      // node or object that it belongs to, named as in the file
    float density = 1.0F;      // factor of the texels per unit that unwrap gives it
    bool excluded = false;     // whether the written lightmap leaves it out
    std::uint32_t page = 0;    // of Pages; that of excluded parts is not written
    std::size_t instance = 0;  // number of the node or object in the file
    // glTF: its place in the file.
    std::size_t node = 0;
    std::optional<std::size_t> mesh{};  // of the node
    glm::dmat3 transform{1.0};          // of the mesh's points, without the translation
    std::size_t primitive = 0;          // of the node's mesh
    bool mirrored = false;              // whether the file has its triangles the other way round
};

// Pages of the written lightmap, below each other in the baked lightmap. If parts are excluded, a
// page that is not written follows.
struct Pages {
    Extent extent;  // of each
    std::uint32_t count = 1;
    std::uint32_t gap = 0;  // rows between them

    [[nodiscard]] std::uint32_t first_row(std::uint32_t page) const {
        return page * (extent.height + gap);
    }
};

// A scene, right-handed, in glTF's units and axes (Y up).
struct Scene {
    // Arrays by vertex have one length, except that normals and texture_coordinates may be empty.
    std::vector<glm::vec3> positions;
    std::vector<glm::vec3> normals;
    std::vector<glm::vec2> light_map_coordinates;  // 0..1; empty: there are none yet
    std::vector<glm::vec2> texture_coordinates;
    std::vector<glm::vec4> colours;  // times albedo and alpha, 0..1; empty: white
    // Numbers in the file, of glTF in the primitive; empty: no file.
    std::vector<std::uint32_t> source_vertices;

    std::vector<Triangle> triangles;
    std::vector<ScenePart> parts;     // in the order of their triangles
    std::vector<Material> materials;  // at least one if there are triangles
    std::vector<Texture> textures;
    std::vector<Sun> suns;
    std::vector<PointLight> point_lights;
    std::optional<Extent> light_map_extent;  // requested by the file, or made by unwrap()
    std::optional<Pages> pages;              // none: the lightmap is one page
    std::optional<Camera> camera;
    glm::dvec3 origin{0.0};  // of all positions, in the file's world: not 0 if that is far away

    [[nodiscard]] std::array<glm::dvec3, 3> corners(const Triangle& triangle) const {
        return {positions[triangle.vertices[0]], positions[triangle.vertices[1]],
                positions[triangle.vertices[2]]};
    }
    // Returns the normal of the plane, of length 1; 0: the triangle has no area.
    [[nodiscard]] glm::dvec3 plane_normal(const Triangle& triangle) const;
    // Returns the normals of the vertices; that of the plane for missing ones and for those that
    // point away from it.
    [[nodiscard]] std::array<glm::dvec3, 3> vertex_normals(const Triangle& triangle) const;
    // Returns whether these differ from the plane's.
    [[nodiscard]] bool is_smooth(const Triangle& triangle) const;

    // Returns "triangle 3 of mesh 0 'Walls', primitive 1", counted from 0.
    [[nodiscard]] std::string name_of(std::size_t triangle) const;
    // Returns the same with the triangle's vertex farthest from `middle`: "triangle 3 of ... at (0,
    // 1e+06, 0)".
    [[nodiscard]] std::string place_of(std::size_t triangle, const glm::dvec3& middle = {}) const;
};

// ---- Parts

// Returns the part of a triangle; one without a name if it belongs to none.
[[nodiscard]] const ScenePart& part_of(const Scene& scene, std::size_t triangle);

// Returns "'Floor', 'Lamp' and more": the objects of triangles, or their parts if these have no
// names.
[[nodiscard]] std::string names_of(const Scene& scene, const std::vector<std::uint32_t>& triangles);

// ---- Order of triangles

// Returns the triangles in an order in which runs of 8, 64 and 4096 from multiples of their length
// on are in small boxes: first those that come first, then the others.
[[nodiscard]] std::vector<std::uint32_t> order_by_boxes(
    const Scene& scene, const std::function<bool(std::uint32_t)>& comes_first);

}  // namespace quadtile::baker
