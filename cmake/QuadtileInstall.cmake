# Files for `cmake --install` and cpack, in six components: quadtile_runtime (the program, shared libraries),
# quadtile_python (python/CMakeLists.txt), quadtile_viewer, quadtile_baker, quadtile_baker_mpi (not by cpack),
# quadtile_development (headers, static libraries, files for find_package and pkg-config).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quadtile)
set(runtime COMPONENT quadtile_runtime)
set(development COMPONENT quadtile_development)
set(library_destinations
    RUNTIME ${runtime}
    LIBRARY ${runtime} NAMELINK_COMPONENT quadtile_development
    ARCHIVE ${development}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Makes an export per library, so that a user of one needs none of the others' dependencies. Shared libraries find each
# other in any folder.
foreach(export quadtile-reference quadtile quadtile-shadow quadtile-images)
    string(REPLACE - _ library ${export})
    if(TARGET ${library})
        string(REPLACE quadtile- "" name ${export})
        set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
        install(TARGETS ${library} EXPORT ${export}-targets ${library_destinations})
        install(EXPORT ${export}-targets NAMESPACE quadtile:: DESTINATION ${package_dir} ${development})
        if(BUILD_SHARED_LIBS)
            set_target_properties(${library} PROPERTIES INSTALL_RPATH $ORIGIN)
        endif()
    endif()
endforeach()
if(WIN32)
    install(TARGETS quadtile_c ${library_destinations})
endif()
file(RELATIVE_PATH libraries_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(program_component cli:runtime viewer:viewer bake:baker bake_mpi:baker_mpi)
    string(REGEX REPLACE "(.+):(.+)" "quadtile_\\1;quadtile_\\2" program_component ${program_component})
    list(GET program_component 0 program)
    list(GET program_component 1 component)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME COMPONENT ${component})
        if(BUILD_SHARED_LIBS)
            set_target_properties(${program} PROPERTIES INSTALL_RPATH $ORIGIN/${libraries_from_program})
        endif()
    endif()
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} ${runtime})
if(TARGET quadtile_cli)
    install(FILES ${PROJECT_SOURCE_DIR}/examples/maps/zdm2.exr ${PROJECT_SOURCE_DIR}/examples/maps/README.md
            DESTINATION ${CMAKE_INSTALL_DATADIR}/quadtile ${runtime})
endif()

set(headers_left_out "")
if(NOT TARGET quadtile_images)
    set(headers_left_out PATTERN images.hpp EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/include/ ${PROJECT_BINARY_DIR}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${development}
    FILES_MATCHING ${headers_left_out} PATTERN *.hpp PATTERN *.h)
# Installs the headers in C++ and GLSL that the public ones include or name.
foreach(header budget language limits mip quadtree shadow shadow_types tile_list)
    install(FILES ${PROJECT_SOURCE_DIR}/kernels/shared/quadtile/${header}.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quadtile ${development})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/kernels/shared/quadtile/shadow_lookup.glsl
    ${PROJECT_SOURCE_DIR}/kernels/shared/quadtile/shadow_soft.glsl
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quadtile ${development})

# Users of static libraries link the libraries that shared ones contain.
set(QUADTILE_NEEDS_SHADERC OFF)
if(QUADTILE_RUNTIME_GLSL AND NOT BUILD_SHARED_LIBS)
    set(QUADTILE_NEEDS_SHADERC ON)
endif()
set(QUADTILE_IMAGES_NEED_THEIRS ON)  # OpenEXR and libspng
if(BUILD_SHARED_LIBS)
    set(QUADTILE_IMAGES_NEED_THEIRS OFF)
endif()

# Files for find_package(quadtile). Before 1.0.0 minor versions are incompatible.
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/quadtile-config.cmake.in
    ${PROJECT_BINARY_DIR}/quadtile-config.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quadtile-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quadtile-config.cmake
              ${PROJECT_BINARY_DIR}/quadtile-config-version.cmake
    DESTINATION ${package_dir} ${development})
if(QUADTILE_NEEDS_SHADERC)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindShaderc.cmake DESTINATION ${package_dir} ${development})
endif()
if(TARGET quadtile_images AND QUADTILE_IMAGES_NEED_THEIRS)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindSpng.cmake DESTINATION ${package_dir} ${development})
endif()

# Files for pkg-config quadtile. If there are only static libraries, pkg-config lists their dependencies without
# --static, too.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH includedir_from_pkgconfig
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(definitions "")
set(dependencies "")
if(NOT BUILD_SHARED_LIBS)
    set(definitions -DQUADTILE_STATIC)
    if(QUADTILE_NEEDS_SHADERC)
        get_target_property(dependencies Shaderc::shaderc INTERFACE_LINK_LIBRARIES)
        list(TRANSFORM dependencies REPLACE ^Threads::Threads$ -pthread)
    endif()
    list(APPEND dependencies -l${CMAKE_DL_LIBS})
    list(JOIN dependencies " " dependencies)
endif()
function(quadtile_pkg_config name description requires libraries)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/package.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir} ${development})
endfunction()
set(reference "quadtile-reference = ${PROJECT_VERSION}")
quadtile_pkg_config(quadtile-reference ": its reference on the host, without Vulkan" "" -lquadtile_reference)
quadtile_pkg_config(quadtile "" ${reference} "-lquadtile ${dependencies}")
quadtile_pkg_config(quadtile-shadow ": fitted virtual shadow maps" "quadtile = ${PROJECT_VERSION}" -lquadtile_shadow)
if(TARGET quadtile_images)
    if(QUADTILE_IMAGES_NEED_THEIRS)
        string(APPEND reference ", OpenEXR, spng")
    endif()
    quadtile_pkg_config(quadtile-images ": maps and images from files, without Vulkan" ${reference} -lquadtile_images)
endif()
