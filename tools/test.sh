#!/usr/bin/env bash
# Builds everything and runs the tests. Arguments go to ctest: tools/test.sh -R unit
#
#     tools/test.sh --all [MINUTES]
#
# also runs slow tests and tests that rarely fail: more kernels, packages with shared libraries, the three.js page
# in Chromium, the add-on in Blender, a lightmap in Godot, sanitizers, random requests to a service, fuzzers, and random
# cases on each CPU driver for MINUTES (default: 120).
#
#     tools/test.sh --ci
#
# runs the quick tests, the sanitizers for addresses, random cases for a minute, and a sixth of the rest, which turns
# with the number of commits.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/dev
minutes=0
parts=()
packages=()
case ${1:-} in
    --all)
        minutes=${2:-120}
        [[ $minutes =~ ^[1-9][0-9]*$ ]] ||
            { echo "tools/test.sh: error: --all takes whole minutes, not '$minutes'" >&2; exit 2; }
        read -ra parts <<<"addresses threads soak libcxx fuzz aarch64 windows"
        packages=(chromium blender godot3)
        set -- --exclude-regex '^random\.(lavapipe|swiftshader)$' # they run longer at the end
        ;;
    --ci)
        minutes=1
        turns=('threads soak libcxx' fuzz packages slow windows aarch64)
        turn=$(($(git -C "$root" rev-list --count HEAD) % 6))
        read -ra parts <<<"addresses ${turns[turn]}"
        echo "tools/test.sh: this commit's turn: ${turns[turn]}"
        set -- --label-exclude slow --exclude-regex '^random\.(lavapipe|swiftshader)$'
        ;;
    '') set -- --label-exclude slow ;;
esac

run_tests() {
    ctest --test-dir "$build" --output-on-failure --test-output-size-passed 1000000 --parallel "$(nproc)" "$@"
    # Prints the names of skipped tests, each once.
    grep -h '^\[  SKIPPED \] [A-Z][^ ]*$' "$build/Testing/Temporary/LastTest.log" | sort -u || true
}

npm_packages() {
    npm install --prefix "$root/examples/threejs" --no-package-lock ||
        echo "tools/test.sh: without npm's packages the test of examples/threejs is skipped" >&2
}

[[ " ${parts[*]} " != *' slow '* ]] || packages=(chromium blender godot3)
"$root/tools/install.sh" "${packages[@]}"
[[ ${#packages[@]} == 0 ]] || npm_packages
cmake -S "$root" --preset dev
cmake --build "$build"
run_tests "$@"
for part in "${parts[@]}"; do
    case $part in
        addresses | threads) "$root/tools/test_sanitized.sh" "$part" ;;
        soak) "$build/bin/quadtile_random" service --seconds 30 --threads 2 ;;
        fuzz | libcxx) "$root/tools/$part.sh" ;;
        packages) run_tests -L package ;;
        aarch64 | windows) "$root/tools/$part.sh" 60 ;;
        slow) run_tests -L slow -LE package ;;
    esac
done
[[ $minutes != 0 ]] || exit 0
# The commit is the seed, so each commit tries other cases, and always the same.
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 1)
"$root/tools/random.sh" $((60 * minutes)) "" --short --max-texels 65536 --seed $((16#${commit:0:8}))
