#!/usr/bin/env bash
# Builds the command line and subdivides its built-in importance map: writes tiles.json and tiles.png
# in the current folder.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install.sh"
cmake -S "$root" --preset release
cmake --build "$root/build/release" --target quadtile_cli
"$root/build/release/bin/quadtile" demo
