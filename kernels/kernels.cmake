# Every kernel, and which variants of it are built. A variant without subgroup operations exists for
# every kernel that uses them.

foreach(subgroups 0 1)
    set(suffix "")
    if(subgroups)
        set(suffix _subgroup)
    endif()
    foreach(kernel pyramid per_level subtree)
        quadtile_kernel(quadtile kernels/${kernel} NAME ${kernel}${suffix} DEFINES SUBGROUPS=${subgroups})
    endforeach()
endforeach()
quadtile_kernel(quadtile kernels/per_level_arguments)
