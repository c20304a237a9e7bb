// Lengths are whole decimetres. The city uses only +, -, *, / and square roots, so every machine
// computes the same bits.

#include "city_scene.hpp"

#include "pack_charts.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

namespace {

constexpr int PITCH = 700;      // distance from one block to the next
constexpr int MIN_WIDTH = 360;  // of buildings
constexpr int MAX_BLOCKS_PER_SIDE = 70;
constexpr std::uint64_t TRIANGLES_PER_BLOCK = 750;  // more with over 4900 blocks
constexpr std::uint64_t MIN_TRIANGLES = 2000;
constexpr int BAY_TRIANGLES = 18;
constexpr int PLAN_TRIANGLES = 10;  // ground and roof
constexpr std::uint32_t GUTTER = 2;

enum CityMaterial : std::uint32_t { ground, roof, pane, lit_pane, first_facade };
constexpr std::array FACADES{glm::vec3(0.72F, 0.66F, 0.56F), glm::vec3(0.60F, 0.32F, 0.24F),
                             glm::vec3(0.78F, 0.78F, 0.76F), glm::vec3(0.46F, 0.50F, 0.56F),
                             glm::vec3(0.76F, 0.60F, 0.36F)};

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // Returns one of 0 .. count - 1.
    int below(int count) {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        z ^= z >> 31U;
        return static_cast<int>((z >> 32U) % static_cast<std::uint64_t>(count));
    }

 private:
    std::uint64_t state_;
};

// A building with the ground around it.
struct Block {
    int x = 0;  // of the block's corner
    int z = 0;
    int left = 0;  // of the building, in the block
    int back = 0;
    int width = 0;
    int depth = 0;
    int height = 0;
    int bays_along_width = 1;
    int bays_along_depth = 1;
    int floors = 1;
    std::uint32_t material = first_facade;
};

std::vector<Block> plan(std::uint64_t triangles, Random& random) {
    int per_side = 2;
    while (per_side < MAX_BLOCKS_PER_SIDE &&
           static_cast<std::uint64_t>(per_side * per_side) * TRIANGLES_PER_BLOCK < triangles) {
        ++per_side;
    }
    const int count = per_side * per_side;
    const double bays = (static_cast<double>(triangles) / count - PLAN_TRIANGLES) / BAY_TRIANGLES;
    const int usual = std::max(1, static_cast<int>(std::lround(std::sqrt(bays / 6.0))));
    double owed = 0.0;  // bays not yet made, so that the sum is as requested
    std::vector<Block> blocks;
    for (int i = 0; i < count; ++i) {
        Block block;
        block.x = PITCH * (i % per_side) - PITCH * per_side / 2;
        block.z = PITCH * (i / per_side) - PITCH * per_side / 2;
        block.width = MIN_WIDTH + 20 * random.below(9);
        block.depth = MIN_WIDTH + 20 * random.below(9);
        block.left = (PITCH - block.width) / 2;
        block.back = (PITCH - block.depth) / 2;
        const int tall = random.below(70);
        block.height = 150 + tall * tall / 7;
        block.bays_along_width = std::max(1, usual - 1 + random.below(3));
        block.bays_along_depth = std::max(1, usual - 1 + random.below(3));
        block.material = first_facade + static_cast<std::uint32_t>(random.below(FACADES.size()));
        owed += bays;
        const int per_floor = 2 * (block.bays_along_width + block.bays_along_depth);
        block.floors = std::max(1, static_cast<int>(std::lround(owed / per_floor)));
        owed -= per_floor * block.floors;
        blocks.push_back(block);
    }
    return blocks;
}

// One side of a building, or the ground: a plane with axes and a place in the lightmap.
struct Face {
    glm::dvec3 origin;  // the lower left corner
    glm::dvec3 right;   // of length 1, as are the others
    glm::dvec3 up;
    glm::dvec3 front;
    double height = 0.0;
    ChartPlace place;
};

struct FacePoint {
    double right = 0.0;
    double up = 0.0;
    double behind = 0.0;   // distance of the plane
    double shift_right{};  // in the lightmap
    double shift_up{};
};

class CityBuilder {
 public:
    CityBuilder(Scene& scene, const Layout& layout) : scene_(scene), layout_(layout) {}

    void build(const Block& block, std::size_t first_chart, Random& random) {
        const auto place = [&](std::size_t i) { return layout_.places[first_chart + i]; };
        const double x0 = block.x + block.left;
        const double x1 = x0 + block.width;
        const double z0 = block.z + block.back;
        const double z1 = z0 + block.depth;
        const double height = block.height;
        const glm::dvec3 x(1.0, 0.0, 0.0);
        const glm::dvec3 y(0.0, 1.0, 0.0);
        const glm::dvec3 z(0.0, 0.0, 1.0);
        facade({{x0, 0.0, z1}, x, y, z, height, place(0)}, block.width, block.bays_along_width,
               block, random);
        facade({{x1, 0.0, z1}, -z, y, x, height, place(1)}, block.depth, block.bays_along_depth,
               block, random);
        facade({{x1, 0.0, z0}, -x, y, -z, height, place(2)}, block.width, block.bays_along_width,
               block, random);
        facade({{x0, 0.0, z0}, z, y, -x, height, place(3)}, block.depth, block.bays_along_depth,
               block, random);
        plan_view(block, place(4));
    }

 private:
    using Corners = std::array<FacePoint, 4>;

    static Corners rectangle(double left, double bottom, double right, double top) {
        return {{{left, bottom}, {right, bottom}, {right, top}, {left, top}}};
    }

    // Adds a quad, counter-clockwise seen from the front.
    void quad(const Face& face, const Corners& corners, std::uint32_t material) {
        const auto first = static_cast<std::uint32_t>(scene_.positions.size());
        std::array<glm::dvec3, 4> points{};
        for (std::size_t i = 0; i < 4; ++i) {
            const FacePoint& p = corners[i];
            points[i] = face.origin + p.right * face.right + p.up * face.up - p.behind * face.front;
        }
        const glm::vec3 normal(
            glm::normalize(glm::cross(points[2] - points[0], points[3] - points[1])));
        for (std::size_t i = 0; i < 4; ++i) {
            const FacePoint& p = corners[i];
            scene_.positions.emplace_back(points[i] / 10.0);
            scene_.normals.push_back(normal);
            scene_.light_map_coordinates.emplace_back(
                (face.place.x + (p.right + p.shift_right) * layout_.texels_per_unit) /
                    layout_.extent.width,
                (face.place.y + (face.height - p.up - p.shift_up) * layout_.texels_per_unit) /
                    layout_.extent.height);
        }
        scene_.triangles.push_back({{first, first + 1, first + 2}, material});
        scene_.triangles.push_back({{first, first + 2, first + 3}, material});
    }

    // Adds the area between an outer and an inner rectangle.
    void ring(const Face& face, const Corners& outer, const Corners& inner,
              std::uint32_t material) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t next = (i + 1) % 4;
            quad(face, {outer[i], outer[next], inner[next], inner[i]}, material);
        }
    }

    // Moves corners towards the middle of the rectangle in the lightmap.
    static void shrink(Corners& corners, double by) {
        corners[0].shift_right = corners[3].shift_right = by;
        corners[1].shift_right = corners[2].shift_right = -by;
        corners[0].shift_up = corners[1].shift_up = by;
        corners[2].shift_up = corners[3].shift_up = -by;
    }

    void facade(const Face& face, double width, int bays, const Block& block, Random& random) {
        for (int row = 0; row < block.floors; ++row) {
            for (int column = 0; column < bays; ++column) {
                const double left = width * column / bays;
                const double right = width * (column + 1) / bays;
                const double bottom = face.height * row / block.floors;
                const double top = face.height * (row + 1) / block.floors;
                const bool lit = random.below(20) == 0;
                bay(face, left, bottom, right, top, block.material, lit ? lit_pane : pane);
            }
        }
    }

    // Adds a window in its part of the wall. In the lightmap its reveals lie around the pane,
    // which is smaller there by their size.
    void bay(const Face& face, double left, double bottom, double right, double top,
             std::uint32_t wall, std::uint32_t window) {
        const double border_x = 0.2 * (right - left);
        const double border_y = 0.2 * (top - bottom);
        const double recess = 0.15 * std::min(right - left, top - bottom);
        const Corners hole =
            rectangle(left + border_x, bottom + border_y, right - border_x, top - border_y);
        Corners back = hole;
        for (FacePoint& corner : back) {
            corner.behind = recess;
        }
        shrink(back, recess);
        ring(face, rectangle(left, bottom, right, top), hole, wall);
        ring(face, hole, back, wall);
        quad(face, back, window);
    }

    // Adds the ground seen from above, with the roof in its hole and a gutter between them. Their
    // borders lie anywhere in texels, so it takes one texel more to have all of the gutter's texels
    // between them: a texel next to both would be filled from both.
    void plan_view(const Block& block, const ChartPlace& place) {
        const glm::dvec3 right(1.0, 0.0, 0.0);
        const glm::dvec3 up(0.0, 0.0, -1.0);
        const glm::dvec3 front(0.0, 1.0, 0.0);
        const Face face{
            {double(block.x), 0.0, double(block.z + PITCH)}, right, up, front, PITCH, place};
        const double bottom = PITCH - block.back - block.depth;
        const Corners building =
            rectangle(block.left, bottom, block.left + block.width, bottom + block.depth);
        ring(face, rectangle(0.0, 0.0, PITCH, PITCH), building, ground);
        Corners top = building;
        for (FacePoint& corner : top) {
            corner.behind = -block.height;
        }
        shrink(top, (GUTTER + 1) / layout_.texels_per_unit);
        quad(face, top, roof);
    }

    Scene& scene_;
    const Layout& layout_;
};

std::vector<Material> city_materials() {
    std::vector<Material> materials(first_facade + FACADES.size());
    materials[ground] = {.name = "ground", .albedo = glm::vec3(0.25F)};
    materials[roof] = {.name = "roof", .albedo = glm::vec3(0.45F)};
    materials[pane] = {.name = "window", .albedo = glm::vec3(0.15F, 0.18F, 0.2F)};
    materials[lit_pane] = {.name = "lit window",
                           .albedo = glm::vec3(0.15F, 0.18F, 0.2F),
                           .emission = glm::vec3(3.0F, 2.2F, 1.2F)};
    for (std::size_t i = 0; i < FACADES.size(); ++i) {
        materials[first_facade + i] = {.name = "facade " + std::to_string(i), .albedo = FACADES[i]};
    }
    return materials;
}

}  // namespace

Scene city_scene(std::uint64_t triangles, const Extent& extent) {
    Random random(1889);
    const std::vector<Block> blocks = plan(std::max(triangles, MIN_TRIANGLES), random);
    std::vector<glm::dvec2> sizes;  // of charts: four facades and the plan of each block
    for (const Block& block : blocks) {
        for (const int width : {block.width, block.depth, block.width, block.depth}) {
            sizes.emplace_back(width, block.height);
        }
        sizes.emplace_back(PITCH, PITCH);
    }
    // Smallest density: the smallest roof is a texel wide, with a gutter around it.
    constexpr double MIN_TEXELS_PER_DECIMETRE = (2.0 * (GUTTER + 1) + 1.0) / MIN_WIDTH;
    const std::optional<Layout> layout = pack_into(sizes, GUTTER, extent);
    if (!layout || layout->texels_per_unit < MIN_TEXELS_PER_DECIMETRE) {
        throw std::runtime_error("a lightmap of " + std::to_string(extent.width) + " x " +
                                 std::to_string(extent.height) +
                                 " texels has no room for a city of " + std::to_string(triangles) +
                                 " triangles; use a larger one or fewer triangles");
    }

    Scene scene;
    scene.materials = city_materials();
    scene.light_map_extent = extent;
    CityBuilder builder(scene, *layout);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        builder.build(blocks[i], 5 * i, random);
    }
    Sun sun;
    sun.direction = glm::vec3(-0.48F, -0.6F, -0.64F);
    sun.irradiance = glm::vec3(5.0F, 4.6F, 4.0F);
    scene.suns.push_back(sun);
    return scene;
}

}  // namespace quadtile::baker
