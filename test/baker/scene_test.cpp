#include "load_scene.hpp"

#include "atlas_checks.hpp"
#include "gltf_file.hpp"
#include "lit_gltf.hpp"

#include <glm/gtc/matrix_inverse.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>

#include <functional>
#include <random>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

// As an OBJ file, with a triangle on top.
const std::string SQUARE_AND_GABLE =
    "mtllib paints.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 3 0\n"
    "vt 0.25 0\nvt 0.75 0\nvt 0.75 0.5\nvt 0.25 0.5\nvt 0.5 1\nvn 0 0 2\n"
    "usemtl lamp\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl grey\nf -2/-2/1 -3/-3/1 -1/-1/1\n";

// Checks the properties of all scenes; with `front`, that all triangles and normals look there.
void check_scene(const Scene& scene, const glm::vec3& front = glm::vec3(0.0F)) {
    ASSERT_FALSE(scene.triangles.empty());
    ASSERT_EQ(scene.normals.size(), scene.positions.size());
    const bool is_known = front != glm::vec3(0.0F);
    for (std::size_t i = 0; i < scene.positions.size(); ++i) {
        const glm::vec3 p = scene.positions[i];
        ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z));
        ASSERT_NEAR(glm::length(scene.normals[i]), 1.0F, 1e-4F);
        ASSERT_TRUE(!is_known || glm::distance(scene.normals[i], front) < 1e-3F);
    }
    for (const Triangle& triangle : scene.triangles) {
        ASSERT_LT(triangle.material, scene.materials.size());
        for (const std::uint32_t vertex : triangle.vertices) {
            ASSERT_LT(vertex, scene.positions.size());
        }
        const glm::dvec3 normal = area_vector(scene, triangle);
        ASSERT_GT(glm::length(normal), 0.0);
        ASSERT_TRUE(!is_known || glm::distance(glm::normalize(normal), glm::dvec3(front)) < 1e-3);
    }
}

// ---- What is read

TEST_F(SceneFile, IsRead) {
    const LoadedScene loaded = load(square(R"({"asset":{"extras":{"lightmap_size":[123,45]}}})"));
    const Scene& scene = loaded.scene;
    EXPECT_THAT(loaded.warnings, IsEmpty());
    check_scene(scene, {0, 0, 1});
    EXPECT_EQ(scene.triangles.size(), 2U);
    EXPECT_EQ(scene.positions.size(), 4U);
    EXPECT_THAT(scene.light_map_coordinates,
                ElementsAre(glm::vec2(0, 1), glm::vec2(1, 1), glm::vec2(1, 0), glm::vec2(0, 0)));
    EXPECT_EQ(scene.light_map_extent, (Extent{123, 45}));
    EXPECT_THAT(scene.suns, IsEmpty());
    EXPECT_FALSE(scene.camera);
    // The default material.
    ASSERT_EQ(scene.materials.size(), 1U);
    EXPECT_EQ(scene.materials[0].albedo, Material{}.albedo);
    EXPECT_EQ(scene.materials[0].emission, glm::vec3(0.0F));
    EXPECT_FALSE(scene.materials[0].double_sided);

    const LoadedScene bare = load(square(mesh(SQUARE)));
    EXPECT_THAT(bare.warnings, IsEmpty());
    EXPECT_THAT(bare.scene.light_map_coordinates, IsEmpty());
    EXPECT_FALSE(bare.scene.light_map_extent);
}

// Extras of all kinds: each is taken, or ignored with a warning that names it.
TEST_F(SceneFile, TakesExtrasThatMakeSense) {
    const auto load_with = [&](const std::string& file, const std::string& warning) {
        const LoadedScene loaded = load(square(file));
        EXPECT_EQ(loaded.warnings.size(), warning.empty() ? 0U : 1U) << file;
        EXPECT_THAT(testing::PrintToString(loaded.warnings), HasSubstr(warning));
        return loaded.scene;
    };
    for (const std::string size : {"[0,4]", "[4]", "[4,-4]", "\"large\"", "[1.5,2]", "[1e9,1]"}) {
        const std::string file = R"({"asset":{"extras":{"lightmap_size":)" + size + "}}}";
        EXPECT_FALSE(load_with(file, "lightmap_size").light_map_extent);
    }
    const auto part_of = [&](const std::string& name, const std::string& value, bool is_right) {
        return load_with(R"({"nodes":[{"mesh":0,"name":"Floor","extras":{")" + name + R"(":)" +
                             value + "}}]}",
                         is_right ? "" : "node 0 'Floor': its extras." + name)
            .parts[0];
    };
    for (const std::string density : {"2.5", "0", "-1", "1e9", "\"fine\""}) {
        const bool is_right = density == "2.5";
        EXPECT_EQ(part_of("lightmap_density", density, is_right).density, is_right ? 2.5F : 1.0F);
    }
    for (const auto& [value, excluded] :
         {std::pair("true", true), {"false", false}, {"1", true}, {"0", false}, {"\"\"", false}}) {
        EXPECT_EQ(part_of("lightmap_exclude", value, *value != '"').excluded, excluded);
    }
}

// Nodes in nodes with random turns and scales, some mirrored. Catches transforms in another order,
// normals that are transformed as positions are, and triangles that keep their turn though
// mirrored.
TEST_F(SceneFile, AppliesTransforms) {
    std::mt19937 engine(3);
    const auto number = [&](float low, float high) {
        return low + (high - low) * static_cast<float>(engine() % 1000) / 1000.0F;
    };
    const auto text = [](const auto& values, int count) {
        std::string list;
        for (int k = 0; k < count; ++k) {
            list += (k > 0 ? "," : "[") + std::to_string(values[k]);
        }
        return list + "]";
    };
    for (int i = 0; i < 100; ++i) {
        glm::mat4 whole(1.0F);
        std::array<std::string, 2> node;
        for (std::string& properties : node) {
            const glm::vec3 to(number(-9, 9), number(-9, 9), number(-9, 9));
            const glm::quat turn = glm::normalize(
                glm::quat(number(-1, 1), number(-1, 1), number(-1, 1), number(0.1F, 1)));
            glm::vec3 scale(number(0.2F, 3), number(0.2F, 3), number(0.2F, 3));
            scale[static_cast<int>(engine() % 3)] *= engine() % 2 == 0 ? -1.0F : 1.0F;
            const glm::mat4 own =
                glm::scale(glm::translate(glm::mat4(1.0F), to) * glm::mat4_cast(turn), scale);
            whole *= own;
            const glm::vec4 xyzw(turn.x, turn.y, turn.z, turn.w);
            properties = engine() % 2 == 0 ? R"("translation":)" + text(to, 3) + R"(,"rotation":)" +
                                                 text(xyzw, 4) + R"(,"scale":)" + text(scale, 3)
                                           : R"("matrix":)" + text(&own[0][0], 16);
        }
        const Scene scene = load(square(R"({"nodes":[{"children":[1],)" + node[0] +
                                        R"(},{"mesh":0,)" + node[1] + "}]}"))
                                .scene;
        ASSERT_EQ(scene.positions.size(), 4U);
        for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t vertex = scene.source_vertices[k];
            const glm::vec4 at(SQUARE_POSITIONS[3 * vertex], SQUARE_POSITIONS[3 * vertex + 1], 0,
                               1);
            EXPECT_LT(
                glm::distance(scene.positions[k] + glm::vec3(scene.origin), glm::vec3(whole * at)),
                1e-3F)
                << i;
        }
        const glm::vec3 normal =
            glm::normalize(glm::inverseTranspose(glm::mat3(whole)) * glm::vec3(0, 0, 1));
        SCOPED_TRACE(i);
        check_scene(scene, normal);
    }
}

// Catches instances that are left out, placed in the wrong space, or turned before they are scaled.
TEST_F(SceneFile, PlacesInstances) {
    Gltf gltf = square(R"({"nodes":[{"mesh":0,"translation":[10,0,0],"extensions":{
        "EXT_mesh_gpu_instancing":{"attributes":{"TRANSLATION":4,"ROTATION":5,"SCALE":6}}}}],
        "extensionsRequired":["EXT_mesh_gpu_instancing"]})");
    gltf.add("VEC3", {0, 0, 0, 1, 2, 3});
    gltf.add("VEC4", {0, 0, 0, 1, 0, 0, 0.70710678F, 0.70710678F});
    gltf.add("VEC3", {1, 1, 1, 2, 3, 1});
    const Scene scene = load(gltf).scene;
    ASSERT_EQ(scene.positions.size(), 8U);
    expect_near(scene.positions[2], {11, 1, 0});
    // (1, 1, 0) becomes (2, 3, 0), then (-3, 2, 0), then moves.
    expect_near(scene.positions[6], {8, 4, 3});
    const auto lit = load_scene(directory_.path() / "scene.glb", LightMapCoordinates::ignore, true);
    EXPECT_THAT(quadtile::test::message_of([&] { lit.gltf->set_light_map_coordinates(scene); }),
                HasSubstr("node 0 has instances"));
    gltf.json["nodes"][0]["extensions"].front()["attributes"]["SCALE"] = 0;
    EXPECT_THAT(refusal(gltf), HasSubstr("SCALE of its instances"));
}

// Strips, fans and lists; points and lines are left out. Catches a turn of every other triangle.
TEST_F(SceneFile, ReadsAllKindsOfTriangles) {
    Gltf gltf = empty_gltf();
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0, -1, 3, 0});            // strip
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0});                      // fan
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0});  // list
    const auto primitive = [](int positions, int mode) {
        return R"({"attributes":{"POSITION":)" + std::to_string(positions) + R"(},"mode":)" +
               std::to_string(mode) + "}";
    };
    for (const auto& [positions, mode, area] : {std::tuple(0, 5, 6.0), {1, 6, 4.0}, {2, 4, 4.0}}) {
        for (const std::string points : {"", ","}) {
            const LoadedScene loaded = load(gltf.with(mesh(
                primitive(positions, mode) + points + (points.empty() ? "" : primitive(0, 1)))));
            // There are no normals: those of the planes are taken, which is said.
            EXPECT_THAT(loaded.warnings, testing::Contains(HasSubstr("without a normal")));
            EXPECT_EQ(loaded.warnings.size(), points.empty() ? 1U : 2U);
            check_scene(loaded.scene, {0, 0, 1});
            EXPECT_NEAR(surface_area(loaded.scene), area, 1e-6);
        }
    }
    EXPECT_THAT(refusal(gltf.with(mesh(primitive(0, 4)))),
                AllOf(HasSubstr("no multiple of 3"), HasSubstr("'Walls'")));
    EXPECT_THAT(refusal(gltf.with(mesh(primitive(0, 0)))), HasSubstr("no triangles"));
}

TEST_F(SceneFile, ReadsMaterials) {
    const auto with = [](int material) {
        return R"({"attributes":{"POSITION":0,"NORMAL":1},"indices":3,"material":)" +
               std::to_string(material) + "}";
    };
    const LoadedScene loaded = load(
        square(mesh(with(1) + "," + with(0) + "," + SQUARE + "," + with(2))).with(R"({"materials":[
        {"name":"paint","pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,1]},
         "emissiveFactor":[1,0.5,0],"doubleSided":true,
         "extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":8}}},
        {"emissiveFactor":[0,0,1]},
        {"pbrMetallicRoughness":{"baseColorFactor":[2,-1,0.5,0.25]},"alphaMode":"MASK",
         "alphaCutoff":0.75}]})"));
    EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("albedo outside 0..1")));
    const Scene& scene = loaded.scene;
    ASSERT_EQ(scene.triangles.size(), 8U);
    const Material expected[] = {{.albedo = glm::vec3(1.0F), .emission = {0, 0, 1}},
                                 {.name = "paint",
                                  .albedo = {0.1F, 0.2F, 0.3F},
                                  .emission = {8, 4, 0},
                                  .double_sided = true},
                                 {},
                                 {.albedo = {1, 0, 0.5F},
                                  .alpha_mode = AlphaMode::mask,
                                  .alpha = 0.25F,
                                  .alpha_cutoff = 0.75F}};
    for (std::size_t i = 0; i < 4; ++i) {
        const Material& material = scene.materials.at(scene.triangles[2 * i].material);
        const auto parts = [](const Material& of) {
            return std::tuple(of.albedo, of.emission, of.double_sided, of.alpha_mode, of.alpha,
                              of.alpha_cutoff);
        };
        EXPECT_TRUE(parts(material) == parts(expected[i])) << i;
        EXPECT_TRUE(expected[i].name.empty() || material.name == expected[i].name);
    }
}

// Catches pictures that are mixed up, a turn the other way round, another order of turn and scale,
// and a transform of the other texture.
TEST_F(SceneFile, ReadsTextures) {
    Gltf gltf = square(R"({"meshes":[{"primitives":[{"attributes":
        {"POSITION":0,"NORMAL":1,"TEXCOORD_0":4,"TEXCOORD_1":2},"indices":3,"material":0}]}],
        "materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}},
                      "emissiveTexture":{"index":1}}],
        "textures":[{"source":0},{"source":1}],
        "images":[{"mimeType":"image/png","bufferView":5},
                  {"mimeType":"image/png","bufferView":6}]})");
    gltf.add("VEC2", SQUARE_COORDINATES);
    gltf.add_bytes("P6\n2 1\n255\n\x01\x02\x03\xff\xfe\xfd");
    gltf.add_bytes("no picture");
    const LoadedScene loaded = load(gltf);
    const Scene& scene = loaded.scene;
    EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("cannot be read")));
    ASSERT_EQ(scene.textures.size(), 1U);
    EXPECT_EQ(scene.textures[0].extent, (Extent{2, 1}));
    using Texel = std::array<std::uint8_t, 4>;
    EXPECT_THAT(scene.textures[0].texels,
                ElementsAre(Texel{1, 2, 3, 255}, Texel{255, 254, 253, 255}));
    EXPECT_EQ(scene.materials.at(0).albedo_texture, 0U);
    EXPECT_FALSE(scene.materials.at(0).emission_texture);
    EXPECT_THAT(scene.texture_coordinates,
                ElementsAre(glm::vec2(0, 1), glm::vec2(1, 1), glm::vec2(1, 0), glm::vec2(0, 0)));

    const auto with = [&](const std::string& transform) {
        return gltf.with(R"({"materials":[{"emissiveTexture":{"index":0,"extensions":{
            "KHR_texture_transform":)" +
                         transform + "}}}]}");
    };
    const Material material =
        load(with(R"({"offset":[10,20],"scale":[2,4],"rotation":1.5707963267948966})"))
            .scene.materials.at(0);
    EXPECT_EQ(material.albedo_coordinates, glm::mat3x2(1.0F));
    EXPECT_LT(glm::distance(material.emission_coordinates * glm::vec3(1, 0, 1), {10, 18}), 1e-5F);
    EXPECT_LT(glm::distance(material.emission_coordinates * glm::vec3(0, 1, 1), {14, 20}), 1e-5F);
    for (const std::string damaged : {R"({"offset":[1]})", R"({"scale":"2"})",
                                      R"({"rotation":1e99})", R"({"offset":[1,[]]})"}) {
        EXPECT_NE(refusal(with(damaged)), "") << damaged;
    }
}

// A node turns and scales its light and camera: where they are and look changes, no more.
TEST_F(SceneFile, ReadsLightsAndCameras) {
    const auto with = [](const std::string& light, const std::string& intensity = "4") {
        return square(R"({"nodes":[{"mesh":0,"scale":[2,2,2],"children":[1]},
            {"rotation":[-0.70710678,0,0,0.70710678],"scale":[3,3,3],"translation":[1,2,3],
             "camera":0,"extensions":{"KHR_lights_punctual":{"light":0}}}],
            "cameras":[{"type":"perspective","perspective":{"yfov":1.0471975512,"znear":0.1}}],
            "extensionsUsed":["KHR_lights_punctual"],
            "extensions":{"KHR_lights_punctual":{"lights":[{)" +
                      light + R"(,"color":[1,0.5,0.25],"intensity":)" + intensity + "}]}}}");
    };
    const Scene sunny = load(with(R"("type":"directional")")).scene;
    ASSERT_EQ(sunny.suns.size(), 1U);
    EXPECT_THAT(sunny.point_lights, IsEmpty());
    expect_near(sunny.suns[0].direction, {0, -1, 0});  // -Z, turned
    expect_near(sunny.suns[0].irradiance, {4, 2, 1});
    ASSERT_TRUE(sunny.camera);
    expect_near(sunny.camera->position, {2, 4, 6});
    expect_near(glm::normalize(sunny.camera->target - sunny.camera->position), {0, -1, 0});
    EXPECT_NEAR(sunny.camera->vertical_field_degrees, 60.0F, 1e-3F);

    const LoadedScene loaded = load(with(R"("type":"point","range":5)"));
    EXPECT_THAT(loaded.warnings, IsEmpty());
    EXPECT_THAT(loaded.scene.suns, IsEmpty());
    ASSERT_EQ(loaded.scene.point_lights.size(), 1U);
    const PointLight& point = loaded.scene.point_lights[0];
    expect_near(point.position, {2, 4, 6});
    expect_near(point.intensity, {4, 2, 1});
    EXPECT_FALSE(point.is_spot);
    EXPECT_EQ(point.range, 5.0F);
    EXPECT_EQ(point.radius, 0.0F);

    for (const auto& [angles, inner, outer] :
         {std::tuple(R"("innerConeAngle":0.25,"outerConeAngle":1.5)", 0.25F, 1.5F),
          {"", 0.0F, 0.785398F}}) {
        const PointLight spot = load(with(std::string(R"("type":"spot","spot":{)") + angles +
                                          R"(},"extras":{"radius":0.25})"))
                                    .scene.point_lights.at(0);
        EXPECT_TRUE(spot.is_spot);
        expect_near(spot.direction, {0, -1, 0});
        EXPECT_EQ(spot.range, std::numeric_limits<float>::infinity());
        EXPECT_EQ(spot.radius, 0.25F);
        EXPECT_EQ(spot.inner_angle, inner);
        EXPECT_NEAR(spot.outer_angle, outer, 1e-6F);
    }
    EXPECT_THAT(load(with(R"("type":"area")")).warnings,
                ElementsAre(HasSubstr("1 light ignored: of a type")));
    for (const auto& [light, intensity, message] :
         {std::tuple(R"("type":"spot","spot":{"innerConeAngle":1,"outerConeAngle":0.5})", "4",
                     "light 0 of node 1 has cone angles of 1"),
          {R"("type":"spot","spot":{"outerConeAngle":2})", "4", "and 2.0"},
          {R"("type":"spot","spot":{"outerConeAngle":0})", "4", "cone angles"},
          {R"("type":"point","extras":{"radius":-1})", "4", "extras.radius"},
          {R"("type":"point","extras":{"radius":"large"})", "4", "extras.radius"},
          {R"("type":"point","name":"Bulb")", "-1",
           "light 0 'Bulb' of node 1 has a negative intensity or colour"}}) {
        EXPECT_THAT(refusal(with(light, intensity)), HasSubstr(message));
    }
}

TEST_F(SceneFile, HasLightMapCoordinatesEverywhereOrNowhere) {
    const auto two = [](const std::string& first, const std::string& second) {
        return square(R"({"meshes":[{"name":"Walls","primitives":[)" + first +
                      R"(]},{"name":"Lamp","primitives":[)" + second +
                      R"(]}],"nodes":[{"mesh":0},{"mesh":1}],"scenes":[{"nodes":[0,1]}]})")
            .binary();
    };
    const std::string second_without = two(LIT_SQUARE, SQUARE);
    EXPECT_THAT(refusal("two.glb", second_without),
                AllOf(HasSubstr("mesh 1 'Lamp'"), HasSubstr("TEXCOORD_1"), HasSubstr("--unwrap"),
                      Not(HasSubstr("Walls"))));
    EXPECT_THAT(refusal("two.glb", two(SQUARE, LIT_SQUARE)),
                AllOf(HasSubstr("mesh 0 'Walls'"), HasSubstr("--unwrap"), Not(HasSubstr("Lamp"))));
    const Scene scene = load("two.glb", second_without, LightMapCoordinates::ignore).scene;
    EXPECT_EQ(scene.triangles.size(), 4U);
    EXPECT_THAT(scene.light_map_coordinates, IsEmpty());
    const Scene some = load("two.glb", second_without, LightMapCoordinates::where_given).scene;
    EXPECT_EQ(some.triangles.size(), 4U);
    EXPECT_EQ(some.light_map_coordinates.at(1), glm::vec2(1, 1));
    EXPECT_TRUE(std::isnan(some.light_map_coordinates.at(4).x));

    std::vector<float> coordinates = SQUARE_COORDINATES;
    coordinates[6] = -0.5F;
    const std::string outside = square("{}", SQUARE_POSITIONS, coordinates).binary();
    EXPECT_THAT(refusal("outside.glb", outside),
                AllOf(HasSubstr("triangle 1 of mesh 0 'Walls'"), HasSubstr("-0.5"),
                      HasSubstr("outside 0..1"), HasSubstr("--unwrap")));
    EXPECT_NO_THROW((void)load("outside.glb", outside, LightMapCoordinates::ignore));
    coordinates[6] = -5e-5F;  // rounding
    EXPECT_EQ(load(square("{}", SQUARE_POSITIONS, coordinates)).scene.light_map_coordinates.at(3),
              glm::vec2(0.0F));
}

TEST_F(SceneFile, LeavesOutTrianglesThatHaveNoPlace) {
    const auto expect_one_left = [&](const Gltf& gltf, const char* warning) {
        const LoadedScene loaded = load(gltf);
        check_scene(loaded.scene);
        EXPECT_EQ(loaded.scene.triangles.size(), 1U);
        EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr(warning)));
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float odd : {nan, infinity, -infinity}) {
        std::vector<float> positions = SQUARE_POSITIONS;
        positions[10] = odd;
        expect_one_left(square("{}", positions), "1 triangle with vertices that are not");
        positions[0] = odd;
        EXPECT_THAT(refusal(square("{}", positions)), HasSubstr("none of its 2 triangles"));
    }
    std::vector<float> coordinates = SQUARE_COORDINATES;
    coordinates[2] = nan;
    expect_one_left(square("{}", SQUARE_POSITIONS, coordinates),
                    "lightmap coordinates that are not finite");
    std::vector<float> positions = SQUARE_POSITIONS;
    positions[9] = positions[0];  // two corners at one place
    positions[10] = positions[1];
    expect_one_left(square("{}", positions), "1 triangle without area");
}

// ---- What is refused

// Each number of a file that is right becomes another one, and some other changes. Catches numbers
// that are not checked, and sums of them that wrap around.
TEST_F(SceneFile, RefusesWhatIsOutOfRange) {
    const auto refuses = [&](const Json& json, const std::string& what) {
        EXPECT_NE(refusal("scene.glb", Gltf::binary(json.dump(), square().bytes)), "") << what;
    };
    const Json json = Json::parse(square().text());
    const Json flat = json.flatten();
    for (const auto& [place, before] : flat.items()) {
        for (const Json& number : {Json(-1), Json(4294967290U), Json(18446744073709551600U)}) {
            // The reader takes 0 for an offset below it, and the first scene.
            const bool is_taken = place == "/scene" || (place.ends_with("Offset") && number == -1);
            if (before.is_number() && !is_taken) {
                Json changed = flat;
                changed[place] = number;
                refuses(changed.unflatten(), place + ": " + number.dump());
            }
        }
    }
    const std::pair<std::string, std::string> changes[] = {
        {R"("count":4)", R"("count":5)"},
        {R"("count":4)", R"("count":0)"},
        {R"("count":4)", R"("count":3)"},
        {R"("bufferView":0)", R"("byteOffset":4,"bufferView":0)"},
        {R"("componentType":5123)", R"("componentType":5126)"},
        {R"("type":"VEC3")", R"("type":"VEC4")"},
        {R"("byteLength":48)", R"("byteLength":47)"},
        {R"("byteOffset":0)", R"("byteStride":252,"byteOffset":0)"},
        {R"("POSITION":0)", R"("COLOR_0":0)"},
        {R"("indices":3)", R"("indices":0)"},
        {R"("indices":3)", R"("indices":3,"material":2)"},
        {R"("mesh":0)", R"("mesh":0,"children":[0])"},
        {R"("mesh":0)", R"("mesh":0,"children":[8])"},
        {R"("mesh":0)", R"("mesh":0,"scale":[1,2])"},
        {R"("scene":0)", R"("scene":6)"}};
    for (const auto& [what, with] : changes) {
        std::string text = json.dump();
        const std::size_t at = text.find(what);
        ASSERT_NE(at, std::string::npos) << what;
        refuses(Json::parse(text.replace(at, what.size(), with)), with);
    }
    Gltf gltf = empty_gltf();
    gltf.add("VEC3", SQUARE_POSITIONS);
    gltf.add({0, 1, 4});
    EXPECT_THAT(refusal(gltf.with(mesh(R"({"attributes":{"POSITION":0},"indices":1})"))),
                AllOf(HasSubstr("vertex 4"), HasSubstr("'Walls'")));
    EXPECT_THAT(refusal(square(R"({"extensionsRequired":["MINE_thing"]})")),
                AllOf(HasSubstr("'MINE_thing'"), HasSubstr("export the scene without it")));
    EXPECT_EQ(refusal(square(R"({"extensionsRequired":["KHR_lights_punctual"]})")), "");
}

TEST_F(SceneFile, RefusesWhatIsNoScene) {
    EXPECT_THAT(refusal(directory_.path() / "missing.glb"), HasSubstr("there is no such file"));
    EXPECT_THAT(refusal(directory_.path() / "missing.obj"), HasSubstr("there is no such file"));
    fs::create_directory(directory_.path() / "folder.gltf");
    EXPECT_THAT(refusal(directory_.path() / "folder.gltf"), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal("scene.fbx", ""), AllOf(HasSubstr(".glb"), HasSubstr(".obj")));
    for (const std::string name : {"scene.gltf", "scene.glb", "scene.obj", "SCENE.GLB"}) {
        for (const std::string& bytes :
             {std::string(), std::string("{}"), std::string("glTF"), std::string("\x89PNG"),
              std::string("[[[["), std::string("{\"asset\":3}"), std::string(100000, '['),
              std::string(1000, '\0')}) {
            EXPECT_NE(refusal(name, bytes), "") << name << ": " << bytes.substr(0, 20);
        }
    }
}

// ---- OBJ

TEST_F(SceneFile, IsReadFromObj) {
    for (const bool has_materials : {false, true}) {
        if (has_materials) {
            (void)added("paints.mtl",
                        "newmtl grey\nKd 0.5 0.5 0.5\n\n"
                        "newmtl lamp\nKd 0.1 0.2 0.3\nKe 4 5 6\n");
        }
        const LoadedScene loaded = load("scene.obj", SQUARE_AND_GABLE);
        const Scene& scene = loaded.scene;
        EXPECT_THAT(testing::PrintToString(loaded.warnings),
                    HasSubstr(has_materials ? "{}" : "paints.mtl"));
        check_scene(scene, {0, 0, 1});
        EXPECT_EQ(scene.triangles.size(), 3U);
        EXPECT_EQ(scene.positions.size(), 5U);
        EXPECT_NEAR(surface_area(scene), 4.0 + 2.0, 1e-6);
        ASSERT_EQ(scene.light_map_coordinates.size(), scene.positions.size());
        for (std::size_t i = 0; i < scene.positions.size(); ++i) {
            const glm::vec3 p = scene.positions[i];
            // v goes up in the file.
            EXPECT_EQ(scene.light_map_coordinates[i],
                      glm::vec2(0.5F + p.x / 4.0F, 1.0F - (p.y + 1.0F) / 4.0F));
        }
        const Material& lamp = scene.materials.at(scene.triangles[0].material);
        EXPECT_EQ(lamp.albedo, has_materials ? glm::vec3(0.1F, 0.2F, 0.3F) : Material{}.albedo);
        EXPECT_EQ(lamp.emission, has_materials ? glm::vec3(4, 5, 6) : glm::vec3(0.0F));
        if (has_materials) {
            EXPECT_EQ(lamp.name, "lamp");
            EXPECT_EQ(scene.materials.at(scene.triangles[2].material).name, "grey");
        }
    }
    // An arrowhead whose first corner is the one that points inward.
    const Scene scene = load("scene.obj", "v 0 1 0\nv -2 0 0\nv 0 4 0\nv 2 0 0\nf 1 4 3 2\n").scene;
    EXPECT_EQ(scene.triangles.size(), 2U);
    EXPECT_NEAR(surface_area(scene), 6.0, 1e-6);
    check_scene(scene, {0, 0, 1});
}

TEST_F(SceneFile, RefusesObjThatIsOutOfRange) {
    const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
    const std::pair<const char*, const char*> cases[] = {
        {"f 1 2 4", ""},
        {"f 1/1 2/1 3/2", ""},
        {"f 1//1 2//1 3//2", ""},
        {"f 1 2 -9", ""},
        {"f 0 1 2", ""},
        {"f 1 2 99999999999", ""},
        {"f 1/1 2/1 3/-7", ""},
        {"v 3e20 0 0\nv 0 1e20 0\no Far\nf 1 4 5", "triangle 0 of object 0 'Far' at (3e+20, 0, 0)"},
        {"o Roof\nf 1/1 2/1 3/1\no Wall\nf 1 2 3", "'Wall'"},
        {"vt 1.5 0\nf 1/1 2/1 3/2", "outside 0..1"}};
    for (const auto& [face, text] : cases) {
        const std::string error = refusal("scene.obj", points + face + "\n");
        EXPECT_NE(error, "") << face;
        EXPECT_THAT(error, HasSubstr(text));
    }
    // For the reader of the file this one has no normal.
    const LoadedScene odd = load("scene.obj", points + "f 1//1 2//1 3//-2\n");
    check_scene(odd.scene, {0, 0, 1});
    EXPECT_THAT(odd.warnings, ElementsAre(HasSubstr("1 corner of triangles without a normal")));
    // A triangle that is left out does not give others its object's name.
    const Scene named =
        load("scene.obj", points + "o Roof\nf 1 1 2\no Wall\nf 1 1 2\nf 1 2 3\no Door\nf 1 3 2\n")
            .scene;
    ASSERT_EQ(named.triangles.size(), 2U);
    EXPECT_EQ(named.name_of(0), "triangle 0 of object 1 'Wall'");
    EXPECT_EQ(named.name_of(1), "triangle 0 of object 2 'Door'");
}

}  // namespace

}  // namespace quadtile::baker::test
