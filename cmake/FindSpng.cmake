# Finds libspng, which reads and writes PNG files, and makes the target Spng::spng.

include(FindPackageHandleStandardArgs)

find_path(Spng_INCLUDE_DIR spng.h)
find_library(Spng_LIBRARY NAMES spng spng_static)
mark_as_advanced(Spng_INCLUDE_DIR Spng_LIBRARY)
find_package_handle_standard_args(Spng
    REQUIRED_VARS Spng_LIBRARY Spng_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "libspng was not found. Install it (Debian: libspng-dev).")

if(Spng_FOUND AND NOT TARGET Spng::spng)
    # Global, since users of the library link it in other folders.
    add_library(Spng::spng UNKNOWN IMPORTED GLOBAL)
    set_target_properties(Spng::spng PROPERTIES
        IMPORTED_LOCATION ${Spng_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Spng_INCLUDE_DIR})
    # A static library on Windows names neither itself nor its dependency.
    if(WIN32 AND Spng_LIBRARY MATCHES "spng(\\.a|_static\\.lib)$")
        find_package(ZLIB REQUIRED)
        set_target_properties(Spng::spng PROPERTIES
            INTERFACE_COMPILE_DEFINITIONS SPNG_STATIC INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)
    endif()
endif()
