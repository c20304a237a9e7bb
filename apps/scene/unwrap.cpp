#include "unwrap.hpp"

#include "charts.hpp"
#include "pack_charts.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();

constexpr float DEFAULT_TEXELS_PER_UNIT = 10.0F;
constexpr std::uint32_t DEFAULT_MAX_SIDE = 4096;

std::string text(const Extent& extent) {
    return std::to_string(extent.width) + " x " + std::to_string(extent.height);
}

[[noreturn]] void fail(const std::string& what, const std::string& remedy) {
    throw std::runtime_error("cannot unwrap the scene: " + what + "; " + remedy);
}

Layout find_layout(const std::vector<glm::dvec2>& sizes, const UnwrapOptions& options) {
    const std::uint32_t gutter = options.gutter_texels;
    const std::string what = std::to_string(sizes.size()) + " charts with gutters of " +
                             std::to_string(gutter) + " texels do not find room in ";
    if (options.texels_per_unit) {
        const double density = *options.texels_per_unit;
        const std::string at =
            " texels at " + std::to_string(*options.texels_per_unit) + " texels per unit";
        const std::optional<Layout> large = pack_at_density(sizes, gutter, density);
        if (!options.extent) {
            if (large) {
                return *large;
            }
            fail(what + text({MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE}) + at,
                 "use fewer texels per unit");
        }
        if (auto layout = pack(sizes, gutter, density, *options.extent)) {
            return *layout;
        }
        const std::optional<Layout> coarse = pack_into(sizes, gutter, *options.extent);
        std::string remedy;
        if (large) {
            remedy = "use " + text(large->extent) + " texels";
        }
        if (coarse) {
            remedy += (large ? ", or " : "use ") + std::to_string(coarse->texels_per_unit) +
                      " texels per unit";
        }
        fail(what + text(*options.extent) + at,
             remedy.empty() ? "use a larger light map and fewer texels per unit" : remedy);
    }
    const Extent extent = options.extent.value_or(Extent{DEFAULT_MAX_SIDE, DEFAULT_MAX_SIDE});
    if (!options.extent) {
        const auto layout = pack_at_density(sizes, gutter, DEFAULT_TEXELS_PER_UNIT);
        if (layout && std::max(layout->extent.width, layout->extent.height) <= DEFAULT_MAX_SIDE) {
            return *layout;
        }
    }
    if (auto layout = pack_into(sizes, gutter, extent)) {
        return *layout;
    }
    const auto least = pack_at_density(sizes, gutter, 0.0);  // a texel each
    fail(what + text(extent) + " texels",
         least ? "they need " + text(least->extent) + " at least"
               : "simplify the scene, or give it light map coordinates of its own");
}

// Vertices of more than one chart, or on both sides of a cut, become several.
void write_coordinates(Scene& scene, const std::vector<Chart>& charts, const Layout& layout) {
    const auto append_copy = [](auto& values, std::uint32_t vertex) {
        if (!values.empty()) {
            const auto value = values[vertex];
            values.push_back(value);
        }
    };
    struct Copy {
        glm::vec2 at;
        std::uint32_t vertex;
        std::uint32_t next;  // of the same vertex
    };
    std::vector<Copy> copies;
    std::vector<std::uint32_t> last(scene.positions.size(), NONE);  // copy, by vertex
    scene.light_map_coordinates.assign(scene.positions.size(), glm::vec2(0.0F));
    const glm::dvec2 extent(layout.extent.width, layout.extent.height);
    for (std::size_t c = 0; c < charts.size(); ++c) {
        const Chart& chart = charts[c];
        glm::dvec2 corner(layout.places[c].x, layout.places[c].y);
        for (int i = 0; i < 2; ++i) {  // what is thinner than a texel goes through its middle
            corner[i] += std::max(0.0, 0.5 * (1.0 - chart.size[i] * layout.texels_per_unit));
        }
        for (std::size_t t = 0; t < chart.triangles.size(); ++t) {
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint32_t& vertex = scene.triangles[chart.triangles[t]].vertices[k];
                const glm::vec2 at = glm::clamp(
                    glm::vec2((corner + chart.corners[t][k] * layout.texels_per_unit) / extent),
                    glm::vec2(0.0F), glm::vec2(1.0F));
                std::uint32_t found = last[vertex];
                while (found != NONE && copies[found].at != at) {
                    found = copies[found].next;
                }
                if (found == NONE) {
                    const std::uint32_t old = vertex;
                    if (last[old] != NONE) {
                        vertex = static_cast<std::uint32_t>(scene.positions.size());
                        append_copy(scene.positions, old);
                        append_copy(scene.normals, old);
                        append_copy(scene.texture_coordinates, old);
                        append_copy(scene.source_vertices, old);
                        scene.light_map_coordinates.emplace_back();
                    }
                    scene.light_map_coordinates[vertex] = at;
                    copies.push_back({at, vertex, last[old]});
                    last[old] = static_cast<std::uint32_t>(copies.size() - 1);
                } else {
                    vertex = copies[found].vertex;
                }
            }
        }
    }
    scene.light_map_extent = layout.extent;
}

}  // namespace

void unwrap(Scene& scene, const UnwrapOptions& options) {
    if (options.texels_per_unit &&
        !(std::isfinite(*options.texels_per_unit) && *options.texels_per_unit > 0.0F)) {
        fail("texels per unit are not above 0", "use 10, for example");
    }
    if (options.extent && (options.extent->width - 1 >= MAX_LIGHT_MAP_SIDE ||
                           options.extent->height - 1 >= MAX_LIGHT_MAP_SIDE)) {
        fail("the light map's extent is " + text(*options.extent), "use sides from 1 to 32768");
    }
    double max_size = std::numeric_limits<double>::infinity();
    if (options.texels_per_unit) {
        const Extent extent =
            options.extent.value_or(Extent{MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE});
        max_size = std::min(extent.width, extent.height) / double{*options.texels_per_unit};
    }
    const std::vector<Chart> charts =
        make_charts(scene, std::vector<bool>(scene.triangles.size(), true), max_size);
    std::vector<glm::dvec2> sizes;
    sizes.reserve(charts.size());
    for (const Chart& chart : charts) {
        sizes.push_back(chart.size);
    }
    write_coordinates(scene, charts, find_layout(sizes, options));
}

}  // namespace quadtile::baker
