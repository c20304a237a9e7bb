#include "light_map.hpp"
#include "parallel.hpp"
#include "sampling.hpp"
#include "topology.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace quadtile::baker {

namespace {

// Largest difference of equal lightmap coordinates, in texels.
constexpr double COORDINATE_TOLERANCE = 1e-2;
const double MIN_COSINE = std::cos(30.0 * 3.14159265358979323846 / 180.0);

constexpr double SAMPLES_PER_TEXEL = 2.0;  // along the longer side of a seam
// Costs of a texel's change, relative to a difference along one texel's length of a seam. Gutters
// may change freely.
constexpr double KNOWN_WEIGHT = 0.02;
constexpr double UNKNOWN_WEIGHT = 0.002;
constexpr double KEPT_WEIGHT = 1e12;
constexpr int MAX_ITERATIONS = 1000;
constexpr double TOLERANCE = 1e-4;        // relative to the first residual
constexpr std::size_t RANGE = 1U << 13U;  // edges, triangles, samples or texels per work item

// Height and distance from an edge at which a surface on it is looked for, in texels.
constexpr double REACH = 0.5;

// Triangle's side of a seam, in texels.
struct Side {
    std::array<glm::dvec2, 2> ends;

    [[nodiscard]] double length() const { return glm::distance(ends[0], ends[1]); }
};

using Corners3 = std::array<glm::dvec3, 3>;

// Returns whether the line from a to b meets the triangle, or its edge.
bool meets(const Corners3& corners, const glm::dvec3& a, const glm::dvec3& b) {
    constexpr double EDGE = -1e-9;
    const glm::dvec3 normal = glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
    const double from = glm::dot(normal, a - corners[0]);
    const double to = glm::dot(normal, b - corners[0]);
    if (from == to || (from > 0.0) == (to > 0.0)) {
        return false;
    }
    const glm::dvec3 point = glm::mix(a, b, from / (from - to)) - corners[0];
    const double square = glm::dot(normal, normal);
    const double v = glm::dot(glm::cross(point, corners[2] - corners[0]), normal) / square;
    const double w = glm::dot(glm::cross(corners[1] - corners[0], point), normal) / square;
    return v >= EDGE && w >= EDGE && v + w <= 1.0 - EDGE;
}

// The triangles beside a seam, and the lines from one to the other above samples of it. A line that
// meets a third surface crosses a wall.
struct Crossing {
    std::array<std::uint32_t, 2> triangles{};
    std::array<glm::dvec3, 2> first{};  // line over the start of the edge
    glm::dvec3 along{0.0};              // from there to its end
    glm::dvec3 up{0.0};                 // mean normal of the two, of length 1
    Box<glm::dvec3> box;                // around all lines
};

class SeamFinder {
 public:
    SeamFinder(const Scene& scene, const Extent& extent) : scene_(scene), extent_(extent) {}

    struct Seam {
        Side a;
        Side b;
        Crossing crossing{};
        std::vector<std::uint8_t> parted{};  // by sample: whether a third surface stands there

        [[nodiscard]] double length() const { return std::max(a.length(), b.length()); }
        void part_by(std::uint32_t triangle, const Corners3& corners) {
            if (triangle == crossing.triangles[0] || triangle == crossing.triangles[1]) {
                return;
            }
            const glm::dvec3 normal = glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
            if (!(std::abs(glm::dot(normal, crossing.up)) < MIN_COSINE * glm::length(normal))) {
                return;  // it continues the surface
            }
            for (std::size_t i = 0; i < parted.size(); ++i) {
                const glm::dvec3 offset = (static_cast<double>(i) + 0.5) /
                                          static_cast<double>(parted.size()) * crossing.along;
                const std::atomic_ref<std::uint8_t> is_parted(parted[i]);
                if (is_parted == 0 &&
                    meets(corners, crossing.first[0] + offset, crossing.first[1] + offset)) {
                    is_parted = 1;
                }
            }
        }
    };
    [[nodiscard]] std::vector<Seam> find() const {
        const std::vector<Edge> edges = sorted_edges(scene_, weld_nearby(scene_.positions));
        std::vector<std::vector<Seam>> found((edges.size() + RANGE - 1) / RANGE);
        parallel_for(found.size(), 0, [&](std::size_t k) { found[k] = find(edges, k * RANGE); });
        std::vector<Seam> seams;
        for (std::vector<Seam>& some : found) {
            std::ranges::move(some, std::back_inserter(seams));
        }
        part(seams);
        return seams;
    }

 private:
    // Returns the seams of RANGE edges.
    [[nodiscard]] std::vector<Seam> find(const std::vector<Edge>& edges, std::size_t first) const {
        std::vector<Seam> seams;
        for (std::size_t i = first; i < std::min(edges.size(), first + RANGE); ++i) {
            // If more than two triangles share an edge, each meets the next one that continues it.
            constexpr std::size_t MOST_TRIED = 8;
            const std::size_t end = std::min(edges.size(), i + 1 + MOST_TRIED);
            for (std::size_t j = i + 1; j < end && edges[j].meets(edges[i]); ++j) {
                Seam seam{side(edges[i]), side(edges[j])};
                if (!same(seam.a, seam.b) && smooth(edges[i], edges[j])) {
                    seam.crossing = crossing(edges[i], edges[j], seam.length());
                    seam.parted.resize(static_cast<std::size_t>(
                        std::max(1.0, std::ceil(SAMPLES_PER_TEXEL * seam.length()))));
                    seams.push_back(std::move(seam));
                    break;
                }
            }
        }
        return seams;
    }

    [[nodiscard]] Side side(const Edge& edge) const {
        const auto end = [&](std::uint32_t vertex) {
            return glm::dvec2(scene_.light_map_coordinates[vertex]) *
                   glm::dvec2(extent_.width, extent_.height);
        };
        return {{end(edge.start(scene_)), end(edge.end(scene_))}};
    }

    [[nodiscard]] static bool same(const Side& a, const Side& b) {
        return glm::distance(a.ends[0], b.ends[0]) <= COORDINATE_TOLERANCE &&
               glm::distance(a.ends[1], b.ends[1]) <= COORDINATE_TOLERANCE;
    }

    [[nodiscard]] Crossing crossing(const Edge& a, const Edge& b, double texels) const {
        const glm::dvec3 start = scene_.positions[a.start(scene_)];
        Crossing result{.triangles = {a.triangle(), b.triangle()}};
        result.along = glm::dvec3(scene_.positions[a.end(scene_)]) - start;
        const double length = std::max(glm::length(result.along), 1e-30);
        double reach = REACH * length / std::max(texels, 1e-30);
        std::array<glm::dvec3, 2> across;
        for (std::size_t i = 0; i < 2; ++i) {
            const Triangle& triangle = scene_.triangles[result.triangles[i]];
            const glm::dvec3 normal = scene_.plane_normal(triangle);
            const glm::dvec3 inward = glm::cross(normal, result.along / length);
            double height = 0.0;
            for (const glm::dvec3& corner : scene_.corners(triangle)) {
                const double here = glm::dot(corner - start, inward);
                height = std::abs(here) > std::abs(height) ? here : height;
            }
            result.up += normal;
            across[i] = height < 0.0 ? -inward : inward;
            reach = std::min(reach, 0.5 * std::abs(height));
        }
        result.up /= std::max(glm::length(result.up), 1e-30);
        for (std::size_t i = 0; i < 2; ++i) {
            result.first[i] = start + reach * (across[i] + REACH * result.up);
            result.box.include(result.first[i]);
            result.box.include(result.first[i] + result.along);
        }
        return result;
    }

    // A tree of seams: halves of halves of their numbers, by space, with the box around each. The
    // halves of a node are 2 * node and 2 * node + 1.
    using Numbers = std::span<std::uint32_t>;
    using Boxes = std::vector<Box<glm::dvec3>>;

    static void halve(const std::vector<Seam>& seams, Numbers numbers, std::size_t node,
                      Boxes& boxes) {
        boxes.resize(std::max(boxes.size(), node + 1));
        for (const std::uint32_t number : numbers) {
            boxes[node].include(seams[number].crossing.box);
        }
        if (numbers.size() > 1) {
            const glm::dvec3 size = boxes[node].size();
            const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
            const std::size_t half = numbers.size() / 2;
            const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(half);
            std::ranges::nth_element(numbers, middle, {}, [&](std::uint32_t number) {
                const Box<glm::dvec3>& own = seams[number].crossing.box;
                return own.low[axis] + own.high[axis];
            });
            halve(seams, numbers.first(half), 2 * node, boxes);
            halve(seams, numbers.subspan(half), 2 * node + 1, boxes);
        }
    }

    static void visit_near(const Box<glm::dvec3>& box, Numbers numbers, std::size_t node,
                           const Boxes& boxes, const auto& visit) {
        if (glm::any(glm::lessThan(box.high, boxes[node].low)) ||
            glm::any(glm::lessThan(boxes[node].high, box.low))) {
            return;
        }
        if (numbers.size() == 1) {
            visit(numbers[0]);
            return;
        }
        const std::size_t half = numbers.size() / 2;
        visit_near(box, numbers.first(half), 2 * node, boxes, visit);
        visit_near(box, numbers.subspan(half), 2 * node + 1, boxes, visit);
    }

    // Finds the triangles that stand on seams.
    void part(std::vector<Seam>& seams) const {
        std::vector<std::uint32_t> numbers(seams.size());
        std::iota(numbers.begin(), numbers.end(), 0U);
        Boxes boxes;
        halve(seams, numbers, 1, boxes);
        const auto part_by = [&](std::size_t triangle) {
            const Corners3 corners = scene_.corners(scene_.triangles[triangle]);
            Box<glm::dvec3> box;
            std::ranges::for_each(corners, [&](const glm::dvec3& corner) { box.include(corner); });
            visit_near(box, numbers, 1, boxes, [&](std::uint32_t number) {
                seams[number].part_by(static_cast<std::uint32_t>(triangle), corners);
            });
        };
        parallel_for(scene_.triangles.size(), 0, part_by, RANGE);
    }

    // Returns the normal of the surface at one end of the edge; 0 if there is none.
    [[nodiscard]] glm::dvec3 normal(const Edge& edge, std::size_t end) const {
        glm::dvec3 normal(0.0);
        if (!scene_.normals.empty()) {
            normal = scene_.normals[end == 0 ? edge.start(scene_) : edge.end(scene_)];
        }
        if (!(glm::length(normal) > 0.0)) {
            normal = scene_.plane_normal(scene_.triangles[edge.triangle()]);
        }
        const double length = glm::length(normal);
        return length > 0.0 ? normal / length : glm::dvec3(0.0);
    }

    [[nodiscard]] bool smooth(const Edge& a, const Edge& b) const {
        return glm::dot(normal(a, 0), normal(b, 0)) >= MIN_COSINE &&
               glm::dot(normal(a, 1), normal(b, 1)) >= MIN_COSINE;
    }

    const Scene& scene_;
    const Extent& extent_;
};

// Returns the samples of all seams, with indices of the map's texels.
std::vector<SeamSample> sample(const std::vector<SeamFinder::Seam>& seams, const Extent& extent) {
    std::vector<std::size_t> starts;  // by seam: the samples of earlier ones
    std::size_t total = 0;
    for (const SeamFinder::Seam& seam : seams) {
        starts.push_back(total);
        total += static_cast<std::size_t>(std::ranges::count(seam.parted, 0));
    }
    std::vector<SeamSample> samples(total);
    const glm::dvec2 size(extent.width, extent.height);
    parallel_for(seams.size(), 0, [&](std::size_t number) {
        const SeamFinder::Seam& seam = seams[number];
        const auto count = static_cast<double>(seam.parted.size());
        const auto root = static_cast<float>(std::sqrt(seam.length() / count));
        std::size_t next = starts[number];
        for (std::size_t i = 0; i < seam.parted.size(); ++i) {
            if (seam.parted[i] != 0) {
                continue;
            }
            SeamSample& sample = samples[next++];
            const auto set = [&](const Side& side, std::size_t first, float factor) {
                const double along = (static_cast<double>(i) + 0.5) / count;
                const BilinearFetch fetch =
                    bilinear_fetch(extent, glm::mix(side.ends[0], side.ends[1], along) / size);
                for (std::size_t k = 0; k < 4; ++k) {
                    sample.texels[first + k] = fetch.texels[k];
                    sample.weights[first + k] = factor * fetch.weights[k];
                }
            };
            set(seam.a, 0, root);
            set(seam.b, 4, -root);
        }
    });
    return samples;
}

// The light of the texels that samples read, changed so that both sides of seams agree: the changes
// minimise the sum of |differences * (light + change)|^2 and weight * change^2, where
// `differences` has a row per sample and a column per texel.
//
// Conjugate gradients, with the diagonal as their preconditioner. Each sample reads 8 texels, so no
// eigenvalue of the preconditioned matrix is above 8 + 1; none is below weight / diagonal, which is
// about UNKNOWN_WEIGHT. So the number of steps that reach TOLERANCE is bounded by some 300 in a map
// of any size.
class SeamBlend {
 public:
    SeamBlend(const Seams& seams, const std::vector<std::uint8_t>& known,
              const std::vector<std::uint8_t>& kept)
        : seams_(seams),
          samples_(seams.samples),
          texels_(seams.texels),
          weights_(by_texel<double>()),
          diagonal_(by_texel<double>()),
          differences_(std::make_unique_for_overwrite<glm::dvec3[]>(samples_.size())) {
        for_texels([&](std::size_t i) {
            weights_[i] = !kept.empty() && kept[texels_[i]] != 0 ? KEPT_WEIGHT
                          : known[texels_[i]] != 0               ? KNOWN_WEIGHT
                                                                 : UNKNOWN_WEIGHT;
            diagonal_[i] = weights_[i];
            for (const Seams::Use& use : uses(i)) {
                diagonal_[i] += double{use.weight} * use.weight;
            }
        });
    }

    // Changes the texels of a plane. Values that are not finite stay, with all of their plane.
    void blend(std::vector<glm::vec3>& plane, bool may_be_negative) {
        // All threads touch this memory first, since that takes as long as many iterations.
        const Values direction = by_texel<glm::dvec3>();
        const Values residual = by_texel<glm::dvec3>();
        const Values product = by_texel<glm::dvec3>();
        const Values change = by_texel<glm::dvec3>();
        for_texels([&](std::size_t i) {
            direction[i] = plane[texels_[i]];
            change[i] = glm::dvec3(0.0);
        });
        const glm::dvec3 total = sum([&](std::size_t i) { return direction[i]; });
        if (!std::isfinite(total.x + total.y + total.z)) {
            return;
        }
        multiply(direction);
        glm::dvec3 rest = sum([&](std::size_t i) {
            residual[i] = -gathered(i);
            direction[i] = residual[i] / diagonal_[i];
            return residual[i] * direction[i];
        });
        const glm::dvec3 enough = TOLERANCE * TOLERANCE * rest;
        for (int k = 0; k < MAX_ITERATIONS && glm::any(glm::greaterThan(rest, enough)); ++k) {
            multiply(direction);
            const glm::dvec3 curvature = sum([&](std::size_t i) {
                product[i] = gathered(i) + weights_[i] * direction[i];
                return direction[i] * product[i];
            });
            // Channels that are done stay.
            const glm::dvec3 step =
                glm::mix(glm::dvec3(0.0), rest / curvature, glm::greaterThan(rest, enough));
            const glm::dvec3 last = rest;
            rest = sum([&](std::size_t i) {
                residual[i] -= step * product[i];
                return residual[i] * residual[i] / diagonal_[i];
            });
            const glm::dvec3 kept = rest / glm::max(last, std::numeric_limits<double>::min());
            for_texels([&](std::size_t i) {
                change[i] += step * direction[i];
                direction[i] = residual[i] / diagonal_[i] + kept * direction[i];
            });
        }
        for_texels([&](std::size_t i) {
            glm::vec3& light = plane[texels_[i]];
            light = glm::dvec3(light) + change[i];
            light = may_be_negative ? light : glm::max(light, 0.0F);
        });
    }

 private:
    using Values = std::unique_ptr<glm::dvec3[]>;

    template <typename Value>
    [[nodiscard]] std::unique_ptr<Value[]> by_texel() const {
        return std::make_unique_for_overwrite<Value[]>(texels_.size());
    }

    void for_texels(const auto& work) const { parallel_for(texels_.size(), 0, work, RANGE); }

    [[nodiscard]] glm::dvec3 sum(const auto& term) const {
        return parallel_sum<glm::dvec3>(texels_.size(), 0, term);
    }

    [[nodiscard]] std::span<const Seams::Use> uses(std::size_t texel) const {
        const std::size_t first = texel == 0 ? 0 : seams_.ends[texel - 1];
        return std::span(seams_.uses).subspan(first, seams_.ends[texel] - first);
    }

    // Sets the differences along the seams, of values by texel.
    void multiply(const Values& values) {
        const auto multiply_row = [&](std::size_t i) {
            glm::dvec3 sum(0.0);
            for (std::size_t k = 0; k < 8; ++k) {
                sum += double{samples_[i].weights[k]} * values[samples_[i].texels[k]];
            }
            differences_[i] = sum;
        };
        parallel_for(samples_.size(), 0, multiply_row, RANGE);
    }

    // Returns the sum of differences that read a texel, times its weights there.
    [[nodiscard]] glm::dvec3 gathered(std::size_t texel) const {
        glm::dvec3 sum(0.0);
        for (const Seams::Use& use : uses(texel)) {
            sum += double{use.weight} * differences_[use.sample];
        }
        return sum;
    }

    const Seams& seams_;
    const std::vector<SeamSample>& samples_;
    const std::vector<std::uint32_t>& texels_;
    std::unique_ptr<double[]> weights_;  // costs of changes
    std::unique_ptr<double[]> diagonal_;
    Values differences_;  // by sample
};

}  // namespace

Seams find_seams(const Scene& scene, const Extent& extent) {
    if (scene.light_map_coordinates.empty()) {
        return {};
    }
    const std::vector<SeamFinder::Seam> found = SeamFinder(scene, extent).find();
    Seams seams{.count = found.size(), .samples = sample(found, extent)};
    // Numbered by their first use, so that neighbours along a seam are neighbours.
    constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> numbers(extent.texels(), NONE);
    for (SeamSample& sample : seams.samples) {
        for (std::uint32_t& texel : sample.texels) {
            if (numbers[texel] == NONE) {
                numbers[texel] = static_cast<std::uint32_t>(seams.texels.size());
                seams.texels.push_back(texel);
            }
            texel = numbers[texel];
        }
    }
    std::vector<std::size_t>& ends = seams.ends;
    ends.resize(seams.texels.size());
    for (const SeamSample& sample : seams.samples) {
        for (const std::uint32_t texel : sample.texels) {
            ++ends[texel];
        }
    }
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
    seams.uses.resize(8 * seams.samples.size());
    for (std::uint32_t i = 0; i < seams.samples.size(); ++i) {
        for (std::size_t k = 0; k < 8; ++k) {
            seams.uses[ends[seams.samples[i].texels[k]]++] = {i, seams.samples[i].weights[k]};
        }
    }
    return seams;
}

void blend_seams(LightMap& map, const Seams& seams, const std::vector<std::uint8_t>& kept) {
    SeamBlend blend(seams, map.known, kept);
    for (std::vector<glm::vec3>* const plane : map.planes()) {
        // Irradiance is never negative; a band of spherical harmonics may be.
        blend.blend(*plane, plane != &map.irradiance);
    }
}

}  // namespace quadtile::baker
