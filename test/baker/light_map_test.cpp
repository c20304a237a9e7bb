#include "light_map.hpp"
#include "denoise.hpp"

#include "output_file.hpp"
#include "quads.hpp"
#include "support/temporary_directory.hpp"

#include <Imath/half.h>
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gmock/gmock.h>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

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

// The map is filled part by part. Catches a ring that stops at the border of one.
TEST(Dilate, CrossesParts) {
    LightMap map = empty_light_map({701, 300});
    for (std::size_t i = 0; i < map.known.size(); i += 7) {
        if (i / 701 % 7 == 3) {
            map.known[i] = 1;
            map.irradiance[i] = glm::vec3(1.5F);
        }
    }
    dilate(map, 6);
    EXPECT_EQ(map.irradiance, std::vector<glm::vec3>(map.known.size(), glm::vec3(1.5F)));
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
    const Seams found = find_seams(strip.scene, Strip::EXTENT);
    EXPECT_EQ(found.count, 1U);
    blend_seams(again, found);
    LightMap map = before;
    map.radiance_sh[3] = map.irradiance;
    for (glm::vec3& value : map.radiance_sh[3]) {
        value *= -1.0F;  // bands may be negative
    }
    blend_seams(map, found);
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
    // The right side is kept, so the left one follows.
    std::vector<std::uint8_t> kept(before.known.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = i % Strip::EXTENT.width >= 32 ? 1 : 0;
    }
    map = before;
    blend_seams(map, found, kept);
    EXPECT_LT(Strip::difference(map), Strip::difference(before) / 30.0);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] != 0) {
            EXPECT_LT(glm::distance(map.irradiance[i], before.irradiance[i]), 1e-6F);
        }
    }
}

// A seam is where two triangles go on into each other, but not in the map. Catches charts that meet
// at one end of it, hard edges, gaps, folds whose vertices' normals decide, and both sides of a
// wall.
TEST(BlendSeams, AreWhereSurfacesGoOn) {
    const LightMap before = noisy_ramp();
    const auto expect_seams = [&](const Strip& strip, std::size_t seams) {
        LightMap map = before;
        const Seams found = find_seams(strip.scene, map.extent);
        EXPECT_EQ(found.count, seams);
        blend_seams(map, found);
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

// Two floors that meet at x = 8, of 8 by 8 texels; the first one is bright. A sheet stands on a
// part of their edge. Catches light that is blended through it, and light that is not blended
// beside it.
TEST(BlendSeams, EndWhereASurfaceStands) {
    struct Wall {
        glm::vec3 corner;
        glm::vec3 a;
        glm::vec3 b;
        bool parts;  // the middle of the edge
        bool is_open_beside;
    };
    for (const Wall& wall : std::initializer_list<Wall>{
             {{8, 0, 0}, 8.0F * Z, 3.0F * Y, true, false},
             {{8, 0, -5}, 16.0F * Z, 3.0F * Y, true, false},
             {{8, 0, 2}, 4.0F * Z, 3.0F * Y, true, true},
             {{8, -3, 2}, 4.0F * Z, 6.0F * Y, true, true},
             {{8, 0, 2}, 4.0F * Z, glm::vec3(2, 3, 0), true, true},
             {{4, 0, 4.25F}, 8.0F * X, 3.0F * Y, false, true},  // across the edge
             {{8, -3, 0}, 8.0F * Z, 3.0F * Y, false, true},     // below
             {{4, 2, 0}, 8.0F * Z, 8.0F * X, false, true}}) {   // a ceiling
        Quads scene(3, 1, 8);
        scene.add_material({.double_sided = true});
        scene.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add({8, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add(wall.corner, wall.a, wall.b);
        LightMap map = uniform_light_map(scene.extent(), glm::vec3(0.0F));
        for (const std::size_t texel : scene.texels(0)) {
            map.irradiance[texel] = glm::vec3(1.0F);
        }
        blend_seams(map, find_seams(scene.scene, map.extent));
        const auto dark = [&](std::size_t z) { return map.irradiance[scene.texels(1)[z]].x; };
        EXPECT_EQ(dark(3) == 0.0F && dark(4) == 0.0F, wall.parts) << wall.corner.x << wall.corner.z;
        EXPECT_EQ(dark(0) > 0.01F, wall.is_open_beside) << wall.corner.x << wall.corner.z;
    }
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
    constexpr float ODD = 1.0F + 0.75F / 1024;  // between two halves
    LightMap map = light_of_3_by_1();
    map.irradiance[0] = {65519.0F, ODD, 0.5F};
    for (std::size_t i = 0; i < 4; ++i) {
        map.radiance_sh[i].assign(3, glm::vec3(static_cast<float>(i), -1e6F, 0.5F));
    }
    // The first texel and its last band in the file.
    const auto expect = [&](Quantity quantity, const char* name, bool half, const glm::vec3& texel,
                            const glm::vec3& band, std::size_t cut) {
        SCOPED_TRACE(testing::Message() << name << half);
        app::OutputFile output(path);
        EXPECT_EQ(write_light_map(map, quantity, half, output), cut);
        output.commit();
        EXPECT_THAT(channel(path, "A"), ElementsAre(1, 1, 0));
        EXPECT_EQ(quantity_of(path), name);
        const bool has_bands = !map.radiance_sh[0].empty();
        EXPECT_EQ(channels_of(path).size(), has_bands ? 16U + 4U : 4U);
        const Imf::InputFile file(path.c_str());
        const Imf::ChannelList& channels = file.header().channels();
        for (auto it = channels.begin(); it != channels.end(); ++it) {
            EXPECT_EQ(it.channel().type, half ? Imf::HALF : Imf::FLOAT) << it.name();
        }
        for (int i = 0; i < 3; ++i) {
            const std::string colour(1, "RGB"[i]);
            EXPECT_FLOAT_EQ(channel(path, colour)[0], texel[i]) << colour;
            if (has_bands) {
                EXPECT_FLOAT_EQ(channel(path, "sh3." + colour)[2], band[i]) << colour;
            }
        }
    };
    const glm::vec3 texel = map.irradiance[0];
    const glm::vec3 band(3, -1e6F, 0.5F);
    expect(Quantity::irradiance, "irradiance", false, texel, band, 0);
    expect(Quantity::irradiance, "irradiance", true, {65504, 1.0F + 1.0F / 1024, 0.5F},
           {3, -65504, 0.5F}, 13);
    expect(Quantity::radiance, "radiance", false, texel / PI, band / PI, 0);
    map.radiance_sh = {};
    expect(Quantity::ambient_occlusion, "ambient-occlusion", false, texel / PI, {}, 0);
    expect(Quantity::shadow_mask, "shadow-mask", false, {1, 1, 0.5F}, {}, 0);
}

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
        const LightMapPictures encoded = encode_light_map(map, quantity, true);
        EXPECT_NEAR(encoded.intensity, unit, 1e-7);
        EXPECT_NEAR(encoded.brightest, 1000.0 * unit, 1e-4);
        const LoadedImage png = load_image(directory.add("map.png", encoded.png));
        for (const auto& [texel, red, green, blue] :
             {std::tuple(0, 255, 128, 0), {7, 255, 0, 64}, {9, 255, 255, 255}}) {
            const std::byte* const at = png.texels.get() + std::ptrdiff_t{4} * texel;
            EXPECT_EQ(std::tuple(int(at[0]), int(at[1]), int(at[2])), std::tuple(red, green, blue));
        }
        // The half floats are not cut. The test of examples/threejs reads the file's head.
        std::array<half, 4> texel;
        std::memcpy(texel.data(), &encoded.ktx2.at(encoded.ktx2.size() - 193 * sizeof(texel)),
                    sizeof(texel));
        EXPECT_EQ(texel, (std::array<half, 4>{1000.0F, -1.0F, 0.25F, 1.0F}));
    }
    // One lamp in the dark is not cut to black, and darkness is no error.
    map.irradiance.assign(200, glm::vec3(0.0F));
    EXPECT_EQ(encode_light_map(map, Quantity::irradiance, false).intensity, 1.0);
    map.irradiance[7] = glm::vec3(3.0F);
    EXPECT_EQ(encode_light_map(map, Quantity::irradiance, false).intensity, 3.0);
}

// Light over six decades, darkness, and light that blended seams made negative. Catches light that
// is cut or off by more than half a step of its own range, and texels whose A takes light from
// their neighbours' filters.
TEST(EncodeRgbm, IsAsExactAsItCanBe) {
    std::mt19937 random(1);
    const TemporaryDirectory directory;
    for (int round = 0; round < 20; ++round) {
        LightMap map = empty_light_map({1 + static_cast<std::uint32_t>(random() % 40), 7});
        const float unit = std::exp2(std::uniform_real_distribution(-20.0F, 20.0F)(random));
        std::uniform_real_distribution decades(-6.0F, 0.0F);
        for (glm::vec3& light : map.irradiance) {
            for (int c = 0; c < 3; ++c) {
                light[c] =
                    random() % 9 == 0 ? -1e-9F * unit : unit * std::pow(10.0F, decades(random));
            }
        }
        const auto range = static_cast<float>(rgbm_range(map, 1.0));
        const LoadedImage png = load_image(directory.add("map.png", encode_rgbm(map, range)));
        for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
            const auto sample = [&](std::size_t c) {
                return static_cast<float>(png.texels[4 * i + c]) / 255.0F;
            };
            const glm::vec3 root = glm::sqrt(glm::max(map.irradiance[i], 0.0F) / range);
            const float greatest = std::max({root.r, root.g, root.b});
            ASSERT_LE(greatest, 1.0F);
            ASSERT_NEAR(sample(3), greatest, 1.01F / 255.0F);
            ASSERT_GE(sample(3), std::max(greatest, 1.0F / 255.0F) - 1e-6F);
            for (int c = 0; c < 3; ++c) {
                ASSERT_NEAR(sample(static_cast<std::size_t>(c)) * sample(3), root[c],
                            0.5001F / 255.0F * sample(3));
            }
        }
    }
    EXPECT_EQ(rgbm_range(empty_light_map({2, 2}), 1.0), 1.0);
}

// ---- The denoiser, on lightmaps whose truth is known

constexpr Extent EXTENT{48, 40};

// A chart on the left and one on the right, with nothing between them. The one on the left is of
// two triangles that have no vertex in common, but the same places.
Scene two_charts(bool is_bent = false) {
    Scene scene;
    scene.materials.emplace_back();
    const auto left = rectangle({0, 0}, {0.5F, 1});
    const auto at = square(0.0F);
    const glm::vec3 last = is_bent ? glm::vec3(0, 0, 1) : at[3];
    add_triangle(scene, {at[0], at[1], at[2]}, {left[0], left[1], left[2]});
    add_triangle(scene, {at[0], at[2], last}, {left[0], left[2], left[3]});
    add_quad(scene, square(0.5F), rectangle({0.5F, 0}, {1, 1}));
    return scene;
}

void denoise(LightMap& map, std::vector<float>& error, const Scene& scene,
             std::uint32_t threads = 0) {
    baker::denoise(map, error, make_surface_map(scene, EXTENT), charts_of(scene), threads);
}

// Lit from the left and in shadow above, with noise of a part of the light.
struct Noisy {
    LightMap truth = uniform_light_map(EXTENT, glm::vec3(0.0F));
    LightMap map = truth;
    std::vector<float> error;

    explicit Noisy(float noise) {
        std::mt19937 random(7);
        const auto bell = [&] {
            double sum = -6.0;
            for (int i = 0; i < 12; ++i) {
                sum += static_cast<double>(random()) / 4294967296.0;
            }
            return static_cast<float>(sum);
        };
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const auto x = static_cast<float>(i % EXTENT.width);
            const float light = i / EXTENT.width < 20 ? 0.2F : 1.0F;
            truth.irradiance[i] = light * (1.0F + 0.01F * x) * glm::vec3(1.0F, 0.5F, 0.25F);
            const float one = noise * bell();
            const float other = noise * bell();  // of the two halves
            map.irradiance[i] = truth.irradiance[i] * (1.0F + 0.5F * (one + other));
            error.push_back(grey(truth.irradiance[i]) * 0.5F * (one - other));
        }
    }
};

double rms(const LightMap& map, const LightMap& truth, std::size_t first_row, std::size_t end_row) {
    double squares = 0.0;
    for (std::size_t i = first_row * EXTENT.width; i < end_row * EXTENT.width; ++i) {
        const double difference = grey(map.irradiance[i]) / grey(truth.irradiance[i]) - 1.0;
        squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>((end_row - first_row) * EXTENT.width));
}

// Catches a filter that does nothing, that smears the edge of a shadow into it, that tells less
// noise than is left, that changes light without noise, or depends on threads.
TEST(Denoise, TakesNoiseAndLeavesShadows) {
    Noisy noisy(0.1F);
    LightMap& map = noisy.map;
    map.radiance_sh[1] = map.irradiance;
    const double before = rms(map, noisy.truth, 0, EXTENT.height);
    std::vector<float> error = noisy.error;
    denoise(map, error, two_charts());
    EXPECT_LT(rms(map, noisy.truth, 0, EXTENT.height), 0.3 * before);
    EXPECT_LT(rms(map, noisy.truth, 18, 20), 0.5 * before);  // in the shadow, along its edge
    double squares = 0.0;
    for (std::size_t i = 0; i < error.size(); ++i) {
        squares += std::pow(error[i] / grey(noisy.truth.irradiance[i]), 2.0);
    }
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(error.size())) /
                    rms(map, noisy.truth, 0, EXTENT.height),
                0.85, 0.25);
    EXPECT_TRUE(map.radiance_sh[1] == map.irradiance);  // by the same weights
    for (const std::uint32_t threads : {1U, 3U}) {
        Noisy again(0.1F);
        denoise(again.map, again.error, two_charts(), threads);
        EXPECT_TRUE(again.map.irradiance == map.irradiance && again.error == error);
    }
    Noisy exact(0.0F);
    denoise(exact.map, exact.error, two_charts());
    for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
        EXPECT_NEAR(exact.map.irradiance[i].x, exact.truth.irradiance[i].x, 1e-6F) << i;
    }
}

// Catches light that crosses from one chart to the next, over a fold, or from unknown texels.
TEST(Denoise, StaysWithinCharts) {
    const auto bytes_of_left = [](bool is_bent, auto&& change) {
        Noisy noisy(0.1F);
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const std::size_t x = i % EXTENT.width;
            const std::size_t y = i / EXTENT.width;
            change(noisy, i, x, y);
            // Texels on the fold face a bit of both ways.
            const bool is_on_fold = 5 * x + 3 * y <= 120 && 5 * (x + 1) + 3 * (y + 1) >= 120;
            noisy.map.known[i] = noisy.map.known[i] != 0 && !(is_bent && is_on_fold) ? 1 : 0;
        }
        denoise(noisy.map, noisy.error, two_charts(is_bent), 3);
        std::vector<float> left;
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const std::size_t x = i % EXTENT.width;
            const std::size_t y = i / EXTENT.width;
            const bool is_first = x < 24 && 5 * x + 3 * y > 120;  // triangle
            if (is_first && noisy.map.known[i] != 0) {
                left.push_back(noisy.map.irradiance[i].y);
                left.push_back(noisy.error[i]);
            }
        }
        return left;
    };
    const auto none = [](auto&&...) {};
    const auto right = [](Noisy& noisy, std::size_t i, std::size_t x, std::size_t) {
        if (x >= 24) {
            noisy.map.irradiance[i] *= 1.1F;
            noisy.error[i] *= 5.0F;
        }
    };
    const auto above = [](Noisy& noisy, std::size_t i, std::size_t x, std::size_t y) {
        if (x < 24 && 5 * (x + 1) + 3 * (y + 1) < 120) {
            noisy.map.irradiance[i] *= 1.02F;
        }
    };
    EXPECT_TRUE(bytes_of_left(false, none) == bytes_of_left(false, right));
    EXPECT_FALSE(bytes_of_left(false, none) == bytes_of_left(false, above));
    EXPECT_TRUE(bytes_of_left(true, none) == bytes_of_left(true, above));
    const auto unknown = [](float light) {
        return [light](Noisy& noisy, std::size_t i, std::size_t x, std::size_t) {
            if (x == 5) {
                noisy.map.known[i] = 0;
                noisy.map.irradiance[i] = glm::vec3(light);
                noisy.error[i] = light;
            }
        };
    };
    EXPECT_TRUE(bytes_of_left(false, unknown(1.0F)) ==
                bytes_of_left(false, unknown(std::numeric_limits<float>::quiet_NaN())));
}

// Catches light that is lost at the borders of the parts that a map is filtered in.
TEST(Denoise, DoesNotDependOnThePlaceInTheMap) {
    constexpr Extent LARGE{256, 128};
    constexpr std::size_t SIDE = 60;
    const auto denoised_at = [&](std::size_t left, std::size_t top) {
        Scene scene;
        scene.materials.emplace_back();
        const auto place = [&](std::size_t x, std::size_t y) {
            return glm::vec2(x, y) / glm::vec2(LARGE.width, LARGE.height);
        };
        add_quad(scene, square(0.0F), rectangle(place(left, top), place(left + SIDE, top + SIDE)));
        LightMap map = empty_light_map(LARGE);
        std::vector<float> error(LARGE.texels());
        std::mt19937 random(3);
        const auto visit = [&](const auto& work) {
            for (std::size_t i = 0; i < SIDE * SIDE; ++i) {
                work((top + i / SIDE) * LARGE.width + left + i % SIDE);
            }
        };
        visit([&](std::size_t texel) {
            map.known[texel] = 1;
            map.irradiance[texel] = glm::vec3(1.0F + static_cast<float>(random() % 64) / 640.0F);
            error[texel] = static_cast<float>(random() % 64) / 640.0F - 0.05F;
        });
        baker::denoise(map, error, make_surface_map(scene, LARGE), charts_of(scene), 0);
        std::vector<float> values;
        visit([&](std::size_t texel) {
            values.insert(values.end(), {map.irradiance[texel].y, error[texel]});
        });
        return values;
    };
    const std::vector<float> inside = denoised_at(2, 2);
    for (const auto& [left, top] : {std::pair(100U, 40U), {123U, 3U}, {196U, 68U}}) {
        EXPECT_TRUE(denoised_at(left, top) == inside) << left << ", " << top;
    }
}

}  // namespace
}  // namespace quadtile::baker::test
