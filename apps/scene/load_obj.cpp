#include "load_file.hpp"

#include <tiny_obj_loader.h>

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace quadtile::baker {

namespace {

// Returns twice the signed area.
double side(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Cuts a polygon, which may be concave, into triangles; the result are its corners. Ears are cut
// off one after the other (Meisters 1975).
std::vector<std::array<std::uint32_t, 3>> triangulate(const std::vector<glm::dvec3>& corners) {
    const auto count = static_cast<std::uint32_t>(corners.size());
    glm::dvec3 normal(0.0);  // Newell's
    for (std::uint32_t i = 0; i < count; ++i) {
        normal += glm::cross(corners[i], corners[(i + 1) % count]);
    }
    // Seen along the axis closest to the normal, so that it is counter-clockwise.
    const glm::dvec3 size = glm::abs(normal);
    const int axis = size.x > size.y ? (size.x > size.z ? 0 : 2) : (size.y > size.z ? 1 : 2);
    const int u = (axis + 1) % 3;
    const int v = (axis + 2) % 3;
    std::vector<glm::dvec2> flat;
    flat.reserve(count);
    for (const glm::dvec3& corner : corners) {
        flat.push_back(normal[axis] < 0.0 ? glm::dvec2(corner[v], corner[u])
                                          : glm::dvec2(corner[u], corner[v]));
    }

    std::vector<std::uint32_t> left(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        left[i] = i;
    }
    const auto is_ear = [&](std::size_t at) {
        const glm::dvec2 a = flat[left[(at + left.size() - 1) % left.size()]];
        const glm::dvec2 b = flat[left[at]];
        const glm::dvec2 c = flat[left[(at + 1) % left.size()]];
        if (!(side(a, b, c) > 0.0)) {
            return false;
        }
        for (const std::uint32_t i : left) {
            const glm::dvec2 p = flat[i];
            if (p != a && p != b && p != c && side(a, b, p) >= 0.0 && side(b, c, p) >= 0.0 &&
                side(c, a, p) >= 0.0) {
                return false;
            }
        }
        return true;
    };
    std::vector<std::array<std::uint32_t, 3>> triangles;
    while (left.size() > 3) {
        std::size_t ear = 1;  // if there is none, the polygon is damaged and any corner will do
        for (std::size_t i = 1; i <= left.size(); ++i) {
            if (is_ear(i % left.size())) {
                ear = i % left.size();
                break;
            }
        }
        triangles.push_back({left[(ear + left.size() - 1) % left.size()], left[ear],
                             left[(ear + 1) % left.size()]});
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(ear));
    }
    triangles.push_back({left[0], left[1], left[2]});
    return triangles;
}

struct IndexHash {
    std::size_t operator()(const std::array<int, 3>& indices) const {
        std::uint64_t hash = 0;
        for (const int index : indices) {
            hash = (hash ^ static_cast<std::uint32_t>(index)) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 29U;
        }
        return hash;
    }
};

// Calls `take` with each line, without its end. A backslash at the end of a line that is no comment
// continues it. A byte order mark is left out.
template <typename Take>
void for_each_line(std::string_view text, const Take& take) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    std::string continued;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + (text.substr(end, 2) == "\r\n" ? 2 : 1), text.size()));
        if (line.ends_with('\\') && !trimmed(line).starts_with('#')) {
            continued.append(line.substr(0, line.size() - 1)) += ' ';
            continue;
        }
        if (!continued.empty()) {
            continued.append(line);
            take(std::string_view(continued));
            continued.clear();
        } else {
            take(line);
        }
    }
    take(std::string_view(continued));
}

// Returns what follows a keyword at the start of a line, as a name; nothing: it is another line.
std::optional<std::string> named(std::string_view line, std::string_view keyword) {
    line = trimmed(line);
    if (!line.starts_with(keyword) || line.substr(keyword.size()).find_first_of(" \t") != 0) {
        return std::nullopt;
    }
    return std::string(trimmed(line.substr(keyword.size())));
}

// Numbers the materials as they are.
class NumberReader : public tinyobj::MaterialReader {
 public:
    explicit NumberReader(std::size_t count) : count_(count) {}

    bool operator()(const std::string& /*name*/, std::vector<tinyobj::material_t>* /*materials*/,
                    std::map<std::string, int>* numbers, std::string* /*warning*/,
                    std::string* /*error*/) override {
        for (std::size_t i = 0; i < count_; ++i) {
            (*numbers)[std::to_string(i)] = static_cast<int>(i);
        }
        return true;
    }

 private:
    std::size_t count_;
};

class ObjReader {
 public:
    explicit ObjReader(const std::filesystem::path& path) : path_(path) {}

    FileScene read(const std::string& bytes, LightMapCoordinates coordinates) {
        parse(bytes);
        read_materials();
        bool some_without = false;
        bool some_with = false;
        std::string without;
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            const tinyobj::shape_t& shape = shapes_[i];
            const std::string name =
                "object " + std::to_string(i) + (shape.name.empty() ? "" : " '" + shape.name + "'");
            file_.scene.parts.push_back({.first_triangle = file_.scene.triangles.size(),
                                         .name = name,
                                         .object = shape.name,
                                         .instance = i});
            read_shape(shape, name);
            for (const tinyobj::index_t& index : shape.mesh.indices) {
                (index.texcoord_index < 0 ? some_without : some_with) = true;
                if (index.texcoord_index < 0 && without.empty()) {
                    without = name;
                }
            }
        }
        if (coordinates != LightMapCoordinates::ignore && some_with) {
            if (some_without && coordinates == LightMapCoordinates::read) {
                refuse(path_,
                       without +
                           " has faces without lightmap coordinates (vt), but other "
                           "faces have them; make new ones, of this object with --pack, or of all "
                           "of the scene with --unwrap");
            }
            file_.scene.light_map_coordinates = file_.scene.texture_coordinates;
            for (const auto& [key, vertex] : vertices_) {
                if (key[2] < 0) {  // no vt
                    file_.scene.light_map_coordinates[vertex] =
                        glm::vec2(std::numeric_limits<float>::quiet_NaN());
                }
            }
        }
        if (std::ranges::all_of(file_.scene.colours, [](const glm::vec4& colour) {
                return colour == glm::vec4(1.0F);
            })) {
            file_.scene.colours = {};
        }
        return std::move(file_);
    }

 private:
    void parse(const std::string& bytes) {
        // tinyobjloader ends names at spaces, so it gets numbers instead.
        std::string text = "mtllib numbers\n";
        text.reserve(text.size() + bytes.size() + 1);
        for_each_line(bytes, [&](std::string_view line) {
            if (const auto files = named(line, "mtllib")) {
                read_libraries(*files);
                return;
            }
            if (const auto material = named(line, "usemtl")) {
                const auto used = used_.try_emplace(*material, used_.size()).first;
                text += "usemtl " + std::to_string(used->second);
            } else {
                text += line;
            }
            text += '\n';
        });
        std::istringstream stream(std::move(text));
        NumberReader numbers(used_.size());
        std::vector<tinyobj::material_t> none;
        std::string error;
        std::string warning;
        bool good = false;
        try {
            // Not triangulated by the library, which has room for 255 corners of a face and takes
            // concave faces for convex ones.
            good = tinyobj::LoadObj(&attributes_, &shapes_, &none, &warning, &error, &stream,
                                    &numbers, false, true);
        } catch (const std::out_of_range& exception) {
            error = exception.what();
        } catch (const std::invalid_argument& exception) {
            error = exception.what();
        }
        if (!good) {
            refuse(path_, error.empty() ? "it is not an OBJ file" : first_line(error));
        }
        if (!warning.empty()) {
            file_.warnings.push_back(first_line(warning));
        }
        material_numbers_.resize(used_.size(), -1);
        for (const auto& [name, number] : used_) {
            const auto found = numbers_.find(name);
            if (found != numbers_.end()) {
                material_numbers_[number] = found->second;
            } else if (!name.empty() && !materials_.empty()) {
                file_.warnings.push_back("the material '" + name +
                                         "' is in none of the scene's .mtl files: grey");
            }
        }
    }

    // Reads the files that a line names. Names may have spaces: the longest that exist are taken.
    void read_libraries(std::string_view names) {
        std::string missing;
        while (!names.empty()) {
            std::size_t length = names.size();
            while (length > 0 && !read_library(names.substr(0, length))) {
                const std::size_t space = names.substr(0, length).find_last_of(" \t") + 1;
                length = trimmed(names.substr(0, space)).size();
            }
            if (length == 0) {
                length = std::min(names.find_first_of(" \t"), names.size());
                missing += (missing.empty() ? "" : " ") + std::string(names.substr(0, length));
            }
            names = trimmed(names.substr(length));
        }
        if (!missing.empty()) {
            file_.files.push_back(path_.parent_path() / missing);
            file_.warnings.push_back("the materials of '" + file_.files.back().string() +
                                     "' cannot be read: surfaces are grey and emit no light");
        }
    }

    bool read_library(std::string_view name) {
        const std::filesystem::path file = named_file(path_, std::string(name));
        const auto bytes = read_bytes(file);
        if (!bytes) {
            return false;
        }
        if (std::ranges::find(file_.files, file) != file_.files.end()) {
            return true;
        }
        file_.files.push_back(file);
        std::stringstream text;
        for_each_line(*bytes, [&](std::string_view line) { text << trimmed(line) << '\n'; });
        std::map<std::string, int> numbers;
        std::string warning;
        std::string error;
        tinyobj::LoadMtl(&numbers, &materials_, &text, &warning, &error);
        for (const auto& [material, number] : numbers) {
            numbers_.try_emplace(std::string(trimmed(material)), number);
        }
        if (!warning.empty()) {
            file_.warnings.push_back(file.string() + ": " + first_line(warning));
        }
        return true;
    }

    static std::string first_line(const std::string& text) {
        return text.substr(0, text.find('\n'));
    }

    void read_materials() {
        std::size_t opaque = 0;
        for (const tinyobj::material_t& from : materials_) {
            Material material;
            material.name = from.name;
            material.albedo = {from.diffuse[0], from.diffuse[1], from.diffuse[2]};
            material.emission = {from.emission[0], from.emission[1], from.emission[2]};
            material.albedo_texture = texture(from.diffuse_texname);
            material.emission_texture = texture(from.emissive_texname);
            opaque += from.dissolve < 1.0F || !from.alpha_texname.empty() ? 1 : 0;
            file_.scene.materials.push_back(std::move(material));
        }
        file_.warn(opaque, "material", " with d or map_d taken as opaque");
    }

    std::optional<std::uint32_t> texture(const std::string& name) {
        if (name.empty()) {
            return std::nullopt;
        }
        const auto known = textures_.find(name);
        if (known != textures_.end()) {
            return known->second;
        }
        std::optional<std::uint32_t>& index = textures_[name];
        file_.files.push_back(named_file(path_, name));
        const std::string bytes = read_bytes(file_.files.back()).value_or("");
        index =
            file_.add_texture({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()},
                              "the picture '" + name + "'");
        return index;
    }

    void read_shape(const tinyobj::shape_t& shape, const std::string& name) {
        const tinyobj::mesh_t& mesh = shape.mesh;
        std::size_t corners = 0;
        for (const unsigned char count : mesh.num_face_vertices) {
            corners += count;
        }
        if (corners != mesh.indices.size() ||
            mesh.material_ids.size() != mesh.num_face_vertices.size()) {
            refuse(path_, name + " has a face of more than 255 corners; export it as triangles");
        }
        std::size_t first = 0;
        std::vector<std::uint32_t> vertices;
        std::vector<glm::dvec3> positions;
        for (std::size_t face = 0; face < mesh.num_face_vertices.size(); ++face) {
            vertices.clear();
            positions.clear();
            for (std::size_t i = 0; i < mesh.num_face_vertices[face]; ++i) {
                vertices.push_back(vertex(mesh.indices[first + i], name));
                positions.emplace_back(file_.scene.positions[vertices.back()]);
            }
            first += vertices.size();
            if (vertices.size() < 3) {
                continue;
            }
            const std::uint32_t material = material_of(mesh.material_ids[face]);
            for (const std::array<std::uint32_t, 3>& triangle : triangulate(positions)) {
                file_.scene.triangles.push_back(
                    {{vertices[triangle[0]], vertices[triangle[1]], vertices[triangle[2]]},
                     material});
            }
        }
    }

    [[nodiscard]] std::uint32_t material_of(int id) {
        if (id >= 0 && material_numbers_[static_cast<std::size_t>(id)] >= 0) {
            return static_cast<std::uint32_t>(material_numbers_[static_cast<std::size_t>(id)]);
        }
        if (!default_material_) {
            default_material_ = static_cast<std::uint32_t>(file_.scene.materials.size());
            file_.scene.materials.emplace_back();
        }
        return *default_material_;
    }

    std::uint32_t vertex(const tinyobj::index_t& index, const std::string& name) {
        const std::array<int, 3> key{index.vertex_index, index.normal_index, index.texcoord_index};
        const auto [found, is_new] =
            vertices_.try_emplace(key, static_cast<std::uint32_t>(file_.scene.positions.size()));
        if (!is_new) {
            return found->second;
        }
        if (index.vertex_index < 0) {
            refuse(path_, name + " has a face without a vertex");
        }
        Scene& scene = file_.scene;
        scene.positions.push_back(vector(attributes_.vertices, index.vertex_index, name));
        scene.normals.push_back(index.normal_index < 0
                                    ? glm::vec3(0.0F)
                                    : vector(attributes_.normals, index.normal_index, name));
        glm::vec2 coordinates(0.0F);
        if (index.texcoord_index >= 0) {
            const std::size_t at = 2 * static_cast<std::size_t>(index.texcoord_index);
            if (at + 1 >= attributes_.texcoords.size()) {
                refuse(path_, name + " uses a vt that there is not");
            }
            coordinates = {attributes_.texcoords[at], 1.0F - attributes_.texcoords[at + 1]};
        }
        scene.texture_coordinates.push_back(coordinates);
        scene.colours.emplace_back(vector(attributes_.colors, index.vertex_index, name), 1.0F);
        return found->second;
    }

    [[nodiscard]] glm::vec3 vector(const std::vector<tinyobj::real_t>& numbers, int index,
                                   const std::string& name) const {
        const std::size_t at = 3 * static_cast<std::size_t>(index);
        if (at + 2 >= numbers.size()) {
            refuse(path_, name + " uses a v or vn that there is not");
        }
        return {numbers[at], numbers[at + 1], numbers[at + 2]};
    }

    const std::filesystem::path& path_;
    tinyobj::attrib_t attributes_;
    std::vector<tinyobj::shape_t> shapes_;
    std::vector<tinyobj::material_t> materials_;
    std::map<std::string, int> numbers_;       // of materials_, by name
    std::map<std::string, std::size_t> used_;  // names of used materials, numbered
    std::vector<int> material_numbers_;        // of used materials in materials_; -1: none
    FileScene file_;
    std::map<std::string, std::optional<std::uint32_t>> textures_;
    std::unordered_map<std::array<int, 3>, std::uint32_t, IndexHash> vertices_;
    std::optional<std::uint32_t> default_material_;
};

}  // namespace

FileScene read_obj(const std::filesystem::path& path, const std::string& bytes,
                   LightMapCoordinates coordinates) {
    return ObjReader(path).read(bytes, coordinates);
}

}  // namespace quadtile::baker
