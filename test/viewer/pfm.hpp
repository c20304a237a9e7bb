#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quadtile::viewer::test {

// A grey PFM file for little-endian machines; the texels' rows go from the top.
inline std::string pfm(const std::vector<float>& texels, std::uint32_t width) {
    const std::size_t height = texels.size() / width;
    std::string bytes = "Pf\n" + std::to_string(width) + " " + std::to_string(height) + "\n-1\n";
    for (std::size_t y = height; y-- > 0;) {  // the file's go from the bottom
        bytes.append(reinterpret_cast<const char*>(texels.data() + y * width),
                     sizeof(float) * width);
    }
    return bytes;
}

}  // namespace quadtile::viewer::test
