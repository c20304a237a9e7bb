#!/usr/bin/env bash
# Fuzzes the command line's readers of files. Builds the targets with Clang, and runs each from its seeds and earlier
# findings.
#
#     tools/fuzz.sh [SECONDS [TARGET...]]
#
# Each target runs for SECONDS (default: 60). Default of TARGET: all of exr, pfm, png. Exit status 1 if a target has
# found anything. build/fuzz/corpus keeps inputs that reach new code, where the next run begins.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/fuzz

fail() {
    echo "tools/fuzz.sh: error: $*" >&2
    exit 2
}

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "'$seconds' is no number of seconds; usage: tools/fuzz.sh [SECONDS [TARGET...]]"
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=(exr pfm png)
for target in "${targets[@]}"; do
    [[ -d $root/test/fuzz/seeds/$target ]] ||
        fail "there is no target '$target'; there are: $(ls -x "$root/test/fuzz/seeds")"
done

"$root/tools/install.sh" clang libclang-rt-14-dev
cmake -S "$root" --preset fuzz
cmake --build "$build" --target "${targets[@]/#/quadtile_fuzz_}"

# Limits the memory that a reader takes at once to what 4 KiB can be decompressed to: if it takes more, it believes a
# header. That is 516 MiB with OpenEXR's DWA, which may double as they become floats.
fuzz() {
    local target=$1 seeds=$root/test/fuzz/seeds/$1 found=$root/test/fuzz/found/$1
    local corpus=$build/corpus/$target findings=$build/findings log=$build/findings/$target.log
    mkdir -p "$corpus" "$findings"
    local folders=("$corpus" "$seeds")
    [[ ! -d $found ]] || folders+=("$found")
    local memory=256
    [[ $target != exr ]] || memory=1100
    if "$build/bin/quadtile_fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=25 \
        -rss_limit_mb=2560 -malloc_limit_mb="$memory" -dict="$root/test/fuzz/$target.dict" \
        -artifact_prefix="$findings/$target-" "${folders[@]}" >"$log" 2>&1; then
        echo "nothing found: $target, $(grep -o 'Done [0-9]* runs' "$log")"
        return
    fi
    tail -n 60 "$log"
    local input
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "FOUND by $target: ${input:-see the log}"
    echo "  log:       $log"
    echo "  reproduce: $build/bin/quadtile_fuzz_$target ${input:-INPUT}"
    echo "  once it is mended, keep the input in $found: the tests replay it"
    return 1
}
export -f fuzz
export root build seconds

rm -rf "$build/findings"
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I '{}' bash -euo pipefail -c 'fuzz {}' ||
    { echo "tools/fuzz.sh: the fuzzers found something, see above" >&2 && exit 1; }
