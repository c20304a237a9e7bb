#!/usr/bin/env bash
# Makes SwiftShader, the CPU driver in Debian's package chromium-common, known to Vulkan loaders: writes its manifest
# below build/ and prints the manifest's path. It differs from lavapipe in its limits (16 storage images in a shader).
#
#     VK_ICD_FILENAMES=$(tools/swiftshader.sh) build/dev/bin/quadtile_kernel_tests
set -euo pipefail

library=/usr/lib/chromium/libvk_swiftshader.so
if [[ ! -e $library ]]; then
    echo "tools/swiftshader.sh: error: there is no $library; install Debian's chromium-common" >&2
    exit 1
fi
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build
mkdir -p "$folder"
# The package's own manifest says "1.0.5", which loaders take for a driver without Vulkan 1.1 and pass over.
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$library" >"$folder/swiftshader_icd.json"
echo "$folder/swiftshader_icd.json"
