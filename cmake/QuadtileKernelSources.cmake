# quadtile_embed_kernel_sources(TARGET)
#
# Makes TARGET depend on two files in QUADTILE_KERNEL_DIR:
#   kernel_sources.inc      texts of all kernels and their includes, as an array KERNEL_SOURCES of { name, text }. The
#                           name is that of the #include, or the kernel's file name.
#   kernel_fingerprint.inc  KERNEL_FINGERPRINT, a hash of these texts. Pipelines of other texts do not fit.
#
# As a script (cmake -P), this file writes them.

if(CMAKE_SCRIPT_MODE_FILE)
    set(table "")
    set(index 0)
    set(hashes "")
    file(WRITE ${OUTPUT} "")
    foreach(source ${SOURCES})
        file(RELATIVE_PATH name ${ROOT} ${source})
        string(REGEX REPLACE "^(common|shared)/" "" name ${name})
        # Writes characters, since compilers limit the length of strings.
        file(READ ${source} text HEX)
        string(SHA256 hash "${name} ${text}")
        string(APPEND hashes ${hash})
        string(REGEX REPLACE "(..)" "'\\\\x\\1'," text "${text}")
        string(REGEX REPLACE "('\\\\x0a',)" "\\1\n" text "${text}")
        file(APPEND ${OUTPUT} "constexpr char SOURCE_${index}[] = {\n${text}};\n")
        string(APPEND table "    {\"${name}\", {SOURCE_${index}, sizeof(SOURCE_${index})}},\n")
        math(EXPR index "${index} + 1")
    endforeach()
    file(APPEND ${OUTPUT} "constexpr KernelSource KERNEL_SOURCES[] = {\n${table}};\n")
    string(SHA256 fingerprint ${hashes})
    string(SUBSTRING ${fingerprint} 0 16 fingerprint)
    file(WRITE ${FINGERPRINT} "constexpr std::uint64_t KERNEL_FINGERPRINT = 0x${fingerprint}U;\n")
    return()
endif()

set(QUADTILE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(quadtile_embed_kernel_sources target)
    set(root ${PROJECT_SOURCE_DIR}/kernels)
    file(GLOB sources CONFIGURE_DEPENDS
         ${root}/*.comp ${root}/common/*.glsl ${root}/shared/quadtile/*.h)
    set(output ${QUADTILE_KERNEL_DIR}/kernel_sources.inc)
    set(fingerprint ${QUADTILE_KERNEL_DIR}/kernel_fingerprint.inc)
    add_custom_command(
        OUTPUT ${output} ${fingerprint}
        COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DOUTPUT=${output} -DFINGERPRINT=${fingerprint} "-DSOURCES=${sources}"
                -P ${QUADTILE_EMBED_SCRIPT}
        DEPENDS ${sources} ${QUADTILE_EMBED_SCRIPT}
        COMMENT "Kernel sources"
        VERBATIM)
    target_sources(${target} PRIVATE ${output} ${fingerprint})
endfunction()
