# quadtile_app_shaders(target shader...): compiles shaders/<shader> of the current folder with glslc, and writes their
# words into a header: <target>_shaders.hpp has quadtile::app::CAST_RAYS_COMP for cast_rays.comp. Tracks includes.
function(quadtile_app_shaders target)
    set(header "#pragma once\n\n#include <cstdint>\n\nnamespace quadtile::app {\n\n")
    foreach(shader ${ARGN})
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/shaders/${shader})
        set(words ${CMAKE_CURRENT_BINARY_DIR}/${shader}.inc)
        add_custom_command(
            OUTPUT ${words}
            COMMAND ${QUADTILE_GLSLC} --target-env=vulkan1.2 -O -Werror -mfmt=c
                    -I ${PROJECT_SOURCE_DIR}/kernels/shared -MD -MF ${words}.d -MT ${words} -o ${words} ${source}
            DEPENDS ${source}
            DEPFILE ${words}.d
            COMMENT "Shader ${shader}"
            VERBATIM)
        target_sources(${target} PRIVATE ${words})
        string(TOUPPER ${shader} name)
        string(REPLACE "." "_" name ${name})
        string(APPEND header "inline constexpr std::uint32_t ${name}[] =\n#include \"${shader}.inc\"\n    ;\n")
    endforeach()
    file(CONFIGURE OUTPUT ${target}_shaders.hpp CONTENT "${header}\n}  // namespace quadtile::app\n")
endfunction()
