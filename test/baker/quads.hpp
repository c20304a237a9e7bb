// Scenes of quads, ready to bake: each has a cell of the lightmap to itself. And the bits of a
// bake.

#pragma once

#include "small_scenes.hpp"

#include "bake.hpp"

#include <string>

namespace quadtile::baker::test {

constexpr glm::vec3 X{1, 0, 0};
constexpr glm::vec3 Y{0, 1, 0};
constexpr glm::vec3 Z{0, 0, 1};

class Quads {
 public:
    // One texel of each cell stays empty on all sides of its quad.
    Quads(std::uint32_t columns, std::uint32_t rows, std::uint32_t quad_texels)
        : columns_(columns),
          quad_texels_(quad_texels),
          extent_{columns * (quad_texels + 2), rows * (quad_texels + 2)} {}

    std::uint32_t add_material(const Material& material) {
        scene.materials.push_back(material);
        return static_cast<std::uint32_t>(scene.materials.size() - 1);
    }

    // The front is where cross(a, b) points; `a` is along the lightmap's x. Returns the cell.
    std::uint32_t add(const glm::vec3& corner, const glm::vec3& a, const glm::vec3& b,
                      std::uint32_t material = 0) {
        const glm::uvec2 first = first_texel(count_);
        const glm::vec2 size(extent_.width, extent_.height);
        const glm::vec2 low = glm::vec2(first) / size;
        const glm::vec2 high = glm::vec2(first + quad_texels_) / size;
        add_quad(scene, {corner, corner + a, corner + a + b, corner + b},
                 {low, {high.x, low.y}, high, {low.x, high.y}}, material);
        return count_++;
    }

    // A box whose faces look inward.
    void add_room(const glm::vec3& low, const glm::vec3& size, std::uint32_t material = 0) {
        for (const auto& [corner, a, b] : faces(low, size)) {
            add(corner, a, b, material);
        }
    }

    // One whose faces look outward.
    void add_block(const glm::vec3& low, const glm::vec3& size, std::uint32_t material = 0) {
        for (const auto& [corner, a, b] : faces(low, size)) {
            add(corner, b, a, material);
        }
    }

    // Indices of a quad's texels.
    [[nodiscard]] std::vector<std::size_t> texels(std::uint32_t cell) const {
        const glm::uvec2 first = first_texel(cell);
        std::vector<std::size_t> result;
        for (std::uint32_t y = 0; y < quad_texels_; ++y) {
            for (std::uint32_t x = 0; x < quad_texels_; ++x) {
                result.push_back(std::size_t{first.y + y} * extent_.width + first.x + x);
            }
        }
        return result;
    }

    [[nodiscard]] const Extent& extent() const { return extent_; }

    Scene scene;

 private:
    // Corner of each face of a box, and the edges there so that it looks inward.
    static std::array<std::array<glm::vec3, 3>, 6> faces(const glm::vec3& low,
                                                         const glm::vec3& size) {
        const glm::vec3 x = size.x * X;
        const glm::vec3 y = size.y * Y;
        const glm::vec3 z = size.z * Z;
        return {{{low, z, x},
                 {low + y, x, z},
                 {low, x, y},
                 {low + z, y, x},
                 {low, y, z},
                 {low + x, z, y}}};
    }

    [[nodiscard]] glm::uvec2 first_texel(std::uint32_t cell) const {
        return glm::uvec2(cell % columns_, cell / columns_) * (quad_texels_ + 2) + 1U;
    }

    std::uint32_t columns_;
    std::uint32_t quad_texels_;
    Extent extent_;
    std::uint32_t count_ = 0;
};

// Arguments of bake().
struct Prepared {
    Prepared(const Scene& of, const Extent& extent, float pixels_per_texel = 1.0F)
        : surface(make_surface_map(of, extent, 1)),
          traced(make_traced_scene(of, extent, pixels_per_texel)),
          suns(of.suns),
          lights(of.point_lights),
          scene(of) {}

    [[nodiscard]] Lamps lamps(const BakeOptions& options) const {
        return find_lamps(scene, surface, options.lamp_points, MOST_DIRECTIONS);
    }

    SurfaceMap surface;
    TracedScene traced;
    std::vector<Sun> suns;
    std::vector<PointLight> lights;
    Scene scene;
    Sky sky;
    // So that also small scenes have many tiles of many sizes.
    TileOptions tiles{.map_extent = 32, .max_resolution = 16.0F, .max_nodes = 2048.0F};
};

inline std::string bytes_of(const BakeResult& result) {
    std::string bytes;
    const auto add = [&](const auto& values) {
        bytes.append(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(values[0]));
    };
    add(result.map.irradiance);
    add(result.map.known);
    add(result.error);
    add(result.probes);
    for (const auto& band : result.map.radiance_sh) {
        add(band);
    }
    const double noise = result.noise.value_or(-1.0);
    bytes.append(reinterpret_cast<const char*>(&noise), sizeof(noise));
    return bytes + std::to_string(result.inside_texels);
}

}  // namespace quadtile::baker::test
