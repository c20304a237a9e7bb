// The texels of a lightmap that charts cover, by number: row by row, from 0. Only these have a
// surface and light, so a bake needs no memory for the others.

#pragma once

#include "light_map.hpp"

#include "shaders/bake.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace quadtile::baker {

class CoveredTexels {
 public:
    CoveredTexels() = default;
    // All texels are covered.
    explicit CoveredTexels(const Extent& extent)
        : CoveredTexels(extent, std::vector((extent.texels() + 31) / 32, 0xffffffffU)) {}
    // `bits` has one for each texel, the lowest first.
    CoveredTexels(const Extent& extent, const std::vector<std::uint32_t>& bits) : extent_(extent) {
        for (const std::uint32_t word : bits) {
            words_.push_back({word, count_});
            count_ += static_cast<std::uint32_t>(std::popcount(word));
        }
        if (const std::size_t rest = extent.texels() % 32; rest != 0) {
            words_.back().bits &= (1U << rest) - 1;
            count_ =
                words_.back().first + static_cast<std::uint32_t>(std::popcount(words_.back().bits));
        }
    }

    [[nodiscard]] const Extent& extent() const { return extent_; }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    // Returns the number of values by texel: of the covered ones, and one of all others.
    [[nodiscard]] std::size_t places() const { return count_ + std::size_t{1}; }

    // Returns the number of a texel, or count().
    [[nodiscard]] std::uint32_t operator[](std::size_t texel) const {
        const CoveredWord& word = words_[texel / 32];
        const std::uint32_t bit = 1U << texel % 32;
        return (word.bits & bit) != 0 ? first_from(texel) : count_;
    }
    // Returns the number of the first covered texel from this one on.
    [[nodiscard]] std::uint32_t first_from(std::size_t texel) const {
        const CoveredWord& word = words_[texel / 32];
        const std::uint32_t before = word.bits & ((1U << texel % 32) - 1);
        return word.first + static_cast<std::uint32_t>(std::popcount(before));
    }
    // Returns the texel of a number.
    [[nodiscard]] std::size_t texel(std::size_t number) const {
        const auto next = std::ranges::upper_bound(words_, number, {}, &CoveredWord::first);
        const CoveredWord& word = *(next - 1);
        std::uint32_t bits = word.bits;
        for (std::size_t i = word.first; i < number; ++i) {
            bits &= bits - 1;
        }
        return static_cast<std::size_t>(&word - words_.data()) * 32 +
               static_cast<std::size_t>(std::countr_zero(bits));
    }

    // Calls visit(number) for the covered ones of the up to 8 neighbours of a texel.
    void visit_neighbours(std::size_t number, const auto& visit) const {
        baker::visit_neighbours(extent_, texel(number), [&](std::size_t neighbour) {
            if ((*this)[neighbour] != count_) {
                visit((*this)[neighbour]);
            }
        });
    }

    [[nodiscard]] const std::vector<CoveredWord>& words() const { return words_; }

 private:
    Extent extent_;
    std::vector<CoveredWord> words_;
    std::uint32_t count_ = 0;
};

}  // namespace quadtile::baker
