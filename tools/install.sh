#!/usr/bin/env bash
# Installs the Debian packages that building and testing quadtile needs, and those given as arguments, if they are
# missing.
set -euo pipefail

packages=(
    g++ cmake ninja-build
    libvulkan-dev glslc spirv-tools
    # Debian's shaderc links only with the second package's libraries.
    libshaderc-dev glslang-dev
    nlohmann-json3-dev libopenexr-dev libspng-dev libcli11-dev
    libgtest-dev libgmock-dev libbenchmark-dev
    # Python: the package, its wheel and its tests.
    pybind11-dev python3-dev python3-numpy python3-pytest python3-matplotlib python3-pip python3-venv
    # Viewer, and tests of its window.
    libglfw3-dev libimgui-dev fonts-dejavu-core xvfb xdotool
    # Lightmap baker.
    libglm-dev libtinyobjloader-dev libeigen3-dev libdraco-dev libmeshoptimizer-dev
    libstb-dev libwebp-dev libembree-dev
    # Baker as an MPI job.
    libopenmpi-dev openmpi-bin
    # German numbers in tests.
    locales
    # Tests of packages, and cpack.
    pkgconf dpkg-dev
    # Vulkan driver for machines without a GPU, and tools of the tests.
    libvulkan1 mesa-vulkan-drivers vulkan-validationlayers
    # SwiftShader, a second CPU driver with lower limits (tools/swiftshader.sh).
    chromium-common
)

packages+=("$@")

fail() {
    echo "tools/install.sh: error: $*" >&2
    exit 1
}

command -v apt-get >/dev/null ||
    fail "this is no Debian system; install what these packages hold: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null ||
        fail "packages are missing and there is no sudo; as root, run:" \
            "apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo "${as_root[@]}")
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}"
