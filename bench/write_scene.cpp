#include "city_scene.hpp"

#include "output_file.hpp"
#include "parse_gltf.hpp"

#include <glm/gtc/quaternion.hpp>

#include <string>
#include <vector>

namespace quadtile::baker {

namespace {

Json components(const auto& vector) {
    Json list;
    for (int i = 0; i < vector.length(); ++i) {
        list.push_back(vector[i]);
    }
    return list;
}

// The chunks of a .glb file, which grow.
struct Chunks {
    Json json;
    std::string bytes;

    template <typename Value>
    std::size_t add(const std::vector<Value>& values, const char* type, int component_type,
                    std::size_t count) {
        const std::size_t size = values.size() * sizeof(Value);
        json["bufferViews"].push_back(
            {{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", size}});
        json["accessors"].push_back({{"bufferView", json["bufferViews"].size() - 1},
                                     {"componentType", component_type},
                                     {"count", count},
                                     {"type", type}});
        bytes.append(reinterpret_cast<const char*>(values.data()), size);
        return json["accessors"].size() - 1;
    }
};

}  // namespace

void write_scene(const Scene& scene, const std::filesystem::path& path) {
    Chunks chunks;
    Json& json = chunks.json;
    json["asset"] = {{"version", "2.0"}};
    if (scene.light_map_extent) {
        json["asset"]["extras"]["lightmap_size"] = {scene.light_map_extent->width,
                                                    scene.light_map_extent->height};
    }
    json["extensionsUsed"] = {"KHR_lights_punctual", "KHR_materials_emissive_strength"};
    const std::size_t vertices = scene.positions.size();
    const Json attributes{
        {"POSITION", chunks.add(scene.positions, "VEC3", FLOAT, vertices)},
        {"NORMAL", chunks.add(scene.normals, "VEC3", FLOAT, vertices)},
        {"TEXCOORD_1", chunks.add(scene.light_map_coordinates, "VEC2", FLOAT, vertices)}};
    Json primitives;
    for (std::size_t i = 0; i < scene.materials.size(); ++i) {
        const Material& material = scene.materials[i];
        const float strength = greatest_of(material.emission);
        Json colour = components(material.albedo);
        colour.push_back(1.0F);
        json["materials"].push_back(
            {{"name", material.name},
             {"pbrMetallicRoughness", {{"baseColorFactor", colour}, {"metallicFactor", 0}}},
             {"doubleSided", material.double_sided}});
        if (strength > 0.0F) {
            json["materials"].back()["emissiveFactor"] = components(material.emission / strength);
            json["materials"].back()["extensions"]["KHR_materials_emissive_strength"] = {
                {"emissiveStrength", strength}};
        }
        std::vector<std::uint32_t> indices;
        for (const Triangle& triangle : scene.triangles) {
            if (triangle.material == i) {
                indices.insert(indices.end(), triangle.vertices.begin(), triangle.vertices.end());
            }
        }
        if (!indices.empty()) {
            primitives.push_back(
                {{"attributes", attributes},
                 {"indices", chunks.add(indices, "SCALAR", UNSIGNED_INT, indices.size())},
                 {"material", i}});
        }
    }
    json["meshes"] = {{{"primitives", primitives}}};
    json["nodes"] = {{{"mesh", 0}}};
    for (const Sun& sun : scene.suns) {
        const float irradiance = greatest_of(sun.irradiance);
        Json& lights = json["extensions"]["KHR_lights_punctual"]["lights"];
        lights.push_back({{"type", "directional"},
                          {"color", components(sun.irradiance / irradiance)},
                          {"intensity", irradiance}});
        const glm::quat turn = glm::quatLookAt(sun.direction, glm::vec3(0.0F, 1.0F, 0.0F));
        json["nodes"].push_back(
            {{"rotation", {turn.x, turn.y, turn.z, turn.w}},
             {"extensions", {{"KHR_lights_punctual", {{"light", lights.size() - 1}}}}}});
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < json["nodes"].size(); ++i) {
        roots.push_back(i);
    }
    json["scenes"] = {{{"nodes", roots}}};
    json["scene"] = 0;
    json["buffers"] = {{{"byteLength", chunks.bytes.size()}}};

    app::write_file(path, glb_of(json.dump(), chunks.bytes));
}

}  // namespace quadtile::baker
