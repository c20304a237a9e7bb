# Finds shaderc, which compiles GLSL, and makes the target Shaderc::shaderc.
#
# Takes the shared library if a program links with it: Debian 12's lacks symbols of SPIRV-Tools. Otherwise takes the
# static one, with the libraries of glslang and SPIRV-Tools that distributions leave out of it.

include(CheckCXXSourceCompiles)
include(FindPackageHandleStandardArgs)

find_path(Shaderc_INCLUDE_DIR shaderc/shaderc.hpp)
find_library(Shaderc_SHARED_LIBRARY NAMES shaderc_shared shaderc)
find_library(Shaderc_STATIC_LIBRARY NAMES shaderc_combined)
mark_as_advanced(Shaderc_INCLUDE_DIR Shaderc_SHARED_LIBRARY Shaderc_STATIC_LIBRARY)

# Tells whether a program links with these libraries. A failure is not cached, since packages may be installed later.
function(_shaderc_links result)
    set(CMAKE_REQUIRED_INCLUDES ${Shaderc_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${ARGN})
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("
        #include <shaderc/shaderc.hpp>
        int main() {
            shaderc::CompileOptions options;
            options.SetOptimizationLevel(shaderc_optimization_level_performance);
            const std::string text;
            return shaderc::Compiler().CompileGlslToSpv(text, shaderc_compute_shader, text.c_str(),
                                                        options).GetNumErrors() == 0;
        }" ${result})
    if(NOT ${result})
        unset(${result} CACHE)
    endif()
endfunction()

find_package(unofficial-shaderc CONFIG QUIET) # vcpkg's
set(Shaderc_LIBRARIES "")
if(TARGET unofficial::shaderc::shaderc)
    set(Shaderc_LIBRARIES unofficial::shaderc::shaderc)
elseif(Shaderc_INCLUDE_DIR AND Shaderc_SHARED_LIBRARY)
    _shaderc_links(Shaderc_SHARED_LINKS ${Shaderc_SHARED_LIBRARY})
    if(Shaderc_SHARED_LINKS)
        set(Shaderc_LIBRARIES ${Shaderc_SHARED_LIBRARY})
    endif()
endif()
if(Shaderc_INCLUDE_DIR AND Shaderc_STATIC_LIBRARY AND NOT Shaderc_LIBRARIES)
    find_package(Threads)
    set(_shaderc_static ${Shaderc_STATIC_LIBRARY})
    # Each needs those after it. Newer versions of glslang have fewer.
    foreach(_library glslang MachineIndependent HLSL OGLCompiler GenericCodeGen OSDependent SPIRV
                     SPIRV-Tools-opt SPIRV-Tools)
        find_library(Shaderc_${_library}_LIBRARY NAMES ${_library})
        mark_as_advanced(Shaderc_${_library}_LIBRARY)
        if(Shaderc_${_library}_LIBRARY)
            list(APPEND _shaderc_static ${Shaderc_${_library}_LIBRARY})
        endif()
    endforeach()
    list(APPEND _shaderc_static Threads::Threads)
    _shaderc_links(Shaderc_STATIC_LINKS ${_shaderc_static})
    if(Shaderc_STATIC_LINKS)
        set(Shaderc_LIBRARIES ${_shaderc_static})
    endif()
endif()

find_package_handle_standard_args(Shaderc
    REQUIRED_VARS Shaderc_LIBRARIES Shaderc_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "No shaderc was found that a program links with. Install it (Debian: \
libshaderc-dev, glslang-dev, spirv-tools), or build quadtile without user-supplied GLSL: \
-DQUADTILE_RUNTIME_GLSL=OFF.")

if(Shaderc_FOUND AND NOT TARGET Shaderc::shaderc)
    # Global, since users of the library link it in other folders.
    add_library(Shaderc::shaderc INTERFACE IMPORTED GLOBAL)
    target_include_directories(Shaderc::shaderc INTERFACE ${Shaderc_INCLUDE_DIR})
    target_link_libraries(Shaderc::shaderc INTERFACE ${Shaderc_LIBRARIES})
endif()
