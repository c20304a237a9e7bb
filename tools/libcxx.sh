#!/usr/bin/env bash
# Builds the library with Clang 16 and libc++ (preset libcxx) and runs its unit tests. Debian's OpenEXR and shaderc need
# libstdc++, so image files and GLSL at run time are left out; GoogleTest is built from Debian's sources.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/libcxx

"$root/tools/install.sh" clang-16 libc++-16-dev libc++abi-16-dev googletest
if [[ ! -e $build/googletest/lib ]]; then
    cmake -S /usr/src/googletest -B "$build/googletest/build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 \
        -DCMAKE_CXX_FLAGS=-stdlib=libc++ -DCMAKE_INSTALL_PREFIX="$build/googletest" -DCMAKE_INSTALL_LIBDIR=lib
    cmake --build "$build/googletest/build" --target install
fi
cmake -S "$root" --preset libcxx
cmake --build "$build" --target quadtile_unit_tests quadtile_shadow_unit_tests
"$build/bin/quadtile_unit_tests" --gtest_brief
"$build/bin/quadtile_shadow_unit_tests" --gtest_brief
