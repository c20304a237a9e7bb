#!/usr/bin/env bash
# Builds quadtile for Windows with MinGW, and tests it under Wine, on Mesa's CPU driver. Debian 12 only.
#
#     tools/windows.sh [CASES]
#
# Installs the Debian packages that are missing, builds the libraries of build/windows/sysroot from Debian's sources if
# they are not there yet, builds quadtile (preset windows-mingw), runs its tests, and compares lists and pictures of
# CASES random command lines (default: 200) with those of the Linux program, byte for byte.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cases=${1:-200}
work=$root/build/windows
sysroot=$work/sysroot
target=x86_64-w64-mingw32

"$root/tools/install.sh" g++-mingw-w64-x86-64-posix mingw-w64-tools libz-mingw-w64-dev wine wine64 spirv-headers patch
mkdir -p "$sysroot"/{include,lib,share/cmake}

# Unpacks the source of a Debian package, of the version that this system installs, into build/windows/NAME.
unpack() {
    local apt=(-qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$work/lists")
    rm -rf "${work:?}/$1"
    if [[ ! -d $work/lists ]]; then # those of the binary packages, without a change to this system
        mkdir -p "$work/lists/partial"
        apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
            'Origin: Debian' | sort -ur >"$work/sources.list"
        apt-get "${apt[@]}" update
    fi
    (cd "$work" && apt-get "${apt[@]}" source --download-only "$1" && dpkg-source --no-check -x "$1"_*.dsc "$1") >&2
}

# build NAME SOURCE OPTION...: builds and installs a library with CMake; or builds the targets that the variable
# `targets` has.
build() {
    cmake -S "$2" -B "$work/build-$1" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/windows-mingw.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DBUILD_SHARED_LIBS=OFF \
        -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX="$sysroot" "${@:3}"
    # shellcheck disable=SC2086 # words
    cmake --build "$work/build-$1" --target ${targets:-install}
}

libspng() {
    unpack libspng
    $target-gcc-posix -O2 -DSPNG_STATIC -c "$work/libspng/spng/spng.c" -o "$work/spng.o"
    $target-ar rcs "$sysroot/lib/libspng.a" "$work/spng.o"
    cp "$work/libspng/spng/spng.h" "$sysroot/include"
}
# Import library of Wine's loader, for what links Vulkan itself.
vulkan() {
    cp -r /usr/include/{vulkan,vk_video} "$sysroot/include"
    gendef - /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/vulkan-1.dll | sed 's/ = .*//; /^;/d' >"$work/vulkan-1.def"
    $target-dlltool -d "$work/vulkan-1.def" -l "$sysroot/lib/libvulkan-1.a" -D vulkan-1.dll
}
headers() {
    cp -r /usr/share/cmake/{nlohmann_json,CLI11,glm} "$sysroot/share/cmake"
    cp -r /usr/share/eigen3 "$sysroot/share"
    cp -r /usr/include/{nlohmann,CLI,glm,eigen3} "$sysroot/include"
}
imath() {
    unpack imath
    build imath "$work/imath"
}
openexr() {
    unpack openexr
    build openexr "$work/openexr" -DOPENEXR_BUILD_TOOLS=OFF -DOPENEXR_INSTALL_EXAMPLES=OFF
}
# Compiles GLSL at run time. Debian has SPIR-V's headers as a package.
spirv_tools() {
    unpack spirv-tools
    mkdir -p "$work/spirv-headers/include"
    cp -r /usr/include/spirv "$work/spirv-headers/include"
    targets='SPIRV-Tools-static SPIRV-Tools-opt' build spirv_tools "$work/spirv-tools" -DSPIRV_SKIP_TESTS=ON \
        -DSPIRV-Headers_SOURCE_DIR="$work/spirv-headers" -DSPIRV_SKIP_EXECUTABLES=ON -DSPIRV_WERROR=OFF
    cp "$work"/build-spirv_tools/source/libSPIRV-Tools.a "$work"/build-spirv_tools/source/opt/libSPIRV-Tools-opt.a \
        "$sysroot/lib"
    cp -r "$work/spirv-tools/include/spirv-tools" "$sysroot/include"
}
glslang() {
    unpack glslang
    build glslang "$work/glslang" -DENABLE_GLSLANG_BINARIES=OFF -DENABLE_CTEST=OFF -DENABLE_OPT=OFF
}
shaderc() {
    unpack shaderc
    local includes=(-I"$work/shaderc/libshaderc/include" -I"$work/shaderc/libshaderc_util/include"
        -I"$work/spirv-headers/include" -I"$sysroot/include" -I"$sysroot/include/glslang")
    mkdir -p "$work/build-shaderc"
    local source
    for source in "$work"/shaderc/libshaderc/src/shaderc.cc "$work"/shaderc/libshaderc_util/src/*.cc; do
        [[ $source != *_test.cc ]] || continue
        $target-g++-posix -std=c++17 -O2 -DNDEBUG -DENABLE_HLSL=1 "${includes[@]}" -c "$source" \
            -o "$work/build-shaderc/$(basename "$source" .cc).o"
    done
    $target-ar rcs "$sysroot/lib/libshaderc_combined.a" "$work"/build-shaderc/*.o
    cp -r "$work/shaderc/libshaderc/include/shaderc" "$sysroot/include"
}
glfw3() {
    unpack glfw3
    build glfw3 "$work/glfw3" -DGLFW_BUILD_EXAMPLES=OFF -DGLFW_BUILD_TESTS=OFF -DGLFW_BUILD_DOCS=OFF
}
imgui() {
    unpack imgui
    mkdir -p "$sysroot/include/imgui/backends" "$sysroot/lib/pkgconfig" "$work/build-imgui"
    cp "$work"/imgui/*.h "$sysroot/include/imgui"
    cp "$work"/imgui/backends/imgui_impl_{glfw,vulkan}.h "$sysroot/include/imgui/backends"
    local source
    for source in "$work"/imgui/{imgui{,_draw,_tables,_widgets},backends/imgui_impl_{glfw,vulkan},misc/cpp/imgui_stdlib}; do
        $target-g++-posix -O2 -I"$work/imgui" -I"$sysroot/include" -c "$source.cpp" \
            -o "$work/build-imgui/$(basename "$source").o"
    done
    cp "$work/imgui/misc/cpp/imgui_stdlib.h" "$sysroot/include/imgui"
    $target-ar rcs "$sysroot/lib/libimgui.a" "$work"/build-imgui/*.o
    printf '%s\n' 'Name: imgui' 'Description: Dear ImGui' 'Version: 1.86' "Cflags: -I$sysroot/include/imgui" \
        "Libs: -L$sysroot/lib -limgui -lvulkan-1 -limm32 -ldwmapi -lgdi32" >"$sysroot/lib/pkgconfig/imgui.pc"
}
draco() {
    unpack draco
    build draco "$work/draco" -DDRACO_TESTS=OFF -DCMAKE_UNITY_BUILD=ON
}
meshoptimizer() {
    unpack meshoptimizer
    build meshoptimizer "$work/meshoptimizer"
}
libwebp() {
    unpack libwebp
    build libwebp "$work/libwebp" \
        -DWEBP_BUILD_{ANIM_UTILS,CWEBP,DWEBP,GIF2WEBP,IMG2WEBP,VWEBP,WEBPINFO,WEBPMUX,EXTRAS}=OFF
}
stb() {
    cp -r /usr/include/stb "$sysroot/include"
    printf '#define STB_%s_IMPLEMENTATION\n' IMAGE RECT_PACK >"$work/stb.c"
    printf '#include <stb/stb_%s.h>\n' image rect_pack >>"$work/stb.c"
    $target-gcc-posix -O2 -I"$sysroot/include" -c "$work/stb.c" -o "$work/stb.o"
    $target-ar rcs "$sysroot/lib/libstb.a" "$work/stb.o"
}
tinyobjloader() {
    unpack tinyobjloader
    build tinyobjloader "$work/tinyobjloader"
}
googletest() {
    build googletest /usr/src/googletest
}

log=$work/packages.log
exec 3>&2 # a library's own error stream is its log
trap '[[ $? == 0 ]] || tail -n 30 "$log" >&3' EXIT
for library in libspng vulkan headers imath googletest openexr spirv_tools glslang shaderc \
    glfw3 imgui stb libwebp meshoptimizer tinyobjloader draco; do
    [[ ! -e $work/$library.done ]] || continue
    echo "tools/windows.sh: building $library"
    log=$work/$library.log
    "$library" >"$log" 2>&1
    touch "$work/$library.done"
done

# ---- Build: the Linux program and its random tests are what the one for Windows is compared with.
cmake -S "$root" --preset dev >/dev/null
cmake --build "$root/build/dev" --target quadtile_cli quadtile_bake quadtile_random quadtile_command_line_tests
cmake -S "$root" --preset windows-mingw
cmake --build "$root/build/windows-mingw"

# ---- Tests. Wine's Vulkan needs an X server, and a locale of UTF-8, or it garbles arguments.
export WINEPREFIX=$work/prefix WINEARCH=win64 WINEDEBUG=-all LC_ALL=C.UTF-8 MESA_SHADER_CACHE_DIR=$work/shaders
VK_ICD_FILENAMES=$(echo /usr/share/vulkan/icd.d/lvp_icd.*.json)
export VK_ICD_FILENAMES
bin=$root/build/windows-mingw/bin
log=$work/tests.log
exec 4< <(exec Xvfb -displayfd 1 -screen 0 640x480x24 2>/dev/null)
xvfb=$!
trap 'status=$?; kill "$xvfb"; [[ $status == 0 ]] || tail -n 60 "$log" >&3' EXIT
read -r DISPLAY <&4
export DISPLAY=:$DISPLAY
wineboot -i >"$log" 2>&1

run() {
    echo "tools/windows.sh: $*"
    "$@" >"$log" 2>&1
    grep -E '^\[  PASSED|cases in|tiles, the first' "$log" || true
}
run wine "$bin/printed_c_program.exe"
run wine "$bin/quadtile_unit_tests.exe"
run wine "$bin/quadtile_shadow_unit_tests.exe"
run wine "$bin/quadtile_kernel_tests.exe" \
    --gtest_filter='Tiles.FullTile*:Tiles.Balanced*:Recording.*:*.OnlyTouched*:*Service*'
run wine "$bin/quadtile_random.exe" --quick

export LINUX_PROGRAM=$root/build/dev/bin/quadtile EMULATOR=wine EMULATED_PROGRAM=$bin/quadtile.exe
export QUADTILE_CLI=$root/tools/run_both.sh
run "$root/build/dev/bin/quadtile_command_line_tests" --gtest_filter=-*FullDisks*:*Demo*
run "$root/build/dev/bin/quadtile_random" programs --cases "$cases"
for ((seed = 1; seed <= cases / 4; ++seed)); do # of which few are on the device
    "$root/build/dev/bin/quadtile_random" programs --seed "$seed" on_device=1 >"$log" 2>&1
done

# Names outside of ASCII, a device, and files that cannot be replaced.
folder=$(mktemp -d)
cd "$folder"
cp "$root/examples/maps/zdm2.exr" Größe-日本.exr
tiles=(tiles --max-resolution 512 --image Bild-ü.png -o Kacheln-ñ.json)
"$LINUX_PROGRAM" "${tiles[@]}" Größe-日本.exr
"$LINUX_PROGRAM" demo
mkdir wine
(cd wine && wine "$EMULATED_PROGRAM" "${tiles[@]}" ../Größe-日本.exr && wine "$EMULATED_PROGRAM" demo)
for file in wine/*; do
    cmp "$file" "$(basename "$file")"
done
wine "$EMULATED_PROGRAM" tiles --constant 0 -o NUL --image NUL Größe-日本.exr
chmod a-w Kacheln-ñ.json
! wine "$EMULATED_PROGRAM" "${tiles[@]}" Größe-日本.exr 2>"$log" || exit 1
grep -q "read-only" "$log"
[[ -z $(find . -name '.quadtile*') ]]
cp "$root/test/baker/scenes/ring.obj" 環.obj
bake=(環.obj --unwrap --sky 0.5 --samples 16 -o)
run "$root/build/dev/bin/quadtile-bake" "${bake[@]}" Licht.exr
run wine "$bin/quadtile-bake.exe" "${bake[@]}" Licht-é.exr
cmp Licht.exr Licht-é.exr
run wine "$bin/quadtile-viewer.exe" Größe-日本.exr --screenshot Fenster-ö.png
run wine "$bin/quadtile-shadow.exe" 環.obj --screenshot Schatten.png
ls Fenster-ö.png Schatten.png >>"$log"
rm -r "$folder"
echo "tools/windows.sh: all is as on Linux"
