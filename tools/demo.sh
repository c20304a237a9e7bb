#!/usr/bin/env bash
# Builds the program and subdivides the importance map of examples/maps: writes tiles.json and tiles.png in the current folder.
# `tools/demo.sh view` builds and opens the viewer. `tools/demo.sh bake` bakes a room: lightmap.exr, scene.png.
# `tools/demo.sh shadow` shows examples/shadow in a window, or writes shadow.png if there is no display. Further arguments
# go to the program; after `shadow` they begin with a scene.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
demo=${1:-tiles}
case $demo in
    tiles) target=quadtile_cli ;;
    view) target=quadtile_viewer ;;
    bake) target=quadtile_bake ;;
    shadow) target=quadtile_shadow_example ;;
    *)
        echo "tools/demo.sh: error: there is no demo '$demo': give none, view, bake, or shadow" >&2
        exit 2
        ;;
esac
"$root/tools/install.sh"
cmake -S "$root" --preset release
cmake --build "$root/build/release" --target "$target"
if [[ $demo == view ]]; then
    exec "$root/build/release/bin/quadtile-viewer" "${@:2}"
fi
if [[ $demo == bake ]]; then
    # Takes about a minute without a GPU. Further arguments may ask for more, for example --quality best.
    options=(--quality draft)
    [[ $# -lt 2 ]] || options=()
    exec "$root/build/release/bin/quadtile-bake" "$root/apps/baker/demo/room.glb" --sky 1.6,2.1,2.8 \
        -o lightmap.exr --preview scene.png "${options[@]}" "${@:2}"
fi
if [[ $demo == shadow ]]; then
    options=("$root/examples/shadow/court.glb" --moving 6)
    [[ $# -lt 2 ]] || options=()
    [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} || $# -ge 2 ]] || options+=(--screenshot shadow.png)
    exec "$root/build/release/bin/quadtile-shadow" "${options[@]}" "${@:2}"
fi
"$root/build/release/bin/quadtile" demo
