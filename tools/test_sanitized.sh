#!/usr/bin/env bash
# Builds and runs tests under sanitizers: tests without a driver, and all tests with failing Vulkan calls, for
# addresses, leaks and undefined behaviour; tests with threads for races.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install.sh"
# Reuses the shader cache of build/dev's tests: under a sanitizer the CPU driver compiles for minutes.
export MESA_SHADER_CACHE_DIR=$root/build/dev/shaders

cmake -S "$root" --preset asan-ubsan -DQUADTILE_BUILD_BENCH=OFF
cmake --build "$root/build/asan-ubsan" --target quadtile_unit_tests quadtile_apps_tests quadtile_viewer_tests \
    quadtile_baker_tests quadtile_shadow_unit_tests quadtile_fault_tests
"$root/build/asan-ubsan/bin/quadtile_unit_tests"
"$root/build/asan-ubsan/bin/quadtile_apps_tests" --gtest_filter='-*Mipmapper*'
"$root/build/asan-ubsan/bin/quadtile_viewer_tests"
"$root/build/asan-ubsan/bin/quadtile_baker_tests"
"$root/build/asan-ubsan/bin/quadtile_shadow_unit_tests"
"$root/build/asan-ubsan/bin/quadtile_fault_tests"

cmake -S "$root" --preset tsan -DQUADTILE_BUILD_BENCH=OFF
cmake --build "$root/build/tsan" --target quadtile_unit_tests quadtile_viewer_tests
"$root/build/tsan/bin/quadtile_unit_tests"
"$root/build/tsan/bin/quadtile_viewer_tests"
