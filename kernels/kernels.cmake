# Every kernel, and which variants of it are built.

# Builds a kernel without and with subgroup operations: NAME and NAME_subgroup.
function(quadtile_subgroup_variants kernel name)
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name} DEFINES SUBGROUPS=0 ${ARGN})
    quadtile_kernel(quadtile kernels/${kernel} NAME ${name}_subgroup DEFINES SUBGROUPS=1 ${ARGN})
endfunction()

# downsample: what is reduced, and how many channels of it. ODD_BLOCKS gains from subgroup operations only with four
# channels, as which means and sums of two are made then.
foreach(channels 1 2 4)
    set(defines CHANNELS=${channels} CUSTOM=0 PYRAMID=0)
    quadtile_subgroup_variants(downsample downsample_floats_${channels} ${defines} EXTREMES=0 ODD_BLOCKS=0)
    quadtile_subgroup_variants(downsample downsample_extremes_${channels} ${defines} EXTREMES=1 ODD_BLOCKS=0)
    quadtile_kernel(quadtile kernels/downsample NAME downsample_extremes_${channels}_odd
        DEFINES ${defines} EXTREMES=1 ODD_BLOCKS=1 SUBGROUPS=0)
endforeach()
set(defines CUSTOM=0 PYRAMID=0 EXTREMES=0 ODD_BLOCKS=1)
quadtile_kernel(quadtile kernels/downsample NAME downsample_floats_1_odd DEFINES ${defines} CHANNELS=1 SUBGROUPS=0)
quadtile_subgroup_variants(downsample downsample_floats_4_odd ${defines} CHANNELS=4)
quadtile_subgroup_variants(downsample pyramid CHANNELS=1 CUSTOM=0 PYRAMID=1 EXTREMES=1 ODD_BLOCKS=0)
foreach(kernel fused_all fused_count fused_emit fused_budget balance_marks balance_tiles)
    quadtile_subgroup_variants(${kernel} ${kernel})
endforeach()
quadtile_subgroup_variants(subtree subtree USER_THRESHOLD=0)
quadtile_kernel_table(quadtile)
