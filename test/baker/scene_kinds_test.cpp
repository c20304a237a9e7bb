// Kinds of files that exporters write: each was refused, lost or lit wrongly.

#include "gltf_file.hpp"
#include "surface_map.hpp"
#include "traced_scene.hpp"

#include <functional>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

void expect_colour(const glm::vec3& colour, const glm::vec3& expected, const std::string& what) {
    EXPECT_LT(glm::distance(colour, expected), 1e-3F) << what << testing::PrintToString(colour.r);
}

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
        expect_colour(map.albedo.at(map.texels[5]), {0.2F, 0.2F, 0.15F}, "");
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
    expect_colour(gloss.albedo, {0.2F, 0.4F, 0.6F}, "gloss");
    EXPECT_EQ(gloss.alpha, 0.5F);
    expect_colour(
        material_of(R"({"extensions":{"KHR_materials_unlit":{}}})", Not(HasSubstr("metal"))).albedo,
        glm::vec3(1.0F), "unlit");
    expect_colour(material_of(R"({"pbrMetallicRoughness":{"metallicFactor":0.75}})",
                              HasSubstr("1 material of metal"))
                      .albedo,
                  glm::vec3(0.25F), "metal");
    const Material glass = material_of(
        R"({"pbrMetallicRoughness":{"metallicFactor":0,"baseColorFactor":[0.2,0.8,0.4,1]},
            "extensions":{"KHR_materials_volume":{},
            "KHR_materials_transmission":{"transmissionFactor":0.75}}})",
        AllOf(HasSubstr("KHR_materials_transmission"), HasSubstr("KHR_materials_volume")));
    EXPECT_TRUE(glass.alpha_mode == AlphaMode::blend);
    EXPECT_NEAR(glass.alpha, 1.0F - 0.75F * 0.8F, 1e-6F);
    expect_colour(glass.tint, {0.25F, 1.0F, 0.5F}, "light behind glass");
    expect_colour(glass.alpha * glass.albedo, 0.25F * glm::vec3(0.2F, 0.8F, 0.4F), "its own");
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
    expect_colour(colours("mtllib my scene.mtl b.mtl"), {0.6F, 0.7F, 0.8F}, "one line");
    expect_colour(colours("mtllib b.mtl\nmtllib  my scene.mtl "), {0.6F, 0.7F, 0.8F}, "two lines");
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
