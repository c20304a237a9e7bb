// glTF files whose buffer grows by accessor, as .glb, and a square in one.

#pragma once

#include "parse_gltf.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace quadtile::baker::test {

struct Gltf {
    Json json{{"asset", {{"version", "2.0"}}}};
    std::string bytes;

    // Return the number of the accessor.
    std::size_t add(const std::string& type, const std::vector<float>& values) {
        return add(type, 5126, values.data(), 4 * values.size(),
                   values.size() / static_cast<unsigned>(type[3] - '0'));
    }
    std::size_t add(const std::vector<std::uint16_t>& values) {
        return add("SCALAR", 5123, values.data(), 2 * values.size(), values.size());
    }
    std::size_t add_bytes(const std::string& values) {
        return add("SCALAR", 5121, values.data(), values.size(), values.size());
    }

    // Merges an object into the file's; null removes what is there.
    Gltf& with(const std::string& more) {
        json.merge_patch(Json::parse(more));
        return *this;
    }
    [[nodiscard]] std::string text() const {
        Json whole = json;
        if (!whole.contains("buffers")) {
            whole["buffers"] = Json::array({{{"byteLength", bytes.size()}}});
        }
        return whole.dump();
    }
    [[nodiscard]] std::string binary() const { return glb_of(text(), bytes); }

 private:
    std::size_t add(const std::string& type, int component_type, const void* data, std::size_t size,
                    std::size_t count) {
        const std::size_t number = json["bufferViews"].size();
        json["bufferViews"].push_back(
            {{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", size}});
        json["accessors"].push_back({{"bufferView", number},
                                     {"componentType", component_type},
                                     {"count", count},
                                     {"type", type}});
        bytes.append(static_cast<const char*>(data), size);
        bytes.resize((bytes.size() + 3) / 4 * 4);
        return number;
    }
};

const std::vector<float> SQUARE_POSITIONS{-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
const std::vector<float> SQUARE_COORDINATES{0, 1, 1, 1, 1, 0, 0, 0};

const std::string LIT_SQUARE =
    R"({"attributes":{"POSITION":0,"NORMAL":1,"TEXCOORD_1":2},"indices":3})";
const std::string SQUARE = R"({"attributes":{"POSITION":0,"NORMAL":1},"indices":3})";

inline std::string mesh(const std::string& primitives) {
    return R"({"meshes":[{"name":"Walls","primitives":[)" + primitives + "]}]}";
}

// Accessors 0 to 3: positions, normals, lightmap coordinates and indices of the square -1..1 in
// the plane z = 0, its front towards +z; the mesh LIT_SQUARE and a node with it.
inline Gltf square(const std::string& more = "{}",
                   const std::vector<float>& positions = SQUARE_POSITIONS,
                   const std::vector<float>& light_map = SQUARE_COORDINATES) {
    Gltf gltf;
    gltf.add("VEC3", positions);
    gltf.add("VEC3", {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
    gltf.add("VEC2", light_map);
    gltf.add({0, 1, 2, 0, 2, 3});
    gltf.with(mesh(LIT_SQUARE));
    gltf.with(R"({"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}],"scene":0})");
    return gltf.with(more);
}

class SceneFile : public testing::Test {
 protected:
    [[nodiscard]] std::filesystem::path added(const std::string& name,
                                              const std::string& bytes) const {
        return directory_.add(name, bytes);
    }
    [[nodiscard]] LoadedScene load(
        const std::string& name, const std::string& bytes,
        LightMapCoordinates coordinates = LightMapCoordinates::read) const {
        return load_scene(added(name, bytes), coordinates);
    }
    [[nodiscard]] LoadedScene load(const Gltf& gltf) const {
        return load("scene.glb", gltf.binary());
    }
    // Empty: it is a scene. A refusal names the file.
    [[nodiscard]] static std::string refusal(const std::filesystem::path& path) {
        const std::string message = quadtile::test::message_of([&] { return load_scene(path); });
        if (!message.empty()) {
            EXPECT_THAT(message, testing::HasSubstr(path.string()));
        }
        return message;
    }
    [[nodiscard]] std::string refusal(const std::string& name, const std::string& bytes) const {
        return refusal(added(name, bytes));
    }
    [[nodiscard]] std::string refusal(const Gltf& gltf) const {
        return refusal("scene.glb", gltf.binary());
    }

    quadtile::test::TemporaryDirectory directory_;
};

}  // namespace quadtile::baker::test
