#include "parse_gltf.hpp"

#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace quadtile::baker {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t HEADER = 20;  // up to the JSON of a .glb file
constexpr int MAX_NESTING = 256;    // JSON is read recursively
// Beside all KHR_materials_...
constexpr std::array SUPPORTED_EXTENSIONS{"CESIUM_primitive_outline",
                                          "EXT_instance_features",
                                          "EXT_mesh_features",
                                          "EXT_mesh_manifold",
                                          "EXT_structural_metadata",
                                          "FB_ngon_encoding",
                                          "KHR_interactivity",
                                          "KHR_node_hoverability",
                                          "KHR_node_selectability",
                                          "EXT_mesh_gpu_instancing",
                                          "EXT_meshopt_compression",
                                          "EXT_texture_avif",
                                          "EXT_texture_webp",
                                          "KHR_animation_pointer",
                                          "KHR_draco_mesh_compression",
                                          "KHR_lights_punctual",
                                          "KHR_mesh_quantization",
                                          "KHR_meshopt_compression",
                                          "KHR_node_visibility",
                                          "KHR_texture_basisu",
                                          "KHR_texture_transform",
                                          "KHR_xmp_json_ld",
                                          "MOZ_lightmap"};

// Returns tinygltf's reason, or that of its JSON parser without the names of exceptions and grammar
// rules.
std::string reason_of(const std::string& error) {
    if (!error.starts_with("[json.exception.")) {
        return error;
    }
    const std::size_t place = error.find(" at line ");
    const std::size_t reason = error.find(" - ");
    return place == std::string::npos || reason == std::string::npos
               ? "its JSON does not fit: " + error.substr(error.find("] ") + 2)
               : "its JSON breaks off" + error.substr(place, error.find(':', place) - place) +
                     ": " + error.substr(reason + 3);
}

std::uint32_t number_at(std::string_view file, std::size_t place) {
    std::uint32_t number = 0;
    std::memcpy(&number, &file[place], sizeof number);
    return number;
}

// Returns the bytes of a .glb file behind its JSON; empty: there are none.
std::string_view binary_of(const std::filesystem::path& path, std::string_view file) {
    if (!file.starts_with("glTF")) {
        return {};
    }
    if (file.size() <= HEADER) {
        refuse(path, "it breaks off before its JSON");
    }
    if (number_at(file, 4) != 2) {
        refuse(path, "it is a .glb file of version " + std::to_string(number_at(file, 4)) +
                         "; convert it to glTF 2.0");
    }
    const std::size_t end = HEADER + std::size_t{number_at(file, 12)};
    if (file.substr(16, 4) != "JSON" || end > file.size()) {
        refuse(path, "its JSON is not there or breaks off; export the scene again");
    }
    const std::string_view rest = file.substr(end);
    return rest.size() > 8 && rest.substr(4, 4) == std::string_view("BIN\0", 4)
               ? rest.substr(8, number_at(rest, 0))
               : std::string_view();
}

// Makes whole numbers of those like 3.0, and refuses others where glTF has whole numbers from 0 on.
// `key`: that of the value, or of the array that it is in.
void check_numbers(const std::filesystem::path& path, Json& value, const std::string& key,
                   const std::string& place) {
    static const std::set<std::string_view> WHOLE{
        "attributes", "buffer", "bufferView", "byteLength", "byteOffset", "byteStride",   "camera",
        "children",   "count",  "index",      "indices",    "material",   "mesh",         "mode",
        "nodes",      "scene",  "source",     "targets",    "texCoord",   "componentType"};
    if (value.is_structured()) {
        for (const auto& [name, item] : value.items()) {
            if (name != "extras" && name != "extensions") {
                const bool keeps_key = value.is_array() || key == "attributes" || key == "targets";
                std::string item_place = place;
                item_place.append("/").append(name);
                check_numbers(path, item, keeps_key ? key : name, item_place);
            }
        }
    } else if (value.is_number() && WHOLE.contains(key)) {
        const auto number = value.get<double>();
        const double end = key.starts_with("byte") || key == "count" ? 0x1p53 : 0x1p31;
        if (!(number >= 0.0 && number < end && number == std::floor(number))) {
            refuse(
                path,
                place.substr(1) + " is " + value.dump() +
                    ", which is no whole number from 0 on, or too large; export the scene again");
        }
        value = static_cast<std::uint64_t>(number);
    }
}

void check_extensions(const std::filesystem::path& path, const Json& json) {
    for (const Json& name : json.value("extensionsRequired", Json::array())) {
        const auto text = name.get<std::string>();
        if (!text.starts_with("KHR_materials_") &&
            std::ranges::find(SUPPORTED_EXTENSIONS, text) == SUPPORTED_EXTENSIONS.end()) {
            refuse(path, "it requires the extension '" + text +
                             "', which is not supported; export the scene without it");
        }
    }
}

// ---- Files that a file names

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_data(std::string_view uri) {
    return equals_ignoring_case(uri.substr(0, 5), "data:");
}

// Returns the bytes of a URI: of data in it, or of a file named as it is written, else as it is
// decoded. Nothing: they cannot be read. Adds the path to `files`.
std::optional<std::string> bytes_at(const std::filesystem::path& path, const std::string& uri,
                                    std::vector<std::filesystem::path>& files) {
    const std::string_view text(uri);
    if (is_data(uri)) {
        const std::size_t comma = std::min(text.find(','), text.size() - 1);
        std::string data = percent_decoded(text.substr(comma + 1));
        const std::string_view head = text.substr(0, comma);
        constexpr std::string_view BASE64 = ";base64";
        if (head.size() >= BASE64.size() &&
            equals_ignoring_case(head.substr(head.size() - BASE64.size()), BASE64)) {
            std::erase_if(data, [](unsigned char c) { return std::isspace(c) != 0; });
            std::vector<unsigned char> bytes;
            std::string type;
            tinygltf::DecodeDataURI(&bytes, type, "data:application/octet-stream;base64," + data, 0,
                                    false);
            return std::string(bytes.begin(), bytes.end());
        }
        return data;
    }
    const std::filesystem::path file = named_file(path, uri);
    files.push_back(file);
    return read_bytes(file);
}

std::vector<tinygltf::Buffer> read_buffers(const std::filesystem::path& path, const Json& json,
                                           std::string_view binary,
                                           std::vector<std::filesystem::path>& files) {
    std::vector<tinygltf::Buffer> buffers;
    for (const Json& from : json.value("buffers", Json::array())) {
        const std::string name = "buffer " + std::to_string(buffers.size());
        tinygltf::Buffer& buffer = buffers.emplace_back();
        if (!from.contains("uri") && (buffers.size() > 1 || binary.empty())) {
            continue;  // as for programs that do not decompress; views of it are refused
        }
        std::optional<std::string> bytes;
        if (from.contains("uri")) {
            bytes = bytes_at(path, from["uri"].get<std::string>(), files);
            if (!bytes) {
                refuse(path, name + " cannot be read: '" + from["uri"].get<std::string>() +
                                 "' is no file beside the scene; copy it there");
            }
        }
        const std::string_view all = bytes ? std::string_view(*bytes) : binary;
        const auto length = from.at("byteLength").get<std::size_t>();
        if (length > all.size()) {
            refuse(path, name + " has " + counted(all.size(), "byte") + " instead of " +
                             std::to_string(length) + "; export the scene again");
        }
        buffer.data.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return buffers;
}

std::vector<tinygltf::Image> read_images(const std::filesystem::path& path, const Json& json,
                                         std::vector<std::filesystem::path>& files) {
    std::vector<tinygltf::Image> images;
    for (const Json& from : json.value("images", Json::array())) {
        tinygltf::Image& image = images.emplace_back();
        image.name = from.value("name", "");
        image.bufferView = from.value("bufferView", -1);
        if (image.bufferView < 0 && from.contains("uri")) {
            const auto uri = from["uri"].get<std::string>();
            image.uri = is_data(uri) ? "" : uri;
            if (const auto bytes = bytes_at(path, uri, files)) {
                image.image.assign(bytes->begin(), bytes->end());
            }
        }
    }
    return images;
}

// Replaces extensions by what they stand for: textures in other formats, spot lights with default
// cones, and the diffuse part of materials with gloss.
void replace_extensions(Json& json) {
    Json none;
    for (Json& texture : json["textures"]) {
        for (const char* const name :
             {"EXT_texture_webp", "EXT_texture_avif", "KHR_texture_basisu"}) {
            const Json::json_pointer source(std::string("/extensions/") + name + "/source");
            if (texture.contains(source) && !texture.contains("source")) {
                texture["source"] = texture[source];
            }
        }
    }
    const Json::json_pointer lights("/extensions/KHR_lights_punctual/lights");
    for (Json& light : json.contains(lights) ? json[lights] : none) {
        if (light.value("type", "") == "spot" && !light.contains("spot")) {
            light["spot"] = Json::object();
        }
    }
    for (Json& material : json["materials"]) {
        const Json::json_pointer place("/extensions/KHR_materials_pbrSpecularGlossiness");
        if (material.contains(place)) {
            Json plain{{"metallicFactor", 0.0}};
            const Json& from = material[place];
            if (from.contains("diffuseFactor")) {
                plain["baseColorFactor"] = from["diffuseFactor"];
            }
            if (from.contains("diffuseTexture")) {
                plain["baseColorTexture"] = from["diffuseTexture"];
            }
            material["pbrMetallicRoughness"] = std::move(plain);
        }
    }
}

// Returns the model of all but buffers and pictures, which tinygltf would read itself. It refuses
// indices without a buffer view, so they are added later.
tinygltf::Model model_of(const std::filesystem::path& path, const Json& json,
                         std::vector<std::string>& warnings) {
    Json rest = Json::object();
    for (const auto& [name, value] : json.items()) {
        static const std::set<std::string_view> LEFT_OUT{"animations", "buffers", "images",
                                                         "skins"};
        if (!LEFT_OUT.contains(name)) {
            rest[name] = value;
        }
    }
    replace_extensions(rest);
    std::vector<int> indices;
    for (Json& mesh : rest["meshes"]) {
        for (Json& primitive : mesh.at("primitives")) {
            indices.push_back(primitive.value("indices", -1));
            primitive.erase("indices");
        }
    }
    tinygltf::TinyGLTF reader;
    tinygltf::Model model;
    std::string error;
    std::string warning;
    const std::string text = rest.dump();
    if (!reader.LoadASCIIFromString(&model, &error, &warning, text.data(),
                                    static_cast<unsigned int>(text.size()), "")) {
        refuse(path,
               "it is not a complete glTF 2.0 file: " +
                   (trimmed(error).empty() ? "a value is missing or of a type that it cannot have"
                                           : reason_of(std::string(trimmed(error)))));
    }
    if (!trimmed(error).empty()) {
        warnings.push_back("the file is not quite glTF 2.0: " + std::string(trimmed(error)));
    }
    if (!trimmed(warning).empty()) {
        warnings.emplace_back(trimmed(warning));
    }
    auto next = indices.begin();
    for (tinygltf::Mesh& mesh : model.meshes) {
        for (tinygltf::Primitive& primitive : mesh.primitives) {
            primitive.indices = *next++;
        }
    }
    return model;
}

template <typename T>
double component_as(const unsigned char* at, bool normalized) {
    T value{};
    std::memcpy(&value, at, sizeof value);
    const auto number = static_cast<double>(value);
    if constexpr (std::is_integral_v<T>) {
        if (normalized) {
            return std::max(number / static_cast<double>(std::numeric_limits<T>::max()), -1.0);
        }
    }
    return number;
}

}  // namespace

std::string numbered(const std::string& thing, std::size_t index, const std::string& name) {
    return thing + " " + std::to_string(index) + (name.empty() ? "" : " '" + name + "'");
}

double component(const Elements& from, std::size_t element, std::size_t index) {
    const unsigned char* at = from.data + element * from.stride;
    switch (from.component_type) {
        case TINYGLTF_COMPONENT_TYPE_BYTE:
            return component_as<std::int8_t>(at + index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
            return component_as<std::uint8_t>(at + index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_SHORT:
            return component_as<std::int16_t>(at + 2 * index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
            return component_as<std::uint16_t>(at + 2 * index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_INT:
            return component_as<std::int32_t>(at + 4 * index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
            return component_as<std::uint32_t>(at + 4 * index, from.normalized);
        case TINYGLTF_COMPONENT_TYPE_FLOAT:
            return component_as<float>(at + 4 * index, false);
        default:
            return component_as<double>(at + 8 * index, false);
    }
}

glm::dvec3 vector(const Elements& from, std::size_t i) {
    return {component(from, i, 0), component(from, i, 1), component(from, i, 2)};
}

std::string_view json_of(std::string_view file) {
    return file.starts_with("glTF") && file.size() > HEADER
               ? file.substr(HEADER, number_at(file, 12))
               : file;
}

namespace {

// Elements of a buffer view, which are in range.
struct Range {
    const unsigned char* data;
    std::size_t stride;
};

Range range_of(const std::filesystem::path& path, const tinygltf::Model& model, int view,
               std::size_t offset, std::size_t size, std::size_t count, const std::string& name) {
    const std::span<const unsigned char> bytes = buffer_view_of(path, model, view, name);
    const std::size_t given = model.bufferViews[static_cast<std::size_t>(view)].byteStride;
    const std::size_t stride = given == 0 ? size : given;
    if (offset > bytes.size() || bytes.size() - offset < size || stride < size || count == 0 ||
        count - 1 > (bytes.size() - offset - size) / stride) {
        refuse(path, name + " reaches beyond its buffer view, or is empty");
    }
    return {bytes.data() + offset, stride};
}

// Returns the elements of a sparse accessor: a copy of others, in which some are replaced.
std::shared_ptr<std::vector<unsigned char>> dense(const std::filesystem::path& path,
                                                  const tinygltf::Model& model,
                                                  const tinygltf::Accessor& accessor,
                                                  const Elements& from, const std::string& name) {
    auto bytes = std::make_shared<std::vector<unsigned char>>(from.count * from.size);
    for (std::size_t i = 0; i < from.count; ++i) {
        std::memcpy(bytes->data() + i * from.size, from.data + i * from.stride, from.size);
    }
    const auto count = static_cast<std::size_t>(std::max(accessor.sparse.count, 0));
    const auto& at = accessor.sparse.indices;
    const auto& values = accessor.sparse.values;
    const std::size_t index_size = static_cast<std::size_t>(std::max(
        tinygltf::GetComponentSizeInBytes(static_cast<std::uint32_t>(at.componentType)), 1));
    const Range places =
        range_of(path, model, at.bufferView, static_cast<std::size_t>(at.byteOffset), index_size,
                 count, name + ": its sparse indices");
    const Range elements =
        range_of(path, model, values.bufferView, static_cast<std::size_t>(values.byteOffset),
                 from.size, count, name + ": its sparse values");
    const Elements indices{places.data, places.stride, count, at.componentType, false, index_size};
    for (std::size_t i = 0; i < count; ++i) {
        const double index = component(indices, i, 0);
        if (!(index >= 0.0 && index < static_cast<double>(from.count))) {
            refuse(path, name + ": its sparse indices are out of range; export the scene again");
        }
        std::memcpy(bytes->data() + static_cast<std::size_t>(index) * from.size,
                    elements.data + i * elements.stride, from.size);
    }
    return bytes;
}

}  // namespace

Elements elements_of(const std::filesystem::path& path, const tinygltf::Model& model, int accessor,
                     const std::string& place, std::optional<int> type) {
    static constexpr std::array<unsigned char, 128> ZEROS{};  // the largest element
    const std::string number = std::to_string(accessor);
    const tinygltf::Accessor& from = item_at(
        path, model.accessors, accessor,
        place + " is accessor " + number + ", which does not exist; export the scene again");
    const std::string name = place + " (accessor " + number + ")";
    const int component_size =
        tinygltf::GetComponentSizeInBytes(static_cast<std::uint32_t>(from.componentType));
    const int components = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(from.type));
    if (component_size <= 0 || components <= 0 || from.type != type.value_or(from.type)) {
        refuse(path, name + " has a type that it cannot have");
    }
    const std::size_t size =
        static_cast<std::size_t>(component_size) * static_cast<std::size_t>(components);
    Range range{ZEROS.data(), 0};
    if (from.bufferView >= 0) {
        range = range_of(path, model, from.bufferView, from.byteOffset, size, from.count, name);
    } else {
        std::size_t bytes = 0;
        for (const tinygltf::Buffer& buffer : model.buffers) {
            bytes += buffer.data.size();
        }
        if (from.count == 0 || from.count > bytes) {
            refuse(path, name + " has no buffer view, and " + counted(from.count, "element") +
                             ": none, or more than the file has bytes");
        }
    }
    Elements elements{range.data,      range.stride, from.count, from.componentType,
                      from.normalized, size,         nullptr};
    if (from.sparse.isSparse) {
        elements.own = dense(path, model, from, elements, name);
        elements.data = elements.own->data();
        elements.stride = size;
    }
    return elements;
}

std::span<const unsigned char> buffer_view_of(const std::filesystem::path& path,
                                              const tinygltf::Model& model, int view,
                                              const std::string& place) {
    const std::string number = std::to_string(view);
    const tinygltf::BufferView& from =
        item_at(path, model.bufferViews, view, place + " has no buffer view: " + number);
    const std::vector<unsigned char>& bytes =
        item_at(path, model.buffers, from.buffer, "buffer view " + number + " has no buffer").data;
    if (from.byteOffset > bytes.size() || from.byteLength > bytes.size() - from.byteOffset) {
        refuse(path, "buffer view " + number + " reaches beyond its buffer, which has " +
                         counted(bytes.size(), "byte"));
    }
    return std::span(bytes).subspan(from.byteOffset, from.byteLength);
}

tinygltf::Model parse_gltf(const std::filesystem::path& path, std::string_view bytes,
                           std::vector<std::string>& warnings,
                           std::vector<std::filesystem::path>& files) {
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - HEADER) {
        refuse(path, "it is larger than 4 GiB");
    }
    const std::string_view binary = binary_of(path, bytes);
    try {
        const auto check_depth = [&](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
            if (depth > MAX_NESTING) {
                refuse(path,
                       "its JSON is nested more than " + std::to_string(MAX_NESTING) + " deep");
            }
            return true;
        };
        Json json = Json::parse(json_of(bytes), check_depth);
        check_numbers(path, json, "", "");
        const Json& given = json.at("asset").at("version");
        const std::string version = given.is_string() ? given.get<std::string>() : given.dump();
        if (!version.empty() && !version.starts_with('2')) {
            refuse(path, "it is glTF " + version + "; convert it to glTF 2.0");
        }
        check_extensions(path, json);
        tinygltf::Model model = model_of(path, json, warnings);
        model.buffers = read_buffers(path, json, binary, files);
        model.images = read_images(path, json, files);
        decompress(path, model);
        return model;
    } catch (const nlohmann::json::exception& exception) {
        refuse(path, "it is not a complete glTF 2.0 file: " + reason_of(exception.what()));
    }
}

// ---- Transforms

namespace {

glm::dmat4 placed(const glm::dvec3& translation, const glm::dquat& rotation,
                  const glm::dvec3& scale) {
    return glm::scale(
        glm::translate(glm::dmat4(1.0), translation) * glm::mat4_cast(glm::normalize(rotation)),
        scale);
}

}  // namespace

glm::dmat4 local_transform(const std::filesystem::path& path, const tinygltf::Node& node,
                           const std::string& name) {
    const auto has = [&](const std::vector<double>& numbers, std::size_t count) {
        if (!numbers.empty() && numbers.size() != count) {
            refuse(path, name + ": its transform has " + counted(numbers.size(), "number") +
                             " instead of " + std::to_string(count));
        }
        return !numbers.empty();
    };
    if (has(node.matrix, 16)) {
        glm::dmat4 transform;
        for (int i = 0; i < 16; ++i) {
            transform[i / 4][i % 4] = node.matrix[static_cast<std::size_t>(i)];
        }
        return transform;
    }
    const auto& t = node.translation;
    const auto& r = node.rotation;
    const auto& s = node.scale;
    return placed(has(t, 3) ? glm::dvec3(t[0], t[1], t[2]) : glm::dvec3(0.0),
                  has(r, 4) ? glm::dquat(r[3], r[0], r[1], r[2]) : glm::dquat(1.0, 0.0, 0.0, 0.0),
                  has(s, 3) ? glm::dvec3(s[0], s[1], s[2]) : glm::dvec3(1.0));
}

std::vector<glm::dmat4> instances(const std::filesystem::path& path, const tinygltf::Model& model,
                                  const tinygltf::Node& node, const std::string& name) {
    const auto found = node.extensions.find("EXT_mesh_gpu_instancing");
    if (found == node.extensions.end() || !found->second.Has("attributes")) {
        return {glm::dmat4(1.0)};
    }
    const tinygltf::Value& attributes = found->second.Get("attributes");
    std::optional<std::size_t> count;
    const auto read = [&](const char* attribute, int type) -> std::optional<Elements> {
        if (!attributes.Has(attribute)) {
            return std::nullopt;
        }
        const std::string place = name + ": " + attribute + " of its instances";
        const tinygltf::Value& accessor = attributes.Get(attribute);
        const Elements all = elements_of(
            path, model, accessor.IsInt() ? accessor.GetNumberAsInt() : -1, place, type);
        if (count.value_or(all.count) != all.count) {
            refuse(path, place + " has " + counted(all.count, "value") + " instead of " +
                             std::to_string(*count));
        }
        count = all.count;
        return all;
    };
    const auto translations = read("TRANSLATION", TINYGLTF_TYPE_VEC3);
    const auto rotations = read("ROTATION", TINYGLTF_TYPE_VEC4);
    const auto scales = read("SCALE", TINYGLTF_TYPE_VEC3);
    std::vector<glm::dmat4> transforms(count.value_or(1));
    for (std::size_t i = 0; i < transforms.size(); ++i) {
        const glm::dvec3 axis = rotations ? vector(*rotations, i) : glm::dvec3(0.0);
        const double w = rotations ? component(*rotations, i, 3) : 1.0;
        transforms[i] = placed(translations ? vector(*translations, i) : glm::dvec3(0.0),
                               glm::dquat(w, axis.x, axis.y, axis.z),
                               scales ? vector(*scales, i) : glm::dvec3(1.0));
    }
    return transforms;
}

}  // namespace quadtile::baker
