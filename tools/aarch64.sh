#!/usr/bin/env bash
# Builds quadtile for Linux on AArch64 and tests it under QEMU. Debian 12 only.
#
#     tools/aarch64.sh [CASES]
#
# Unpacks Debian's packages for arm64 into build/aarch64/sysroot if they are not there yet; this system stays as it is.
# Builds quadtile (preset linux-aarch64), runs its unit tests, and compares a list of Mesa's CPU driver, a lightmap, and
# lists and pictures of CASES random command lines (default: 200) with those of this machine, byte for byte.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cases=${1:-200}
work=$root/build/aarch64
sysroot=$work/sysroot

"$root/tools/install.sh" g++-aarch64-linux-gnu qemu-user

if [[ ! -e $work/sysroot.done ]]; then
    rm -rf "$work"
    mkdir -p "$work"/{lists,archives}/partial "$sysroot"
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        sort -u >"$work/sources.list"
    apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::Status=/dev/null
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Dir::Etc::SourceList="$work/sources.list"
        -o Dir::Etc::SourceParts=/dev/null)
    "${apt[@]}" update
    "${apt[@]}" install --download-only --no-install-recommends libstdc++-12-dev libvulkan-dev libshaderc-dev \
        glslang-dev libopenexr-dev libspng-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev libglm-dev \
        libtinyobjloader-dev libeigen3-dev libdraco-dev libmeshoptimizer-dev libstb-dev libwebp-dev mesa-vulkan-drivers
    for package in "$work"/archives/*.deb; do
        dpkg-deb --extract "$package" "$sysroot"
    done
    # Names of this system's files become those of the sysroot's.
    find "$sysroot" -type l -lname '/*' -printf '%l %p\n' | while read -r target link; do
        ln -sf "$sysroot$target" "$link"
    done
    sed -i "s,\"/usr/,\"$sysroot/usr/," "$sysroot"/usr/lib/aarch64-linux-gnu/cmake/draco/draco-targets*.cmake
    touch "$work/sysroot.done"
fi

cmake -S "$root" --preset dev >/dev/null
cmake --build "$root/build/dev" --target quadtile_cli quadtile_bake quadtile_random
cmake -S "$root" --preset linux-aarch64 >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$root/build/linux-aarch64" \
    --target quadtile_unit_tests quadtile_shadow_unit_tests quadtile_random quadtile_cli quadtile_bake

here=$root/build/dev/bin
there=$root/build/linux-aarch64/bin
export QEMU_LD_PREFIX=$sysroot MESA_SHADER_CACHE_DIR=$work/shaders QUADTILE_CACHE_DIRECTORY=$work/pipelines
qemu-aarch64 "$there/quadtile_unit_tests" --gtest_brief
qemu-aarch64 "$there/quadtile_shadow_unit_tests" --gtest_brief
qemu-aarch64 "$there/quadtile_random" reference --cases 2000

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir here there
on_both() { # PROGRAM ARGUMENT...
    (cd here && "$here/$1" "${@:2}")
    (cd there && VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.aarch64.json qemu-aarch64 "$there/$1" "${@:2}")
}
on_both quadtile tiles "$root/examples/maps/zdm2.exr" --max-resolution 64 -o tiles.json --image tiles.png
diff -r here there
cp "$root/test/baker/scenes/ring.obj" .
on_both quadtile-bake "$folder/ring.obj" --unwrap --sky 0.5 --samples 16 -o light.exr
diff -r here there
export LINUX_PROGRAM=$here/quadtile EMULATOR=qemu-aarch64 EMULATED_PROGRAM=$there/quadtile
export QUADTILE_CLI=$root/tools/run_both.sh
for ((seed = 1; seed <= cases; ++seed)); do # none on the device: under QEMU it takes a minute to compile
    "$here/quadtile_random" programs --seed "$seed" on_device=0 >"$work/random.log" 2>&1 ||
        { cat "$work/random.log"; exit 1; }
done
echo "tools/aarch64.sh: all is as on this machine"
