// Images of noise: the same on every machine.

#pragma once

#include <quadtile/image.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace quadtile::app::test {

struct RandomImage {
    // Any codes; floats that are normal numbers below 1, so that nothing depends on how a device
    // treats NaN and denormals.
    explicit RandomImage(const ImageShape& image_shape, std::uint32_t seed = 1)
        : shape(image_shape),
          texels(std::size_t{shape.width} * shape.height * shape.layers *
                 texel_size_bytes(shape.format)) {
        std::mt19937 engine(seed);
        switch (shape.format) {
            case TexelFormat::r32_float:
            case TexelFormat::d32_float:
            case TexelFormat::rg32_float:
            case TexelFormat::rgba32_float:
                fill<std::uint32_t>([&] {
                    return std::bit_cast<std::uint32_t>(static_cast<float>(1 + (engine() >> 9U)) *
                                                        0x1p-24F);
                });
                break;
            case TexelFormat::r16_float:
            case TexelFormat::rg16_float:
            case TexelFormat::rgba16_float:
                fill<std::uint16_t>([&] {  // from the least normal number to 1
                    return static_cast<std::uint16_t>(0x0400U + engine() % (0x3c00U - 0x0400U));
                });
                break;
            default:
                fill<std::uint8_t>([&] { return static_cast<std::uint8_t>(engine() >> 24U); });
        }
    }

    [[nodiscard]] ImageView view() const noexcept { return {texels.data(), shape}; }

    ImageShape shape;
    std::vector<std::byte> texels;

 private:
    template <typename Word, typename Next>
    void fill(Next&& next) {
        for (std::size_t i = 0; i < texels.size(); i += sizeof(Word)) {
            const Word word = next();
            std::memcpy(texels.data() + i, &word, sizeof(Word));
        }
    }
};

}  // namespace quadtile::app::test
