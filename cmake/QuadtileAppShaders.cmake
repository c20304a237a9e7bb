# quadtile_app_shaders(target shader...): compiles shaders/<shader> of the current folder with glslc, as a list of
# words to #include: <shader>.inc. What they include is tracked.
function(quadtile_app_shaders target)
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
    endforeach()
endfunction()
