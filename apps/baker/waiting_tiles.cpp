#include "waiting_tiles.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

namespace {

// Largest side of a tile or a part of one. Threads of rasterise take pixels in loops, which must be
// short on some drivers (Gpu::ends_long_loops), and several parts fill a GPU better than one
// workgroup.
constexpr std::uint32_t LARGEST_SIDE = 128;
// Share of the room that is used: predictions come from the few texels of an importance map.
constexpr double FILLING = 0.9;

double pixel_work(const WaitingTile& tile) {
    return tile.nodes + double{BLOCK_PIXELS} * blocks_of(tile.tile);
}

}  // namespace

std::uint32_t blocks_of(const TracedTile& tile) {
    return (tile.width * tile.height + BLOCK_PIXELS - 1) / BLOCK_PIXELS;
}

// Adds a tile in parts that are not too large, row by row.
void WaitingTiles::add_parts(const WaitingTile& whole) {
    const TracedTile& tile = whole.tile;
    for (std::uint32_t y = 0; y < tile.height; y += LARGEST_SIDE) {
        for (std::uint32_t x = 0; x < tile.width; x += LARGEST_SIDE) {
            WaitingTile& part = waiting_.emplace_back(whole);
            part.tile.first_x += x;
            part.tile.first_y += y;
            part.tile.width = std::min(LARGEST_SIDE, tile.width - x);
            part.tile.height = std::min(LARGEST_SIDE, tile.height - y);
            part.nodes *= static_cast<double>(part.tile.width * part.tile.height) /
                          static_cast<double>(tile.width * tile.height);
        }
    }
}

std::vector<WaitingTile> WaitingTiles::take(std::size_t end, double most_work) {
    std::vector<WaitingTile> batch;
    double nodes = 0.0;
    double work = 0.0;
    std::uint64_t blocks = 0;
    while (first() < end && batch.size() < limits_.tiles) {
        if (waiting_.empty()) {
            add_parts({tiles_[next_], predicted_nodes_[next_], next_});
            ++next_;
        }
        const WaitingTile& next = waiting_.front();
        const std::uint32_t next_blocks = blocks_of(next.tile);
        const double work_with_next = work + pixel_work(next) + limits_.cull_work;
        const bool fits_alone = next_blocks <= limits_.head_blocks &&
                                next.nodes <= limits_.node_capacity &&
                                (pixel_work(next) <= 4.0 * most_work || next_blocks == 1);
        const bool fits = blocks + next_blocks <= limits_.head_blocks &&
                          nodes + next.nodes <= FILLING * limits_.node_capacity &&
                          work_with_next <= most_work;
        if (batch.empty() && !fits_alone) {
            split_first();
            continue;
        }
        if (!batch.empty() && !fits) {
            break;
        }
        nodes += next.nodes;
        work = work_with_next;
        blocks += next_blocks;
        batch.push_back(next);
        waiting_.pop_front();
    }
    return batch;
}

void WaitingTiles::repeat(const WaitingTile& failed, std::uint32_t counted_nodes) {
    waiting_.push_front(
        {failed.tile, std::max<double>(counted_nodes, 1.5 * failed.nodes), failed.index});
    if (waiting_.front().nodes > limits_.node_capacity) {
        split_first();
    }
}

// Splits a tile into halves of the same pixels, so that the light does not change.
void WaitingTiles::split_first() {
    WaitingTile first = waiting_.front();
    if (first.tile.width == 1 && first.tile.height == 1) {
        throw std::runtime_error("one ray meets more triangles than the memory has list nodes (" +
                                 std::to_string(limits_.node_capacity) +
                                 "); allow more memory with --memory");
    }
    first.nodes *= 0.5;
    WaitingTile second = first;
    if (first.tile.width >= first.tile.height) {
        first.tile.width /= 2;
        second.tile.width -= first.tile.width;
        second.tile.first_x += first.tile.width;
    } else {
        first.tile.height /= 2;
        second.tile.height -= first.tile.height;
        second.tile.first_y += first.tile.height;
    }
    waiting_.front() = second;
    waiting_.push_front(first);
}

}  // namespace quadtile::baker
