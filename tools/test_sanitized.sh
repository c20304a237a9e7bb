#!/usr/bin/env bash
# Builds and runs tests under sanitizers: tests without a driver, all tests with failing Vulkan calls, and random cases in
# guarded memory (test/support/guarded_memory.hpp), for addresses, leaks and undefined behaviour; tests with threads for
# races.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install.sh"
# Reuses the shader cache of build/dev's tests: under a sanitizer the CPU driver compiles for minutes.
export MESA_SHADER_CACHE_DIR=$root/build/dev/shaders

cmake -S "$root" --preset asan-ubsan -DQUADTILE_BUILD_BENCH=OFF
cmake --build "$root/build/asan-ubsan" --target quadtile_unit_tests quadtile_apps_tests quadtile_viewer_tests \
    quadtile_baker_tests quadtile_shadow_unit_tests quadtile_fault_tests quadtile_random
"$root/build/asan-ubsan/bin/quadtile_unit_tests"
"$root/build/asan-ubsan/bin/quadtile_apps_tests" --gtest_filter='-*Mipmapper*'
"$root/build/asan-ubsan/bin/quadtile_viewer_tests"
"$root/build/asan-ubsan/bin/quadtile_baker_tests"
"$root/build/asan-ubsan/bin/quadtile_shadow_unit_tests"
"$root/build/asan-ubsan/bin/quadtile_fault_tests"
# The drivers' own leaks are not ours. Validation takes longer than all the rest.
VK_ICD_FILENAMES=$(echo /usr/share/vulkan/icd.d/lvp_icd.*.json) QUADTILE_VALIDATION=0 ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
    "$root/build/asan-ubsan/bin/quadtile_random" tiles service mips hand_overs --cases 100 --short --max-texels 65536

cmake -S "$root" --preset tsan -DQUADTILE_BUILD_BENCH=OFF
cmake --build "$root/build/tsan" --target quadtile_unit_tests quadtile_viewer_tests
"$root/build/tsan/bin/quadtile_unit_tests"
"$root/build/tsan/bin/quadtile_viewer_tests"
