// Pictures of the lit scene, by a rasteriser on the CPU, and of the lightmap.

#include "light_map.hpp"
#include "parallel.hpp"
#include "picture.hpp"
#include "sampling.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quadtile::baker {

namespace {

struct DrawnScene {
    std::vector<glm::vec3> radiance;  // by sample, row by row
    std::vector<std::uint8_t> hit;    // 0: the sky
};

constexpr double NEAR = 1e-4;  // in diagonals of the scene; nearer surfaces are not seen
constexpr std::uint32_t BAND_ROWS = 16;
constexpr std::size_t CHUNK_TRIANGLES = 1 << 15;
constexpr std::uint32_t NOTHING = 0xFFFFFFFF;

Box<glm::dvec3> bounds_of(const Scene& scene) {
    return scene.positions.empty() ? Box<glm::dvec3>{glm::dvec3(0.0), glm::dvec3(0.0)}
                                   : box_around(scene.positions);
}

// Camera space: x to the right, y down, z forward.
struct View {
    glm::dvec3 position;
    glm::dvec3 right;
    glm::dvec3 down;
    glm::dvec3 forward;
    glm::dvec2 half_size{1.0};  // half size of the picture at z = 1

    View(const Camera& camera, double aspect) : position(camera.position) {
        const glm::dvec3 sight = glm::dvec3(camera.target) - position;
        const double distance = glm::length(sight);
        forward = distance > 0.0 ? sight / distance : glm::dvec3(0.0, 0.0, -1.0);
        const bool upright = std::abs(forward.y) < 0.9999;
        const glm::dvec3 up = upright ? glm::dvec3(0.0, 1.0, 0.0) : glm::dvec3(0.0, 0.0, -1.0);
        right = glm::normalize(glm::cross(forward, up));
        down = glm::cross(forward, right);
        half_size.y = std::tan(double{camera.vertical_field_degrees} * std::numbers::pi / 360.0);
        half_size.x = half_size.y * aspect;
    }

    [[nodiscard]] glm::dvec3 turned(const glm::dvec3& direction) const {
        return {glm::dot(direction, right), glm::dot(direction, down),
                glm::dot(direction, forward)};
    }
};

// A triangle in camera space. A ray (x, y, 1) meets its plane at the depth 1 / dot(inverse_depth,
// ray). It meets the triangle on the inner side of the three planes through the camera and an edge,
// so parts behind the camera need no projection.
struct SeenTriangle {
    std::array<glm::dvec3, 3> corners{};
    std::array<glm::dvec3, 3> edge_planes{};  // of the edges opposite to the corners
    glm::dvec3 inverse_depth{0.0};
    bool visible = false;

    SeenTriangle(const Scene& scene, const Triangle& triangle, const View& view) {
        for (std::size_t i = 0; i < 3; ++i) {
            corners[i] =
                view.turned(glm::dvec3(scene.positions[triangle.vertices[i]]) - view.position);
        }
        const glm::dvec3 normal = glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
        const double distance = glm::dot(normal, corners[0]);
        // y points down, so camera space is right-handed: a front's normal points to the camera.
        const bool back = distance > 0.0;
        if (!(std::abs(distance) > 0.0) ||
            (back && !scene.materials[triangle.material].double_sided)) {
            return;
        }
        visible = true;
        inverse_depth = normal / distance;
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec3& start = corners[(i + 1) % 3];
            const glm::dvec3& end = corners[(i + 2) % 3];
            edge_planes[i] = back ? glm::cross(start, end) : glm::cross(end, start);
        }
    }

    [[nodiscard]] bool contains(const glm::dvec3& ray) const {
        return std::ranges::all_of(
            edge_planes, [&](const glm::dvec3& plane) { return glm::dot(plane, ray) >= 0.0; });
    }
};

// A range of samples, the last one excluded.
struct SampleRange {
    std::uint32_t left = 0;
    std::uint32_t top = 0;
    std::uint32_t right = 0;
    std::uint32_t bottom = 0;

    [[nodiscard]] bool empty() const { return left >= right || top >= bottom; }
};

class Drawing {
 public:
    Drawing(const Scene& scene, const LightMap& map, const Camera& camera, const Extent& samples)
        : scene_(scene),
          map_(map),
          samples_(samples),
          view_(camera, static_cast<double>(samples.width) / samples.height) {
        const Box<glm::dvec3> bounds = bounds_of(scene);
        near_ = NEAR * glm::distance(bounds.low, bounds.high);
    }

    // Returns the samples that may see a triangle.
    [[nodiscard]] SampleRange range_of(const SeenTriangle& triangle) const {
        Box<glm::dvec2> box;
        const auto include = [&](const glm::dvec3& corner) {
            box.include((glm::dvec2(corner) / corner.z / view_.half_size + 1.0) *
                        glm::dvec2(samples_.width, samples_.height) / 2.0);
        };
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec3& start = triangle.corners[i];
            const glm::dvec3& end = triangle.corners[(i + 1) % 3];
            if (start.z >= near_) {
                include(start);
            }
            if ((start.z < near_) != (end.z < near_)) {
                glm::dvec3 cut = glm::mix(start, end, (near_ - start.z) / (end.z - start.z));
                cut.z = near_;
                include(cut);
            }
        }
        // Samples are in the middle; rounding may move a corner a little.
        const auto first = [](double edge, std::uint32_t size) {
            return static_cast<std::uint32_t>(
                std::clamp(std::ceil(edge - 0.5 - 1e-6), 0.0, static_cast<double>(size)));
        };
        const auto end = [](double edge, std::uint32_t size) {
            return static_cast<std::uint32_t>(
                std::clamp(std::floor(edge + 0.5 + 1e-6), 0.0, static_cast<double>(size)));
        };
        if (!(box.low.x <= box.high.x)) {
            return {};
        }
        return {first(box.low.x, samples_.width), first(box.low.y, samples_.height),
                end(box.high.x, samples_.width), end(box.high.y, samples_.height)};
    }

    // Visible triangles in each band of rows: by chunk of triangles, by band.
    using Bands = std::vector<std::vector<std::uint32_t>>;
    [[nodiscard]] std::vector<Bands> sort_into_bands(std::uint32_t threads) const {
        std::vector<Bands> chunks((scene_.triangles.size() + CHUNK_TRIANGLES - 1) /
                                  CHUNK_TRIANGLES);
        parallel_for(chunks.size(), threads, [&](std::size_t chunk) {
            chunks[chunk].resize(bands());
            const std::size_t end =
                std::min(scene_.triangles.size(), (chunk + 1) * CHUNK_TRIANGLES);
            for (std::size_t i = chunk * CHUNK_TRIANGLES; i < end; ++i) {
                const SeenTriangle triangle(scene_, scene_.triangles[i], view_);
                const SampleRange range = triangle.visible ? range_of(triangle) : SampleRange{};
                if (range.empty()) {
                    continue;
                }
                for (std::uint32_t band = range.top / BAND_ROWS;
                     band <= (range.bottom - 1) / BAND_ROWS; ++band) {
                    chunks[chunk][band].push_back(static_cast<std::uint32_t>(i));
                }
            }
        });
        return chunks;
    }

    [[nodiscard]] std::size_t bands() const {
        return (samples_.height + BAND_ROWS - 1) / BAND_ROWS;
    }

    void draw_band(std::size_t band, const std::vector<Bands>& chunks, DrawnScene& drawn) const {
        const std::uint32_t top = static_cast<std::uint32_t>(band) * BAND_ROWS;
        const std::uint32_t bottom = std::min(top + BAND_ROWS, samples_.height);
        const std::size_t count = std::size_t{bottom - top} * samples_.width;
        std::vector<float> inverse_depths(count, 0.0F);
        std::vector<std::uint32_t> nearest(count, NOTHING);
        for (const Bands& chunk : chunks) {
            for (const std::uint32_t index : chunk[band]) {
                const SeenTriangle triangle(scene_, scene_.triangles[index], view_);
                const SampleRange range = range_of(triangle);
                for (std::uint32_t y = std::max(range.top, top); y < std::min(range.bottom, bottom);
                     ++y) {
                    for (std::uint32_t x = range.left; x < range.right; ++x) {
                        const glm::dvec3 ray = ray_of(x, y);
                        const double inverse_depth = glm::dot(triangle.inverse_depth, ray);
                        const std::size_t place = std::size_t{y - top} * samples_.width + x;
                        if (static_cast<float>(inverse_depth) > inverse_depths[place] &&
                            inverse_depth * near_ <= 1.0 && triangle.contains(ray) &&
                            !is_hole(index, triangle, ray)) {
                            inverse_depths[place] = static_cast<float>(inverse_depth);
                            nearest[place] = index;
                        }
                    }
                }
            }
        }
        for (std::size_t place = 0; place < count; ++place) {
            if (nearest[place] != NOTHING) {
                const auto x = static_cast<std::uint32_t>(place % samples_.width);
                const auto y = top + static_cast<std::uint32_t>(place / samples_.width);
                const std::size_t sample = std::size_t{y} * samples_.width + x;
                drawn.radiance[sample] = radiance(nearest[place], ray_of(x, y));
                drawn.hit[sample] = 1;
            }
        }
    }

 private:
    [[nodiscard]] glm::dvec3 ray_of(std::uint32_t x, std::uint32_t y) const {
        return {((x + 0.5) / samples_.width * 2.0 - 1.0) * view_.half_size.x,
                ((y + 0.5) / samples_.height * 2.0 - 1.0) * view_.half_size.y, 1.0};
    }

    // Interpolates at the hit. The corners' weights are proportional to the volumes that the ray
    // spans with the opposite edges.
    [[nodiscard]] glm::dvec2 at_hit(const std::vector<glm::vec2>& coordinates, std::uint32_t index,
                                    const SeenTriangle& seen, const glm::dvec3& ray) const {
        glm::dvec2 sum(0.0);
        double weights = 0.0;
        for (std::size_t i = 0; i < 3 && !coordinates.empty(); ++i) {
            const double weight = glm::dot(seen.edge_planes[i], ray);
            sum += weight * glm::dvec2(coordinates[scene_.triangles[index].vertices[i]]);
            weights += weight;
        }
        return coordinates.empty() ? sum : sum / weights;
    }

    // Returns whether a place is a hole: it stops less than half of the light.
    [[nodiscard]] bool is_hole(std::uint32_t index, const SeenTriangle& seen,
                               const glm::dvec3& ray) const {
        const Material& material = scene_.materials[scene_.triangles[index].material];
        return material.alpha_mode != AlphaMode::opaque &&
               coverage_at(scene_, material, at_hit(scene_.texture_coordinates, index, seen, ray)) <
                   128;
    }

    [[nodiscard]] glm::vec3 radiance(std::uint32_t index, const glm::dvec3& ray) const {
        const Triangle& triangle = scene_.triangles[index];
        const Material& material = scene_.materials[triangle.material];
        const SeenTriangle seen(scene_, triangle, view_);
        glm::vec3 irradiance(0.0F);
        if (!scene_.light_map_coordinates.empty()) {
            const BilinearFetch fetch =
                bilinear_fetch(map_.extent, at_hit(scene_.light_map_coordinates, index, seen, ray));
            for (std::size_t i = 0; i < 4; ++i) {
                irradiance += fetch.weights[i] * map_.irradiance[fetch.texels[i]];
            }
        }
        const glm::dvec2 texture = at_hit(scene_.texture_coordinates, index, seen, ray);
        return albedo_at(scene_, material, texture) * irradiance / std::numbers::pi_v<float> +
               emission_at(scene_, material, texture);
    }

    const Scene& scene_;
    const LightMap& map_;
    Extent samples_;
    View view_;
    double near_ = 0.0;
};

// Returns a camera above the scene that sees all of it; `aspect`: the picture's width by its
// height.
Camera camera_that_sees(const Scene& scene, float aspect) {
    const Box<glm::dvec3> bounds = bounds_of(scene);
    Camera camera;
    camera.vertical_field_degrees = 40.0F;
    camera.position = {1.0F, 1.1F, 1.6F};
    camera.target = glm::vec3(0.0F);
    const View view(camera, aspect);

    // A camera at c sees a corner if |corner - c| <= half_size * (corner.z - c.z), in x and y. The
    // extreme corners are on both borders of the picture.
    glm::dvec2 low(-std::numeric_limits<double>::infinity());  // largest -corner - edge
    glm::dvec2 high = low;                                     // largest corner - edge
    for (unsigned corner = 0; corner < 8; ++corner) {
        const glm::dvec3 seen = view.turned({(corner & 1U) != 0 ? bounds.high.x : bounds.low.x,
                                             (corner & 2U) != 0 ? bounds.high.y : bounds.low.y,
                                             (corner & 4U) != 0 ? bounds.high.z : bounds.low.z});
        const glm::dvec2 edge = view.half_size * seen.z;
        low = glm::max(low, -glm::dvec2(seen) - edge);
        high = glm::max(high, glm::dvec2(seen) - edge);
    }
    const glm::dvec2 middle = (high - low) / 2.0;
    const glm::dvec2 depth = -(high + low) / 2.0 / view.half_size;
    const double nearest = std::min(depth.x, depth.y);
    const glm::dvec3 centre = view.turned((bounds.low + bounds.high) / 2.0);
    constexpr double MARGIN = 1.05;
    const double distance = std::max((centre.z - nearest) * MARGIN, 1e-3);
    const auto in_scene = [&](double z) {
        return glm::vec3(view.right * middle.x + view.down * middle.y + view.forward * z);
    };
    camera.position = in_scene(centre.z - distance);
    camera.target = in_scene(centre.z);
    return camera;
}

// Draws one sample in the middle of each of width x height pixels.
DrawnScene draw_scene(const Scene& scene, const LightMap& map, const Camera& camera,
                      const Extent& samples, const glm::vec3& sky, std::uint32_t threads) {
    DrawnScene drawn;
    drawn.radiance.resize(samples.texels(), sky);
    drawn.hit.resize(samples.texels());
    const Drawing drawing(scene, map, camera, samples);
    const auto chunks = drawing.sort_into_bands(threads);
    parallel_for(drawing.bands(), threads,
                 [&](std::size_t band) { drawing.draw_band(band, chunks, drawn); });
    return drawn;
}

constexpr std::uint32_t SAMPLES_PER_AXIS = 2;  // per pixel
constexpr app::Rgb UNKNOWN_COLOUR = {40, 40, 40};
// Automatic exposure: this part of the lit samples is darker than EXPOSED_AS.
constexpr double EXPOSED_PART = 0.96;
constexpr float EXPOSED_AS = 0.8F;

float luminance(const glm::vec3& colour) {
    return 0.2126F * colour.x + 0.7152F * colour.y + 0.0722F * colour.z;
}

// Returns the luminance that is shown as 1 before the curve. Luminances may be infinite or NaN.
float automatic_exposure(std::vector<float> lit) {
    std::erase_if(lit, [](float value) { return !(value > 0.0F) || !std::isfinite(value); });
    if (lit.empty()) {
        return 1.0F;
    }
    const auto place = static_cast<std::size_t>(EXPOSED_PART * static_cast<double>(lit.size() - 1));
    const auto nth = lit.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(lit.begin(), nth, lit.end());
    return *nth / EXPOSED_AS;
}

// Applies a film's curve (K. Narkowicz' fit of ACES): 0..1 for any radiance; 1 becomes 0.8.
glm::vec3 tone_mapped(const glm::vec3& radiance, float exposure) {
    glm::vec3 shown(0.0F);
    for (int c = 0; c < 3; ++c) {
        // Above the maximum the curve is white in any case; NaN is black.
        const float x = radiance[c] > 0.0F ? std::min(radiance[c] / exposure, 1e3F) : 0.0F;
        shown[c] = std::min(x * (2.51F * x + 0.03F) / (x * (2.43F * x + 0.59F) + 0.14F), 1.0F);
    }
    return shown;
}

app::Rgb srgb(const glm::vec3& colour) {
    app::Rgb codes{};
    for (std::size_t c = 0; c < codes.size(); ++c) {
        const float value = colour[static_cast<int>(c)];
        const float curved =
            value <= 0.0031308F ? 12.92F * value : 1.055F * std::pow(value, 1.0F / 2.4F) - 0.055F;
        codes[c] = static_cast<std::uint8_t>(std::lround(255.0F * curved));
    }
    return codes;
}

}  // namespace

app::Picture draw_atlas(const LightMap& map) {
    std::vector<float> lit;
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        if (map.known[i] != 0) {
            lit.push_back(luminance(map.irradiance[i]));
        }
    }
    const float exposure = automatic_exposure(std::move(lit));
    app::Picture picture(map.extent.width, map.extent.height);
    parallel_for(picture.height, 0, [&](std::size_t y) {
        for (std::size_t i = y * picture.width; i < (y + 1) * picture.width; ++i) {
            picture.pixels[i] =
                map.known[i] != 0 ? srgb(tone_mapped(map.irradiance[i], exposure)) : UNKNOWN_COLOUR;
        }
    });
    return picture;
}

app::Picture draw_preview(const Scene& scene, const LightMap& map, const PreviewOptions& options) {
    const float aspect = static_cast<float>(options.width) / static_cast<float>(options.height);
    std::optional<Camera> camera = options.camera ? options.camera : scene.camera;
    if (!camera) {
        camera = inside_camera(scene).value_or(camera_that_sees(scene, aspect));
    }
    const Extent samples{options.width * SAMPLES_PER_AXIS, options.height * SAMPLES_PER_AXIS};
    const DrawnScene drawn = draw_scene(scene, map, *camera, samples, options.sky, options.threads);

    std::vector<float> lit;
    for (std::size_t i = 0; i < drawn.hit.size() && !options.exposure; ++i) {
        if (drawn.hit[i] != 0) {
            lit.push_back(luminance(drawn.radiance[i]));
        }
    }
    const float exposure =
        options.exposure ? *options.exposure : automatic_exposure(std::move(lit));
    app::Picture picture(options.width, options.height);
    parallel_for(options.height, options.threads, [&](std::size_t y) {
        for (std::size_t x = 0; x < options.width; ++x) {
            // After the curve, so that edges of bright surfaces are smooth too.
            glm::vec3 sum(0.0F);
            for (std::size_t v = 0; v < SAMPLES_PER_AXIS; ++v) {
                for (std::size_t u = 0; u < SAMPLES_PER_AXIS; ++u) {
                    sum += tone_mapped(drawn.radiance[(y * SAMPLES_PER_AXIS + v) * samples.width +
                                                      x * SAMPLES_PER_AXIS + u],
                                       exposure);
                }
            }
            picture.pixels[y * options.width + x] =
                srgb(sum / static_cast<float>(SAMPLES_PER_AXIS * SAMPLES_PER_AXIS));
        }
    });
    return picture;
}

}  // namespace quadtile::baker
