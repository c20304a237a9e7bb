#include "piece_of_sums.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace quadtile::baker {

void read_sums(std::span<Tracer* const> tracers, std::size_t first, std::span<Accumulator> sums) {
    constexpr std::size_t WORDS = sizeof(Accumulator) / sizeof(std::uint64_t);
    std::vector<std::span<const Accumulator>> all(tracers.size());
    for (std::size_t done = 0; done < sums.size(); done += MOST_SUMS) {
        const std::span<Accumulator> piece =
            sums.subspan(done, std::min(MOST_SUMS, sums.size() - done));
        parallel_for(all.size(), static_cast<std::uint32_t>(all.size()),
                     [&](std::size_t i) { all[i] = tracers[i]->sums(first + done, piece.size()); });
        const auto add_up = [&](std::size_t place) {
            std::array<std::uint64_t, WORDS> words{};
            for (const std::span<const Accumulator>& of_tracer : all) {
                const auto more = std::bit_cast<std::array<std::uint64_t, WORDS>>(of_tracer[place]);
                for (std::size_t k = 0; k < WORDS; ++k) {
                    words[k] += more[k];
                }
            }
            piece[place] = std::bit_cast<Accumulator>(words);
        };
        parallel_for(piece.size(), 0, add_up, SHORT_CALLS);
    }
}

void PieceOfSums::read(std::span<Tracer* const> tracers, const Range& fronts,
                       std::size_t back_texels) {
    first_ = fronts.first;
    back_texels_ = back_texels;
    fronts_.resize(fronts.size());
    read_sums(tracers, first_, fronts_);
    backs_.resize(back_texels > 0 ? fronts.size() : 0);
    if (back_texels > 0) {
        read_sums(tracers, first_ + back_texels, backs_);
    }
}

void PieceOfSums::add_up(Ranks& ranks, std::uint32_t to) {
    for (std::vector<Accumulator>* const sums : {&fronts_, &backs_}) {
        ranks.add_up({reinterpret_cast<std::uint64_t*>(sums->data()),
                      sums->size() * sizeof(Accumulator) / sizeof(std::uint64_t)},
                     to);
    }
}

}  // namespace quadtile::baker
