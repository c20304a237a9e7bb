#include "bvh.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>
#include <span>

namespace quadtile::shadow {

namespace {

constexpr std::size_t BINS = 16;
constexpr std::size_t PARALLEL_TRIANGLES = 32768;  // more are split between two threads
constexpr std::uint32_t PARALLEL_DEPTH = 5;        // at most 2^5 threads
// Depth from which on triangles are halved: an unlucky order must not exhaust the stack.
constexpr std::uint32_t SPLIT_DEPTH = 64;
constexpr float INFINITE = std::numeric_limits<float>::infinity();

using Box = baker::Box<glm::vec3>;

float half_area(const Box& box) {
    const glm::vec3 size = box.size();
    return size.x * (size.y + size.z) + size.y * size.z;
}

struct Item {
    Box box;
    glm::vec3 middle;  // of the box
    std::uint32_t triangle;
};

struct Bin {
    Box box;
    std::size_t items = 0;
};

// Split of an axis before bin `bin`.
struct Split {
    int axis = 0;
    std::size_t bin = 0;
    float cost = INFINITE;  // area times items; infinite: no split
};

// Places of bins along an axis.
class Bins {
 public:
    Bins(const Box& middles, int axis)
        : axis_(axis),
          low_(middles.low[axis]),
          scale_(static_cast<float>(BINS) / (middles.high[axis] - low_)) {}

    [[nodiscard]] std::size_t of(const Item& item) const {
        const float bin = (item.middle[axis_] - low_) * scale_;
        return std::min(static_cast<std::size_t>(bin), BINS - 1);
    }

 private:
    int axis_;
    float low_;
    float scale_;
};

Split best_split_along(std::span<const Item> items, const Box& middles, int axis) {
    std::array<Bin, BINS> bins;
    const Bins place(middles, axis);
    for (const Item& item : items) {
        Bin& bin = bins[place.of(item)];
        bin.box.include(item.box);
        ++bin.items;
    }
    std::array<float, BINS> cost_from{};  // of items in a bin and behind it
    Bin behind;
    for (std::size_t i = BINS - 1; i > 0; --i) {
        behind.box.include(bins[i].box);
        behind.items += bins[i].items;
        cost_from[i] =
            behind.items == 0 ? INFINITE : half_area(behind.box) * static_cast<float>(behind.items);
    }
    Split best{.axis = axis};
    Bin before;
    for (std::size_t i = 1; i < BINS; ++i) {
        before.box.include(bins[i - 1].box);
        before.items += bins[i - 1].items;
        if (before.items == 0) {
            continue;
        }
        const float cost = half_area(before.box) * static_cast<float>(before.items) + cost_from[i];
        if (cost < best.cost) {
            best.bin = i;
            best.cost = cost;
        }
    }
    return best;
}

Split best_split(std::span<const Item> items, const Box& middles) {
    Split best;
    for (int axis = 0; axis < 3; ++axis) {
        if (middles.high[axis] > middles.low[axis]) {
            const Split split = best_split_along(items, middles, axis);
            best = split.cost < best.cost ? split : best;
        }
    }
    return best;
}

// Sorts the items into two parts, neither of them empty, and returns the size of the first.
std::size_t partition(std::span<Item> items, std::uint32_t depth) {
    Box middles;
    for (const Item& item : items) {
        middles.include(item.middle);
    }
    const Split split = depth < SPLIT_DEPTH ? best_split(items, middles) : Split{};
    if (split.cost == INFINITE) {
        return items.size() / 2;  // all at one place, or too deep
    }
    const Bins place(middles, split.axis);
    const auto second = std::stable_partition(
        items.begin(), items.end(), [&](const Item& item) { return place.of(item) < split.bin; });
    return static_cast<std::size_t>(second - items.begin());
}

class Builder {
 public:
    Builder(std::span<const Item> all, float margin) : first_(all.data()), margin_(margin) {}

    // Builds the nodes of some items; `next` counts from the first of them.
    [[nodiscard]] std::vector<RayNode> build(std::span<Item> items, std::uint32_t depth) const {
        std::vector<RayNode> nodes;
        if (items.size() > PARALLEL_TRIANGLES && depth < PARALLEL_DEPTH) {
            build_halves(nodes, items, depth);
        } else {
            append(nodes, items, depth);
        }
        return nodes;
    }

 private:
    [[nodiscard]] RayNode make_node(std::span<const Item> items) const {
        Box box;
        for (const Item& item : items) {
            box.include(item.box);
        }
        RayNode node{.leaf = RAY_INNER_NODE};
        for (int i = 0; i < 3; ++i) {
            node.low[i] = box.low[i] - margin_;
            node.high[i] = box.high[i] + margin_;
        }
        return node;
    }

    void append(std::vector<RayNode>& nodes, std::span<Item> items, std::uint32_t depth) const {
        const std::size_t at = nodes.size();
        nodes.push_back(make_node(items));
        if (items.size() <= RAY_LEAF_TRIANGLES) {
            const auto first = static_cast<std::size_t>(items.data() - first_);
            nodes[at].leaf =
                static_cast<std::uint32_t>(first * RAY_LEAF_TRIANGLES + items.size() - 1);
        } else {
            const std::size_t half = partition(items, depth);
            append(nodes, items.first(half), depth + 1);
            append(nodes, items.subspan(half), depth + 1);
        }
        nodes[at].next = static_cast<std::uint32_t>(nodes.size());
    }

    void build_halves(std::vector<RayNode>& nodes, std::span<Item> items,
                      std::uint32_t depth) const {
        nodes.push_back(make_node(items));
        const std::size_t half = partition(items, depth);
        auto second =
            std::async(std::launch::async, [&] { return build(items.subspan(half), depth + 1); });
        for (const auto& part : {build(items.first(half), depth + 1), second.get()}) {
            const auto shift = static_cast<std::uint32_t>(nodes.size());
            for (RayNode node : part) {
                node.next += shift;
                nodes.push_back(node);
            }
        }
        nodes.front().next = static_cast<std::uint32_t>(nodes.size());
    }

    const Item* first_;
    float margin_;
};

std::vector<Item> make_items(std::span<const RayTriangle> triangles) {
    std::vector<Item> items;
    items.reserve(triangles.size());
    for (const RayTriangle& triangle : triangles) {
        Item item{.triangle = static_cast<std::uint32_t>(items.size())};
        for (std::size_t i = 0; i < 9; i += 3) {
            item.box.include(
                glm::vec3(triangle.corners[i], triangle.corners[i + 1], triangle.corners[i + 2]));
        }
        item.middle = 0.5F * (item.box.low + item.box.high);
        items.push_back(item);
    }
    return items;
}

}  // namespace

std::vector<RayTriangle> ray_triangles(const Geometry& geometry) {
    std::vector<RayTriangle> triangles(geometry.indices.size() / 3);
    for (std::size_t i = 0; i < geometry.indices.size(); ++i) {
        const glm::vec3& position = geometry.vertices[geometry.indices[i]].position;
        for (int axis = 0; axis < 3; ++axis) {
            triangles[i / 3].corners[3 * (i % 3) + static_cast<std::size_t>(axis)] = position[axis];
        }
    }
    return triangles;
}

Bvh build_bvh(std::vector<RayTriangle> triangles) {
    std::vector<Item> items = make_items(triangles);
    Bvh bvh;
    for (const RayTriangle& triangle : triangles) {
        for (const float coordinate : triangle.corners) {
            bvh.largest_coordinate = std::max(bvh.largest_coordinate, std::abs(coordinate));
        }
    }
    // Rays round lengths up to twice the largest coordinate to 24 digits, a few times.
    const float margin = std::ldexp(bvh.largest_coordinate, -19);
    bvh.nodes = Builder(items, margin).build(items, 0);
    bvh.triangles.reserve(triangles.size());
    for (const Item& item : items) {
        bvh.triangles.push_back(triangles[item.triangle]);
    }
    return bvh;
}

}  // namespace quadtile::shadow
