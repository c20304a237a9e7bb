#include "device/self_test.hpp"

#include <quadtile/reference.hpp>

#include "running/tile_engine.hpp"

#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

namespace quadtile::detail {

namespace {

// A map that loads the device with many workgroups: half of its blocks are random below the
// threshold, so that each message differs; the others have peaks. The first layer has none of the
// values that count as infinite, so messages of its root are random, too.
struct KnownMap {
    KnownMap(const MapShape& of, std::uint32_t seed) : shape(of) {
        const std::size_t bytes = texel_size_bytes(shape.format);
        texels.resize(std::size_t{shape.width} * shape.height * shape.layers * bytes);
        std::uint32_t word = seed;
        for (std::size_t i = 0; i < texels.size() / bytes; ++i) {
            word = word * 1664525U + 1013904223U;  // Knuth's generator; its high bits are random
            const std::uint32_t block = static_cast<std::uint32_t>(i % shape.width / BLOCK) +
                                        static_cast<std::uint32_t>(i / shape.width / BLOCK);
            const bool is_peak = block % 2 == 0 && (word >> 12U) % 512 == 0;
            std::uint32_t bits = is_peak ? word >> 24U : word >> 25U;  // of unorm texels
            if (bytes == sizeof(bits)) {
                const float value =
                    static_cast<float>(word >> 8U) * (is_peak ? 0x1p-24F : 0x1p-25F);
                std::memcpy(&bits, &value, sizeof(bits));
                if (is_peak && i >= std::size_t{shape.width} * shape.height) {
                    bits = ODD_BITS[(word >> 8U) % std::size(ODD_BITS)];
                }
            }
            std::memcpy(&texels[i * bytes], &bits, bytes);
        }
    }

    static constexpr std::uint32_t BLOCK = 64;
    // NaN of both signs, infinities, zeros, denormals, negatives and ordinary floats.
    static constexpr std::uint32_t ODD_BITS[] = {
        0x7fc00000U, 0xffc12345U, 0x7f800000U, 0xff800000U, 0x80000000U, 0x00000001U,
        0x807fffffU, 0xbf800000U, 0x3f7fffffU, 0x3f000000U, 0x3f000001U, 0x42c80000U};
    MapShape shape;
    std::vector<std::byte> texels;
};

// Returns whether a strategy makes a map's list as the CPU does, each of several times.
bool makes_known_list(const Device& device, Strategy strategy, const KnownMap& map) {
    constexpr int TIMES = 3;
    const MapView view{map.texels.data(), map.shape};
    const Threshold threshold = Threshold::constant(0.5F);
    const TileList known = reference::subdivide(view, threshold);
    TileEngine engine(device, {.strategy = strategy, .gpu_timeout = std::chrono::seconds(10)});
    for (int i = 0; i < TIMES; ++i) {
        TileList list =
            std::move(engine.subdivide({&view, 1}, {&threshold, 1}, {.order = Order::any}).front());
        sort_canonical(list.tiles);
        if (list.nan_texels != known.nan_texels || list.tiles.size() != known.tiles.size() ||
            std::memcmp(list.tiles.data(), known.tiles.data(), list.tiles.size() * sizeof(Tile)) !=
                0) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool makes_known_lists(const Device& device) {
    // Two hand-overs, and one. The second map needs the pyramid, and MAX samplers if there are any.
    const KnownMap floats({.width = 2100, .height = 70, .layers = 2}, 1);
    const KnownMap unorms({.width = 500, .height = 300, .format = TexelFormat::r8_unorm}, 2);
    try {
        return makes_known_list(device, Strategy::fused, floats) &&
               makes_known_list(device, Strategy::subtree, unorms);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::unsupported) {  // DeviceContext::note_lost_run
            return false;
        }
        throw;
    }
}

}  // namespace quadtile::detail
