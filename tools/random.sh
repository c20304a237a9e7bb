#!/usr/bin/env bash
# Compares random cases with the CPU twins (quadtile_random) on both CPU drivers. Builds quadtile_random first.
#
#     tools/random.sh [SECONDS [DRIVER [ARGUMENT...]]]
#
# Each driver runs for SECONDS (default: 600), or for a fixed number of small cases if SECONDS is the word quick. DRIVER
# is lavapipe or swiftshader (without bakes and programs); default: both, at the same time. Further arguments go to
# quadtile_random. If a case fails, it is shrunk and the command line that repeats it is printed. The exit status is 1
# then.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${QUADTILE_RANDOM:-$root/build/dev/bin/quadtile_random}
seconds=${1:-600}
drivers=("${2:-}")
[[ -n ${drivers[0]} ]] || drivers=(lavapipe swiftshader)

if [[ ! -x $program ]]; then
    "$root/tools/install.sh"
    cmake -S "$root" --preset dev
    cmake --build "$root/build/dev" --target quadtile_random
fi

run() {
    local driver=$1 subjects=()
    case $driver in
        lavapipe) manifest=$(echo /usr/share/vulkan/icd.d/lvp_icd.*.json) ;;
        swiftshader)
            manifest=$("$root/tools/swiftshader.sh")
            subjects=(tiles hand_overs service mips shadows) # a single bake may take ten minutes on SwiftShader
            ;;
        *)
            echo "tools/random.sh: error: there is no driver '$driver'; there are lavapipe and swiftshader" >&2
            return 2
            ;;
    esac
    local length=(--seconds "$seconds")
    if [[ $seconds == quick ]]; then
        length=(--quick)
        if [[ $driver == swiftshader ]]; then # it compiles each kernel of mips and shadows for minutes
            subjects=(tiles hand_overs service)
            length+=(--cases 10)
        fi
    fi
    echo "$driver:"
    VK_ICD_FILENAMES=$manifest "$program" "${subjects[@]}" "${length[@]}" "${@:2}"
}

status=0
pids=()
for driver in "${drivers[@]}"; do
    run "$driver" "${@:3}" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || status=1
done
exit "$status"
