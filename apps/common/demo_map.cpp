// The map uses only +, -, *, / and integers, so every machine computes the same bits.

#include "demo_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::app {

namespace {

// Lengths are in metres, densities in lightmap texels per metre. y is up.
struct Point {
    double x;
    double y;
    double z;
};

constexpr double TERRAIN_HALF = 112.5;
constexpr double VIEW_WIDTH = 228.0;
constexpr double BLOCK_PITCH = 24.0;  // a block of buildings with the street beside it
constexpr double BLOCK_HALF = 9.0;
constexpr int BLOCKS_PER_SIDE = 6;
constexpr double TOWN_HALF = BLOCK_PITCH * BLOCKS_PER_SIDE / 2;

constexpr double GROUND_DENSITY = 0.8;
constexpr double WALL_DENSITY = 1.4;
constexpr double ROOF_DENSITY = 2.1;

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(next() >> 40U) / 16777216.0);
    }

    bool chance(double probability) { return uniform(0.0, 1.0) < probability; }

 private:
    std::uint64_t state_;
};

// Projects triangles along (-0.36, -0.8, -0.48), with upright edges upright, and keeps the greatest
// density of each texel.
class Projector {
 public:
    explicit Projector(std::uint32_t size)
        : size_(size),
          texels_per_metre_(size / VIEW_WIDTH),
          texels_(std::size_t{size} * size, 0.0F) {}

    void triangle(const Point& a, const Point& b, const Point& c, double density) {
        Corner p = project(a);
        Corner q = project(b);
        Corner r = project(c);
        if (side(p, q, r) < 0) {
            std::swap(q, r);
        }
        const auto importance = static_cast<float>(density / texels_per_metre_);
        const auto [left, right] = texel_range(p.x, q.x, r.x);
        const auto [top, bottom] = texel_range(p.y, q.y, r.y);
        for (std::int64_t y = top; y < bottom; ++y) {
            for (std::int64_t x = left; x < right; ++x) {
                const Corner centre{x * SUBTEXELS + SUBTEXELS / 2, y * SUBTEXELS + SUBTEXELS / 2};
                if (inside(p, q, centre) && inside(q, r, centre) && inside(r, p, centre)) {
                    float& texel =
                        texels_[static_cast<std::size_t>(y) * size_ + static_cast<std::size_t>(x)];
                    texel = std::max(texel, importance);
                }
            }
        }
    }

    std::vector<float> take() { return std::move(texels_); }

 private:
    static constexpr std::int64_t SUBTEXELS = 256;

    struct Corner {  // in 1/256 texels, so that the coverage test is exact
        std::int64_t x;
        std::int64_t y;
    };

    [[nodiscard]] Corner project(const Point& p) const {
        const double scale = texels_per_metre_ * SUBTEXELS;
        const double centre = size_ * 0.5 * SUBTEXELS;
        return {static_cast<std::int64_t>(centre + scale * (0.8 * p.x - 0.6 * p.z)),
                static_cast<std::int64_t>(centre + scale * (0.48 * p.x - 0.6 * p.y + 0.64 * p.z))};
    }

    // Returns twice the signed area of a triangle.
    static std::int64_t side(const Corner& p, const Corner& q, const Corner& r) {
        return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    }

    // Top-left rule: if two triangles share an edge, one of them has the texel centres on it.
    static bool inside(const Corner& p, const Corner& q, const Corner& centre) {
        const bool top_left = q.y < p.y || (q.y == p.y && q.x > p.x);
        return side(p, q, centre) >= (top_left ? 0 : 1);
    }

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> texel_range(std::int64_t a, std::int64_t b,
                                                                    std::int64_t c) const {
        const auto [low, high] = std::minmax({a, b, c});
        const std::int64_t size = size_;
        return {std::clamp<std::int64_t>(low / SUBTEXELS, 0, size),
                std::clamp<std::int64_t>(high / SUBTEXELS + 1, 0, size)};
    }

    std::uint32_t size_;
    double texels_per_metre_;
    std::vector<float> texels_;
};

// Position and rotation about the vertical axis.
struct Place {
    double x;
    double z;
    double cosine = 1.0;
    double sine = 0.0;

    [[nodiscard]] Point point(double right, double up, double ahead) const {
        return {x + cosine * right - sine * ahead, up, z + sine * right + cosine * ahead};
    }
    // Returns a place with the same rotation, moved in its own axes.
    [[nodiscard]] Place beside(double right, double ahead) const {
        const Point p = point(right, 0.0, ahead);
        return {p.x, p.z, cosine, sine};
    }
    [[nodiscard]] Place quarter_turn() const { return {x, z, -sine, cosine}; }
};

class Builder {
 public:
    explicit Builder(Projector& projector) : projector_(projector) {}

    void quad(const Point& a, const Point& b, const Point& c, const Point& d, double density) {
        projector_.triangle(a, b, c, density);
        projector_.triangle(a, c, d, density);
    }

    void floor(const Place& place, double half_width, double half_depth, double height,
               double density) {
        quad(place.point(-half_width, height, -half_depth),
             place.point(half_width, height, -half_depth),
             place.point(half_width, height, half_depth),
             place.point(-half_width, height, half_depth), density);
    }

    // Adds four walls from `bottom` to `top`. Here and below, neighbouring faces differ a little:
    // they are charts of their own, to which an unwrapper does not give quite the same density.
    void walls(const Place& place, double half_width, double half_depth, double bottom, double top,
               double density) {
        const std::array<std::array<double, 2>, 4> corners{{{-half_width, -half_depth},
                                                            {half_width, -half_depth},
                                                            {half_width, half_depth},
                                                            {-half_width, half_depth}}};
        for (std::size_t i = 0; i < 4; ++i) {
            const auto& p = corners[i];
            const auto& q = corners[(i + 1) % 4];
            quad(place.point(p[0], bottom, p[1]), place.point(q[0], bottom, q[1]),
                 place.point(q[0], top, q[1]), place.point(p[0], top, p[1]),
                 i % 2 == 0 ? density : density * 1.15);
        }
    }

    void box(const Place& place, double half_width, double half_depth, double bottom, double top,
             double density) {
        walls(place, half_width, half_depth, bottom, top, density);
        floor(place, half_width, half_depth, top, density);
    }

    // Adds eight triangles from a ring to a tip.
    void cone(const Place& place, double radius, double ring, double tip, double density) {
        for (std::size_t i = 0; i < 8; ++i) {
            projector_.triangle(on_circle(place, radius, ring, i),
                                on_circle(place, radius, ring, i + 1), place.point(0.0, tip, 0.0),
                                density * (1.0 + 0.07 * static_cast<double>(i % 4)));
        }
    }

    void cylinder(const Place& place, double radius, double bottom, double top, double density) {
        for (std::size_t i = 0; i < 8; ++i) {
            quad(on_circle(place, radius, bottom, i), on_circle(place, radius, bottom, i + 1),
                 on_circle(place, radius, top, i + 1), on_circle(place, radius, top, i), density);
        }
        cone(place, radius, top, top, density);
    }

    // Adds a pitched roof with its ridge along the depth, and the gables below it.
    void pitched_roof(const Place& place, double half_width, double half_depth, double eaves,
                      double ridge, double density) {
        const double overhang = 0.6;
        const double drop = overhang * (ridge - eaves) / half_width;
        const double depth = half_depth + overhang;
        for (const double side : {-1.0, 1.0}) {
            const double width = side * (half_width + overhang);
            quad(place.point(width, eaves - drop, -depth), place.point(width, eaves - drop, depth),
                 place.point(0.0, ridge, depth), place.point(0.0, ridge, -depth),
                 side < 0.0 ? density : density * 1.4);
            projector_.triangle(place.point(-half_width, eaves, side * half_depth),
                                place.point(half_width, eaves, side * half_depth),
                                place.point(0.0, ridge, side * half_depth), WALL_DENSITY);
        }
    }

    void house(const Place& place, Random& random, double half_width, double half_depth) {
        const double eaves = random.uniform(4.0, 7.5);
        const double ridge = eaves + half_width * random.uniform(0.7, 1.1);
        const double density = WALL_DENSITY * random.uniform(1.0, 1.1);
        walls(place, half_width, half_depth, 0.0, eaves, density);
        pitched_roof(place, half_width, half_depth, eaves, ridge,
                     ROOF_DENSITY * random.uniform(1.0, 1.1));
        const int storeys = static_cast<int>(eaves / 2.8);
        const int windows = static_cast<int>((2.0 * half_depth + 0.2) / 2.6);
        for (int i = 0; i < storeys * windows; ++i) {
            const double along = 1.4 - half_depth + 2.6 * (i % windows);
            const double bottom = 1.2 + 2.8 * (i / windows);
            for (const double side : {-1.0, 1.0}) {
                if (random.chance(0.8)) {
                    window(place, side * (half_width + 0.05), along, bottom, 4.0);
                }
            }
        }
        if (random.chance(0.7)) {
            const Place chimney = place.beside(half_width * 0.4, half_depth * 0.5);
            box(chimney, 0.45, 0.45, eaves, ridge + 1.0, 8.0);
        }
        if (random.chance(0.5)) {  // a lantern beside the door
            box(place.beside(0.8, half_depth + 0.3), 0.3, 0.3, 2.2, 2.8, 20.0);
        }
    }

    void window(const Place& place, double right, double ahead, double bottom, double density) {
        quad(place.point(right, bottom, ahead - 0.5), place.point(right, bottom, ahead + 0.5),
             place.point(right, bottom + 1.3, ahead + 0.5),
             place.point(right, bottom + 1.3, ahead - 0.5), density);
    }

    void tree(const Place& place, Random& random) {
        const double radius = random.uniform(1.6, 3.0);
        const double crown = radius * random.uniform(0.8, 1.4);
        const double density = random.uniform(3.0, 5.0);
        box(place, 0.25, 0.25, 0.0, crown, 4.0);
        cone(place, radius, crown + radius * 0.6, crown + radius * 2.6, density);
        cone(place, radius, crown + radius * 0.6, crown, density);
    }

    void lamp(const Place& place) {
        box(place, 0.12, 0.12, 0.0, 4.0, 10.0);
        box(place, 0.4, 0.4, 4.0, 4.8, 24.0);
    }

    void church(const Place& place) {
        walls(place, 6.0, 13.0, 0.0, 9.0, WALL_DENSITY);
        pitched_roof(place, 6.0, 13.0, 9.0, 16.0, ROOF_DENSITY);
        for (const double along : {-10.0, -6.0, -2.0, 2.0, 6.0, 10.0}) {  // windows, buttresses
            for (const double side : {-1.0, 1.0}) {
                const Place pane = place.beside(side * 6.05, along);
                quad(pane.point(0.0, 2.0, -0.7), pane.point(0.0, 2.0, 0.7),
                     pane.point(0.0, 7.5, 0.7), pane.point(0.0, 7.5, -0.7), 6.0);
                box(place.beside(side * 6.6, along + 2.0), 0.6, 0.5, 0.0, 6.0, WALL_DENSITY);
            }
        }
        const Place tower = place.beside(0.0, 16.0);
        box(tower, 3.6, 3.6, 0.0, 24.0, WALL_DENSITY * 1.05);
        cone(tower, 4.6, 24.0, 38.0, ROOF_DENSITY);
        for (const double side : {-1.0, 1.0}) {  // belfry openings
            box(tower.beside(side * 3.65, 0.0), 0.05, 1.0, 18.0, 22.0, 8.0);
            box(tower.beside(0.0, side * 3.65), 1.0, 0.05, 18.0, 22.0, 8.0);
        }
        box(tower, 0.3, 0.3, 38.0, 41.5, 32.0);  // the cross
        box(tower, 1.2, 0.3, 39.6, 40.2, 32.0);
    }

    void fountain(const Place& place) {
        cylinder(place, 5.0, 0.0, 0.8, 5.0);
        cylinder(place, 2.2, 0.8, 1.8, 10.0);
        box(place, 0.5, 0.5, 1.8, 4.5, 20.0);
        cylinder(place, 0.9, 4.5, 5.4, 32.0);
    }

    void stall(const Place& place, Random& random) {
        walls(place, 1.6, 1.1, 0.0, 1.0, 4.0);
        quad(place.point(-1.9, 3.0, -1.4), place.point(1.9, 3.0, -1.4), place.point(1.9, 2.3, 1.6),
             place.point(-1.9, 2.3, 1.6), 4.0);
        for (const double along : {-1.2, -0.4, 0.4, 1.2}) {  // goods
            box(place.beside(along, 0.3), 0.3, 0.4, 1.0, 1.4, random.uniform(10.0, 20.0));
        }
    }

    void round_tower(const Place& place) {
        cylinder(place, 3.2, 0.0, 9.0, WALL_DENSITY);
        cone(place, 4.0, 9.0, 15.0, ROOF_DENSITY);
    }

 private:
    static Point on_circle(const Place& place, double radius, double up, std::size_t eighth) {
        constexpr double DIAGONAL = 0.70710678118654752;
        constexpr std::array<double, 8> COSINES{1,  DIAGONAL,  0, -DIAGONAL,
                                                -1, -DIAGONAL, 0, DIAGONAL};
        return place.point(radius * COSINES[eighth % 8], up, radius * COSINES[(eighth + 6) % 8]);
    }

    Projector& projector_;
};

// Returns a place at most `reach` from another along both axes. (Numbers are always drawn one after
// the other, because compilers may choose the order of function arguments.)
Place random_place(const Place& place, Random& random, double reach) {
    const double right = random.uniform(-reach, reach);
    const double ahead = random.uniform(-reach, reach);
    return place.beside(right, ahead);
}

// Builds fields in strips of different density, with farms, trees and a ragged outer border.
void build_fields(Builder& builder, Random& random) {
    constexpr double HALF = 12.5;
    constexpr int FIELDS_PER_SIDE = static_cast<int>(TERRAIN_HALF / HALF);
    for (int row = 0; row < FIELDS_PER_SIDE; ++row) {
        for (int column = 0; column < FIELDS_PER_SIDE; ++column) {
            const Place place{HALF * (2 * column + 1) - TERRAIN_HALF,
                              HALF * (2 * row + 1) - TERRAIN_HALF};
            const double distance = std::max(std::abs(place.x), std::abs(place.z));
            const bool outermost = distance > TERRAIN_HALF - 2 * HALF;
            if (outermost && random.chance(0.35)) {
                continue;
            }
            const double density = random.uniform(0.12, 0.5);
            builder.floor(place, HALF, HALF, 0.0, density);
            if (distance < TOWN_HALF + HALF) {
                continue;
            }
            if (random.chance(0.2)) {
                builder.house(place, random, 3.5, 6.0);
            }
            const int trees = static_cast<int>(random.uniform(0.0, 5.0));
            for (int i = 0; i < trees; ++i) {
                builder.tree(random_place(place, random, HALF - 2.0), random);
            }
        }
    }
}

void build_block(Builder& builder, Random& random, Place place) {
    // Some blocks are slightly turned, the others not. Each pair is on the unit circle.
    constexpr std::array<std::array<double, 2>, 4> TURNS{
        {{1.0, 0.0},
         {1.0, 0.0},
         {0.99503719020998915, 0.09950371902099892},
         {0.99503719020998915, -0.09950371902099892}}};
    const auto& turn = TURNS[random.next() % TURNS.size()];
    place.cosine = turn[0];
    place.sine = turn[1];
    if (random.chance(0.5)) {
        place = place.quarter_turn();
    }
    const double kind = random.uniform(0.0, 1.0);
    if (kind < 0.12) {  // a park
        for (int i = 0; i < 9; ++i) {
            builder.tree(random_place(place, random, 7.0), random);
        }
    } else if (kind < 0.3) {  // one large building
        builder.house(place, random, random.uniform(5.0, 6.5), 8.5);
    } else if (kind < 0.6) {  // two rows
        builder.house(place.beside(-4.8, 0.0), random, 3.6, random.uniform(6.0, 8.5));
        builder.house(place.beside(4.8, 0.0), random, 3.6, random.uniform(6.0, 8.5));
    } else {  // four houses around a tree
        for (const double right : {-5.0, 5.0}) {
            for (const double ahead : {-5.0, 5.0}) {
                const Place corner = place.beside(right, ahead);
                const bool turned = random.chance(0.5);
                const double half_width = random.uniform(2.8, 3.4);
                const double half_depth = random.uniform(3.0, 3.8);
                builder.house(turned ? corner.quarter_turn() : corner, random, half_width,
                              half_depth);
            }
        }
        builder.tree(place, random);
    }
}

void build_plaza(Builder& builder, Random& random) {
    builder.church({-10.0, -4.0});
    builder.fountain({10.0, 8.0});
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 4; ++column) {
            builder.stall({4.0 + 5.0 * column, -14.0 + 6.0 * row}, random);
        }
    }
}

void build_town_wall(Builder& builder) {
    constexpr double HALF = TOWN_HALF + 3.0;
    for (const double side : {-HALF, HALF}) {
        builder.box({0.0, side}, HALF, 0.8, 0.0, 6.0, WALL_DENSITY);
        builder.box({side, 0.0}, 0.8, HALF, 0.0, 6.0, WALL_DENSITY);
        for (const double other : {-HALF, 0.0, HALF}) {
            builder.round_tower({other, side});
        }
        builder.round_tower({side, 0.0});
    }
}

void build_town(Builder& builder) {
    Random random(2025);
    build_fields(builder, random);
    builder.floor({0.0, 0.0}, TOWN_HALF, TOWN_HALF, 0.0, GROUND_DENSITY);
    build_town_wall(builder);
    for (int row = 0; row < BLOCKS_PER_SIDE; ++row) {
        for (int column = 0; column < BLOCKS_PER_SIDE; ++column) {
            const Place place{BLOCK_PITCH * (column + 0.5) - TOWN_HALF,
                              BLOCK_PITCH * (row + 0.5) - TOWN_HALF};
            const bool plaza = std::max(std::abs(place.x), std::abs(place.z)) < BLOCK_PITCH;
            if (!plaza) {
                build_block(builder, random, place);
            }
            builder.lamp(place.beside(BLOCK_HALF + 2.0, BLOCK_HALF + 2.0));
        }
    }
    build_plaza(builder, random);
}

}  // namespace

std::vector<float> render_demo_map(std::uint32_t size) {
    Projector projector(size);
    Builder builder(projector);
    build_town(builder);
    return projector.take();
}

}  // namespace quadtile::app
