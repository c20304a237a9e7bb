#include "unwrap.hpp"

#include "charts.hpp"
#include "pack_charts.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>
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
                             std::to_string(gutter) + " texels have no room in ";
    if (options.texels_per_unit) {
        const double density = *options.texels_per_unit;
        const Extent extent =
            options.extent.value_or(Extent{MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE});
        const auto found = options.extent ? pack(sizes, gutter, density, extent)
                                          : pack_at_density(sizes, gutter, density);
        if (found) {
            return *found;
        }
        std::string remedy = "use fewer texels per unit";
        if (options.extent) {
            const auto large = pack_at_density(sizes, gutter, density);
            const auto coarse = pack_into(sizes, gutter, extent);
            const std::string fewer =
                coarse ? std::to_string(coarse->texels_per_unit) + " texels per unit"
                       : "a larger lightmap and fewer texels per unit";
            remedy = !large   ? "use " + fewer
                     : coarse ? "use " + text(large->extent) + " texels, or " + fewer
                              : "use " + text(large->extent) + " texels";
        }
        fail(what + text(extent) + " texels at " + std::to_string(*options.texels_per_unit) +
                 " texels per unit",
             remedy);
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
    const auto least = pack_at_density(sizes, gutter, 0.0);  // one texel each
    fail(what + text(extent) + " texels",
         least ? "use at least " + text(least->extent) + " texels"
               : "simplify the scene, or give it lightmap coordinates of its own");
}

// Place of a chart in the lightmap, in texels.
struct Place {
    glm::dvec2 corner;
    double texels_per_unit;
};

// Writes coordinates. Vertices in more than one chart, or on both sides of a cut, are duplicated.
void write_coordinates(Scene& scene, const std::vector<Chart>& charts,
                       const std::vector<Place>& places) {
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
    const glm::dvec2 extent(scene.light_map_extent->width, scene.light_map_extent->height);
    for (std::size_t c = 0; c < charts.size(); ++c) {
        const Chart& chart = charts[c];
        auto [corner, density] = places[c];
        for (int i = 0; i < 2; ++i) {  // parts thinner than a texel go through its middle
            corner[i] += std::max(0.0, 0.5 * (1.0 - chart.size[i] * density));
        }
        for (std::size_t t = 0; t < chart.triangles.size(); ++t) {
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint32_t& vertex = scene.triangles[chart.triangles[t]].vertices[k];
                const glm::vec2 at =
                    glm::clamp(glm::vec2((corner + chart.corners[t][k] * density) / extent),
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
                        append_copy(scene.colours, old);
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
}

// Returns the charts of objects whose own lightmap coordinates can be used: within 0..1, with an
// area, without overlap. Removes their triangles from `takes`; names the objects whose coordinates
// cannot be used.
std::vector<Chart> kept_layouts(const Scene& scene, std::vector<bool>& takes,
                                std::vector<std::uint32_t>& without_use) {
    const Extent from = scene.light_map_extent.value_or(Extent{1, 1});
    const glm::dvec2 aspect = glm::dvec2(from.width, from.height) / static_cast<double>(from.width);
    std::map<std::size_t, Chart> all;
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        all[part_of(scene, i).instance].triangles.push_back(i);
    }
    std::vector<Chart> kept;
    for (auto& [object, chart] : all) {
        Box<glm::dvec2> box;
        double flat = 0.0;
        double surface = 0.0;
        bool some_given = false;
        bool all_good = true;
        for (const std::uint32_t triangle : chart.triangles) {
            const auto& vertices = scene.triangles[triangle].vertices;
            FlatTriangle& corners = chart.corners.emplace_back();
            for (std::size_t k = 0; k < 3; ++k) {
                const glm::vec2 at = scene.light_map_coordinates[vertices[k]];
                some_given = some_given || !std::isnan(at.x);
                all_good = all_good && std::min(at.x, at.y) >= 0.0F && std::max(at.x, at.y) <= 1.0F;
                corners[k] = aspect * glm::dvec2(at);
                box.include(corners[k]);
            }
            flat += std::abs(doubled_area(corners));
            const auto [a, b, c] = scene.corners(scene.triangles[triangle]);
            surface += glm::length(glm::cross(b - a, c - a));
        }
        if (!all_good || !(flat > 0.0) || overlap(chart.corners)) {
            if (some_given) {
                without_use.push_back(chart.triangles.front());
            }
            continue;
        }
        const double scale =
            part_of(scene, chart.triangles.front()).density * std::sqrt(surface / flat);
        chart.size = scale * box.size();
        for (FlatTriangle& corners : chart.corners) {
            for (glm::dvec2& corner : corners) {
                corner = scale * (corner - box.low);
            }
        }
        for (const std::uint32_t triangle : chart.triangles) {
            takes[triangle] = false;
        }
        kept.push_back(std::move(chart));
    }
    return kept;
}

Layout find_pages(const Scene& scene, std::span<const Chart> charts,
                  const std::vector<glm::dvec2>& sizes, const UnwrapOptions& options) {
    std::vector<std::size_t> objects;
    for (const Chart& chart : charts) {
        objects.push_back(part_of(scene, chart.triangles.front()).instance);
    }
    const double density = options.texels_per_unit.value_or(DEFAULT_TEXELS_PER_UNIT);
    std::size_t too_large = 0;
    auto layout =
        pack_pages(sizes, objects, options.gutter_texels, density, *options.extent, too_large);
    if (!layout) {
        const auto chart = std::ranges::find(objects, too_large) - objects.begin();
        fail(names_of(scene, {charts[static_cast<std::size_t>(chart)].triangles.front()}) +
                 " has no room on a page of " + text(*options.extent) + " texels at " +
                 std::to_string(static_cast<float>(density)) + " texels per unit",
             "use larger pages, fewer texels per unit, or an extras.lightmap_density below 1 for "
             "its node");
    }
    return *layout;
}

}  // namespace

std::vector<std::uint32_t> unwrap(Scene& scene, const UnwrapOptions& options) {
    double max_size = std::numeric_limits<double>::infinity();
    if (options.texels_per_unit) {
        const Extent extent =
            options.extent.value_or(Extent{MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE});
        max_size = std::min(extent.width, extent.height) / double{*options.texels_per_unit};
    }
    std::vector<std::uint32_t> without_use;
    std::vector<bool> takes(scene.triangles.size(), true);
    std::vector<Chart> charts;
    if (options.keeps_layouts && !scene.light_map_coordinates.empty()) {
        charts = kept_layouts(scene, takes, without_use);
    }
    std::ranges::move(make_charts(scene, takes, max_size), std::back_inserter(charts));
    const auto hidden = std::stable_partition(
        charts.begin(), charts.end(),
        [&](const Chart& chart) { return !part_of(scene, chart.triangles.front()).excluded; });
    const auto written = static_cast<std::size_t>(hidden - charts.begin());
    if (written == 0) {
        fail("all its objects are excluded", "exclude only objects that need no lightmap");
    }
    std::vector<glm::dvec2> sizes;
    for (const Chart& chart : charts) {
        sizes.push_back(chart.size);
    }
    const std::vector<glm::dvec2> hidden_sizes(sizes.begin() + static_cast<std::ptrdiff_t>(written),
                                               sizes.end());
    sizes.resize(written);
    const Layout layout = options.makes_pages
                              ? find_pages(scene, std::span(charts).first(written), sizes, options)
                              : find_layout(sizes, options);
    const std::uint32_t gap = options.gutter_texels;
    const Pages pages{layout.extent, layout.pages, gap};
    const std::uint32_t all_pages = pages.count + (hidden == charts.end() ? 0 : 1);
    const std::uint64_t rows = std::uint64_t{all_pages} * (pages.extent.height + gap) - gap;
    if (rows > MAX_LIGHT_MAP_SIDE) {
        fail(std::to_string(all_pages) + " pages of " + text(pages.extent) +
                 " texels have more than " + std::to_string(MAX_LIGHT_MAP_SIDE) +
                 " rows, the most of a bake",
             "use fewer texels per unit");
    }
    std::vector<Place> places;
    std::vector<std::uint32_t> page_of(scene.triangles.size(), 0);
    const auto add_places = [&](const Layout& part, std::uint32_t first_page) {
        for (const ChartPlace& place : part.places) {
            const std::uint32_t page = first_page + place.page;
            for (const std::uint32_t triangle : charts[places.size()].triangles) {
                page_of[triangle] = page;
            }
            places.push_back({{place.x, pages.first_row(page) + place.y}, part.texels_per_unit});
        }
    };
    add_places(layout, 0);
    if (hidden != charts.end()) {
        // Uses the others' texels per unit, if there is room.
        const auto dense = pack(hidden_sizes, gap, layout.texels_per_unit, layout.extent);
        const UnwrapOptions filling{.extent = layout.extent, .gutter_texels = gap};
        add_places(dense ? *dense : find_layout(hidden_sizes, filling), pages.count);
    }
    for (ScenePart& part : scene.parts) {
        part.page = part.first_triangle < page_of.size() ? page_of[part.first_triangle] : 0;
    }
    scene.light_map_extent = Extent{pages.extent.width, static_cast<std::uint32_t>(rows)};
    scene.pages = pages;
    write_coordinates(scene, charts, places);
    return without_use;
}

}  // namespace quadtile::baker
