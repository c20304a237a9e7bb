#include "fuzz_image.hpp"
#include "fuzz_targets.hpp"

namespace quadtile::app::fuzz {

void fuzz_png(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
        fuzz_image(bytes, {"G"}, {{}, {.linear = true}});
    }
}

}  // namespace quadtile::app::fuzz
