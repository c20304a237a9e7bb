#!/usr/bin/env bash
# Builds everything and runs all tests. Arguments go to ctest: tools/test.sh -R unit
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install.sh"
cmake -S "$root" --preset dev
cmake --build "$root/build/dev"
ctest --test-dir "$root/build/dev" --output-on-failure --parallel "$(nproc)" "$@"
