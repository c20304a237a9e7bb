// The atlas of a lightmap: the charts of a mesh, and what its texels show of it.

#include "unwrap.hpp"

#include "atlas_checks.hpp"
#include "load_scene.hpp"
#include "small_scenes.hpp"
#include "support/errors.hpp"
#include "surface_map.hpp"

#include <gmock/gmock.h>
#include <glm/gtc/matrix_transform.hpp>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <regex>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::HasSubstr;

Scene scene_of(const std::string& name) {
    if (name == "cone") {
        return turned(90, {{5, 0}, {4, 1}, {3, 2}, {2, 3}, {1, 4}, {0, 5}});
    }
    if (name == "sphere") {
        return turned(32, arc(16, 1.0, 0.0, -0.5, 0.5));
    }
    if (name == "torus") {
        return turned(48, arc(24, 1.0, 3.0, 0.0, 2.0));
    }
    if (name == "disc") {
        return turned(1000, {{30, 0}, {0, 0}});
    }
    Scene scene = load_scene(QUADTILE_BAKER_SCENES "/" + name + ".obj").scene;
    scene.normals.clear();
    return scene;
}

Scene random_triangles(std::uint32_t count, float size) {
    Scene scene;
    scene.materials.emplace_back();
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
        add_triangle(scene, {centre, centre + a, centre + b}, {});
    }
    return scene;
}

// Catches charts that overlap, are closer than their gutter, flipped, of another density or
// stretched more than charts.hpp says; surfaces in crumbs, and cuts that are missing; triangles
// that are moved; and vertices that are copied without what they have.
TEST(Unwrap, MakesAnAtlasOfAnyMesh) {
    struct Case {
        const char* name;
        double density;
        double stretch;
        std::size_t least_charts;
        std::size_t most_charts;
        double least_edge = 0.0;  // texels of edges that are measured
        std::uint32_t gutter = 2;
    };
    // The ring goes round twice, the sheet of `copies` is there twice and the other way round.
    const Case cases[] = {{"cube", 10.0, 1.001, 6, 6},
                          {"copies", 8.0, 1.001, 3, 6},
                          {"ring", 20.0, 1.001, 2, 6},
                          {"cone", 12.0, 1.01, 1, 1},
                          {"sphere", 20.0, 1.3, 1, 8},
                          {"torus", 20.0, 1.3, 1, 8},
                          {"disc", 4.0, 1.01, 1, 1, 1.0},
                          {"slivers", 4.0, 1.01, 2, 2, 1.0},
                          {"no gutter", 12.0, 1.01, 2000, 2000, 1.0, 0},
                          {"gutter of 4", 12.0, 1.01, 2000, 2000, 1.0, 4}};
    for (const Case& here : cases) {
        SCOPED_TRACE(here.name);
        const bool is_random = here.most_charts == 2000;
        Scene before = is_random ? random_triangles(2000, 0.5F) : scene_of(here.name);
        for (const glm::vec3& p : before.positions) {
            before.normals.push_back(glm::normalize(p - 0.3F));
            before.texture_coordinates.emplace_back(p.x + 2.0F * p.y, p.z);
        }
        const UnwrapOptions options{.texels_per_unit = static_cast<float>(here.density),
                                    .gutter_texels = here.gutter};
        Scene scene = before;
        unwrap(scene, options);
        Scene again = before;
        unwrap(again, options);
        EXPECT_EQ(scene.light_map_coordinates, again.light_map_coordinates);
        check_atlas(scene, static_cast<int>(here.gutter));
        const std::size_t charts = number_of_charts(scene);
        EXPECT_TRUE(charts >= here.least_charts && charts <= here.most_charts) << charts;
        const auto [least, greatest] = edge_densities(scene, here.least_edge);
        EXPECT_GE(least, here.density / here.stretch);
        EXPECT_LE(greatest, here.density * here.stretch);
        double texels = 0.0;
        ASSERT_EQ(scene.triangles.size(), before.triangles.size());
        for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
            EXPECT_EQ(scene.corners(scene.triangles[i]), before.corners(before.triangles[i]));
            // Seen from the front, none is mirrored: v goes down.
            const MapCorners at = map_corners(scene, scene.triangles[i]);
            const double area = cross(at[1] - at[0], at[2] - at[0]);
            EXPECT_TRUE(area < 0.0 || here.least_edge > 0.0);
            texels -= 0.5 * area;
        }
        const double expected = here.density * here.density * surface_area(scene);
        EXPECT_TRUE(here.least_edge > 0.0 || std::abs(texels / expected - 1.0) < 2e-3);
        EXPECT_LT(scene.light_map_extent->texels(), std::max(96.0 * 96.0, 9.0 * expected));
        ASSERT_EQ(scene.normals.size(), scene.positions.size());
        for (std::size_t i = 0; i < scene.positions.size(); ++i) {
            const glm::vec3 p = scene.positions[i];
            EXPECT_EQ(scene.normals[i], glm::normalize(p - 0.3F));
            EXPECT_EQ(scene.texture_coordinates[i], glm::vec2(p.x + 2.0F * p.y, p.z));
        }
    }
}

// Two halves of one square, which would be one chart. Catches charts across densities, and
// densities that are not multiplied, or multiply areas.
TEST(Unwrap, GivesPartsTheirDensities) {
    Scene scene;
    scene.materials.emplace_back();
    scene.parts = {{0, "coarse", "ground"}, {2, "fine", "court"}};
    add_quad(scene, {{{0, 0, 0}, {8, 0, 0}, {8, 4, 0}, {0, 4, 0}}}, {});
    add_quad(scene, {{{0, 4, 0}, {8, 4, 0}, {8, 8, 0}, {0, 8, 0}}}, {});
    scene.parts[1].density = 4.0F;
    unwrap(scene, {.texels_per_unit = 3.0F});
    check_atlas(scene, 2);
    EXPECT_EQ(number_of_charts(scene), 2U);
    for (const std::size_t part : {0U, 1U}) {
        Scene half = scene;
        half.triangles = {scene.triangles[2 * part], scene.triangles[2 * part + 1]};
        const auto [least, greatest] = edge_densities(half);
        EXPECT_NEAR(least, part == 0 ? 3.0 : 12.0, 0.01);
        EXPECT_NEAR(greatest, part == 0 ? 3.0 : 12.0, 0.01);
    }
}

// Catches instances that are cut one by one, which takes long and gives each other charts by
// rounding; charts of an object in another shape, mirrored or larger; and sizes that are not its.
TEST(Unwrap, GivesInstancesTheSameCharts) {
    const Scene ball = scene_of("sphere");
    const auto turn = [](float angle) {
        return glm::dmat3(glm::rotate(glm::mat4(1.0F), angle, glm::vec3(1.0F, 2.0F, 3.0F)));
    };
    const auto stretch = [](double x) {
        return glm::dmat3(glm::dvec3(x, 0, 0), {0, 1, 0}, {0, 0, 1});
    };
    const glm::dmat3 transforms[] = {turn(0.0F),   0.5 * turn(0.3F),          2.0 * turn(1.1F),
                                     stretch(3.0), turn(2.0F) * stretch(3.0), stretch(-1.0)};
    Scene scene;
    scene.materials.emplace_back();
    for (const glm::dmat3& transform : transforms) {
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        const bool mirrored = glm::determinant(transform) < 0.0;
        scene.parts.push_back({.first_triangle = scene.triangles.size(),
                               .instance = scene.parts.size(),
                               .mesh = 0,
                               .transform = transform,
                               .mirrored = mirrored});
        for (const glm::vec3& position : ball.positions) {
            scene.positions.emplace_back(transform * glm::dvec3(position) +
                                         glm::dvec3(10 * first, 0, 0));
        }
        for (Triangle triangle : ball.triangles) {
            for (std::uint32_t& vertex : triangle.vertices) {
                vertex += first;
            }
            std::swap(triangle.vertices[0], triangle.vertices[mirrored ? 1 : 0]);
            scene.triangles.push_back(triangle);
        }
    }
    unwrap(scene, {.texels_per_unit = 20.0F});
    check_atlas(scene, 2);
    const auto [least, greatest] = edge_densities(scene);
    EXPECT_TRUE(least >= 20.0 / 1.3 && greatest <= 20.0 * 1.3) << least << ", " << greatest;
    // The edges of an object in texels, by its own size.
    const auto edges = [&](std::size_t object) {
        std::vector<double> lengths;
        const double size = std::cbrt(std::abs(glm::determinant(transforms[object])));
        for (std::size_t i = 0; i < ball.triangles.size(); ++i) {
            const MapCorners at =
                map_corners(scene, scene.triangles[object * ball.triangles.size() + i]);
            lengths.push_back(glm::distance(at[0], at[2]) / size);
        }
        return lengths;
    };
    for (const auto& [one, other] : {std::pair(0U, 1U), {0U, 2U}, {3U, 4U}}) {
        EXPECT_THAT(edges(other), testing::Pointwise(testing::DoubleNear(1e-2), edges(one)));
    }
}

// Square sheets of one edge each, above each other; all have the same lightmap coordinates.
Scene sheets(const std::vector<float>& edges) {
    Scene scene;
    scene.materials.emplace_back();
    for (std::size_t i = 0; i < edges.size(); ++i) {
        scene.parts.push_back({.first_triangle = scene.triangles.size(),
                               .object = "sheet " + std::to_string(i),
                               .instance = i});
        add_quad(scene, square(static_cast<float>(i), 0.5F * edges[i]),
                 {{{0.1F, 0.9F}, {0.9F, 0.9F}, {0.7F, 0.3F}, {0.3F, 0.3F}}});
    }
    return scene;
}

// The rectangle of an object in the lightmap, in texels.
Box<glm::dvec2> texels_of(const Scene& scene, std::size_t part) {
    Box<glm::dvec2> box;
    for (const std::size_t triangle : {2 * part, 2 * part + 1}) {
        for (const glm::dvec2& corner : map_corners(scene, scene.triangles[triangle])) {
            box.include(corner);
        }
    }
    return box;
}

// Catches layouts that are kept though they overlap, are missing or outside, or not kept, or
// turned; sizes that are not those of surfaces; and objects that share texels.
TEST(Unwrap, KeepsLayoutsThatAreGood) {
    Scene scene = sheets({2, 4, 3, 3, 3});
    scene.parts[1].density = 0.5F;
    scene.light_map_coordinates[11] = {0.8F, 0.8F};  // on the side of the other triangle
    scene.light_map_coordinates[12].x = 1.5F;
    for (std::size_t i = 16; i < 20; ++i) {
        scene.light_map_coordinates[i] = glm::vec2(std::numeric_limits<float>::quiet_NaN());
    }
    const auto without_use =
        unwrap(scene, {.texels_per_unit = 20.0F, .gutter_texels = 3, .keeps_layouts = true});
    EXPECT_EQ(names_of(scene, without_use), "'sheet 2', 'sheet 3'");
    check_atlas(scene, 3);
    for (const std::size_t part : {0U, 1U}) {
        const glm::dvec2 size = texels_of(scene, part).size();
        EXPECT_NEAR(size.x / size.y, 0.8 / 0.6, 1e-3);
        // A trapezium with a top half as long as its base has 3/4 of its rectangle.
        EXPECT_NEAR(0.75 * size.x * size.y, 40.0 * 40.0, 2.0) << part;
    }
    for (const std::size_t part : {2U, 3U, 4U}) {
        EXPECT_NEAR(texels_of(scene, part).size().y, 60.0, 1e-2);
    }
}

// Empty where it is an atlas.
std::string refusal(Scene scene, const UnwrapOptions& options) {
    const std::string message = quadtile::test::message_of([&] { unwrap(scene, options); });
    if (message.empty()) {
        check_atlas(scene, 2);
    }
    return message;
}

// Catches objects across two pages or beyond one, pages that are not filled, and texels of excluded
// objects on pages that are written.
TEST(Unwrap, MakesPages) {
    std::vector<float> edges(40, 1.0F);
    edges[7] = 5.8F;
    edges[30] = 20.0F;
    Scene scene = sheets(edges);
    scene.parts[30].excluded = true;
    scene.parts[39].instance = scene.parts[0].instance;  // an object of two
    const UnwrapOptions options{
        .extent = Extent{60, 60}, .texels_per_unit = 10.0F, .makes_pages = true};
    unwrap(scene, options);
    check_atlas(scene, 2);
    ASSERT_TRUE(scene.pages);
    // 25 of 12 x 12 texels with their gutters fill a page.
    EXPECT_EQ(scene.pages->count, 3U);
    EXPECT_EQ(*scene.light_map_extent, (Extent{60, 4 * 62 - 2}));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const ScenePart& part = scene.parts[i];
        EXPECT_EQ(part.page >= 3, part.excluded) << i;
        const Box<glm::dvec2> box = texels_of(scene, i);
        EXPECT_GE(box.low.y, scene.pages->first_row(part.page) - 1e-3);
        EXPECT_LE(box.high.y, scene.pages->first_row(part.page) + 60 + 1e-3);
    }
    EXPECT_NE(scene.parts[7].page, scene.parts[0].page);
    EXPECT_EQ(scene.parts[39].page, scene.parts[0].page);

    Scene large = sheets({1, 7});
    EXPECT_THAT(refusal(large, options),
                testing::AllOf(HasSubstr("'sheet 1' has no room on a page of 60 x 60"),
                               HasSubstr("lightmap_density below 1")));
    for (ScenePart& part : large.parts) {
        part.excluded = true;
    }
    EXPECT_THAT(refusal(large, options), HasSubstr("all its objects are excluded"));
    Scene many = sheets(std::vector<float>(700, 5.5F));
    EXPECT_THAT(refusal(many, options), HasSubstr("use fewer texels per unit"));
}

TEST(Unwrap, FillsAnExtentThatIsGiven) {
    for (const Extent extent : {Extent{64, 64}, Extent{200, 50}, Extent{33, 477}}) {
        SCOPED_TRACE(std::to_string(extent.width) + " x " + std::to_string(extent.height));
        Scene scene = scene_of("cube");
        unwrap(scene, {.extent = extent});
        check_atlas(scene, 2);
        EXPECT_EQ(*scene.light_map_extent, extent);
        const auto [least, greatest] = edge_densities(scene);
        EXPECT_NEAR(least, greatest, 1e-3 * greatest);
        EXPECT_GT(least * least * surface_area(scene), 0.4 * double(extent.texels()));
    }
    Scene scene = scene_of("cube");
    unwrap(scene, {.extent = Extent{200, 100}, .texels_per_unit = 9.0F});
    EXPECT_NEAR(edge_densities(scene).first, 9.0, 0.01);
    EXPECT_EQ(*scene.light_map_extent, (Extent{200, 100}));
}

TEST(Unwrap, SaysWhatWouldFit) {
    const Scene scene = scene_of("cube");
    const std::string at_density =
        refusal(scene, {.extent = Extent{60, 60}, .texels_per_unit = 10.0F});
    // The numbers in a message are those that fit.
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        at_density, found, std::regex(R"(use (\d+) x (\d+) texels, or ([\d.]+) texels per unit)")))
        << at_density;
    const auto extent = [&] {
        return Extent{static_cast<std::uint32_t>(std::stoul(found[1])),
                      static_cast<std::uint32_t>(std::stoul(found[2]))};
    };
    EXPECT_EQ(refusal(scene, {.extent = extent(), .texels_per_unit = 10.0F}), "");
    EXPECT_EQ(refusal(scene, {.extent = Extent{60, 60}, .texels_per_unit = std::stof(found[3])}),
              "");

    const Scene many = random_triangles(1000, 0.5F);
    const std::string without_density = refusal(many, {.extent = Extent{60, 60}});
    ASSERT_TRUE(std::regex_search(without_density, found,
                                  std::regex(R"(use at least (\d+) x (\d+) texels)")))
        << without_density;
    EXPECT_EQ(refusal(many, {.extent = extent()}), "");
    EXPECT_THAT(refusal(sheets({1e6F}), {.texels_per_unit = 10.0F}), HasSubstr("fewer texels"));
}

// ---- What the texels see

Scene scene_with(const std::vector<Material>& materials) {
    Scene scene;
    scene.materials = materials;
    return scene;
}

// By one thread and by many, which must come to the same.
SurfaceMap map_of(const Scene& scene, const Extent& extent) {
    const SurfaceMap one = make_surface_map(scene, extent, 1);
    const SurfaceMap many = make_surface_map(scene, extent, 16);
    EXPECT_TRUE(one.coverage == many.coverage && one.albedo == many.albedo &&
                one.normal == many.normal && one.triangle == many.triangle &&
                one.overlapping_texels == many.overlapping_texels);
    return one;
}

double covered_texels(const SurfaceMap& map) {
    return std::accumulate(map.coverage.begin(), map.coverage.end(), 0.0);
}

// Squares of 20 x 20 texels, turned, and fans around a point, in the way of samples and not.
// Catches samples on edges that both triangles have, or none.
TEST(SurfaceMap, CoverageIsAnAreaAndCoversEachSampleOnce) {
    for (const double degrees : {10.0, 45.0, 77.0}) {
        const double angle = degrees * std::numbers::pi / 180.0;
        std::array<glm::vec2, 4> corners;
        for (std::size_t i = 0; i < 4; ++i) {
            const double a = angle + static_cast<double>(i) * std::numbers::pi / 2.0;
            corners[i] = glm::vec2(16.0 + std::sqrt(200.0) * std::cos(a),
                                   16.0 + std::sqrt(200.0) * std::sin(a)) /
                         32.0F;
        }
        Scene scene = scene_with({{}});
        add_quad(scene, square(0.0F), corners);
        const SurfaceMap map = map_of(scene, {32, 32});
        EXPECT_NEAR(covered_texels(map), 400.0, 1.0) << degrees;
        EXPECT_EQ(map.overlapping_texels, 0U);
    }
    for (const glm::vec2 centre : {glm::vec2(8.0F), glm::vec2(8.0625F), glm::vec2(3.3F, 11.7F)}) {
        Scene scene = scene_with({{}});
        const std::array<glm::vec2, 8> rim = {
            {{0, 0}, {8, 0}, {16, 0}, {16, 8}, {16, 16}, {8, 16}, {0, 16}, {0, 8}}};
        for (std::size_t i = 0; i < rim.size(); ++i) {
            add_triangle(scene, {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                         {centre / 16.0F, rim[i] / 16.0F, rim[(i + 1) % 8] / 16.0F});
        }
        const SurfaceMap map = map_of(scene, {16, 16});
        EXPECT_EQ(covered_texels(map), 256.0);
        EXPECT_EQ(map.overlapping_texels, 0U);
    }
    // From samples to samples: those on one of two opposite edges are in it.
    Scene scene = scene_with({{}});
    add_quad(scene, square(0.0F), rectangle(glm::vec2(1.0625F / 4.0F), glm::vec2(2.5625F / 4.0F)));
    EXPECT_EQ(covered_texels(map_of(scene, {4, 4})), 2.25);
}

// What meets in a texel counts by its area; of what overlaps, the first triangle wins.
TEST(SurfaceMap, MixesWhatMeetsAndCountsOverlaps) {
    const auto halves = [](float end, float begin, const Extent& extent) {
        Scene scene = scene_with(
            {Material{.albedo = {1.0F, 0.0F, 0.0F}}, Material{.albedo = {0.0F, 1.0F, 0.0F}}});
        scene.materials[0].double_sided = true;
        add_quad(scene, square(0.0F), rectangle({0.0F, 0.0F}, {end, 1.0F}), 0);
        add_quad(scene, square(0.0F), rectangle({begin, 0.0F}, {1.0F, 1.0F}), 1);
        return map_of(scene, extent);
    };
    const SurfaceMap mixed = halves(0.25F, 0.25F, {1, 1});
    expect_near(mixed.albedo[0], {0.25F, 0.75F, 0.0F}, 1e-6F);
    EXPECT_EQ(mixed.double_sided[0], 0);
    EXPECT_EQ(mixed.overlapping_texels, 0U);
    const SurfaceMap map = halves(0.5F, 0.375F, {8, 4});
    EXPECT_EQ(map.overlapping_texels, 4U);
    expect_near(map.albedo[3], {1.0F, 0.0F, 0.0F}, 1e-6F);
    expect_near(map.albedo[4], {0.0F, 1.0F, 0.0F}, 1e-6F);
    EXPECT_EQ(covered_texels(map), 32.0);
    // Rounded coordinates are no overlap: the edges are on samples.
    constexpr float MIDDLE = 4.0625F / 8.0F;
    constexpr float ROUNDED = 0.004F / 8.0F;
    const SurfaceMap rounded = halves(MIDDLE + ROUNDED, MIDDLE - ROUNDED, {8, 8});
    EXPECT_EQ(rounded.overlapping_texels, 0U);
    EXPECT_EQ(covered_texels(rounded), 64.0);
}

// Charts in more tiles than are made together, with gaps. Catches texels that get the number, or
// the surface, of one in another row of tiles.
TEST(SurfaceMap, NumbersTexelsRowByRow) {
    constexpr std::uint32_t SIDE = 1024;
    Scene scene = scene_with({Material{}});
    std::vector<std::uint32_t> quads(SIDE * SIDE);  // by texel, from 1
    for (std::uint32_t cell = 0; cell < 121; ++cell) {
        const glm::uvec2 low(cell % 11 * 93 + cell % 7, cell / 11 * 93 + cell % 5);
        if (cell % 4 != 0) {
            add_quad(scene, square(0.0F),
                     rectangle(glm::vec2(low) / 1024.0F, glm::vec2(low + 80U) / 1024.0F));
        }
        for (std::uint32_t i = 0; cell % 4 != 0 && i < 80 * 80; ++i) {
            quads[(low.y + i / 80) * SIDE + low.x + i % 80] =
                static_cast<std::uint32_t>(scene.triangles.size() / 2);
        }
    }
    const SurfaceMap map = map_of(scene, {SIDE, SIDE});
    for (std::size_t i = 0; i < quads.size(); ++i) {
        const std::uint32_t number = map.texels[i];
        ASSERT_EQ(number < map.texels.count() ? map.triangle[number] / 2 + 1 : 0, quads[i]) << i;
    }
    EXPECT_EQ(map.triangle.size(), map.texels.places());
}

TEST(SurfaceMap, NoChartIsTooSmall) {
    // One between the samples, one across four texels, a long and thin one.
    Scene scene = scene_with({Material{.albedo = {0.5F, 0.25F, 0.125F}}});
    const std::array<glm::vec3, 3> positions = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    const auto add = [&](const std::array<glm::vec2, 3>& texels) {
        add_triangle(scene, positions, {texels[0] / 16.0F, texels[1] / 16.0F, texels[2] / 16.0F});
    };
    add({{{1.99F, 1.99F}, {1.991F, 1.99F}, {1.99F, 1.991F}}});
    add({{{4.99F, 4.99F}, {5.02F, 5.0F}, {5.0F, 5.02F}}});
    add({{{8.0F, 10.001F}, {15.0F, 10.0F}, {15.0F, 10.002F}}});
    const SurfaceMap map = map_of(scene, {16, 16});
    std::vector<std::size_t> covered;
    for (std::size_t i = 0; i < map.texels.count(); ++i) {
        covered.push_back(map.texels.texel(i));
        EXPECT_EQ(map.texels[covered.back()], i);
        EXPECT_GT(map.coverage[i], 0.0F);
        EXPECT_LE(map.coverage[i], 1.0F / 64.0F);
        expect_near(map.albedo[i], {0.5F, 0.25F, 0.125F}, 1e-6F);
        expect_near(map.normal[i], {0.0F, 0.0F, 1.0F}, 1e-6F);
    }
    EXPECT_THAT(covered,
                testing::ElementsAre(17, 68, 69, 84, 85, 168, 169, 170, 171, 172, 173, 174));
}

TEST(SurfaceMap, NormalsHaveLength1) {
    // Two planes in one texel, at a right angle; in another one, against each other.
    const std::array<glm::vec3, 4> up{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
    const std::array<glm::vec3, 4> planes[] = {
        up, {{{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}}}, up, {{up[0], up[3], up[2], up[1]}}};
    Scene scene = scene_with({{}});
    for (float x = 0.0F; const auto& plane : planes) {
        add_quad(scene, plane, rectangle({x, 0.0F}, {x + 0.25F, 1.0F}));
        x += 0.25F;
    }
    const SurfaceMap map = map_of(scene, {2, 1});
    const float half = std::sqrt(0.5F);
    expect_near(map.normal[0], {half, 0.0F, half}, 1e-6F);
    expect_near(map.normal[1], {0.0F, 0.0F, 1.0F}, 1e-6F);  // the first one's
}

TEST(SurfaceMap, TexturesAreLinearAndRepeat) {
    const Material material{.albedo = {0.5F, 1.0F, 1.0F},
                            .emission = glm::vec3(2.0F),
                            .albedo_texture = 0,
                            .emission_texture = 1};
    Scene scene = scene_with({material});
    scene.textures.push_back(
        {{2, 2},
         {{{255, 255, 255, 255}}, {{0, 0, 0, 255}}, {{188, 188, 188, 255}}, {{0, 255, 0, 255}}}});
    scene.textures.push_back({{1, 1}, {{{128, 0, 255, 255}}}});
    // 64 texels show the texture from 10 to 12: twice in each direction.
    add_quad(scene, square(0.0F), rectangle({0.0F, 0.0F}, {1.0F, 1.0F}));
    for (const glm::vec2& corner : rectangle({10.0F, -3.0F}, {12.0F, -1.0F})) {
        scene.texture_coordinates.push_back(corner);
    }
    const SurfaceMap map = map_of(scene, {64, 64});
    const auto at = [&](std::size_t x, std::size_t y) { return map.albedo[y * 64 + x]; };
    for (const std::size_t repeat : {0U, 32U}) {
        // Around the middles of the texture's texels; bilinear filtering takes a little of others.
        expect_near(at(8 + repeat, 8), {0.5F, 1.0F, 1.0F}, 0.12F);
        expect_near(at(24, 8 + repeat), {0.0F, 0.0F, 0.0F}, 0.12F);
        expect_near(at(8, 24 + repeat), {0.25F, 0.503F, 0.503F}, 0.12F);
        expect_near(at(24 + repeat, 24), {0.0F, 1.0F, 0.0F}, 0.12F);
    }
    // Half-way between white and black, also over the border.
    EXPECT_NEAR((at(15, 8).x + at(16, 8).x) / 2.0F, 0.25F, 0.01F);
    EXPECT_NEAR((at(31, 8).x + at(32, 8).x) / 2.0F, 0.25F, 0.01F);
    expect_near(map.emission[0], {2.0F * 0.21586F, 0.0F, 2.0F}, 1e-4F);
    // Coordinates that transforms make of others give the same.
    scene.materials[0].albedo_coordinates = glm::mat3x2({0.0F, 2.0F}, {-4.0F, 0.0F}, {1.0F, 5.0F});
    const std::array<glm::vec2, 4> made{scene.texture_coordinates[0], scene.texture_coordinates[1],
                                        scene.texture_coordinates[2], scene.texture_coordinates[3]};
    for (std::size_t i = 0; i < 4; ++i) {
        scene.texture_coordinates[i] = {(made[i].y - 5.0F) / 2.0F, (made[i].x - 1.0F) / -4.0F};
    }
    EXPECT_EQ(map_of(scene, {64, 64}).albedo, map.albedo);
    // The whole texture's mean, in one texel.
    const SurfaceMap mean = map_of(scene, {1, 1});
    expect_near(mean.albedo[0], {0.5F * 1.503F / 4.0F, 2.503F / 4.0F, 1.503F / 4.0F}, 2e-3F);
}

// Catches objects without area in the lightmap, or with a chart that is lost in a texel.
TEST(SurfaceMap, ObjectsWithoutATexelAreTold) {
    Scene scene;
    scene.materials.emplace_back();
    for (const float side : {0.5F, 0.0F, 0.01F, 0.1F}) {
        scene.parts.push_back(
            {.first_triangle = scene.triangles.size(), .name = "", .instance = scene.parts.size()});
        add_quad(scene, square(0.0F), rectangle({0.25F, 0.25F}, glm::vec2(0.25F + side)));
    }
    EXPECT_EQ(objects_without_texels(scene, {64, 64}), (std::vector<std::uint32_t>{2, 4}));
}

}  // namespace

}  // namespace quadtile::baker::test
