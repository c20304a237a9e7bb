#include "parallel.hpp"
#include "parse_gltf.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

namespace quadtile::baker {

namespace {

enum Mode : int { TRIANGLES = 4, TRIANGLE_FAN = 6 };

constexpr std::size_t MAX_DECLARED_SIDE = 65536;
constexpr double LARGEST_RADIUS = 1e6;  // of a light; world units

class GltfReader {
 public:
    explicit GltfReader(const GltfFile& gltf) : gltf_(gltf) {}

    FileScene read(LightMapCoordinates coordinates) {
        coordinates_ = coordinates;
        file_.generator = text_in(gltf_.json["asset"], "generator");
        read_light_map_size();
        read_materials(gltf_, file_);
        read_nodes();
        warn_of_what_is_ignored();
        return std::move(file_);
    }

 private:
    [[noreturn]] void fail(const std::string& why) const { refuse(gltf_.path, why); }

    void read_light_map_size() {
        const Json& size = member(member(gltf_.json["asset"], "extras"), "lightmap_size");
        if (size.is_null()) {
            return;
        }
        if (size.is_array() && size.size() == 2 && size[0].is_number_integer() &&
            size[1].is_number_integer()) {
            const auto width = size[0].get<std::uint32_t>();
            const auto height = size[1].get<std::uint32_t>();
            if (width - 1 < MAX_DECLARED_SIDE && height - 1 < MAX_DECLARED_SIDE) {  // 0 wraps
                file_.scene.light_map_extent = Extent{width, height};
                return;
            }
        }
        file_.warnings.emplace_back(
            "asset.extras.lightmap_size is not [width, height] in texels: ignored");
    }

    float density_of(const Json& node, const std::string& name) {
        const Json& given = member(member(node, "extras"), "lightmap_density");
        const double density = given.is_null()     ? 1.0
                               : given.is_number() ? given.get<double>()
                                                   : 0.0;
        if (!(density >= LEAST_DENSITY && density <= GREATEST_DENSITY)) {
            file_.warnings.emplace_back(name +
                                        ": its extras.lightmap_density is not a number from "
                                        "0.001 to 1000: ignored");
            return 1.0F;
        }
        return static_cast<float>(density);
    }

    bool is_excluded(const Json& node, const std::string& name) {
        // An integer, because older exporters have no other property for yes and no.
        const Json& given = member(member(node, "extras"), "lightmap_exclude");
        if (!given.is_null() && !given.is_boolean() && !given.is_number_integer()) {
            file_.warnings.emplace_back(
                name + ": its extras.lightmap_exclude is not true or false: ignored");
        }
        return given == true || (given.is_number_integer() && given != 0);
    }

    // Accessors

    [[nodiscard]] std::vector<std::uint32_t> read_indices(const Json& primitive,
                                                          std::size_t vertices,
                                                          const std::string& place) const {
        std::vector<std::uint32_t> indices;
        if (!primitive.contains("indices")) {
            indices.resize(vertices);
            std::iota(indices.begin(), indices.end(), 0U);
            return indices;
        }
        const Elements from =
            elements_of(gltf_, index_in(primitive, "indices"), place + ": its indices", "SCALAR");
        const bool whole = from.component_type == UNSIGNED_BYTE ||
                           from.component_type == UNSIGNED_SHORT ||
                           from.component_type == UNSIGNED_INT;
        if (!whole || from.normalized) {
            fail(place + ": its indices are not unsigned integers");
        }
        indices.resize(from.count);
        std::atomic<bool> are_in_range = true;
        const auto read = [&](std::size_t i) {
            const double index = component(from, i, 0);
            if (index < static_cast<double>(vertices)) {
                indices[i] = static_cast<std::uint32_t>(index);
            } else {
                are_in_range = false;
            }
        };
        parallel_for(from.count, 0, read, SHORT_CALLS);
        for (std::size_t i = 0; !are_in_range; ++i) {
            const double index = component(from, i, 0);
            if (index >= static_cast<double>(vertices)) {
                fail(place + ": index " + std::to_string(i) + " refers to vertex " +
                     std::to_string(static_cast<std::uint32_t>(index)) + ", but it has " +
                     std::to_string(vertices) + " vertices; export the scene again");
            }
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
        std::vector<bool> seen(gltf_.list("nodes").size(), false);
        while (!items.empty()) {
            const Item item = items.back();
            items.pop_back();
            const auto index = static_cast<std::size_t>(item.node);
            const Json& node = gltf_.item("nodes", item.node, "the tree of nodes");
            part_.object = text_in(node, "name");
            const std::string name = numbered("node", index, part_.object);
            if (seen[index]) {
                fail(name + " is used twice; nodes must form a tree");
            }
            seen[index] = true;
            if (member(extension(node, "KHR_node_visibility"), "visible") == false) {
                ++hidden_;
                continue;
            }
            const glm::dmat4 transform = item.parent * local_transform(gltf_, node, name);
            part_.node = index;
            part_.density = density_of(node, name);
            part_.excluded = is_excluded(node, name);
            read_node(node, name, transform);
            push(value_of(node, "children", std::vector<int>()), transform);
        }
    }

    [[nodiscard]] std::vector<int> roots() const {
        const std::vector<int> none;
        if (!gltf_.list("scenes").empty()) {
            const int scene = value_of(gltf_.json, "scene", 0);
            return value_of(gltf_.item("scenes", scene, "its default scene"), "nodes", none);
        }
        const Json& all = gltf_.list("nodes");
        std::vector<int> nodes(all.size());
        std::iota(nodes.begin(), nodes.end(), 0);
        std::set<int> children;
        for (const Json& node : all) {
            const std::vector<int> own = value_of(node, "children", none);
            children.insert(own.begin(), own.end());
        }
        std::erase_if(nodes, [&](int node) { return children.contains(node); });
        return nodes;
    }

    void read_node(const Json& node, const std::string& name, const glm::dmat4& transform) {
        if (node.contains("mesh")) {
            const int index = index_in(node, "mesh");
            const Json& mesh = gltf_.item("meshes", index, name);
            part_.mesh = static_cast<std::size_t>(index);
            const std::string mesh_name = numbered("mesh", *part_.mesh, text_in(mesh, "name"));
            skinned_ += node.contains("skin") ? 1 : 0;
            for (const glm::dmat4& instance : instances(gltf_, node, name)) {
                ++part_.instance;
                part_.primitive = 0;
                for (const Json& primitive : mesh.at("primitives")) {
                    read_primitive(primitive,
                                   mesh_name + ", primitive " + std::to_string(part_.primitive),
                                   transform * instance);
                    ++part_.primitive;
                }
            }
        }
        if (node.contains("camera") && !file_.scene.camera) {
            read_camera(gltf_.item("cameras", index_in(node, "camera"), name), transform);
        }
        const Json& light = extension(node, "KHR_lights_punctual");
        if (light.contains("light")) {
            read_light(index_in(light, "light"), name, transform);
        }
    }

    void read_camera(const Json& from, const glm::dmat4& transform) {
        const double field = glm::degrees(value_of(member(from, "perspective"), "yfov", 0.0));
        if (text_in(from, "type") != "perspective" || !(field > 0.0 && field < 180.0)) {
            return;
        }
        // Cameras look along -Z.
        file_.camera = {glm::dvec3(transform[3]), glm::dvec3(transform[3] - transform[2])};
        file_.scene.camera = Camera{.vertical_field_degrees = static_cast<float>(field)};
    }

    void read_light(int index, const std::string& place, const glm::dmat4& transform) {
        const Json& light = gltf_.item("lights", index, place);
        const std::string name =
            numbered("light", static_cast<std::size_t>(index), text_in(light, "name")) + " of " +
            place;
        const std::string light_name = value_of(light, "name", part_.object);
        const std::string type = text_in(light, "type");
        const bool is_point = type == "point";
        const bool is_spot = type == "spot";
        const glm::dvec3 axis = -glm::dvec3(transform[2]);
        const bool has_direction = glm::length(axis) > 0.0;
        if (!is_point && !(has_direction && (is_spot || type == "directional"))) {
            ++ignored_lights_;
            return;
        }
        const glm::vec3 direction(has_direction ? glm::normalize(axis) : axis);
        const std::vector<double> c = numbers_in(light, "color");
        const glm::vec3 intensity = (c.size() < 3 ? glm::vec3(1.0F) : glm::vec3(c[0], c[1], c[2])) *
                                    value_of(light, "intensity", 1.0F);
        if (!glm::all(glm::greaterThanEqual(intensity, glm::vec3(0.0F)))) {
            fail(name + " has a negative intensity or colour");
        }
        if (!is_point && !is_spot) {
            file_.scene.suns.push_back(
                {.name = light_name, .direction = direction, .irradiance = intensity});
            return;
        }
        PointLight point{
            .name = light_name, .intensity = intensity, .is_spot = is_spot, .direction = direction};
        const auto range = value_of(light, "range", 0.0F);
        if (range > 0.0F) {
            point.range = range;
        }
        const Json& radius = member(member(light, "extras"), "radius");
        if (!radius.is_null()) {
            const double value = radius.is_number() ? radius.get<double>() : -1.0;
            if (!(value >= 0.0 && value <= LARGEST_RADIUS)) {
                fail(name + " has an extras.radius that is not a number from 0 to 1e6");
            }
            point.radius = static_cast<float>(value);
        }
        if (is_spot) {
            const Json& cone = member(light, "spot");
            const double inner = value_of(cone, "innerConeAngle", 0.0);
            const double outer = value_of(cone, "outerConeAngle", 0.25 * std::numbers::pi);
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

    // Meshes

    void read_primitive(const Json& primitive, const std::string& place,
                        const glm::dmat4& transform) {
        if (mode_of(primitive) < TRIANGLES || mode_of(primitive) > TRIANGLE_FAN) {
            ++ignored_primitives_;
            return;
        }
        morphed_ += member(primitive, "targets").empty() ? 0 : 1;
        const Json& attributes = member(primitive, "attributes");
        if (!attributes.contains("POSITION")) {
            fail(place + " has no positions");
        }
        const Elements positions =
            elements_of(gltf_, index_in(attributes, "POSITION"), place + ": its POSITION", "VEC3");
        part_.first_triangle = file_.scene.triangles.size();
        part_.name = place;
        part_.transform = glm::dmat3(transform);
        part_.mirrored = glm::determinant(part_.transform) < 0.0;
        file_.scene.parts.push_back(part_);
        int set = 0;
        const std::uint32_t material = material_of(primitive, place, set);
        std::vector<std::uint32_t> indices = read_indices(primitive, positions.count, place);
        const std::vector<std::uint32_t> used = used_vertices(indices);
        const std::size_t first = file_.positions.size();
        if (used.size() > std::numeric_limits<std::uint32_t>::max() - first) {
            fail("it has more than 4294967295 vertices; simplify or split it");
        }
        read_vertices(primitive, positions, used, set, place, transform);
        add_triangles(mode_of(primitive), indices, static_cast<std::uint32_t>(first), material,
                      place);
    }

    // Returns the vertices that indices refer to, and makes them refer to these: primitives may
    // share an accessor, of which each uses a part.
    std::vector<std::uint32_t> used_vertices(std::vector<std::uint32_t>& indices) {
        if (indices.empty()) {
            return {};
        }
        const auto [first, last] = std::ranges::minmax(indices);
        numbers_.resize(std::max(numbers_.size(), std::size_t{last} + 1));
        for (const std::uint32_t index : indices) {
            numbers_[index] = 1;
        }
        std::vector<std::uint32_t> used;
        used.reserve(indices.size());
        for (std::uint32_t i = first; i <= last; ++i) {
            if (numbers_[i] != 0) {
                numbers_[i] = static_cast<std::uint32_t>(used.size());
                used.push_back(i);
            }
        }
        for (std::uint32_t& index : indices) {
            index = numbers_[index];
        }
        for (const std::uint32_t vertex : used) {
            numbers_[vertex] = 0;
        }
        return used;
    }

    static int mode_of(const Json& primitive) { return value_of(primitive, "mode", TRIANGLES); }

    // Returns the number of the material; `set`: that of its texture coordinates.
    std::uint32_t material_of(const Json& primitive, const std::string& place, int& set) {
        if (!primitive.contains("material")) {
            return file_.default_material();
        }
        const int material = index_in(primitive, "material");
        bool has_two_sets = false;
        set = texture_set(gltf_.item("materials", material, place), has_two_sets);
        two_sets_ += has_two_sets ? 1 : 0;
        return static_cast<std::uint32_t>(material);
    }

    [[nodiscard]] std::optional<Elements> attribute(const Json& primitive,
                                                    const std::string& attribute_name,
                                                    std::string_view type, std::size_t count,
                                                    const std::string& place) const {
        const Json& attributes = primitive["attributes"];
        if (!attributes.contains(attribute_name)) {
            return std::nullopt;
        }
        const Elements from = elements_of(gltf_, index_in(attributes, attribute_name.c_str()),
                                          place + ": its " + attribute_name, type);
        if (from.count != count) {
            fail(place + ": its " + attribute_name + " is for " + std::to_string(from.count) +
                 " vertices, but its POSITION for " + std::to_string(count) +
                 "; export the scene again");
        }
        return from;
    }

    void read_vertices(const Json& primitive, const Elements& positions,
                       const std::vector<std::uint32_t>& used, int set, const std::string& place,
                       const glm::dmat4& transform) {
        Scene& scene = file_.scene;
        const std::size_t count = positions.count;
        const auto normals = attribute(primitive, "NORMAL", "VEC3", count, place);
        const auto textures =
            attribute(primitive, "TEXCOORD_" + std::to_string(set), "VEC2", count, place);
        std::optional<Elements> light_map;
        const bool takes_some = coordinates_ == LightMapCoordinates::where_given;
        if (coordinates_ != LightMapCoordinates::ignore) {
            light_map = attribute(primitive, "TEXCOORD_1", "VEC2", count, place);
            if (!takes_some && light_map.has_value() == scene.light_map_coordinates.empty() &&
                !file_.positions.empty()) {
                fail((light_map ? file_.scene.parts.front().name : place) +
                     " has no lightmap coordinates (TEXCOORD_1), but other meshes have; make new "
                     "ones for this mesh with --pack, or for the whole scene with --unwrap");
            }
        }

        read_colours(primitive, count, used, place);
        // The inverse transpose times the determinant also works for flattening transforms.
        const glm::dmat3 linear(transform);
        const glm::dmat3 cofactors(glm::cross(linear[1], linear[2]),
                                   glm::cross(linear[2], linear[0]),
                                   glm::cross(linear[0], linear[1]));
        const double sign = glm::determinant(linear) < 0.0 ? -1.0 : 1.0;
        const double scale =
            std::max({glm::length(linear[0]), glm::length(linear[1]), glm::length(linear[2])});
        const std::size_t first = file_.positions.size();
        const std::size_t end = first + used.size();
        const bool has_light_map = light_map || takes_some;
        // Primitives often share all vertices of one accessor. Room takes no memory until it is
        // used.
        const auto make_room = [&](auto&... vectors) {
            const std::size_t room = first + std::max(first, count);
            ((vectors.capacity() < end ? vectors.reserve(room) : void()), ...);
        };
        make_room(file_.positions, scene.normals, scene.texture_coordinates, scene.source_vertices);
        if (has_light_map) {
            make_room(scene.light_map_coordinates);
        }
        scene.source_vertices.insert(scene.source_vertices.end(), used.begin(), used.end());
        resize_all(end, file_.positions, scene.normals, scene.texture_coordinates);
        scene.light_map_coordinates.resize(has_light_map ? end : 0);
        std::vector<double> grids(used.size() / SHORT_CALLS + 1);
        const auto read = [&](std::size_t i) {
            const std::uint32_t vertex = used[i];
            const glm::dvec3 own = vector(positions, vertex);
            if (const double grid = scale * float_grid(own); grid > grids[i / SHORT_CALLS]) {
                grids[i / SHORT_CALLS] = grid;
            }
            file_.positions[first + i] = transform * glm::dvec4(own, 1.0);
            glm::dvec3 normal(0.0);
            if (normals) {
                normal = sign * (cofactors * vector(*normals, vertex));
                const double length = glm::length(normal);
                normal = length > 0.0 ? normal / length : glm::dvec3(0.0);
            }
            scene.normals[first + i] = normal;
            scene.texture_coordinates[first + i] =
                textures ? coordinates(*textures, vertex) : glm::vec2(0.0F);
            if (has_light_map) {
                scene.light_map_coordinates[first + i] =
                    light_map ? coordinates(*light_map, vertex)
                              : glm::vec2(std::numeric_limits<float>::quiet_NaN());
            }
        };
        parallel_for(used.size(), 0, read, SHORT_CALLS);
        file_.grid = std::max(file_.grid, std::ranges::max(grids));
    }

    // Adds the vertices' colours, white before the first primitive that has them.
    void read_colours(const Json& primitive, std::size_t count,
                      const std::vector<std::uint32_t>& used, const std::string& place) {
        std::vector<glm::vec4>& colours = file_.scene.colours;
        const auto from = attribute(primitive, "COLOR_0", {}, count, place);
        if (!from && colours.empty()) {
            return;
        }
        const std::size_t first = file_.positions.size();
        colours.resize(first + used.size(), glm::vec4(1.0F));
        for (std::size_t i = 0; from && i < used.size(); ++i) {
            for (std::size_t c = 0; c < std::min<std::size_t>(from->components, 4); ++c) {
                colours[first + i][static_cast<int>(c)] =
                    static_cast<float>(component(*from, used[i], c));
            }
        }
    }

    static glm::vec2 coordinates(const Elements& from, std::size_t i) {
        return {component(from, i, 0), component(from, i, 1)};
    }

    void add_triangles(int mode, const std::vector<std::uint32_t>& indices, std::uint32_t first,
                       std::uint32_t material, const std::string& place) {
        const auto add = [&](std::size_t a, std::size_t b, std::size_t c) {
            if (part_.mirrored) {
                std::swap(b, c);
            }
            file_.scene.triangles.push_back(
                {{first + indices[a], first + indices[b], first + indices[c]}, material});
        };
        if (mode == TRIANGLES) {
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
            if (mode == TRIANGLE_FAN) {
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
        file_.warn(skinned_, "node", " with a skin baked without it");
        file_.warn(morphed_, "primitive", " with morph targets baked without them");
        file_.warn(hidden_, "hidden node",
                   " (KHR_node_visibility) left out, with what belongs to it");
        file_.warn(two_sets_, "primitive",
                   " whose textures use different coordinates: those of the base colour are used");
    }

    const GltfFile& gltf_;
    FileScene file_;
    LightMapCoordinates coordinates_ = LightMapCoordinates::read;
    ScenePart part_;                      // the part being read
    std::vector<std::uint32_t> numbers_;  // by vertex of an accessor: 0, or its number while used

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
    try {
        GltfFile gltf = parse_gltf(path, std::move(bytes));
        FileScene file = GltfReader(gltf).read(coordinates);
        file.files = std::move(gltf.files);
        if (keeps_file) {
            file.gltf = std::make_unique<LitGltf>(std::move(gltf));
        }
        return file;
    } catch (const Json::exception& exception) {
        refuse(path, "it is not a complete glTF 2.0 file: " + reason_of(exception));
    }
}

}  // namespace quadtile::baker
