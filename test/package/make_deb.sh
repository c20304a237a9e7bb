#!/usr/bin/env bash
# Makes the Debian packages of a build, checks what they depend on, and unpacks them:
# make_deb.sh BUILD_DIR DIR VERSION. They are left in DIR, their contents in DIR/root.
set -euo pipefail

build=$1
directory=$2
version=$3

rm -rf "$directory"
cpack --config "$build/CPackConfig.cmake" -B "$directory"

# check PACKAGE DEPENDENCY...
check() {
    local package=$1
    shift
    local archive
    archive=$(echo "$directory/${package}_${version}_"*.deb)
    [[ $(dpkg-deb --field "$archive" Version) == "$version" ]]
    local depends
    depends=$(dpkg-deb --field "$archive" Depends)
    echo "$package depends on: $depends"
    for dependency in "$@"; do
        [[ ", $depends," == *", $dependency"[,\ ]* ]] ||
            { echo "$package does not depend on $dependency"; exit 1; }
    done
    dpkg-deb --extract "$archive" "$directory/root"
}
check quadtile libc6 'libstdc++6' libvulkan1
check quadtile-dev quadtile libvulkan-dev
if compgen -G "$directory/quadtile-viewer_*.deb" >/dev/null; then
    check quadtile-viewer quadtile libglfw3 libvulkan1
fi
if compgen -G "$directory/quadtile-baker_*.deb" >/dev/null; then
    check quadtile-baker quadtile libdraco7 libvulkan1
fi
if compgen -G "$directory/python3-quadtile_*.deb" >/dev/null; then
    check python3-quadtile quadtile python3 python3-numpy
fi
