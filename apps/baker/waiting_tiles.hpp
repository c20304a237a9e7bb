// Tiles that wait for the device, and their division into batches.

#pragma once

#include "tracer.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace quadtile::baker {

// Returns how many times BLOCK_PIXELS list heads a tile needs.
[[nodiscard]] std::uint32_t blocks_of(const TracedTile& tile);

// A tile, or a part of one.
struct WaitingTile {
    TracedTile tile;
    double nodes;       // predicted, or counted after an overflow
    std::size_t index;  // of the whole tile
};

// Tiles in their order. They are divided when they are taken, while the device has other work.
class WaitingTiles {
 public:
    // Room of a batch, and the work of finding a tile's clusters.
    struct Limits {
        std::uint32_t head_blocks;
        std::uint32_t node_capacity;
        std::size_t tiles;
        double cull_work;
    };

    // The tiles must outlive it.
    WaitingTiles(std::span<const TracedTile> tiles, std::span<const double> predicted_nodes,
                 const Limits& limits)
        : tiles_(tiles), predicted_nodes_(predicted_nodes), limits_(limits) {}

    // Returns the least index of a tile that waits; their number: none waits.
    [[nodiscard]] std::size_t first() const {
        return waiting_.empty() ? next_ : waiting_.front().index;
    }
    // Takes tiles before `end` from the front, as many as fit and are no more work than that, and
    // at least one, which it splits if it is too large. Throws std::runtime_error for a pixel whose
    // list never fits.
    [[nodiscard]] std::vector<WaitingTile> take(std::size_t end, double most_work);
    // Lets a tile wait again that did not fit. Its own count is complete, unless clusters did not
    // fit either.
    void repeat(const WaitingTile& failed, std::uint32_t counted_nodes);

 private:
    void add_parts(const WaitingTile& whole);
    void split_first();

    std::span<const TracedTile> tiles_;
    std::span<const double> predicted_nodes_;
    Limits limits_;
    std::deque<WaitingTile> waiting_;  // divided
    std::size_t next_ = 0;             // of tiles_, behind these
};

}  // namespace quadtile::baker
