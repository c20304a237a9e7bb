# Every kernel, and which variants of it are built. A variant without subgroup operations exists for
# every kernel that uses them.

foreach(subgroups 0 1)
    set(suffix "")
    if(subgroups)
        set(suffix _subgroup)
    endif()
    # downsample: what is reduced, and how many channels of it.
    foreach(channels 1 2 4)
        foreach(extremes 0 1)
            set(items floats)
            if(extremes)
                set(items extremes)
            endif()
            foreach(odd_blocks 0 1)
                set(odd "")
                if(odd_blocks)
                    set(odd _odd)
                endif()
                quadtile_kernel(quadtile kernels/downsample
                    NAME downsample_${items}_${channels}${odd}${suffix}
                    DEFINES SUBGROUPS=${subgroups} EXTREMES=${extremes}
                            CHANNELS=${channels} CUSTOM=0 ODD_BLOCKS=${odd_blocks} PYRAMID=0)
            endforeach()
        endforeach()
    endforeach()
    quadtile_kernel(quadtile kernels/downsample NAME pyramid${suffix}
        DEFINES SUBGROUPS=${subgroups} EXTREMES=1 CHANNELS=1 CUSTOM=0 ODD_BLOCKS=0 PYRAMID=1)
    foreach(kernel fused_all fused_count fused_emit fused_budget balance_marks balance_tiles)
        quadtile_kernel(quadtile kernels/${kernel} NAME ${kernel}${suffix} DEFINES SUBGROUPS=${subgroups})
    endforeach()
    foreach(kernel balance_marks balance_tiles)
        quadtile_kernel(quadtile kernels/${kernel} NAME ${kernel}_descent${suffix}
            DEFINES SUBGROUPS=${subgroups} DESCENT=1)
    endforeach()
    quadtile_kernel(quadtile kernels/subtree NAME subtree${suffix}
        DEFINES SUBGROUPS=${subgroups} USER_THRESHOLD=0)
endforeach()
quadtile_kernel(quadtile kernels/dirty_blocks)
quadtile_kernel(quadtile kernels/node_thresholds DEFINES USER_THRESHOLD=0)
quadtile_kernel_words(quadtile)
