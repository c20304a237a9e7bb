// glTF files as tinygltf reads them, without pictures; pictures; and data in buffers.

#pragma once

// The implementation, with that of stb_image, is in tinygltf's library.
#include <tiny_gltf.h>

#include "load_file.hpp"

#include <glm/glm.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::baker {

// Reads a file and decompresses its meshes. Adds to `warnings`, and to `files` the files that the
// file names. Throws std::runtime_error.
[[nodiscard]] tinygltf::Model parse_gltf(const std::filesystem::path& path, std::string_view bytes,
                                         std::vector<std::string>& warnings,
                                         std::vector<std::filesystem::path>& files);

// Returns the JSON of a .glb or .gltf file.
[[nodiscard]] std::string_view json_of(std::string_view file);

// Returns "mesh 3 'Walls'".
[[nodiscard]] std::string numbered(const std::string& thing, std::size_t index,
                                   const std::string& name);

// Throws std::runtime_error with the reason `why` if the index is out of range.
template <typename Item>
const Item& item_at(const std::filesystem::path& path, const std::vector<Item>& items, int index,
                    const std::string& why) {
    if (index < 0 || static_cast<std::size_t>(index) >= items.size()) {
        refuse(path, why);
    }
    return items[static_cast<std::size_t>(index)];
}

// Elements of an accessor, which are in range.
struct Elements {
    const unsigned char* data = nullptr;
    std::size_t stride = 0;
    std::size_t count = 0;
    int component_type = 0;
    bool normalized = false;
    std::size_t size = 0;                                   // bytes per element
    std::shared_ptr<const std::vector<unsigned char>> own;  // of sparse accessors: the data

    [[nodiscard]] std::size_t components() const {
        return size / static_cast<std::size_t>(tinygltf::GetComponentSizeInBytes(
                          static_cast<std::uint32_t>(component_type)));
    }
};

// Returns the elements of an accessor. `path` and `place` are for messages; `type`: required type
// of the elements, default: any. Throws std::runtime_error.
[[nodiscard]] Elements elements_of(const std::filesystem::path& path, const tinygltf::Model& model,
                                   int accessor, const std::string& place,
                                   std::optional<int> type = std::nullopt);
[[nodiscard]] std::span<const unsigned char> buffer_view_of(const std::filesystem::path& path,
                                                            const tinygltf::Model& model, int view,
                                                            const std::string& place);

// Returns a component of an element; from 0 to 1, or from -1 to 1, if it is normalized.
[[nodiscard]] double component(const Elements& from, std::size_t element, std::size_t index);
[[nodiscard]] glm::dvec3 vector(const Elements& from, std::size_t element);

// ---- Transforms of nodes and instances; they throw std::runtime_error

// Returns the transform from a node's space to its parent's.
[[nodiscard]] glm::dmat4 local_transform(const std::filesystem::path& path,
                                         const tinygltf::Node& node, const std::string& name);

// Returns the transforms of a node's mesh by EXT_mesh_gpu_instancing, in the node's space; default:
// the identity, once.
[[nodiscard]] std::vector<glm::dmat4> instances(const std::filesystem::path& path,
                                                const tinygltf::Model& model,
                                                const tinygltf::Node& node,
                                                const std::string& name);

// ---- Compression: meshopt and KHR_draco_mesh_compression

inline constexpr std::array MESHOPT_EXTENSIONS{"EXT_meshopt_compression",
                                               "KHR_meshopt_compression"};

// Decompresses the meshes. The model then has one buffer, and no compressed views or primitives.
// Throws std::runtime_error.
void decompress(const std::filesystem::path& path, tinygltf::Model& model);

// Updates the file's JSON to the decompressed model.
void drop_compression(nlohmann::ordered_json& json, const tinygltf::Model& model);

}  // namespace quadtile::baker
