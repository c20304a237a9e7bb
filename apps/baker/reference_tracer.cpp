#include "reference_tracer.hpp"

#include "reference_lamps.hpp"
#include "traced_triangle.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <thread>

namespace quadtile::baker {

namespace {

// Returns the sums of fragments: level l in element l, rows from the top.
std::vector<std::vector<float>> sums_of(const std::vector<float>& fragments, std::uint32_t extent) {
    const MipChain chain =
        reference::downsample({fragments.data(), {extent, extent, 1, TexelFormat::r32_float}},
                              {.reduction = Reduction::sum, .format = TexelFormat::r32_float});
    std::vector<std::vector<float>> levels{fragments};
    for (std::uint32_t level = 1; level < chain.levels.size(); ++level) {
        const auto* const first = reinterpret_cast<const float*>(chain.levels[level].texels.data());
        levels.emplace_back(first, first + chain.levels[level].texels.size() / sizeof(float));
    }
    return levels;
}

// Twin of node_thresholds.comp.
NodeThresholds node_thresholds(const std::vector<std::vector<float>>& sums, std::uint32_t extent,
                               const TileOptions& options) {
    NodeThresholds thresholds(extent, extent);
    for (std::uint32_t level = 0; level < sums.size(); ++level) {
        const std::uint32_t nodes = extent >> level;
        for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
            float resolution = options.max_resolution;
            if (sums[level][i] > 0.0F) {
                const float mean = std::ldexp(sums[level][i], -2 * static_cast<int>(level));
                resolution = std::min(resolution, std::sqrt(options.max_nodes / mean));
            }
            thresholds.at(level, i % nodes, i / nodes) =
                std::ldexp(resolution, -static_cast<int>(level));
        }
    }
    return thresholds;
}

// Twin of the sort of walk.comp.
bool is_before(const ListNode& a, const ListNode& b) {
    return a.depth != b.depth ? a.depth < b.depth : a.order < b.order;
}

glm::vec3 vector_of(const float (&values)[3]) {
    return {values[0], values[1], values[2]};
}

// Sums of 64 bits, for any number of threads: red, green, blue, weight and back, which an
// Accumulator has in two words each.
constexpr std::size_t WEIGHT = 3;
constexpr std::size_t BACK = 4;
using Sums = std::array<std::uint64_t, 5>;
using AtomicSums = std::array<std::atomic<std::uint64_t>, 5>;
static_assert(std::endian::native == std::endian::little && sizeof(Sums) == sizeof(Accumulator));

class ReferenceTracer : public Tracer {
 public:
    ReferenceTracer(const TracedScene& scene, const TileOptions& options, std::uint32_t threads)
        : scene_(scene),
          options_(options),
          threads_(threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
          sums_(scene.sum_count()),
          outgoing_(scene.sum_count()) {}

    [[nodiscard]] std::uint32_t frames_at_once() const override { return threads_; }

    [[nodiscard]] std::vector<std::vector<MapTile>> request_tiles(
        std::span<const ProjectionFrame> frames, const Stop& stop) override {
        std::vector<std::vector<MapTile>> tiles(frames.size());
        const std::size_t done =
            for_each(frames.size(), stop, [&](std::size_t i) { tiles[i] = tiles_of(frames[i]); });
        return done == frames.size() ? tiles : std::vector<std::vector<MapTile>>();
    }

    void begin_pass(const std::vector<std::uint32_t>& open) override {
        open_.assign(scene_.triangles.size(), false);
        std::ranges::for_each(open, [&](std::uint32_t triangle) { open_[triangle] = true; });
        clear_sums();
    }

    std::size_t trace(std::span<const ProjectionFrame> frames, std::span<const TracedTile> tiles,
                      std::span<const double> predicted_nodes, const Stop& stop) override {
        const std::size_t done = for_each(tiles.size(), stop, [&](std::size_t i) {
            trace_tile(frames[tiles[i].frame], tiles[i]);
        });
        statistics_.tiles += done;
        for (std::size_t i = 0; i < done; ++i) {
            statistics_.predicted_nodes += predicted_nodes[i];
            statistics_.pixels += std::uint64_t{tiles[i].width} * tiles[i].height;
        }
        statistics_.nodes = nodes_;
        return done;
    }

    [[nodiscard]] std::span<const Accumulator> sums(std::size_t first, std::size_t count,
                                                    std::size_t number) override {
        read_[number].resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            read_[number][i] = sums_at(first + i);
        }
        return read_[number];
    }
    void clear_sums() override {
        for (AtomicSums& sums : sums_) {
            std::ranges::copy(Sums(), sums.begin());
        }
    }
    void set_sums(std::size_t first, std::span<const Accumulator> words) override {
        for (std::size_t i = 0; i < words.size(); ++i) {
            std::ranges::copy(std::bit_cast<Sums>(words[i]), sums_[first + i].begin());
        }
    }
    void set_outgoing(std::size_t first, std::span<const glm::vec4> outgoing) override {
        std::ranges::copy(outgoing, outgoing_.begin() + static_cast<std::ptrdiff_t>(first));
    }

    void begin_lamps(const SurfaceMap& surface, std::span<const LampTriangle> triangles,
                     LampSums& sums) override {
        lamps_.emplace(scene_, surface, triangles, sums);
    }
    void add_lamp(const LampParameters& parameters) override {
        (void)for_each(scene_.texels.count(), {}, [&](std::size_t texel) {
            lamps_->add(parameters, texel, is_two_sided(outgoing_[texel]),
                        [&](std::size_t place) { return sums_at(place); });
        });
    }
    void read_lamps() override {}

    [[nodiscard]] std::vector<ProbeSight> see(std::span<const ProjectionFrame> frames,
                                              std::span<const glm::vec4> points) override {
        std::vector<ProbeSight> sights(frames.size() * points.size());
        (void)for_each(sights.size(), {}, [&](std::size_t i) {
            sights[i] = see_from(frames[i / points.size()], points[i % points.size()]);
        });
        return sights;
    }

    [[nodiscard]] const TracerStatistics& statistics() const override { return statistics_; }
    [[nodiscard]] std::string device_name() const override { return "CPU reference"; }

 private:
    [[nodiscard]] Accumulator sums_at(std::size_t place) const {
        Sums sums;
        std::ranges::copy(sums_[place], sums.begin());
        return std::bit_cast<Accumulator>(sums);
    }

    // Runs work, and returns how many of the first items were done.
    template <typename Work>
    [[nodiscard]] std::size_t for_each(std::size_t count, const Stop& stop,
                                       const Work& work) const {
        std::atomic<std::size_t> next = 0;
        std::atomic<bool> stops = false;
        const auto run = [&](bool asks) {
            for (std::size_t i = next++; i < count; i = stops ? count : next++) {
                work(i);
                if (asks && stop && stop()) {
                    stops = true;
                }
            }
        };
        std::vector<std::jthread> others;
        for (std::uint32_t i = 1; i < std::min<std::size_t>(threads_, count); ++i) {
            others.emplace_back(run, false);
        }
        run(true);
        others.clear();
        return std::min<std::size_t>(next, count);
    }

    [[nodiscard]] std::vector<MapTile> tiles_of(const ProjectionFrame& frame) const {
        const std::uint32_t extent = options_.map_extent;
        const ReferenceMaps maps = reference_maps(scene_, frame, extent);
        const std::vector<std::vector<float>> sums = sums_of(maps.fragments, extent);
        const MapView map{maps.importance.data(), {extent, extent}};
        const TileList list =
            reference::subdivide(map, Threshold::map(node_thresholds(sums, extent, options_)));
        std::vector<MapTile> tiles;
        for (const Tile& tile : list.tiles) {
            if (tile.importance > 0.0F) {
                const std::uint32_t level = tile.level();
                const std::uint32_t resolution = tile_resolution(level, tile.importance);
                const float fragments = sums[level][tile.y() * (extent >> level) + tile.x()];
                tiles.push_back({level, tile.x(), tile.y(), resolution,
                                 predicted_nodes(level, resolution, fragments)});
            }
        }
        return tiles;
    }

    // Twin of cull.comp, rasterise.comp and walk.comp together.
    void trace_tile(const ProjectionFrame& frame, const TracedTile& tile) {
        std::vector<std::vector<ListNode>> lists(std::size_t{tile.width} * tile.height);
        const PixelRectangle limits{static_cast<std::int32_t>(tile.first_x),
                                    static_cast<std::int32_t>(tile.first_y),
                                    static_cast<std::int32_t>(tile.first_x + tile.width) - 1,
                                    static_cast<std::int32_t>(tile.first_y + tile.height) - 1};
        std::uint64_t nodes = 0;
        for (std::uint32_t i = 0; i < scene_.triangles.size(); ++i) {
            const PixelTriangle triangle(scene_.triangles[i], frame, {tile.map_x, tile.map_y},
                                         tile.scale, false, limits);
            if (triangle.is_empty()) {
                continue;
            }
            const PixelRectangle& rectangle = triangle.rectangle();
            for (std::int32_t y = rectangle.first_y; y <= rectangle.last_y; ++y) {
                for (std::int32_t x = rectangle.first_x; x <= rectangle.last_x; ++x) {
                    if (!triangle.covers(x, y)) {
                        continue;
                    }
                    const PixelTriangle::Fragment fragment = triangle.fragment(x, y);
                    const bool is_open =
                        is_hole(i, triangle.faces_forward(), fragment, frame, tile, x, y);
                    if (is_open && !is_glass(scene_.alpha_triangles[i])) {
                        continue;
                    }
                    const std::size_t pixel =
                        static_cast<std::size_t>(y - limits.first_y) * tile.width +
                        static_cast<std::size_t>(x - limits.first_x);
                    lists[pixel].push_back(
                        {std::floor(fragment.depth + 0.5F),
                         (triangle.faces_forward() ? 0 : FACES_BACK) |
                             (open_[i] ? BLOCKS_NOTHING : 0) | (is_open ? IS_PANE : 0) | i,
                         texel_at(fragment.light_map_x, fragment.light_map_y), NO_NODE});
                    ++nodes;
                }
            }
        }
        nodes_ += nodes;
        for (std::vector<ListNode>& list : lists) {
            std::ranges::sort(list, is_before);
            const auto panes = std::stable_partition(
                list.begin(), list.end(),
                [](const ListNode& node) { return (node.order & IS_PANE) == 0; });
            walk({list.begin(), panes}, {panes, list.end()}, frame, tile);
        }
    }

    // Twin of is_hole in rasterise.comp.
    [[nodiscard]] bool is_hole(std::uint32_t index, bool faces_forward,
                               const PixelTriangle::Fragment& fragment,
                               const ProjectionFrame& frame, const TracedTile& tile, std::int32_t x,
                               std::int32_t y) const {
        if (index >= scene_.alpha_triangles.size()) {
            return false;
        }
        const AlphaTriangle& alpha = scene_.alpha_triangles[index];
        const std::size_t b = faces_forward ? 2 : 4;
        const auto place = [&](std::size_t axis) {
            const float texels = interpolant(alpha.texture[axis], alpha.texture[axis + b],
                                             alpha.texture[axis + 6 - b])
                                     .at(fragment.second, fragment.third);
            return static_cast<std::uint32_t>(std::max(texels, 0.0F));
        };
        const std::uint32_t texel =
            alpha.first + place(1) % alpha.height * alpha.width + place(0) % alpha.width;
        const float of_surface =
            interpolant(alpha.alpha[0], alpha.alpha[b / 2], alpha.alpha[3 - b / 2])
                .at(fragment.second, fragment.third) *
            static_cast<float>(scene_.alpha_texels[texel]);
        const auto coverage =
            alpha.limit < 0.0F
                ? static_cast<std::uint32_t>(std::clamp(of_surface, 0.0F, 255.0F) + 0.5F)
                : (of_surface >= alpha.limit ? 255U : 0U);
        return coverage <= hole_threshold(index, std::bit_cast<std::uint32_t>(frame.offset_x),
                                          std::bit_cast<std::uint32_t>(tile.map_x) * 3 +
                                              std::bit_cast<std::uint32_t>(tile.map_y),
                                          static_cast<std::uint32_t>(x),
                                          static_cast<std::uint32_t>(y));
    }

    // Returns the number of a texel.
    [[nodiscard]] std::uint32_t texel_at(float x, float y) const {
        const auto along = [](float place, std::uint32_t extent) {
            return static_cast<std::uint32_t>(
                std::clamp(std::floor(place), 0.0F, static_cast<float>(extent - 1)));
        };
        const Extent& extent = scene_.texels.extent();
        return scene_
            .texels[std::size_t{along(y, extent.height)} * extent.width + along(x, extent.width)];
    }

    // Twin of is_one_sheet in walk.comp.
    [[nodiscard]] bool is_one_sheet(const ListNode& first, const ListNode& second) const {
        if (!(second.depth - first.depth < SHEET_DEPTH)) {
            return false;
        }
        const std::uint32_t a = normal_of(first);
        const std::uint32_t b = normal_of(second);
        const int sign = looks_ahead(first) == looks_ahead(second) ? 1 : -1;
        return std::ranges::all_of(std::array{0U, 1U, 2U}, [&](std::uint32_t axis) {
            return std::abs(normal_component(a, axis) - sign * normal_component(b, axis)) <=
                   SHEET_ANGLE;
        });
    }

    static bool looks_ahead(const ListNode& node) { return (node.order & FACES_BACK) == 0; }

    void walk(std::span<const ListNode> list, std::span<const ListNode> panes,
              const ProjectionFrame& frame, const TracedTile& tile) {
        const auto end_of_sheet = [&](std::size_t begin) {
            std::size_t end = std::min(begin + 1, list.size());
            while (end < list.size() && is_one_sheet(list[begin], list[end])) {
                ++end;
            }
            return end;
        };
        const ListNode* before = nullptr;  // seen in the previous sheet
        const ListNode* last = nullptr;    // last one so far that blocks the light
        std::size_t previous = 0;          // begin of the previous sheet
        std::size_t end = 0;
        for (std::size_t begin = 0; begin < list.size(); previous = begin, begin = end) {
            const ListNode* const outside = before;
            before = last;
            for (std::size_t i = previous; frame.is_source == 0 && i < begin; ++i) {
                before = i == previous || brightness(list[i], false) >= brightness(*before, false)
                             ? &list[i]
                             : before;
            }
            end = end_of_sheet(begin);
            const ListNode* after = end < list.size() ? &list[end] : nullptr;
            const std::size_t after_end = frame.is_source == 0 ? end_of_sheet(end) : end;
            for (std::size_t i = end + 1; i < after_end; ++i) {
                after = brightness(list[i], true) > brightness(*after, true) ? &list[i] : after;
            }
            for (std::size_t i = begin; i < end; ++i) {
                last = (list[i].order & BLOCKS_NOTHING) == 0 ? &list[i] : last;
                receive_light(list[i], outside, before, after, panes, frame,
                              weighed(tile, list[i], frame));
            }
        }
    }

    [[nodiscard]] std::uint32_t normal_of(const ListNode& node) const {
        return scene_.triangles[node.order & TRIANGLE_NUMBER].normal;
    }
    [[nodiscard]] std::uint32_t smooth_normal(const ListNode& node) const {
        return std::bit_cast<std::uint32_t>(outgoing_[node.texel].w) & SMOOTH_NORMAL;
    }
    [[nodiscard]] static bool is_two_sided(const glm::vec4& radiance) {
        return (std::bit_cast<std::uint32_t>(radiance.w) & TWO_SIDED) != 0;
    }

    // Twins of these functions in walk.comp.
    [[nodiscard]] float brightness(const ListNode& node, bool ahead) const {
        const bool sees_front = looks_ahead(node) != ahead;
        const glm::vec4& radiance = outgoing_[node.texel + (sees_front ? 0 : scene_.back_texels())];
        return sees_front || is_two_sided(radiance) ? (radiance.r + radiance.g) + radiance.b
                                                    : -1.0F;
    }

    [[nodiscard]] TracedTile weighed(TracedTile tile, const ListNode& node,
                                     const ProjectionFrame& frame) const {
        if (!scene_.is_smooth || smooth_normal(node) == 0 || frame.is_source != 0) {
            return tile;
        }
        const auto along = [&](std::uint32_t normal) {
            return normal_dot(normal, frame.direction[0], frame.direction[1], frame.direction[2]);
        };
        const float part =
            static_cast<float>(bent_share(along(smooth_normal(node)), along(normal_of(node)))) *
            (1.0F / static_cast<float>(BENT_ONE));
        tile.weight =
            static_cast<std::uint32_t>(std::floor(static_cast<float>(tile.weight) * part + 0.5F));
        tile.radiance_scale *= part;
        return tile;
    }

    [[nodiscard]] bool is_rim(const ListNode& node, const ListNode& entry) const {
        const std::uint32_t normal = normal_of(node);
        return scene_.is_smooth && looks_ahead(node) && !looks_ahead(entry) &&
               smooth_normal(node) != 0 && smooth_normal(entry) != 0 &&
               normal_dot(normal_of(entry), normal_component(normal, 0),
                          normal_component(normal, 1), normal_component(normal, 2)) > RIM_COSINE;
    }

    [[nodiscard]] glm::vec3 tint_between(std::span<const ListNode> panes, float first,
                                         float second) const {
        glm::vec3 tint(1.0F);
        for (const ListNode& pane : panes) {
            if (std::min(first, second) < pane.depth && pane.depth < std::max(first, second)) {
                tint *= vector_of(scene_.alpha_triangles[pane.order & TRIANGLE_NUMBER].tint);
            }
        }
        return tint;
    }

    void receive_light(const ListNode& node, const ListNode* outside, const ListNode* before,
                       const ListNode* after, std::span<const ListNode> panes,
                       const ProjectionFrame& frame, const TracedTile& tile) {
        const bool has_back = scene_.back_texels() > 0 && is_two_sided(outgoing_[node.texel]);
        for (std::uint32_t side = 0; side < (has_back ? 2U : 1U); ++side) {
            bool ahead = looks_ahead(node) == (side == 0);
            const ListNode* seen = ahead ? after : before;
            if (ahead && frame.is_source != 0 && before != nullptr && is_rim(node, *before)) {
                ahead = false;
                seen = outside;
            }
            if (ahead && frame.is_perspective != 0) {
                continue;
            }
            const std::uint32_t receiver = node.texel + side * scene_.back_texels();
            const float share = ahead ? frame.share_ahead : frame.share_behind;
            const bool sees_sky =
                seen == nullptr ||
                (frame.is_perspective == 0 && std::abs(seen->depth - node.depth) >= frame.range);
            const glm::vec3 tint = tint_between(panes, node.depth,
                                                !sees_sky ? seen->depth
                                                : ahead   ? NOWHERE
                                                          : -NOWHERE);
            if (sees_sky) {
                receive(receiver,
                        vector_of(ahead ? frame.sky_ahead : frame.sky_behind) * share * tint, false,
                        tile);
                continue;
            }
            const bool sees_front = looks_ahead(*seen) != ahead;
            const glm::vec4& radiance =
                outgoing_[seen->texel + (sees_front ? 0 : scene_.back_texels())];
            const bool shines = sees_front || is_two_sided(radiance);
            receive(receiver, shines ? glm::vec3(radiance) * share * tint : glm::vec3(0.0F),
                    !shines, tile);
        }
    }

    // Twin of probe.comp, without its boxes.
    [[nodiscard]] ProbeSight see_from(const ProjectionFrame& frame, const glm::vec4& point) const {
        ListNode ahead{point.w, ~0U, NO_TEXEL, 0};
        ListNode behind{-NOWHERE, 0, NO_TEXEL, 0};
        for (std::uint32_t i = 0; i < scene_.triangles.size(); ++i) {
            TracedTriangle relative = scene_.triangles[i];
            for (int j = 0; j < 9; ++j) {
                relative.positions[j] -= point[j % 3];
            }
            const PixelTriangle triangle(relative, frame, {-0.5F, -0.5F}, 1.0F, false,
                                         {0, 0, 0, 0});
            if (triangle.is_empty() || !triangle.covers(0, 0)) {
                continue;
            }
            const PixelTriangle::Fragment fragment = triangle.fragment(0, 0);
            const float depth = std::floor(fragment.depth + 0.5F);
            const std::uint32_t facing = triangle.faces_forward() ? 0 : FACES_BACK;
            const bool sees_back = (depth > 0.0F) == triangle.faces_forward();
            const std::uint32_t texel = texel_at(fragment.light_map_x, fragment.light_map_y);
            const ListNode node{depth, facing | i, texel | (sees_back ? SEES_BACK : 0), 0};
            if (depth > 0.0F && is_before(node, ahead)) {
                ahead = node;
            } else if (depth < 0.0F && is_before(behind, node)) {
                behind = node;
            }
        }
        return {ahead.texel, behind.texel};
    }

    void receive(std::uint32_t texel, const glm::vec3& radiance, bool sees_back,
                 const TracedTile& tile) {
        AtomicSums& sums = sums_[texel];
        for (std::size_t colour = 0; colour < 3; ++colour) {
            const float scaled = radiance[static_cast<int>(colour)] * tile.radiance_scale;
            sums[colour] += static_cast<std::uint64_t>(std::floor(scaled + 0.5F));
        }
        sums[WEIGHT] += tile.weight;
        if (sees_back) {
            sums[BACK] += tile.weight;
        }
    }

    const TracedScene& scene_;
    TileOptions options_;
    std::uint32_t threads_;
    std::vector<AtomicSums> sums_;
    std::array<std::vector<Accumulator>, SUMS_AT_ONCE> read_;  // see sums()
    std::vector<glm::vec4> outgoing_;
    std::vector<bool> open_;  // triangles that block nothing
    std::optional<ReferenceLamps> lamps_;
    std::atomic<std::uint64_t> nodes_ = 0;
    TracerStatistics statistics_;
};

}  // namespace

ReferenceMaps reference_maps(const TracedScene& scene, const ProjectionFrame& frame,
                             std::uint32_t map_extent, bool conservative) {
    const std::size_t texels = std::size_t{map_extent} * map_extent;
    ReferenceMaps maps{std::vector<float>(texels), std::vector<float>(texels)};
    const auto last = static_cast<std::int32_t>(map_extent) - 1;
    for (const TracedTriangle& traced : scene.triangles) {
        const PixelTriangle triangle(traced, frame, {0.0F, 0.0F}, 1.0F, true, {0, 0, last, last});
        if (triangle.is_empty()) {
            continue;
        }
        const float density = traced.density * frame.units_per_texel * frame.refinement;
        const PixelRectangle& rectangle = triangle.rectangle();
        for (std::int32_t y = rectangle.first_y; y <= rectangle.last_y; ++y) {
            for (std::int32_t x = rectangle.first_x; x <= rectangle.last_x; ++x) {
                const std::size_t texel =
                    static_cast<std::size_t>(y) * map_extent + static_cast<std::size_t>(x);
                const bool is_fragment = triangle.covers(x, y);
                maps.fragments[texel] += is_fragment ? 1.0F : 0.0F;
                if ((is_fragment || (conservative && triangle.touches(x, y))) &&
                    triangle.is_within(x, y, frame.range)) {
                    maps.importance[texel] =
                        std::max(maps.importance[texel], density * triangle.distance_at(x, y));
                }
            }
        }
    }
    return maps;
}

std::unique_ptr<Tracer> make_reference_tracer(const TracedScene& scene, const TileOptions& options,
                                              std::uint32_t threads) {
    return std::make_unique<ReferenceTracer>(scene, options, threads);
}

}  // namespace quadtile::baker
