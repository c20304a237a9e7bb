#!/usr/bin/env bash
# Builds the command line and subdivides its built-in importance map: writes tiles.json and tiles.png
# in the current folder. `tools/demo.sh view` builds the viewer and opens it, `tools/demo.sh bake` the light map baker,
# which bakes a built-in room: lightmap.exr, scene.png, `tools/demo.sh shadow` the renderer with fitted shadow maps, in a
# window, or where there is no display into shadow.png. Arguments that follow go there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
demo=${1:-tiles}
case $demo in
    tiles) target=quadtile_cli ;;
    view) target=quadtile_viewer ;;
    bake) target=quadtile_bake ;;
    shadow) target=quadtile_shadow_app ;;
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
    # About a minute where there is no GPU; arguments that follow may ask for more, as --quality best.
    options=(--quality draft)
    [[ $# -lt 2 ]] || options=()
    exec "$root/build/release/bin/quadtile-bake" --demo -o lightmap.exr --preview scene.png "${options[@]}" "${@:2}"
fi
if [[ $demo == shadow ]]; then
    options=()
    if [[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} && $# -lt 2 ]]; then
        options=(--screenshot shadow.png --city 200000 --camera=-100,58,150,-20,-24 --sun=-0.7,-0.62,-0.36)
    fi
    exec "$root/build/release/bin/quadtile-shadow" "${options[@]}" "${@:2}"
fi
"$root/build/release/bin/quadtile" demo
