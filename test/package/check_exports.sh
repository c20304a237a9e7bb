#!/usr/bin/env bash
# Checks that shared libraries export quadtile's public symbols and no others: check_exports.sh LIBRARY...
set -euo pipefail

status=0
for library in "$@"; do
    symbols=$(nm --dynamic --demangle --defined-only "$library" | cut -d ' ' -f 3-)
    grep -q '^quadtile::' <<<"$symbols" || { echo "$library exports nothing of quadtile's"; status=1; }
    # Those of other libraries, and those of quadtile's own insides.
    # libquadtile takes quadtile::detail:: from libquadtile_reference.
    inside='^quadtile::detail::|::Impl::|\bvk::'
    [[ $library != *quadtile_reference* ]] || inside='::Impl::|\bvk::'
    if grep -vE '^((typeinfo|typeinfo name|vtable) for )?quadtile::|^quadtile_[a-z_]+$' <<<"$symbols" ||
        grep -E "$inside" <<<"$symbols"; then
        echo "$library exports what is not public (above)"
        status=1
    fi
done
exit "$status"
