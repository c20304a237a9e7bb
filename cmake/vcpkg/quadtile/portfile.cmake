# The libraries of the sources around this folder: vcpkg install quadtile --overlay-ports=QUADTILE/cmake/vcpkg
# Not tested.
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH ${source} OPTIONS
    -DQUADTILE_BUILD_APPS=OFF -DQUADTILE_BUILD_IMAGES=ON -DQUADTILE_BUILD_PYTHON=OFF
    -DQUADTILE_BUILD_TESTS=OFF -DQUADTILE_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/quadtile)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${source}/LICENSE)
