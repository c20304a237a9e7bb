#!/usr/bin/env bash
# Builds the documentation site: build/docs/html/index.html. Fails on missing docstrings of public names, warnings of
# Doxygen and broken links.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install.sh" doxygen python3
cd "$root"
tools/docs.py links

# Doxygen silently omits headers that are not named or have no \file.
headers=(lib/include/quadtile/*)
for name in $(sed -n 's/^foreach(header \(.*\))$/\1/p' cmake/QuadtileInstall.cmake); do
    headers+=("kernels/shared/quadtile/$name.h")
    grep -q "kernels/shared/quadtile/$name.h" docs/Doxyfile ||
        { echo "tools/docs.sh: error: $name.h is installed, but no INPUT of docs/Doxyfile" >&2; exit 1; }
done
missing=$(grep -L '\\file$' "${headers[@]}" || true)
[[ -z $missing ]] || { echo "tools/docs.sh: error: without \\file: $missing" >&2; exit 1; }

rm -rf build/docs
mkdir -p build/docs/include/quadtile
QUADTILE_VERSION=$(sed -n 's/^project(quadtile VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
export QUADTILE_VERSION
IFS=. read -r major minor patch <<<"$QUADTILE_VERSION"
sed -e "s/@PROJECT_VERSION_MAJOR@/$major/" -e "s/@PROJECT_VERSION_MINOR@/$minor/" \
    -e "s/@PROJECT_VERSION_PATCH@/$patch/" -e "s/@PROJECT_VERSION@/$QUADTILE_VERSION/" \
    lib/include/quadtile/version.h.in >build/docs/include/quadtile/version.h
doxygen docs/Doxyfile
tools/docs.py docstrings build/docs/xml
tools/docs.py site build/docs/html
echo "The documentation is at $root/build/docs/html/index.html"
