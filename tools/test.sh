#!/usr/bin/env bash
# Builds everything and runs the tests. Arguments go to ctest: tools/test.sh -R unit
#
#     tools/test.sh --all [MINUTES]
#
# also runs slow tests and tests that rarely fail: more kernels, packages with shared libraries, the three.js
# page in Chromium, sanitizers, a soak of the service, fuzzers, and random cases on each CPU driver for MINUTES
# (default: 120).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
minutes=0
packages=()
if [[ ${1:-} == --all ]]; then
    minutes=${2:-120}
    [[ $minutes =~ ^[1-9][0-9]*$ ]] ||
        { echo "tools/test.sh: error: --all takes whole minutes, not '$minutes'" >&2; exit 2; }
    packages=(chromium)
    set -- --exclude-regex '^random\.(lavapipe|swiftshader)$' # they run longer at the end
elif [[ $# == 0 ]]; then
    set -- --label-exclude slow
fi
build=$root/build/dev
"$root/tools/install.sh" "${packages[@]}"
if [[ $minutes != 0 ]]; then
    npm install --prefix "$root/examples/threejs" --no-package-lock ||
        echo "tools/test.sh: without npm's packages the test of examples/threejs is skipped" >&2
fi
cmake -S "$root" --preset dev
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --test-output-size-passed 1000000 --parallel "$(nproc)" "$@"
# Prints the names of skipped tests, each once.
grep -h '^\[  SKIPPED \] [A-Z][^ ]*$' "$build/Testing/Temporary/LastTest.log" | sort -u || true
[[ $minutes != 0 ]] || exit 0

"$root/tools/test_sanitized.sh"
QUADTILE_SOAK_SECONDS=30 "$build/bin/quadtile_service_tests" --gtest_filter='ServiceSoak.*'
"$root/tools/fuzz.sh"
# The commit is the seed, so each commit tries other cases, and always the same.
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 1)
"$root/tools/random.sh" $((60 * minutes)) "" --short --max-texels 65536 --seed $((16#${commit:0:8}))
