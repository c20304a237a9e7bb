#include "load_file.hpp"
#include "parallel.hpp"
#include "platform.hpp"
#include "textures.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <vector>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t UNUSED = std::numeric_limits<std::uint32_t>::max();

// Distance of a scene's middle from 0 beyond which it is moved there, in its diagonals; and the
// coarsest grid of its file's numbers.
constexpr double FARTHEST_MIDDLE = 64.0;
constexpr double COARSEST_GRID = 1e-5;

// Largest distance from the lightmap of coordinates that are moved back, for rounding.
constexpr float COORDINATE_TOLERANCE = 1e-4F;

template <typename Vector>
bool finite(const Vector& v) {
    return v - v == Vector(0.0F);  // NaN for others
}

bool within_map(const glm::vec2& at) {
    return std::min(at.x, at.y) >= -COORDINATE_TOLERANCE &&
           std::max(at.x, at.y) <= 1.0F + COORDINATE_TOLERANCE;
}

bool usable_normal(const glm::vec3& normal) {
    return finite(normal) && std::isnormal(glm::dot(normal, normal));
}

// Returns twice the triangle's area, along its normal.
glm::dvec3 area_vector(const Scene& scene, const Triangle& triangle) {
    const auto [a, b, c] = scene.corners(triangle);
    return glm::cross(b - a, c - a);
}

enum class Verdict : std::uint8_t {
    good,
    not_finite,
    without_area,
    coordinates_not_finite,
    too_large
};

Verdict judge(const Scene& scene, const Triangle& triangle) {
    for (const std::uint32_t vertex : triangle.vertices) {
        if (!finite(scene.positions[vertex])) {
            return Verdict::not_finite;
        }
    }
    // In 32-bit floats like later computations: neither zero nor infinite.
    const glm::vec3 area(area_vector(scene, triangle));
    const float length_squared = glm::dot(area, area);
    if (!std::isfinite(length_squared)) {
        return Verdict::too_large;
    }
    if (!std::isnormal(length_squared)) {
        return Verdict::without_area;
    }
    if (!scene.light_map_coordinates.empty()) {
        for (const std::uint32_t vertex : triangle.vertices) {
            if (!finite(scene.light_map_coordinates[vertex])) {
                return Verdict::coordinates_not_finite;
            }
        }
    }
    return Verdict::good;
}

// Checks a file's scene, and makes the scene that load_scene promises.
class Finisher {
 public:
    Finisher(const std::filesystem::path& path, FileScene file, LightMapCoordinates coordinates)
        : path_(path),
          file_(std::move(file)),
          takes_all_coordinates_(coordinates != LightMapCoordinates::read),
          copies_(file_.positions.size(), UNUSED) {}

    LoadedScene finish() {
        move_to_origin();
        take_triangles();
        Scene& scene = file_.scene;
        scene.positions = std::move(taken_.positions);
        scene.normals = std::move(taken_.normals);
        scene.light_map_coordinates = std::move(taken_.light_map_coordinates);
        scene.texture_coordinates = {};
        if (!scene.textures.empty()) {
            scene.texture_coordinates = std::move(taken_.texture_coordinates);
        }
        scene.colours = std::move(taken_.colours);
        scene.source_vertices = std::move(taken_.source_vertices);
        scene.triangles = std::move(taken_.triangles);
        scene.parts = std::move(taken_.parts);
        for (glm::vec4& colour : scene.colours) {
            // NaN becomes 0.
            colour = glm::min(glm::max(glm::vec4(0.0F), colour), glm::vec4(1.0F));
        }
        check_materials();
        return std::move(file_);
    }

 private:
    // Subtracts one rounded origin from a scene that is far from 0 beside its size, before floats
    // round it.
    void move_to_origin() {
        Scene& scene = file_.scene;
        Box<glm::dvec3> box;
        for (const glm::dvec3& position : file_.positions) {
            if (float_grid(position) > 0.0) {
                box.include(position);
            }
        }
        const double size = glm::length(box.size());
        if (size > 0.0 && std::isfinite(size)) {
            if (file_.grid > COARSEST_GRID * size) {
                file_.warnings.push_back(
                    "the file's own numbers are too coarse: they place vertices to " +
                    app::text_of(static_cast<float>(file_.grid)) +
                    " units; move the objects to the origin of their nodes, and give the nodes "
                    "the translation");
            }
            const glm::dvec3 middle = 0.5 * (box.low + box.high);
            if (float_grid(middle) * 0x1p24 > FARTHEST_MIDDLE * size) {
                const double step = std::exp2(std::floor(std::log2(size)));
                scene.origin = glm::round(middle / step) * step;
            }
        }
        const auto moved = [&](const glm::dvec3& place) { return glm::vec3(place - scene.origin); };
        scene.positions.resize(file_.positions.size());
        parallel_for(
            scene.positions.size(), 0,
            [&](std::size_t i) { scene.positions[i] = moved(file_.positions[i]); }, SHORT_CALLS);
        for (std::size_t i = 0; i < file_.light_positions.size(); ++i) {
            scene.point_lights[i].position = moved(file_.light_positions[i]);
        }
        if (scene.camera) {
            scene.camera->position = moved(file_.camera[0]);
            scene.camera->target = moved(file_.camera[1]);
        }
        file_.positions = {};
    }

    void take_triangles() {
        std::array<std::size_t, 4> counts{};  // by Verdict
        const Scene& from = file_.scene;
        std::vector<Verdict> verdicts(from.triangles.size());
        parallel_for(
            verdicts.size(), 0,
            [&](std::size_t i) { verdicts[i] = judge(from, from.triangles[i]); }, SHORT_CALLS);
        taken_.triangles.reserve(from.triangles.size());
        corners_.reserve(from.positions.size());
        std::size_t next_part = 0;
        for (std::size_t i = 0; i < from.triangles.size(); ++i) {
            const Verdict verdict = verdicts[i];
            if (verdict == Verdict::too_large) {
                refuse(path_, from.place_of(i) +
                                  " is too large for 32-bit floats; move its vertices to the rest "
                                  "of the scene, or leave it out");
            }
            ++counts[static_cast<std::size_t>(verdict)];
            while (next_part < from.parts.size() && from.parts[next_part].first_triangle <= i) {
                taken_.parts.push_back(from.parts[next_part++]);
                taken_.parts.back().first_triangle = taken_.triangles.size();
            }
            if (verdict != Verdict::good &&
                !(takes_all_coordinates_ && verdict == Verdict::coordinates_not_finite)) {
                continue;
            }
            if (!from.light_map_coordinates.empty() && !takes_all_coordinates_) {
                check_coordinates(i);
            }
            Triangle taken = from.triangles[i];
            for (std::uint32_t& vertex : taken.vertices) {
                vertex = take_vertex(vertex, static_cast<std::uint32_t>(i));
            }
            taken_.triangles.push_back(taken);
        }
        copy_vertices();
        file_.warn(counts[1], "triangle", " with vertices that are not finite left out");
        file_.warn(counts[2], "triangle", " without area left out");
        file_.warn(takes_all_coordinates_ ? 0 : counts[3], "triangle",
                   " with lightmap coordinates that are not finite left out");
        file_.warn(flat_corners_, "corner",
                   " of triangles without a normal: the normal of the triangle's plane is used");
        if (taken_.triangles.empty()) {
            refuse(path_, from.triangles.empty()
                              ? "it has no triangles"
                              : "none of its " + counted(from.triangles.size(), "triangle") +
                                    " is finite and has an area");
        }
    }

    // Returns the number of a vertex of the file, which it gets once unless corners need their own
    // triangle's normal.
    std::uint32_t take_vertex(std::uint32_t vertex, std::uint32_t triangle) {
        const bool flat = !usable_normal(file_.scene.normals[vertex]);
        if (!flat && copies_[vertex] != UNUSED) {
            return copies_[vertex];
        }
        const auto copy = static_cast<std::uint32_t>(corners_.size());
        if (copy == UNUSED) {
            refuse(path_, "it has more than 4294967295 vertices; simplify or split it");
        }
        copies_[vertex] = copy;
        flat_corners_ += flat ? 1 : 0;
        corners_.push_back({vertex, flat ? triangle : UNUSED});
        return copy;
    }

    void copy_vertices() {
        const Scene& from = file_.scene;
        Scene& to = taken_;
        resize_all(corners_.size(), to.positions, to.normals, to.texture_coordinates,
                   to.source_vertices);
        to.colours.resize(from.colours.empty() ? 0 : corners_.size());
        to.light_map_coordinates.resize(from.light_map_coordinates.empty() ? 0 : corners_.size());
        const auto copy = [&](std::size_t i) {
            const auto [vertex, triangle] = corners_[i];
            to.positions[i] = from.positions[vertex];
            to.source_vertices[i] =
                from.source_vertices.empty() ? vertex : from.source_vertices[vertex];
            to.normals[i] =
                triangle != UNUSED
                    ? glm::vec3(glm::normalize(area_vector(from, from.triangles[triangle])))
                    : glm::normalize(from.normals[vertex]);
            const glm::vec2 texture_coordinates = from.texture_coordinates[vertex];
            to.texture_coordinates[i] =
                finite(texture_coordinates) ? texture_coordinates : glm::vec2(0.0F);
            if (!from.colours.empty()) {
                to.colours[i] = from.colours[vertex];
            }
            if (!from.light_map_coordinates.empty()) {
                const glm::vec2 coordinates = from.light_map_coordinates[vertex];
                to.light_map_coordinates[i] =
                    within_map(coordinates)
                        ? glm::clamp(coordinates, glm::vec2(0.0F), glm::vec2(1.0F))
                        : coordinates;
            }
        };
        parallel_for(corners_.size(), 0, copy, SHORT_CALLS);
    }

    void check_coordinates(std::size_t index) const {
        const Triangle& triangle = file_.scene.triangles[index];
        for (const std::uint32_t vertex : triangle.vertices) {
            const glm::vec2 at = file_.scene.light_map_coordinates[vertex];
            if (!within_map(at)) {
                refuse(path_, file_.scene.name_of(index) +
                                  " has lightmap coordinates outside 0..1: (" +
                                  std::to_string(at.x) + ", " + std::to_string(at.y) +
                                  "); make new ones, of this object with --pack, or of "
                                  "all of the scene with --unwrap");
            }
        }
    }

    void check_materials() {
        std::size_t clamped = 0;
        std::size_t dark = 0;
        for (Material& material : file_.scene.materials) {
            const glm::vec3 albedo = material.albedo;
            const glm::vec3 emission = material.emission;
            for (int i = 0; i < 3; ++i) {
                // std::clamp would keep NaN.
                material.albedo[i] = albedo[i] > 0.0F ? std::min(albedo[i], 1.0F) : 0.0F;
                const bool emits = std::isfinite(emission[i]) && emission[i] > 0.0F;
                material.emission[i] = emits ? emission[i] : 0.0F;
            }
            clamped += material.albedo != albedo ? 1 : 0;
            dark += material.emission != emission ? 1 : 0;
        }
        file_.warn(clamped, "material", " with albedo outside 0..1: clamped");
        file_.warn(dark, "material", " with emission that is negative or not finite: taken as 0");
    }

    const std::filesystem::path& path_;
    FileScene file_;
    bool takes_all_coordinates_;  // with those that are not numbers
    Scene taken_;
    std::vector<std::uint32_t> copies_;  // by vertex of the file
    struct Corner {
        std::uint32_t vertex;    // of the file
        std::uint32_t triangle;  // whose normal it has; UNUSED: it has its own
    };
    std::vector<Corner> corners_;  // by vertex
    std::size_t flat_corners_ = 0;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
    constexpr const char* SPACE = " \t\r\n\v\f";
    const std::size_t first = std::min(text.find_first_not_of(SPACE), text.size());
    return text.substr(first, text.find_last_not_of(SPACE) + 1 - first);
}

std::string percent_decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
            result += static_cast<char>(byte);
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::filesystem::path named_file(const std::filesystem::path& scene, const std::string& name) {
    const std::filesystem::path folder = scene.parent_path();
    std::error_code error;
    if (std::filesystem::exists(folder / app::path_of(name), error)) {
        return folder / app::path_of(name);
    }
    std::string decoded = percent_decoded(name);
    std::ranges::replace(decoded, '\\', '/');  // as browsers do
    return folder / app::path_of(decoded);
}

std::optional<std::string> read_bytes(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::status(path, error).type();
    if (type == std::filesystem::file_type::directory ||
        type == std::filesystem::file_type::character) {
        return std::nullopt;  // it opens, but never ends
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return std::nullopt;
    }
    std::string bytes;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    bytes.reserve(error ? 0 : size);
    std::vector<char> part(1U << 20U);
    while (stream) {
        stream.read(part.data(), static_cast<std::streamsize>(part.size()));
        bytes.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad()) {
        return std::nullopt;
    }
    return bytes;
}

void refuse(const std::filesystem::path& path, const std::string& why) {
    throw std::runtime_error("cannot load the scene '" + app::text_of(path) + "': " + why);
}

std::uint32_t FileScene::default_material() {
    if (!default_material_) {
        default_material_ = static_cast<std::uint32_t>(scene.materials.size());
        scene.materials.emplace_back();
    }
    return *default_material_;
}

void FileScene::warn(std::size_t count, const std::string& thing, const std::string& rest) {
    if (count > 0) {
        warnings.push_back(counted(count, thing) + rest);
    }
}

std::optional<std::uint32_t> FileScene::add_texture(std::string_view picture,
                                                    const std::string& name) {
    std::optional<Texture> decoded = decode_picture(picture);
    if (!decoded) {
        const PictureFormat* const format = format_of(picture);
        const std::string what = picture.empty()     ? "is not there"
                                 : format == nullptr ? "has a format that is not known"
                                 : format->is_read
                                     ? std::string("is damaged (") + format->name + ")"
                                     : std::string("is in the format ") + format->name +
                                           ", which is not read (convert it to PNG)";
        warnings.push_back(name + " " + what + ": its materials lack it");
        return std::nullopt;
    }
    scene.textures.push_back(std::move(*decoded));
    return static_cast<std::uint32_t>(scene.textures.size() - 1);
}

std::string ending_of(const std::filesystem::path& path) {
    std::string ending = app::text_of(path.extension());
    std::ranges::transform(ending, ending.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return ending;
}

bool is_gltf(const std::filesystem::path& path) {
    return ending_of(path) == ".glb" || ending_of(path) == ".gltf";
}

LoadedScene load_scene(const std::filesystem::path& path, LightMapCoordinates coordinates,
                       bool keeps_file) {
    const bool gltf = is_gltf(path);
    if (!gltf && ending_of(path) != ".obj") {
        refuse(path, "its name ends in none of .glb, .gltf, .obj");
    }
    std::optional<std::string> bytes = read_bytes(path);
    if (!bytes) {
        refuse(path, std::filesystem::exists(path) ? "it cannot be read" : "there is no such file");
    }
    if (bytes->empty()) {
        refuse(path, "it is empty");
    }
    FileScene file = gltf ? read_gltf(path, std::move(*bytes), coordinates, keeps_file)
                          : read_obj(path, *bytes, coordinates);
    bytes.reset();
    return Finisher(path, std::move(file), coordinates).finish();
}

}  // namespace quadtile::baker
