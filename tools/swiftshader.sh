#!/usr/bin/env bash
# Registers SwiftShader, the CPU driver in Debian's package chromium-common, for Vulkan loaders: writes its manifest
# below build/ and prints the path. SwiftShader has lower limits than lavapipe (16 storage images per shader).
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
# The package's own manifest says "1.0.5", so that loaders take the driver for one without Vulkan 1.1 and skip it.
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$library" >"$folder/swiftshader_icd.json"
echo "$folder/swiftshader_icd.json"
