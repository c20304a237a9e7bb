#!/usr/bin/env bash
# Runs the tests and benchmarks that tools/pack.sh has packed beside this script, on a machine with a GPU.
#
#     run.sh [--tests-only | --bench-only] [--bench-filter REGEX] RESULTS_DIR [-- BENCH_OPTION...]
#
# Writes into RESULTS_DIR: devices.txt, tests.log and an XML report per test program, benchmark.json and benchmark.log.
# Exit status 1 if anything failed.
#
# QUADTILE_DEVICE chooses the device (a number or a part of its name), QUADTILE_DATA a folder with real maps other than
# the packed one, GTEST_FILTER the tests. Options after -- go to the benchmarks: --sizes=1024,4096 --samples=50.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "run.sh: error: $*" >&2
    exit 2
}

tests=true
bench=true
results=
bench_options=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --tests-only) bench=false ;;
        --bench-only) tests=false ;;
        --bench-filter)
            [[ $# -ge 2 ]] || fail "--bench-filter needs a regular expression"
            bench_options+=("--benchmark_filter=$2")
            shift
            ;;
        --)
            shift
            bench_options+=("$@")
            break
            ;;
        -*) fail "unknown option $1" ;;
        *)
            [[ -z $results ]] || fail "one results folder: $results, $1"
            results=$1
            ;;
    esac
    shift
done
[[ -n $results ]] ||
    fail "usage: run.sh [--tests-only | --bench-only] [--bench-filter REGEX] RESULTS_DIR" \
        "[-- BENCH_OPTION...]"
mkdir -p "$results"

export QUADTILE_CLI=$here/bin/quadtile
export QUADTILE_DATA=${QUADTILE_DATA:-$here/data}

status=0
"$QUADTILE_CLI" devices >"$results/devices.txt" || status=1
cat "$results/devices.txt"

if $tests; then
    : >"$results/tests.log"
    for test in "$here/bin/"*_tests; do
        name=$(basename "$test")
        if "$test" --gtest_output="xml:$results/$name.xml" >>"$results/tests.log" 2>&1; then
            echo "passed: $name"
        else
            echo "FAILED: $name (see $results/tests.log)"
            status=1
        fi
    done
fi

if $bench; then
    "$here/bin/quadtile_bench" --benchmark_out="$results/benchmark.json" \
        --benchmark_out_format=json "${bench_options[@]}" 2>&1 |
        tee "$results/benchmark.log" || status=1
fi
exit "$status"
