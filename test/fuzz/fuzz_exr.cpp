#include "fuzz_image.hpp"
#include "fuzz_targets.hpp"

namespace quadtile::app::fuzz {

void fuzz_exr(std::string_view bytes) {
    if (bytes.starts_with("\x76\x2f\x31\x01")) {
        fuzz_image(bytes, {"G"}, {{}});
    }
}

}  // namespace quadtile::app::fuzz
