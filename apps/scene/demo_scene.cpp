#include "load_scene.hpp"
#include "unwrap.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <span>

namespace quadtile::baker {

namespace {

// Lengths are in metres. The room is 8 wide (x), 3.4 high, 6 deep (z); its floor is at height 0.
constexpr glm::vec3 ROOM_LOW(-4.0F, 0.0F, -3.0F);
constexpr glm::vec3 ROOM_HIGH(4.0F, 3.4F, 3.0F);
constexpr float WALL = 0.3F;

enum DemoMaterial : std::uint32_t {
    white,
    red,
    teal,
    outside,
    floor_tiles,
    wood,
    stone,
    lamp,
    screen,
    ball
};

struct Axes {
    int across;
    int up;
    int normal;
};

// A hole in a wall, along the axes of the wall.
struct Hole {
    glm::vec2 low;
    glm::vec2 high;
};

class DemoBuilder {
 public:
    Scene scene;

    // Adds a polygon in one plane, counter-clockwise seen from its front.
    void flat(std::span<const glm::vec3> corners, std::uint32_t material) {
        const glm::vec3 normal =
            glm::normalize(glm::cross(corners[1] - corners[0], corners[2] - corners[0]));
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        for (const glm::vec3& corner : corners) {
            vertex(corner, normal);
        }
        for (std::uint32_t i = 2; i < corners.size(); ++i) {
            scene.triangles.push_back({{first, first + i - 1, first + i}, material});
        }
    }

    void quad(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d,
              std::uint32_t material) {
        flat(std::array{a, b, c, d}, material);
    }

    // Adds a rectangle between corners low and high. Its normal points along the axis, in the
    // direction of `front`.
    void rectangle(const Axes& axes, const glm::vec2& low, const glm::vec2& high, float at,
                   float front, std::uint32_t material) {
        const auto point = [&](float a, float b) {
            glm::vec3 p(at);
            p[axes.across] = a;
            p[axes.up] = b;
            return p;
        };
        const glm::vec3 a = point(low.x, low.y);
        const glm::vec3 b = point(high.x, low.y);
        const glm::vec3 c = point(high.x, high.y);
        const glm::vec3 d = point(low.x, high.y);
        if (glm::cross(b - a, d - a)[axes.normal] * front > 0.0F) {
            quad(a, b, c, d, material);
        } else {
            quad(a, d, c, b, material);
        }
    }

    // Adds one side of the room: the wall inside and outside, and the reveals of its hole.
    void wall(int normal_axis, bool high, std::uint32_t material, const Hole* hole) {
        const Axes axes{(normal_axis + 1) % 3, (normal_axis + 2) % 3, normal_axis};
        const glm::vec2 low(ROOM_LOW[axes.across], ROOM_LOW[axes.up]);
        const glm::vec2 top(ROOM_HIGH[axes.across], ROOM_HIGH[axes.up]);
        const float inward = high ? -1.0F : 1.0F;
        const float inside = high ? ROOM_HIGH[normal_axis] : ROOM_LOW[normal_axis];
        const float far_side = inside - WALL * inward;
        sheet(axes, low, top, hole, inside, inward, material);
        sheet(axes, low - WALL, top + WALL, hole, far_side, -inward, outside);
        if (hole == nullptr) {
            return;
        }
        const float near = std::min(inside, far_side);
        const float far = std::max(inside, far_side);
        const Axes level{axes.across, axes.normal, axes.up};
        rectangle(level, {hole->low.x, near}, {hole->high.x, far}, hole->low.y, 1.0F, white);
        rectangle(level, {hole->low.x, near}, {hole->high.x, far}, hole->high.y, -1.0F, white);
        const Axes upright{axes.up, axes.normal, axes.across};
        rectangle(upright, {hole->low.y, near}, {hole->high.y, far}, hole->low.x, 1.0F, white);
        rectangle(upright, {hole->low.y, near}, {hole->high.y, far}, hole->high.x, -1.0F, white);
    }

    // Adds a box that is turned about the vertical axis by an angle with this cosine and sine;
    // without a bottom if it stands on something.
    void box(const glm::vec3& base, const glm::vec3& size, std::uint32_t material, bool with_bottom,
             bool with_top = true, glm::vec2 turn = {1.0F, 0.0F}) {
        const auto p = [&](float x, float y, float z) {
            const glm::vec2 from_middle((x - 0.5F) * size.x, (z - 0.5F) * size.z);
            return base + glm::vec3(turn.x * from_middle.x + turn.y * from_middle.y, y * size.y,
                                    turn.x * from_middle.y - turn.y * from_middle.x);
        };
        quad(p(0, 0, 1), p(1, 0, 1), p(1, 1, 1), p(0, 1, 1), material);
        quad(p(1, 0, 1), p(1, 0, 0), p(1, 1, 0), p(1, 1, 1), material);
        quad(p(1, 0, 0), p(0, 0, 0), p(0, 1, 0), p(1, 1, 0), material);
        quad(p(0, 0, 0), p(0, 0, 1), p(0, 1, 1), p(0, 1, 0), material);
        if (with_top) {
            quad(p(0, 1, 1), p(1, 1, 1), p(1, 1, 0), p(0, 1, 0), material);
        }
        if (with_bottom) {
            quad(p(0, 0, 0), p(1, 0, 0), p(1, 0, 1), p(0, 0, 1), material);
        }
    }

    // Adds a column from the floor to the ceiling.
    void column(const glm::vec2& at, float radius) {
        constexpr int SIDES = 24;
        const auto normal = [](int i) {
            // Around a square, and from there to the circle.
            constexpr int QUARTER = SIDES / 4;
            const int quarter = i / QUARTER % 4;
            const float along = 2.0F * static_cast<float>(i % QUARTER) / QUARTER - 1.0F;
            const std::array<glm::vec3, 4> points{{{1.0F, 0.0F, -along},
                                                   {-along, 0.0F, -1.0F},
                                                   {-1.0F, 0.0F, along},
                                                   {along, 0.0F, 1.0F}}};
            return glm::normalize(points[static_cast<std::size_t>(quarter)]);
        };
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        for (int i = 0; i < SIDES; ++i) {
            const glm::vec3 bottom = glm::vec3(at.x, 0.0F, at.y) + radius * normal(i);
            vertex(bottom, normal(i));
            vertex({bottom.x, ROOM_HIGH.y, bottom.z}, normal(i));
        }
        for (std::uint32_t i = 0; i < SIDES; ++i) {
            const std::uint32_t a = first + 2 * i;
            const std::uint32_t b = first + 2 * ((i + 1) % SIDES);
            scene.triangles.push_back({{a, b, b + 1}, white});
            scene.triangles.push_back({{a, b + 1, a + 1}, white});
        }
    }

    // Adds a sphere: a cube of small squares whose points are moved onto it.
    void sphere(const glm::vec3& centre, float radius) {
        constexpr int STEPS = 8;
        for (int side = 0; side < 6; ++side) {
            const int axis = side % 3;
            const float front = side < 3 ? 1.0F : -1.0F;
            const auto first = static_cast<std::uint32_t>(scene.positions.size());
            for (int j = 0; j <= STEPS; ++j) {
                for (int i = 0; i <= STEPS; ++i) {
                    glm::vec3 normal(0.0F);
                    normal[axis] = front;
                    normal[(axis + 1) % 3] = 2.0F * static_cast<float>(i) / STEPS - 1.0F;
                    normal[(axis + 2) % 3] = front * (2.0F * static_cast<float>(j) / STEPS - 1.0F);
                    normal = glm::normalize(normal);
                    vertex(centre + radius * normal, normal);
                }
            }
            constexpr std::uint32_t ROW = STEPS + 1;
            for (std::uint32_t j = 0; j < STEPS; ++j) {
                for (std::uint32_t i = 0; i < STEPS; ++i) {
                    const std::uint32_t a = first + j * ROW + i;
                    scene.triangles.push_back({{a, a + 1, a + ROW + 1}, ball});
                    scene.triangles.push_back({{a, a + ROW + 1, a + ROW}, ball});
                }
            }
        }
    }

    // Adds stairs that rise towards the left wall.
    void stairs() {
        constexpr int STEPS = 5;
        constexpr float RISE = 0.18F;
        constexpr float RUN = 0.3F;
        constexpr float BACK = -2.9F;
        constexpr float FRONT = -1.7F;
        for (int i = 0; i < STEPS; ++i) {
            const float right = ROOM_LOW.x + RUN * static_cast<float>(STEPS - i);
            const float left = right - RUN;
            const float bottom = RISE * static_cast<float>(i);
            const float top = RISE * static_cast<float>(i + 1);
            rectangle({0, 2, 1}, {left, BACK}, {right, FRONT}, top, 1.0F, stone);
            rectangle({1, 2, 0}, {bottom, BACK}, {top, FRONT}, right, 1.0F, stone);
            rectangle({0, 1, 2}, {left, 0.0F}, {right, top}, FRONT, 1.0F, stone);
            rectangle({0, 1, 2}, {left, 0.0F}, {right, top}, BACK, -1.0F, stone);
        }
    }

    void table(const glm::vec3& base) {
        box(base + glm::vec3(0.0F, 0.7F, 0.0F), {1.6F, 0.06F, 0.9F}, wood, true);
        for (const float x : {-0.7F, 0.7F}) {
            for (const float z : {-0.35F, 0.35F}) {
                box(base + glm::vec3(x, 0.0F, z), {0.08F, 0.7F, 0.08F}, wood, false, false);
            }
        }
    }

 private:
    void vertex(const glm::vec3& position, const glm::vec3& normal) {
        scene.positions.push_back(position);
        scene.normals.push_back(normal);
        scene.texture_coordinates.push_back(0.5F * glm::vec2(position.x, position.z));
    }

    void sheet(const Axes& axes, const glm::vec2& low, const glm::vec2& high, const Hole* hole,
               float at, float front, std::uint32_t material) {
        if (hole == nullptr) {
            rectangle(axes, low, high, at, front, material);
            return;
        }
        const std::array x{low.x, hole->low.x, hole->high.x, high.x};
        const std::array y{low.y, hole->low.y, hole->high.y, high.y};
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                if (i != 1 || j != 1) {
                    rectangle(axes, {x[i], y[j]}, {x[i + 1], y[j + 1]}, at, front, material);
                }
            }
        }
    }
};

// Returns a texture of tiles in two colours, with joints.
Texture tiles() {
    constexpr std::uint32_t SIDE = 64;
    constexpr std::uint32_t TILE = 16;
    Texture texture;
    texture.extent = {SIDE, SIDE};
    for (std::uint32_t y = 0; y < SIDE; ++y) {
        for (std::uint32_t x = 0; x < SIDE; ++x) {
            const bool joint = x % TILE == 0 || y % TILE == 0;
            const bool dark = (x / TILE + y / TILE) % 2 == 1;
            using Texel = std::array<std::uint8_t, 4>;
            texture.texels.push_back(joint  ? Texel{90, 88, 84, 255}
                                     : dark ? Texel{150, 96, 70, 255}
                                            : Texel{226, 216, 196, 255});
        }
    }
    return texture;
}

std::vector<Material> demo_materials() {
    std::vector<Material> materials(ball + 1);
    materials[white] = {.name = "white", .albedo = {0.8F, 0.79F, 0.76F}};
    materials[red] = {.name = "red", .albedo = {0.66F, 0.12F, 0.08F}};
    materials[teal] = {.name = "teal", .albedo = {0.1F, 0.45F, 0.48F}};
    materials[outside] = {.name = "outside", .albedo = {0.6F, 0.58F, 0.54F}};
    materials[floor_tiles] = {
        .name = "tiles", .albedo = glm::vec3(0.9F), .albedo_texture = std::uint32_t{0}};
    materials[wood] = {.name = "wood", .albedo = {0.5F, 0.3F, 0.15F}};
    materials[stone] = {.name = "stone", .albedo = {0.55F, 0.54F, 0.5F}};
    materials[lamp] = {.name = "lamp", .albedo = glm::vec3(0.8F), .emission = {6.0F, 4.3F, 2.6F}};
    materials[screen] = {.name = "screen", .albedo = {0.35F, 0.6F, 0.2F}, .double_sided = true};
    materials[ball] = {.name = "ball", .albedo = {0.85F, 0.7F, 0.25F}};
    return materials;
}

}  // namespace

Scene demo_scene() {
    DemoBuilder builder;
    // Axes of walls: x has (y, z), y has (z, x), z has (x, y).
    const Hole window{{0.8F, -1.6F}, {2.6F, 0.8F}};
    const Hole skylight{{0.2F, -2.8F}, {1.6F, -1.2F}};
    builder.wall(0, false, red, nullptr);
    builder.wall(0, true, teal, &window);
    builder.wall(1, false, floor_tiles, nullptr);
    builder.wall(1, true, white, &skylight);
    builder.wall(2, false, white, nullptr);
    builder.wall(2, true, white, nullptr);

    builder.stairs();
    builder.column({-1.6F, -1.6F}, 0.18F);
    builder.column({1.6F, -1.6F}, 0.18F);
    builder.table({0.2F, 0.0F, 0.4F});
    builder.box({-0.1F, 0.76F, 0.4F}, {0.28F, 0.22F, 0.28F}, red, false, true, {0.8F, 0.6F});
    builder.box({-2.6F, 0.0F, 0.9F}, {0.8F, 0.8F, 0.8F}, wood, false, true, {0.8F, 0.6F});
    builder.box({-2.6F, 0.8F, 0.9F}, {0.5F, 0.5F, 0.5F}, teal, false, true, {0.96F, -0.28F});
    builder.box({2.6F, 0.0F, -2.1F}, {0.6F, 0.9F, 0.6F}, stone, false);
    builder.sphere({2.6F, 1.3F, -2.1F}, 0.4F);
    builder.box({-1.2F, 2.8F, 0.3F}, {1.8F, 0.06F, 0.7F}, lamp, true);
    // A folding screen of single sheets, seen from both sides.
    builder.quad({-3.6F, 0.0F, 1.9F}, {-2.8F, 0.0F, 2.5F}, {-2.8F, 1.6F, 2.5F}, {-3.6F, 1.6F, 1.9F},
                 screen);
    builder.quad({-2.8F, 0.0F, 2.5F}, {-2.0F, 0.0F, 1.9F}, {-2.0F, 1.6F, 1.9F}, {-2.8F, 1.6F, 2.5F},
                 screen);

    Scene scene = std::move(builder.scene);
    scene.materials = demo_materials();
    scene.textures.push_back(tiles());
    Sun sun;
    sun.direction = glm::normalize(glm::vec3(-0.74F, -0.6F, 0.3F));
    sun.irradiance = glm::vec3(20.0F, 18.0F, 15.0F);
    scene.suns.push_back(sun);
    scene.sky = {1.6F, 2.1F, 2.8F};
    scene.camera = Camera{{3.5F, 1.7F, 2.6F}, {-1.2F, 1.15F, -1.0F}, 62.0F};
    unwrap(scene, {.extent = Extent{512, 512}});
    return scene;
}

}  // namespace quadtile::baker
