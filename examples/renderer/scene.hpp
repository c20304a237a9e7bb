// Triangles and camera of a glTF file. A renderer has a loader of its own.

#pragma once

#include "shaders/scene.h"

#include <glm/gtc/quaternion.hpp>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace renderer {

struct Scene {
    std::vector<Vertex> triangles;
    glm::mat4 camera{1.0F};      // its place; it looks along -z
    float field_of_view = 0.0F;  // vertical, radians
};

class SceneFile {
 public:
    explicit SceneFile(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator(file), {});
        const std::size_t json_size = at<std::uint32_t>(12);
        json_ = nlohmann::json::parse(bytes_.substr(20, json_size));
        binary_ = 20 + json_size + 8;
    }

    // Throws an exception if the scene has no camera or no triangles with lightmap coordinates.
    [[nodiscard]] Scene scene() const {
        Scene scene;
        for (const std::size_t root : json_.at("scenes").at(json_.value("scene", 0U)).at("nodes")) {
            add_node(root, glm::mat4(1.0F), scene);
        }
        if (scene.field_of_view == 0.0F || scene.triangles.empty()) {
            throw std::runtime_error("the scene needs a perspective camera and a mesh");
        }
        return scene;
    }

 private:
    template <typename Value>
    [[nodiscard]] Value at(std::size_t offset) const {
        if (offset + sizeof(Value) > bytes_.size()) {
            throw std::runtime_error("the .glb file cannot be read, or ends early");
        }
        Value value;
        std::memcpy(&value, &bytes_[offset], sizeof(Value));
        return value;
    }

    // Returns an element of an accessor.
    template <typename Value>
    [[nodiscard]] Value element(const nlohmann::json& accessor, std::size_t index) const {
        const auto& view = json_.at("bufferViews").at(accessor.at("bufferView").get<std::size_t>());
        return at<Value>(binary_ + view.value("byteOffset", 0U) + accessor.value("byteOffset", 0U) +
                         index * view.value("byteStride", sizeof(Value)));
    }

    void add_node(std::size_t index, const glm::mat4& parent, Scene& scene) const {
        const nlohmann::json& node = json_.at("nodes").at(index);
        const auto r = node.value("rotation", std::vector{0.0F, 0.0F, 0.0F, 1.0F});
        const auto s = node.value("scale", std::vector{1.0F, 1.0F, 1.0F});
        const auto t = node.value("translation", std::vector{0.0F, 0.0F, 0.0F});
        glm::mat4 place = glm::mat4_cast(glm::quat(r.at(3), r.at(0), r.at(1), r.at(2)));
        for (int axis = 0; axis < 3; ++axis) {
            place[axis] *= s.at(axis);
            place[3][axis] = t.at(axis);
        }
        const auto matrix = node.value("matrix", std::vector<float>());
        for (int i = 0; i < static_cast<int>(matrix.size()); ++i) {
            place[i / 4 % 4][i % 4] = matrix[i];
        }
        place = parent * place;
        if (node.contains("camera")) {
            const auto& camera = json_.at("cameras").at(node["camera"].get<std::size_t>());
            scene.field_of_view = camera.at("perspective").at("yfov");
            scene.camera = place;
        }
        if (node.contains("mesh")) {
            for (const nlohmann::json& part :
                 json_.at("meshes").at(node["mesh"].get<std::size_t>()).at("primitives")) {
                add_triangles(part, place, scene);
            }
        }
        for (const std::size_t child : node.value("children", std::vector<std::size_t>())) {
            add_node(child, place, scene);
        }
    }

    void add_triangles(const nlohmann::json& part, const glm::mat4& place, Scene& scene) const {
        const auto& accessors = json_.at("accessors");
        const auto& attributes = part.at("attributes");
        const auto& positions = accessors.at(attributes.at("POSITION").get<std::size_t>());
        const auto& lightmap = accessors.at(attributes.at("TEXCOORD_1").get<std::size_t>());
        const auto& indices = accessors.at(part.at("indices").get<std::size_t>());
        if (positions.at("componentType") != 5126 || lightmap.at("componentType") != 5126) {
            throw std::runtime_error("POSITION and TEXCOORD_1 need floats: this reader is simple");
        }
        const bool is_wide = indices.at("componentType") == 5125;  // 32 bits; else 16
        for (std::size_t i = 0; i < indices.at("count"); ++i) {
            const std::size_t vertex =
                is_wide ? element<std::uint32_t>(indices, i) : element<std::uint16_t>(indices, i);
            const glm::vec4 p = place * glm::vec4(element<glm::vec3>(positions, vertex), 1.0F);
            const auto uv = element<glm::vec2>(lightmap, vertex);
            scene.triangles.push_back({p.x, p.y, p.z, uv.x, uv.y});
        }
    }

    std::string bytes_;
    nlohmann::json json_;
    std::size_t binary_ = 0;  // offset of the chunk of binary data
};

}  // namespace renderer
