#include <quadtile/budget.h>
#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/threshold.hpp>

#include "layers_and_budgets.hpp"
#include "refuse.hpp"
#include "texel_codec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace quadtile {

namespace {

using detail::text_of;

std::string text_of_node(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                         std::uint32_t layer) {
    return "node (level " + std::to_string(level) + ", x " + std::to_string(x) + ", y " +
           std::to_string(y) + ", layer " + std::to_string(layer) + ")";
}

// Returns a threshold with -0 and denormals as 0.
float settled(float threshold) {
    return threshold < std::numeric_limits<float>::min() ? 0.0F : threshold;
}

float scaled_by(float threshold, const std::vector<std::uint32_t>& factors) {
    for (const std::uint32_t factor : factors) {
        threshold = scaled_threshold(threshold, factor);
    }
    return threshold;
}

// Calls visit(level, x, y, layer) for every node of a map.
template <typename Visit>
void for_each_node(const MapShape& shape, const Visit& visit) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::uint32_t level = 0; level <= top; ++level) {
            const std::uint32_t width = level_extent(shape.width, level);
            const std::uint32_t height = level_extent(shape.height, level);
            for (std::uint32_t y = 0; y < height; ++y) {
                for (std::uint32_t x = 0; x < width; ++x) {
                    visit(level, x, y, layer);
                }
            }
        }
    }
}

}  // namespace

NodeThresholds::NodeThresholds(std::uint32_t width, std::uint32_t height, std::uint32_t layers)
    : width_(width), height_(height), layers_(layers) {
    check_shape({width, height, layers});
    const std::size_t texels = std::size_t{width} * height;
    const std::size_t pitch = pyramid_pitch(width);
    places_.push_back({0, texels, width});
    for (std::uint32_t level = 1; level <= top(); ++level) {
        places_.push_back(
            {texels * layers + level_offset_y(height, level) * pitch + level_offset_x(width, level),
             pyramid_rows(height) * pitch, pitch});
    }
    values_.resize(threshold_map_size_bytes({width, height, layers}) / sizeof(float));
}

float ResolvedThreshold::at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                            std::uint32_t layer) const {
    return nodes_ ? scaled_by(nodes_->at(level, x, y, layer), factors_) : levels_[level];
}

Threshold::Threshold(Kind kind, std::vector<float> values)
    : kind_(kind), values_(std::move(values)) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (std::isnan(values_[i]) || values_[i] < 0.0F) {
            detail::refuse("a threshold must not be negative or NaN, but ",
                           (kind == Kind::per_level ? "that of level " + std::to_string(i)
                                                    : std::string("this one")),
                           " is ", values_[i]);
        }
        values_[i] += 0.0F;  // -0 + 0 is 0
    }
}

Threshold Threshold::constant(float value) {
    return {Kind::constant, {value}};
}

Threshold Threshold::per_level(std::vector<float> values) {
    return {Kind::per_level, std::move(values)};
}

Threshold Threshold::max_resolution(float pixels) {
    return {Kind::max_resolution, {pixels}};
}

Threshold Threshold::map(NodeThresholds nodes) {
    Threshold threshold(Kind::map, {});
    std::string& growth = threshold.nodes_growth_;
    for_each_node({nodes.width(), nodes.height(), nodes.layers()}, [&](auto level, auto x, auto y,
                                                                       auto layer) {
        float& value = nodes.at(level, x, y, layer);
        if (!(value >= 0.0F)) {
            detail::refuse("a threshold must not be negative or NaN, but that of ",
                           text_of_node(level, x, y, layer), " is ", value);
        }
        value = settled(value);
        // Children come before their parents.
        for (std::uint32_t child = 0; level > 0 && growth.empty() && child < 4; ++child) {
            const std::uint32_t child_x = 2 * x + child % 2;
            const std::uint32_t child_y = 2 * y + child / 2;
            if (child_x < level_extent(nodes.width(), level - 1) &&
                child_y < level_extent(nodes.height(), level - 1) &&
                value > nodes.at(level - 1, child_x, child_y, layer)) {
                growth = text_of_node(level, x, y, layer) + " has " + text_of(value) +
                         " and its child at (" + std::to_string(child_x) + ", " +
                         std::to_string(child_y) + ") " +
                         text_of(nodes.at(level - 1, child_x, child_y, layer));
            }
        }
    });
    threshold.nodes_ = std::make_shared<const NodeThresholds>(std::move(nodes));
    return threshold;
}

Threshold Threshold::bound_map() {
    return {Kind::bound_map, {}};
}

Threshold Threshold::bound_monotone_map() {
    Threshold threshold = bound_map();
    threshold.is_promised_monotone_ = true;
    return threshold;
}

Threshold Threshold::function(std::string glsl, std::vector<float> parameters) {
    if (glsl.empty()) {
        detail::refuse(
            "the GLSL of the threshold is empty; define float threshold(uint level, uvec2 "
            "position, "
            "uint layer)");
    }
    if (parameters.size() > max_function_parameters) {
        detail::refuse("a threshold function has at most ", max_function_parameters,
                       " parameters, but ", parameters.size(),
                       " were given; bind a buffer of your own for more");
    }
    Threshold threshold(Kind::function, {});
    threshold.values_ = std::move(parameters);
    threshold.function_ = std::make_shared<const std::string>(std::move(glsl));
    return threshold;
}

std::string Threshold::why_unknown() const {
    return kind_ == Kind::bound_map ? "those of Threshold::bound_map are in a buffer on the GPU"
                                    : "those of Threshold::function are made on the GPU";
}

bool Threshold::is_known() const {
    return kind_ != Kind::bound_map && kind_ != Kind::function;
}

Threshold Threshold::scaled(float factor) const {
    if (!is_known()) {
        detail::refuse("the host cannot scale thresholds that it does not know: ", why_unknown(),
                       "; scale them on the GPU");
    }
    const std::uint32_t above_one = bits_from_float(factor) - bits_from_float(1.0F);
    const std::uint32_t step = bits_from_float(budget_factor(1)) - bits_from_float(1.0F);
    if (above_one % step != 0 || above_one / step >= BUDGET_FACTORS) {
        detail::refuse(
            "thresholds can only be scaled by factors of budgets, 1 to 2^32 in steps of "
            "1/64 of a power of two, but the factor is ",
            factor, "; take the threshold_factor of a tile list");
    }
    Threshold threshold = *this;
    threshold.factors_.push_back(above_one / step);
    return threshold;
}

bool Threshold::is_by_node() const noexcept {
    return needs_threshold_map() || kind_ == Kind::function;
}

bool Threshold::needs_threshold_map() const noexcept {
    return kind_ == Kind::map || kind_ == Kind::bound_map;
}

const std::string* Threshold::user_function() const noexcept {
    return function_.get();
}

const std::vector<float>& Threshold::function_parameters() const noexcept {
    static const auto& none = *new std::vector<float>;
    return function_ ? values_ : none;
}

void Threshold::check_fits(const MapShape& shape) const {
    if (!is_by_node()) {
        (void)given_levels(top_level(shape.width, shape.height));
    } else if (nodes_ && (nodes_->width() != shape.width || nodes_->height() != shape.height ||
                          nodes_->layers() != shape.layers)) {
        detail::refuse("this map has ", detail::size_of(shape.width, shape.height, shape.layers),
                       ", but the thresholds of nodes were given for ",
                       detail::size_of(nodes_->width(), nodes_->height(), nodes_->layers()),
                       "; give thresholds or fragments of the map's size");
    }
}

std::vector<float> Threshold::levels(std::uint32_t top) const {
    std::vector<float> levels = given_levels(top);
    for (float& value : levels) {
        value = scaled_by(settled(value), factors_);
    }
    return levels;
}

std::vector<float> Threshold::given_levels(std::uint32_t top) const {
    const std::size_t count = std::size_t{top} + 1;
    switch (kind_) {
        case Kind::constant:
            return std::vector<float>(count, values_[0]);
        case Kind::max_resolution: {
            std::vector<float> levels;
            for (std::uint32_t level = 0; level <= top; ++level) {
                levels.push_back(std::ldexp(values_[0], -static_cast<int>(level)));
            }
            return levels;
        }
        case Kind::map:
        case Kind::bound_map:
        case Kind::function:
            detail::refuse(
                "this threshold differs from node to node, so levels have none; call "
                "Threshold::resolve for those of the nodes");
        case Kind::per_level:
            break;
    }
    if (values_.size() != count) {
        detail::refuse("this map has ", count, " levels, 0 to ", top, ", but ", values_.size(),
                       " level thresholds were given; give one per level");
    }
    return values_;
}

ResolvedThreshold Threshold::resolve(const MapShape& shape) const {
    check_fits(shape);
    if (!is_known()) {
        detail::refuse("the host does not know these thresholds: ", why_unknown(),
                       "; give them to the host as Threshold::map");
    }
    ResolvedThreshold resolved;
    if (nodes_) {
        resolved.nodes_ = nodes_;
        resolved.factors_ = factors_;
    } else {
        resolved.levels_ = levels(top_level(shape.width, shape.height));
    }
    return resolved;
}

bool Threshold::is_monotone(std::uint32_t top) const {
    return growth(top).empty();
}

void Threshold::check_monotone(std::uint32_t top) const {
    const std::string found = growth(top);
    if (!found.empty()) {
        detail::refuse(
            "the strategy fused, budgets of tiles and balanced lists need thresholds that do "
            "not grow with the level, but ",
            found, "; use the strategy subtree, no budget and no balance");
    }
}

std::string Threshold::growth(std::uint32_t top) const {
    if (is_promised_monotone_) {
        return {};
    }
    if (!is_known()) {
        return "the host does not know these: " + why_unknown();
    }
    if (nodes_) {
        if (top != nodes_->top()) {
            detail::refuse("this map has levels 0 to ", top,
                           ", but the thresholds of nodes are for 0 to ", nodes_->top(),
                           "; give thresholds of this map's size");
        }
        return nodes_growth_;
    }
    const std::vector<float> values = levels(top);
    for (std::size_t level = 1; level < values.size(); ++level) {
        if (values[level] > values[level - 1]) {
            return "level " + std::to_string(level) + " has " + text_of(values[level]) +
                   " and the one below it " + text_of(values[level - 1]);
        }
    }
    return {};
}

void Threshold::copy_nodes(std::size_t first, std::span<float> part) const {
    const auto values = std::span(nodes_->values_).subspan(first, part.size());
    if (factors_.empty()) {
        std::ranges::copy(values, part.begin());
    } else {
        std::ranges::transform(values, part.begin(),
                               [&](float value) { return scaled_by(value, factors_); });
    }
}

std::uint64_t threshold_map_size_bytes(const MapShape& shape) noexcept {
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height;
    const std::uint64_t pyramid =
        std::uint64_t{pyramid_pitch(shape.width)} * pyramid_rows(shape.height);
    return (texels + pyramid) * shape.layers * sizeof(float);
}

std::vector<float> threshold_map_contents(const Threshold& threshold, const MapShape& shape) {
    const ResolvedThreshold thresholds = threshold.resolve(shape);
    std::vector<float> contents(threshold_map_size_bytes(shape) / sizeof(float));
    if (threshold.nodes_) {
        threshold.copy_nodes(0, contents);
        return contents;
    }
    for_each_node(shape, [&](std::uint32_t level, std::uint32_t x, std::uint32_t y,
                             std::uint32_t layer) {
        contents[threshold_map_index(shape.width, shape.height, shape.layers, level, x, y, layer)] =
            thresholds.at(level, x, y, layer);
    });
    return contents;
}

// ---- Thresholds for memory

namespace {

void check_parameter(const char* name, float value) {
    if (std::isnan(value) || value < 0.0F) {
        detail::refuse("a threshold for memory needs a ", name,
                       " that is neither negative nor NaN, but it is ", value);
    }
}

// One level of one layer: the sums over its nodes, row by row.
struct Sums {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<double> values;
};

// Returns the fragments of one layer at its texels.
Sums texel_sums(const MapShape& shape, std::span<const float> fragments, std::uint32_t layer) {
    Sums sums{shape.width, shape.height, {}};
    sums.values.reserve(fragments.size());
    for (const float count : fragments) {
        if (!std::isfinite(count) || count < 0.0F) {
            const std::size_t texel = sums.values.size();
            detail::refuse(
                "fragment counts must not be negative, infinite or NaN, but that of texel (x ",
                texel % shape.width, ", y ", texel / shape.width, ", layer ", layer, ") is ",
                count);
        }
        sums.values.push_back(count);
    }
    return sums;
}

Sums sums_above(const Sums& below) {
    Sums sums{(below.width + 1) / 2, (below.height + 1) / 2, {}};
    sums.values.resize(std::size_t{sums.width} * sums.height);
    for (std::uint32_t y = 0; y < below.height; ++y) {
        for (std::uint32_t x = 0; x < below.width; ++x) {
            sums.values[std::size_t{y / 2} * sums.width + x / 2] +=
                below.values[std::size_t{y} * below.width + x];
        }
    }
    return sums;
}

}  // namespace

// With S the sum over a node's texels, the mean is S / 4^l, and
//
//     min(M, sqrt(nodes / mean)) / 2^l = min(M / 2^l, sqrt(nodes / S)),
//
// in floats too, because powers of two only change exponents. So the threshold is monotone: a
// parent's S is not below that of its child, its M / 2^l not above. Rounding keeps that order in
// sums of non-negative numbers, in quotients and roots, and to 32 bits.
//
// A mean over the texels inside the map alone would not be monotone. Take 3 x 3 texels with all
// fragments in the last one: the node of level 1 at the lower right covers 1 texel and has S / 1,
// the root covers 9 and has S / 9. So the root's threshold would be sqrt(nodes * 9 / S) / 4, above
// sqrt(nodes / S) / 2.
Threshold Threshold::memory(float max_resolution, float nodes, const MapView& fragments) {
    check_parameter("largest resolution", max_resolution);
    check_parameter("number of nodes", nodes);
    const MapShape& shape = fragments.shape;
    NodeThresholds thresholds(shape.width, shape.height, shape.layers);
    std::vector<float> counts = reference::decode(fragments);
    if (const std::uint32_t encoding = detail::encoding_of(shape.format);
        encoding >= ENCODING_UNORM8) {
        // Texels of unorm formats were read as parts of 1, but they are counts.
        const auto largest = static_cast<float>(encoding_largest_code(encoding));
        std::ranges::for_each(counts, [&](float& count) { count = std::round(count * largest); });
    }
    const std::size_t layer_texels = std::size_t{shape.width} * shape.height;
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        Sums sums =
            texel_sums(shape, std::span(counts).subspan(layer * layer_texels, layer_texels), layer);
        for (std::uint32_t level = 0; level <= thresholds.top(); ++level) {
            const double largest = std::ldexp(double{max_resolution}, -static_cast<int>(level));
            for (std::uint32_t y = 0; y < sums.height; ++y) {
                for (std::uint32_t x = 0; x < sums.width; ++x) {
                    const double sum = sums.values[std::size_t{y} * sums.width + x];
                    const double by_memory = sum > 0.0 ? std::sqrt(double{nodes} / sum) : largest;
                    thresholds.at(level, x, y, layer) =
                        static_cast<float>(std::min(largest, by_memory));
                }
            }
            sums = sums_above(sums);
        }
    }
    return map(std::move(thresholds));
}

// ---- Layers and budgets

namespace detail {

void check_balance(const SubdivideOptions& options) {
    if (options.balance != Balance::none && options.max_tiles) {
        refuse("max_tiles is ", *options.max_tiles,
               ", but a balanced list cannot have a budget, because the number of its "
               "tiles is no sum over nodes; leave max_tiles out and scale the threshold "
               "(Threshold::scaled), or leave the balance out");
    }
}

void refuse_budget(std::uint64_t max_tiles, std::uint64_t least_tiles) {
    refuse("max_tiles is ", max_tiles, ", but this map has at least ", least_tiles,
           " tiles for all scales of the threshold (one per layer, and more where "
           "importance is infinite, NaN or 2^32 times the threshold); allow ",
           least_tiles, " or more, or raise the threshold");
}

std::vector<ResolvedThreshold> resolve_layers(const MapShape& shape,
                                              std::span<const Threshold> layer_thresholds) {
    check_shape(shape);
    if (layer_thresholds.size() != shape.layers) {
        refuse("the layers of the map (", shape.layers, ") and their thresholds (",
               layer_thresholds.size(), ") differ in number; give one threshold per layer");
    }
    std::vector<ResolvedThreshold> resolved;
    for (const Threshold& threshold : layer_thresholds) {
        try {
            resolved.push_back(threshold.resolve({shape.width, shape.height}));
        } catch (const Error& error) {
            throw Error(error.code(), "the threshold of layer " + std::to_string(resolved.size()) +
                                          " does not fit: " + error.what());
        }
    }
    return resolved;
}

Threshold by_node(const MapShape& shape, std::span<const Threshold> layer_thresholds) {
    const std::vector<ResolvedThreshold> thresholds = resolve_layers(shape, layer_thresholds);
    NodeThresholds nodes(shape.width, shape.height, shape.layers);
    for_each_node(shape, [&](auto level, auto x, auto y, auto layer) {
        nodes.at(level, x, y, layer) = thresholds[layer].at(level, x, y, 0);
    });
    return Threshold::map(std::move(nodes));
}

}  // namespace detail

}  // namespace quadtile
