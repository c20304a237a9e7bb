# quadtile_kernel(TARGET KERNEL [NAME name] [DEFINES A=1 ...])
#
# Compiles KERNEL.comp (a path within the project) with glslc, checks it with spirv-val, and makes TARGET depend on the
# result: NAME.spv, and NAME.spv.inc (its words, comma separated, to be #included into an array). Tracks the kernel's
# includes.

find_program(QUADTILE_GLSLC glslc REQUIRED)
find_program(QUADTILE_SPIRV_VAL spirv-val REQUIRED)

set(QUADTILE_KERNEL_DIR ${PROJECT_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${QUADTILE_KERNEL_DIR})

function(quadtile_kernel target kernel)
    cmake_parse_arguments(arg "" "NAME" "DEFINES" ${ARGN})
    if(NOT arg_NAME)
        get_filename_component(arg_NAME ${kernel} NAME)
    endif()
    list(TRANSFORM arg_DEFINES PREPEND -D)
    set(source ${PROJECT_SOURCE_DIR}/${kernel}.comp)
    set(spv ${QUADTILE_KERNEL_DIR}/${arg_NAME}.spv)
    set(flags --target-env=vulkan1.2 -Werror
        -I ${PROJECT_SOURCE_DIR}/kernels/shared -I ${PROJECT_SOURCE_DIR}/kernels/common
        ${arg_DEFINES})
    add_custom_command(
        OUTPUT ${spv} ${spv}.inc
        COMMAND ${QUADTILE_GLSLC} ${flags} -MD -MF ${spv}.d -MT ${spv} -o ${spv} ${source}
        COMMAND ${QUADTILE_SPIRV_VAL} --target-env vulkan1.2 ${spv}
        COMMAND ${QUADTILE_GLSLC} ${flags} -mfmt=num -o ${spv}.inc ${source}
        DEPENDS ${source}
        DEPFILE ${spv}.d
        COMMENT "Kernel ${arg_NAME}"
        VERBATIM)
    target_sources(${target} PRIVATE ${spv}.inc)
    set_property(TARGET ${target} APPEND PROPERTY QUADTILE_KERNELS ${arg_NAME})
endfunction()

# quadtile_kernel_table(TARGET)
#
# Writes TARGET_kernels.inc into QUADTILE_KERNEL_DIR: KERNELS, a table of the names and the words of all kernels that
# TARGET has so far (EmbeddedKernel, lib/src/device/kernels.hpp).
function(quadtile_kernel_table target)
    set(arrays "")
    set(rows "")
    get_target_property(kernels ${target} QUADTILE_KERNELS)
    foreach(kernel ${kernels})
        string(TOUPPER ${kernel} name)
        string(APPEND arrays "constexpr std::uint32_t ${name}[] = {\n#include \"${kernel}.spv.inc\"\n};\n")
        string(APPEND rows "    {\"${kernel}\", ${name}},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${QUADTILE_KERNEL_DIR}/${target}_kernels.inc CONTENT
        "${arrays}constexpr EmbeddedKernel KERNELS[] = {\n${rows}};\n")
endfunction()
