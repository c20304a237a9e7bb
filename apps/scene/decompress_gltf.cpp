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

constexpr const char* DRACO = "KHR_draco_mesh_compression";
constexpr std::array MESHOPT{"EXT_meshopt_compression", "KHR_meshopt_compression"};
// Largest ratio of decompressed to compressed bytes: meshopt's best case, and more triangles than
// Draco makes of a plane.
constexpr std::size_t MESHOPT_RATIO = 64;
constexpr std::size_t DRACO_RATIO = 1000;

const unsigned char* data_of(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

class Decompressor {
 public:
    explicit Decompressor(GltfFile& file)
        : file_(file), views_(member(file.json, "bufferViews").size()) {}

    void run() {
        for (std::size_t i = 0; i < views_.size(); ++i) {
            Json& view = file_.json["bufferViews"][i];
            for (const char* const name : MESHOPT) {
                const Json& from = extension(view, name);
                if (!from.is_null()) {
                    place_ = "buffer view " + std::to_string(i) + " (" + name + ")";
                    views_[i] = meshopt(from);
                    drop_extension(view, name);
                }
            }
        }
        for (std::size_t i = 0; i < member(file_.json, "meshes").size(); ++i) {
            Json& mesh = file_.json["meshes"][i];
            std::size_t number = 0;
            for (Json& primitive : mesh.at("primitives")) {
                const Json& from = extension(primitive, DRACO);
                if (!from.is_null()) {
                    place_ = "mesh " + std::to_string(i) + " '" + text_in(mesh, "name") +
                             "', primitive " + std::to_string(number) + " (" + DRACO + ")";
                    draco(primitive, from);
                    drop_extension(primitive, DRACO);
                    primitive.erase("mode");  // triangles
                }
                ++number;
            }
        }
        for (const char* const list : {"extensionsUsed", "extensionsRequired"}) {
            if (file_.json.contains(list)) {
                Json& names = file_.json[list];
                std::erase_if(names.get_ref<Json::array_t&>(), [](const Json& name) {
                    return name == DRACO || name == MESHOPT[0] || name == MESHOPT[1];
                });
                if (names.empty()) {
                    file_.json.erase(list);
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
            refuse(file_.path, place_ + " is damaged: " + why +
                                   "; compress the scene again, or export it without compression");
        }
    }

    [[nodiscard]] std::size_t number(const Json& from, const char* name,
                                     double otherwise = -1.0) const {
        const double value = value_of(from, name, otherwise);
        require(value >= 0.0 && value < 0x1p53 && value == std::floor(value),
                std::string("its ") + name + " is no number that it can have");
        return static_cast<std::size_t>(value);
    }

    [[nodiscard]] std::string meshopt(const Json& from) const {
        const std::size_t buffer = number(from, "buffer");
        const std::size_t offset = number(from, "byteOffset", 0.0);
        const std::size_t length = number(from, "byteLength");
        const std::size_t stride = number(from, "byteStride");
        const std::size_t count = number(from, "count");
        const std::string mode = value_of(from, "mode", std::string("NONE"));
        const std::string filter = value_of(from, "filter", std::string("NONE"));
        require(buffer < file_.buffers.size() && offset <= file_.buffers[buffer].size() &&
                    length <= file_.buffers[buffer].size() - offset,
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

        std::string bytes(count * stride, '\0');
        void* const to = bytes.data();
        const unsigned char* const data = data_of(file_.buffers[buffer]) + offset;
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
    [[nodiscard]] std::size_t draco_triangles(std::string_view bytes) const {
        require(bytes.size() > 11 && bytes.starts_with("DRACO\2\2\1") && data_of(bytes)[8] < 2 &&
                    (bytes[10] & 0x80) == 0,
                "its data is no mesh of Draco 2.2 without metadata");
        ::draco::DecoderBuffer rest;
        const bool is_edgebreaker = bytes[8] == 1;  // its vertices come first
        const std::size_t skipped = is_edgebreaker ? 12 : 11;
        rest.Init(bytes.data() + skipped, bytes.size() - skipped);
        std::uint32_t triangles = 0;
        require((!is_edgebreaker || ::draco::DecodeVarint(&triangles, &rest)) &&
                    ::draco::DecodeVarint(&triangles, &rest),
                "it breaks off");
        return triangles;
    }

    void draco(Json& primitive, const Json& from) {
        const int view = index_in(from, "bufferView");
        const std::string_view bytes = buffer_view_of(file_, view, place_);
        const std::size_t triangles = draco_triangles(bytes);
        require(triangles <= DRACO_RATIO * bytes.size(),
                std::to_string(bytes.size()) + " bytes cannot have " + std::to_string(triangles) +
                    " triangles");
        ::draco::DecoderBuffer buffer;
        buffer.Init(bytes.data(), bytes.size());
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

        std::string indices;
        for (std::uint32_t i = 0; i < mesh.num_faces(); ++i) {
            const ::draco::Mesh::Face& face = mesh.face(::draco::FaceIndex(i));
            indices.append(reinterpret_cast<const char*>(&face), sizeof face);
        }
        Json& accessor = accessor_of(primitive, "indices", view, std::size_t{3} * mesh.num_faces(),
                                     "its indices");
        accessor["componentType"] = static_cast<int>(UNSIGNED_INT);
        accessor["bufferView"] = view;
        // In place of the compressed data.
        views_[static_cast<std::size_t>(view)] = std::move(indices);

        const Json& ids = member(from, "attributes");
        for (const auto& [name, index] : primitive.at("attributes").items()) {
            if (ids.contains(name)) {
                const auto id = static_cast<std::uint32_t>(number(ids, name.c_str()));
                Json& values = accessor_of(primitive["attributes"], name.c_str(), view,
                                           mesh.num_points(), "its " + name);
                draco_attribute(mesh, mesh.GetAttributeByUniqueId(id), values, "its " + name);
            }
        }
    }

    // Returns the accessor for `count` elements of the compressed data of a buffer view.
    Json& accessor_of(const Json& from, const char* key, int view, std::size_t count,
                      const std::string& name) {
        const int index = index_in(from, key);
        require(
            index >= 0 && static_cast<std::size_t>(index) < member(file_.json, "accessors").size(),
            name + " has no accessor");
        Json& accessor = file_.json["accessors"][static_cast<std::size_t>(index)];
        const auto given = accessor.at("count").get<std::size_t>();
        require(given == count, name + " has " + std::to_string(count) +
                                    " elements, but its accessor " + std::to_string(given));
        require(sources_.try_emplace(index, view).first->second == view,
                name + " has the accessor of another primitive");
        accessor.erase("byteOffset");
        return accessor;
    }

    void draco_attribute(const ::draco::Mesh& mesh, const ::draco::PointAttribute* attribute,
                         Json& accessor, const std::string& name) {
        const std::size_t components = attribute == nullptr ? 0 : attribute->num_components();
        require(components > 0 && components == components_in(text_in(accessor, "type")),
                name + " is not in its data");
        std::vector<double> least(components, std::numeric_limits<double>::max());
        std::vector<double> greatest(components, std::numeric_limits<double>::lowest());
        std::size_t stride = 0;
        with_component(accessor.at("componentType").get<int>(), [&]<typename T>(T) {
            stride = (sizeof(T) * components + 3) / 4 * 4;
            std::string bytes(stride * mesh.num_points(), '\0');
            std::vector<T> value(components);
            for (std::uint32_t i = 0; i < mesh.num_points(); ++i) {
                const auto at = attribute->mapped_index(::draco::PointIndex(i));
                require(
                    at.value() < attribute->size() && attribute->ConvertValue<T>(at, value.data()),
                    name + " is not in its data");
                std::memcpy(&bytes[stride * i], value.data(), sizeof(T) * components);
                for (std::size_t c = 0; c < components; ++c) {
                    least[c] = std::min(least[c], static_cast<double>(value[c]));
                    greatest[c] = std::max(greatest[c], static_cast<double>(value[c]));
                }
            }
            views_.push_back(std::move(bytes));
        });
        require(stride > 0, name + " has a type that it cannot have");
        if (accessor.contains("min")) {  // rounding has changed them
            accessor["min"] = least;
            accessor["max"] = greatest;
        }
        Json& views = file_.json["bufferViews"];
        accessor["bufferView"] = views.size();
        views.push_back({{"byteStride", stride}, {"target", ARRAY_BUFFER}});
    }

    // Joins all views into one buffer, without the compressed data.
    void join_views() {
        std::string joined;
        for (std::size_t i = 0; i < views_.size(); ++i) {
            const std::string_view bytes = views_[i].empty()
                                               ? buffer_view_of(file_, static_cast<int>(i), place_)
                                               : std::string_view(views_[i]);
            Json& view = file_.json["bufferViews"][i];
            view["buffer"] = 0;
            view["byteOffset"] = joined.size();
            view["byteLength"] = bytes.size();
            joined += bytes;
            joined.resize((joined.size() + 3) / 4 * 4);
        }
        Json buffer = file_.json["buffers"].at(0);
        buffer.erase("uri");
        buffer["byteLength"] = joined.size();
        for (const char* const name : MESHOPT) {
            drop_extension(buffer, name);
        }
        file_.json["buffers"] = Json::array({std::move(buffer)});
        file_.buffers = {std::move(joined)};
    }

    GltfFile& file_;
    std::vector<std::string> views_;  // decompressed data by buffer view
    std::string place_;               // place of the data that is being decompressed
    std::map<int, int> sources_;      // by accessor: the buffer view with its data
};

}  // namespace

void decompress(GltfFile& file) {
    Decompressor(file).run();
}

}  // namespace quadtile::baker
