#include "parse_gltf.hpp"

#include <draco/compression/decode.h>
#include <draco/core/varint_decoding.h>
#include <meshoptimizer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace quadtile::baker {

namespace {

using Bytes = std::vector<unsigned char>;
using Json = nlohmann::ordered_json;

constexpr const char* DRACO = "KHR_draco_mesh_compression";
// Largest ratio of decompressed to compressed bytes: meshopt's best case, and more triangles than
// Draco makes of a plane.
constexpr std::size_t MESHOPT_RATIO = 64;
constexpr std::size_t DRACO_RATIO = 1000;

class Decompressor {
 public:
    Decompressor(const std::filesystem::path& path, tinygltf::Model& model)
        : path_(path), model_(model), views_(model.bufferViews.size()) {}

    void run() {
        for (std::size_t i = 0; i < views_.size(); ++i) {
            for (const char* const name : MESHOPT_EXTENSIONS) {
                const auto found = model_.bufferViews[i].extensions.find(name);
                if (found != model_.bufferViews[i].extensions.end()) {
                    place_ = "buffer view " + std::to_string(i) + " (" + name + ")";
                    views_[i] = meshopt(found->second);
                }
            }
        }
        for (std::size_t i = 0; i < model_.meshes.size(); ++i) {
            tinygltf::Mesh& mesh = model_.meshes[i];
            for (std::size_t p = 0; p < mesh.primitives.size(); ++p) {
                const auto found = mesh.primitives[p].extensions.find(DRACO);
                if (found != mesh.primitives[p].extensions.end()) {
                    place_ = "mesh " + std::to_string(i) + " '" + mesh.name + "', primitive " +
                             std::to_string(p) + " (" + DRACO + ")";
                    draco(mesh.primitives[p], found->second);
                }
            }
        }
        if (!place_.empty()) {
            join_views();
        }
    }

 private:
    void require(bool good, const std::string& why) const {
        if (!good) {
            refuse(path_, place_ + " is damaged: " + why +
                              "; compress the scene again, or export it without compression");
        }
    }

    [[nodiscard]] std::size_t number(const tinygltf::Value& from, const std::string& name,
                                     double otherwise = -1.0) const {
        const tinygltf::Value& given = from.Get(name);
        const double value = given.IsNumber() ? given.GetNumberAsDouble() : otherwise;
        require(value >= 0.0 && value < 0x1p53 && value == std::floor(value),
                "its " + name + " is no number that it can have");
        return static_cast<std::size_t>(value);
    }

    [[nodiscard]] static std::string text(const tinygltf::Value& from, const std::string& name) {
        const tinygltf::Value& given = from.Get(name);
        return given.IsString() ? given.Get<std::string>() : from.Has(name) ? "no text" : "NONE";
    }

    [[nodiscard]] Bytes meshopt(const tinygltf::Value& from) const {
        const std::size_t buffer = number(from, "buffer");
        const std::size_t offset = number(from, "byteOffset", 0.0);
        const std::size_t length = number(from, "byteLength");
        const std::size_t stride = number(from, "byteStride");
        const std::size_t count = number(from, "count");
        const std::string mode = text(from, "mode");
        const std::string filter = text(from, "filter");
        require(buffer < model_.buffers.size() && offset <= model_.buffers[buffer].data.size() &&
                    length <= model_.buffers[buffer].data.size() - offset,
                "it reaches beyond its buffer");
        const bool is_attributes = mode == "ATTRIBUTES";
        require(is_attributes || mode == "TRIANGLES" || mode == "INDICES", "its mode is " + mode);
        require(is_attributes ? stride > 0 && stride <= 256 && stride % 4 == 0
                              : stride == 2 || stride == 4,
                "its byteStride is " + std::to_string(stride));
        require(count > 0 && count <= MESHOPT_RATIO * length / stride &&
                    (mode != "TRIANGLES" || count % 3 == 0),
                std::to_string(length) + " bytes cannot have " + std::to_string(count) +
                    " elements of " + std::to_string(stride));
        require(filter == "NONE" ||
                    (is_attributes &&
                     ((filter == "OCTAHEDRAL" && (stride == 4 || stride == 8)) ||
                      (filter == "QUATERNION" && stride == 8) || filter == "EXPONENTIAL")),
                "its filter is " + filter);

        Bytes bytes(count * stride);
        void* const to = bytes.data();
        const unsigned char* const data = model_.buffers[buffer].data.data() + offset;
        require((is_attributes ? meshopt_decodeVertexBuffer(to, count, stride, data, length)
                 : mode == "TRIANGLES"
                     ? meshopt_decodeIndexBuffer(to, count, stride, data, length)
                     : meshopt_decodeIndexSequence(to, count, stride, data, length)) == 0,
                "it cannot be decoded");
        if (filter != "NONE") {
            (filter == "OCTAHEDRAL"   ? meshopt_decodeFilterOct
             : filter == "QUATERNION" ? meshopt_decodeFilterQuat
                                      : meshopt_decodeFilterExp)(bytes.data(), count, stride);
        }
        return bytes;
    }

    // Returns the header's number of triangles, for which Draco reserves memory. Metadata, which
    // glTF does not use, would come before it.
    [[nodiscard]] std::size_t draco_triangles(std::span<const unsigned char> bytes) const {
        require(bytes.size() > 11 && std::memcmp(bytes.data(), "DRACO\2\2\1", 8) == 0 &&
                    bytes[8] < 2 && (bytes[10] & 0x80) == 0,
                "its data is no mesh of Draco 2.2 without metadata");
        ::draco::DecoderBuffer rest;
        const bool is_edgebreaker = bytes[8] == 1;  // its vertices come first
        const std::size_t skipped = is_edgebreaker ? 12 : 11;
        rest.Init(reinterpret_cast<const char*>(bytes.data()) + skipped, bytes.size() - skipped);
        std::uint32_t triangles = 0;
        require((!is_edgebreaker || ::draco::DecodeVarint(&triangles, &rest)) &&
                    ::draco::DecodeVarint(&triangles, &rest),
                "it breaks off");
        return triangles;
    }

    void draco(tinygltf::Primitive& primitive, const tinygltf::Value& from) {
        const std::size_t view = number(from, "bufferView");
        require(view < model_.bufferViews.size(),
                "there is no buffer view " + std::to_string(view));
        const std::span<const unsigned char> bytes =
            buffer_view_of(path_, model_, static_cast<int>(view), place_);
        const std::size_t triangles = draco_triangles(bytes);
        require(triangles <= DRACO_RATIO * bytes.size(),
                std::to_string(bytes.size()) + " bytes cannot have " + std::to_string(triangles) +
                    " triangles");
        ::draco::DecoderBuffer buffer;
        buffer.Init(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        ::draco::Decoder decoder;
        const auto decoded = [&] {
            try {
                return decoder.DecodeMeshFromBuffer(&buffer);
            } catch (const std::exception& exception) {  // for sizes that are too large
                return ::draco::StatusOr<std::unique_ptr<::draco::Mesh>>(
                    ::draco::Status(::draco::Status::DRACO_ERROR, exception.what()));
            }
        }();
        require(decoded.ok() && decoded.value()->num_faces() > 0, "it cannot be decoded");
        const ::draco::Mesh& mesh = *decoded.value();

        Bytes indices(sizeof(::draco::Mesh::Face) * mesh.num_faces());
        for (std::uint32_t i = 0; i < mesh.num_faces(); ++i) {
            const ::draco::Mesh::Face& face = mesh.face(::draco::FaceIndex(i));
            std::memcpy(&indices[sizeof face * i], &face, sizeof face);
        }
        tinygltf::Accessor& accessor =
            accessor_of(primitive.indices, view, std::size_t{3} * mesh.num_faces(), "its indices");
        accessor.componentType = TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT;
        accessor.bufferView = static_cast<int>(view);
        views_[view] = std::move(indices);  // in place of the compressed data
        primitive.mode = TINYGLTF_MODE_TRIANGLES;

        const tinygltf::Value& ids = from.Get("attributes");
        for (const auto& [name, index] : primitive.attributes) {
            if (ids.Has(name)) {
                const auto id = static_cast<std::uint32_t>(number(ids, name));
                tinygltf::Accessor& values =
                    accessor_of(index, view, mesh.num_points(), "its " + name);
                draco_attribute(mesh, mesh.GetAttributeByUniqueId(id), values, "its " + name);
            }
        }
    }

    // Returns the accessor for `count` elements of the compressed data of a buffer view.
    tinygltf::Accessor& accessor_of(int index, std::size_t view, std::size_t count,
                                    const std::string& name) {
        require(index >= 0 && static_cast<std::size_t>(index) < model_.accessors.size(),
                name + " has no accessor");
        tinygltf::Accessor& accessor = model_.accessors[static_cast<std::size_t>(index)];
        require(accessor.count == count, name + " has " + std::to_string(count) +
                                             " elements, but its accessor " +
                                             std::to_string(accessor.count));
        require(sources_.try_emplace(index, view).first->second == view,
                name + " has the accessor of another primitive");
        accessor.byteOffset = 0;
        return accessor;
    }

    void draco_attribute(const ::draco::Mesh& mesh, const ::draco::PointAttribute* attribute,
                         tinygltf::Accessor& accessor, const std::string& name) {
        const std::size_t components = attribute == nullptr ? 0 : attribute->num_components();
        require(components > 0 && tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(
                                      accessor.type)) == static_cast<int>(components),
                name + " is not in its data");
        tinygltf::BufferView view;
        view.target = TINYGLTF_TARGET_ARRAY_BUFFER;
        accessor.minValues.assign(components, std::numeric_limits<double>::max());
        accessor.maxValues.assign(components, std::numeric_limits<double>::lowest());
        const auto copy = [&]<typename T>(T) {
            view.byteStride = (sizeof(T) * components + 3) / 4 * 4;
            Bytes bytes(view.byteStride * mesh.num_points());
            std::vector<T> value(components);
            for (std::uint32_t i = 0; i < mesh.num_points(); ++i) {
                const auto at = attribute->mapped_index(::draco::PointIndex(i));
                require(
                    at.value() < attribute->size() && attribute->ConvertValue<T>(at, value.data()),
                    name + " is not in its data");
                std::memcpy(&bytes[view.byteStride * i], value.data(), sizeof(T) * components);
                for (std::size_t c = 0; c < components; ++c) {
                    const auto number = static_cast<double>(value[c]);
                    accessor.minValues[c] = std::min(accessor.minValues[c], number);
                    accessor.maxValues[c] = std::max(accessor.maxValues[c], number);
                }
            }
            views_.push_back(std::move(bytes));
        };
        switch (accessor.componentType) {
            case TINYGLTF_COMPONENT_TYPE_BYTE:
                copy(std::int8_t{});
                break;
            case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
                copy(std::uint8_t{});
                break;
            case TINYGLTF_COMPONENT_TYPE_SHORT:
                copy(std::int16_t{});
                break;
            case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
                copy(std::uint16_t{});
                break;
            case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
                copy(std::uint32_t{});
                break;
            case TINYGLTF_COMPONENT_TYPE_FLOAT:
                copy(float{});
                break;
            default:
                require(false, name + " has a type that it cannot have");
        }
        accessor.bufferView = static_cast<int>(model_.bufferViews.size());
        model_.bufferViews.push_back(view);
    }

    // Joins all views into one buffer, without the compressed data.
    void join_views() {
        tinygltf::Buffer joined;
        for (std::size_t i = 0; i < views_.size(); ++i) {
            tinygltf::BufferView& view = model_.bufferViews[i];
            const std::span<const unsigned char> bytes =
                views_[i].empty() ? buffer_view_of(path_, model_, static_cast<int>(i), place_)
                                  : std::span<const unsigned char>(views_[i]);
            view.buffer = 0;
            view.byteOffset = joined.data.size();
            view.byteLength = bytes.size();
            joined.data.insert(joined.data.end(), bytes.begin(), bytes.end());
            joined.data.resize((joined.data.size() + 3) / 4 * 4);
        }
        model_.buffers = {std::move(joined)};
    }

    const std::filesystem::path& path_;
    tinygltf::Model& model_;
    std::vector<Bytes> views_;            // decompressed data by buffer view
    std::string place_;                   // place of the data that is being decompressed
    std::map<int, std::size_t> sources_;  // by accessor: the buffer view with its data
};

void drop_compression(Json& from) {
    if (!from.contains("extensions")) {
        return;
    }
    from["extensions"].erase(DRACO);
    for (const char* const name : MESHOPT_EXTENSIONS) {
        from["extensions"].erase(name);
    }
    if (from["extensions"].empty()) {
        from.erase("extensions");
    }
}

}  // namespace

void decompress(const std::filesystem::path& path, tinygltf::Model& model) {
    Decompressor(path, model).run();
}

void drop_compression(Json& json, const tinygltf::Model& model) {
    for (std::size_t i = 0; i < model.bufferViews.size(); ++i) {
        const tinygltf::BufferView& from = model.bufferViews[i];
        Json& view = json["bufferViews"][i];
        drop_compression(view);
        view["buffer"] = from.buffer;
        view["byteOffset"] = from.byteOffset;
        view["byteLength"] = from.byteLength;
        if (from.byteStride > 0) {
            view["byteStride"] = from.byteStride;
        }
        if (from.target > 0) {
            view["target"] = from.target;
        }
    }
    for (std::size_t i = 0; i < model.accessors.size(); ++i) {
        const tinygltf::Accessor& from = model.accessors[i];
        if (from.bufferView >= 0) {
            Json& accessor = json["accessors"][i];
            if (accessor.value("bufferView", -1) != from.bufferView && accessor.contains("min")) {
                accessor["min"] = from.minValues;  // Draco's rounding has changed them
                accessor["max"] = from.maxValues;
            }
            accessor["bufferView"] = from.bufferView;
            accessor["componentType"] = from.componentType;
            if (accessor.contains("byteOffset")) {
                accessor["byteOffset"] = from.byteOffset;
            }
        }
    }
    for (std::size_t i = 0; i < model.meshes.size(); ++i) {
        for (Json& primitive : json["meshes"][i].at("primitives")) {
            if (primitive.contains(Json::json_pointer(std::string("/extensions/") + DRACO))) {
                drop_compression(primitive);
                primitive.erase("mode");  // triangles
            }
        }
    }
    for (std::size_t i = 0; i < model.buffers.size(); ++i) {
        drop_compression(json["buffers"][i]);
    }
    for (const char* const list : {"extensionsUsed", "extensionsRequired"}) {
        if (json.contains(list)) {
            Json& names = json[list];
            for (const char* const name : {MESHOPT_EXTENSIONS[0], MESHOPT_EXTENSIONS[1], DRACO}) {
                names.erase(std::remove(names.begin(), names.end(), name), names.end());
            }
            if (names.empty()) {
                json.erase(list);
            }
        }
    }
}

}  // namespace quadtile::baker
