#include "unwrap.hpp"

#include "atlas_checks.hpp"

#include <gmock/gmock.h>

#include <random>
#include <regex>
#include <stdexcept>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::HasSubstr;

// Indexed, counter-clockwise.
void add_polygon(Scene& scene, const std::vector<glm::vec3>& corners) {
    const auto first = static_cast<std::uint32_t>(scene.positions.size());
    scene.positions.insert(scene.positions.end(), corners.begin(), corners.end());
    for (std::uint32_t i = 2; i < corners.size(); ++i) {
        scene.triangles.push_back({{first, first + i - 1, first + i}, 0});
    }
}

Scene empty_scene() {
    Scene scene;
    scene.materials.emplace_back();
    return scene;
}

// Of eight vertices that three sides each share.
Scene cube(float edge) {
    Scene scene = empty_scene();
    for (unsigned i = 0; i < 8; ++i) {
        scene.positions.push_back(edge * glm::vec3(i & 1U, i >> 1U & 1U, i >> 2U));
    }
    constexpr std::array<std::array<std::uint32_t, 4>, 6> SIDES{
        {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
    for (const auto& side : SIDES) {
        scene.triangles.push_back({{side[0], side[1], side[2]}, 0});
        scene.triangles.push_back({{side[0], side[2], side[3]}, 0});
    }
    return scene;
}

void expect_densities(const Scene& scene, double density, double tolerance = 1e-3) {
    const auto [least, greatest] = edge_densities(scene);
    EXPECT_NEAR(least, density, tolerance * density);
    EXPECT_NEAR(greatest, density, tolerance * density);
}

// Seen from the front, no chart is mirrored: v goes down.
void expect_not_mirrored(const Scene& scene) {
    std::size_t mirrored = 0;
    for (const Triangle& triangle : scene.triangles) {
        const MapCorners at = map_corners(scene, triangle);
        mirrored += cross(at[1] - at[0], at[2] - at[0]) >= 0.0 ? 1 : 0;
    }
    EXPECT_EQ(mirrored, 0U);
}

TEST(Unwrap, FlattensACube) {
    Scene scene = cube(3.0F);
    const Scene before = scene;
    unwrap(scene, {.texels_per_unit = 7.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 7.0);
    expect_not_mirrored(scene);
    EXPECT_EQ(number_of_charts(scene), 6U);
    EXPECT_EQ(scene.positions.size(), 24U);
    ASSERT_EQ(scene.triangles.size(), before.triangles.size());
    for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
        EXPECT_EQ(corners_of(scene, scene.triangles[i]), corners_of(before, before.triangles[i]));
    }
}

TEST(Unwrap, FindsChartsThatAreTurned) {
    Scene scene = cube(3.0F);
    // Columns of a rotation.
    const glm::vec3 x = glm::normalize(glm::vec3(1.0F, 2.0F, -0.4F));
    const glm::vec3 y = glm::normalize(glm::cross(x, glm::vec3(0.3F, 0.2F, 1.0F)));
    const glm::vec3 z = glm::cross(x, y);
    for (glm::vec3& p : scene.positions) {
        p = p.x * x + p.y * y + p.z * z;
    }
    unwrap(scene, {.texels_per_unit = 10.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 10.0);
    expect_not_mirrored(scene);
    EXPECT_EQ(number_of_charts(scene), 6U);
    // Each is a square along the axes: 3 x 2 of them need no more than this.
    EXPECT_LE(scene.light_map_extent->texels(), 96U * 96U);
}

TEST(Unwrap, KeepsWhatIsConnectedTogether) {
    Scene scene = empty_scene();
    // An L of three squares; neighbours have vertices of their own.
    add_polygon(scene, {{0, 0, 0}, {0, 0, 4}, {4, 0, 4}, {4, 0, 0}});
    add_polygon(scene, {{4, 0, 0}, {4, 0, 4}, {8, 0, 4}, {8, 0, 0}});
    add_polygon(scene, {{0, 0, 4}, {0, 0, 8}, {4, 0, 8}, {4, 0, 4}});
    unwrap(scene, {.texels_per_unit = 2.5F});
    check_atlas(scene, 2);
    expect_densities(scene, 2.5);
    EXPECT_EQ(number_of_charts(scene), 1U);
    EXPECT_EQ(*scene.light_map_extent, (Extent{20, 20}));
}

TEST(Unwrap, GivesCoplanarCopiesChartsOfTheirOwn) {
    Scene scene = empty_scene();
    for (int i = 0; i < 2; ++i) {
        add_polygon(scene, {{0, 0, 0}, {3, 0, 0}, {3, 2, 0}, {0, 2, 0}});
    }
    add_polygon(scene, {{0, 2, 0}, {3, 2, 0}, {3, 0, 0}, {0, 0, 0}});  // the other way round
    unwrap(scene, {.texels_per_unit = 8.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 8.0);
    expect_not_mirrored(scene);
}

TEST(Unwrap, DoesNotLayChartsOverThemselves) {
    // A flat ring that goes round twice, each quad connected with the next.
    Scene scene = empty_scene();
    constexpr int PER_TURN = 12;
    const auto at = [](int i, double radius) {
        const double angle = 2.0 * 3.14159265358979323846 * (i % PER_TURN) / PER_TURN;
        // The second turn is a little smaller, so that no edges are the same.
        const double scale = i < PER_TURN ? 1.0 : 0.95;
        return glm::vec3(scale * radius * std::cos(angle), scale * radius * std::sin(angle), 1.0);
    };
    for (int i = 0; i + 1 < 2 * PER_TURN; ++i) {
        add_polygon(scene, {at(i, 3.0), at(i, 5.0), at(i + 1, 5.0), at(i + 1, 3.0)});
    }
    unwrap(scene, {.texels_per_unit = 20.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 20.0);
    EXPECT_LE(number_of_charts(scene), 6U);
}

TEST(Unwrap, TakesADiscOfManySlices) {
    Scene scene = empty_scene();
    constexpr int SLICES = 20000;
    for (int i = 0; i < SLICES; ++i) {
        const double angle = 2.0 * 3.14159265358979323846 * i / SLICES;
        scene.positions.emplace_back(30.0 * std::cos(angle), 30.0 * std::sin(angle), 0.0);
    }
    scene.positions.emplace_back(0.0F);
    for (std::uint32_t i = 0; i < SLICES; ++i) {
        scene.triangles.push_back({{SLICES, i, (i + 1) % SLICES}, 0});
    }
    unwrap(scene, {.texels_per_unit = 4.0F});
    EXPECT_EQ(number_of_charts(scene), 1U);
}

TEST(Unwrap, DoesNotFlattenWhatIsBentIntoOneChart) {
    // A roll of 720 strips, half a degree each.
    Scene scene = empty_scene();
    constexpr int STRIPS = 720;
    const auto at = [](int i, float y) {
        const double angle = 2.0 * 3.14159265358979323846 * (i % STRIPS) / STRIPS;
        return glm::vec3(5.0 * std::sin(angle), y, 5.0 * std::cos(angle));
    };
    for (int i = 0; i < STRIPS; ++i) {
        add_polygon(scene, {at(i, 0.0F), at(i + 1, 0.0F), at(i + 1, 2.0F), at(i, 2.0F)});
    }
    unwrap(scene, {.texels_per_unit = 20.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 20.0);  // the cosine of 1 degree is less than 0.02 % from 1
    EXPECT_GE(number_of_charts(scene), 90U);
}

TEST(Unwrap, CopiesVerticesWithWhatTheyHave) {
    Scene scene = cube(1.0F);
    for (const glm::vec3& p : scene.positions) {
        scene.normals.push_back(glm::normalize(p - 0.5F));
        scene.texture_coordinates.emplace_back(p.x + 2.0F * p.y, p.z);
    }
    unwrap(scene, {});
    ASSERT_EQ(scene.normals.size(), scene.positions.size());
    ASSERT_EQ(scene.texture_coordinates.size(), scene.positions.size());
    for (std::size_t i = 0; i < scene.positions.size(); ++i) {
        const glm::vec3 p = scene.positions[i];
        EXPECT_EQ(scene.normals[i], glm::normalize(p - 0.5F));
        EXPECT_EQ(scene.texture_coordinates[i], glm::vec2(p.x + 2.0F * p.y, p.z));
    }
    expect_densities(scene, 10.0);  // by itself
}

Scene random_triangles(std::uint32_t count, float size) {
    Scene scene = empty_scene();
    std::minstd_rand engine(7);
    const auto number = [&] { return std::uniform_real_distribution<float>(-1.0F, 1.0F)(engine); };
    const auto vector = [&] {
        const float x = number();
        const float y = number();
        return glm::vec3(x, y, number());
    };
    while (scene.triangles.size() < count) {
        const glm::vec3 centre = 50.0F * vector();
        const glm::vec3 a = size * vector();
        const glm::vec3 b = size * vector();
        add_polygon(scene, {centre, centre + a, centre + b});
    }
    return scene;
}

TEST(Unwrap, PacksManySmallTriangles) {
    const Scene without = random_triangles(20000, 0.5F);
    for (const std::uint32_t gutter : {0U, 1U, 4U}) {
        SCOPED_TRACE(gutter);
        Scene scene = without;
        unwrap(scene, {.texels_per_unit = 12.0F, .gutter_texels = gutter});
        check_atlas(scene, static_cast<int>(gutter));
        const auto [least, greatest] = edge_densities(scene, 1.0);
        EXPECT_NEAR(least, 12.0, 0.12);
        EXPECT_NEAR(greatest, 12.0, 0.12);
        EXPECT_EQ(number_of_charts(scene), 20000U);
        EXPECT_LT(scene.light_map_extent->texels(), 6'000'000U);
    }
}

TEST(Unwrap, FillsAnExtentThatIsGiven) {
    for (const Extent extent : {Extent{64, 64}, Extent{200, 50}, Extent{33, 477}}) {
        SCOPED_TRACE(std::to_string(extent.width) + " x " + std::to_string(extent.height));
        Scene scene = cube(3.0F);
        unwrap(scene, {.extent = extent});
        check_atlas(scene, 2);
        EXPECT_EQ(*scene.light_map_extent, extent);
        const auto [least, greatest] = edge_densities(scene);
        EXPECT_NEAR(least, greatest, 1e-3 * greatest);
        EXPECT_GT(least * least * surface_area(scene), 0.4 * double(extent.texels()));
    }
    Scene scene = random_triangles(25000, 0.5F);
    unwrap(scene, {.extent = Extent{1024, 1024}});
    check_atlas(scene, 2);
    EXPECT_EQ(*scene.light_map_extent, (Extent{1024, 1024}));
}

TEST(Unwrap, TakesExtentAndDensity) {
    Scene scene = cube(3.0F);
    unwrap(scene, {.extent = Extent{200, 100}, .texels_per_unit = 9.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 9.0);
    EXPECT_EQ(*scene.light_map_extent, (Extent{200, 100}));
}

std::string refusal(Scene scene, const UnwrapOptions& options) {
    try {
        unwrap(scene, options);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "it was not refused";
}

TEST(Unwrap, SaysWhatWouldFit) {
    const Scene scene = cube(3.0F);
    const std::string at_density =
        refusal(scene, {.extent = Extent{60, 60}, .texels_per_unit = 10.0F});
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        at_density, found, std::regex(R"(use (\d+) x (\d+) texels, or ([\d.]+) texels per unit)")))
        << at_density;
    const Extent larger{static_cast<std::uint32_t>(std::stoul(found[1])),
                        static_cast<std::uint32_t>(std::stoul(found[2]))};
    const float coarser = std::stof(found[3]);
    Scene unwrapped = scene;
    EXPECT_NO_THROW(unwrap(unwrapped, {.extent = larger, .texels_per_unit = 10.0F}));
    check_atlas(unwrapped, 2);
    unwrapped = scene;
    EXPECT_NO_THROW(unwrap(unwrapped, {.extent = Extent{60, 60}, .texels_per_unit = coarser}));
    check_atlas(unwrapped, 2);

    const Scene many = random_triangles(3000, 0.5F);
    const std::string without_density = refusal(many, {.extent = Extent{100, 100}});
    ASSERT_TRUE(std::regex_search(without_density, found,
                                  std::regex(R"(they need (\d+) x (\d+) at least)")))
        << without_density;
    const Extent least{static_cast<std::uint32_t>(std::stoul(found[1])),
                       static_cast<std::uint32_t>(std::stoul(found[2]))};
    unwrapped = many;
    EXPECT_NO_THROW(unwrap(unwrapped, {.extent = least}));
    check_atlas(unwrapped, 2);

    EXPECT_THAT(refusal(cube(1e6F), {.texels_per_unit = 10.0F}), HasSubstr("fewer texels"));
}

TEST(Unwrap, RefusesOptionsWithoutSense) {
    for (const float density : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()}) {
        EXPECT_THAT(refusal(cube(1.0F), {.texels_per_unit = density}), HasSubstr("above 0"));
    }
    EXPECT_THAT(refusal(cube(1.0F), {.extent = Extent{0, 64}}), HasSubstr("0 x 64"));
    EXPECT_THAT(refusal(cube(1.0F), {.extent = Extent{64, 40000}}), HasSubstr("64 x 40000"));
}

TEST(Unwrap, KeepsWhatIsThinnerThanATexel) {
    Scene scene = empty_scene();
    add_polygon(scene, {{0, 0, 0}, {10, 0, 0}, {10, 1e-3F, 0}, {0, 1e-3F, 0}});
    add_polygon(scene, {{0, 0, 5}, {1e-4F, 0, 5}, {0, 1e-4F, 5}});
    unwrap(scene, {.texels_per_unit = 4.0F});
    check_atlas(scene, 2);
    EXPECT_EQ(number_of_charts(scene), 2U);
}

// A height field of 2 * side * side triangles, where each is a chart of its own.
Scene height_field(std::uint32_t side) {
    Scene scene = empty_scene();
    std::minstd_rand engine(3);
    std::uniform_real_distribution<float> height(0.0F, 1.0F);
    for (std::uint32_t z = 0; z <= side; ++z) {
        for (std::uint32_t x = 0; x <= side; ++x) {
            scene.positions.emplace_back(x, height(engine), z);
        }
    }
    for (std::uint32_t z = 0; z < side; ++z) {
        for (std::uint32_t x = 0; x < side; ++x) {
            const std::uint32_t a = z * (side + 1) + x;
            const std::uint32_t b = a + side + 1;
            scene.triangles.push_back({{a, b, a + 1}, 0});
            scene.triangles.push_back({{a + 1, b, b + 1}, 0});
        }
    }
    return scene;
}

TEST(Unwrap, TakesAMillionTriangles) {
    Scene scene = height_field(707);
    unwrap(scene, {.texels_per_unit = 3.0F});
    ASSERT_TRUE(scene.light_map_extent);
    EXPECT_EQ(scene.light_map_coordinates.size(), scene.positions.size());
    EXPECT_GT(scene.positions.size(), 2'500'000U);
}

TEST(Unwrap, FlattensManyTrianglesIntoOneChart) {
    Scene scene = height_field(200);
    for (glm::vec3& p : scene.positions) {
        p.y = 0.25F * p.x;  // a slope
    }
    unwrap(scene, {.texels_per_unit = 5.0F});
    check_atlas(scene, 2);
    expect_densities(scene, 5.0);
    EXPECT_EQ(number_of_charts(scene), 1U);
    EXPECT_EQ(scene.positions.size(), 201U * 201U);
}

TEST(Unwrap, IsTheSameTwice) {
    Scene first = height_field(20);
    Scene second = first;
    unwrap(first, {.extent = Extent{256, 256}});
    unwrap(second, {.extent = Extent{256, 256}});
    EXPECT_EQ(first.light_map_coordinates, second.light_map_coordinates);
    EXPECT_EQ(first.positions, second.positions);
    check_atlas(first, 2);
}

}  // namespace

}  // namespace quadtile::baker::test
