#!/usr/bin/env bash
# Builds the command line and subdivides its built-in importance map: writes tiles.json and tiles.png
# in the current folder. `tools/demo.sh view` builds the viewer and opens it; arguments that follow go there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
demo=${1:-tiles}
case $demo in
    tiles) target=quadtile_cli ;;
    view) target=quadtile_viewer ;;
    *)
        echo "tools/demo.sh: error: there is no demo '$demo': give none, or view" >&2
        exit 2
        ;;
esac
"$root/tools/install.sh"
cmake -S "$root" --preset release
cmake --build "$root/build/release" --target "$target"
if [[ $demo == view ]]; then
    exec "$root/build/release/bin/quadtile-viewer" "${@:2}"
fi
"$root/build/release/bin/quadtile" demo
