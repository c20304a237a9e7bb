#include "load_file.hpp"

#include "platform.hpp"

#include <tiny_obj_loader.h>

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
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

// In place of spaces in names of materials, at which tinyobjloader ends them.
constexpr char NAME_SPACE = '\x1f';

// Returns an .obj or .mtl file as tinyobjloader reads it: without a byte order mark, lines that
// backslashes continue, and the names of material files, which are added to `libraries`.
std::string plain(std::string_view text, std::vector<std::string>& libraries) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    std::string result;
    result.reserve(text.size() + 1);
    std::string line;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
        line += text.substr(0, end);
        text.remove_prefix(std::min(end + (text.substr(end, 2) == "\r\n" ? 2 : 1), text.size()));
        const std::string_view words = trimmed(line);
        if (line.ends_with('\\') && !words.starts_with('#') && !text.empty()) {
            line.back() = ' ';
            continue;
        }
        const std::string_view keyword = words.substr(0, words.find_first_of(" \t"));
        std::string name(trimmed(words.substr(keyword.size())));
        if (keyword == "mtllib") {
            libraries.push_back(std::move(name));
        } else if (keyword == "usemtl" || keyword == "newmtl") {
            std::ranges::replace(name, ' ', NAME_SPACE);
            result.append(keyword).append(" ").append(name) += '\n';
        } else {
            result.append(line) += '\n';
        }
        line.clear();
    }
    return result;
}

std::string with_spaces(std::string name) {
    std::ranges::replace(name, NAME_SPACE, ' ');
    return name;
}

class ObjReader {
 public:
    explicit ObjReader(const std::filesystem::path& path) : path_(path) {}

    FileScene read(const std::string& bytes, LightMapCoordinates coordinates) {
        parse(bytes);
        read_materials();
        vertices_.reserve(attributes_.vertices.size() / 3);
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            const tinyobj::shape_t& shape = shapes_[i];
            const std::string name =
                "object " + std::to_string(i) + (shape.name.empty() ? "" : " '" + shape.name + "'");
            file_.scene.parts.push_back({.first_triangle = file_.scene.triangles.size(),
                                         .name = name,
                                         .object = shape.name,
                                         .instance = i});
            read_shape(shape, name);
        }
        if (coordinates != LightMapCoordinates::ignore && some_with_) {
            if (!without_.empty() && coordinates == LightMapCoordinates::read) {
                refuse(path_,
                       without_ +
                           " has faces without lightmap coordinates (vt), but other "
                           "faces have them; make new ones, of this object with --pack, or of all "
                           "of the scene with --unwrap");
            }
            file_.scene.light_map_coordinates = file_.scene.texture_coordinates;
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
        if (bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE")) {
            refuse(path_, "it is in UTF-16; save it as UTF-8");
        }
        std::vector<std::string> libraries;
        std::string text = plain(bytes, libraries);
        std::string materials;
        for (const std::string& names : libraries) {
            materials += materials_in(names);
        }
        text.insert(0, materials.empty() ? "" : "mtllib all\n");
        std::istringstream stream(std::move(text));
        std::istringstream materials_stream(std::move(materials));
        tinyobj::MaterialStreamReader reader(materials_stream);
        std::string error;
        std::string warning;
        bool good = false;
        try {
            // Not triangulated by the library, which has room for 255 corners of a face and takes
            // concave faces for convex ones.
            good = tinyobj::LoadObj(&attributes_, &shapes_, &materials_, &warning, &error, &stream,
                                    &reader, false, true);
        } catch (const std::logic_error& exception) {
            error = exception.what();
        }
        if (!good) {
            refuse(path_, error.empty() ? "it is not an OBJ file" : first_line(error));
        }
        if (!warning.empty() && file_.warnings.empty()) {
            file_.warnings.push_back(with_spaces(first_line(warning)));
        }
    }

    // Returns the text of the files that a line names. Names may have spaces: the longest that
    // exist are taken.
    std::string materials_in(std::string_view names) {
        std::string text;
        std::string missing;
        while (!names.empty()) {
            std::size_t length = names.size();
            std::optional<std::string> bytes;
            std::filesystem::path file;
            while (!bytes && length > 0) {
                file = named_file(path_, std::string(names.substr(0, length)));
                bytes = read_bytes(file);
                if (!bytes) {  // without the last word
                    const std::size_t space = names.substr(0, length).find_last_of(" \t") + 1;
                    length = trimmed(names.substr(0, space)).size();
                }
            }
            if (bytes) {
                std::vector<std::string> none;
                text += plain(*bytes, none) + '\n';
                file_.files.push_back(file);
            } else {
                length = std::min(names.find_first_of(" \t"), names.size());
                missing.append(missing.empty() ? "" : " ").append(names.substr(0, length));
            }
            names = trimmed(names.substr(length));
        }
        if (!missing.empty()) {
            file_.files.push_back(path_.parent_path() / app::path_of(missing));
            file_.warnings.push_back("the materials of '" + app::text_of(file_.files.back()) +
                                     "' cannot be read: surfaces are grey and emit no light");
        }
        return text;
    }

    static std::string first_line(const std::string& text) {
        return text.substr(0, text.find('\n'));
    }

    void read_materials() {
        std::size_t opaque = 0;
        for (const tinyobj::material_t& from : materials_) {
            Material material;
            material.name = with_spaces(from.name);
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
        index = file_.add_texture(bytes, "the picture '" + name + "'");
        return index;
    }

    void read_shape(const tinyobj::shape_t& shape, const std::string& name) {
        const tinyobj::mesh_t& mesh = shape.mesh;
        const std::vector<unsigned char>& counts = mesh.num_face_vertices;
        if (std::accumulate(counts.begin(), counts.end(), std::size_t{0}) != mesh.indices.size() ||
            mesh.material_ids.size() != counts.size()) {
            refuse(path_, name + " has a face of more than 255 corners; export it as triangles");
        }
        std::size_t first = 0;
        std::vector<std::uint32_t> vertices;
        std::vector<glm::dvec3> positions;
        for (std::size_t face = 0; face < counts.size(); ++face) {
            vertices.clear();
            positions.clear();
            for (std::size_t i = 0; i < counts[face]; ++i) {
                vertices.push_back(vertex(mesh.indices[first + i], name));
                positions.push_back(file_.positions[vertices.back()]);
            }
            first += vertices.size();
            if (vertices.size() < 3) {
                continue;
            }
            const int id = mesh.material_ids[face];
            const std::uint32_t material =
                id >= 0 && static_cast<std::size_t>(id) < materials_.size()
                    ? static_cast<std::uint32_t>(id)
                    : file_.default_material();
            for (const std::array<std::uint32_t, 3>& triangle : triangulate(positions)) {
                file_.scene.triangles.push_back(
                    {{vertices[triangle[0]], vertices[triangle[1]], vertices[triangle[2]]},
                     material});
            }
        }
    }

    std::uint32_t vertex(const tinyobj::index_t& index, const std::string& name) {
        const std::array<int, 3> key{index.vertex_index, index.normal_index, index.texcoord_index};
        const auto [found, is_new] =
            vertices_.try_emplace(key, static_cast<std::uint32_t>(file_.positions.size()));
        if (!is_new) {
            return found->second;
        }
        if (index.vertex_index < 0) {
            refuse(path_, name + " has a face without a vertex");
        }
        Scene& scene = file_.scene;
        file_.positions.emplace_back(numbers<3>(attributes_.vertices, index.vertex_index, name));
        file_.grid = std::max(file_.grid, float_grid(file_.positions.back()));
        scene.normals.push_back(index.normal_index < 0
                                    ? glm::vec3(0.0F)
                                    : numbers<3>(attributes_.normals, index.normal_index, name));
        glm::vec2 coordinates(std::numeric_limits<float>::quiet_NaN());
        if (index.texcoord_index >= 0) {
            coordinates = numbers<2>(attributes_.texcoords, index.texcoord_index, name);
            coordinates.y = 1.0F - coordinates.y;
            some_with_ = true;
        } else if (without_.empty()) {
            without_ = name;
        }
        scene.texture_coordinates.push_back(coordinates);
        scene.colours.emplace_back(numbers<3>(attributes_.colors, index.vertex_index, name), 1.0F);
        return found->second;
    }

    template <int COUNT>
    [[nodiscard]] glm::vec<COUNT, float> numbers(const std::vector<float>& all, int index,
                                                 const std::string& name) const {
        glm::vec<COUNT, float> result;
        const std::size_t first = COUNT * static_cast<std::size_t>(index);
        if (first + COUNT > all.size()) {
            refuse(path_, name + " uses a v, vn or vt that there is not");
        }
        std::copy_n(&all[first], COUNT, &result.x);
        return result;
    }

    const std::filesystem::path& path_;
    tinyobj::attrib_t attributes_;
    std::vector<tinyobj::shape_t> shapes_;
    std::vector<tinyobj::material_t> materials_;
    FileScene file_;
    bool some_with_ = false;  // whether faces have vt
    std::string without_;     // the first object with faces without it
    std::map<std::string, std::optional<std::uint32_t>> textures_;
    std::unordered_map<std::array<int, 3>, std::uint32_t, IndexHash> vertices_;
};

}  // namespace

FileScene read_obj(const std::filesystem::path& path, const std::string& bytes,
                   LightMapCoordinates coordinates) {
    return ObjReader(path).read(bytes, coordinates);
}

}  // namespace quadtile::baker
