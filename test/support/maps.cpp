#include "support/maps.hpp"

#include "support/hash.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <span>

namespace quadtile::test {

namespace {

std::size_t texel_count(const MapShape& shape) {
    return std::size_t{shape.width} * shape.height * shape.layers;
}

std::size_t texel_index(const MapShape& shape, std::uint32_t x, std::uint32_t y,
                        std::uint32_t layer) {
    return (std::size_t{layer} * shape.height + y) * shape.width + x;
}

// Returns a bump 1 / (1 + t^2)^2 along one axis, t = (i - centre) / width. Unlike a Gaussian it
// needs no function whose last bit depends on the C library.
std::vector<float> bump(std::uint32_t extent, float centre, float width) {
    std::vector<float> values(extent);
    for (std::uint32_t i = 0; i < extent; ++i) {
        const float t = (static_cast<float>(i) - centre) / width;
        const float root = 1.0F / (1.0F + t * t);
        values[i] = root * root;
    }
    return values;
}

}  // namespace

std::vector<float> constant_map(const MapShape& shape, float importance) {
    return std::vector<float>(texel_count(shape), importance);
}

std::vector<float> smooth_map(const MapShape& shape) {
    constexpr std::uint32_t BUMPS = 8;
    const auto extent = static_cast<float>(std::max(shape.width, shape.height));
    std::vector<float> texels(texel_count(shape), 0.01F);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::uint32_t i = 0; i < BUMPS; ++i) {
            const std::uint32_t seed = 4 * (layer * BUMPS + i);
            const float width = extent / static_cast<float>(4U << (i % 4));
            const float height = 0.2F + unit_float(hash(seed));
            const std::vector<float> along_x = bump(
                shape.width, unit_float(hash(seed + 1)) * static_cast<float>(shape.width), width);
            const std::vector<float> along_y = bump(
                shape.height, unit_float(hash(seed + 2)) * static_cast<float>(shape.height), width);
            for (std::uint32_t y = 0; y < shape.height; ++y) {
                const std::span row(&texels[texel_index(shape, 0, y, layer)], shape.width);
                for (std::uint32_t x = 0; x < shape.width; ++x) {
                    row[x] += height * along_y[y] * along_x[x];
                }
            }
        }
    }
    return texels;
}

std::vector<float> random_map(const MapShape& shape, std::uint32_t seed) {
    std::vector<float> texels(texel_count(shape));
    std::uint32_t counter = hash(seed);
    for (float& texel : texels) {
        texel = unit_float(hash(counter++));
    }
    return texels;
}

std::vector<float> peaks_map(const MapShape& shape, std::uint32_t block_extent,
                             std::uint32_t seed) {
    std::vector<float> texels(texel_count(shape), 0.0F);
    std::uint32_t counter = hash(seed);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::uint32_t y = 0; y < shape.height; y += block_extent) {
            for (std::uint32_t x = 0; x < shape.width; x += block_extent) {
                const std::uint32_t dx = hash(counter++) % std::min(block_extent, shape.width - x);
                const std::uint32_t dy = hash(counter++) % std::min(block_extent, shape.height - y);
                texels[texel_index(shape, x + dx, y + dy, layer)] = PEAK_IMPORTANCE;
            }
        }
    }
    return texels;
}

std::vector<float> with_special_values(std::vector<float> texels, std::uint32_t period,
                                       std::uint32_t seed) {
    std::uint32_t counter = hash(seed);
    for (float& texel : texels) {
        const std::uint32_t word = hash(counter++);
        if (word % period == 0) {
            texel = SPECIAL_VALUES[(word / period) % SPECIAL_VALUES.size()];
        }
    }
    return texels;
}

NodeThresholds random_thresholds(const MapShape& shape, std::uint32_t seed) {
    using Limits = std::numeric_limits<float>;
    const std::array specials = {0.0F,          -0.0F,         Limits::denorm_min(),
                                 Limits::min(), Limits::max(), Limits::infinity()};
    std::uint32_t counter = hash(seed);
    return make_thresholds(shape, [&](auto...) {
        const std::uint32_t word = hash(counter++);
        return word % 16 == 0 ? specials[word / 16 % specials.size()] : 1.1F * unit_float(word);
    });
}

std::vector<float> random_fragments(const MapShape& shape, std::uint32_t seed) {
    std::vector<float> fragments(texel_count(shape));
    std::uint32_t counter = hash(seed);
    for (float& count : fragments) {
        const std::uint32_t word = hash(counter++);
        count = word % 64 == 0  ? 1000.0F
                : word % 2 == 0 ? 0.0F
                                : static_cast<float>(word / 2 % 15 + 1);
    }
    return fragments;
}

std::optional<std::filesystem::path> data_directory() {
    const char* from_environment = std::getenv("QUADTILE_DATA");
    std::filesystem::path directory =
        from_environment != nullptr ? from_environment : QUADTILE_SHARED_DATA;
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
        return std::nullopt;
    }
    return directory;
}

}  // namespace quadtile::test
