// Twin of kernels/downsample.comp: reduces each texel from those below it, level by level.

#include <quadtile/kernel_parameters.h>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include "values/refuse.hpp"
#include "values/texel_codec.hpp"

namespace quadtile::reference {

namespace {

using detail::decode_texel;
using detail::encode_texel;
using detail::encoding_of;
using detail::is_extreme;
using detail::refuse;

constexpr float INFINITE = std::numeric_limits<float>::infinity();

// Returns 0 for -0 and denormals, the extreme for NaN.
float settle(float value, float of_nan) {
    if (std::isnan(value)) {
        return of_nan;
    }
    return std::abs(value) < std::numeric_limits<float>::min() ? 0.0F : value;
}

// A level while it is made: items in the units of the sums.
struct Items {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<Texel> items;

    [[nodiscard]] const Texel& at(std::uint32_t x, std::uint32_t y) const {
        return items[std::size_t{y} * width + x];
    }
};

class Twin {
 public:
    Twin(const ImageShape& source, const Downsampling& how)
        : source_(source),
          how_(how),
          rule_(static_cast<std::uint32_t>(how.edge_rule)),
          source_encoding_(encoding_of(source.format)),
          target_encoding_(encoding_of(how.format)),
          channels_(channel_count(how.format)),
          // Unorm channels that stay unorm are summed as codes, which is exact.
          in_codes_((how.reduction == Reduction::mean || how.reduction == Reduction::sum) &&
                    source_encoding_ >= ENCODING_UNORM8 && source_encoding_ == target_encoding_) {}

    [[nodiscard]] Items level_0(const std::byte* texels) const {
        Items level{source_.width, source_.height, {}};
        const std::size_t size = texel_size_bytes(source_.format);
        for (std::size_t i = 0; i < std::size_t{source_.width} * source_.height; ++i) {
            Texel texel = decode_texel(source_.format, texels + i * size);
            if (channel_count(source_.format) < channels_) {
                texel[1] = texel[0];
            }
            level.items.push_back(item_of(texel));
        }
        return level;
    }

    [[nodiscard]] Items level_above(const Items& below, std::uint32_t level) const {
        Items above{
            mip_extent(source_.width, level, rule_), mip_extent(source_.height, level, rule_), {}};
        for (std::uint32_t y = 0; y < above.height; ++y) {
            for (std::uint32_t x = 0; x < above.width; ++x) {
                above.items.push_back(reduce(below, level, x, y));
            }
        }
        return above;
    }

    // Returns the texels of a level, rounded to the format.
    [[nodiscard]] std::vector<std::byte> encode(const Items& level, std::uint32_t number) const {
        const std::size_t size = texel_size_bytes(how_.format);
        std::vector<std::byte> bytes(level.items.size() * size);
        for (std::uint32_t y = 0; y < level.height; ++y) {
            for (std::uint32_t x = 0; x < level.width; ++x) {
                Texel texel = level.at(x, y);
                for (std::size_t c = 0; c < channels_; ++c) {
                    if (how_.reduction == Reduction::mean) {
                        if (x + 1 == level.width) {
                            texel[c] *= mip_weight(number, last_coverage(source_.width, number));
                        }
                        if (y + 1 == level.height) {
                            texel[c] *= mip_weight(number, last_coverage(source_.height, number));
                        }
                    }
                    if (is_code(c)) {  // first to the code; its fraction is rounded back to it
                        const auto largest =
                            static_cast<float>(encoding_largest_code(target_encoding_));
                        texel[c] = std::nearbyint(std::clamp(texel[c], 0.0F, largest)) / largest;
                    }
                }
                encode_texel(how_.format, texel,
                             bytes.data() + size * (std::size_t{y} * level.width + x));
            }
        }
        return bytes;
    }

    // Returns the items of a level that was stored and is read again.
    [[nodiscard]] Items decode(const std::vector<std::byte>& bytes, const Items& level,
                               std::uint32_t number) const {
        const std::size_t size = texel_size_bytes(how_.format);
        Items read{level.width, level.height, {}};
        for (std::uint32_t y = 0; y < level.height; ++y) {
            for (std::uint32_t x = 0; x < level.width; ++x) {
                Texel item = decode_texel(how_.format,
                                          bytes.data() + size * (std::size_t{y} * level.width + x));
                for (std::size_t c = 0; c < channels_; ++c) {
                    if (is_code(c)) {
                        item[c] = std::nearbyint(
                            item[c] * static_cast<float>(encoding_largest_code(target_encoding_)));
                    }
                    if (how_.reduction == Reduction::mean) {
                        const float unit = 1.0F / static_cast<float>(1U << number);
                        if (x + 1 == level.width) {
                            item[c] *=
                                static_cast<float>(last_coverage(source_.width, number)) * unit;
                        }
                        if (y + 1 == level.height) {
                            item[c] *=
                                static_cast<float>(last_coverage(source_.height, number)) * unit;
                        }
                    }
                }
                read.items.push_back(item);
            }
        }
        return read;
    }

 private:
    // Returns whether a channel is summed as codes.
    [[nodiscard]] bool is_code(std::size_t channel) const {
        return in_codes_ && (target_encoding_ != ENCODING_SRGB8 || channel == 3);
    }

    [[nodiscard]] std::uint32_t last_coverage(std::uint32_t extent, std::uint32_t level) const {
        return mip_last_coverage(extent, level, rule_);
    }

    [[nodiscard]] Texel item_of(Texel texel) const {
        for (std::size_t c = 0; c < channels_; ++c) {
            if (is_extreme(how_.reduction)) {
                const bool minimum = how_.reduction == Reduction::min ||
                                     (how_.reduction == Reduction::min_max && c == 0);
                texel[c] = settle(texel[c], minimum ? -INFINITE : INFINITE);
            } else if (is_code(c)) {
                texel[c] = std::nearbyint(
                    texel[c] * static_cast<float>(encoding_largest_code(source_encoding_)));
            }
        }
        return texel;
    }

    [[nodiscard]] float reduce_two(float a, float b, std::size_t channel) const {
        switch (how_.reduction) {
            case Reduction::max:
                return std::max(a, b);
            case Reduction::min:
                return std::min(a, b);
            case Reduction::min_max:
                return channel == 0 ? std::min(a, b) : std::max(a, b);
            default:
                return a + b;
        }
    }

    [[nodiscard]] float nothing(std::size_t channel) const {
        switch (how_.reduction) {
            case Reduction::max:
                return -INFINITE;
            case Reduction::min:
                return INFINITE;
            case Reduction::min_max:
                return channel == 0 ? INFINITE : -INFINITE;
            default:
                return 0.0F;
        }
    }

    [[nodiscard]] Texel reduce(const Items& below, std::uint32_t level, std::uint32_t x,
                               std::uint32_t y) const {
        const std::uint32_t last_x = mip_last_child(source_.width, level, x, rule_);
        const std::uint32_t last_y = mip_last_child(source_.height, level, y, rule_);
        if (how_.reduction == Reduction::custom) {
            return reduce_windows(below, 2 * x, 2 * y, last_x, last_y);
        }
        Texel total{};
        for (std::size_t c = 0; c < channels_; ++c) {
            for (std::uint32_t row = 2 * y; row <= last_y; ++row) {
                float of_row = nothing(c);
                for (std::uint32_t column = 2 * x; column <= last_x; ++column) {
                    of_row = reduce_two(of_row, below.at(column, row)[c], c);
                }
                total[c] = row == 2 * y ? of_row : reduce_two(total[c], of_row, c);
            }
            if (how_.reduction == Reduction::mean) {
                total[c] *= 0.25F;
            }
        }
        return total;
    }

    [[nodiscard]] Texel reduce_window(const Items& below, std::uint32_t x, std::uint32_t y,
                                      std::uint32_t last_x, std::uint32_t last_y) const {
        const std::uint32_t right = std::min(x + 1, last_x);
        const std::uint32_t lower = std::min(y + 1, last_y);
        return how_.custom(below.at(x, y), below.at(right, y), below.at(x, lower),
                           below.at(right, lower));
    }

    [[nodiscard]] Texel reduce_windows(const Items& below, std::uint32_t x, std::uint32_t y,
                                       std::uint32_t last_x, std::uint32_t last_y) const {
        const std::uint32_t second_x = last_x - x == 2 ? x + 1 : x;
        const std::uint32_t second_y = last_y - y == 2 ? y + 1 : y;
        if (second_x == x && second_y == y) {
            return reduce_window(below, x, y, last_x, last_y);
        }
        return how_.custom(reduce_window(below, x, y, last_x, last_y),
                           reduce_window(below, second_x, y, last_x, last_y),
                           reduce_window(below, x, second_y, last_x, last_y),
                           reduce_window(below, second_x, second_y, last_x, last_y));
    }

    const ImageShape& source_;
    const Downsampling& how_;
    std::uint32_t rule_;
    std::uint32_t source_encoding_;
    std::uint32_t target_encoding_;
    std::size_t channels_;
    bool in_codes_;
};

// Returns whether a level is stored and read again, so the next one is made from rounded values.
bool is_read_again(const Downsampling& how, std::uint32_t level) {
    switch (how.method) {
        case MipMethod::per_level:
            return true;
        case MipMethod::subgroup:
            return level % BLOCK_LEVELS == 0;
        default:  // like FidelityFX SPD, which reads level 6
            return how.edge_rule == EdgeRule::drop && level == BLOCK_LEVELS;
    }
}

// Returns a layer with unchanged texels, NaN too, in a format of the same encoding: depths as
// colours, one channel as two.
std::vector<std::byte> with_channels_of(TexelFormat target, const ImageShape& source,
                                        const std::byte* texels) {
    const std::size_t count = std::size_t{source.width} * source.height;
    std::vector<std::byte> copy(count * texel_size_bytes(target));
    for (std::size_t i = 0; i < count; ++i) {
        Texel texel = decode_texel(source.format, texels + i * texel_size_bytes(source.format));
        if (channel_count(source.format) == 1) {
            texel[1] = texel[0];
        }
        encode_texel(target, texel, copy.data() + i * texel_size_bytes(target));
    }
    return copy;
}

}  // namespace

// Twin of the texture unit's conversion when a shader reads a texel of the map.
std::vector<float> decode(const MapView& map) {
    check_shape(map.shape);
    check_texels(map);
    const std::size_t size = texel_size_bytes(map.shape.format);
    std::vector<float> texels(std::size_t{map.shape.width} * map.shape.height * map.shape.layers);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        texels[i] =
            decode_texel(map.shape.format, static_cast<const std::byte*>(map.texels) + i * size)[0];
    }
    return texels;
}

std::vector<Texel> decode_texels(const ImageView& image) {
    check_image(image.shape);
    check_texels(image);
    const std::size_t size = texel_size_bytes(image.shape.format);
    std::vector<Texel> texels(std::size_t{image.shape.width} * image.shape.height *
                              image.shape.layers);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        texels[i] = decode_texel(image.shape.format,
                                 static_cast<const std::byte*>(image.texels) + i * size);
    }
    return texels;
}

MipChain downsample(const ImageView& image, const Downsampling& how) {
    const ImageShape& source = image.shape;
    check_image(source);
    check_texels(image);
    check_formats(how.reduction, source.format, how.format);
    if (how.reduction == Reduction::custom && !how.custom) {
        refuse("Reduction::custom needs a function of four texels; give one");
    }
    const std::uint32_t full = full_mip_levels(source.width, source.height, how.edge_rule);
    const std::uint32_t levels = how.levels == 0 ? full : how.levels;
    if (levels > full) {
        refuse(levels, " levels of an image of ", source.width, " x ", source.height,
               " texels, which has ", full);
    }
    if (how.method == MipMethod::blit) {
        refuse(
            "blits have no reference, because each driver rounds them differently; choose "
            "another method");
    }
    const Twin twin(source, how);
    const std::size_t layer_bytes =
        std::size_t{source.width} * source.height * texel_size_bytes(source.format);

    MipChain chain;
    for (std::uint32_t level = 0; level < levels; ++level) {
        const auto rule = static_cast<std::uint32_t>(how.edge_rule);
        chain.levels.push_back({{mip_extent(source.width, level, rule),
                                 mip_extent(source.height, level, rule), source.layers, how.format},
                                {}});
    }
    const auto* const texels = static_cast<const std::byte*>(image.texels);
    if (!how.copy_source || source.format == how.format) {
        chain.levels[0] = {source, {texels, texels + layer_bytes * source.layers}};
    }
    for (std::uint32_t layer = 0; layer < source.layers; ++layer) {
        Items items = twin.level_0(texels + layer * layer_bytes);
        if (how.copy_source && source.format != how.format) {
            const std::vector<std::byte> copy =
                encoding_of(source.format) == encoding_of(how.format)
                    ? with_channels_of(how.format, source, texels + layer * layer_bytes)
                    : twin.encode(items, 0);
            chain.levels[0].texels.insert(chain.levels[0].texels.end(), copy.begin(), copy.end());
        }
        for (std::uint32_t level = 1; level < levels; ++level) {
            items = twin.level_above(items, level);
            const std::vector<std::byte> bytes = twin.encode(items, level);
            std::vector<std::byte>& stored = chain.levels[level].texels;
            stored.insert(stored.end(), bytes.begin(), bytes.end());
            if (is_read_again(how, level)) {
                items = twin.decode(bytes, items, level);
            }
        }
    }
    return chain;
}

}  // namespace quadtile::reference
