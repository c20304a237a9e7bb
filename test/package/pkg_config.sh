#!/usr/bin/env bash
# Compiles a consumer with what pkg-config says, and runs it:
# pkg_config.sh COMPILER SOURCES PREFIX VERSION PACKAGES [PKG_CONFIG_OPTION...]
set -euo pipefail

compiler=$1
sources=$2
prefix=$3
version=$4
read -ra wanted <<<"$5"
shift 5

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
packages=$(find "$prefix" -name pkgconfig)
export PKG_CONFIG_PATH=$packages
libraries=${packages%/pkgconfig}

for package in "${wanted[@]}"; do
    [[ $(pkg-config --modversion "$package") == "$version" ]]
done
read -ra compile_flags <<<"$(pkg-config --cflags "$@" "${wanted[@]}")"
read -ra link_flags <<<"$(pkg-config --libs "$@" "${wanted[@]}")"
echo "${compile_flags[@]}" "${link_flags[@]}"
"$compiler" -x c -c -o "$directory/in_c.o" "$sources/in_c.c" "${compile_flags[@]}"
images=-DNO_IMAGES
[[ " ${wanted[*]} " != *" quadtile-images "* ]] || images=-DWITH_IMAGES
"$compiler" -std=c++20 -DEXPECTED_VERSION="\"$version\"" $images -o "$directory/consumer" \
    "${compile_flags[@]}" "$sources/main.cpp" "$directory/in_c.o" "${link_flags[@]}"
LD_LIBRARY_PATH=$libraries "$directory/consumer"
