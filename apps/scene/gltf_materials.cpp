#include "gltf_materials.hpp"

#include "textures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace quadtile::baker {

namespace {

constexpr double MOST_REPEATS = 1e9;  // of a texture

// Extensions that change diffuse light, and are not read.
constexpr std::array IGNORED{"KHR_materials_diffuse_transmission", "KHR_materials_volume",
                             "KHR_materials_subsurface"};

glm::vec3 colour(const std::vector<double>& from, const glm::vec3& otherwise) {
    return from.size() < 3 ? otherwise : glm::vec3(from[0], from[1], from[2]);
}

// Returns a number of a material's extension; the default if it has none.
float number_of(const tinygltf::Material& material, const char* extension, const char* name,
                double otherwise) {
    const auto found = material.extensions.find(extension);
    const tinygltf::Value value =
        found == material.extensions.end() ? tinygltf::Value() : found->second.Get(name);
    return static_cast<float>(value.IsNumber() ? value.GetNumberAsDouble() : otherwise);
}

int set_of(const tinygltf::TextureInfo& texture) {
    const auto transform = texture.extensions.find("KHR_texture_transform");
    return transform != texture.extensions.end() && transform->second.Has("texCoord")
               ? transform->second.Get("texCoord").GetNumberAsInt()
               : texture.texCoord;
}

// Returns KHR_texture_transform as three.js and Cesium read it: coordinates are scaled, then turned
// by an angle that counts from +v (down) to +u, then moved.
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

class MaterialReader {
 public:
    MaterialReader(const std::filesystem::path& path, const tinygltf::Model& model, FileScene& file)
        : path_(path), model_(model), file_(file) {}

    void read();

 private:
    void warn_of_what_is_ignored();
    std::optional<std::uint32_t> texture(int index);
    void take_off_metal(const tinygltf::Material& from, Material& material);
    void read_transmission(const tinygltf::Material& from, Material& material);

    const std::filesystem::path& path_;
    const tinygltf::Model& model_;
    FileScene& file_;
    std::map<int, std::optional<std::uint32_t>> pictures_;  // their textures
    // Textures of the base colour without the metal of another one, by these and its factor.
    std::map<std::tuple<std::optional<std::uint32_t>, std::uint32_t, float>, std::uint32_t> metals_;
    std::map<std::string, std::size_t> ignored_;  // extensions: their materials
    std::size_t metallic_ = 0;
    std::size_t mean_metal_ = 0;
    std::size_t transmitting_ = 0;
};

void MaterialReader::read() {
    for (const tinygltf::Material& from : model_.materials) {
        const tinygltf::PbrMetallicRoughness& base = from.pbrMetallicRoughness;
        Material material;
        material.name = from.name;
        material.albedo = colour(base.baseColorFactor, glm::vec3(1.0F));
        material.emission =
            colour(from.emissiveFactor, glm::vec3(0.0F)) *
            number_of(from, "KHR_materials_emissive_strength", "emissiveStrength", 1.0);
        material.double_sided = from.doubleSided;
        material.albedo_texture = texture(base.baseColorTexture.index);
        material.emission_texture = texture(from.emissiveTexture.index);
        material.albedo_coordinates =
            texture_transform(path_, base.baseColorTexture, material.name);
        material.emission_coordinates =
            texture_transform(path_, from.emissiveTexture, material.name);
        material.alpha_mode = from.alphaMode == "MASK"    ? AlphaMode::mask
                              : from.alphaMode == "BLEND" ? AlphaMode::blend
                                                          : AlphaMode::opaque;
        material.alpha =
            base.baseColorFactor.size() < 4 ? 1.0F : static_cast<float>(base.baseColorFactor[3]);
        material.alpha_cutoff = static_cast<float>(from.alphaCutoff);
        take_off_metal(from, material);
        read_transmission(from, material);
        for (const char* const name : IGNORED) {
            ignored_[name] += from.extensions.contains(name) ? 1 : 0;
        }
        file_.scene.materials.push_back(std::move(material));
    }
    warn_of_what_is_ignored();
}

// Metal has no diffuse reflection.
void MaterialReader::take_off_metal(const tinygltf::Material& from, Material& material) {
    const tinygltf::PbrMetallicRoughness& base = from.pbrMetallicRoughness;
    const auto factor = static_cast<float>(std::clamp(base.metallicFactor, 0.0, 1.0));
    if (!(factor > 0.0F) || from.extensions.contains("KHR_materials_unlit")) {
        return;
    }
    const int index = base.metallicRoughnessTexture.index;
    const std::optional<std::uint32_t> metal = texture(index);
    double mean = index < 0 ? 1.0 : 0.0;
    if (metal) {
        const auto& texels = file_.scene.textures[*metal].texels;
        for (const auto& texel : texels) {
            mean += texel[2] / 255.0 / static_cast<double>(texels.size());
        }
    }
    if (mean == 0.0) {
        return;
    }
    ++metallic_;
    const glm::mat3x2 place =
        texture_transform(path_, base.metallicRoughnessTexture, material.name);
    const bool is_alone = !material.albedo_texture;
    const bool has_same_place =
        place == material.albedo_coordinates &&
        set_of(base.metallicRoughnessTexture) == set_of(base.baseColorTexture);
    if (!metal || (!is_alone && !has_same_place)) {
        material.albedo *= 1.0F - factor * static_cast<float>(mean);
        mean_metal_ += metal ? 1 : 0;
        return;
    }
    const auto [known, is_new] = metals_.try_emplace({material.albedo_texture, *metal, factor});
    if (is_new) {
        std::vector<Texture>& textures = file_.scene.textures;
        textures.push_back(without_metal(is_alone ? nullptr : &textures[*material.albedo_texture],
                                         textures[*metal], factor));
        known->second = static_cast<std::uint32_t>(textures.size() - 1);
    }
    material.albedo_texture = known->second;
    material.albedo_coordinates = place;
}

// Makes coloured holes of glass: they are open for the light of the brightest colour, which its
// other colours are relative to. What stays reflects no more than before.
void MaterialReader::read_transmission(const tinygltf::Material& from, Material& material) {
    const float share = std::clamp(
        number_of(from, "KHR_materials_transmission", "transmissionFactor", 0.0), 0.0F, 1.0F);
    if (share > 0.0F) {
        ++transmitting_;
        if (material.alpha_mode == AlphaMode::opaque) {
            material.alpha = 1.0F;
            material.alpha_mode = AlphaMode::blend;
        }
        const float brightest = greatest_of(material.albedo);
        const float open = share * std::min(brightest, 1.0F);
        if (material.alpha_mode == AlphaMode::blend && brightest > 0.0F) {
            material.tint = glm::min(material.albedo / brightest, 1.0F);
            material.alpha *= 1.0F - open;
            material.albedo *= open < 1.0F ? (1.0F - share) / (1.0F - open) : 0.0F;
        }
    }
}

// Reads each picture once. Returns nothing if it is not available.
std::optional<std::uint32_t> MaterialReader::texture(int index) {
    if (index < 0) {
        return std::nullopt;
    }
    const auto number = static_cast<std::size_t>(index);
    const int source = number < model_.textures.size() ? model_.textures[number].source : -1;
    if (source < 0 || static_cast<std::size_t>(source) >= model_.images.size()) {
        file_.warnings.push_back("texture " + std::to_string(index) +
                                 " has no picture that can be read: its materials lack it");
        return std::nullopt;
    }
    const auto [known, is_new] = pictures_.try_emplace(source);
    if (is_new) {
        const tinygltf::Image& image = model_.images[static_cast<std::size_t>(source)];
        const std::string name = numbered("picture", static_cast<std::size_t>(source),
                                          image.name.empty() ? image.uri : image.name);
        known->second = file_.add_texture(
            image.bufferView < 0 ? std::span(image.image)
                                 : buffer_view_of(path_, model_, image.bufferView, name),
            name);
    }
    return known->second;
}

void MaterialReader::warn_of_what_is_ignored() {
    file_.warn(metallic_, "material",
               " of metal (metallicFactor, which is 1 by default): diffuse albedo is base colour "
               "times 1 - metallic, and mirrored light is left out");
    file_.warn(mean_metal_, "material",
               " whose metallic and base colour textures have different coordinates: the mean of "
               "the metallic texture is used");
    file_.warn(
        transmitting_, "material",
        " that light passes through (KHR_materials_transmission): it passes as through "
        "coloured holes, straight on; textures of colour and transmission are ignored for it");
    for (const auto& [name, count] : ignored_) {
        file_.warn(count, "material", " with " + name + ", which is ignored");
    }
}

}  // namespace

void read_materials(const std::filesystem::path& path, const tinygltf::Model& model,
                    FileScene& file) {
    MaterialReader(path, model, file).read();
}

int texture_set(const tinygltf::Material& material, bool& has_another) {
    const tinygltf::PbrMetallicRoughness& base = material.pbrMetallicRoughness;
    const tinygltf::TextureInfo& albedo =
        base.baseColorTexture.index < 0 ? base.metallicRoughnessTexture : base.baseColorTexture;
    const tinygltf::TextureInfo& emission = material.emissiveTexture;
    has_another = albedo.index >= 0 && emission.index >= 0 && set_of(emission) != set_of(albedo);
    return albedo.index >= 0 ? set_of(albedo) : emission.index >= 0 ? set_of(emission) : 0;
}

}  // namespace quadtile::baker
