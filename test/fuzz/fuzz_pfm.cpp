#include "fuzz_image.hpp"
#include "fuzz_targets.hpp"

namespace quadtile::app::fuzz {

void fuzz_pfm(std::string_view bytes) {
    // What begins otherwise is for no loader: that is tried here, too.
    if (!bytes.starts_with("\x76\x2f\x31\x01") && !bytes.starts_with("\x89PNG")) {
        fuzz_image(bytes, {"G"}, {{}});
    }
}

}  // namespace quadtile::app::fuzz
