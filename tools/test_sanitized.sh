#!/usr/bin/env bash
# Builds and runs tests under sanitizers:
#
#     tools/test_sanitized.sh [PART...]
#
# addresses: addresses, leaks and undefined behaviour, of tests without a driver, of all with failing Vulkan
# calls, and of random cases in guarded memory (test/support/guarded_memory.hpp).
# The compiler is Clang, which also compiles the programs; its warnings are errors. threads: races. Default: both.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Reuses the shader cache of build/dev's tests: under a sanitizer the CPU driver compiles for minutes.
export MESA_SHADER_CACHE_DIR=$root/build/dev/shaders

# The driver's compiler makes millions of small objects. A small quarantine saves a quarter of its time,
# but a late use of freed memory may be missed.
options=quarantine_size_mb=16:thread_local_quarantine_size_kb=64

# build TREE PROGRAMS TEST...: builds the programs and the tests, and runs the tests.
build() {
    local tree=$root/build/$1 programs=() test
    read -ra programs <<<"$2"
    cmake -S "$root" --preset "$1" -DQUADTILE_BUILD_BENCH=OFF
    cmake --build "$tree" --target "${programs[@]}" "${@:3}"
    for test in "${@:3}"; do
        local filter='*'
        [[ $test != quadtile_apps_tests ]] || filter='-*Mipmapper*'
        # Drivers leak when calls fail; the fault tests count the library's objects themselves.
        local leaks=1
        [[ $test != quadtile_fault_tests ]] || leaks=0
        ASAN_OPTIONS=$options:detect_leaks=$leaks "$tree/bin/$test" --gtest_filter="$filter"
    done
}

[[ $# -gt 0 ]] || set -- addresses threads
for part in "$@"; do
    case $part in
        addresses)
            "$root/tools/install.sh" clang libclang-rt-14-dev
            build asan-ubsan 'quadtile_cli quadtile_viewer quadtile_bake quadtile_shadow_example' \
                quadtile_unit_tests quadtile_apps_tests quadtile_viewer_tests quadtile_baker_tests \
                quadtile_shadow_unit_tests quadtile_fault_tests
            cmake --build "$root/build/asan-ubsan" --target quadtile_random
            # The drivers' own leaks are not ours. Validation takes longer than all the rest.
            VK_ICD_FILENAMES=$(echo /usr/share/vulkan/icd.d/lvp_icd.*.json) QUADTILE_VALIDATION=0 \
                ASAN_OPTIONS=$options:detect_leaks=0:abort_on_error=1 "$root/build/asan-ubsan/bin/quadtile_random" \
                tiles service mips hand_overs --cases 25 --short --max-texels 65536
            ;;
        threads)
            "$root/tools/install.sh"
            build tsan '' quadtile_unit_tests quadtile_viewer_tests
            ;;
        *)
            echo "tools/test_sanitized.sh: error: there is no part '$part'; there are addresses and threads" >&2
            exit 2
            ;;
    esac
done
