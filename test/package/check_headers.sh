#!/usr/bin/env bash
# Checks that each installed header compiles by itself, without Vulkan's prototypes, as volk needs it:
# check_headers.sh COMPILER INCLUDE_DIR
set -euo pipefail

compiler=$1
include_dir=$2
headers=$(cd "$include_dir" && find . -name '*.h' -o -name '*.hpp')
[[ -n $headers ]] || { echo "there are no headers in $include_dir"; exit 1; }
status=0
for header in $headers; do
    echo "#include <${header#./}>" |
        "$compiler" -std=c++20 -DVK_NO_PROTOTYPES -Wall -Wextra -Werror -fsyntax-only -I "$include_dir" -x c++ - ||
        { echo "$header does not compile by itself"; status=1; }
done
exit "$status"
