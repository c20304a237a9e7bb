#!/usr/bin/env bash
# Makes what a release consists of, from the last commit, and tries each part.
#
#     tools/release.sh DIR [--windows]
#
# DIR gets the source archive, the Debian packages, the wheel, the zip for Windows, and SHA256SUMS. All but the zip is
# built from the source archive. The zip needs the libraries that tools/windows.sh makes; --windows runs it first.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fail() {
    echo "tools/release.sh: error: $*" >&2
    exit 1
}
say() {
    echo "tools/release.sh: $*"
}
[[ $# == 1 || ${2:-} == --windows ]] || fail "give the folder for the release, and --windows or nothing"
version=$(sed -n 's/^project(quadtile VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
[[ -z $(git -C "$root" status --porcelain) ]] || fail "there are changes without a commit: commit or remove them"
grep -q "^## $version" "$root/CHANGELOG.md" || fail "CHANGELOG.md has no section $version: write it"
grep -q "\"version\": \"$version\"" "$root/cmake/vcpkg/quadtile/vcpkg.json" ||
    fail "cmake/vcpkg/quadtile/vcpkg.json has another version than CMakeLists.txt, $version: change it"
mkdir -p "$1"
release=$(cd "$1" && pwd)
[[ -z $(ls -A "$release") ]] || fail "'$1' is not empty: give a new folder"

"$root/tools/install.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# configure SOURCE BUILD OPTION...
configure() {
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DQUADTILE_BUILD_BENCH=OFF \
        -DQUADTILE_BUILD_SHADOW=OFF "${@:3}"
}

say "source archive, and the unit tests from it"
mkdir "$work/commit"
git -C "$root" archive HEAD | tar -x -C "$work/commit"
configure "$work/commit" "$work/archive" -DBUILD_SHARED_LIBS=ON -DQUADTILE_BUILD_TESTS=OFF
cpack --config "$work/archive/CPackSourceConfig.cmake" -B "$work/archive"
cp "$work/archive/quadtile-$version.tar.gz" "$release"
tar -x -f "$release/quadtile-$version.tar.gz" -C "$work"
source=$work/quadtile-$version
diff -r "$work/commit" "$source"
configure "$source" "$work/tests" -DQUADTILE_BUILD_APPS=OFF
cmake --build "$work/tests" --target quadtile_unit_tests quadtile_lane_gate
"$work/tests/bin/quadtile_unit_tests" --gtest_brief

say "Debian packages, and the program in them"
configure "$source" "$work/shared" -DBUILD_SHARED_LIBS=ON -DQUADTILE_BUILD_TESTS=OFF
cmake --build "$work/shared"
"$source/test/package/make_deb.sh" "$work/shared" "$work/deb" "$version"
cp "$work"/deb/*.deb "$release"
tiles=(tiles "$source/examples/maps/zdm2.exr" --max-resolution 64 --strategy reference)
"$work/deb/root/usr/bin/quadtile" "${tiles[@]}" -o "$work/tiles.json"

say "wheel, and its tests"
QUADTILE_LANE_GATE=$(find "$work/tests" -name 'libquadtile_lane_gate.so') \
    "$source/test/package/wheel.sh" /usr/bin/python3 "$source" "$work/wheel"
cp "$work"/wheel/*.whl "$release"

[[ ${2:-} != --windows ]] || "$root/tools/windows.sh"
if [[ -e $root/build/windows/draco.done ]]; then # the last library
    say "programs and the C interface for Windows"
    folder=$work/quadtile-$version-windows
    configure "$root" "$work/windows" --preset windows-mingw -DQUADTILE_BUILD_TESTS=OFF
    cmake --build "$work/windows"
    for component in runtime viewer baker; do
        cmake --install "$work/windows" --prefix "$folder" --component quadtile_$component --strip
    done
    mkdir -p "$folder"/{lib,include/quadtile}
    cp "$(find "$work/windows" -name libquadtile_c.dll.a)" "$folder/lib"
    cp "$root"/lib/include/quadtile/{quadtile,export}.h "$work/windows/include/quadtile/version.h" "$folder/include/quadtile"
    WINEDEBUG=-all WINEPREFIX=$root/build/windows/prefix wine "$folder/bin/quadtile.exe" "${tiles[@]}" -o "$work/wine.json"
    cmp "$work/tiles.json" "$work/wine.json"
    (cd "$work" && cmake -E tar cf "$release/${folder##*/}.zip" --format=zip "${folder##*/}")
else
    say "no zip for Windows: there are no libraries for it in build/windows; --windows makes them"
fi

(cd "$release" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
say "all is in $release:"
ls -l "$release"
