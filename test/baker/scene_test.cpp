#include "load_scene.hpp"

#include "atlas_checks.hpp"
#include "lit_gltf.hpp"
#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/temporary_directory.hpp"
#include "unwrap.hpp"

#include <draco/compression/encode.h>
#include <draco/mesh/triangle_soup_mesh_builder.h>
#include <gmock/gmock.h>
#include <meshoptimizer.h>
#include <glm/gtc/matrix_inverse.hpp>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>
#include <nlohmann/json.hpp>

#include <random>
#include <stdexcept>
#include <string>

namespace quadtile::baker::test {

namespace {

using quadtile::test::TemporaryDirectory;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

std::string base64(const std::string& bytes) {
    constexpr std::string_view DIGITS =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
            word = word << 8U | byte;
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const bool padding = i + k > bytes.size();
            text += padding ? '=' : DIGITS[word >> (18 - 6 * k) & 63U];
        }
    }
    return text;
}

// A glTF file whose buffer grows by accessor.
class Gltf {
 public:
    // Return the number of the accessor.
    int add(const std::string& type, const std::vector<float>& values) {
        const auto components = type == "SCALAR" ? 1U : static_cast<unsigned>(type[3] - '0');
        return add(type, 5126, values.data(), 4 * values.size(), values.size() / components);
    }
    int add(const std::vector<std::uint16_t>& values) {
        return add("SCALAR", 5123, values.data(), 2 * values.size(), values.size());
    }

    int add_bytes(const std::string& bytes) {
        return add("SCALAR", 5121, bytes.data(), bytes.size(), bytes.size());
    }

    // The file as .glb, with `rest` after its buffers.
    [[nodiscard]] std::string binary(const std::string& rest) const {
        std::string json = text("", rest);
        json.resize((json.size() + 3) / 4 * 4, ' ');
        std::string file = "glTF";
        const auto number = [&](std::size_t value) {
            for (unsigned i = 0; i < 4; ++i) {
                file += static_cast<char>(value >> (8 * i) & 255U);
            }
        };
        number(2);
        number(12 + 8 + json.size() + 8 + bytes_.size());
        number(json.size());
        file += "JSON" + json;
        number(bytes_.size());
        return file + std::string("BIN\0", 4) + bytes_;
    }
    // As .gltf.
    [[nodiscard]] std::string json(const std::string& rest) const {
        return text(R"(,"uri":"data:application/octet-stream;base64,)" + base64(bytes_) + "\"",
                    rest);
    }

    std::string asset;  // that comes after its version

 private:
    [[nodiscard]] std::string text(const std::string& of_buffer, const std::string& rest) const {
        return R"({"asset":{"version":"2.0")" + asset + R"(},"buffers":[{"byteLength":)" +
               std::to_string(bytes_.size()) + of_buffer + R"(}],"bufferViews":[)" + views_ +
               R"(],"accessors":[)" + accessors_ + "]," + rest + "}";
    }
    int add(const std::string& type, int component_type, const void* data, std::size_t size,
            std::size_t count) {
        const std::string comma = count_ > 0 ? "," : "";
        views_ += comma + R"({"buffer":0,"byteOffset":)" + std::to_string(bytes_.size()) +
                  R"(,"byteLength":)" + std::to_string(size) + "}";
        accessors_ += comma + R"({"bufferView":)" + std::to_string(count_) +
                      R"(,"componentType":)" + std::to_string(component_type) + R"(,"count":)" +
                      std::to_string(count) + R"(,"type":")" + type + "\"}";
        bytes_.append(static_cast<const char*>(data), size);
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        return count_++;
    }

    std::string bytes_;
    std::string views_;
    std::string accessors_;
    int count_ = 0;
};

const std::vector<float> SQUARE_POSITIONS{-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
const std::vector<float> SQUARE_COORDINATES{0, 1, 1, 1, 1, 0, 0, 0};

// Accessors 0 to 3: positions, normals, lightmap coordinates and indices of the square -1..1 in
// the plane z = 0, its front towards +z.
Gltf square_file(const std::vector<float>& positions = SQUARE_POSITIONS,
                 const std::vector<float>& light_map = SQUARE_COORDINATES) {
    Gltf gltf;
    gltf.add("VEC3", positions);
    gltf.add("VEC3", {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
    gltf.add("VEC2", light_map);
    gltf.add({0, 1, 2, 0, 2, 3});
    return gltf;
}

const std::string LIT_SQUARE =
    R"({"attributes":{"POSITION":0,"NORMAL":1,"TEXCOORD_1":2},"indices":3})";
const std::string SQUARE = R"({"attributes":{"POSITION":0,"NORMAL":1},"indices":3})";

// As an OBJ file, with a triangle on top.
const std::string SQUARE_AND_GABLE =
    "mtllib paints.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 3 0\n"
    "vt 0.25 0\nvt 0.75 0\nvt 0.75 0.5\nvt 0.25 0.5\nvt 0.5 1\nvn 0 0 2\n"
    "usemtl lamp\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl grey\nf -2/-2/1 -3/-3/1 -1/-1/1\n";

std::string mesh(const std::string& primitives) {
    return R"("meshes":[{"name":"Walls","primitives":[)" + primitives + "]}]";
}

const std::string ONE_NODE = R"(,"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}],"scene":0)";

std::string nodes(const std::string& list) {
    return R"(,"nodes":[)" + list + R"(],"scenes":[{"nodes":[0]}],"scene":0)";
}

// The file, to be written with a lightmap.
std::unique_ptr<LitGltf> lit_of(const fs::path& path) {
    return load_scene(path, LightMapCoordinates::ignore, true).gltf;
}

class SceneFile : public testing::Test {
 protected:
    [[nodiscard]] LoadedScene load(
        const std::string& name, const std::string& bytes,
        LightMapCoordinates coordinates = LightMapCoordinates::read) const {
        return load_scene(directory_.add(name, bytes), coordinates);
    }
    [[nodiscard]] LoadedScene load_gltf(const std::string& text) const {
        return load("scene.gltf", text);
    }
    // The square with its lightmap coordinates, and `rest` after its mesh.
    [[nodiscard]] LoadedScene load_square(const std::string& rest,
                                          Gltf gltf = square_file()) const {
        return load_gltf(gltf.json(mesh(LIT_SQUARE) + rest));
    }

    [[nodiscard]] std::string refusal(const std::string& name, const std::string& bytes) const {
        return refusal(directory_.add(name, bytes));
    }
    static std::string refusal(const fs::path& path) {
        const std::string message = quadtile::test::message_of([&] { return load_scene(path); });
        EXPECT_THAT(message, HasSubstr(path.string()));
        return message;
    }
    [[nodiscard]] std::string gltf_refusal(const std::string& text) const {
        return refusal("scene.gltf", text);
    }

    TemporaryDirectory directory_;
};

// Checks the properties of all scenes, loaded or generated.
void check_scene(const Scene& scene) {
    ASSERT_FALSE(scene.triangles.empty());
    ASSERT_EQ(scene.normals.size(), scene.positions.size());
    for (const glm::vec3 p : scene.positions) {
        ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z));
    }
    for (const glm::vec3 normal : scene.normals) {
        ASSERT_NEAR(glm::length(normal), 1.0F, 1e-4F);
    }
    for (const Triangle& triangle : scene.triangles) {
        ASSERT_LT(triangle.material, scene.materials.size());
        for (const std::uint32_t vertex : triangle.vertices) {
            ASSERT_LT(vertex, scene.positions.size());
        }
        ASSERT_GT(glm::length(area_vector(scene, triangle)), 0.0);
    }
}

// The normals of the triangles, as their corners turn.
std::vector<glm::vec3> plane_normals(const Scene& scene) {
    std::vector<glm::vec3> normals;
    for (const Triangle& triangle : scene.triangles) {
        normals.emplace_back(glm::normalize(area_vector(scene, triangle)));
    }
    return normals;
}

void expect_all_near(const std::vector<glm::vec3>& actual, const glm::vec3& expected) {
    for (const glm::vec3& one : actual) {
        expect_near(one, expected);
    }
}

TEST_F(SceneFile, IsRead) {
    Gltf gltf = square_file();
    gltf.asset = R"(,"extras":{"lightmap_size":[123,45]})";
    const auto [scene, warnings, files, generator, lit] = load_square(ONE_NODE, gltf);
    EXPECT_THAT(warnings, IsEmpty());
    check_scene(scene);
    EXPECT_EQ(scene.triangles.size(), 2U);
    EXPECT_EQ(scene.positions.size(), 4U);
    EXPECT_THAT(scene.light_map_coordinates,
                ElementsAre(glm::vec2(0, 1), glm::vec2(1, 1), glm::vec2(1, 0), glm::vec2(0, 0)));
    EXPECT_EQ(scene.light_map_extent, (Extent{123, 45}));
    expect_all_near(plane_normals(scene), {0, 0, 1});
    expect_all_near(scene.normals, {0, 0, 1});
    EXPECT_THAT(scene.suns, IsEmpty());
    EXPECT_FALSE(scene.camera);
    // The default material.
    ASSERT_EQ(scene.materials.size(), 1U);
    EXPECT_EQ(scene.materials[0].albedo, Material{}.albedo);
    EXPECT_EQ(scene.materials[0].emission, glm::vec3(0.0F));
    EXPECT_FALSE(scene.materials[0].double_sided);

    const LoadedScene bare = load_gltf(square_file().json(mesh(SQUARE) + ONE_NODE));
    EXPECT_THAT(bare.warnings, IsEmpty());
    EXPECT_THAT(bare.scene.light_map_coordinates, IsEmpty());
    EXPECT_FALSE(bare.scene.light_map_extent);
}

TEST_F(SceneFile, IgnoresALightMapSizeWithoutSense) {
    for (const std::string size : {"[0,4]", "[4]", "[4,-4]", "\"large\"", "[1.5,2]", "[1e9,1]"}) {
        SCOPED_TRACE(size);
        Gltf gltf = square_file();
        gltf.asset = R"(,"extras":{"lightmap_size":)" + size + "}";
        const auto [scene, warnings, files, generator, lit] = load_square(ONE_NODE, gltf);
        EXPECT_FALSE(scene.light_map_extent);
        EXPECT_THAT(warnings, ElementsAre(HasSubstr("lightmap_size")));
    }
}

TEST_F(SceneFile, TakesDensitiesOfItsNodes) {
    const auto node = [](const std::string& density) {
        return nodes(R"({"mesh":0,"name":"Floor","extras":{"lightmap_density":)" + density + "}}");
    };
    const LoadedScene loaded = load_square(node("2.5"));
    EXPECT_THAT(loaded.warnings, IsEmpty());
    EXPECT_EQ(loaded.scene.parts[0].object, "Floor");
    EXPECT_EQ(loaded.scene.parts[0].density, 2.5F);
    for (const std::string density : {"0", "-1", "1e9", "\"fine\""}) {
        SCOPED_TRACE(density);
        const LoadedScene bad = load_square(node(density));
        EXPECT_THAT(bad.warnings,
                    ElementsAre(AllOf(HasSubstr("'Floor'"), HasSubstr("lightmap_density"))));
        EXPECT_EQ(bad.scene.parts[0].density, 1.0F);
    }
}

TEST_F(SceneFile, TakesWhatItsNodesExclude) {
    for (const auto& [value, excluded] :
         {std::pair("true", true), {"false", false}, {"1", true}, {"0", false}, {"\"\"", false}}) {
        const LoadedScene loaded = load_square(
            nodes(std::string(R"({"mesh":0,"extras":{"lightmap_exclude":)") + value + "}}"));
        EXPECT_EQ(loaded.warnings.size(), *value == '"' ? 1U : 0U);
        EXPECT_EQ(loaded.scene.parts[0].excluded, excluded) << value;
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
        const Scene scene =
            load_square(nodes(R"({"children":[1],)" + node[0] + R"(},{"mesh":0,)" + node[1] + "}"))
                .scene;
        ASSERT_EQ(scene.positions.size(), 4U);
        for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t vertex = scene.source_vertices[k];
            const glm::vec4 at(SQUARE_POSITIONS[3 * vertex], SQUARE_POSITIONS[3 * vertex + 1], 0,
                               1);
            EXPECT_LT(glm::distance(scene.positions[k], glm::vec3(whole * at)), 1e-3F) << i;
        }
        const glm::vec3 normal =
            glm::normalize(glm::inverseTranspose(glm::mat3(whole)) * glm::vec3(0, 0, 1));
        for (const std::vector<glm::vec3>& normals : {scene.normals, plane_normals(scene)}) {
            for (const glm::vec3& one : normals) {
                EXPECT_LT(glm::distance(one, normal), 1e-3F) << i;
            }
        }
    }
}

// Catches instances that are left out, placed in the wrong space, or turned before they are scaled.
TEST_F(SceneFile, PlacesInstances) {
    Gltf gltf = square_file();
    const int translations = gltf.add("VEC3", {0, 0, 0, 1, 2, 3});
    const int rotations = gltf.add("VEC4", {0, 0, 0, 1, 0, 0, 0.70710678F, 0.70710678F});
    const int scales = gltf.add("VEC3", {1, 1, 1, 2, 3, 1});
    const auto with = [&](int scale) {
        const std::string attributes = R"({"TRANSLATION":)" + std::to_string(translations) +
                                       R"(,"ROTATION":)" + std::to_string(rotations) +
                                       R"(,"SCALE":)" + std::to_string(scale) + "}";
        return gltf.json(
            mesh(LIT_SQUARE) +
            nodes(R"({"mesh":0,"translation":[10,0,0],"extensions":{"EXT_mesh_gpu_instancing":)"
                  R"({"attributes":)" +
                  attributes + "}}}") +
            R"(,"extensionsRequired":["EXT_mesh_gpu_instancing"])");
    };
    const Scene scene = load_gltf(with(scales)).scene;
    ASSERT_EQ(scene.positions.size(), 8U);
    expect_near(scene.positions[2], {11, 1, 0});
    // (1, 1, 0) becomes (2, 3, 0), then (-3, 2, 0), then moves.
    expect_near(scene.positions[6], {8, 4, 3});
    EXPECT_THAT(gltf_refusal(with(0)), HasSubstr("SCALE of its instances"));
    const auto lit = lit_of(directory_.add("scene.gltf", with(scales)));
    EXPECT_THAT(quadtile::test::message_of([&] { lit->set_light_map_coordinates(scene); }),
                HasSubstr("node 0 has instances"));
}

TEST_F(SceneFile, ReadsAllKindsOfTriangles) {
    Gltf gltf;
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0, -1, 3, 0});            // strip
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0});                      // fan
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0});  // list
    const auto primitive = [](int positions, int mode) {
        return R"({"attributes":{"POSITION":)" + std::to_string(positions) + R"(},"mode":)" +
               std::to_string(mode) + "}";
    };
    for (const auto& [positions, mode, area] : {std::tuple(0, 5, 6.0), {1, 6, 4.0}, {2, 4, 4.0}}) {
        const auto [scene, warnings, files, generator, lit] =
            load_gltf(gltf.json(mesh(primitive(positions, mode)) + ONE_NODE));
        // There are no normals: those of the planes are taken, which is said.
        EXPECT_THAT(warnings, ElementsAre(HasSubstr("without a normal")));
        check_scene(scene);
        expect_all_near(plane_normals(scene), {0, 0, 1});
        expect_all_near(scene.normals, {0, 0, 1});
        EXPECT_NEAR(surface_area(scene), area, 1e-6);
    }
    const auto [scene, warnings, files, generator, lit] =
        load_gltf(gltf.json(mesh(primitive(0, 1) + "," + primitive(1, 6)) + ONE_NODE));
    EXPECT_EQ(scene.triangles.size(), 2U);
    EXPECT_THAT(warnings, Contains(HasSubstr("points or lines")));
    EXPECT_THAT(gltf_refusal(gltf.json(mesh(primitive(0, 4)) + ONE_NODE)),
                AllOf(HasSubstr("no multiple of 3"), HasSubstr("'Walls'")));
    EXPECT_THAT(gltf_refusal(gltf.json(mesh(primitive(0, 0)) + ONE_NODE)),
                HasSubstr("no triangles"));
}

TEST_F(SceneFile, ReadsMaterials) {
    const std::string materials = R"(,"materials":[
        {"name":"paint","pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,1]},
         "emissiveFactor":[1,0.5,0],"doubleSided":true,
         "extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":8}}},
        {"emissiveFactor":[0,0,1]},
        {"pbrMetallicRoughness":{"baseColorFactor":[2,-1,0.5,0.25]},"alphaMode":"MASK",
         "alphaCutoff":0.75}])";
    const auto with = [](int material) {
        return R"({"attributes":{"POSITION":0,"NORMAL":1},"indices":3,"material":)" +
               std::to_string(material) + "}";
    };
    const LoadedScene loaded = load_gltf(square_file().json(
        mesh(with(1) + "," + with(0) + "," + SQUARE + "," + with(2)) + ONE_NODE + materials));
    EXPECT_THAT(loaded.warnings, testing::ElementsAre(HasSubstr("albedo outside 0..1")));
    const Scene& scene = loaded.scene;
    ASSERT_EQ(scene.triangles.size(), 8U);
    const auto material = [&](std::size_t i) {
        return scene.materials.at(scene.triangles[2 * i].material);
    };
    EXPECT_EQ(material(0).albedo, glm::vec3(1.0F));
    EXPECT_EQ(material(0).emission, glm::vec3(0, 0, 1));
    EXPECT_FALSE(material(0).double_sided);
    EXPECT_EQ(material(1).name, "paint");
    EXPECT_EQ(material(1).albedo, glm::vec3(0.1F, 0.2F, 0.3F));
    EXPECT_EQ(material(1).emission, glm::vec3(8, 4, 0));
    EXPECT_TRUE(material(1).double_sided);
    EXPECT_EQ(material(2).albedo, Material{}.albedo);
    EXPECT_EQ(material(3).albedo, glm::vec3(1, 0, 0.5F));
    EXPECT_EQ(material(2).alpha_mode, AlphaMode::opaque);
    EXPECT_EQ(material(3).alpha_mode, AlphaMode::mask);
    EXPECT_EQ(material(3).alpha, 0.25F);
    EXPECT_EQ(material(3).alpha_cutoff, 0.75F);
}

TEST_F(SceneFile, ReadsTextures) {
    Gltf gltf = square_file();
    gltf.add("VEC2", {0, 1, 1, 1, 1, 0, 0, 0});
    const int picture = gltf.add_bytes("P6\n2 1\n255\n\x01\x02\x03\xff\xfe\xfd");
    const int damaged = gltf.add_bytes("no picture");
    const auto image = [](int view) {
        return R"({"mimeType":"image/png","bufferView":)" + std::to_string(view) + "}";
    };
    const std::string rest =
        mesh(
            R"({"attributes":{"POSITION":0,"NORMAL":1,"TEXCOORD_0":4},"indices":3,"material":0})") +
        ONE_NODE + R"(,"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}},)" +
        R"("emissiveTexture":{"index":1}}],"textures":[{"source":0},{"source":1}],"images":[)" +
        image(picture) + "," + image(damaged) + "]";
    const auto [scene, warnings, files, generator, lit] = load_gltf(gltf.json(rest));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("cannot be read")));
    ASSERT_EQ(scene.textures.size(), 1U);
    EXPECT_EQ(scene.textures[0].extent, (Extent{2, 1}));
    using Texel = std::array<std::uint8_t, 4>;
    EXPECT_THAT(scene.textures[0].texels,
                ElementsAre(Texel{1, 2, 3, 255}, Texel{255, 254, 253, 255}));
    EXPECT_EQ(scene.materials.at(0).albedo_texture, 0U);
    EXPECT_FALSE(scene.materials.at(0).emission_texture);
    EXPECT_THAT(scene.texture_coordinates,
                ElementsAre(glm::vec2(0, 1), glm::vec2(1, 1), glm::vec2(1, 0), glm::vec2(0, 0)));
}

// Catches a turn the other way round, another order of turn and scale, and a transform of the other
// texture.
TEST_F(SceneFile, ReadsTextureTransforms) {
    Gltf gltf = square_file();
    gltf.add("VEC2", {0, 1, 1, 1, 1, 0, 0, 0});
    const std::string picture =
        std::to_string(gltf.add_bytes("P6\n2 1\n255\n\x01\x02\x03\xff\xfe\xfd"));
    const auto with = [&](const std::string& transform) {
        return gltf.json(
            mesh(R"({"attributes":{"POSITION":0,"TEXCOORD_1":4},"indices":3,"material":0})") +
            ONE_NODE + R"(,"extensionsRequired":["KHR_texture_transform"],)" +
            R"("materials":[{"emissiveTexture":{"index":0,"extensions":{"KHR_texture_transform":)" +
            transform +
            R"(}}}],"textures":[{"source":0}],"images":[{"mimeType":"image/png","bufferView":)" +
            picture + "}]");
    };
    const auto [scene, warnings, files, generator, lit] = load_gltf(
        with(R"({"offset":[10,20],"scale":[2,4],"rotation":1.5707963267948966,"texCoord":1})"));
    const Material& material = scene.materials.at(0);
    EXPECT_EQ(material.albedo_coordinates, glm::mat3x2(1.0F));
    const auto at = [&](float u, float v) {
        return material.emission_coordinates * glm::vec3(u, v, 1.0F);
    };
    EXPECT_LT(glm::distance(at(1, 0), glm::vec2(10, 18)), 1e-5F);
    EXPECT_LT(glm::distance(at(0, 1), glm::vec2(14, 20)), 1e-5F);
    EXPECT_EQ(scene.texture_coordinates.at(1), glm::vec2(1, 1));
    for (const std::string damaged : {R"({"offset":[1]})", R"({"scale":"2"})",
                                      R"({"rotation":1e99})", R"({"offset":[1,[]]})"}) {
        EXPECT_THROW((void)load_gltf(with(damaged)), std::runtime_error) << damaged;
    }
}

// A node turns and scales its light: where that is and where to it shines changes, no more.
TEST_F(SceneFile, ReadsLights) {
    const auto with = [&](const std::string& light, const std::string& intensity = "4") {
        return nodes(R"({"mesh":0,"scale":[2,2,2],"children":[1]},)"
                     R"({"rotation":[-0.70710678,0,0,0.70710678],"scale":[3,3,3],)"
                     R"("translation":[1,2,3],)"
                     R"("extensions":{"KHR_lights_punctual":{"light":0}}})") +
               R"(,"extensionsUsed":["KHR_lights_punctual"],)"
               R"("extensions":{"KHR_lights_punctual":{"lights":[{)" +
               light + R"(,"color":[1,0.5,0.25],"intensity":)" + intensity + "}]}}";
    };
    const Scene sunny = load_square(with(R"("type":"directional")")).scene;
    ASSERT_EQ(sunny.suns.size(), 1U);
    EXPECT_THAT(sunny.point_lights, IsEmpty());
    expect_near(sunny.suns[0].direction, {0, -1, 0});  // -Z, turned
    expect_near(sunny.suns[0].irradiance, {4, 2, 1});

    const LoadedScene loaded = load_square(with(R"("type":"point","range":5)"));
    EXPECT_THAT(loaded.warnings, IsEmpty());
    EXPECT_THAT(loaded.scene.suns, IsEmpty());
    ASSERT_EQ(loaded.scene.point_lights.size(), 1U);
    const PointLight& point = loaded.scene.point_lights[0];
    expect_near(point.position, {2, 4, 6});
    expect_near(point.intensity, {4, 2, 1});
    EXPECT_FALSE(point.is_spot);
    EXPECT_EQ(point.range, 5.0F);
    EXPECT_EQ(point.radius, 0.0F);

    const auto spot_of = [&](const std::string& angles) {
        return load_square(
                   with(R"("type":"spot","spot":{)" + angles + R"(},"extras":{"radius":0.25})"))
            .scene.point_lights.at(0);
    };
    const PointLight spot = spot_of(R"("innerConeAngle":0.25,"outerConeAngle":1.5)");
    EXPECT_TRUE(spot.is_spot);
    expect_near(spot.direction, {0, -1, 0});
    EXPECT_EQ(spot.range, std::numeric_limits<float>::infinity());
    EXPECT_EQ(spot.radius, 0.25F);
    EXPECT_EQ(spot.inner_angle, 0.25F);
    EXPECT_EQ(spot.outer_angle, 1.5F);
    EXPECT_EQ(spot_of("").inner_angle, 0.0F);
    EXPECT_NEAR(spot_of("").outer_angle, 0.7854F, 1e-4F);

    EXPECT_THAT(load_square(with(R"("type":"area")")).warnings,
                ElementsAre(HasSubstr("1 light ignored: of a type")));
    for (const auto& [damaged, message] :
         {std::pair(R"("type":"spot","spot":{"innerConeAngle":1,"outerConeAngle":0.5})",
                    "light 0 of node 1 has cone angles of 1"),
          {R"("type":"spot","spot":{"outerConeAngle":2})", "and 2.0"},
          {R"("type":"spot","spot":{"outerConeAngle":0})", "cone angles"},
          {R"("type":"point","extras":{"radius":-1})", "extras.radius"},
          {R"("type":"point","extras":{"radius":"large"})", "extras.radius"}}) {
        EXPECT_THAT([&] { (void)load_square(with(damaged)); },
                    testing::ThrowsMessage<std::runtime_error>(HasSubstr(message)));
    }
    EXPECT_THAT([&] { (void)load_square(with(R"("type":"point","name":"Bulb")", "-1")); },
                testing::ThrowsMessage<std::runtime_error>(
                    HasSubstr("light 0 'Bulb' of node 1 has a negative intensity or colour")));
}

TEST_F(SceneFile, ReadsTheCamera) {
    const std::string rest = nodes(R"({"mesh":0,"children":[1]},)"
                                   R"({"camera":0,"translation":[1,2,3]})") +
                             R"(,"cameras":[{"type":"perspective","perspective":)"
                             R"({"yfov":1.0471975512,"znear":0.1}}])";
    const auto [scene, warnings, files, generator, lit] = load_square(rest);
    EXPECT_THAT(warnings, IsEmpty());
    ASSERT_TRUE(scene.camera);
    expect_near(scene.camera->position, {1, 2, 3});
    expect_near(scene.camera->target, {1, 2, 2});
    EXPECT_NEAR(scene.camera->vertical_field_degrees, 60.0F, 1e-3F);
}

TEST_F(SceneFile, HasLightMapCoordinatesEverywhereOrNowhere) {
    const auto two = [](const std::string& first, const std::string& second) {
        return R"("meshes":[{"name":"Walls","primitives":[)" + first +
               R"(]},{"name":"Lamp","primitives":[)" + second +
               R"(]}],"nodes":[{"mesh":0},{"mesh":1}],"scenes":[{"nodes":[0,1]}])";
    };
    const std::string second_without = square_file().json(two(LIT_SQUARE, SQUARE));
    EXPECT_THAT(gltf_refusal(second_without),
                AllOf(HasSubstr("mesh 1 'Lamp'"), HasSubstr("TEXCOORD_1"), HasSubstr("--unwrap"),
                      Not(HasSubstr("Walls"))));
    EXPECT_THAT(gltf_refusal(square_file().json(two(SQUARE, LIT_SQUARE))),
                AllOf(HasSubstr("mesh 0 'Walls'"), HasSubstr("--unwrap"), Not(HasSubstr("Lamp"))));
    const Scene scene = load("two.gltf", second_without, LightMapCoordinates::ignore).scene;
    EXPECT_EQ(scene.triangles.size(), 4U);
    EXPECT_THAT(scene.light_map_coordinates, IsEmpty());
    const Scene some = load("two.gltf", second_without, LightMapCoordinates::where_given).scene;
    EXPECT_EQ(some.triangles.size(), 4U);
    EXPECT_EQ(some.light_map_coordinates.at(1), glm::vec2(1, 1));
    EXPECT_TRUE(std::isnan(some.light_map_coordinates.at(4).x));
}

TEST_F(SceneFile, MustLieInTheLightMap) {
    std::vector<float> coordinates = SQUARE_COORDINATES;
    coordinates[6] = -0.5F;
    const std::string file =
        square_file(SQUARE_POSITIONS, coordinates).json(mesh(LIT_SQUARE) + ONE_NODE);
    EXPECT_THAT(gltf_refusal(file),
                AllOf(HasSubstr("triangle 1 of mesh 0 'Walls'"), HasSubstr("-0.5"),
                      HasSubstr("outside 0..1"), HasSubstr("--unwrap")));
    EXPECT_NO_THROW((void)load("outside.gltf", file, LightMapCoordinates::ignore));

    coordinates[6] = -5e-5F;  // rounding
    const Scene scene = load_square(ONE_NODE, square_file(SQUARE_POSITIONS, coordinates)).scene;
    EXPECT_EQ(scene.light_map_coordinates.at(3), glm::vec2(0.0F));
}

TEST_F(SceneFile, LeavesOutTrianglesThatHaveNoPlace) {
    const auto expect_one_left = [&](const Gltf& gltf, const char* warning) {
        const auto [scene, warnings, files, generator, lit] = load_square(ONE_NODE, gltf);
        check_scene(scene);
        EXPECT_EQ(scene.triangles.size(), 1U);
        EXPECT_THAT(warnings, ElementsAre(HasSubstr(warning)));
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float odd : {nan, infinity, -infinity}) {
        SCOPED_TRACE(odd);
        std::vector<float> positions = SQUARE_POSITIONS;
        positions[10] = odd;
        expect_one_left(square_file(positions), "1 triangle with vertices that are not");
        positions[0] = odd;
        EXPECT_THAT(gltf_refusal(square_file(positions).json(mesh(LIT_SQUARE) + ONE_NODE)),
                    HasSubstr("none of its 2 triangles"));
    }
    std::vector<float> coordinates = SQUARE_COORDINATES;
    coordinates[2] = nan;
    expect_one_left(square_file(SQUARE_POSITIONS, coordinates),
                    "lightmap coordinates that are not finite");
    std::vector<float> positions = SQUARE_POSITIONS;
    positions[9] = positions[0];  // two corners at one place
    positions[10] = positions[1];
    expect_one_left(square_file(positions), "1 triangle without area");
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

TEST_F(SceneFile, RefusesWhatIsOutOfRange) {
    const std::string good = square_file().json(mesh(LIT_SQUARE) + ONE_NODE);
    EXPECT_NO_THROW((void)load_gltf(good));
    const std::vector<std::pair<std::string, std::string>> changes{
        {R"("count":4)", R"("count":5)"},
        {R"("count":4)", R"("count":0)"},
        {R"("count":4)", R"("count":-1)"},
        {R"("count":4)", R"("count":4294967295)"},
        {R"("count":4)", R"("count":3)"},
        {R"("bufferView":0)", R"("bufferView":9)"},
        {R"("bufferView":0)", R"("bufferView":-5)"},
        {R"("bufferView":0)", R"("byteOffset":4,"bufferView":0)"},
        {R"("bufferView":0)", R"("byteOffset":18446744073709551600,"bufferView":0)"},
        {R"("componentType":5126)", R"("componentType":1)"},
        {R"("componentType":5123)", R"("componentType":5126)"},
        {R"("type":"VEC3")", R"("type":"VEC4")"},
        {R"("byteLength":48)", R"("byteLength":4800)"},
        {R"("byteLength":48)", R"("byteLength":47)"},
        {R"("byteOffset":0)", R"("byteOffset":4294967290)"},
        {R"("byteOffset":0)", R"("byteStride":252,"byteOffset":0)"},
        {R"("buffer":0)", R"("buffer":3)"},
        {R"("buffer":0)", R"("buffer":-3)"},
        {R"("POSITION":0)", R"("POSITION":77)"},
        {R"("POSITION":0)", R"("POSITION":-7)"},
        {R"("POSITION":0)", R"("COLOR_0":0)"},
        {R"("indices":3)", R"("indices":77)"},
        {R"("indices":3)", R"("indices":0)"},
        {R"("indices":3)", R"("indices":3,"material":2)"},
        {R"("mesh":0)", R"("mesh":4)"},
        {R"("mesh":0)", R"("mesh":0,"children":[0])"},
        {R"("mesh":0)", R"("mesh":0,"children":[8])"},
        {R"("mesh":0)", R"("mesh":0,"scale":[1,2])"},
        {R"({"nodes":[0]})", R"({"nodes":[-2]})"},
        {R"("scene":0)", R"("scene":6)"},
    };
    for (const auto& [what, with] : changes) {
        SCOPED_TRACE(with);
        EXPECT_THAT(gltf_refusal(replaced(good, what, with)), Not(HasSubstr("not refused")));
    }

    Gltf gltf;
    gltf.add("VEC3", SQUARE_POSITIONS);
    gltf.add({0, 1, 4});
    EXPECT_THAT(
        gltf_refusal(gltf.json(mesh(R"({"attributes":{"POSITION":0},"indices":1})") + ONE_NODE)),
        AllOf(HasSubstr("vertex 4"), HasSubstr("'Walls'")));
}

TEST_F(SceneFile, RefusesExtensionsThatItDoesNotKnow) {
    const std::string rest = mesh(LIT_SQUARE) + ONE_NODE;
    EXPECT_THAT(gltf_refusal(square_file().json(rest + R"(,"extensionsRequired":["MINE_thing"])")),
                AllOf(HasSubstr("'MINE_thing'"), HasSubstr("export the scene without it")));
    EXPECT_NO_THROW(
        load_gltf(square_file().json(rest + R"(,"extensionsRequired":["KHR_lights_punctual"])")));
}

TEST_F(SceneFile, RefusesWhatIsNoScene) {
    EXPECT_THAT(refusal(directory_.path() / "missing.glb"), HasSubstr("there is no such file"));
    EXPECT_THAT(refusal(directory_.path() / "missing.obj"), HasSubstr("there is no such file"));
    fs::create_directory(directory_.path() / "folder.gltf");
    EXPECT_THAT(refusal(directory_.path() / "folder.gltf"), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal("scene.fbx", ""), AllOf(HasSubstr(".glb"), HasSubstr(".obj")));
    for (const std::string name : {"scene.gltf", "scene.glb", "scene.obj", "SCENE.GLB"}) {
        SCOPED_TRACE(name);
        for (const std::string bytes : {"", "{}", "glTF", "\x89PNG", "[[[[", "{\"asset\":3}"}) {
            EXPECT_THAT(refusal(name, bytes), Not(HasSubstr("not refused")));
        }
        EXPECT_THAT(refusal(name, std::string(100000, '[')), Not(HasSubstr("not refused")));
        EXPECT_THAT(refusal(name, std::string(1000, '\0')), Not(HasSubstr("not refused")));
    }
}

TEST_F(SceneFile, IsReadFromObj) {
    (void)directory_.add("paints.mtl",
                         "newmtl grey\nKd 0.5 0.5 0.5\n\n"
                         "newmtl lamp\nKd 0.1 0.2 0.3\nKe 4 5 6\n");
    const auto [scene, warnings, files, generator, lit] = load("scene.obj", SQUARE_AND_GABLE);
    EXPECT_THAT(warnings, IsEmpty());
    check_scene(scene);
    EXPECT_EQ(scene.triangles.size(), 3U);
    EXPECT_EQ(scene.positions.size(), 5U);
    EXPECT_NEAR(surface_area(scene), 4.0 + 2.0, 1e-6);
    expect_all_near(plane_normals(scene), {0, 0, 1});
    expect_all_near(scene.normals, {0, 0, 1});
    ASSERT_EQ(scene.light_map_coordinates.size(), scene.positions.size());
    for (std::size_t i = 0; i < scene.positions.size(); ++i) {
        const glm::vec3 p = scene.positions[i];
        // v goes up in the file.
        EXPECT_EQ(scene.light_map_coordinates[i],
                  glm::vec2(0.5F + p.x / 4.0F, 1.0F - (p.y + 1.0F) / 4.0F));
    }
    const Material& lamp = scene.materials.at(scene.triangles[0].material);
    EXPECT_EQ(lamp.name, "lamp");
    EXPECT_EQ(lamp.albedo, glm::vec3(0.1F, 0.2F, 0.3F));
    EXPECT_EQ(lamp.emission, glm::vec3(4, 5, 6));
    EXPECT_EQ(scene.materials.at(scene.triangles[2].material).name, "grey");
}

TEST_F(SceneFile, CutsPolygonsThatAreNotConvex) {
    // An arrowhead whose first corner is the one that points inward.
    const Scene scene = load("scene.obj", "v 0 1 0\nv -2 0 0\nv 0 4 0\nv 2 0 0\nf 1 4 3 2\n").scene;
    EXPECT_EQ(scene.triangles.size(), 2U);
    EXPECT_NEAR(surface_area(scene), 6.0, 1e-6);
    expect_all_near(plane_normals(scene), {0, 0, 1});
}

TEST_F(SceneFile, DoesWithoutMaterialFiles) {
    const auto [scene, warnings, files, generator, lit] = load("scene.obj", SQUARE_AND_GABLE);
    EXPECT_THAT(warnings, Contains(HasSubstr("paints.mtl")));
    check_scene(scene);
    EXPECT_EQ(scene.materials.at(scene.triangles[0].material).albedo, Material{}.albedo);
}

TEST_F(SceneFile, RefusesObjThatIsOutOfRange) {
    const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
    for (const std::string face : {"f 1 2 4", "f 1/1 2/1 3/2", "f 1//1 2//1 3//2", "f 1 2 -9",
                                   "f 0 1 2", "f 1 2 99999999999", "f 1/1 2/1 3/-7"}) {
        SCOPED_TRACE(face);
        EXPECT_THAT(refusal("scene.obj", points + face + "\n"), Not(HasSubstr("not refused")));
    }
    // For the reader of the file this one has no normal.
    const auto [scene, warnings, files, generator, lit] =
        load("scene.obj", points + "f 1//1 2//1 3//-2\n");
    expect_all_near(scene.normals, {0, 0, 1});
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("1 corner of triangles without a normal")));

    // A triangle that is left out does not give others its object's name.
    const Scene named =
        load("scene.obj", points + "o Roof\nf 1 1 2\no Wall\nf 1 1 2\nf 1 2 3\no Door\nf 1 3 2\n")
            .scene;
    ASSERT_EQ(named.triangles.size(), 2U);
    EXPECT_EQ(named.name_of(0), "triangle 0 of object 1 'Wall'");
    EXPECT_EQ(named.name_of(1), "triangle 0 of object 2 'Door'");
    EXPECT_THAT(refusal("scene.obj", points + "v 3e20 0 0\nv 0 1e20 0\no Far\nf 1 4 5\n"),
                HasSubstr("triangle 0 of object 0 'Far' at (3e+20, 0, 0)"));

    EXPECT_THAT(refusal("scene.obj", points + "o Roof\nf 1/1 2/1 3/1\no Wall\nf 1 2 3\n"),
                AllOf(HasSubstr("'Wall'"), HasSubstr("--unwrap")));
    EXPECT_THAT(refusal("scene.obj", points + "vt 1.5 0\nf 1/1 2/1 3/2\n"),
                AllOf(HasSubstr("outside 0..1"), HasSubstr("--unwrap")));
}

// Files that are damaged: a scene or an exception.

class DamagedSceneFile : public SceneFile {
 protected:
    // Returns whether a scene loads. If it does, it must be usable, and writable if it is glTF.
    [[nodiscard]] bool loads(const std::string& name, const std::string& bytes) const {
        return quadtile::test::message_of([&] {
                   const LoadedScene loaded = load_scene(directory_.add(name, bytes),
                                                         LightMapCoordinates::read, is_gltf(name));
                   const Scene& scene = loaded.scene;
                   check_scene(scene);
                   if (is_gltf(name)) {
                       loaded.gltf->set_light_map_coordinates(scene);
                       (void)loaded.gltf->with_light_map(scene, {{"picture"}}, {8, 8});
                   }
               })
            .empty();
    }

    void load_damaged(const std::string& name, const std::string& bytes) const {
        EXPECT_TRUE(loads(name, bytes));
        constexpr std::size_t LENGTHS = 100;
        for (std::size_t i = 0; i < LENGTHS; ++i) {
            (void)loads(name, bytes.substr(0, i * bytes.size() / LENGTHS));
        }
        std::mt19937 engine(11);
        std::size_t good = 0;
        for (int i = 0; i < 200; ++i) {
            std::string damaged = bytes;
            const std::size_t at = engine() % bytes.size();
            damaged[at] = static_cast<char>(engine());
            SCOPED_TRACE(at);
            good += loads(name, damaged) ? 1 : 0;
        }
        EXPECT_GT(good, 0U);
    }
};

// With all kinds of things in it.
std::string rich_rest() {
    return R"("extensionsUsed":["KHR_lights_punctual"],)"
           R"("extensions":{"KHR_lights_punctual":{"lights":[)"
           R"({"type":"directional","color":[1,0.5,0.25],"intensity":4}]}},)"
           R"("cameras":[{"type":"perspective","perspective":{"yfov":1.1,"znear":0.1}}],)"
           R"("materials":[{"emissiveFactor":[0,0,1],"doubleSided":true}],)"
           R"("meshes":[{"name":"Walls","primitives":[{"attributes":)"
           R"({"POSITION":0,"NORMAL":1,"TEXCOORD_1":2},"indices":3,"material":0}]}],)"
           R"("nodes":[{"mesh":0,"scale":[1,2,3],"children":[1,2]},{"camera":0},)"
           R"({"extensions":{"KHR_lights_punctual":{"light":0}}}],)"
           R"("scenes":[{"nodes":[0]}],"scene":0)";
}

TEST_F(DamagedSceneFile, IsASceneOrAnError) {
    load_damaged("scene.glb", square_file().binary(rich_rest()));
    load_damaged("scene.gltf", square_file().json(rich_rest()));
    load_damaged("scene.obj", SQUARE_AND_GABLE);
    const fs::path path = directory_.add("lit.glb", square_file().binary(rich_rest()));
    const auto lit = lit_of(path);
    load_damaged("scene.glb", lit->with_light_map(load_scene(path).scene, {{"png"}}, {8, 8}));
}

// ---- Scenes with their lightmap

using Json = nlohmann::ordered_json;

class LitScene : public SceneFile {
 protected:
    // The JSON of a .glb file.
    static Json json_of(const std::string& glb) {
        return Json::parse(glb.substr(
            20, static_cast<unsigned char>(glb[12]) + 256U * static_cast<unsigned char>(glb[13])));
    }
    [[nodiscard]] fs::path added(const std::string& name, const std::string& bytes) const {
        return directory_.add(name, bytes);
    }
};

void expect_same(const Scene& a, const Scene& b) {
    EXPECT_TRUE(a.positions == b.positions);
    EXPECT_TRUE(a.normals == b.normals);
    EXPECT_TRUE(a.light_map_coordinates == b.light_map_coordinates);
    ASSERT_EQ(a.triangles.size(), b.triangles.size());
    for (std::size_t i = 0; i < a.triangles.size(); ++i) {
        ASSERT_EQ(a.triangles[i].vertices, b.triangles[i].vertices);
        ASSERT_EQ(a.triangles[i].material, b.triangles[i].material);
    }
}

// The square's positions, normals, lightmap coordinates and indices, each with its filter and
// mode; all in the buffer 0, with buffer 1 for other programs. Without fallback that has no bytes.
std::string meshopt_square(bool binary) {
    Json json = Json::parse(square_file().json(
        mesh(LIT_SQUARE) + ONE_NODE + R"(,"extensionsUsed":["EXT_meshopt_compression"],)" +
        R"("extensionsRequired":["KHR_mesh_quantization","EXT_meshopt_compression"])"));
    std::string bytes;
    const auto compress = [&](std::size_t view, const std::string& mode, const std::string& filter,
                              std::size_t count, std::size_t stride, const void* data) {
        std::vector<unsigned char> buffer(1000);
        const auto* const indices = static_cast<const unsigned*>(data);
        buffer.resize(mode == "ATTRIBUTES"
                          ? meshopt_encodeVertexBuffer(buffer.data(), 1000, data, count, stride)
                      : mode == "TRIANGLES"
                          ? meshopt_encodeIndexBuffer(buffer.data(), 1000, indices, count)
                          : meshopt_encodeIndexSequence(buffer.data(), 1000, indices, count));
        Json& to = json["bufferViews"][view];
        to = {{"buffer", 1}, {"byteLength", count * stride}};
        if (mode == "ATTRIBUTES") {
            to["byteStride"] = stride;
        }
        to["extensions"]["EXT_meshopt_compression"] = {
            {"buffer", 0},     {"byteOffset", bytes.size()}, {"byteLength", buffer.size()},
            {"count", count},  {"byteStride", stride},       {"mode", mode},
            {"filter", filter}};
        bytes.append(buffer.begin(), buffer.end());
    };
    std::array<std::uint32_t, 12> positions{};
    meshopt_encodeFilterExp(positions.data(), 4, 12, 15, SQUARE_POSITIONS.data());
    compress(0, "ATTRIBUTES", "EXPONENTIAL", 4, 12, positions.data());
    const std::array<float, 16> up{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    std::array<std::int8_t, 16> normals{};
    meshopt_encodeFilterOct(normals.data(), 4, 4, 8, up.data());
    compress(1, "ATTRIBUTES", "OCTAHEDRAL", 4, 4, normals.data());
    json["accessors"][1].update(Json{{"componentType", 5120}, {"normalized", true}});
    compress(2, "ATTRIBUTES", "NONE", 4, 8, SQUARE_COORDINATES.data());
    const std::array<unsigned, 6> indices{0, 1, 2, 0, 2, 3};
    compress(3, binary ? "TRIANGLES" : "INDICES", "NONE", 6, 2, indices.data());
    // A turn about z by a right angle.
    const std::array<float, 4> turn{0, 0, std::sqrt(0.5F), std::sqrt(0.5F)};
    std::array<std::int16_t, 4> turned{};
    meshopt_encodeFilterQuat(turned.data(), 1, 8, 16, turn.data());
    compress(4, "ATTRIBUTES", "QUATERNION", 1, 8, turned.data());
    json["accessors"].push_back({{"bufferView", 4},
                                 {"componentType", 5122},
                                 {"normalized", true},
                                 {"count", 1},
                                 {"type", "VEC4"}});
    json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["ROTATION"] = 4;
    json["buffers"] = {
        {{"byteLength", bytes.size()},
         {"uri", "data:application/octet-stream;base64," + base64(bytes)}},
        {{"byteLength", 200}, {"extensions", {{"EXT_meshopt_compression", {{"fallback", true}}}}}}};
    return json.dump();
}

// The square in Draco's data, with and without connectivity of its own; `lossy`: of 14 bits.
std::string draco_square(int method, bool lossy) {
    draco::TriangleSoupMeshBuilder builder;
    builder.Start(2);
    using Attribute = draco::GeometryAttribute;
    const std::vector<float> normals{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
    for (const auto& [type, size, values] : {std::tuple(Attribute::POSITION, 3, SQUARE_POSITIONS),
                                             {Attribute::NORMAL, 3, normals},
                                             {Attribute::GENERIC, 2, SQUARE_COORDINATES}}) {
        const int id =
            builder.AddAttribute(type, static_cast<std::int8_t>(size), draco::DT_FLOAT32);
        for (std::uint32_t t = 0; t < 2; ++t) {
            builder.SetAttributeValuesForFace(id, draco::FaceIndex(t), values.data(),
                                              &values[size * (t + 1)], &values[size * (t + 2)]);
        }
    }
    const std::unique_ptr<draco::Mesh> built = builder.Finalize();
    draco::Encoder encoder;
    encoder.SetEncodingMethod(method);
    for (const auto type : {Attribute::POSITION, Attribute::NORMAL, Attribute::GENERIC}) {
        if (lossy) {
            encoder.SetAttributeQuantization(type, 14);
        }
    }
    draco::EncoderBuffer data;
    EXPECT_TRUE(encoder.EncodeMeshToBuffer(*built, &data).ok());
    Gltf gltf = square_file();
    const int view = gltf.add_bytes(std::string(data.data(), data.size()));
    Json json = Json::parse(gltf.json(mesh(LIT_SQUARE) + ONE_NODE +
                                      R"(,"extensionsRequired":["KHR_draco_mesh_compression"])"));
    json["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"] = {
        {"bufferView", view}, {"attributes", {{"POSITION", 0}, {"NORMAL", 1}, {"TEXCOORD_1", 2}}}};
    for (std::size_t i = 0; i < 4; ++i) {
        json["accessors"][i].erase("bufferView");
    }
    return json.dump();
}

// By corner of a triangle: its place, normal and place in the lightmap.
std::vector<std::array<float, 8>> corners(const Scene& scene) {
    std::vector<std::array<float, 8>> all;
    for (const Triangle& triangle : scene.triangles) {
        for (const std::uint32_t v : triangle.vertices) {
            const glm::vec3 p = scene.positions[v];
            const glm::vec3 n = scene.normals[v];
            const glm::vec2 l = scene.light_map_coordinates[v];
            all.push_back({p.x, p.y, p.z, n.x, n.y, n.z, l.x, l.y});
        }
    }
    std::ranges::sort(all);
    return all;
}

// Catches filters, modes, attributes and types that are mixed up, and a lit scene that still says
// it is compressed, or has the data of the compressed one.
TEST_F(LitScene, OfCompressedMeshesIsTheSame) {
    const Scene square = load_square(ONE_NODE).scene;
    const Scene turned =
        load_square(nodes(R"({"mesh":0,"rotation":[0,0,0.70710678,0.70710678]})")).scene;
    for (const auto& [file, expected, bound] : {std::tuple(draco_square(0, false), square, 0.0F),
                                                {draco_square(1, false), square, 0.0F},
                                                {draco_square(1, true), square, 1e-3F},
                                                {meshopt_square(true), turned, 1e-4F},
                                                {meshopt_square(false), turned, 1e-4F}}) {
        const LoadedScene loaded = load("compressed.gltf", file);
        EXPECT_THAT(loaded.warnings, IsEmpty());
        std::vector<std::array<float, 8>> actual = corners(loaded.scene);
        const std::vector<std::array<float, 8>> wanted = corners(expected);
        ASSERT_EQ(actual.size(), wanted.size());
        for (std::size_t i = 0; i < 8 * wanted.size(); ++i) {
            EXPECT_NEAR(actual[i / 8][i % 8], wanted[i / 8][i % 8], bound) << i;
        }
        const auto lit = lit_of(directory_.path() / "compressed.gltf");
        const std::string glb = lit->with_light_map(loaded.scene, {{"\x89PNG"}}, {8, 8});
        EXPECT_THAT(glb, AllOf(Not(HasSubstr("compression")), Not(HasSubstr("DRACO"))));
        expect_same(load("baked.glb", glb).scene, loaded.scene);
    }
}

// Catches damaged data that crashes, and sizes of gigabytes.
TEST_F(DamagedSceneFile, IsASceneOrAnErrorIfItIsCompressed) {
    for (const std::string& file : {draco_square(0, true), draco_square(1, true),
                                    meshopt_square(true), meshopt_square(false)}) {
        Json json = Json::parse(file);
        std::string& text = json["buffers"][0]["uri"].get_ref<std::string&>();
        const std::string whole = text;
        for (std::size_t i = whole.find(',') + 1; i < whole.size(); ++i) {
            for (const char digit : {'A', '/', 'h', whole[i] == 'B' ? 'C' : 'B'}) {
                text[i] = digit;
                (void)loads("damaged.gltf", json.dump());
            }
            text = whole;
        }
        const bool is_draco = file.find("KHR_draco") != std::string::npos;
        Json& length = is_draco ? json["bufferViews"][4]["byteLength"]
                                : json["bufferViews"][3]["extensions"].front()["byteLength"];
        for (std::size_t i = length; i-- > 1;) {
            length = i;
            EXPECT_THAT(refusal("cut.gltf", json.dump()),
                        AllOf(HasSubstr(is_draco ? "mesh 0 'Walls', primitive 0" : "buffer view 3"),
                              HasSubstr("is damaged"), HasSubstr("compress the scene again")));
        }
        if (!is_draco) {
            json["bufferViews"][0]["extensions"].front()["count"] = 1'000'000'000;
            EXPECT_THAT(refusal("huge.gltf", json.dump()),
                        HasSubstr("cannot have 1000000000 elements of 12"));
        }
    }
}

// Two nodes with one mesh, one of them mirrored; a strip; what only some vertices have; a vertex
// that nothing uses; things that the baker does not know.
std::string odd_scene(bool binary) {
    Gltf gltf;
    gltf.add("VEC3", {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 1, 9, 9, 9});
    gltf.add("VEC2", {0, 0, 1, 0, 0, 1, 1, 1, 5, 5});
    gltf.add("VEC3", {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0});
    gltf.add({0, 1, 2, 3});
    gltf.asset = R"(,"generator":"a program","extras":{"mine":[1,{}]})";
    const std::string rest =
        R"("extensionsUsed":["MINE_thing"],"extensions":{"MINE_thing":{"x":1.5}},)"
        R"("materials":[{"name":"Paint","extras":{"y":2},"extensions":{"MINE_thing":{}}},{}],)"
        R"("meshes":[{"name":"Walls","extras":7,"weights":[0],"primitives":[{"attributes":)"
        R"({"POSITION":0,"TEXCOORD_0":1},"targets":[{"POSITION":2}],"indices":3,"mode":5,)"
        R"("material":0},{"attributes":{"POSITION":0},"mode":0}]}],)"
        R"("animations":[{"name":"Turn","channels":[],"samplers":[]}],)"
        R"("nodes":[{"mesh":0,"name":"Left"},{"mesh":0,"scale":[-2,1,1],"translation":[9,0,0]}],)"
        R"("scenes":[{"nodes":[0,1],"name":"All"}],"scene":0)";
    return binary ? gltf.binary(rest) : gltf.json(rest);
}

TEST_F(LitScene, HasTheCoordinatesOfTheUnwrappedScene) {
    for (const bool binary : {true, false}) {
        const fs::path path = added(binary ? "odd.glb" : "odd.gltf", odd_scene(binary));
        Scene scene = load_scene(path, LightMapCoordinates::ignore).scene;
        unwrap(scene, {.extent = Extent{64, 32}});
        const auto lit = lit_of(path);
        lit->set_light_map_coordinates(scene);
        const std::string glb = lit->with_light_map(scene, {{"\x89PNG", 2.5}}, {64, 32});

        const Scene baked = load("baked.glb", glb).scene;
        EXPECT_TRUE(baked.light_map_extent == Extent(64, 32));
        ASSERT_EQ(baked.triangles.size(), scene.triangles.size());
        for (std::size_t t = 0; t < scene.triangles.size(); ++t) {
            for (std::size_t i = 0; i < 3; ++i) {
                const std::uint32_t a = baked.triangles[t].vertices[i];
                const std::uint32_t b = scene.triangles[t].vertices[i];
                EXPECT_EQ(baked.positions[a], scene.positions[b]) << t;
                EXPECT_EQ(baked.light_map_coordinates[a], scene.light_map_coordinates[b]) << t;
            }
        }

        // All but the primitives, which are now lists, is as it was.
        const Json old = json_of(odd_scene(true));
        Json now = json_of(glb);
        const Json light_map{{"index", 0}, {"texCoord", 1}, {"intensity", 2.5}};
        EXPECT_EQ(now["materials"][0]["extensions"].at("MOZ_lightmap"), light_map);
        EXPECT_EQ(now["extensionsUsed"], Json({"MINE_thing", "MOZ_lightmap"}));
        EXPECT_EQ(now["asset"]["extras"]["lightmap_size"], Json({64, 32}));
        EXPECT_EQ(now["nodes"][1]["mesh"], 1);
        for (const Json& mesh : now["meshes"]) {
            const Json& list = mesh["primitives"][0];
            EXPECT_FALSE(list.contains("mode"));
            EXPECT_EQ(list["attributes"].size(), 3U);
            const Json& moved = now["accessors"][list["targets"][0]["POSITION"].get<int>()];
            EXPECT_EQ(moved["count"], now["accessors"][list["indices"].get<int>()]["count"]);
            EXPECT_EQ(mesh["primitives"][1], old["meshes"][0]["primitives"][1]);  // points
        }
        now["materials"][0]["extensions"].erase("MOZ_lightmap");
        now["extensionsUsed"] = old["extensionsUsed"];
        now["asset"]["extras"].erase("lightmap_size");
        now["nodes"][1]["mesh"] = 0;
        for (Json& mesh : now["meshes"]) {
            mesh["primitives"] = old["meshes"][0]["primitives"];
        }
        EXPECT_EQ(now["meshes"][0], now["meshes"][1]);
        now["meshes"].erase(1);
        for (const auto& [key, value] : old.items()) {
            if (key != "buffers" && key != "bufferViews" && key != "accessors") {
                EXPECT_EQ(now[key], value) << key;
            }
        }
    }
}

TEST_F(LitScene, WithItsOwnCoordinatesKeepsItsMeshes) {
    const std::string rest = mesh(LIT_SQUARE) + ONE_NODE +
                             R"(,"images":[{"name":"Wood","uri":"wood.png"}],)"
                             R"("textures":[{"source":0}])";
    const std::string picture = "\x89PNG, all of it";
    (void)added("wood.png", picture);
    const fs::path path = added("scene.glb", square_file().binary(rest));
    const Scene scene = load_scene(path).scene;
    const std::string glb = lit_of(path)->with_light_map(scene, {{"\x89PNG"}}, {8, 8});
    const Json old = json_of(square_file().binary(rest));
    Json now = json_of(glb);
    EXPECT_EQ(now["accessors"], old["accessors"]);
    EXPECT_EQ(now["textures"][0], old["textures"][0]);
    // glTF's default material is all metal.
    EXPECT_EQ(now["meshes"][0]["primitives"][0]["material"], 0);
    EXPECT_EQ(now["materials"][0]["pbrMetallicRoughness"]["metallicFactor"], 0.0);
    // The picture is in the file.
    EXPECT_FALSE(now["images"][0].contains("uri"));
    EXPECT_EQ(now["images"][0]["mimeType"], "image/png");
    const Json& view = now["bufferViews"][now["images"][0]["bufferView"].get<std::size_t>()];
    const std::size_t binary = glb.find(std::string("BIN\0", 4)) + 4;
    EXPECT_EQ(glb.substr(binary + view["byteOffset"].get<std::size_t>(), picture.size()), picture);
    // A second bake replaces the lightmap of the first.
    const fs::path baked = added("baked.glb", glb);
    const Scene again = load_scene(baked).scene;
    EXPECT_TRUE(glb == lit_of(baked)->with_light_map(again, {{"\x89PNG"}}, {8, 8}));
}

// Catches coordinates that are not those of a page, nodes that share them, and materials that have
// the lightmap of another page, or one though their node is excluded.
TEST_F(LitScene, HasAMaterialForEachPage) {
    const std::string nodes_of_four =
        R"(,"nodes":[{"mesh":0,"name":"A"},{"mesh":0,"name":"B","translation":[5,0,0]},)"
        R"({"mesh":0,"name":"C","translation":[9,0,0],"extras":{"lightmap_exclude":true}}],)"
        R"("scenes":[{"nodes":[0,1,2]}],"scene":0,"materials":[{"name":"Paint",)"
        R"("extensions":{"MOZ_lightmap":{"index":0}}}])";
    const fs::path path =
        added("scene.gltf",
              square_file().json(mesh(R"({"attributes":{"POSITION":0,"NORMAL":1,"TEXCOORD_1":2},)"
                                      R"("indices":3,"material":0})") +
                                 nodes_of_four));
    Scene scene = load_scene(path, LightMapCoordinates::where_given).scene;
    EXPECT_TRUE(scene.parts[2].excluded);
    unwrap(scene, {.extent = Extent{24, 24}, .keeps_layouts = true, .makes_pages = true});
    EXPECT_EQ(scene.pages->count, 2U);
    const auto lit = lit_of(path);
    lit->set_light_map_coordinates(scene);
    const std::string glb =
        lit->with_light_map(scene, {{"\x89PNG 0", 2.0}, {"\x89PNG 1", 3.0}}, {24, 24});
    const Json json = json_of(glb);
    const auto primitive = [&](std::size_t node) {
        return json["meshes"][json["nodes"][node]["mesh"].get<std::size_t>()]["primitives"][0];
    };
    for (const std::size_t node : {0U, 1U}) {
        const Json& material = json["materials"][primitive(node)["material"].get<std::size_t>()];
        EXPECT_EQ(material["name"], "Paint");
        EXPECT_EQ(material["extensions"]["MOZ_lightmap"]["index"], scene.parts[node].page);
        EXPECT_EQ(material["extensions"]["MOZ_lightmap"]["intensity"], 2 + scene.parts[node].page);
    }
    EXPECT_NE(scene.parts[0].page, scene.parts[1].page);
    const Json& excluded = json["materials"][primitive(2)["material"].get<std::size_t>()];
    EXPECT_FALSE(excluded.contains("extensions"));
    EXPECT_EQ(primitive(2)["attributes"]["TEXCOORD_1"], 2);  // as it was

    const fs::path baked = added("baked.glb", glb);
    const Scene again = load_scene(baked).scene;
    for (std::size_t i = 0; i < 6; ++i) {  // both squares have 20 of 24 texels
        const glm::vec2 at =
            again.light_map_coordinates[again.triangles[i / 3 * 2].vertices[i % 3]];
        EXPECT_LT(glm::distance(at * 24.0F, glm::round(at * 1.2F) * 20.0F), 1e-4F);
    }
    // The lightmaps of another bake replace both.
    EXPECT_EQ(
        json_of(lit_of(baked)->with_light_map(again, {{"\x89PNG"}}, {24, 24}))["images"].size(),
        1U);
}

TEST_F(LitScene, IsRefusedWhereUnwrappingWouldBreakATexture) {
    const fs::path path =
        added("scene.gltf",
              square_file().json(
                  R"("images":[{"uri":"none.png"}],"textures":[{"source":0}],"materials":[)"
                  R"({"occlusionTexture":{"index":0,"texCoord":1}}],)" +
                  mesh(R"({"attributes":{"POSITION":0,"TEXCOORD_1":2},"indices":3,"material":0})") +
                  ONE_NODE));
    Scene scene = load_scene(path, LightMapCoordinates::ignore).scene;
    unwrap(scene, {.extent = Extent{16, 16}});
    const auto lit = lit_of(path);
    EXPECT_THAT(quadtile::test::message_of([&] { lit->set_light_map_coordinates(scene); }),
                AllOf(HasSubstr("scene.gltf"), HasSubstr("material 0"), HasSubstr("TEXCOORD_1")));
}

}  // namespace

}  // namespace quadtile::baker::test
