#include "gltf_transforms.hpp"

#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/quaternion.hpp>

#include <cmath>
#include <optional>

namespace quadtile::baker {

namespace {

constexpr double MOST_REPEATS = 1e9;  // of a texture

glm::dvec3 vector(const Elements& from, std::size_t i) {
    return {component(from, i, 0), component(from, i, 1), component(from, i, 2)};
}

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
