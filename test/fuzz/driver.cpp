// The target that QUADTILE_FUZZ_TARGET names, for libFuzzer.

#include "fuzz_targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    quadtile::app::fuzz::QUADTILE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
