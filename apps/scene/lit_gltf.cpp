#include "lit_gltf.hpp"

#include "parse_gltf.hpp"
#include "textures.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace quadtile::baker {

namespace {

constexpr const char* EXTENSION = "MOZ_lightmap";
constexpr const char* KTX2_EXTENSION = "KHR_texture_basisu";
constexpr const char* LIGHT_MAP_NAME = "quadtile lightmap";
constexpr int ELEMENT_ARRAY_BUFFER = 34963;
constexpr int LINEAR = 9729;
constexpr int CLAMP_TO_EDGE = 33071;

std::size_t aligned(std::size_t size) {
    return (size + 3) / 4 * 4;
}

template <typename Value>
std::string_view bytes_of(const std::vector<Value>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

// Returns whether a texture of the material, other than a lightmap, uses TEXCOORD_1.
bool uses_second_coordinates(const Json& material) {
    const Json values = material.flatten();
    return std::ranges::any_of(values.items(), [](const auto& item) {
        return item.key().ends_with("/texCoord") && item.value() == 1 &&
               item.key().find(EXTENSION) == std::string::npos;
    });
}

}  // namespace

class LitGltf::File {
 public:
    explicit File(GltfFile file) : file_(std::move(file)) {
        guarded([&] {
            join_buffers();
            drop_light_maps();
            embed_pictures();
        });
    }

    // Converts JSON errors: parts that the scene's reader does not read may have any type.
    template <typename Work>
    void guarded(const Work& work) const {
        try {
            work();
        } catch (const Json::exception&) {
            refuse(file_.path,
                   "a value of its JSON is missing or of a type that it cannot have, so "
                   "that it cannot be written as .glb; export it anew, or write the light "
                   "map alone, to an .exr");
        }
    }

    void set_light_map_coordinates(const Scene& scene) {
        const Json meshes = json_["meshes"];
        std::map<std::size_t, std::size_t> owners;  // by mesh: the first node that has it
        for (std::size_t i = 0; i < scene.parts.size(); ++i) {
            const ScenePart& part = scene.parts[i];
            Json& node = json_["nodes"].at(part.node);
            const Json::json_pointer instances("/extensions/EXT_mesh_gpu_instancing");
            if (node.contains(instances) && !part.excluded) {
                refuse(file_.path,
                       "node " + std::to_string(part.node) +
                           " has instances (EXT_mesh_gpu_instancing), which share their "
                           "coordinates; export them as nodes, or write the lightmap "
                           "alone, to an .exr");
            }
            const auto mesh = node.at("mesh").get<std::size_t>();
            // A mesh beyond those of the file already belongs to the node.
            if (mesh < meshes.size() &&
                owners.try_emplace(mesh, part.node).first->second != part.node) {
                node["mesh"] = json_["meshes"].size();
                json_["meshes"].push_back(meshes.at(mesh));
            }
            if (!part.excluded) {
                set_coordinates(scene, i);
            }
        }
    }

    std::string with_light_map(const Scene& scene, const std::vector<LightMapPage>& pages,
                               const Extent& extent) {
        std::vector<Json> light_maps;
        for (const LightMapPage& page : pages) {
            json_["samplers"].push_back({{"magFilter", LINEAR},
                                         {"minFilter", LINEAR},
                                         {"wrapS", CLAMP_TO_EDGE},
                                         {"wrapT", CLAMP_TO_EDGE}});
            Json texture{{"name", LIGHT_MAP_NAME}, {"sampler", json_["samplers"].size() - 1}};
            const auto add_image = [&](const std::string& bytes, const char* type) {
                json_["images"].push_back({{"name", LIGHT_MAP_NAME},
                                           {"bufferView", add_view(bytes)},
                                           {"mimeType", type}});
                return json_["images"].size() - 1;
            };
            if (!page.ktx2.empty()) {
                texture["extensions"][KTX2_EXTENSION]["source"] =
                    add_image(page.ktx2, "image/ktx2");
                use(KTX2_EXTENSION);
            }
            texture["source"] = add_image(page.png, "image/png");
            json_["textures"].push_back(std::move(texture));
            light_maps.push_back({{"index", json_["textures"].size() - 1},
                                  {"texCoord", 1},
                                  {"intensity", page.intensity}});
        }
        for (const ScenePart& part : scene.parts) {
            Json& primitive = primitive_of(part);
            const Json light_map = part.excluded ? Json() : light_maps.at(part.page);
            if (!primitive.contains("material") && !part.excluded) {
                primitive["material"] = default_material();
            }
            if (primitive.contains("material")) {
                light(primitive["material"], light_map);
            }
            const Json::json_pointer mappings("/extensions/KHR_materials_variants/mappings");
            if (primitive.contains(mappings)) {
                for (Json& variant : primitive[mappings]) {
                    light(variant.at("material"), light_map);
                }
            }
        }
        use(EXTENSION);
        Json& extras = json_["asset"]["extras"];
        if (!extras.is_object()) {
            extras = Json::object();
        }
        extras["lightmap_size"] = {extent.width, extent.height};
        return binary();
    }

 private:
    void use(const char* extension) {
        Json& used = json_["extensionsUsed"];
        if (std::ranges::find(used, extension) == used.end()) {
            used.push_back(extension);
        }
    }

    // Joins consecutive buffers into one.
    void join_buffers() {
        std::vector<std::size_t> starts;
        std::string joined;
        for (const std::string& buffer : file_.buffers) {
            starts.push_back(joined.size());
            joined += buffer;
            joined.resize(aligned(joined.size()));
        }
        for (Json& view : json_["bufferViews"]) {
            const auto buffer = view.at("buffer").get<std::size_t>();
            if (buffer >= starts.size()) {
                refuse(file_.path, "a buffer view has no buffer");
            }
            view["byteOffset"] = starts[buffer] + value_of(view, "byteOffset", std::size_t{0});
            view["buffer"] = 0;
        }
        is_one_ = file_.buffers.size() == 1;
        file_.buffers = {std::move(joined)};
    }

    // Removes the lightmaps of an earlier bake, which are the last items.
    void drop_light_maps() {
        while (drop_light_map()) {
        }
    }

    bool drop_light_map() {
        const auto last = [&](const char* list) -> Json* {
            return json_.contains(list) && !json_[list].empty() ? &json_[list].back() : nullptr;
        };
        const Json* const texture = last("textures");
        const Json* const image = last("images");
        if (texture == nullptr || image == nullptr || !is_one_ ||
            texture->value("name", "") != LIGHT_MAP_NAME ||
            image->value("name", "") != LIGHT_MAP_NAME ||
            texture->value("source", 0U) != json_["images"].size() - 1 ||
            image->value("bufferView", 0U) != json_["bufferViews"].size() - 1) {
            return false;
        }
        // The KTX2 picture, if there is one, comes before the PNG.
        const std::size_t images = texture->contains("extensions") ? 2 : 1;
        Json& views = json_["bufferViews"];
        const Json& all = json_["images"];
        if (all.size() < images || views.size() < images ||
            all[all.size() - images].value("name", "") != LIGHT_MAP_NAME) {
            return false;
        }
        const Json& first = views[views.size() - images];
        std::string& bytes = file_.buffers[0];
        bytes.resize(std::min(first.value("byteOffset", std::size_t{0}), bytes.size()));
        for (std::size_t i = 0; i < images; ++i) {
            file_.pictures.pop_back();
            json_["images"].erase(json_["images"].size() - 1);
            views.erase(views.size() - 1);
        }
        json_["textures"].erase(json_["textures"].size() - 1);
        json_["samplers"].erase(json_["samplers"].size() - 1);
        return true;
    }

    void embed_pictures() {
        for (std::size_t i = 0; i < file_.pictures.size(); ++i) {
            Json& image = json_.at("images").at(i);
            const std::string& bytes = file_.pictures[i];
            const PictureFormat* const format = format_of(bytes);
            if (image.contains("uri") && format != nullptr) {
                image.erase("uri");
                image["bufferView"] = add_view(bytes);
                image["mimeType"] = format->type;
            }
        }
    }

    // Adds a buffer view, and returns its number.
    std::size_t add_view(std::string_view bytes, std::size_t stride = 0, int target = 0) {
        std::string& all = file_.buffers[0];
        Json view{{"buffer", 0}, {"byteOffset", all.size()}, {"byteLength", bytes.size()}};
        if (stride > 0) {
            view["byteStride"] = stride;
        }
        if (target > 0) {
            view["target"] = target;
        }
        all += bytes;
        all.resize(aligned(all.size()));
        json_["bufferViews"].push_back(std::move(view));
        return json_["bufferViews"].size() - 1;
    }

    std::size_t add_accessor(Json accessor, std::size_t view, std::size_t count) {
        accessor["bufferView"] = view;
        accessor["count"] = count;
        json_["accessors"].push_back(std::move(accessor));
        return json_["accessors"].size() - 1;
    }

    Json& primitive_of(const ScenePart& part) {
        const auto mesh = json_["nodes"].at(part.node).at("mesh").get<std::size_t>();
        return json_["meshes"].at(mesh).at("primitives").at(part.primitive);
    }

    static glm::vec2 on_page(const Scene& scene, std::uint32_t page, std::uint32_t vertex) {
        const glm::vec2 at = scene.light_map_coordinates[vertex];
        if (!scene.pages || scene.pages->extent == *scene.light_map_extent) {
            return at;
        }
        const double row = double{at.y} * scene.light_map_extent->height;
        return {at.x, std::clamp((row - scene.pages->first_row(page)) / scene.pages->extent.height,
                                 0.0, 1.0)};
    }

    void set_coordinates(const Scene& scene, std::size_t index) {
        const ScenePart& part = scene.parts[index];
        const std::size_t end = index + 1 < scene.parts.size()
                                    ? scene.parts[index + 1].first_triangle
                                    : scene.triangles.size();
        Json& primitive = primitive_of(part);
        if (end == part.first_triangle) {
            return;
        }
        if (primitive.contains("material")) {
            const auto material = primitive["material"].get<std::size_t>();
            if (uses_second_coordinates(json_["materials"].at(material))) {
                refuse(file_.path,
                       "material " + std::to_string(material) +
                           " has a texture with TEXCOORD_1, which --unwrap would replace; "
                           "give its texture another set of coordinates, or write the "
                           "lightmap alone, to an .exr");
            }
        }

        // Vertices of the scene in the order of the triangles.
        std::vector<std::uint32_t> indices;
        std::vector<std::size_t> sources;
        std::vector<glm::vec2> coordinates;
        numbers_.resize(scene.positions.size(), 0);
        users_.resize(scene.positions.size(), 0);
        for (std::size_t t = part.first_triangle; t < end; ++t) {
            auto corners = scene.triangles[t].vertices;
            if (part.mirrored) {
                std::swap(corners[1], corners[2]);
            }
            for (const std::uint32_t vertex : corners) {
                if (std::exchange(users_[vertex], index + 1) != index + 1) {
                    numbers_[vertex] = static_cast<std::uint32_t>(sources.size());
                    sources.push_back(scene.source_vertices[vertex]);
                    coordinates.push_back(on_page(scene, part.page, vertex));
                }
                indices.push_back(numbers_[vertex]);
            }
        }

        Json& attributes = primitive.at("attributes");
        attributes.erase("TEXCOORD_1");
        take_vertices(attributes, sources, part.name);
        if (primitive.contains("targets")) {
            for (Json& target : primitive["targets"]) {
                take_vertices(target, sources, part.name + ", a morph target");
            }
        }
        const std::size_t accessor = add_accessor(
            {{"componentType", static_cast<int>(FLOAT)}, {"type", "VEC2"}},
            add_view(bytes_of(coordinates), sizeof(glm::vec2), ARRAY_BUFFER), coordinates.size());
        attributes["TEXCOORD_1"] = accessor;
        attributes.emplace("TEXCOORD_0", accessor);  // sets of coordinates count from 0
        primitive["indices"] =
            add_accessor({{"componentType", static_cast<int>(UNSIGNED_INT)}, {"type", "SCALAR"}},
                         add_view(bytes_of(indices), 0, ELEMENT_ARRAY_BUFFER), indices.size());
        primitive.erase("mode");  // triangles
    }

    // Replaces accessors by accessors of some of their elements.
    void take_vertices(Json& attributes, const std::vector<std::size_t>& sources,
                       const std::string& place) {
        for (const auto& [name, accessor] : attributes.items()) {
            const auto old = accessor.get<std::size_t>();
            std::string name_and_place = place;
            name_and_place += ": its " + name;
            Elements from = elements_of(file_, static_cast<int>(old), name_and_place);
            from.normalized = false;
            const std::size_t stride = aligned(from.size);
            std::string bytes(stride * sources.size(), '\0');
            for (std::size_t i = 0; i < sources.size(); ++i) {
                if (sources[i] >= from.count) {
                    refuse(file_.path, name_and_place + " has fewer vertices than its POSITION");
                }
                std::memcpy(&bytes[stride * i], from.data + from.stride * sources[i], from.size);
            }
            Json taken = json_["accessors"].at(old);
            taken.erase("byteOffset");
            taken.erase("sparse");
            for (std::size_t c = 0; taken.contains("min") && c < from.components; ++c) {
                double least = component(from, sources[0], c);
                double greatest = least;
                for (const std::size_t source : sources) {
                    least = std::min(least, component(from, source, c));
                    greatest = std::max(greatest, component(from, source, c));
                }
                const bool whole = from.component_type != FLOAT;
                taken["min"][c] = whole ? Json(static_cast<std::int64_t>(least)) : Json(least);
                taken["max"][c] =
                    whole ? Json(static_cast<std::int64_t>(greatest)) : Json(greatest);
            }
            attributes[name] = add_accessor(std::move(taken), add_view(bytes, stride, ARRAY_BUFFER),
                                            sources.size());
        }
    }

    // Returns the scene reader's default material: glTF's is all metal, which no lightmap lights.
    std::size_t default_material() {
        if (!default_material_) {
            const glm::vec3 albedo = Material().albedo;
            default_material_ = json_["materials"].size();
            json_["materials"].push_back(
                {{"pbrMetallicRoughness",
                  {{"baseColorFactor", {albedo.r, albedo.g, albedo.b, 1.0F}},
                   {"metallicFactor", 0.0F}}}});
        }
        return *default_material_;
    }

    // Gives a material its lightmap; null: none. If other parts have the material with another
    // lightmap, it is copied.
    void light(Json& material, const Json& light_map) {
        const auto index = material.get<std::size_t>();
        const auto [lit, is_new] = lit_.try_emplace({index, light_map.dump()}, index);
        if (is_new) {
            if (!is_lit_.insert(index).second) {
                lit->second = json_["materials"].size();
                json_["materials"].push_back(Json(json_["materials"].at(index)));
                lit_[{lit->second, light_map.dump()}] = lit->second;
                is_lit_.insert(lit->second);
            }
            Json& own = json_["materials"].at(lit->second);
            if (!light_map.is_null()) {
                own["extensions"][EXTENSION] = light_map;
            } else {
                drop_extension(own, EXTENSION);
            }
        }
        material = lit->second;
    }

    std::string binary() {
        const std::string& bytes = file_.buffers[0];
        Json buffer = json_.at("buffers").at(0);
        buffer.erase("uri");
        buffer["byteLength"] = bytes.size();
        json_["buffers"] = Json::array({std::move(buffer)});
        std::string json = json_.dump();
        if (aligned(json.size()) + bytes.size() > std::numeric_limits<std::uint32_t>::max() - 28) {
            refuse(file_.path,
                   "with its lightmap it is larger than the 4 GiB that a .glb can have; "
                   "write the lightmap alone, to an .exr");
        }
        return glb_of(std::move(json), bytes);
    }

    GltfFile file_;
    Json& json_ = file_.json;
    bool is_one_ = false;  // whether the file has one buffer
    std::optional<std::size_t> default_material_;
    // Numbers of materials with a lightmap, by material and lightmap.
    std::map<std::pair<std::size_t, std::string>, std::size_t> lit_;
    std::set<std::size_t> is_lit_;
    // By vertex of the scene: its number in a part, and the part, from 1.
    std::vector<std::uint32_t> numbers_;
    std::vector<std::size_t> users_;
};

LitGltf::LitGltf(GltfFile file) : file_(std::make_unique<File>(std::move(file))) {}

LitGltf::~LitGltf() = default;

void LitGltf::set_light_map_coordinates(const Scene& scene) {
    file_->guarded([&] { file_->set_light_map_coordinates(scene); });
}

std::string LitGltf::with_light_map(const Scene& scene, const std::vector<LightMapPage>& pages,
                                    const Extent& extent) {
    std::string bytes;
    file_->guarded([&] { bytes = file_->with_light_map(scene, pages, extent); });
    return bytes;
}

}  // namespace quadtile::baker
