#!/usr/bin/env bash
# Builds quadtile for Linux on AArch64 and tests it under QEMU. Debian 12 only.
#
#     tools/aarch64.sh [CASES]
#
# Unpacks Debian's packages for arm64 into build/aarch64/sysroot if they are not there yet; this system stays as it is.
# Builds quadtile (preset linux-aarch64), runs its unit tests, and compares a list of Mesa's CPU driver, and lists and
# pictures of CASES random command lines (default: 200), with those of this machine, byte for byte. Programs with scenes
# and windows are left out.
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
        mesa-vulkan-drivers
    for package in "$work"/archives/*.deb; do
        dpkg-deb --extract "$package" "$sysroot"
    done
    # Names of this system's files become those of the sysroot's.
    find "$sysroot" -type l -lname '/*' -printf '%l %p\n' | while read -r target link; do
        ln -sfn "$sysroot$target" "$link"
    done
    touch "$work/sysroot.done"
fi

cmake -S "$root" --preset dev >/dev/null
cmake --build "$root/build/dev" --target quadtile_cli quadtile_random
cmake -S "$root" --preset linux-aarch64 >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$root/build/linux-aarch64" \
    --target quadtile_unit_tests quadtile_shadow_unit_tests quadtile_random quadtile_cli

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
tiles=(tiles "$root/examples/maps/zdm2.exr" --max-resolution 64 -o tiles.json --image tiles.png)
(cd here && "$here/quadtile" "${tiles[@]}")
(cd there && VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.aarch64.json qemu-aarch64 "$there/quadtile" "${tiles[@]}")
diff -r here there
export LINUX_PROGRAM=$here/quadtile EMULATOR=qemu-aarch64 EMULATED_PROGRAM=$there/quadtile
export QUADTILE_CLI=$root/tools/run_both.sh
for ((seed = 1; seed <= cases; ++seed)); do # none on the device: under QEMU it takes a minute to compile
    "$here/quadtile_random" programs --seed "$seed" on_device=0 >"$work/random.log" 2>&1 ||
        { cat "$work/random.log"; exit 1; }
done
echo "tools/aarch64.sh: all is as on this machine"
