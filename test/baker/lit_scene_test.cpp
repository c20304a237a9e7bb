// Scenes that are written with their lightmap, compressed ones, and damaged ones.

#include "lit_gltf.hpp"

#include "gltf_file.hpp"
#include "scene.hpp"
#include "surface_map.hpp"
#include "unwrap.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace quadtile::baker::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

// The file, to be written with a lightmap.
std::unique_ptr<LitGltf> lit_of(const fs::path& path) {
    return load_scene(path, LightMapCoordinates::ignore, true).gltf;
}

class LitScene : public SceneFile {
 protected:
    // The JSON of a .glb file.
    static Json json_of(const std::string& glb) {
        return Json::parse(glb.substr(
            20, static_cast<unsigned char>(glb[12]) + 256U * static_cast<unsigned char>(glb[13])));
    }
};

// By corner of a triangle: its place, normal and place in the lightmap.
std::vector<std::array<float, 8>> corners_in(const Scene& scene) {
    std::vector<std::array<float, 8>> all;
    for (const Triangle& triangle : scene.triangles) {
        for (const std::uint32_t v : triangle.vertices) {
            const glm::vec3 p = scene.positions[v];
            const glm::vec3 n = scene.normals[v];
            const glm::vec2 l = scene.light_map_coordinates[v];
            all.push_back({p.x, p.y, p.z, n.x, n.y, n.z, l.x, l.y});
        }
    }
    return all;
}

// ---- Compressed scenes

// The square of gltf_file.hpp, as the encoders of Draco and meshoptimizer have made it: by both
// methods of Draco, of 14 bits in the third file, and turned about z by a right angle by an
// instance of quaternions in the last two, whose buffers have all filters and modes.
constexpr std::array<std::pair<const char*, float>, 5> COMPRESSED{{{"draco_sequential", 0.0F},
                                                                   {"draco_edgebreaker", 0.0F},
                                                                   {"draco_lossy", 1e-3F},
                                                                   {"meshopt_triangles", 1e-4F},
                                                                   {"meshopt_indices", 1e-4F}}};

fs::path path_of(const std::string& name) {
    return fs::path(QUADTILE_BAKER_SCENES) / (name + ".glb");
}

// Catches filters, modes, attributes and types that are mixed up, and a lit scene that still says
// it is compressed, or has the data of the compressed one.
TEST_F(LitScene, OfCompressedMeshesIsTheSame) {
    const Scene plain = load(square()).scene;
    const Scene turned =
        load(square(R"({"nodes":[{"mesh":0,"rotation":[0,0,0.70710678,0.70710678]}]})")).scene;
    for (const auto& [name, bound] : COMPRESSED) {
        SCOPED_TRACE(name);
        const fs::path path = path_of(name);
        const Scene& expected = std::string(name).starts_with("draco") ? plain : turned;
        const LoadedScene loaded = load_scene(path);
        EXPECT_THAT(loaded.warnings, IsEmpty());
        auto actual = corners_in(loaded.scene);
        auto wanted = corners_in(expected);
        std::ranges::sort(actual);
        std::ranges::sort(wanted);
        ASSERT_EQ(actual.size(), wanted.size());
        for (std::size_t i = 0; i < 8 * wanted.size(); ++i) {
            EXPECT_NEAR(actual[i / 8][i % 8], wanted[i / 8][i % 8], bound) << i;
        }
        const std::string glb = lit_of(path)->with_light_map(loaded.scene, {{"\x89PNG"}}, {8, 8});
        EXPECT_THAT(glb, AllOf(Not(HasSubstr("compression")), Not(HasSubstr("DRACO"))));
        const Scene baked = load("baked.glb", glb).scene;
        EXPECT_TRUE(corners_in(baked) == corners_in(loaded.scene));
    }
}

// Catches damaged data that crashes, and sizes of gigabytes.
TEST_F(LitScene, OfDamagedDataIsASceneOrAnError) {
    for (const auto& [name, bound] : COMPRESSED) {
        SCOPED_TRACE(name);
        const std::string whole = quadtile::test::read_file(path_of(name));
        const std::size_t data = whole.find(std::string("BIN\0", 4)) + 4;
        for (std::size_t i = data; i < whole.size(); ++i) {
            for (const int bit : {0, 5, 7}) {
                std::string damaged = whole;
                damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
                (void)refusal("scene.glb", damaged);
            }
        }
        Json json = json_of(whole);
        const auto refused = [&] {
            return refusal("scene.glb", glb_of(json.dump(), whole.substr(data)));
        };
        const bool is_draco = std::string(name).starts_with("draco");
        Json& views = json["bufferViews"];
        Json& length =
            is_draco ? views[4]["byteLength"] : views[3]["extensions"].front()["byteLength"];
        for (std::size_t i = length; i-- > 1;) {
            length = i;
            EXPECT_THAT(refused(),
                        AllOf(HasSubstr(is_draco ? "mesh 0 'Walls', primitive 0" : "buffer view 3"),
                              HasSubstr("is damaged"), HasSubstr("compress the scene again")));
        }
        if (!is_draco) {
            views[0]["extensions"].front()["count"] = 1'000'000'000;
            EXPECT_THAT(refused(), HasSubstr("cannot have 1000000000 elements of 12"));
        }
    }
}

// ---- Lit scenes

// Two nodes with one mesh, one of them mirrored; a strip; what only some vertices have; a vertex
// that nothing uses; things that the baker does not know.
TEST_F(LitScene, HasTheCoordinatesOfTheUnwrappedScene) {
    const fs::path path = QUADTILE_BAKER_SCENES "/odd.gltf";
    Scene scene = load_scene(path, LightMapCoordinates::ignore).scene;
    unwrap(scene, {.extent = Extent{64, 32}});
    const auto lit = lit_of(path);
    lit->set_light_map_coordinates(scene);
    const std::string glb = lit->with_light_map(scene, {{"\x89PNG", 2.5}}, {64, 32});

    const Scene baked = load("baked.glb", glb).scene;
    EXPECT_TRUE((baked.light_map_extent == Extent{64, 32}));
    EXPECT_TRUE(corners_in(baked) == corners_in(scene));
    // All but the primitives, which are now lists, is as it was.
    const Json old = Json::parse(quadtile::test::read_file(path));
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
        const Json& moved = now["accessors"][list["targets"][0]["POSITION"].get<std::size_t>()];
        EXPECT_EQ(moved["count"], now["accessors"][list["indices"].get<std::size_t>()]["count"]);
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

TEST_F(LitScene, WithItsOwnCoordinatesKeepsItsMeshes) {
    const Gltf file =
        square(R"({"images":[{"name":"Wood","uri":"wood.png"}],"textures":[{"source":0}]})");
    const std::string picture = "\x89PNG, all of it";
    (void)added("wood.png", picture);
    const fs::path path = added("scene.glb", file.binary());
    const std::string glb =
        lit_of(path)->with_light_map(load_scene(path).scene, {{"\x89PNG"}}, {8, 8});
    const Json& old = file.json;
    const Json now = json_of(glb);
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
    // A second bake replaces the lightmap of the first; one of half floats, too.
    fs::path baked = added("baked.glb", glb);
    const Scene again = load_scene(baked).scene;
    EXPECT_TRUE(glb == lit_of(baked)->with_light_map(again, {{"\x89PNG"}}, {8, 8}));
    const LightMapPage half_floats{"\x89PNG", 1.0, "KTX"};
    const std::string with_both = lit_of(baked)->with_light_map(again, {half_floats}, {8, 8});
    baked = added("half.glb", with_both);
    EXPECT_TRUE(with_both == lit_of(baked)->with_light_map(again, {half_floats}, {8, 8}));
    EXPECT_EQ(json_of(with_both)["images"].size(), 3U);
}

// Catches coordinates that are not those of a page, nodes that share them, and materials that have
// the lightmap of another page, or one though their node is excluded.
TEST_F(LitScene, HasAMaterialForEachPage) {
    const fs::path path = added("scene.glb", square(R"({"meshes":[{"primitives":[{"attributes":
        {"POSITION":0,"NORMAL":1,"TEXCOORD_1":2},"indices":3,"material":0}]}],
        "nodes":[{"mesh":0,"name":"A"},{"mesh":0,"name":"B","translation":[5,0,0]},
                 {"mesh":0,"name":"C","translation":[9,0,0],"extras":{"lightmap_exclude":true}}],
        "scenes":[{"nodes":[0,1,2]}],"materials":[{"name":"Paint",
            "extensions":{"MOZ_lightmap":{"index":0}}}]})")
                                                 .binary());
    Scene scene = load_scene(path, LightMapCoordinates::where_given).scene;
    EXPECT_TRUE(scene.parts[2].excluded);
    unwrap(scene, {.extent = Extent{24, 24}, .keeps_layouts = true, .makes_pages = true});
    EXPECT_EQ(scene.pages->count, 2U);
    const auto lit = lit_of(path);
    lit->set_light_map_coordinates(scene);
    const std::string glb = lit->with_light_map(
        scene, {{"\x89PNG 0", 2.0, "KTX 0"}, {"\x89PNG 1", 3.0, "KTX 1"}}, {24, 24});
    const Json json = json_of(glb);
    const auto primitive = [&](std::size_t node) {
        return json["meshes"][json["nodes"][node]["mesh"].get<std::size_t>()]["primitives"][0];
    };
    for (const std::size_t node : {0U, 1U}) {
        const Json& material = json["materials"][primitive(node)["material"].get<std::size_t>()];
        EXPECT_EQ(material["name"], "Paint");
        EXPECT_EQ(material["extensions"]["MOZ_lightmap"]["index"], scene.parts[node].page);
        EXPECT_EQ(material["extensions"]["MOZ_lightmap"]["intensity"], 2 + scene.parts[node].page);
        const Json& texture = json["textures"][scene.parts[node].page];
        EXPECT_EQ(json["images"][texture["source"].get<int>()]["mimeType"], "image/png");
        const Json& half_floats = texture["extensions"]["KHR_texture_basisu"]["source"];
        EXPECT_EQ(json["images"][half_floats.get<int>()]["mimeType"], "image/ktx2");
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

TEST_F(LitScene, IsRefusedWhereUnwrappingWouldBreakATextureOrInstances) {
    const fs::path path = added("scene.glb", square(R"({"images":[{"uri":"none.png"}],
        "textures":[{"source":0}],
        "materials":[{"occlusionTexture":{"index":0,"texCoord":1}}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_1":2},"indices":3,
                                  "material":0}]}]})")
                                                 .binary());
    Scene scene = load_scene(path, LightMapCoordinates::ignore).scene;
    unwrap(scene, {.extent = Extent{16, 16}});
    const auto lit = lit_of(path);
    EXPECT_THAT(quadtile::test::message_of([&] { lit->set_light_map_coordinates(scene); }),
                AllOf(HasSubstr("scene.glb"), HasSubstr("material 0"), HasSubstr("TEXCOORD_1")));
    const fs::path instances = QUADTILE_BAKER_SCENES "/cases/instances.gltf";
    EXPECT_THAT(quadtile::test::message_of([&] {
                    lit_of(instances)->set_light_map_coordinates(load_scene(instances).scene);
                }),
                HasSubstr("node 0 has instances"));
}

// ---- Damage

class DamagedSceneFile : public SceneFile {
 protected:
    // Returns whether a scene loads. If it does, it must be usable, and writable if it is glTF.
    [[nodiscard]] bool loads(const std::string& name, const std::string& bytes) const {
        return quadtile::test::message_of([&] {
                   const LoadedScene loaded =
                       load_scene(added(name, bytes), LightMapCoordinates::read, is_gltf(name));
                   if (loaded.scene.light_map_coordinates.empty()) {
                       return;  // it would have to be unwrapped first
                   }
                   (void)make_surface_map(loaded.scene, {8, 8}, 1);
                   if (is_gltf(name)) {
                       loaded.gltf->set_light_map_coordinates(loaded.scene);
                       (void)loaded.gltf->with_light_map(loaded.scene, {{"picture"}}, {8, 8});
                   }
               })
            .empty();
    }
};

// Each file is cut, and single bytes of it are others: a scene or an error.
TEST_F(DamagedSceneFile, IsASceneOrAnError) {
    const fs::path cases = QUADTILE_BAKER_SCENES "/cases";
    const auto bytes_of = [&](const char* name) { return quadtile::test::read_file(cases / name); };
    const LoadedScene sun = load_scene(cases / "sun.gltf", LightMapCoordinates::read, true);
    const std::string lit = sun.gltf->with_light_map(sun.scene, {{"png"}}, {8, 8});
    (void)added("square.bin", bytes_of("square.bin"));
    std::mt19937 engine(11);
    for (const auto& [name, bytes] : {std::pair("sun.gltf", bytes_of("sun.gltf")),
                                      {"materials.gltf", bytes_of("materials.gltf")},
                                      {"gable_unpainted.obj", bytes_of("gable_unpainted.obj")},
                                      {"scene.glb", lit}}) {
        SCOPED_TRACE(name);
        EXPECT_TRUE(loads(name, bytes));
        constexpr std::size_t LENGTHS = 100;
        for (std::size_t i = 0; i < LENGTHS; ++i) {
            (void)loads(name, bytes.substr(0, i * bytes.size() / LENGTHS));
        }
        std::size_t good = 0;
        for (int i = 0; i < 200; ++i) {
            std::string damaged = bytes;
            damaged[engine() % bytes.size()] = static_cast<char>(engine());
            good += loads(name, damaged) ? 1 : 0;
        }
        EXPECT_GT(good, 0U);
    }
}

}  // namespace

}  // namespace quadtile::baker::test
