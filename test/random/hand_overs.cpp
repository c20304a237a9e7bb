// Hand-overs between workgroups: small maps, run back to back by Strategy::fused in any order, in
// one scratch buffer for maps of all sizes. Catches a message or counter that is lost, read twice
// or not set back to 0, which a map alone may hide.

#include "engine.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace quadtile::test {

namespace {

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
    Part list;
    Subdivider::Binding binding;
};

std::string check_hand_overs(Choices& choices, const RandomSettings& settings, Engine& engine) {
    Gpu& gpu = engine.gpu;
    const Subdivider& subdivider = engine.subdivider(Strategy::fused, 6);
    Random random = choices.random("maps");
    std::vector<MapOfPeaks> maps;
    for (std::uint32_t left = choices.number("maps", 1, 8); left > 0; --left) {
        maps.emplace_back(gpu, random);
    }
    const std::uint32_t runs_per_map =
        choices.number("runs_per_map", 1, settings.is_short ? 4 : 16);
    const std::uint32_t rounds = choices.number("rounds", 1, settings.is_short ? 4 : 32);

    constexpr VkDeviceSize ALIGNMENT_BYTES = 256;
    VkDeviceSize scratch_bytes = 0;
    VkDeviceSize list_bytes = 0;  // of one
    for (const MapOfPeaks& map : maps) {
        const auto needed = subdivider.requirements(map.shape, map.expected.size());
        scratch_bytes = std::max(scratch_bytes, needed.scratch_size_bytes);
        list_bytes = std::max(list_bytes, needed.tile_list_size_bytes);
    }
    list_bytes = (list_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    const Part scratch = engine.part("scratch", scratch_bytes, ALIGNMENT_BYTES);
    const Part lists =
        engine.part("lists", list_bytes * maps.size() * runs_per_map, ALIGNMENT_BYTES);
    gpu.run([&](VkCommandBuffer commands) { engine.fill(commands, scratch); });
    std::vector<Run> sequence;
    for (std::uint32_t i = 0; i < maps.size() * runs_per_map; ++i) {
        const MapOfPeaks& map = maps[i % maps.size()];
        const Part list = lists.of<std::byte>(i * list_bytes, list_bytes);
        sequence.push_back({&map, list,
                            subdivider.bind(map.shape, {.map = map.image.map_image(),
                                                        .scratch = scratch.range(),
                                                        .tile_list = list.range(),
                                                        .tile_capacity = map.expected.size()})});
    }
    std::vector<Bytes> read;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::size_t i = sequence.size(); i > 1; --i) {
            std::swap(sequence[i - 1], sequence[random.below(static_cast<std::uint32_t>(i))]);
        }
        std::vector<Part> parts;
        for (const Run& run : sequence) {
            parts.push_back(run.list.of<std::byte>(
                0, sizeof(TileListHeader) + run.map->expected.size() * sizeof(Tile)));
        }
        parts.push_back(scratch);
        read = engine.run(
            [&](VkCommandBuffer commands) {
                engine.fill(commands, lists, ~0U);
                gpu.barrier(commands);
                for (const Run& run : sequence) {
                    subdivider.record(commands, run.binding, run.map->threshold, {Order::any});
                    gpu.compute_barrier(commands);
                }
            },
            parts);
        for (std::size_t i = 0; i < sequence.size(); ++i) {
            const MapOfPeaks& map = *sequence[i].map;
            const auto header = values_of<TileListHeader>(read[i].first(sizeof(TileListHeader)))[0];
            std::vector<Tile> tiles = values_of<Tile>(read[i].subspan(sizeof(TileListHeader)));
            sort_canonical(tiles);
            if (header.required != tiles.size() || tiles != map.expected) {
                return "round " + std::to_string(round) + ", " + text_of(map.shape) +
                       ": other tiles, " + std::to_string(header.required) + " instead of " +
                       std::to_string(tiles.size());
            }
        }
    }
    const auto words = values_of<std::uint32_t>(read.back());
    const auto busy = std::ranges::find_if(words, [](std::uint32_t word) { return word != 0; });
    return busy == words.end()
               ? ""
               : "word " + std::to_string(busy - words.begin()) + " is not back at 0";
}

}  // namespace

Subject hand_overs_subject(const RandomSettings& settings) {
    const auto engine = std::make_shared<std::optional<Engine>>();
    return {"hand_overs", 0.1, 20, [=](Choices& choices) {
                if (!*engine) {
                    engine->emplace(device_for());
                }
                return check_hand_overs(choices, settings, **engine);
            }};
}

}  // namespace quadtile::test
