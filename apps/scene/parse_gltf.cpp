#include "parse_gltf.hpp"

#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace quadtile::baker {

namespace {

constexpr std::size_t HEADER = 20;        // up to the JSON of a .glb file
constexpr std::size_t MAX_NESTING = 256;  // tinygltf reads JSON recursively

// Returns the depth to which arrays and objects of a JSON text are nested.
std::size_t nesting(std::string_view json) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (c == ']' || c == '}') {
            depth -= depth > 0 ? 1 : 0;
        }
    }
    return deepest;
}

// Keeps the bytes of a picture. tinygltf passes pictures in buffers without a check of the buffer's
// length, so these are decoded later.
bool keep_picture(tinygltf::Image* image, int /*index*/, std::string* /*error*/,
                  std::string* /*warning*/, int /*width*/, int /*height*/,
                  const unsigned char* bytes, int size, void* /*user*/) {
    if (image->bufferView < 0 && size > 0) {
        image->image.assign(bytes, bytes + size);
    }
    return true;
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

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

// Reads a file, whose path is added to `files`, a std::vector<std::filesystem::path>.
bool read_named_file(std::vector<unsigned char>* bytes, std::string* error, const std::string& path,
                     void* files) {
    static_cast<std::vector<std::filesystem::path>*>(files)->emplace_back(path);
    return tinygltf::ReadWholeFile(bytes, error, path, nullptr);
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
    if (!file.starts_with("glTF") || file.size() <= HEADER) {
        return file;
    }
    std::uint32_t length = 0;
    std::memcpy(&length, &file[12], sizeof length);
    return file.substr(HEADER, length);
}

Elements elements_of(const std::filesystem::path& path, const tinygltf::Model& model, int accessor,
                     const std::string& place, std::optional<int> type) {
    const std::string number = std::to_string(accessor);
    const tinygltf::Accessor& from = item_at(
        path, model.accessors, accessor,
        place + " is accessor " + number + ", which does not exist; export the scene again");
    const std::string name = place + " (accessor " + number + ")";
    if (from.sparse.isSparse) {
        refuse(path, name +
                         " is sparse, which is not supported; export the scene without sparse "
                         "accessors");
    }
    const int component_size =
        tinygltf::GetComponentSizeInBytes(static_cast<std::uint32_t>(from.componentType));
    const int components = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(from.type));
    if (component_size <= 0 || components <= 0 || from.type != type.value_or(from.type)) {
        refuse(path, name + " has a type that it cannot have");
    }
    const std::size_t size =
        static_cast<std::size_t>(component_size) * static_cast<std::size_t>(components);
    const std::span<const unsigned char> bytes = buffer_view_of(path, model, from.bufferView, name);
    const std::size_t view_stride =
        model.bufferViews[static_cast<std::size_t>(from.bufferView)].byteStride;
    const std::size_t stride = view_stride == 0 ? size : view_stride;
    if (from.byteOffset > bytes.size() || bytes.size() - from.byteOffset < size || stride < size ||
        from.count == 0 || from.count - 1 > (bytes.size() - from.byteOffset - size) / stride) {
        refuse(path, name + " reaches beyond its buffer view, or is empty");
    }
    return {bytes.data() + from.byteOffset,
            stride,
            from.count,
            from.componentType,
            from.normalized,
            size};
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
        refuse(path, "buffer view " + number + " reaches beyond its buffer");
    }
    return std::span(bytes).subspan(from.byteOffset, from.byteLength);
}

tinygltf::Model parse_gltf(const std::filesystem::path& path, std::string bytes,
                           std::vector<std::string>& warnings,
                           std::vector<std::filesystem::path>& files) {
    const bool binary = bytes.starts_with("glTF");
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - HEADER) {
        refuse(path, "it is larger than 4 GiB");
    }
    if (nesting(json_of(bytes)) > MAX_NESTING) {
        refuse(path, "its JSON is nested more than " + std::to_string(MAX_NESTING) + " deep");
    }

    bytes = with_placeholders(std::move(bytes));
    const auto size = static_cast<unsigned int>(bytes.size());
    bytes.append(HEADER, '\0');  // tinygltf 2.7 reads 8 bytes too far if a chunk is too long
    tinygltf::TinyGLTF reader;
    reader.SetImageLoader(keep_picture, nullptr);
    reader.SetFsCallbacks({tinygltf::FileExists, tinygltf::ExpandFilePath, read_named_file,
                           tinygltf::WriteWholeFile, &files});
    const std::string folder = path.parent_path().string();
    tinygltf::Model model;
    std::string error;
    std::string warning;
    bool good = false;
    try {
        good =
            binary
                ? reader.LoadBinaryFromMemory(&model, &error, &warning,
                                              reinterpret_cast<const unsigned char*>(bytes.data()),
                                              size, folder)
                : reader.LoadASCIIFromString(&model, &error, &warning, bytes.data(), size, folder);
    } catch (const std::exception& exception) {
        error = exception.what();
    }
    error = trimmed(error);
    if (!good) {
        refuse(path, "it is not a complete glTF 2.0 file: " + reason_of(error));
    }
    if (!error.empty()) {
        warnings.push_back("the file is not quite glTF 2.0: " + error);
    }
    if (!trimmed(warning).empty()) {
        warnings.push_back(trimmed(warning));
    }
    if (!model.asset.version.starts_with("2.")) {
        refuse(path, "it is glTF " + model.asset.version + "; convert it to glTF 2.0");
    }
    decompress(path, model);
    return model;
}

std::optional<Texture> decode_picture(std::span<const unsigned char> bytes) {
    if (bytes.empty() || bytes.size() > std::numeric_limits<int>::max()) {
        return std::nullopt;
    }
    tinygltf::Image image;
    std::string error;
    std::string warning;
    if (!tinygltf::LoadImageData(&image, 0, &error, &warning, 0, 0, bytes.data(),
                                 static_cast<int>(bytes.size()), nullptr) ||
        image.width <= 0 || image.height <= 0 || image.component != 4) {
        return std::nullopt;
    }
    Texture texture;
    texture.extent = {static_cast<std::uint32_t>(image.width),
                      static_cast<std::uint32_t>(image.height)};
    const std::size_t channel_bytes = image.bits == 16 ? 2 : 1;
    if (image.image.size() != texture.extent.texels() * 4 * channel_bytes) {
        return std::nullopt;
    }
    texture.texels.resize(texture.extent.texels());
    for (std::size_t i = 0; i < texture.texels.size() * 4; ++i) {
        // The upper 8 of 16 bits, which come last.
        texture.texels[i / 4][i % 4] = image.image[i * channel_bytes + channel_bytes - 1];
    }
    return texture;
}

// ---- Transforms

namespace {

constexpr double MOST_REPEATS = 1e9;  // of a texture

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

glm::mat3x2 texture_transform(const std::filesystem::path& path, const tinygltf::TextureInfo& info,
                              const std::string& material) {
    const auto found = info.extensions.find("KHR_texture_transform");
    if (found == info.extensions.end()) {
        return glm::mat3x2(1.0F);
    }
    const tinygltf::Value& given = found->second;
    const auto number = [&](const tinygltf::Value& value) {
        const double got = value.IsNumber() ? value.GetNumberAsDouble() : NAN;
        if (!(std::abs(got) <= MOST_REPEATS)) {
            refuse(path, "the KHR_texture_transform of material '" + material +
                             "' has something else than numbers up to 1e9");
        }
        return got;
    };
    const auto pair = [&](const char* name, double otherwise) {
        glm::dvec2 values(otherwise);
        for (int i = 0; given.Has(name) && i < 2; ++i) {
            const tinygltf::Value& list = given.Get(name);
            const bool is_pair = list.IsArray() && list.ArrayLen() == 2;
            values[i] = number(is_pair ? list.Get(i) : tinygltf::Value());
        }
        return values;
    };
    const glm::dvec2 offset = pair("offset", 0.0);
    const glm::dvec2 scale = pair("scale", 1.0);
    const double angle = given.Has("rotation") ? number(given.Get("rotation")) : 0.0;
    const glm::dvec2 turn(std::cos(angle), std::sin(angle));
    return {glm::vec2(scale.x * glm::dvec2(turn.x, -turn.y)),
            glm::vec2(scale.y * glm::dvec2(turn.y, turn.x)), glm::vec2(offset)};
}

}  // namespace quadtile::baker
