#!/usr/bin/env bash
# Collects tests, benchmarks and the command line in a folder for a GPU machine without compilers:
#
#     tools/pack.sh [--data FOLDER] DIR
#
# DIR must be new or empty. DIR/run.sh runs everything and needs only libc, libstdc++ and a Vulkan loader. --data packs
# the folder with the real maps, too. DIR/scaling.py measures bakes on several GPUs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "tools/pack.sh: error: $*" >&2
    exit 2
}

data=
directory=
while [[ $# -gt 0 ]]; do
    case $1 in
        --data)
            [[ $# -ge 2 && -d $2 ]] || fail "--data needs a folder"
            data=$2
            shift 2
            ;;
        -*) fail "unknown option $1" ;;
        *)
            [[ -z $directory ]] || fail "one folder at a time: $directory, $1"
            directory=$1
            shift
            ;;
    esac
done
[[ -n $directory ]] || fail "usage: tools/pack.sh [--data FOLDER] DIR"
mkdir -p "$directory"
[[ -z $(ls -A "$directory") ]] || fail "$directory is not empty"

"$root/tools/install.sh"
# Uses the old kind of run path (DT_RPATH), in which libraries also find the libraries that they need.
# shellcheck disable=SC2016  # $ORIGIN is for the dynamic loader
cmake -S "$root" --preset release -B "$root/build/pack" \
    -DCMAKE_BUILD_RPATH='$ORIGIN/../lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
cmake --build "$root/build/pack"

mkdir "$directory/bin" "$directory/lib"
cp "$root/build/pack/bin/quadtile"* "$directory/bin"
cp -r "$root/build/pack/share" "$directory"
cp "$root/tools/run_packed.sh" "$directory/run.sh"
cp "$root/bench/scaling.py" "$directory"
# Libraries that every Linux has (the C and C++ runtime), or that belong to the GPU's driver (the loader).
on_target='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libvulkan)\.so'
# quadtile-bake-mpi needs the same libraries and MPI, which the target must have with its own libraries.
find "$directory/bin" -type f ! -name '*-mpi' -exec ldd {} + | awk '$2 == "=>" { print $1, $3 }' | sort -u |
    while read -r name path; do
        [[ $name =~ $on_target ]] || cp -L "$path" "$directory/lib/$name"
    done
strip "$directory/bin/"* "$directory/lib/"*
if [[ -n $data ]]; then
    cp -rL "$data" "$directory/data"
    chmod -R u+w "$directory/data"
fi
echo "Packed $(du -sh "$directory" | cut -f 1) into $directory; there: run.sh RESULTS_DIR"
