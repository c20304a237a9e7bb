#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quadtile::test {

// A PFM file, whose rows go from the bottom; those of the values go from the top.
inline std::string pfm(std::span<const float> values, std::uint32_t width, bool colour = false) {
    const std::size_t row = std::size_t{width} * (colour ? 3 : 1);
    const std::size_t height = values.size() / row;
    std::string bytes = std::string(colour ? "PF" : "Pf") + "\n" + std::to_string(width) + " " +
                        std::to_string(height) + "\n-1.0\n";
    for (std::size_t y = height; y-- > 0;) {
        bytes.append(reinterpret_cast<const char*>(&values[y * row]), row * sizeof(float));
    }
    return bytes;
}

}  // namespace quadtile::test
