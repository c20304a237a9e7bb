#include "choices.hpp"

#include "support/maps.hpp"

#include <values/texel_codec.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace quadtile::test {

namespace {

// FNV-1a.
std::uint64_t hash(const std::string& name) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char character : name) {
        value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
    return value;
}

std::uint32_t parse(const std::string& name, const std::string& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw std::invalid_argument("the choice " + name + " is a whole number, not '" + text +
                                    "'");
    }
    return value;
}

}  // namespace

std::uint64_t Random::word() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

Choices::Given given_of(const std::vector<Choices::Choice>& made,
                        const std::vector<std::string>& names) {
    Choices::Given given;
    for (const Choices::Choice& choice : made) {
        if (names.empty() || std::ranges::find(names, choice.name) != names.end()) {
            given[choice.name] = choice.text();
        }
    }
    return given;
}

std::string Choices::Choice::text() const {
    return labels.empty() ? std::to_string(value) : labels[value];
}

Choices::Choices(std::uint64_t seed, Given given)
    : seed_(seed), given_(std::move(given)), text_("--seed " + std::to_string(seed)) {}

std::uint32_t Choices::add(Choice choice) {
    text_ += " " + choice.name + "=" + choice.text();
    made_.push_back(std::move(choice));
    return made_.back().value;
}

Random Choices::random(const std::string& name) const {
    return Random(seed_ ^ hash(name));
}

const std::string* Choices::given(const std::string& name) const {
    for (const Given* values : {&given_, &preferred_}) {
        if (const auto found = values->find(name); found != values->end()) {
            return &found->second;
        }
    }
    return nullptr;
}

std::uint32_t Choices::number(const std::string& name, std::uint32_t lowest, std::uint32_t highest,
                              const std::function<std::uint32_t(Random&)>& draw) {
    const std::string* const text = given(name);
    Random random = this->random(name);
    const std::uint32_t wanted = text == nullptr ? draw(random) : parse(name, *text);
    return add({name, std::clamp(wanted, lowest, highest), lowest, {}});
}

std::uint32_t Choices::number(const std::string& name, std::uint32_t lowest,
                              std::uint32_t highest) {
    return number(name, lowest, highest,
                  [&](Random& random) { return lowest + random.below(highest - lowest + 1); });
}

std::uint32_t Choices::one_of(const std::string& name, const std::vector<std::string>& labels) {
    std::uint32_t value = random(name).below(static_cast<std::uint32_t>(labels.size()));
    if (const std::string* const text = given(name); text != nullptr) {
        const auto found = std::ranges::find(labels, *text);
        if (found == labels.end() && given_.contains(name)) {
            throw std::invalid_argument("the choice " + name + " has no value '" + *text + "'");
        }
        if (found != labels.end()) {
            value = static_cast<std::uint32_t>(found - labels.begin());
        }
    }
    return add({name, value, 0, labels});
}

bool Choices::one_in(const std::string& name, std::uint32_t n) {
    return number(name, 0, 1, [&](Random& random) { return random.one_in(n) ? 1U : 0U; }) != 0;
}

// ---- Contents

namespace {

using Limits = std::numeric_limits<float>;

// An extent of 1 to `largest` texels.
std::uint32_t random_extent(Random& random, std::uint32_t largest) {
    switch (random.below(5)) {
        case 0:
            return 1 + random.below(std::min(largest, 8U));
        case 1: {  // beside a power of two
            const std::uint32_t power =
                1U << random.below(static_cast<std::uint32_t>(std::bit_width(largest)));
            return power + random.below(3) - 1;
        }
        case 2: {  // beside a multiple of a block's 64 texels
            return 64 * (1 + random.below(std::max(largest / 64, 1U))) + random.below(3) - 1;
        }
        case 3:  // as many small ones as large ones
            return 1 + random.below(
                           1U << random.below(static_cast<std::uint32_t>(std::bit_width(largest))));
        default:
            return 1 + random.below(largest);
    }
}

float special_value(Random& random) {
    return SPECIAL_VALUES[random.below(SPECIAL_VALUES.size())];
}

float of_palette(Random& random, const std::vector<float>& palette) {
    const float value = palette[random.below(static_cast<std::uint32_t>(palette.size()))];
    switch (random.below(8)) {
        case 0:
            return std::nextafter(value, Limits::infinity());
        case 1:
            return std::max(0.0F, std::nextafter(value, 0.0F));
        default:
            return value;
    }
}

// Writes value(x, y, layer) to each channel in a rectangle. `finite`: what sums would make of very
// small numbers is the device's choice.
template <typename Value>
void write_texels(const ImageShape& shape, bool finite, std::vector<std::byte>& texels,
                  const DirtyRectangle& to, const Value& value) {
    const std::size_t size = texel_size_bytes(shape.format);
    for (std::uint32_t y = to.y; y < to.y + to.height; ++y) {
        for (std::uint32_t x = to.x; x < to.x + to.width; ++x) {
            std::array<float, 4> channels{};
            for (std::uint32_t i = 0; i < channel_count(shape.format); ++i) {
                const float wanted = value(x, y, to.layer);
                channels[i] = finite && wanted < 1e-20F ? 0.0F : wanted;
                if (shape.format == TexelFormat::d32_float) {  // Vulkan wants depths in [0, 1]
                    channels[i] = channels[i] > 0.0F ? std::min(channels[i], 1.0F) : 0.0F;
                }
            }
            const std::size_t row = std::size_t{to.layer} * shape.height + y;
            detail::encode_texel(shape.format, channels, &texels[(row * shape.width + x) * size]);
        }
    }
}

}  // namespace

MapShape random_shape(Choices& choices, const ShapeLimits& limits) {
    // Most cases are small, so that there are many of them.
    const std::uint32_t texels =
        choices.number("texels_at_most", 1, limits.max_texels, [&](auto& random) {
            const std::uint32_t kind = random.below(1000);
            return kind < 750   ? 1U << 12U
                   : kind < 970 ? 1U << 16U
                   : kind < 998 ? 1U << 19U
                                : limits.max_texels;
        });
    MapShape shape;
    const bool is_tall = choices.one_in("tall", 2);
    const std::uint32_t longest = std::min(limits.max_extent, texels);
    const std::uint32_t extent = choices.number("longer_extent", 1, longest, [&](Random& random) {
        return random_extent(random, longest);
    });
    const std::uint32_t shortest = std::min(extent, texels / extent);
    const std::uint32_t other = choices.number("shorter_extent", 1, shortest, [&](Random& random) {
        return random_extent(random, shortest);
    });
    shape.width = is_tall ? other : extent;
    shape.height = is_tall ? extent : other;
    const std::uint32_t most = std::min(limits.max_layers, texels / (extent * other));
    shape.layers = choices.number("layers", 1, most, [&](Random& random) {
        return random.one_in(3) ? 1 + random.below(std::min(random.one_in(8) ? most : 9U, most))
                                : 1U;
    });
    return shape;
}

TexelFormat random_map_format(Choices& choices, const std::string& name) {
    constexpr TexelFormat FORMATS[] = {TexelFormat::r32_float, TexelFormat::r8_unorm,
                                       TexelFormat::r16_unorm, TexelFormat::r16_float,
                                       TexelFormat::d32_float, TexelFormat::d16_unorm};
    return FORMATS[choices.one_of(
        name, {"r32_float", "r8_unorm", "r16_unorm", "r16_float", "d32_float", "d16_unorm"})];
}

const std::vector<std::string>& shape_choices() {
    static const std::vector<std::string> names{"texels_at_most", "tall", "longer_extent",
                                                "shorter_extent", "layers"};
    return names;
}

bool keeps_shape(const Choices& choices) {
    return !choices.random("new shape").one_in(16);
}

std::vector<float> random_palette(const Choices& choices) {
    Random random = choices.random("palette");
    constexpr std::array VALUES = {0.0F,   Limits::min(), 0.25F,           0.5F,
                                   1.0F,   2.0F,          128.0F / 255.0F, 32768.0F / 65535.0F,
                                   1000.0F};
    std::vector<float> palette;
    for (std::uint32_t i = 0; i < 4; ++i) {
        palette.push_back(random.one_in(2) ? VALUES[random.below(VALUES.size())] : random.unit());
    }
    return palette;
}

float threshold_value(Random& random, const std::vector<float>& palette) {
    constexpr float SPECIAL[] = {
        0.0F, -0.0F, 1e-40F, 1.17549435e-38F, 3.4e38F, std::numeric_limits<float>::infinity()};
    return random.one_in(10) ? SPECIAL[random.below(6)]
                             : palette[random.below(static_cast<std::uint32_t>(palette.size()))];
}

Threshold level_threshold(Random& random, const MapShape& shape,
                          const std::vector<float>& palette) {
    const float value = threshold_value(random, palette);
    switch (random.below(3)) {
        case 0:
            return Threshold::constant(value);
        case 1:
            return Threshold::max_resolution(value * static_cast<float>(1U << random.below(8)));
        default: {
            std::vector<float> values(top_level(shape.width, shape.height) + 1);
            for (float& level : values) {
                level = threshold_value(random, palette);
            }
            std::ranges::sort(values, std::greater());
            return Threshold::per_level(values);
        }
    }
}

std::vector<std::byte> random_texels(Choices& choices, const ImageShape& shape,
                                     const std::vector<float>& palette, bool finite) {
    std::vector<std::string> kinds = {"constant", "palette", "peaks", "noise", "blocks", "smooth"};
    if (!finite) {
        kinds.insert(kinds.end(), {"specials", "negatives", "denormals", "bits"});
    }
    const std::string kind = kinds[choices.one_of("content", kinds)];
    // Peaks and special values: one texel in so many.
    const std::uint32_t period = choices.number(
        "period", 1, 1U << 20U, [](Random& random) { return 1U << random.below(16); });
    Random random = choices.random("texels");
    const std::size_t size = texel_size_bytes(shape.format);
    const std::size_t count = std::size_t{shape.width} * shape.height * shape.layers;
    std::vector<std::byte> texels(count * size);
    const bool is_float = detail::encoding_of(shape.format) <= ENCODING_FLOAT16;
    if (kind == "bits" && (!is_float || shape.format != TexelFormat::d32_float)) {
        for (std::byte& byte : texels) {
            byte = static_cast<std::byte>(random.word() & 0xffU);
        }
        return texels;
    }
    const float ground = palette[0];
    const float peak = palette[1] + 1.0F;
    const std::uint32_t block = 1U << random.below(8);
    const std::uint32_t seed = random.below(1U << 30U);
    const auto value_at = [&](std::uint32_t x, std::uint32_t y, std::uint32_t layer) {
        if (kind == "constant") {
            return ground;
        }
        if (kind == "palette") {
            return of_palette(random, palette);
        }
        if (kind == "peaks") {
            return random.one_in(period) ? peak : ground;
        }
        if (kind == "blocks") {
            Random of_block(seed + ((layer * 4099ULL + y / block) * 65537 + x / block));
            return of_palette(of_block, palette);
        }
        if (kind == "smooth") {
            return static_cast<float>(x + y) /
                   static_cast<float>(shape.width + shape.height + layer);
        }
        if (kind == "negatives") {
            return -random.unit();
        }
        if (kind == "denormals") {
            return random.unit() * Limits::min() * 2.0F;
        }
        if (kind == "specials" && random.one_in(period)) {
            return special_value(random);
        }
        return random.unit();
    };
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        write_texels(shape, finite, texels, {0, 0, shape.width, shape.height, layer}, value_at);
    }
    return texels;
}

void change_texels(Random& random, const ImageShape& shape, const std::vector<float>& palette,
                   std::vector<std::byte>& texels, const DirtyRectangle& rectangle, bool finite) {
    const std::uint32_t kind = random.below(finite ? 2 : 3);
    write_texels(shape, finite, texels, rectangle, [&](auto...) {
        return kind == 0                        ? palette[0]
               : kind == 2 && random.one_in(50) ? special_value(random)
                                                : of_palette(random, palette);
    });
}

}  // namespace quadtile::test
