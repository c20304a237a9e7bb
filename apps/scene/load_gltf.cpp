#include "gltf_materials.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

namespace quadtile::baker {

namespace {

constexpr std::size_t MAX_DECLARED_SIDE = 65536;
constexpr double LARGEST_RADIUS = 1e6;  // of a light; world units

class GltfReader {
 public:
    GltfReader(const std::filesystem::path& path, const tinygltf::Model& model,
               std::vector<std::string> warnings)
        : path_(path), model_(model) {
        file_.warnings = std::move(warnings);
    }

    FileScene read(LightMapCoordinates coordinates) {
        coordinates_ = coordinates;
        file_.generator = model_.asset.generator;
        read_light_map_size();
        read_materials(path_, model_, file_);
        read_nodes();
        warn_of_what_is_ignored();
        return std::move(file_);
    }

 private:
    [[noreturn]] void fail(const std::string& why) const { refuse(path_, why); }

    // Returns an item. Fails with the reason `why` if the index is out of range.
    template <typename Item>
    const Item& at(const std::vector<Item>& items, int index, const std::string& why) const {
        return item_at(path_, items, index, why);
    }

    void read_light_map_size() {
        const tinygltf::Value& extras = model_.asset.extras;
        if (!extras.Has("lightmap_size")) {
            return;
        }
        const tinygltf::Value& size = extras.Get("lightmap_size");
        if (size.ArrayLen() == 2 && size.Get(0).IsInt() && size.Get(1).IsInt()) {
            const auto width = static_cast<std::uint32_t>(size.Get(0).GetNumberAsInt());
            const auto height = static_cast<std::uint32_t>(size.Get(1).GetNumberAsInt());
            if (width - 1 < MAX_DECLARED_SIDE && height - 1 < MAX_DECLARED_SIDE) {  // 0 wraps
                file_.scene.light_map_extent = Extent{width, height};
                return;
            }
        }
        file_.warnings.emplace_back(
            "asset.extras.lightmap_size is not [width, height] in texels: ignored");
    }

    float density_of(const tinygltf::Node& node, const std::string& name) {
        if (!node.extras.Has("lightmap_density")) {
            return 1.0F;
        }
        const tinygltf::Value& given = node.extras.Get("lightmap_density");
        const double density = given.IsNumber() ? given.GetNumberAsDouble() : 0.0;
        if (!(density >= LEAST_DENSITY && density <= GREATEST_DENSITY)) {
            file_.warnings.emplace_back(name +
                                        ": its extras.lightmap_density is not a number from "
                                        "0.001 to 1000: ignored");
            return 1.0F;
        }
        return static_cast<float>(density);
    }

    bool is_excluded(const tinygltf::Node& node, const std::string& name) {
        // An integer, because older exporters have no other property for yes and no.
        const tinygltf::Value& given = node.extras.Get("lightmap_exclude");
        if (node.extras.Has("lightmap_exclude") && !given.IsBool() && !given.IsInt()) {
            file_.warnings.emplace_back(
                name + ": its extras.lightmap_exclude is not true or false: ignored");
        }
        return given.IsBool() ? given.Get<bool>() : given.IsInt() && given.GetNumberAsInt() != 0;
    }

    // Accessors

    [[nodiscard]] Elements elements(int index, std::optional<int> type,
                                    const std::string& place) const {
        return elements_of(path_, model_, index, place, type);
    }

    [[nodiscard]] std::vector<std::uint32_t> read_indices(const tinygltf::Primitive& primitive,
                                                          std::size_t vertices,
                                                          const std::string& place) const {
        std::vector<std::uint32_t> indices;
        if (primitive.indices < 0) {
            indices.resize(vertices);
            for (std::size_t i = 0; i < vertices; ++i) {
                indices[i] = static_cast<std::uint32_t>(i);
            }
            return indices;
        }
        const Elements from =
            elements(primitive.indices, TINYGLTF_TYPE_SCALAR, place + ": its indices");
        const bool whole = from.component_type == TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE ||
                           from.component_type == TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT ||
                           from.component_type == TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT;
        if (!whole || from.normalized) {
            fail(place + ": its indices are not unsigned integers");
        }
        indices.reserve(from.count);
        for (std::size_t i = 0; i < from.count; ++i) {
            const double index = component(from, i, 0);
            if (index >= static_cast<double>(vertices)) {
                fail(place + ": index " + std::to_string(i) + " refers to vertex " +
                     std::to_string(static_cast<std::uint32_t>(index)) + ", but it has " +
                     std::to_string(vertices) + " vertices; export the scene again");
            }
            indices.push_back(static_cast<std::uint32_t>(index));
        }
        return indices;
    }

    // Nodes

    void read_nodes() {
        struct Item {
            int node;
            glm::dmat4 parent;
        };
        std::vector<Item> items;  // the next one is the last
        const auto push = [&](const std::vector<int>& nodes, const glm::dmat4& parent) {
            for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
                items.push_back({*node, parent});
            }
        };
        push(roots(), glm::dmat4(1.0));
        std::vector<bool> seen(model_.nodes.size(), false);
        while (!items.empty()) {
            const Item item = items.back();
            items.pop_back();
            const auto index = static_cast<std::size_t>(item.node);
            const tinygltf::Node& node =
                at(model_.nodes, item.node,
                   "node " + std::to_string(item.node) + " is used, but there is none");
            const std::string name = numbered("node", index, node.name);
            if (seen[index]) {
                fail(name + " is used twice; nodes must form a tree");
            }
            seen[index] = true;
            if (is_hidden(node)) {
                ++hidden_;
                continue;
            }
            const glm::dmat4 transform = item.parent * local_transform(path_, node, name);
            part_.node = index;
            part_.object = node.name;
            part_.density = density_of(node, name);
            part_.excluded = is_excluded(node, name);
            read_node(node, name, transform);
            push(node.children, transform);
        }
    }

    static bool is_hidden(const tinygltf::Node& node) {
        const auto found = node.extensions.find("KHR_node_visibility");
        const tinygltf::Value visible =
            found == node.extensions.end() ? tinygltf::Value() : found->second.Get("visible");
        return visible.IsBool() && !visible.Get<bool>();
    }

    [[nodiscard]] std::vector<int> roots() const {
        if (!model_.scenes.empty()) {
            const auto scene = static_cast<std::size_t>(std::max(model_.defaultScene, 0));
            if (scene >= model_.scenes.size()) {
                fail("its default scene, " + std::to_string(scene) +
                     ", does not exist; export the scene again");
            }
            return model_.scenes[scene].nodes;
        }
        std::set<int> children;
        for (const tinygltf::Node& node : model_.nodes) {
            children.insert(node.children.begin(), node.children.end());
        }
        std::vector<int> nodes;
        for (int i = 0; i < static_cast<int>(model_.nodes.size()); ++i) {
            if (!children.contains(i)) {
                nodes.push_back(i);
            }
        }
        return nodes;
    }

    void read_node(const tinygltf::Node& node, const std::string& name,
                   const glm::dmat4& transform) {
        if (node.mesh >= 0) {
            const tinygltf::Mesh& mesh = at(model_.meshes, node.mesh,
                                            name + " has mesh " + std::to_string(node.mesh) +
                                                ", which does not exist; export the scene again");
            skinned_ += node.skin >= 0 ? 1 : 0;
            for (const glm::dmat4& instance : instances(path_, model_, node, name)) {
                ++part_.instance;
                for (std::size_t i = 0; i < mesh.primitives.size(); ++i) {
                    part_.primitive = i;
                    read_primitive(
                        mesh.primitives[i],
                        numbered("mesh", static_cast<std::size_t>(node.mesh), mesh.name) +
                            ", primitive " + std::to_string(i),
                        transform * instance);
                }
            }
        }
        if (node.camera >= 0 && !file_.scene.camera) {
            read_camera(node.camera, transform);
        }
        const auto light = node.extensions.find("KHR_lights_punctual");
        if (light != node.extensions.end() && light->second.Has("light")) {
            read_light(light->second.Get("light").GetNumberAsInt(), name, transform);
        }
    }

    void read_camera(int index, const glm::dmat4& transform) {
        const tinygltf::Camera& from =
            at(model_.cameras, index,
               "camera " + std::to_string(index) + " is used, but there is none");
        const double field = glm::degrees(from.perspective.yfov);
        if (from.type != "perspective" || !(field > 0.0 && field < 180.0)) {
            return;
        }
        Camera camera;
        camera.position = glm::vec3(transform[3]);
        camera.target = glm::vec3(transform[3] - transform[2]);  // cameras look along -Z
        file_.camera = {glm::dvec3(transform[3]), glm::dvec3(transform[3] - transform[2])};
        camera.vertical_field_degrees = static_cast<float>(field);
        file_.scene.camera = camera;
    }

    void read_light(int index, const std::string& place, const glm::dmat4& transform) {
        const tinygltf::Light& light = at(model_.lights, index,
                                          place + " has light " + std::to_string(index) +
                                              ", which does not exist; export the scene again");
        const std::string name =
            numbered("light", static_cast<std::size_t>(index), light.name) + " of " + place;
        const bool is_point = light.type == "point";
        const bool is_spot = light.type == "spot";
        const glm::dvec3 axis = -glm::dvec3(transform[2]);
        const bool has_direction = glm::length(axis) > 0.0;
        if (!is_point && !(has_direction && (is_spot || light.type == "directional"))) {
            ++ignored_lights_;
            return;
        }
        const glm::vec3 direction(has_direction ? glm::normalize(axis) : axis);
        const std::vector<double>& c = light.color;
        const glm::vec3 intensity = (c.size() < 3 ? glm::vec3(1.0F) : glm::vec3(c[0], c[1], c[2])) *
                                    static_cast<float>(light.intensity);
        if (!glm::all(glm::greaterThanEqual(intensity, glm::vec3(0.0F)))) {
            fail(name + " has a negative intensity or colour");
        }
        if (!is_point && !is_spot) {
            file_.scene.suns.push_back(
                {.name = light.name, .direction = direction, .irradiance = intensity});
            return;
        }
        PointLight point{.name = light.name,
                         .position = glm::vec3(transform[3]),
                         .intensity = intensity,
                         .is_spot = is_spot,
                         .direction = direction};
        if (light.range > 0.0) {
            point.range = static_cast<float>(light.range);
        }
        if (light.extras.Has("radius")) {
            point.radius = radius_of(light, name);
        }
        if (is_spot) {
            const double inner = light.spot.innerConeAngle;
            const double outer = light.spot.outerConeAngle;
            // Rounding is tolerated; equal angles, which Blender writes, are a sharp edge.
            if (!(inner >= 0.0 && inner <= outer && outer > 0.0 && outer <= 1.5708)) {
                fail(name + " has cone angles of " + std::to_string(inner) + " and " +
                     std::to_string(outer) +
                     "; the inner one must not exceed the outer one, which is up to pi / 2");
            }
            point.inner_angle = static_cast<float>(inner);
            point.outer_angle = static_cast<float>(outer);
        }
        file_.scene.point_lights.push_back(point);
        file_.light_positions.emplace_back(transform[3]);
    }

    [[nodiscard]] float radius_of(const tinygltf::Light& light, const std::string& name) const {
        const tinygltf::Value& radius = light.extras.Get("radius");
        const double value = radius.IsNumber() ? radius.GetNumberAsDouble() : -1.0;
        if (!(value >= 0.0 && value <= LARGEST_RADIUS)) {
            fail(name + " has an extras.radius that is not a number from 0 to 1e6");
        }
        return static_cast<float>(value);
    }

    // Meshes

    void read_primitive(const tinygltf::Primitive& primitive, const std::string& place,
                        const glm::dmat4& transform) {
        const bool triangles = primitive.mode == TINYGLTF_MODE_TRIANGLES ||
                               primitive.mode == TINYGLTF_MODE_TRIANGLE_STRIP ||
                               primitive.mode == TINYGLTF_MODE_TRIANGLE_FAN;
        if (!triangles) {
            ++ignored_primitives_;
            return;
        }
        morphed_ += primitive.targets.empty() ? 0 : 1;
        const auto position = primitive.attributes.find("POSITION");
        if (position == primitive.attributes.end()) {
            fail(place + " has no positions");
        }
        const Elements positions =
            elements(position->second, TINYGLTF_TYPE_VEC3, place + ": its POSITION");
        const std::size_t first = file_.scene.positions.size();
        if (positions.count > std::numeric_limits<std::uint32_t>::max() - first) {
            fail("it has more than 4294967295 vertices; simplify or split it");
        }
        const bool mirrored = glm::determinant(glm::dmat3(transform)) < 0.0;
        part_.first_triangle = file_.scene.triangles.size();
        part_.name = place;
        part_.first_vertex = static_cast<std::uint32_t>(first);
        part_.mirrored = mirrored;
        file_.scene.parts.push_back(part_);
        read_vertices(primitive, positions, place, transform);

        add_triangles(primitive, read_indices(primitive, positions.count, place),
                      static_cast<std::uint32_t>(first), mirrored, place);
    }

    [[nodiscard]] std::uint32_t material_of(const tinygltf::Primitive& primitive,
                                            const std::string& place) {
        if (primitive.material < 0) {
            if (!default_material_) {
                default_material_ = static_cast<std::uint32_t>(file_.scene.materials.size());
                file_.scene.materials.emplace_back();
            }
            return *default_material_;
        }
        if (static_cast<std::size_t>(primitive.material) >= model_.materials.size()) {
            fail(place + " has the material " + std::to_string(primitive.material) +
                 ", which does not exist; export the scene again");
        }
        return static_cast<std::uint32_t>(primitive.material);
    }

    [[nodiscard]] std::optional<Elements> attribute(const tinygltf::Primitive& primitive,
                                                    const std::string& attribute_name,
                                                    std::optional<int> type, std::size_t count,
                                                    const std::string& place) const {
        const auto found = primitive.attributes.find(attribute_name);
        if (found == primitive.attributes.end()) {
            return std::nullopt;
        }
        const Elements from = elements(found->second, type, place + ": its " + attribute_name);
        if (from.count != count) {
            fail(place + ": its " + attribute_name + " is for " + std::to_string(from.count) +
                 " vertices, but its POSITION for " + std::to_string(count) +
                 "; export the scene again");
        }
        return from;
    }

    void read_vertices(const tinygltf::Primitive& primitive, const Elements& positions,
                       const std::string& place, const glm::dmat4& transform) {
        Scene& scene = file_.scene;
        const std::size_t count = positions.count;
        const auto normals = attribute(primitive, "NORMAL", TINYGLTF_TYPE_VEC3, count, place);
        const auto material = static_cast<std::size_t>(primitive.material);
        bool has_two_sets = false;
        const int set = primitive.material >= 0 && material < model_.materials.size()
                            ? texture_set(model_.materials[material], has_two_sets)
                            : 0;
        two_sets_ += has_two_sets ? 1 : 0;
        const auto textures = attribute(primitive, "TEXCOORD_" + std::to_string(set),
                                        TINYGLTF_TYPE_VEC2, count, place);
        std::optional<Elements> light_map;
        const bool takes_some = coordinates_ == LightMapCoordinates::where_given;
        if (coordinates_ != LightMapCoordinates::ignore) {
            light_map = attribute(primitive, "TEXCOORD_1", TINYGLTF_TYPE_VEC2, count, place);
            if (!takes_some && light_map.has_value() == scene.light_map_coordinates.empty() &&
                !scene.positions.empty()) {
                fail((light_map ? file_.scene.parts.front().name : place) +
                     " has no lightmap coordinates (TEXCOORD_1), but other meshes have; make new "
                     "ones for this mesh with --pack, or for the whole scene with --unwrap");
            }
        }

        read_colours(primitive, count, place);
        // The inverse transpose times the determinant also works for flattening transforms.
        const glm::dmat3 linear(transform);
        const glm::dmat3 cofactors(glm::cross(linear[1], linear[2]),
                                   glm::cross(linear[2], linear[0]),
                                   glm::cross(linear[0], linear[1]));
        const double sign = glm::determinant(linear) < 0.0 ? -1.0 : 1.0;
        const double scale =
            std::max({glm::length(linear[0]), glm::length(linear[1]), glm::length(linear[2])});
        for (std::size_t i = 0; i < count; ++i) {
            const glm::dvec3 own = vector(positions, i);
            file_.grid = std::max(file_.grid, scale * float_grid(own));
            file_.positions.emplace_back(transform * glm::dvec4(own, 1.0));
            scene.positions.emplace_back(file_.positions.back());
            glm::dvec3 normal(0.0);
            if (normals) {
                normal = sign * (cofactors * vector(*normals, i));
                const double length = glm::length(normal);
                normal = length > 0.0 ? normal / length : glm::dvec3(0.0);
            }
            scene.normals.emplace_back(normal);
            scene.texture_coordinates.push_back(textures ? coordinates(*textures, i)
                                                         : glm::vec2(0.0F));
            if (light_map || takes_some) {
                scene.light_map_coordinates.push_back(
                    light_map ? coordinates(*light_map, i)
                              : glm::vec2(std::numeric_limits<float>::quiet_NaN()));
            }
        }
    }

    // Adds the vertices' colours, white before the first primitive that has them.
    void read_colours(const tinygltf::Primitive& primitive, std::size_t count,
                      const std::string& place) {
        std::vector<glm::vec4>& colours = file_.scene.colours;
        const auto from = attribute(primitive, "COLOR_0", std::nullopt, count, place);
        if (!from && colours.empty()) {
            return;
        }
        const std::size_t first = file_.scene.positions.size();
        colours.resize(first + count, glm::vec4(1.0F));
        for (std::size_t i = 0; from && i < count; ++i) {
            for (std::size_t c = 0; c < std::min<std::size_t>(from->components(), 4); ++c) {
                colours[first + i][static_cast<int>(c)] =
                    static_cast<float>(component(*from, i, c));
            }
        }
    }

    static glm::vec2 coordinates(const Elements& from, std::size_t i) {
        return {component(from, i, 0), component(from, i, 1)};
    }

    void add_triangles(const tinygltf::Primitive& primitive,
                       const std::vector<std::uint32_t>& indices, std::uint32_t first,
                       bool mirrored, const std::string& place) {
        const std::uint32_t material = material_of(primitive, place);
        const auto add = [&](std::size_t a, std::size_t b, std::size_t c) {
            if (mirrored) {
                std::swap(b, c);
            }
            file_.scene.triangles.push_back(
                {{first + indices[a], first + indices[b], first + indices[c]}, material});
        };
        if (primitive.mode == TINYGLTF_MODE_TRIANGLES) {
            if (indices.size() % 3 != 0) {
                fail(place + " has " + std::to_string(indices.size()) +
                     " indices, which is no multiple of 3; export the scene again");
            }
            for (std::size_t i = 0; i < indices.size(); i += 3) {
                add(i, i + 1, i + 2);
            }
            return;
        }
        for (std::size_t i = 2; i < indices.size(); ++i) {
            if (primitive.mode == TINYGLTF_MODE_TRIANGLE_FAN) {
                add(0, i - 1, i);
            } else {
                add(i - 2, i % 2 == 0 ? i - 1 : i, i % 2 == 0 ? i : i - 1);
            }
        }
    }

    void warn_of_what_is_ignored() {
        file_.warn(ignored_lights_, "light",
                   " ignored: of a type that is not known, or of a node that is scaled by 0");
        file_.warn(ignored_primitives_, "primitive", " of points or lines ignored");
        if (skinned_ > 0) {
            file_.warnings.push_back(std::to_string(skinned_) +
                                     (skinned_ > 1 ? " meshes" : " mesh") +
                                     " with a skin baked without it");
        }
        file_.warn(morphed_, "primitive", " with morph targets baked without them");
        file_.warn(hidden_, "hidden node",
                   " (KHR_node_visibility) left out, with what belongs to it");
        file_.warn(two_sets_, "primitive",
                   " whose textures use different coordinates: those of the base colour are used");
    }

    const std::filesystem::path& path_;
    const tinygltf::Model& model_;
    FileScene file_;
    LightMapCoordinates coordinates_ = LightMapCoordinates::read;
    std::optional<std::uint32_t> default_material_;
    ScenePart part_;  // the part being read

    std::size_t ignored_lights_ = 0;
    std::size_t ignored_primitives_ = 0;
    std::size_t skinned_ = 0;
    std::size_t morphed_ = 0;
    std::size_t hidden_ = 0;
    std::size_t two_sets_ = 0;
};

}  // namespace

FileScene read_gltf(const std::filesystem::path& path, std::string bytes,
                    LightMapCoordinates coordinates, bool keeps_file) {
    std::vector<std::string> warnings;
    std::vector<std::filesystem::path> files;
    const std::string json(keeps_file ? json_of(bytes) : std::string_view());
    tinygltf::Model model = parse_gltf(path, bytes, warnings, files);
    bytes = std::string();
    FileScene file = GltfReader(path, model, std::move(warnings)).read(coordinates);
    file.files = std::move(files);
    if (keeps_file) {
        file.gltf = std::make_unique<LitGltf>(path, json, std::move(model));
    }
    return file;
}

}  // namespace quadtile::baker
