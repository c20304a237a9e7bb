# cpack, in builds of shared libraries: the Debian packages quadtile (program and libraries), quadtile-viewer,
# quadtile-baker and quadtile-dev, for the distribution that they are built on.

set(CPACK_PACKAGE_CONTACT "the quadtile authors <quadtile@authors.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL quadtile_runtime quadtile_development)
if(TARGET quadtile_viewer)
    list(APPEND CPACK_COMPONENTS_ALL quadtile_viewer)
endif()
if(TARGET quadtile_bake)
    list(APPEND CPACK_COMPONENTS_ALL quadtile_baker)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
# Where dpkg-shlibdeps finds our own libraries, which the package quadtile brings.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/lib/images)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_NAME quadtile)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_SHLIBDEPS ON)
# Nothing is linked with the Vulkan loader: it is opened at run time.
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_DEPENDS libvulkan1)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_QUADTILE_DEVELOPMENT_PACKAGE_NAME quadtile-dev)
set(CPACK_DEBIAN_QUADTILE_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_QUADTILE_DEVELOPMENT_PACKAGE_DEPENDS
    "quadtile (= ${PROJECT_VERSION}), libvulkan-dev")
set(CPACK_DEBIAN_QUADTILE_VIEWER_PACKAGE_NAME quadtile-viewer)
set(CPACK_DEBIAN_QUADTILE_VIEWER_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_QUADTILE_VIEWER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_QUADTILE_VIEWER_PACKAGE_DEPENDS "quadtile (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_QUADTILE_VIEWER_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_QUADTILE_BAKER_PACKAGE_NAME quadtile-baker)
set(CPACK_DEBIAN_QUADTILE_BAKER_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_QUADTILE_BAKER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_QUADTILE_BAKER_PACKAGE_DEPENDS "quadtile (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_QUADTILE_BAKER_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
include(CPack)
