// Whether this build compiles the caller's GLSL at run time.

#pragma once

namespace quadtile::test {

constexpr bool can_compile_glsl() {
    return QUADTILE_RUNTIME_GLSL != 0;
}

}  // namespace quadtile::test
