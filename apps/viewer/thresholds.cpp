#include "thresholds.hpp"

#include <quadtile/error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace quadtile::viewer {

namespace {

// Multiplies. A positive value stays positive, since no factor leads back from 0.
float bounded_product(float value, double factor) {
    constexpr double SMALLEST = std::numeric_limits<float>::min();
    return value > 0.0F ? static_cast<float>(std::clamp(value * factor, SMALLEST,
                                                        double{std::numeric_limits<float>::max()}))
                        : value;
}

// Returns a value per level of the map.
std::vector<float> fitted(std::vector<float> levels, const MapShape& shape) {
    if (levels.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the threshold per level has no values; give at least one");
    }
    levels.resize(std::size_t{top_level(shape.width, shape.height)} + 1, levels.back());
    return levels;
}

Threshold threshold_of(const ThresholdSettings& settings, const MapShape& shape,
                       const MapView* fragments, const std::string* function) {
    switch (settings.kind) {
        case ThresholdKind::max_resolution:
            return Threshold::max_resolution(settings.max_resolution);
        case ThresholdKind::constant:
            return Threshold::constant(settings.constant);
        case ThresholdKind::per_level:
            return Threshold::per_level(fitted(settings.levels, shape));
        case ThresholdKind::glsl:
            if (function == nullptr) {
                throw Error(ErrorCode::invalid_argument,
                            "the GLSL threshold needs a file; give one");
            }
            return Threshold::function(*function, settings.glsl_parameters);
        case ThresholdKind::memory:
            break;
    }
    if (fragments == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    "the memory threshold needs fragments; give their channel");
    }
    return Threshold::memory(settings.max_resolution, settings.nodes, *fragments);
}

}  // namespace

Threshold make_threshold(const ThresholdSettings& settings, const MapShape& shape,
                         const MapView* fragments, const std::string* function) {
    Threshold threshold = threshold_of(settings, shape, fragments, function);
    threshold.check_fits(shape);
    return threshold;
}

ThresholdSettings scaled(const ThresholdSettings& settings, double factor) {
    ThresholdSettings result = settings;
    switch (settings.kind) {
        case ThresholdKind::memory:
            result.nodes = bounded_product(settings.nodes, factor * factor);
            result.max_resolution = bounded_product(settings.max_resolution, factor);
            break;
        case ThresholdKind::max_resolution:
            result.max_resolution = bounded_product(settings.max_resolution, factor);
            break;
        case ThresholdKind::constant:
            result.constant = bounded_product(settings.constant, factor);
            break;
        case ThresholdKind::per_level:
            for (float& level : result.levels) {
                level = bounded_product(level, factor);
            }
            break;
        case ThresholdKind::glsl:
            break;
    }
    return result;
}

std::string number_text(double value, int digits) {
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

std::string describe(const ThresholdSettings& threshold) {
    switch (threshold.kind) {
        case ThresholdKind::max_resolution:
        case ThresholdKind::memory:
            return "resolution " + number_text(threshold.max_resolution, 6);
        case ThresholdKind::constant:
            return "threshold " + number_text(threshold.constant, 6);
        case ThresholdKind::glsl:
            return "threshold in GLSL";
        case ThresholdKind::per_level:
            break;
    }
    return "thresholds per level";
}

}  // namespace quadtile::viewer
