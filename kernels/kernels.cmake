# Every kernel, and which variants of it are built.

# Builds a kernel without and with subgroup operations: NAME and NAME_subgroup.
function(quadtile_subgroup_variants kernel name)
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name} DEFINES SUBGROUPS=0 ${ARGN})
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name}_subgroup DEFINES SUBGROUPS=1 ${ARGN})
endfunction()

# downsample: what is reduced, and how many channels of it. Blocks with odd edges exchange texels in shared memory, so
# their variants have no use for subgroup operations.
foreach(channels 1 2 4)
    set(defines CHANNELS=${channels} CUSTOM=0 PYRAMID=0)
    foreach(items floats extremes)
        string(COMPARE EQUAL ${items} extremes extremes)
        set(name downsample_${items}_${channels})
        set(variant ${defines} EXTREMES=${extremes})
        quadtile_subgroup_variants(downsample ${name} ${variant} ODD_BLOCKS=0)
        quadtile_kernel(quadtile kernels/downsample NAME ${name}_odd DEFINES ${variant} ODD_BLOCKS=1 SUBGROUPS=0)
    endforeach()
endforeach()
quadtile_subgroup_variants(downsample pyramid CHANNELS=1 CUSTOM=0 PYRAMID=1 EXTREMES=1 ODD_BLOCKS=0)
foreach(kernel fused_all fused_count fused_emit fused_budget balance_marks balance_tiles)
    quadtile_subgroup_variants(${kernel} ${kernel})
endforeach()
quadtile_subgroup_variants(subtree subtree USER_THRESHOLD=0)
quadtile_kernel_table(quadtile)
