# Every kernel, and which variants of it are built.

# Builds a kernel without and with subgroup operations: NAME and NAME_subgroup.
function(quadtile_subgroup_variants kernel name)
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name} DEFINES SUBGROUPS=0 ${ARGN})
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name}_subgroup DEFINES SUBGROUPS=1 ${ARGN})
endfunction()

# downsample: what is reduced, and how many channels of it.
foreach(channels 1 2 4)
    set(defines CHANNELS=${channels} CUSTOM=0 PYRAMID=0)
    quadtile_subgroup_variants(downsample downsample_floats_${channels} ${defines} EXTREMES=0 ODD_BLOCKS=0)
    quadtile_subgroup_variants(downsample downsample_floats_${channels}_odd ${defines} EXTREMES=0 ODD_BLOCKS=1)
    quadtile_subgroup_variants(downsample downsample_extremes_${channels} ${defines} EXTREMES=1 ODD_BLOCKS=0)
    quadtile_subgroup_variants(downsample downsample_extremes_${channels}_odd ${defines} EXTREMES=1 ODD_BLOCKS=1)
endforeach()
quadtile_subgroup_variants(downsample pyramid CHANNELS=1 CUSTOM=0 PYRAMID=1 EXTREMES=1 ODD_BLOCKS=0)
foreach(kernel fused_all fused_count fused_emit fused_budget balance_marks balance_tiles)
    quadtile_subgroup_variants(${kernel} ${kernel})
endforeach()
quadtile_subgroup_variants(subtree subtree USER_THRESHOLD=0)
quadtile_kernel_words(quadtile)
