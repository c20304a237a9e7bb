#include "light_map.hpp"

#include "output_file.hpp"
#include "preview.hpp"
#include "quads.hpp"
#include "support/temporary_directory.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gmock/gmock.h>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <cmath>
#include <numbers>

namespace quadtile::baker::test {

using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float PI = std::numbers::pi_v<float>;

LightMap empty_light_map(const Extent& extent) {
    LightMap map = uniform_light_map(extent, glm::vec3(0.0F));
    map.known.assign(extent.texels(), 0);
    return map;
}

TEST(Dilate, GoesRingByRing) {
    LightMap map = empty_light_map({5, 3});
    map.known[5] = 1;
    map.irradiance[5] = glm::vec3(6.0F);
    map.known[9] = 1;
    map.irradiance[9] = glm::vec3(2.0F);
    map.radiance_sh[2] = map.irradiance;
    const LightMap before = map;
    const std::pair<std::uint32_t, std::vector<float>> rows[] = {
        {1, {6, 6, 0, 2, 2}}, {2, {6, 6, 4, 2, 2}}, {1000, {6, 6, 4, 2, 2}}};
    for (const auto& [rings, row] : rows) {
        map = before;
        dilate(map, rings);
        for (std::size_t i = 0; i < 15; ++i) {
            EXPECT_EQ(map.irradiance[i].x, row[i % 5]) << rings << ", " << i;
        }
        EXPECT_EQ(map.known, before.known);
        EXPECT_TRUE(map.radiance_sh[2] == map.irradiance);
        EXPECT_TRUE(map.radiance_sh[0].empty());
    }
    map = before;
    dilate(map, 0);
    EXPECT_TRUE(map.irradiance == before.irradiance);
    LightMap empty = empty_light_map({4, 4});
    dilate(empty, 5);
    EXPECT_EQ(empty.irradiance, std::vector<glm::vec3>(16, glm::vec3(0.0F)));
}

// A strip of two quads in the plane z = 0 that meet at x = 1, each a chart of 16 x 16 texels in a
// map of 48 x 24: its right one is upside down in the map.
class Strip {
 public:
    static constexpr Extent EXTENT{48, 24};

    explicit Strip(float fold_degrees = 0.0F) {
        scene.materials.emplace_back();
        const auto texels = [](float x, float y) { return glm::vec2(x / 48.0F, y / 24.0F); };
        add_quad(scene, {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}},
                 {texels(4, 20), texels(20, 20), texels(20, 4), texels(4, 4)});
        const float angle = fold_degrees * PI / 180.0F;
        const float x = 1.0F + std::cos(angle);
        const float z = std::sin(angle);
        add_quad(scene, {{{1, 0, 0}, {x, 0, z}, {x, 1, z}, {1, 1, 0}}},
                 {texels(44, 4), texels(28, 4), texels(28, 20), texels(44, 20)});
    }

    // `left` and `right` give the irradiance at a point of the strip.
    template <typename Left, typename Right>
    [[nodiscard]] static LightMap light(const Left& left, const Right& right) {
        LightMap map = empty_light_map(EXTENT);
        for (std::size_t y = 4; y < 20; ++y) {
            for (std::size_t x = 4; x < 44; ++x) {
                const float u = static_cast<float>(x) + 0.5F;
                const float v = static_cast<float>(y) + 0.5F;
                const std::size_t i = y * EXTENT.width + x;
                if (x < 20) {
                    map.irradiance[i] = left((u - 4.0F) / 16.0F, (20.0F - v) / 16.0F);
                    map.known[i] = 1;
                } else if (x >= 28) {
                    map.irradiance[i] = right(1.0F + (44.0F - u) / 16.0F, (v - 4.0F) / 16.0F);
                    map.known[i] = 1;
                }
            }
        }
        dilate(map, 3);
        return map;
    }

    // Root mean square of left - right along the seam, as bilinear filtering shows it.
    [[nodiscard]] static double difference(const LightMap& map) {
        const auto read = [&](double x, double y) {
            const auto left = static_cast<std::size_t>(x - 0.5);
            const auto top = static_cast<std::size_t>(y - 0.5);
            const double across = x - 0.5 - static_cast<double>(left);
            const double down = y - 0.5 - static_cast<double>(top);
            const auto at = [&](std::size_t u, std::size_t v) {
                return double{map.irradiance[v * EXTENT.width + u].y};
            };
            return (at(left, top) * (1.0 - across) + at(left + 1, top) * across) * (1.0 - down) +
                   (at(left, top + 1) * (1.0 - across) + at(left + 1, top + 1) * across) * down;
        };
        double sum = 0.0;
        constexpr int POINTS = 101;
        for (int i = 0; i < POINTS; ++i) {
            const double along = 16.0 * i / (POINTS - 1);
            const double step = read(20.0, 20.0 - along) - read(44.0, 4.0 + along);
            sum += step * step;
        }
        return std::sqrt(sum / POINTS);
    }

    Scene scene;
};

// A ramp along the strip with noise, higher on the right.
LightMap noisy_ramp() {
    std::uint32_t state = 1;
    const auto noise = [&] {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8U) / 16777216.0F * 0.1F;
    };
    return Strip::light([&](float x, float) { return glm::vec3(1.0F + x) + noise(); },
                        [&](float x, float) { return glm::vec3(1.3F + x) + noise(); });
}

TEST(BlendSeams, BothSidesAgreeAndTheRestStays) {
    const Strip strip;
    const LightMap before = noisy_ramp();
    LightMap again = before;
    blend_seams(again, strip.scene);
    LightMap map = before;
    map.radiance_sh[3] = map.irradiance;
    for (glm::vec3& value : map.radiance_sh[3]) {
        value *= -1.0F;  // bands may be negative
    }
    EXPECT_EQ(blend_seams(map, strip.scene), 1U);
    EXPECT_GT(Strip::difference(before), 0.25);
    EXPECT_LT(Strip::difference(map), Strip::difference(before) / 30.0);
    EXPECT_TRUE(map.irradiance == again.irradiance);
    EXPECT_EQ(map.known, before.known);
    float most = 0.0F;
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        const std::size_t x = i % Strip::EXTENT.width;
        if (x < 19 || (x > 20 && x < 43)) {  // not beside the seam, which is at 20 and 44
            EXPECT_EQ(map.irradiance[i], before.irradiance[i]) << x;
        }
        if (map.known[i] != 0) {
            most = std::max(most, glm::distance(map.irradiance[i], before.irradiance[i]));
        }
        EXPECT_LE(glm::distance(map.irradiance[i], -map.radiance_sh[3][i]), 1e-4F);
    }
    EXPECT_GT(most, 0.0F);
    EXPECT_LT(most, 0.15F);  // the gutters took most of it
}

// A seam is where two triangles go on into each other, but not in the map. Catches charts that meet
// at one end of it, hard edges, gaps, folds whose vertices' normals decide, and both sides of a
// wall.
TEST(BlendSeams, AreWhereSurfacesGoOn) {
    const LightMap before = noisy_ramp();
    const auto expect_seams = [&](const Strip& strip, std::size_t seams) {
        LightMap map = before;
        EXPECT_EQ(blend_seams(map, strip.scene), seams);
        EXPECT_EQ(map.irradiance == before.irradiance, seams == 0);
        for (const glm::vec3& irradiance : map.irradiance) {
            EXPECT_GE(irradiance.x, 0.0F);
        }
    };
    for (const auto& [fold, seams] : {std::pair(20.0F, 1U), {40.0F, 0U}, {90.0F, 0U}}) {
        expect_seams(Strip(fold), seams);
    }
    Strip folded(80.0F);
    folded.scene.normals.assign(8, Z);
    expect_seams(folded, 1);
    Strip flat;
    flat.scene.normals.assign(4, Z);
    flat.scene.normals.resize(8, X);
    expect_seams(flat, 0);
    Strip gap;
    for (const auto& [offset, seams] : {std::pair(2e-7F, 1U), {1e-3F, 0U}}) {  // rounding; a gap
        for (std::size_t i = 4; i < 8; ++i) {
            gap.scene.positions[i] += glm::vec3(offset, -offset, offset);
        }
        expect_seams(gap, seams);
    }
    Strip corner;  // the lower ends of the seam are at one place of the map
    for (std::size_t i = 4; i < 8; ++i) {
        corner.scene.light_map_coordinates[i] += glm::vec2(-24.0F / 48.0F, 16.0F / 24.0F);
    }
    expect_seams(corner, 1);
    Strip wall;
    const auto front = square(0.0F);
    wall.scene.positions.clear();
    wall.scene.light_map_coordinates.clear();
    wall.scene.triangles.clear();
    add_quad(wall.scene, front, rectangle({0.1F, 0.1F}, {0.4F, 0.4F}));
    expect_seams(wall, 0);
    add_quad(wall.scene, {front[1], front[0], front[3], front[2]},
             rectangle({0.6F, 0.6F}, {0.9F, 0.9F}));
    expect_seams(wall, 0);
}

std::vector<float> channel(const fs::path& path, const std::string& name) {
    return reference::decode(load_map(path, name).view());
}

std::string quantity_of(const fs::path& path) {
    const Imf::InputFile file(path.c_str());
    EXPECT_EQ(file.header().compression(), Imf::ZIP_COMPRESSION);
    EXPECT_THAT(file.header().typedAttribute<Imf::StringAttribute>("software").value(),
                HasSubstr("quadtile"));
    return file.header().typedAttribute<Imf::StringAttribute>("quantity").value();
}

LightMap light_of_3_by_1() {
    LightMap map = empty_light_map({3, 1});
    map.irradiance = {{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}, {7.0F, 8.0F, 9.0F}};
    map.known = {1, 1, 0};
    return map;
}

// Each quantity in each type of channel is read back as it was. Catches layers that are mixed up or
// keep another unit, values cut down instead of rounded, and infinities.
TEST(WriteLightMap, IsReadBackAsItWas) {
    const TemporaryDirectory directory;
    const fs::path path = directory.path() / "map.exr";
    const auto write = [&](const LightMap& map, Quantity quantity, bool half = false) {
        const LightMapExr exr = encode_light_map_exr(map, quantity, half);
        app::write_file(path, exr.bytes);
        EXPECT_THAT(channel(path, "A"), ElementsAre(1, 1, 0));
        EXPECT_EQ(directory.names(), std::set<std::string>{"map.exr"});
        const Imf::InputFile file(path.c_str());
        const Imf::ChannelList& channels = file.header().channels();
        for (auto it = channels.begin(); it != channels.end(); ++it) {
            EXPECT_EQ(it.channel().type, half ? Imf::HALF : Imf::FLOAT) << it.name();
        }
        return exr.cut;
    };
    const auto of = [&](const std::string& name) { return channel(path, name); };
    const auto near = [](const std::vector<float>& values) {
        return testing::Pointwise(testing::FloatEq(), values);
    };
    LightMap map = light_of_3_by_1();
    for (std::size_t i = 0; i < 4; ++i) {
        map.radiance_sh[i].assign(3, glm::vec3(static_cast<float>(i), -1.0F, 0.5F));
    }
    write(map, Quantity::irradiance);
    EXPECT_EQ(channels_of(path).size(), 16U + 4U);  // and layers
    EXPECT_THAT(of("R"), ElementsAre(1, 4, 7));
    EXPECT_THAT(of("G"), ElementsAre(2, 5, 8));
    EXPECT_THAT(of("B"), ElementsAre(3, 6, 9));
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string layer = "sh" + std::to_string(i);
        EXPECT_EQ(of(layer + ".R"), std::vector<float>(3, static_cast<float>(i)));
        EXPECT_THAT(of(layer + ".G"), ElementsAre(-1, -1, -1));
        EXPECT_THAT(of(layer + ".B"), ElementsAre(0.5F, 0.5F, 0.5F));
    }
    EXPECT_EQ(quantity_of(path), "irradiance");
    write(map, Quantity::radiance);
    EXPECT_THAT(of("G"), near({2.0F / PI, 5.0F / PI, 8.0F / PI}));
    EXPECT_THAT(of("sh3.R"), near({3.0F / PI, 3.0F / PI, 3.0F / PI}));
    EXPECT_EQ(quantity_of(path), "radiance");

    map = light_of_3_by_1();
    map.irradiance = {glm::vec3(PI), glm::vec3(PI / 4), {0.5F, -0.01F, 1.01F}};
    write(map, Quantity::ambient_occlusion);
    EXPECT_THAT(of("R"), near({1.0F, 0.25F, 0.5F / PI}));
    EXPECT_EQ(quantity_of(path), "ambient-occlusion");
    map.irradiance[0] = map.irradiance[1] = glm::vec3(0.25F);
    write(map, Quantity::shadow_mask);
    EXPECT_THAT(of("R"), ElementsAre(0.25F, 0.25F, 0.5F));
    EXPECT_THAT(of("G"), ElementsAre(0.25F, 0.25F, 0));
    EXPECT_THAT(of("B"), ElementsAre(0.25F, 0.25F, 1));
    EXPECT_EQ(quantity_of(path), "shadow-mask");

    map = light_of_3_by_1();
    map.irradiance[0] = {65504.0F, 65519.0F, 1e12F};
    map.irradiance[1].r = 1.0F + 0.75F / 1024;  // between 1 and 1 + 1 / 1024
    map.radiance_sh[3].assign(3, glm::vec3(-1e6F));
    EXPECT_EQ(write(map, Quantity::irradiance, true), 2U + 9U);
    EXPECT_THAT(of("R"), ElementsAre(65504, 1.0F + 1.0F / 1024, 7));
    EXPECT_THAT(of("G"), ElementsAre(65504, 5, 8));
    EXPECT_THAT(of("B"), ElementsAre(65504, 6, 9));
    EXPECT_THAT(of("sh3.G"), ElementsAre(-65504, -65504, -65504));
}

// Pixels of a PNG file.
struct ReadPng {
    explicit ReadPng(const fs::path& path) : image(load_image(path)) {}

    [[nodiscard]] std::array<int, 3> at(std::size_t x, std::size_t y) const {
        const std::byte* pixel = image.texels.get() + (y * image.shape.width + x) * 4;
        return {std::to_integer<int>(pixel[0]), std::to_integer<int>(pixel[1]),
                std::to_integer<int>(pixel[2])};
    }

    LoadedImage image;
};

TEST(EncodeLightMap, CutsTheBrightestHundredth) {
    LightMap map = empty_light_map({200, 1});
    map.known.assign(200, 1);
    map.irradiance.assign(200, {1.0F, 0.5F, 0.0F});
    map.irradiance[7] = {1000.0F, -1.0F, 0.25F};
    map.irradiance[9] = glm::vec3(5000.0F);
    map.known[9] = 0;
    const TemporaryDirectory directory;
    for (const auto& [quantity, unit] :
         {std::pair(Quantity::irradiance, 1.0), {Quantity::radiance, 1.0 / PI}}) {
        const LightMapPng encoded = encode_light_map(map, quantity);
        EXPECT_NEAR(encoded.intensity, unit, 1e-7);
        EXPECT_NEAR(encoded.brightest, 1000.0 * unit, 1e-4);
        const ReadPng png(directory.add("map.png", encoded.bytes));
        EXPECT_THAT(png.at(0, 0), ElementsAre(255, 128, 0));
        EXPECT_THAT(png.at(7, 0), ElementsAre(255, 0, 64));
        EXPECT_THAT(png.at(9, 0), ElementsAre(255, 255, 255));
    }
    // One lamp in the dark is not cut to black, and darkness is no error.
    map.irradiance.assign(200, glm::vec3(0.0F));
    EXPECT_EQ(encode_light_map(map, Quantity::irradiance).intensity, 1.0);
    map.irradiance[7] = glm::vec3(3.0F);
    EXPECT_EQ(encode_light_map(map, Quantity::irradiance).intensity, 3.0);

    map = light_of_3_by_1();  // a picture of the atlas shows what is unknown
    map.irradiance[0] = glm::vec3(0.0F);
    map.irradiance[1] = {100.0F, 0.0F, 0.0F};
    const ReadPng png(directory.add("atlas.png", app::encode_png(draw_atlas(map))));
    EXPECT_THAT(png.at(0, 0), ElementsAre(0, 0, 0));
    EXPECT_THAT(png.at(1, 0), ElementsAre(testing::Gt(200), 0, testing::Lt(200)));
    EXPECT_THAT(png.at(2, 0), ElementsAre(40, 40, 40));
}

// A scene preview's pixels. White is what radiance `exposure` is shown as.
class ScenePreview : public testing::Test {
 protected:
    ScenePreview() {
        options.width = 32;
        options.height = 32;
        options.exposure = 1.0F;
        options.camera = Camera{{0.0F, 0.0F, 2.0F}, {0.0F, 0.0F, 0.0F}, 90.0F};
        scene.materials.resize(2);
    }

    [[nodiscard]] ReadPng draw(const LightMap& map) const {
        const fs::path path = directory_.path() / "scene.png";
        app::write_file(path, app::encode_png(draw_preview(scene, map, options)));
        return ReadPng(path);
    }
    [[nodiscard]] ReadPng draw() const { return draw(uniform_light_map({8, 8}, glm::vec3(PI))); }

    // Returns the shown value of a radiance, by the curve that the sources name.
    static int shown(double radiance) {
        const double x = radiance;
        const double y = std::min(1.0, x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14));
        return static_cast<int>(std::lround(
            255.0 * (y <= 0.0031308 ? 12.92 * y : 1.055 * std::pow(y, 1.0 / 2.4) - 0.055)));
    }
    static auto is(double red, double green, double blue) {
        const auto near = [](double radiance) {
            const int code = shown(radiance);
            return testing::AllOf(testing::Ge(code - 1), testing::Le(code + 1));
        };
        return ElementsAre(near(red), near(green), near(blue));
    }

    Scene scene;
    PreviewOptions options;

 private:
    TemporaryDirectory directory_;
};

const std::array<glm::vec2, 4> WHOLE_MAP = rectangle({0.0F, 0.0F}, {1.0F, 1.0F});

// A quad half as large as what is seen, with one before it and one far behind, in any order.
// Catches backs that are seen, far things that hide near ones, and pixels that are shifted.
TEST_F(ScenePreview, ShowsTheNearestFrontsAndTheSky) {
    scene.materials[0] = {.albedo = {0.1F, 0.5F, 0.8F}, .emission = {0.2F, 0.0F, 0.0F}};
    scene.materials[1] = {.albedo = {0.0F, 0.5F, 0.0F}, .double_sided = true};
    options.sky = {0.0F, 0.05F, 0.3F};
    add_quad(scene, square(0.0F), WHOLE_MAP);
    add_quad(scene, square(1.0F, 0.125F), WHOLE_MAP, 1);
    ReadPng png = draw();
    for (const std::size_t pixel : {8U, 11U, 23U}) {
        EXPECT_THAT(png.at(pixel, pixel), is(0.3, 0.5, 0.8)) << pixel;
        EXPECT_THAT(png.at(pixel, 31 - pixel), is(0.3, 0.5, 0.8)) << pixel;
    }
    for (const std::size_t pixel : {0U, 7U, 24U, 31U}) {
        EXPECT_THAT(png.at(pixel, 16), is(0.0, 0.05, 0.3)) << pixel;
        EXPECT_THAT(png.at(16, pixel), is(0.0, 0.05, 0.3)) << pixel;
    }
    EXPECT_THAT(png.at(16, 16), is(0.0, 0.5, 0.0));
    add_quad(scene, square(-1.0F, 9.0F), WHOLE_MAP, 1);
    EXPECT_THAT(draw().at(2, 16), is(0.0, 0.5, 0.0));
    options.camera->position.z = -0.5F;  // behind the first, which hides nothing now
    EXPECT_THAT(draw().at(16, 16), is(0.0, 0.5, 0.0));
    EXPECT_THAT(draw().at(10, 16), is(0.0, 0.05, 0.3));
}

// Lit from one end to the other: a floor that goes into the distance.
TEST_F(ScenePreview, FiltersTheLightMapInPerspective) {
    scene.materials[0].albedo = glm::vec3(1.0F);
    add_quad(scene, {{{-9, -1, 2}, {9, -1, 2}, {9, -1, -18}, {-9, -1, -18}}}, WHOLE_MAP);
    LightMap map = uniform_light_map({4, 64}, glm::vec3(0.0F));
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        map.irradiance[i] = glm::vec3(PI * (static_cast<float>(i / 4) + 0.5F) / 64.0F);
    }
    const ReadPng png = draw(map);
    for (const std::size_t y : {19U, 22U, 26U, 31U}) {
        // The floor is seen at the distance 1 / tangent, of 20; the map's far end is dark.
        const double tangent = (static_cast<double>(y) + 0.5) / 16.0 - 1.0;
        EXPECT_NEAR(png.at(16, y)[1], shown(1.0 - 1.0 / tangent / 20.0), 2) << y;
    }
    options.exposure.reset();
    for (const float brightness : {1e-3F, 1.0F, 1e4F}) {
        const ReadPng even = draw(uniform_light_map({8, 8}, glm::vec3(brightness)));
        EXPECT_THAT(even.at(16, 31), is(0.8, 0.8, 0.8)) << brightness;
    }
    EXPECT_THAT(draw(uniform_light_map({8, 8}, glm::vec3(0.0F))).at(16, 31), is(0.0, 0.0, 0.0));
}

// A floor and a post on it, without a camera: the picture is filled, but for its border.
TEST_F(ScenePreview, FindsACameraThatSeesAll) {
    scene.materials[0].albedo = glm::vec3(0.5F);
    scene.materials[0].double_sided = true;
    options.camera.reset();
    options.sky = {0.0F, 0.0F, 1.0F};
    options.width = 128;
    options.height = 64;
    add_quad(scene, {{{10, 0, 30}, {20, 0, 30}, {20, 0, 10}, {10, 0, 10}}}, WHOLE_MAP);
    add_quad(scene, {{{14, 0, 20}, {16, 0, 20}, {16, 8, 20}, {14, 8, 20}}}, WHOLE_MAP);
    const ReadPng png = draw();
    int lit = 0;
    for (std::size_t y = 0; y < 64; ++y) {
        for (std::size_t x = 0; x < 128; ++x) {
            const bool border = x == 0 || y == 0 || x == 127 || y == 63;
            const bool sky = png.at(x, y)[0] == 0;
            EXPECT_TRUE(sky || !border) << x << " " << y;
            lit += sky ? 0 : 1;
        }
    }
    EXPECT_GT(lit, 800);
    // The scene's own camera comes first.
    scene.camera = Camera{{15.0F, 9.0F, 20.0F}, {15.0F, 0.0F, 20.0F}, 30.0F};  // from above
    EXPECT_THAT(draw().at(64, 2), is(0.5, 0.5, 0.5));
}

}  // namespace
}  // namespace quadtile::baker::test
