#include "piece_of_sums.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace quadtile::baker {

namespace {

using Parts = std::vector<std::span<const Accumulator>>;

Parts parts_of(std::span<Tracer* const> tracers, std::size_t first, std::size_t count,
               std::size_t number) {
    Parts parts(tracers.size());
    parallel_for(parts.size(), static_cast<std::uint32_t>(parts.size()),
                 [&](std::size_t i) { parts[i] = tracers[i]->sums(first, count, number); });
    return parts;
}

Accumulator sum_of(const Parts& parts, std::size_t i) {
    if (parts.size() == 1) {
        return parts[0][i];
    }
    using Words = std::array<std::uint64_t, sizeof(Accumulator) / sizeof(std::uint64_t)>;
    Words sum{};
    for (const std::span<const Accumulator>& part : parts) {
        const auto words = std::bit_cast<Words>(part[i]);
        for (std::size_t k = 0; k < sum.size(); ++k) {
            sum[k] += words[k];
        }
    }
    return std::bit_cast<Accumulator>(sum);
}

void add_up(const Parts& parts, std::span<Accumulator> sums) {
    parallel_for(
        sums.size(), 0, [&](std::size_t i) { sums[i] = sum_of(parts, i); }, SHORT_CALLS);
}

}  // namespace

void read_sums(std::span<Tracer* const> tracers, std::size_t first, std::span<Accumulator> sums) {
    for (std::size_t done = 0; done < sums.size(); done += MOST_SUMS) {
        const auto piece = sums.subspan(done, std::min(MOST_SUMS, sums.size() - done));
        add_up(parts_of(tracers, first + done, piece.size(), 0), piece);
    }
}

void PieceOfSums::read(std::span<Tracer* const> tracers, const Range& fronts,
                       std::size_t back_texels, std::size_t number) {
    first_ = fronts.first;
    back_texels_ = back_texels;
    fronts_.parts = parts_of(tracers, first_, fronts.size(), 2 * number);
    if (back_texels > 0) {
        backs_.parts = parts_of(tracers, first_ + back_texels, fronts.size(), 2 * number + 1);
    }
}

void PieceOfSums::add_up(Ranks& ranks, std::uint32_t to) {
    for (Side* const side : {&fronts_, &backs_}) {
        if (ranks.count() > 1 && !side->parts.empty()) {
            std::vector<Accumulator>& sums = side->of_ranks;
            sums.resize(side->parts[0].size());
            baker::add_up(side->parts, sums);
            ranks.add_up({reinterpret_cast<std::uint64_t*>(sums.data()),
                          sums.size() * sizeof(Accumulator) / sizeof(std::uint64_t)},
                         to);
            side->parts = {sums};
        }
    }
}

Accumulator PieceOfSums::Side::operator[](std::size_t i) const {
    return sum_of(parts, i);
}

}  // namespace quadtile::baker
