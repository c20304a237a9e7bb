// Sums of a pass on the host.

#pragma once

#include "ranks.hpp"
#include "tracer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::baker {

// Reads the sums of places from `first` on, of all tracers together.
void read_sums(std::span<Tracer* const> tracers, std::size_t first, std::span<Accumulator> sums);

// Sums of a pass, of all tracers together: those of a range of texels and their neighbours, in the
// tracers' memory. Two of them, `number` 0 and 1, may be in use at a time.
class PieceOfSums {
 public:
    // Reads sums of `fronts` and, behind `back_texels` places, of backs; 0: there are none.
    void read(std::span<Tracer* const> tracers, const Range& fronts, std::size_t back_texels,
              std::size_t number);
    // Adds up those of all ranks for the rank `to`.
    void add_up(Ranks& ranks, std::uint32_t to);

    [[nodiscard]] Accumulator operator[](std::size_t place) const {
        const bool is_front = back_texels_ == 0 || place < back_texels_;
        return is_front ? fronts_[place - first_] : backs_[place - back_texels_ - first_];
    }

 private:
    struct Side {
        std::vector<std::span<const Accumulator>> parts;  // to be added up
        std::vector<Accumulator> of_ranks;                // the only part after add_up

        [[nodiscard]] Accumulator operator[](std::size_t i) const;
    };

    std::size_t first_ = 0;
    std::size_t back_texels_ = 0;
    Side fronts_;
    Side backs_;
};

}  // namespace quadtile::baker
