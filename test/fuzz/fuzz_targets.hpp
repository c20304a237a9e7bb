// Targets of the fuzzers: each handles any bytes as the program does. Errors for users count
// as success. All else is a finding: a crash, a report of a sanitizer, and any exception that
// leaves a target.
// libFuzzer calls the one that QUADTILE_FUZZ_TARGET names, the tests (test/apps/load_map_test.cpp)
// all of them, with the seeds and with what was found before.

#pragma once

#include <string_view>

namespace quadtile::app::fuzz {

// The bytes of an image file, which is loaded as a map and as an image.
void fuzz_exr(std::string_view bytes);
void fuzz_pfm(std::string_view bytes);
void fuzz_png(std::string_view bytes);

}  // namespace quadtile::app::fuzz
