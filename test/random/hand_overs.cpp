// Hand-overs between workgroups: small maps, run back to back by Strategy::fused in any order, in
// one scratch buffer for maps of all sizes. Catches a message or counter that is lost, read twice
// or not set back to 0, which a map alone may hide.

#include "subjects.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <quadtile/reference.hpp>
#include <quadtile/subdivider.hpp>

#include <algorithm>
#include <cstring>

namespace quadtile::test {

namespace {

std::atomic<std::uint64_t> runs = 0;

struct Kept {
    explicit Kept(const Device& device)
        : gpu(device, submit_to(device)), subdivider(device, {.strategy = Strategy::fused}) {}

    Gpu gpu;
    Subdivider subdivider;
};

// A map with a few peaks, and so a few tiles.
struct MapOfPeaks {
    MapOfPeaks(Gpu& gpu, Random& random) {
        // One hand-over up to 2048 texels; thin maps beyond have two.
        const std::uint32_t longest = random.one_in(4) ? 9000 : 600;
        shape = {65 + random.below(longest), 1 + random.below(longest > 600 ? 3 : 600)};
        if (random.one_in(2)) {
            std::swap(shape.width, shape.height);
        }
        std::vector<float> texels(std::size_t{shape.width} * shape.height);
        for (std::uint32_t peak = random.below(8); peak > 0; --peak) {
            texels[random.below(static_cast<std::uint32_t>(texels.size()))] = random.unit();
        }
        image = gpu.upload({texels.data(), shape});
        expected = reference::subdivide({texels.data(), shape}, threshold).tiles;
    }

    MapShape shape;
    Threshold threshold = Threshold::constant(0.25F);
    Image image;
    std::vector<Tile> expected;
};

// A run of a map, with a list of its own in a buffer of them all.
struct Run {
    const MapOfPeaks* map;
    Subdivider::Binding binding;
    VkDeviceSize list_offset_bytes;
};

std::string difference_in(const Run& run, const std::byte* lists) {
    ++runs;
    TileListHeader header;
    std::memcpy(&header, lists + run.list_offset_bytes, sizeof(header));
    const std::vector<Tile>& expected = run.map->expected;
    if (header.required != expected.size() || header.written != expected.size()) {
        return std::to_string(header.required) + " tiles instead of " +
               std::to_string(expected.size());
    }
    std::vector<Tile> tiles(expected.size());
    std::memcpy(tiles.data(), lists + run.list_offset_bytes + sizeof(header),
                tiles.size() * sizeof(Tile));
    sort_canonical(tiles);
    return tiles == expected ? "" : "other tiles";
}

std::string check_hand_overs(Choices& choices, const RandomSettings& settings, Kept& kept) {
    Gpu& gpu = kept.gpu;
    Random random = choices.random("maps");
    std::vector<MapOfPeaks> maps;
    for (std::uint32_t left = choices.number("maps", 1, 8); left > 0; --left) {
        maps.emplace_back(gpu, random);
    }
    const std::uint32_t runs_per_map =
        choices.number("runs_per_map", 1, settings.is_short ? 4 : 16);
    const std::uint32_t rounds = choices.number("rounds", 1, settings.is_short ? 4 : 32);

    VkDeviceSize scratch_bytes = 0;
    VkDeviceSize list_bytes = 0;  // of one
    for (const MapOfPeaks& map : maps) {
        const auto needed = kept.subdivider.requirements(
            map.shape, static_cast<std::uint32_t>(map.expected.size()));
        scratch_bytes = std::max(scratch_bytes, needed.scratch_size_bytes);
        list_bytes = std::max(list_bytes, needed.tile_list_size_bytes);
    }
    constexpr VkDeviceSize ALIGNMENT_BYTES = 256;
    list_bytes = (list_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    const VkDeviceSize lists_bytes = list_bytes * maps.size() * runs_per_map;
    const Buffer scratch = gpu.make_buffer(scratch_bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const Buffer lists = gpu.make_buffer(
        lists_bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    const Buffer read = gpu.make_buffer(lists_bytes, 0, Memory::host_visible);
    gpu.fill(scratch, 0);

    std::vector<Run> sequence;
    for (std::uint32_t i = 0; i < maps.size() * runs_per_map; ++i) {
        const MapOfPeaks& map = maps[i % maps.size()];
        sequence.push_back(
            {&map,
             kept.subdivider.bind(
                 map.shape, {.map = map.image.map_image(),
                             .scratch = {scratch.handle()},
                             .tile_list = {lists.handle(), i * list_bytes},
                             .tile_capacity = static_cast<std::uint32_t>(map.expected.size())}),
             i * list_bytes});
    }
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::size_t i = sequence.size(); i > 1; --i) {
            std::swap(sequence[i - 1], sequence[random.below(static_cast<std::uint32_t>(i))]);
        }
        gpu.run([&](VkCommandBuffer commands) {
            vkCmdFillBuffer(commands, lists.handle(), 0, VK_WHOLE_SIZE, ~0U);
            gpu.barrier(commands);
            for (const Run& run : sequence) {
                kept.subdivider.record(commands, run.binding, run.map->threshold, {Order::any});
                gpu.compute_barrier(commands);
            }
            gpu.barrier(commands);
            const VkBufferCopy all = {0, 0, lists_bytes};
            vkCmdCopyBuffer(commands, lists.handle(), read.handle(), 1, &all);
        });
        for (const Run& run : sequence) {
            const std::string wrong = difference_in(run, read.mapped());
            if (!wrong.empty()) {
                return "round " + std::to_string(round) + ", " +
                       std::to_string(run.map->shape.width) + " x " +
                       std::to_string(run.map->shape.height) + ": " + wrong;
            }
        }
    }
    const auto words = gpu.read<std::uint32_t>(scratch, 0, scratch_bytes / sizeof(std::uint32_t));
    const auto busy = std::ranges::find_if(words, [](std::uint32_t word) { return word != 0; });
    return busy == words.end()
               ? ""
               : "word " + std::to_string(busy - words.begin()) + " is not back at 0";
}

}  // namespace

Subject hand_overs_subject(const RandomSettings& settings) {
    std::shared_ptr<Kept> kept;
    return {"hand_overs", 0.1, 20,
            [kept, settings](Choices& choices) mutable {
                if (!kept) {
                    kept = std::make_shared<Kept>(device_for());
                }
                return check_hand_overs(choices, settings, *kept);
            },
            &runs};
}

}  // namespace quadtile::test
