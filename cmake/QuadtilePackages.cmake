# cpack of shared libraries: the Debian packages quadtile (program and libraries), quadtile-viewer, quadtile-baker,
# python3-quadtile and quadtile-dev, for the distribution that builds them.

set(CPACK_PACKAGE_CONTACT "the quadtile authors <quadtile@authors.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL quadtile_runtime quadtile_development)
if(TARGET quadtile_viewer)
    list(APPEND CPACK_COMPONENTS_ALL quadtile_viewer)
endif()
if(TARGET quadtile_bake)
    list(APPEND CPACK_COMPONENTS_ALL quadtile_baker)
endif()
if(TARGET quadtile_python)
    list(APPEND CPACK_COMPONENTS_ALL quadtile_python)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
# Folder of our own libraries for dpkg-shlibdeps; the package quadtile contains them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/lib/images ${PROJECT_BINARY_DIR}/lib/shadow)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_NAME quadtile)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_QUADTILE_RUNTIME_PACKAGE_SHLIBDEPS ON)
# Names the Vulkan loader: dpkg-shlibdeps does not find it, since it is opened at run time.
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
set(CPACK_DEBIAN_QUADTILE_PYTHON_PACKAGE_NAME python3-quadtile)
set(CPACK_DEBIAN_QUADTILE_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_QUADTILE_PYTHON_PACKAGE_SHLIBDEPS ON)
# The modules run with the version of Python that they were built with.
math(EXPR next_minor "${Python3_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_QUADTILE_PYTHON_PACKAGE_DEPENDS
    "quadtile (= ${PROJECT_VERSION}), python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_minor}), python3-numpy")
set(CPACK_DEBIAN_QUADTILE_PYTHON_PACKAGE_RECOMMENDS "python3-matplotlib, quadtile-baker")
# cpack --config CPackSourceConfig.cmake: the source archive. tools/release.sh makes it of a commit.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME quadtile-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "^${PROJECT_SOURCE_DIR}/(build|out|[.]git)(/|$)")
include(CPack)
