#!/usr/bin/env bash
# Builds everything and runs all tests. Arguments go to ctest: tools/test.sh -R unit. With --all, which comes first,
# random cases run for hours afterwards: tools/test.sh --all [HOURS (default: 2)]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
hours=0
if [[ ${1:-} == --all ]]; then
    hours=${2:-2}
    [[ $hours =~ ^[1-9][0-9]*$ ]] || { echo "tools/test.sh: error: --all takes whole hours, not '$hours'" >&2; exit 2; }
    set --
fi
"$root/tools/install.sh"
cmake -S "$root" --preset dev
cmake --build "$root/build/dev"
ctest --test-dir "$root/build/dev" --output-on-failure --parallel "$(nproc)" "$@"
[[ $hours == 0 ]] || "$root/tools/random.sh" $((3600 * hours))
