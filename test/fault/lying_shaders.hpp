// SPIR-V of quadtile's kernels that computes something else: as a driver does that loses stores,
// returns old values or has wrong subgroup operations.

#pragma once

#include <cstdint>
#include <vector>

namespace quadtile::test {

struct Lie {
    enum Kind : std::uint32_t {
        none,
        lost_stores,     // some messages between workgroups are never stored
        stale_loads,     // some messages read 0 within their dispatch
        wrong_shuffles,  // subgroupShuffleXor returns the thread's own value
        wrong_scans,     // subgroupInclusiveAdd returns the sum of all
        wrong_maxima,    // subgroupMax returns the minimum
    };
    Kind kind = none;
    std::uint32_t mask = 0;  // messages without these bits are lost or stale
};

[[nodiscard]] std::vector<std::uint32_t> with_lie(std::vector<std::uint32_t> words, const Lie& lie);

}  // namespace quadtile::test
