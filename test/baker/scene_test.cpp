#include "load_scene.hpp"

#include "atlas_checks.hpp"
#include "gltf_file.hpp"
#include "lit_gltf.hpp"
#include "traced_scene.hpp"

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

// ---- Files, and what they say is expected of them

Json list_of(const auto& value, int count) {
    Json list = Json::array();
    for (int i = 0; i < count; ++i) {
        list.push_back(value[i]);
    }
    return list;
}

Json list_of(const glm::mat3x2& columns) {
    return {list_of(columns[0], 2), list_of(columns[1], 2), list_of(columns[2], 2)};
}

template <typename T, typename ToJson>
Json all_of(const std::vector<T>& values, const ToJson& to_json) {
    Json list = Json::array();
    for (const T& value : values) {
        list.push_back(to_json(value));
    }
    return list;
}

Json or_null(const auto& value) {
    return value ? Json(*value) : Json();
}

Json to_json(const Material& material) {
    return {{"name", material.name},
            {"albedo", list_of(material.albedo, 3)},
            {"emission", list_of(material.emission, 3)},
            {"double_sided", material.double_sided},
            {"albedo_texture", or_null(material.albedo_texture)},
            {"emission_texture", or_null(material.emission_texture)},
            {"albedo_coordinates", list_of(material.albedo_coordinates)},
            {"emission_coordinates", list_of(material.emission_coordinates)},
            {"alpha_mode", static_cast<int>(material.alpha_mode)},
            {"alpha", material.alpha},
            {"alpha_cutoff", material.alpha_cutoff}};
}

Json to_json(const PointLight& light) {
    return {{"position", list_of(light.position, 3)},
            {"intensity", list_of(light.intensity, 3)},
            {"radius", light.radius},
            {"range", light.range},
            {"is_spot", light.is_spot},
            {"direction", list_of(light.direction, 3)},
            {"inner_angle", light.inner_angle},
            {"outer_angle", light.outer_angle}};
}

// What a file is read as, by the names of Scene.
Json to_json(const LoadedScene& loaded) {
    const Scene& scene = loaded.scene;
    const auto vec3 = [](const glm::vec3& v) { return list_of(v, 3); };
    const auto vec2 = [](const glm::vec2& v) { return list_of(v, 2); };
    const auto extent = [](const Extent& e) { return Json({e.width, e.height}); };
    Json json{
        {"warnings", loaded.warnings},
        {"positions",
         all_of(scene.positions,
                [&](const glm::vec3& p) { return list_of(p + glm::vec3(scene.origin), 3); })},
        {"light_map_coordinates", all_of(scene.light_map_coordinates, vec2)},
        {"texture_coordinates", all_of(scene.texture_coordinates, vec2)},
        {"area", surface_area(scene)},
        {"point_lights", all_of(scene.point_lights, [](const auto& l) { return to_json(l); })}};
    json["light_map_extent"] = scene.light_map_extent ? extent(*scene.light_map_extent) : Json();
    json["parts"] = all_of(scene.parts, [](const ScenePart& part) {
        return Json{{"density", part.density}, {"excluded", part.excluded}};
    });
    json["suns"] = all_of(scene.suns, [&](const Sun& sun) {
        return Json{{"direction", vec3(sun.direction)}, {"irradiance", vec3(sun.irradiance)}};
    });
    json["textures"] = all_of(scene.textures, [&](const Texture& texture) {
        return Json{{"extent", extent(texture.extent)}, {"texels", texture.texels}};
    });
    json["triangles"] = Json::array();
    for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
        const Triangle& triangle = scene.triangles[i];
        json["triangles"].push_back({{"name", scene.name_of(i)},
                                     {"front", list_of(scene.plane_normal(triangle), 3)},
                                     {"material", to_json(scene.materials[triangle.material])}});
    }
    if (scene.camera) {
        const glm::vec3 direction = scene.camera->target - scene.camera->position;
        json["camera"] = {{"position", vec3(scene.camera->position)},
                          {"direction", vec3(glm::normalize(direction))},
                          {"field", scene.camera->vertical_field_degrees}};
    }
    return json;
}

// Members that are not expected do not count; of a text parts are expected.
void expect_json(const Json& found, const Json& expected, const std::string& place) {
    if (expected.is_object() && found.is_object()) {
        for (const auto& [key, value] : expected.items()) {
            expect_json(found.value(key, Json()), value, place + "/" + key);
        }
    } else if (found.is_string()) {
        for (const Json& part : expected.is_array() ? expected : Json({expected})) {
            EXPECT_THAT(found, HasSubstr(part.get<std::string>())) << place;
        }
    } else if (expected.is_array() && found.is_array()) {
        EXPECT_EQ(found.size(), expected.size()) << place << found;
        for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
            expect_json(found[i], expected[i], place + "/" + std::to_string(i));
        }
    } else if (expected.is_number() && found.is_number()) {
        EXPECT_NEAR(found.get<double>(), expected.get<double>(), 1e-5) << place;
    } else {
        const bool is_none =
            expected.is_null() && found.is_number() && !std::isfinite(found.get<double>());
        EXPECT_TRUE(is_none || found == expected) << place << ": " << found;
    }
}

// Each file tells in `expected` what it is read as, or the error. Catches what is read from another
// place or in another unit, left out, or taken though it makes no sense.
TEST_F(SceneFile, IsWhatItSays) {
    std::size_t cases = 0;
    for (const auto& entry : fs::directory_iterator(QUADTILE_BAKER_SCENES "/cases")) {
        const std::string text = quadtile::test::read_file(entry.path());
        if (entry.path().extension() != ".gltf" && entry.path().extension() != ".obj") {
            continue;  // buffers and materials
        }
        const Json expected = is_gltf(entry.path())
                                  ? Json::parse(text)["extras"]["expected"]
                                  : Json::parse(text.substr(2, text.find('\n') - 2));
        const std::string how = expected.value("coordinates", "");
        Json found;
        const std::string error = quadtile::test::message_of([&] {
            const LoadedScene loaded =
                load_scene(entry.path(), how == "ignore" ? LightMapCoordinates::ignore
                                         : how == ""     ? LightMapCoordinates::read
                                                         : LightMapCoordinates::where_given);
            check_scene(loaded.scene);
            found = to_json(loaded);
        });
        found["coordinates"] = how;
        if (!error.empty()) {
            EXPECT_THAT(error, HasSubstr(entry.path().string()));
            found["error"] = error;
        }
        EXPECT_EQ(expected.contains("error"), !error.empty()) << entry.path() << ": " << error;
        expect_json(found, expected, entry.path().stem());
        ++cases;
    }
    EXPECT_GT(cases, 50U);
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

// Primitives that share accessors, and a vertex that none uses. Catches vertices that are taken for
// those of the other primitive, and a scene whose origin depends on what is not in it.
TEST_F(SceneFile, HasTheVerticesThatTrianglesUse) {
    Gltf gltf;
    std::vector<float> positions;
    std::vector<float> coordinates{0, 0};
    positions.assign(3, 0.0F);
    for (const float x : {1e6F, 1e6F + 8.0F}) {
        for (std::size_t i = 0; i < SQUARE_POSITIONS.size(); ++i) {
            positions.push_back(SQUARE_POSITIONS[i] + (i % 3 == 0 ? x : 0.0F));
        }
        coordinates.insert(coordinates.end(), SQUARE_COORDINATES.begin(), SQUARE_COORDINATES.end());
    }
    gltf.add("VEC3", positions);
    gltf.add("VEC2", coordinates);
    gltf.add({5, 6, 7, 5, 7, 8});
    gltf.add({1, 2, 3, 1, 3, 4});
    const std::string shared = R"({"attributes":{"POSITION":0,"TEXCOORD_1":1},"indices":)";
    gltf.with(mesh(shared + "2}," + shared + "3}")).with(R"({"nodes":[{"mesh":0}]})");
    const Scene scene = load(gltf).scene;
    EXPECT_GT(scene.origin.x, 9e5);
    EXPECT_EQ(scene.parts.size(), 2U);
    std::vector<std::uint32_t> sources = scene.source_vertices;
    std::ranges::sort(sources);
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    EXPECT_EQ(sources, std::vector<std::uint32_t>({1, 2, 3, 4, 5, 6, 7, 8}));
    for (std::size_t i = 0; i < scene.positions.size(); ++i) {
        const std::size_t from = std::size_t{3} * scene.source_vertices[i];
        EXPECT_EQ(scene.positions[i].x + scene.origin.x, positions[from]);
        EXPECT_EQ(scene.positions[i].y + scene.origin.y, positions[from + 1]);
    }
}

// ---- What is refused

// Each number of a file that is right becomes another one, and some other changes. Catches numbers
// that are not checked, and sums of them that wrap around.
TEST_F(SceneFile, RefusesWhatIsOutOfRange) {
    const auto refuses = [&](const Json& json, const std::string& what) {
        EXPECT_NE(refusal("scene.glb", glb_of(json.dump(), square().bytes)), "") << what;
    };
    const Json json = Json::parse(square().text());
    const Json flat = json.flatten();
    for (const auto& [place, before] : flat.items()) {
        for (const Json& number : {Json(-1), Json(4294967290U), Json(18446744073709551600U)}) {
            if (before.is_number()) {
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
}

TEST_F(SceneFile, RefusesWhatIsNoScene) {
    for (const std::string name : {"missing.glb", "missing.obj"}) {
        EXPECT_THAT(refusal(directory_.path() / name), HasSubstr("there is no such file"));
    }
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

// ---- Kinds of files that exporters write: each was refused, lost or lit wrongly

class SceneKinds : public SceneFile {
 protected:
    // The square with a material, and with the warnings that it gives.
    [[nodiscard]] Material material_of(const std::string& material,
                                       const testing::Matcher<std::string>& warnings) const {
        const LoadedScene loaded = load(
            square(mesh(R"({"attributes":{"POSITION":0,"TEXCOORD_1":2},"indices":3,"material":0})"))
                .with(R"({"materials":[)" + material + "]}"));
        EXPECT_THAT(testing::PrintToString(loaded.warnings), warnings) << material;
        return loaded.scene.materials.at(0);
    }
};

// Catches COLOR_0 that is ignored, in another type, without alpha, or in place of another factor.
TEST_F(SceneKinds, VertexColoursTimesFactorTimesTexture) {
    const std::string floats(R"("componentType":5126,"type":"VEC3"})");
    const std::string bytes(R"("componentType":5121,"type":"VEC4","normalized":true})");
    for (const bool has_alpha : {false, true}) {
        Gltf gltf =
            square(
                mesh(
                    R"({"attributes":{"POSITION":0,"TEXCOORD_1":2,"COLOR_0":4},"indices":3,"material":0})"))
                .with(R"({"materials":[{"alphaMode":"BLEND","pbrMetallicRoughness":
            {"baseColorFactor":[1,0.5,0.25,0.5],"metallicFactor":0}}]})");
        if (has_alpha) {
            gltf.add_bytes("\x33\x66\x99\x33\x33\x66\x99\x33\x33\x66\x99\x33\x33\x66\x99\x33");
            gltf.json["accessors"][4] = Json::parse(R"({"bufferView":4,"count":4,)" + bytes);
        } else {
            gltf.add("VEC3",
                     {0.2F, 0.4F, 0.6F, 0.2F, 0.4F, 0.6F, 0.2F, 0.4F, 0.6F, 0.2F, 0.4F, 0.6F});
        }
        const Scene scene = load(gltf).scene;
        const SurfaceMap map = make_surface_map(scene, {4, 4}, 1);
        expect_near(map.albedo.at(map.texels[5]), {0.2F, 0.2F, 0.15F}, 1e-3F);
        const TracedScene traced = make_traced_scene(scene, map.texels, 1.0F);
        ASSERT_EQ(traced.alpha_triangles.size(), 2U);
        EXPECT_FLOAT_EQ(traced.alpha_triangles[0].alpha[1], has_alpha ? 0.1F : 0.5F);
    }
    const Scene obj = load("scene.obj",
                           "v 0 0 0 0.2 0.4 0.6\nv 1 0 0 0.2 0.4 0.6\nv 0 1 0 0.2 0.4 0.6\n"
                           "v 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2 4 3\n",
                           LightMapCoordinates::where_given)
                          .scene;
    EXPECT_THAT(obj.colours, AllOf(testing::SizeIs(6), testing::Contains(glm::vec4(1.0F)),
                                   testing::Contains(glm::vec4(0.2F, 0.4F, 0.6F, 1)).Times(5)));
}

// Catches a part of a material that is dropped without a word.
TEST_F(SceneKinds, MaterialsWhoseDiffusePartIsElsewhere) {
    const Material gloss = material_of(
        R"({"extensions":{"KHR_materials_pbrSpecularGlossiness":{"diffuseFactor":[0.2,0.4,0.6,0.5]}},
            "alphaMode":"BLEND"})",
        Not(HasSubstr("metal")));
    expect_near(gloss.albedo, {0.2F, 0.4F, 0.6F}, 1e-3F);
    EXPECT_EQ(gloss.alpha, 0.5F);
    expect_near(
        material_of(R"({"extensions":{"KHR_materials_unlit":{}}})", Not(HasSubstr("metal"))).albedo,
        glm::vec3(1.0F), 1e-3F);
    expect_near(material_of(R"({"pbrMetallicRoughness":{"metallicFactor":0.75}})",
                            HasSubstr("1 material of metal"))
                    .albedo,
                glm::vec3(0.25F), 1e-3F);
    const Material glass = material_of(
        R"({"pbrMetallicRoughness":{"metallicFactor":0,"baseColorFactor":[0.2,0.8,0.4,1]},
            "extensions":{"KHR_materials_volume":{},
            "KHR_materials_transmission":{"transmissionFactor":0.75}}})",
        AllOf(HasSubstr("KHR_materials_transmission"), HasSubstr("KHR_materials_volume")));
    EXPECT_TRUE(glass.alpha_mode == AlphaMode::blend);
    EXPECT_NEAR(glass.alpha, 1.0F - 0.75F * 0.8F, 1e-6F);
    expect_near(glass.tint, {0.25F, 1.0F, 0.5F}, 1e-3F);
    expect_near(glass.alpha * glass.albedo, 0.25F * glm::vec3(0.2F, 0.8F, 0.4F), 1e-3F);
    EXPECT_THAT(
        testing::PrintToString(
            load("scene.obj", "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").warnings),
        HasSubstr("a.mtl"));
}

// Catches formats that are not named, WebP that is not decoded, and metal of another channel.
TEST_F(SceneKinds, PicturesOfAllFormats) {
    const auto textures = [&](const std::string& texture, const std::string& picture) {
        return load(square(R"({"meshes":[{"primitives":[{"attributes":
            {"POSITION":0,"TEXCOORD_0":2,"TEXCOORD_1":2},"indices":3,"material":0}]}],
            "materials":[{"pbrMetallicRoughness":{"metallicRoughnessTexture":{"index":0}}}],
            "textures":[)" +
                           texture + R"(],"images":[{"uri":"data:image/x;base64,)" + picture +
                           R"("}]})"));
    };
    const LoadedScene webp =
        textures(R"({"extensions":{"EXT_texture_webp":{"source":0}}})",
                 "UklGRigAAABXRUJQVlA4TBwAAAAvAQAAEA9wAf71J5O2aTv/hnc98D/YDxWI6H8A");
    ASSERT_EQ(webp.scene.textures.size(), 2U);
    using Texel = std::array<std::uint8_t, 4>;
    EXPECT_THAT(webp.scene.textures[0].texels,
                ElementsAre(Texel{1, 2, 3, 255}, Texel{255, 254, 253, 128}));
    // White times 1 - 3 / 255 and times 1 - 253 / 255.
    const Material& material = webp.scene.materials[0];
    ASSERT_EQ(material.albedo_texture, 1U);
    EXPECT_NEAR(linear(webp.scene.textures[1].texels[0]).g, 252.0F / 255.0F, 5e-3F);
    EXPECT_NEAR(linear(webp.scene.textures[1].texels[1]).g, 2.0F / 255.0F, 2e-4F);
    EXPECT_THAT(
        testing::PrintToString(
            textures(R"({"extensions":{"KHR_texture_basisu":{"source":0}}})", "q0tUWCAyMLs=")
                .warnings),
        HasSubstr("picture 0 is in the format KTX"));
    EXPECT_THAT(testing::PrintToString(textures(R"({"source":0})", "AAAAHGZ0eXBhdmlm").warnings),
                HasSubstr("picture 0 is in the format AVIF"));
}

TEST_F(SceneKinds, HiddenNodesAndTheirChildrenAreLeftOut) {
    Gltf gltf = square(R"({"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},
        {"mesh":0,"children":[2,3],"extensions":{"KHR_node_visibility":{"visible":false}}},
        {"mesh":0,"extensions":{"KHR_node_visibility":{"visible":true}}},
        {"extensions":{"KHR_lights_punctual":{"light":0}}}],
        "extensions":{"KHR_lights_punctual":{"lights":[{"type":"point"}]}},
        "extensionsRequired":["KHR_node_visibility"]})");
    const LoadedScene loaded = load(gltf);
    EXPECT_EQ(loaded.scene.triangles.size(), 2U);
    EXPECT_THAT(loaded.scene.point_lights, IsEmpty());
    EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("1 hidden node")));
}

// Catches replaced elements at another place, and zeros from somewhere else.
TEST_F(SceneKinds, SparseAccessorsAndThoseWithoutData) {
    Gltf gltf = square(mesh(
        R"({"attributes":{"POSITION":0,"NORMAL":6,"TEXCOORD_1":2},"indices":3,"targets":[{"POSITION":6}]})"));
    gltf.add({2});
    gltf.add("VEC3", {9, 8, 7});
    gltf.with(R"({"extensionsRequired":["KHR_materials_unlit","KHR_materials_ior",
        "KHR_materials_variants","KHR_materials_transmission","KHR_materials_clearcoat"]})");
    gltf.json["accessors"].push_back({{"componentType", 5126}, {"count", 4}, {"type", "VEC3"}});
    gltf.json["accessors"][0]["sparse"] =
        Json::parse(R"({"count":1,"indices":{"bufferView":4,"componentType":5123},
                        "values":{"bufferView":5}})");
    const Scene scene = load(gltf).scene;
    EXPECT_THAT(scene.positions, testing::Contains(glm::vec3(9, 8, 7)));
    EXPECT_THAT(scene.positions, testing::Contains(glm::vec3(-1, -1, 0)));
    EXPECT_THAT(scene.positions, Not(testing::Contains(glm::vec3(1, 1, 0))));
    gltf.json["accessors"][0]["sparse"]["indices"]["byteOffset"] = 2;
    EXPECT_THAT(refusal(gltf), HasSubstr("its sparse indices"));
}

// Catches names that are decoded although they are meant, and data that is taken for a name.
TEST_F(SceneKinds, FilesAndDataByUri) {
    const std::string bytes = square().bytes;
    Gltf gltf = square();
    const auto with = [&](const std::string& uri) {
        gltf.json["buffers"] = Json::array({{{"byteLength", bytes.size()}, {"uri", uri}}});
        return gltf.text();
    };
    for (const std::string name : {"a+b.bin", "10%.bin", "100%25.bin", "a%20b.bin", "a b.bin"}) {
        (void)added(name, bytes);
        EXPECT_EQ(load("scene.gltf", with(name)).scene.triangles.size(), 2U) << name;
    }
    (void)added("c d#.bin", bytes);
    EXPECT_EQ(refusal("scene.gltf", with("c%20d%23.bin")), "");
    std::string code;
    for (const char byte : bytes) {
        constexpr const char* DIGITS = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(byte);
        code += std::string("%") + DIGITS[value / 16] + DIGITS[value % 16];
    }
    EXPECT_EQ(refusal("scene.gltf", with("data:," + code)), "");
    for (const std::string head :
         {"data:;base64,", "DATA:application/octet-stream;charset=x;BASE64,"}) {
        const std::string message = refusal("scene.gltf", with(head + "AAAA"));
        EXPECT_THAT(message, AllOf(HasSubstr("buffer 0 has 3 bytes"), Not(HasSubstr("AAAA"))));
    }
}

TEST_F(SceneKinds, NamesOfObj) {
    (void)added("my scene.mtl",
                "\xEF\xBB\xBFnewmtl Mat lamp\nKd 0.1 0.2 \\\n0.3\nnewmtl Mat\nKd 1 1 1\n");
    (void)added("b.mtl", "newmtl b\nKd 0.5 0.5 0.5\n");
    const std::string square =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nusemtl Mat lamp\r\nf 1//1 2//1 \\\r\n3//1\n"
        "usemtl b\nf 1//1 2//1 3//1\n";
    const auto colours = [&](const std::string& libraries) {
        const LoadedScene loaded = load("scene.obj", "\xEF\xBB\xBF" + libraries + "\n" + square);
        EXPECT_THAT(loaded.warnings, IsEmpty());
        const auto& triangles = loaded.scene.triangles;
        return triangles.size() == 2 ? loaded.scene.materials.at(triangles[0].material).albedo +
                                           loaded.scene.materials.at(triangles[1].material).albedo
                                     : glm::vec3(0.0F);
    };
    expect_near(colours("mtllib my scene.mtl b.mtl"), {0.6F, 0.7F, 0.8F}, 1e-3F);
    expect_near(colours("mtllib b.mtl\nmtllib  my scene.mtl "), {0.6F, 0.7F, 0.8F}, 1e-3F);
    EXPECT_THAT(load("scene.obj", "mtllib b.mtl\n" + square).warnings,
                ElementsAre(HasSubstr("Mat lamp")));
}

// Catches messages that say nothing, and numbers that are taken for others.
TEST_F(SceneKinds, RefusalsSayWhy) {
    std::string old = square().binary();
    old[4] = 1;
    EXPECT_THAT(refusal("scene.glb", old), HasSubstr("version 1; convert it to glTF 2.0"));
    const auto changed = [&](const std::string& place, const Json& value) {
        Gltf gltf = square(R"({"skins":[{"joints":[0]}]})");
        gltf.json[Json::json_pointer(place)] = value;
        return refusal(gltf);
    };
    EXPECT_EQ(changed("/skins/0/skeleton", 0), "");
    EXPECT_EQ(changed("/accessors/0/count", 4.0), "");
    EXPECT_THAT(changed("/scene", -1), HasSubstr("scene is -1"));
    EXPECT_THAT(changed("/bufferViews/1/byteOffset", -1),
                HasSubstr("bufferViews/1/byteOffset is -1"));
    EXPECT_THAT(changed("/nodes/0/mesh", 0.5), HasSubstr("nodes/0/mesh is 0.5"));
    EXPECT_THAT(changed("/nodes/0", 1), Not(testing::EndsWith(": ")));
    EXPECT_THAT(refusal("scene.obj", std::string("\xFE\xFF\0v", 4)), HasSubstr("UTF-16"));
    // Extensions come before buffers.
    EXPECT_THAT(refusal("scene.gltf", R"({"asset":{"version":"2.0"},"extensionsRequired":["MINE"],
                        "buffers":[{"uri":"none.bin","byteLength":1}]})"),
                HasSubstr("'MINE'"));
}

// A square with a light, far from the origin: its places are those of one beside it. Catches
// transforms that are rounded to floats before the origin is subtracted. Vertices that are far away
// themselves get a warning.
TEST_F(SceneKinds, FarAwayAreAsExactAsNear) {
    const std::string light =
        R"({"extensionsUsed":["KHR_lights_punctual"],"scenes":[{"nodes":[0,1]}],
            "extensions":{"KHR_lights_punctual":{"lights":[{"type":"point"}]}},"nodes":[)";
    const std::string lamp = R"("extensions":{"KHR_lights_punctual":{"light":0}}}]})";
    const Scene near = load(square(light + R"({"mesh":0,"rotation":[0.3826834,0,0,0.9238795]},
        {"translation":[0.1,0.2,0.3],)" +
                                   lamp))
                           .scene;
    const LoadedScene far = load(square(light + R"({"mesh":0,"rotation":[0.3826834,0,0,0.9238795],
        "translation":[500000.1,120.3,4500000.7]},{"translation":[500000.2,120.5,4500001.0],)" +
                                        lamp));
    const glm::dvec3 offset = far.scene.origin - glm::dvec3(500000.1, 120.3, 4500000.7);
    for (std::size_t i = 0; i < near.positions.size(); ++i) {
        EXPECT_LT(glm::distance(glm::dvec3(far.scene.positions[i]) + offset,
                                glm::dvec3(near.positions[i])),
                  1e-6);
    }
    EXPECT_LT(glm::distance(glm::dvec3(far.scene.point_lights[0].position) + offset,
                            glm::dvec3(near.point_lights[0].position)),
              1e-6);
    EXPECT_TRUE(far.warnings.empty());
    std::vector<float> positions = SQUARE_POSITIONS;
    for (std::size_t i = 0; i < positions.size(); i += 3) {
        positions[i] += 500000.0F;
    }
    const LoadedScene coarse = load(square("{}", positions));
    ASSERT_EQ(coarse.warnings.size(), 1U);
    EXPECT_THAT(coarse.warnings[0], testing::HasSubstr("too coarse"));
}

}  // namespace

}  // namespace quadtile::baker::test
