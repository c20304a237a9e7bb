// glTF files: their JSON, their buffers and pictures, and data in these.

#pragma once

#include "load_file.hpp"

#include <glm/glm.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::baker {

using Json = nlohmann::ordered_json;

struct GltfFile {
    std::filesystem::path path;  // for messages
    Json json;
    std::vector<std::string> buffers{};          // bytes, by buffer
    std::vector<std::string> pictures{};         // bytes of those with a URI, by image
    std::vector<std::filesystem::path> files{};  // that it names

    // Returns a list of items: "nodes", "lights".
    [[nodiscard]] const Json& list(const char* name) const;
    // Throws std::runtime_error if the list has no such item, to which `place` refers.
    [[nodiscard]] const Json& item(const char* list_name, int index,
                                   const std::string& place) const;
};

// Reads a file and decompresses its meshes. Throws std::runtime_error and Json::exception.
[[nodiscard]] GltfFile parse_gltf(const std::filesystem::path& path, std::string bytes);

// Returns the bytes of a .glb file, whose buffer has a multiple of 4 bytes.
[[nodiscard]] std::string glb_of(std::string json, std::string_view buffer);

// Returns the reason of an error in JSON.
[[nodiscard]] std::string reason_of(const Json::exception& exception);

// Returns "mesh 3 'Walls'".
[[nodiscard]] std::string numbered(const std::string& thing, std::size_t index,
                                   const std::string& name);

// Returns whether the bytes are in the URI itself.
[[nodiscard]] bool is_data(std::string_view uri);

// ---- Members of JSON objects; of another type than expected, they throw Json::exception

// Returns a member; null if there is none.
[[nodiscard]] const Json& member(const Json& from, std::string_view key);
[[nodiscard]] const Json& extension(const Json& from, std::string_view name);
void drop_extension(Json& from, const char* name);

template <typename Value>
[[nodiscard]] Value value_of(const Json& from, const char* key, Value otherwise) {
    const Json& given = member(from, key);
    try {
        return given.is_null() ? otherwise : given.get<Value>();
    } catch (const Json::type_error&) {
        throw Json::type_error::create(
            302, std::string("'") + key + "' is of the type " + given.type_name(), nullptr);
    }
}
[[nodiscard]] inline std::string text_in(const Json& from, const char* key) {
    return value_of(from, key, std::string());
}
[[nodiscard]] inline std::vector<double> numbers_in(const Json& from, const char* key) {
    return value_of(from, key, std::vector<double>());
}
// Returns the number of an item of a list; -1 if there is none.
[[nodiscard]] int index_in(const Json& from, const char* key);

// ---- Accessors and buffer views

constexpr int ARRAY_BUFFER = 34962;  // target of a buffer view

enum ComponentType : int {
    UNSIGNED_BYTE = 5121,
    UNSIGNED_SHORT = 5123,
    UNSIGNED_INT = 5125,
    FLOAT = 5126
};

// Calls work with a value of a component type; not at all if there is no such type.
void with_component(int type, const auto& work) {
    switch (type) {
        case 5120:
            return work(std::int8_t{});
        case UNSIGNED_BYTE:
            return work(std::uint8_t{});
        case 5122:
            return work(std::int16_t{});
        case UNSIGNED_SHORT:
            return work(std::uint16_t{});
        case 5124:
            return work(std::int32_t{});
        case UNSIGNED_INT:
            return work(std::uint32_t{});
        case FLOAT:
            return work(float{});
        case 5130:
            return work(double{});
        default:
            return;
    }
}

// Returns the number of components of an accessor's type, "VEC3"; 0: there is no such type.
[[nodiscard]] std::size_t components_in(std::string_view type);

// Elements of an accessor, which are in range.
struct Elements {
    const char* data = nullptr;
    std::size_t stride = 0;
    std::size_t count = 0;
    int component_type = 0;
    std::size_t components = 0;
    std::size_t size = 0;  // bytes per element
    bool normalized = false;
    std::shared_ptr<const std::string> own{};  // of sparse accessors: the data
};

// Returns the elements of an accessor. `place` is for messages; `type`: the required one, default:
// any. Throws std::runtime_error.
[[nodiscard]] Elements elements_of(const GltfFile& file, int accessor, const std::string& place,
                                   std::string_view type = {});
[[nodiscard]] std::string_view buffer_view_of(const GltfFile& file, int view,
                                              const std::string& place);

// Returns a component of an element; from 0 to 1, or from -1 to 1, if it is normalized.
[[nodiscard]] double component(const Elements& from, std::size_t element, std::size_t index);
[[nodiscard]] glm::dvec3 vector(const Elements& from, std::size_t element);

// ---- Transforms of nodes and instances; they throw std::runtime_error

// Returns the transform from a node's space to its parent's.
[[nodiscard]] glm::dmat4 local_transform(const GltfFile& file, const Json& node,
                                         const std::string& name);

// Returns the transforms of a node's mesh by EXT_mesh_gpu_instancing, in the node's space; default:
// the identity, once.
[[nodiscard]] std::vector<glm::dmat4> instances(const GltfFile& file, const Json& node,
                                                const std::string& name);

// ---- Materials

// Reads the materials, with their textures, into the scene, in their order. Warns of what changes
// light and is not read. Throws std::runtime_error.
void read_materials(const GltfFile& gltf, FileScene& file);

// Returns the only set of texture coordinates of a material. Sets `has_another` if its emission
// texture has another one.
[[nodiscard]] int texture_set(const Json& material, bool& has_another);

// ---- Compression: meshopt and KHR_draco_mesh_compression

// Decompresses the meshes. The file then has one buffer, and no compressed views or primitives.
// Throws std::runtime_error.
void decompress(GltfFile& file);

}  // namespace quadtile::baker
