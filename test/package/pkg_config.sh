#!/usr/bin/env bash
# Compiles the consumer with what pkg-config says, and runs it:
# pkg_config.sh COMPILER SOURCES PREFIX VERSION [PKG_CONFIG_OPTION...]
set -euo pipefail

compiler=$1
sources=$2
prefix=$3
version=$4
shift 4

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
packages=$(find "$prefix" -name pkgconfig)
export PKG_CONFIG_PATH=$packages
libraries=${packages%/pkgconfig}

[[ $(pkg-config --modversion quadtile) == "$version" ]]
read -ra compile_flags <<<"$(pkg-config --cflags "$@" quadtile)"
read -ra link_flags <<<"$(pkg-config --libs "$@" quadtile)"
echo "${compile_flags[@]}" "${link_flags[@]}"
"$compiler" -x c -c -o "$directory/in_c.o" "$sources/in_c.c" "${compile_flags[@]}"
"$compiler" -std=c++20 -DEXPECTED_VERSION="\"$version\"" -o "$directory/consumer" \
    "${compile_flags[@]}" "$sources/main.cpp" "$directory/in_c.o" "${link_flags[@]}"
LD_LIBRARY_PATH=$libraries "$directory/consumer"
