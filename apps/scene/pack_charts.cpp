#include "pack_charts.hpp"

#define STB_RECT_PACK_IMPLEMENTATION
#define STBRP_STATIC
#include <stb/stb_rect_pack.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace quadtile::baker {

namespace {

constexpr double ROUNDING = 1e-4;  // texels by which a chart may exceed its own
constexpr std::uint32_t SIDE_STEP = 4;

// Returns the texels that a chart touches.
std::uint32_t texels(double size) {
    return static_cast<std::uint32_t>(std::clamp(std::ceil(size - ROUNDING), 1.0, 1e9));
}

std::uint32_t round_up(std::uint32_t side) {
    return (side + SIDE_STEP - 1) / SIDE_STEP * SIDE_STEP;
}

}  // namespace

std::optional<Layout> pack(const std::vector<glm::dvec2>& sizes, std::uint32_t gutter,
                           double texels_per_unit, const Extent& extent) {
    std::vector<stbrp_rect> rectangles;
    std::uint64_t area = 0;
    const std::uint64_t width = std::uint64_t{extent.width} + gutter;  // none at the border
    const std::uint64_t height = std::uint64_t{extent.height} + gutter;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::uint64_t w = std::uint64_t{texels(sizes[i].x * texels_per_unit)} + gutter;
        const std::uint64_t h = std::uint64_t{texels(sizes[i].y * texels_per_unit)} + gutter;
        area += w * h;
        if (w > width || h > height || area > width * height) {
            return std::nullopt;
        }
        rectangles.push_back(
            {static_cast<int>(i), static_cast<int>(w), static_cast<int>(h), 0, 0, 0});
    }
    stbrp_context context{};
    std::vector<stbrp_node> nodes(width);
    stbrp_init_target(&context, static_cast<int>(width), static_cast<int>(height), nodes.data(),
                      static_cast<int>(nodes.size()));
    if (stbrp_pack_rects(&context, rectangles.data(), static_cast<int>(rectangles.size())) != 1) {
        return std::nullopt;
    }
    Layout layout{extent, texels_per_unit, std::vector<ChartPlace>(sizes.size())};
    for (const stbrp_rect& rectangle : rectangles) {
        layout.places[static_cast<std::size_t>(rectangle.id)] = {
            static_cast<std::uint32_t>(rectangle.x), static_cast<std::uint32_t>(rectangle.y)};
    }
    return layout;
}

std::optional<Layout> pack_into(const std::vector<glm::dvec2>& sizes, std::uint32_t gutter,
                                const Extent& extent) {
    constexpr int HALVINGS = 60;
    constexpr int BISECTIONS = 12;
    double area = 0.0;
    double longest = 0.0;
    for (const glm::dvec2& size : sizes) {
        area += size.x * size.y;
        longest = std::max(longest, size.x);
    }
    double high = std::numeric_limits<double>::max();
    if (longest > 0.0) {
        high = std::min(high, (extent.width + 1.0) / longest);
    }
    if (area > 0.0) {
        high = std::min(high, std::sqrt(static_cast<double>(extent.texels()) / area));
    }
    std::optional<Layout> best = pack(sizes, gutter, high, extent);
    if (best) {
        return best;
    }
    double low = high;
    for (int i = 0; i < HALVINGS && !best; ++i) {
        high = low;
        low /= 2.0;
        best = pack(sizes, gutter, low, extent);
    }
    for (int i = 0; i < BISECTIONS && best; ++i) {
        const double middle = (low + high) / 2.0;
        std::optional<Layout> denser = pack(sizes, gutter, middle, extent);
        (denser ? low : high) = middle;
        if (denser) {
            best = std::move(denser);
        }
    }
    return best;
}

std::optional<Layout> pack_at_density(const std::vector<glm::dvec2>& sizes, std::uint32_t gutter,
                                      double texels_per_unit) {
    double area = 0.0;
    double longest = 1.0;
    for (const glm::dvec2& size : sizes) {
        const double w = texels(size.x * texels_per_unit);
        const double h = texels(size.y * texels_per_unit);
        area += (w + gutter) * (h + gutter);
        longest = std::max(longest, w);
    }
    const double least = std::max(longest, std::sqrt(area) - gutter);
    if (least > MAX_LIGHT_MAP_SIDE) {
        return std::nullopt;
    }
    const auto square = [&](std::uint32_t side) {
        return pack(sizes, gutter, texels_per_unit, {side, side});
    };
    std::uint32_t low = round_up(static_cast<std::uint32_t>(std::ceil(least)));
    std::uint32_t high = low;
    std::optional<Layout> best = square(high);
    while (!best && high < MAX_LIGHT_MAP_SIDE) {
        low = high;
        high = std::min(MAX_LIGHT_MAP_SIDE, round_up(high + high / 16 + 1));
        best = square(high);
    }
    if (!best) {
        return std::nullopt;
    }
    while (high - low > SIDE_STEP) {
        const std::uint32_t middle = round_up((low + high) / 2);
        if (middle >= high) {
            break;
        }
        std::optional<Layout> smaller = square(middle);
        (smaller ? high : low) = middle;
        if (smaller) {
            best = std::move(smaller);
        }
    }
    Extent used{1, 1};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const ChartPlace& place = best->places[i];
        used.width = std::max(used.width, place.x + texels(sizes[i].x * texels_per_unit));
        used.height = std::max(used.height, place.y + texels(sizes[i].y * texels_per_unit));
    }
    best->extent = {round_up(used.width), round_up(used.height)};
    return best;
}

std::optional<Layout> pack_pages(const std::vector<glm::dvec2>& sizes,
                                 const std::vector<std::size_t>& objects, std::uint32_t gutter,
                                 double texels_per_unit, const Extent& extent,
                                 std::size_t& too_large) {
    constexpr int MOST_FAILURES = 4;  // objects that do not fit before a page counts as full
    std::vector<std::vector<std::size_t>> charts;  // by object
    std::vector<double> areas;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        charts.resize(std::max(charts.size(), objects[i] + 1));
        charts[objects[i]].push_back(i);
        areas.resize(charts.size());
        areas[objects[i]] += (texels(sizes[i].x * texels_per_unit) + gutter) *
                             (texels(sizes[i].y * texels_per_unit) + gutter);
    }
    std::vector<std::size_t> left(charts.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    std::erase_if(left, [&](std::size_t object) { return charts[object].empty(); });
    std::ranges::stable_sort(left, std::greater(),
                             [&](std::size_t object) { return areas[object]; });

    Layout layout{extent, texels_per_unit, std::vector<ChartPlace>(sizes.size()), 0};
    while (!left.empty()) {
        std::vector<std::size_t> page;  // charts
        std::vector<std::size_t> later;
        const auto fits = [&](std::size_t first, std::size_t count) {
            std::vector<glm::dvec2> on_page;
            for (const std::size_t chart : page) {
                on_page.push_back(sizes[chart]);
            }
            for (std::size_t i = first; i < first + count; ++i) {
                for (const std::size_t chart : charts[left[i]]) {
                    on_page.push_back(sizes[chart]);
                }
            }
            return pack(on_page, gutter, texels_per_unit, extent);
        };
        std::optional<Layout> packed;
        for (std::size_t next = 0; next < left.size();) {
            // Takes as many of the next objects as fit.
            std::size_t count = 0;
            for (std::size_t beyond = left.size() - next + 1; beyond - count > 1;) {
                const std::size_t middle = (count + beyond) / 2;
                if (auto more = fits(next, middle)) {
                    packed = std::move(more);
                    count = middle;
                } else {
                    beyond = middle;
                }
            }
            for (std::size_t i = next; i < next + count; ++i) {
                page.insert(page.end(), charts[left[i]].begin(), charts[left[i]].end());
            }
            next += count;
            if (later.size() == MOST_FAILURES) {
                later.insert(later.end(), left.begin() + static_cast<std::ptrdiff_t>(next),
                             left.end());
                break;
            }
            if (next < left.size()) {
                later.push_back(left[next++]);
            }
        }
        if (page.empty()) {
            too_large = left.front();
            return std::nullopt;
        }
        for (std::size_t i = 0; i < page.size(); ++i) {
            layout.places[page[i]] = packed->places[i];
            layout.places[page[i]].page = layout.pages;
        }
        ++layout.pages;
        left = std::move(later);
    }
    return layout;
}

}  // namespace quadtile::baker
