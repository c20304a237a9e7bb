#include "parse_gltf.hpp"

#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>
#include <glm/gtc/type_ptr.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace quadtile::baker {

namespace {

constexpr std::size_t HEADER = 20;  // up to the JSON of a .glb file
constexpr int MAX_NESTING = 256;    // JSON is read recursively

std::uint32_t number_at(std::string_view file, std::size_t place) {
    std::uint32_t number = 0;
    std::memcpy(&number, &file[place], sizeof number);
    return number;
}

struct Chunks {
    std::string_view json;
    std::string_view binary;  // empty: there are none
};

Chunks chunks_of(const std::filesystem::path& path, std::string_view file) {
    if (!file.starts_with("glTF")) {
        return {file, {}};
    }
    if (file.size() <= HEADER) {
        refuse(path, "it breaks off before its JSON");
    }
    if (number_at(file, 4) != 2) {
        refuse(path, "it is a .glb file of version " + std::to_string(number_at(file, 4)) +
                         "; convert it to glTF 2.0");
    }
    const std::string_view chunks = file.substr(HEADER);
    const std::size_t length = number_at(file, 12);
    if (file.substr(16, 4) != "JSON" || length > chunks.size()) {
        refuse(path, "its JSON is not there or breaks off; export the scene again");
    }
    const std::string_view rest = chunks.substr(length);
    const bool has_binary = rest.size() > 8 && rest.substr(4, 4) == std::string_view("BIN\0", 4);
    return {chunks.substr(0, length),
            has_binary ? rest.substr(8, number_at(rest, 0)) : std::string_view()};
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
    // Beside all KHR_materials_...
    static const std::set<std::string_view> SUPPORTED{
        "CESIUM_primitive_outline", "EXT_instance_features", "EXT_mesh_features",
        "EXT_mesh_gpu_instancing",  "EXT_mesh_manifold",     "EXT_meshopt_compression",
        "EXT_structural_metadata",  "EXT_texture_avif",      "EXT_texture_webp",
        "FB_ngon_encoding",         "KHR_animation_pointer", "KHR_draco_mesh_compression",
        "KHR_interactivity",        "KHR_lights_punctual",   "KHR_mesh_quantization",
        "KHR_meshopt_compression",  "KHR_node_hoverability", "KHR_node_selectability",
        "KHR_node_visibility",      "KHR_texture_basisu",    "KHR_texture_transform",
        "KHR_xmp_json_ld",          "MOZ_lightmap"};
    for (const Json& name : member(json, "extensionsRequired")) {
        const auto text = name.get<std::string>();
        if (!text.starts_with("KHR_materials_") && !SUPPORTED.contains(text)) {
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

// Stops at the first other character.
std::string from_base64(std::string_view text) {
    constexpr std::string_view DIGITS =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char character : text) {
        const std::size_t digit = DIGITS.find(character);
        if (digit == std::string_view::npos) {
            break;
        }
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 255U);
        }
    }
    return bytes;
}

// Returns the bytes of a URI: of data in it, or of a file named as it is written, else as it is
// decoded. Nothing: they cannot be read.
std::optional<std::string> bytes_at(GltfFile& file, const std::string& uri) {
    const std::string_view text(uri);
    if (is_data(uri)) {
        const std::size_t comma = std::min(text.find(','), text.size() - 1);
        std::string data = percent_decoded(text.substr(comma + 1));
        const std::string_view head = text.substr(0, comma);
        constexpr std::string_view BASE64 = ";base64";
        if (head.size() < BASE64.size() ||
            !equals_ignoring_case(head.substr(head.size() - BASE64.size()), BASE64)) {
            return data;
        }
        std::erase_if(data, [](unsigned char c) { return std::isspace(c) != 0; });
        return from_base64(data);
    }
    file.files.push_back(named_file(file.path, uri));
    return read_bytes(file.files.back());
}

// `binary` is a part of `bytes`, which its buffer takes.
void read_buffers(GltfFile& file, std::string& bytes, std::string_view binary) {
    for (const Json& from : member(file.json, "buffers")) {
        const std::string name = "buffer " + std::to_string(file.buffers.size());
        std::string& buffer = file.buffers.emplace_back();
        const std::string uri = text_in(from, "uri");
        if (from.contains("uri")) {
            std::optional<std::string> read = bytes_at(file, uri);
            if (!read) {
                const std::string what = name + " cannot be read: '";
                refuse(file.path, what + uri + "' is no file beside the scene; copy it there");
            }
            buffer = std::move(*read);
        } else if (file.buffers.size() == 1 && !binary.empty()) {
            const auto start = static_cast<std::size_t>(binary.data() - bytes.data());
            bytes.resize(start + binary.size());
            bytes.erase(0, start);
            buffer = std::move(bytes);
        } else {
            continue;  // as for programs that do not decompress; views of it are refused
        }
        const auto length = from.at("byteLength").get<std::size_t>();
        if (length > buffer.size()) {
            refuse(file.path, name + " has " + counted(buffer.size(), "byte") + " instead of " +
                                  std::to_string(length) + "; export the scene again");
        }
        buffer.resize(length);
    }
}

void read_pictures(GltfFile& file) {
    for (const Json& from : member(file.json, "images")) {
        std::string& picture = file.pictures.emplace_back();
        if (index_in(from, "bufferView") < 0 && from.contains("uri")) {
            picture = bytes_at(file, text_in(from, "uri")).value_or("");
        }
    }
}

}  // namespace

const Json& GltfFile::list(const char* name) const {
    return member(
        name == std::string_view("lights") ? extension(json, "KHR_lights_punctual") : json, name);
}

const Json& GltfFile::item(const char* list_name, int index, const std::string& place) const {
    const Json& items = list(list_name);
    if (index < 0 || static_cast<std::size_t>(index) >= items.size()) {
        refuse(path, place + " refers to " + list_name + "/" + std::to_string(index) +
                         ", which does not exist; export the scene again");
    }
    return items[static_cast<std::size_t>(index)];
}

// Without the names of exceptions and grammar rules.
std::string reason_of(const Json::exception& exception) {
    const std::string error = exception.what();
    const std::size_t place = error.find(" at line ");
    const std::size_t reason = error.find(" - ");
    return place == std::string::npos || reason == std::string::npos
               ? "its JSON does not fit: " + error.substr(error.find("] ") + 2)
               : "its JSON breaks off" + error.substr(place, error.find(':', place) - place) +
                     ": " + error.substr(reason + 3);
}

std::string numbered(const std::string& thing, std::size_t index, const std::string& name) {
    return thing + " " + std::to_string(index) + (name.empty() ? "" : " '" + name + "'");
}

bool is_data(std::string_view uri) {
    return equals_ignoring_case(uri.substr(0, 5), "data:");
}

const Json& member(const Json& from, std::string_view key) {
    static const Json NONE;
    const auto found = from.is_object() ? from.find(std::string(key)) : from.end();
    return found == from.end() ? NONE : *found;
}

const Json& extension(const Json& from, std::string_view name) {
    return member(member(from, "extensions"), name);
}

void drop_extension(Json& from, const char* name) {
    if (from.contains("extensions")) {
        Json& all = from["extensions"];
        all.erase(name);
        if (all.empty()) {
            from.erase("extensions");
        }
    }
}

int index_in(const Json& from, const char* key) {
    const double number = value_of(from, key, -1.0);
    return number >= 0.0 && number < 0x1p31 && number == std::floor(number)
               ? static_cast<int>(number)
               : -1;
}

std::size_t components_in(std::string_view type) {
    constexpr std::array<std::pair<std::string_view, std::size_t>, 7> TYPES{{{"SCALAR", 1},
                                                                             {"VEC2", 2},
                                                                             {"VEC3", 3},
                                                                             {"VEC4", 4},
                                                                             {"MAT2", 4},
                                                                             {"MAT3", 9},
                                                                             {"MAT4", 16}}};
    const auto* const found =
        std::ranges::find(TYPES, type, [](const auto& entry) { return entry.first; });
    return found == TYPES.end() ? 0 : found->second;
}

double component(const Elements& from, std::size_t element, std::size_t index) {
    double number = 0.0;
    with_component(from.component_type, [&]<typename T>(T value) {
        std::memcpy(&value, from.data + element * from.stride + index * sizeof value, sizeof value);
        number = static_cast<double>(value);
        if (std::is_integral_v<T> && from.normalized) {
            number = std::max(number / static_cast<double>(std::numeric_limits<T>::max()), -1.0);
        }
    });
    return number;
}

glm::dvec3 vector(const Elements& from, std::size_t i) {
    return {component(from, i, 0), component(from, i, 1), component(from, i, 2)};
}

namespace {

// Sets the elements to those in a buffer view, which are in range.
void place_in(Elements& elements, const GltfFile& file, const Json& from, const std::string& name) {
    const int view = index_in(from, "bufferView");
    const std::string_view bytes = buffer_view_of(file, view, name);
    const auto offset = value_of(from, "byteOffset", std::size_t{0});
    const auto stride = value_of(file.json["bufferViews"][static_cast<std::size_t>(view)],
                                 "byteStride", std::size_t{0});
    elements.stride = stride == 0 ? elements.size : stride;
    if (offset > bytes.size() || bytes.size() - offset < elements.size ||
        elements.stride < elements.size || elements.count == 0 ||
        elements.count - 1 > (bytes.size() - offset - elements.size) / elements.stride) {
        refuse(file.path, name + " reaches beyond its buffer view, or is empty");
    }
    elements.data = bytes.data() + offset;
}

// Replaces the elements by those of a sparse accessor: a copy, in which some are others.
void make_dense(Elements& elements, const GltfFile& file, const Json& sparse,
                const std::string& name) {
    std::string bytes;
    for (std::size_t i = 0; i < elements.count; ++i) {
        bytes.append(elements.data + i * elements.stride, elements.size);
    }
    const Json& at = sparse.at("indices");
    Elements values = elements;
    values.count = sparse.at("count").get<std::size_t>();
    Elements indices{.count = values.count,
                     .component_type = at.at("componentType").get<int>(),
                     .components = 1};
    with_component(indices.component_type, [&](auto value) { indices.size = sizeof value; });
    place_in(indices, file, at, name + ": its sparse indices");
    place_in(values, file, sparse.at("values"), name + ": its sparse values");
    for (std::size_t i = 0; i < values.count; ++i) {
        const double index = component(indices, i, 0);
        if (!(index >= 0.0 && index < static_cast<double>(elements.count))) {
            refuse(file.path,
                   name + ": its sparse indices are out of range; export the scene again");
        }
        bytes.replace(static_cast<std::size_t>(index) * elements.size, elements.size,
                      values.data + i * values.stride, elements.size);
    }
    elements.own = std::make_shared<std::string>(std::move(bytes));
    elements.data = elements.own->data();
    elements.stride = elements.size;
}

}  // namespace

Elements elements_of(const GltfFile& file, int accessor, const std::string& place,
                     std::string_view type) {
    static constexpr std::array<char, 128> ZEROS{};  // the largest element
    const Json& from = file.item("accessors", accessor, place);
    const std::string name = place + " (accessor " + std::to_string(accessor) + ")";
    const std::string own_type = text_in(from, "type");
    Elements elements{.data = ZEROS.data(),
                      .count = from.at("count").get<std::size_t>(),
                      .component_type = from.at("componentType").get<int>(),
                      .components = components_in(own_type),
                      .normalized = value_of(from, "normalized", false)};
    with_component(elements.component_type,
                   [&](auto value) { elements.size = elements.components * sizeof value; });
    if (elements.size == 0 || (!type.empty() && type != own_type)) {
        refuse(file.path, name + " has a type that it cannot have");
    }
    if (from.contains("bufferView")) {
        place_in(elements, file, from, name);
    } else {
        std::size_t bytes = 0;
        for (const std::string& buffer : file.buffers) {
            bytes += buffer.size();
        }
        if (elements.count == 0 || elements.count > bytes) {
            refuse(file.path, name + " has no buffer view, and " +
                                  counted(elements.count, "element") +
                                  ": none, or more than the file has bytes");
        }
    }
    if (from.contains("sparse")) {
        make_dense(elements, file, from["sparse"], name);
    }
    return elements;
}

std::string_view buffer_view_of(const GltfFile& file, int view, const std::string& place) {
    const std::string number = std::to_string(view);
    const Json& from = file.item("bufferViews", view, place);
    const auto buffer = from.at("buffer").get<std::size_t>();
    if (buffer >= file.buffers.size()) {
        refuse(file.path, "buffer view " + number + " has no buffer");
    }
    const std::string_view bytes = file.buffers[buffer];
    const auto offset = value_of(from, "byteOffset", std::size_t{0});
    const auto length = from.at("byteLength").get<std::size_t>();
    if (offset > bytes.size() || length > bytes.size() - offset) {
        refuse(file.path, "buffer view " + number + " reaches beyond its buffer, which has " +
                              counted(bytes.size(), "byte"));
    }
    return bytes.substr(offset, length);
}

GltfFile parse_gltf(const std::filesystem::path& path, std::string bytes) {
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - HEADER) {
        refuse(path, "it is larger than 4 GiB");
    }
    const auto [json, binary] = chunks_of(path, bytes);
    const auto check_depth = [&](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
        if (depth > MAX_NESTING) {
            refuse(path, "its JSON is nested more than " + std::to_string(MAX_NESTING) + " deep");
        }
        return true;
    };
    GltfFile file{.path = path, .json = Json::parse(json, check_depth)};
    check_numbers(path, file.json, "", "");
    const Json& given = file.json.at("asset").at("version");
    const std::string version = given.is_string() ? given.get<std::string>() : given.dump();
    if (!version.empty() && !version.starts_with('2')) {
        refuse(path, "it is glTF " + version + "; convert it to glTF 2.0");
    }
    check_extensions(path, file.json);
    read_buffers(file, bytes, binary);
    read_pictures(file);
    decompress(file);
    return file;
}

std::string glb_of(std::string json, std::string_view buffer) {
    json.resize((json.size() + 3) / 4 * 4, ' ');
    std::string file = "glTF";
    const auto append_number = [&](std::size_t number) {
        for (unsigned i = 0; i < 4; ++i) {
            file += static_cast<char>(number >> (8 * i) & 255U);
        }
    };
    append_number(2);
    append_number(HEADER + json.size() + 8 + buffer.size());
    append_number(json.size());
    file.append("JSON").append(json);
    append_number(buffer.size());
    return file.append("BIN\0", 4).append(buffer);
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

glm::dmat4 local_transform(const GltfFile& file, const Json& node, const std::string& name) {
    const auto numbers = [&](const char* key, const std::vector<double>& otherwise) {
        std::vector<double> given = value_of(node, key, otherwise);
        if (given.size() != otherwise.size()) {
            refuse(file.path, name + ": its " + key + " has " + counted(given.size(), "number") +
                                  " instead of " + std::to_string(otherwise.size()));
        }
        return given;
    };
    if (node.contains("matrix")) {
        return glm::make_mat4(numbers("matrix", std::vector<double>(16)).data());
    }
    const auto t = numbers("translation", {0.0, 0.0, 0.0});
    const auto r = numbers("rotation", {0.0, 0.0, 0.0, 1.0});
    const auto s = numbers("scale", {1.0, 1.0, 1.0});
    return placed({t[0], t[1], t[2]}, {r[3], r[0], r[1], r[2]}, {s[0], s[1], s[2]});
}

std::vector<glm::dmat4> instances(const GltfFile& file, const Json& node, const std::string& name) {
    const Json& attributes = member(extension(node, "EXT_mesh_gpu_instancing"), "attributes");
    std::optional<std::size_t> count;
    const auto read = [&](const char* attribute, std::string_view type) -> std::optional<Elements> {
        if (!attributes.contains(attribute)) {
            return std::nullopt;
        }
        const std::string place = name + ": " + attribute + " of its instances";
        const Elements all = elements_of(file, index_in(attributes, attribute), place, type);
        if (count.value_or(all.count) != all.count) {
            refuse(file.path, place + " has " + counted(all.count, "value") + " instead of " +
                                  std::to_string(*count));
        }
        count = all.count;
        return all;
    };
    const auto translations = read("TRANSLATION", "VEC3");
    const auto rotations = read("ROTATION", "VEC4");
    const auto scales = read("SCALE", "VEC3");
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
