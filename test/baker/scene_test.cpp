#include "load_scene.hpp"

#include "atlas_checks.hpp"
#include "gltf_file.hpp"
#include "lit_gltf.hpp"

#include <glm/gtc/matrix_inverse.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>

#include <random>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;

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
        EXPECT_NE(refusal("scene.glb", Gltf::binary(json.dump(), square().bytes)), "") << what;
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

}  // namespace

}  // namespace quadtile::baker::test
