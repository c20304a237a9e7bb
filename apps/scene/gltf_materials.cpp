#include "parse_gltf.hpp"

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

// The diffuse part of a material.
struct Base {
    const Json& texture;
    const Json& metal_texture;
    std::vector<double> factor;
    double metallic;
};

Base base_of(const Json& material) {
    const Json& glossy = extension(material, "KHR_materials_pbrSpecularGlossiness");
    if (!glossy.is_null()) {
        const Json& diffuse = member(glossy, "diffuseTexture");
        return {diffuse, diffuse, numbers_in(glossy, "diffuseFactor"), 0.0};
    }
    const Json& plain = member(material, "pbrMetallicRoughness");
    return {member(plain, "baseColorTexture"), member(plain, "metallicRoughnessTexture"),
            numbers_in(plain, "baseColorFactor"), value_of(plain, "metallicFactor", 1.0)};
}

int set_of(const Json& texture) {
    return value_of(extension(texture, "KHR_texture_transform"), "texCoord",
                    value_of(texture, "texCoord", 0));
}

// Returns KHR_texture_transform as three.js and Cesium read it: coordinates are scaled, then turned
// by an angle that counts from +v (down) to +u, then moved.
glm::mat3x2 texture_transform(const GltfFile& gltf, const Json& texture,
                              const std::string& material) {
    const Json& given = extension(texture, "KHR_texture_transform");
    if (given.is_null()) {
        return glm::mat3x2(1.0F);
    }
    const auto checked = [&](double number) {
        if (!(std::abs(number) <= MOST_REPEATS)) {
            refuse(gltf.path, "the KHR_texture_transform of material '" + material +
                                  "' has something else than numbers up to 1e9");
        }
        return number;
    };
    const auto pair = [&](const char* name, double otherwise) {
        auto numbers = value_of(given, name, std::vector{otherwise, otherwise});
        if (numbers.size() != 2) {
            numbers.assign(2, NAN);
        }
        return glm::dvec2(checked(numbers[0]), checked(numbers[1]));
    };
    const glm::dvec2 offset = pair("offset", 0.0);
    const glm::dvec2 scale = pair("scale", 1.0);
    const double angle = checked(value_of(given, "rotation", 0.0));
    const glm::dvec2 turn(std::cos(angle), std::sin(angle));
    return {glm::vec2(scale.x * glm::dvec2(turn.x, -turn.y)),
            glm::vec2(scale.y * glm::dvec2(turn.y, turn.x)), glm::vec2(offset)};
}

class MaterialReader {
 public:
    MaterialReader(const GltfFile& gltf, FileScene& file) : gltf_(gltf), file_(file) {}

    void read();

 private:
    void warn_of_what_is_ignored();
    std::optional<std::uint32_t> texture(const Json& from);
    void take_off_metal(const Json& from, Material& material);
    void read_transmission(const Json& from, Material& material);

    const GltfFile& gltf_;
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
    for (const Json& from : gltf_.list("materials")) {
        const Base base = base_of(from);
        const Json& emission = member(from, "emissiveTexture");
        const std::string mode = text_in(from, "alphaMode");
        Material material;
        material.name = text_in(from, "name");
        material.albedo = colour(base.factor, glm::vec3(1.0F));
        material.emission =
            colour(numbers_in(from, "emissiveFactor"), glm::vec3(0.0F)) *
            value_of(extension(from, "KHR_materials_emissive_strength"), "emissiveStrength", 1.0F);
        material.double_sided = value_of(from, "doubleSided", false);
        material.albedo_texture = texture(base.texture);
        material.emission_texture = texture(emission);
        material.albedo_coordinates = texture_transform(gltf_, base.texture, material.name);
        material.emission_coordinates = texture_transform(gltf_, emission, material.name);
        material.alpha_mode = mode == "MASK"    ? AlphaMode::mask
                              : mode == "BLEND" ? AlphaMode::blend
                                                : AlphaMode::opaque;
        material.alpha = base.factor.size() < 4 ? 1.0F : static_cast<float>(base.factor[3]);
        material.alpha_cutoff = value_of(from, "alphaCutoff", 0.5F);
        take_off_metal(from, material);
        read_transmission(from, material);
        for (const char* const name : IGNORED) {
            ignored_[name] += extension(from, name).is_null() ? 0 : 1;
        }
        file_.scene.materials.push_back(std::move(material));
    }
    warn_of_what_is_ignored();
}

// Metal has no diffuse reflection.
void MaterialReader::take_off_metal(const Json& from, Material& material) {
    const Base base = base_of(from);
    const auto factor = static_cast<float>(std::clamp(base.metallic, 0.0, 1.0));
    if (!(factor > 0.0F) || !extension(from, "KHR_materials_unlit").is_null()) {
        return;
    }
    const std::optional<std::uint32_t> metal = texture(base.metal_texture);
    double mean = base.metal_texture.is_null() ? 1.0 : 0.0;
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
    const glm::mat3x2 place = texture_transform(gltf_, base.metal_texture, material.name);
    const bool is_alone = !material.albedo_texture;
    const bool has_same_place =
        place == material.albedo_coordinates && set_of(base.metal_texture) == set_of(base.texture);
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
void MaterialReader::read_transmission(const Json& from, Material& material) {
    const float share = std::clamp(
        value_of(extension(from, "KHR_materials_transmission"), "transmissionFactor", 0.0F), 0.0F,
        1.0F);
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
std::optional<std::uint32_t> MaterialReader::texture(const Json& from) {
    if (from.is_null()) {
        return std::nullopt;
    }
    const int index = index_in(from, "index");
    const std::string number = std::to_string(index);
    const Json& textures = gltf_.list("textures");
    int source = -1;
    if (index >= 0 && static_cast<std::size_t>(index) < textures.size()) {
        const Json& texture = textures[static_cast<std::size_t>(index)];
        source = index_in(texture, "source");
        for (const char* const name :
             {"EXT_texture_webp", "EXT_texture_avif", "KHR_texture_basisu"}) {
            source = source < 0 ? index_in(extension(texture, name), "source") : source;
        }
    }
    if (source < 0 || static_cast<std::size_t>(source) >= gltf_.pictures.size()) {
        file_.warnings.push_back("texture " + number +
                                 " has no picture that can be read: its materials lack it");
        return std::nullopt;
    }
    const auto [known, is_new] = pictures_.try_emplace(source);
    if (is_new) {
        const auto place = static_cast<std::size_t>(source);
        const Json& image = gltf_.json.at("images").at(place);
        const std::string uri = text_in(image, "uri");
        const std::string name =
            numbered("picture", place, value_of(image, "name", is_data(uri) ? "" : uri));
        const int view = index_in(image, "bufferView");
        known->second = file_.add_texture(
            view < 0 ? std::string_view(gltf_.pictures[place]) : buffer_view_of(gltf_, view, name),
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

void read_materials(const GltfFile& gltf, FileScene& file) {
    MaterialReader(gltf, file).read();
}

int texture_set(const Json& material, bool& has_another) {
    const Base base = base_of(material);
    const Json& albedo = base.texture.is_null() ? base.metal_texture : base.texture;
    const Json& emission = member(material, "emissiveTexture");
    has_another = !albedo.is_null() && !emission.is_null() && set_of(emission) != set_of(albedo);
    return set_of(albedo.is_null() ? emission : albedo);
}

}  // namespace quadtile::baker
