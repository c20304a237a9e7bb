# quadtile_embed_kernel_sources(TARGET)
#
# Makes TARGET depend on kernel_sources.inc in QUADTILE_KERNEL_DIR: texts of all kernels and their includes, as an array
# KERNEL_SOURCES of { name, text }. The name is that of the #include, or the kernel's file name.
#
# As a script (cmake -P), this file writes it.

if(CMAKE_SCRIPT_MODE_FILE)
    set(table "")
    set(index 0)
    file(WRITE ${OUTPUT} "")
    foreach(source ${SOURCES})
        file(RELATIVE_PATH name ${ROOT} ${source})
        string(REGEX REPLACE "^(common|shared)/" "" name ${name})
        # Writes characters, since compilers limit the length of strings.
        file(READ ${source} text HEX)
        string(REGEX REPLACE "(..)" "'\\\\x\\1'," text "${text}")
        string(REGEX REPLACE "('\\\\x0a',)" "\\1\n" text "${text}")
        file(APPEND ${OUTPUT} "constexpr char SOURCE_${index}[] = {\n${text}};\n")
        string(APPEND table "    {\"${name}\", {SOURCE_${index}, sizeof(SOURCE_${index})}},\n")
        math(EXPR index "${index} + 1")
    endforeach()
    file(APPEND ${OUTPUT} "constexpr KernelSource KERNEL_SOURCES[] = {\n${table}};\n")
    return()
endif()

set(QUADTILE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(quadtile_embed_kernel_sources target)
    set(root ${PROJECT_SOURCE_DIR}/kernels)
    file(GLOB sources CONFIGURE_DEPENDS
         ${root}/*.comp ${root}/common/*.glsl ${root}/shared/quadtile/*.h)
    set(output ${QUADTILE_KERNEL_DIR}/kernel_sources.inc)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DOUTPUT=${output} "-DSOURCES=${sources}"
                -P ${QUADTILE_EMBED_SCRIPT}
        DEPENDS ${sources} ${QUADTILE_EMBED_SCRIPT}
        COMMENT "Kernel sources"
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
