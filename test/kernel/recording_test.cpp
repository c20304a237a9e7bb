// The recording layer: headers of lists that are too short, refusals, a host's device and the
// choice of one. Random cases (test/random) record lists of all kinds twice into buffers that may
// be too short, with a guard behind them, also by thresholds in bound buffers.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/temporary_directory.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <thread>

namespace quadtile::test {
namespace {

class Recording : public GpuTest {};

// ---- Lists ------------------------------------------------------------------------------------

// A map, its pyramid, and a subdivider with room for some tiles on a variant of the device.
struct Recorded {
    Recorded(const Variant& on, Strategy by, const MapShape& of, std::uint64_t capacity,
             bool balanced = false)
        : gpu(device_for(on)),
          pyramid(gpu.device()),
          subdivider(gpu.device(), {.strategy = by}),
          texels(random_map(of)),
          view{texels.data(), of},
          map(gpu, pyramid, view),
          list(gpu, subdivider, map, capacity, balanced) {}

    void run(const Threshold& threshold, const SubdivideOptions& options = {.order = Order::any}) {
        gpu.run([&](VkCommandBuffer commands) {
            pyramid.record(commands, map.binding);
            gpu.compute_barrier(commands);
            subdivider.record(commands, list.binding, threshold, options);
        });
    }
    auto recording(const Threshold& threshold, const SubdivideOptions& options = {}) {
        return [this, threshold, options] { run(threshold, options); };
    }

    Gpu gpu;
    Pyramid pyramid;
    Subdivider subdivider;
    std::vector<float> texels;
    MapView view;
    PyramidWorkspace map;
    SubdivisionWorkspace list;
};

// Lists that fit are ready for indirect dispatches and draws, those that do not are counted on, and
// the next run finds its counters at rest. Random cases (test/random) look at the tiles and behind
// them, also of balanced lists.
TEST_F(Recording, HeadersAndOverflow) {
    const MapShape shape{150, 90};
    const Threshold threshold = Threshold::constant(0.9F);
    const std::vector<float> texels = random_map(shape);
    const std::uint64_t required =
        reference::subdivide({texels.data(), shape}, threshold).tiles.size();
    for (const Variant& variant : all_variants()) {
        for (const Strategy strategy : STRATEGIES) {
            Recorded space(variant, strategy, shape, required + 64);
            for (const std::uint64_t capacity : {std::uint64_t{1}, required - 1, required + 10}) {
                space.list.binding =
                    space.subdivider.bind(shape, space.list.resources(space.map, capacity));
                space.run(threshold);
                const std::uint32_t limit = variant.limits.max_workgroup_count;
                EXPECT_EQ(wrong_header(space.list.read_header(space.gpu), required, capacity,
                                       Balance::none, limit != 0 ? limit : 65535U),
                          "");
            }
        }
    }
}

// ---- Refusals ---------------------------------------------------------------------------------

TEST_F(Recording, WhatCannotWorkIsRefusedByName) {
    const Threshold one = Threshold::constant(1.0F);
    const MapShape shape{8, 8};
    const MapShape two{8, 8, 2};
    Recorded fused(all_variants().front(), Strategy::fused, shape, 64);
    Recorded subtree(all_variants().front(), Strategy::subtree, shape, 64, true);
    Recorded layers(all_variants().front(), Strategy::fused, two, 64);
    const Pyramid& pyramid = fused.pyramid;
    const DeviceInfo& info = device_for().info();
    const auto making = [](const SubdividerOptions& options) {
        return [=] { const Subdivider subdivider(device_for(), options); };
    };
    const auto needing = [&](const MapShape& of, std::uint64_t capacity) {
        return [&, of, capacity] { (void)fused.subdivider.requirements(of, capacity); };
    };
    const auto checking = [&](const Recorded& space, const Threshold& threshold) {
        return [&, threshold] { space.subdivider.check_threshold(shape, threshold); };
    };
    const auto level_maps = [&](const std::vector<Threshold>& thresholds) {
        return [&, thresholds] { (void)Subdivider::layer_thresholds(two, thresholds); };
    };
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    const struct {
        std::function<void()> call;
        const char* text;
        ErrorCode code = ErrorCode::invalid_argument;
    } rows[] = {
        {making({.subtree_levels = 0}), "must be 1 to 8"},
        {making({.subtree_levels = 9}), "must be 1 to 8"},
        {making({.strategy = Strategy::reference}), "reference::subdivide"},
        {needing({16, 16}, 0), "room for at least one tile"},
        {needing({16, 16}, std::uint64_t{1} << 33U), "tiles", ErrorCode::unsupported},
        {needing({0, 16}, 1), "is empty"},
        {[&] {
             (void)pyramid.requirements({0, 1});
         },
         "is empty"},
        {[&] {
             (void)pyramid.requirements({1, 1, info.max_layers + 1});
         },
         "layers",
         info.max_layers < MAX_LAYERS ? ErrorCode::unsupported : ErrorCode::invalid_argument},
        {fused.recording(Threshold::per_level({1.0F})), "1 level thresholds"},
        {fused.recording(one, {.balance = Balance::edges}),
         "the binding has no buffer for balanced lists"},
        {subtree.recording(one, {.order = Order::any, .balance = Balance::edges}),
         "only the strategies fused and reference make balanced lists"},
        {fused.recording(Threshold::bound_map()), "bound_map"},
        {subtree.recording(Threshold::bound_map(), {.order = Order::any}),
         "no buffer of thresholds"},
        {subtree.recording(Threshold::map(NodeThresholds(8, 8)), {.order = Order::any}),
         "no buffer of thresholds"},
        {checking(fused, Threshold::bound_map()), "bound_map"},
        {checking(subtree, Threshold::map(NodeThresholds(8, 7))), "8 x 7 texels"},
        {level_maps({one}), "layers of the map (2) and their thresholds (1)"},
        {level_maps({one, growing}), "do not grow"},
        {[&] {
             layers.gpu.run([&](VkCommandBuffer commands) {
                 layers.subdivider.record(commands, layers.list.binding);
             });
         },
         "a threshold is missing"},
        {[&] {
             Subdivider::Resources resources = subtree.list.resources(subtree.map, 10);
             resources.layer_thresholds = layers.list.scratch.range();
             (void)subtree.subdivider.bind(shape, resources);
         },
         "only the strategy fused"},
    };
    for (const auto& [call, text, code] : rows) {
        EXPECT_THAT(call, fails(code, text)) << text;
    }
    EXPECT_NO_THROW(checking(subtree, Threshold::bound_map())());
    // Bound with more than a descriptor reaches: refused before it is looked at.
    const Subdivider short_reach(device_for(all_variants().back()),
                                 {.strategy = Strategy::subtree});
    EXPECT_THAT(
        [&] {
            (void)short_reach.bind(
                {256, 256}, {.tile_capacity = 1, .node_thresholds = fused.map.levels.range()});
        },
        fails(ErrorCode::unsupported, "thresholds"));
}

// ---- A host's device: quadtile works on it and leaves it alive ---------------------------------

// The printed program of docs/integration.md works on a host's device.
TEST_F(Recording, HostsDevicesThatDoNotFitAreRefused) {
    AdoptedDevice host = handles_of(device_for());
    host.queue = VK_NULL_HANDLE;
    const Device adopted = Device::adopt(host);
    EXPECT_THAT([&] { const Tiler tiler(adopted); }, is_refused("needs a queue"));
    EXPECT_THAT([&] { const Mipmapper mipmapper(adopted); }, is_refused("needs a queue"));
    const auto adopting = [](const std::function<void(AdoptedDevice&)>& spoil) {
        AdoptedDevice spoilt = handles_of(device_for());
        spoil(spoilt);
        return [spoilt] { (void)Device::adopt(spoilt); };
    };
    EXPECT_THAT(adopting([](AdoptedDevice& of) { of.device = VK_NULL_HANDLE; }), is_refused());
    EXPECT_THAT(adopting([](AdoptedDevice& of) { of.get_instance_proc_addr = nullptr; }),
                is_refused());
    EXPECT_THAT(adopting([](AdoptedDevice& of) { of.queue_family = 99; }), is_refused());
}

// Would catch Devices that each have a mutex of their own for the same queue, which the validation
// layer reports.
TEST_F(Recording, DevicesOfOneQueueSubmitInTurn) {
    const AdoptedDevice host = handles_of(device_for());
    const auto work = [&] {
        const std::vector<float> texels(64, 0.5F);
        Tiler tiler(Device::adopt(host));
        for (int i = 0; i < 50; ++i) {
            (void)tiler.subdivide(view_of(texels, 8, 8), Threshold::constant(1.0F));
        }
    };
    std::thread other(work);
    work();
    other.join();
}

// ---- The choice of devices, and their caches ---------------------------------------------------

class DeviceChoice : public GpuTest {};

// Would catch a part of a name that is a number ("4090") taken for a device's number alone.
TEST_F(DeviceChoice, SelectsByNumberAndByPartOfTheName) {
    const std::vector<DeviceInfo> all = Device::enumerate();
    for (const DeviceInfo& info : all) {
        const std::size_t first = std::min(info.name.find_first_of("123456789"), info.name.size());
        const std::string number =
            info.name.substr(first, info.name.find_first_not_of("0123456789", first) - first);
        const bool is_part = !number.empty() && std::stoul(number) >= all.size();
        for (const std::string& select :
             {std::to_string(info.index), info.name.substr(1, 4), is_part ? number : info.name}) {
            if (info.usable()) {
                EXPECT_EQ(Device::create({.select = select}).info().type, info.type) << select;
            }
        }
        EXPECT_THAT([] { (void)Device::create({.select = "no such device"}); },
                    fails(ErrorCode::no_device, "no such device",
                          "(" + info.name + "): neither its number nor its name matches"));
    }
}

#ifndef _WIN32  // whose loader finds manifests by its registry, and Wine's by Linux
// Would catch the loader's complaint about a file taken for a lack of memory.
TEST_F(DeviceChoice, NamesManifestsThatMayBeDamaged) {
    const TemporaryDirectory directory;
    const std::string manifest = directory.add("driver.json", "junk{");
    const char* const before = std::getenv("VK_ICD_FILENAMES");
    const std::string kept = before != nullptr ? before : "";
    (void)setenv("VK_ICD_FILENAMES", manifest.c_str(), 1);
    EXPECT_THAT([] { (void)Device::create(); },
                fails(ErrorCode::out_of_memory, "VK_ICD_FILENAMES", manifest));
    (void)(before != nullptr ? setenv("VK_ICD_FILENAMES", kept.c_str(), 1)
                             : unsetenv("VK_ICD_FILENAMES"));
}
#endif

// Catches bytes that come to a driver although they are damaged or foreign, and pipelines that are
// lost on the way.
TEST_F(DeviceChoice, TakesOnlyWholePipelineCaches) {
    const std::vector<float> texels(97 * 61, 1.0F);
    const MapView map = view_of(texels, 97, 61);
    const TileList expected = reference::subdivide(map, Threshold::constant(1.5F));
    std::vector<std::byte> kept;
    const auto is_ignored = [&](std::span<const std::byte> bytes) {
        bool ignored = false;
        const Device device = Device::create({.log =
                                                  [&](Severity, std::string_view message) {
                                                      ignored |= message.find("is damaged or") !=
                                                                 std::string_view::npos;
                                                  },
                                              .pipeline_cache = bytes});
        if (kept.empty() || !ignored) {
            EXPECT_EQ(difference(Tiler(device).subdivide(map, Threshold::constant(1.5F)), expected),
                      "");
            kept = device.pipeline_cache();
        }
        return ignored;
    };
    EXPECT_FALSE(is_ignored({}));
    const std::vector<std::byte> whole = kept;
    EXPECT_FALSE(is_ignored(whole));
    EXPECT_EQ(kept, whole);
    std::mt19937 random(1);
    for (int i = 0; i < 40; ++i) {
        std::vector<std::byte> damaged = whole;
        damaged[random() % damaged.size()] ^= std::byte{1};
        EXPECT_TRUE(is_ignored(damaged)) << i;
        EXPECT_TRUE(is_ignored(std::span(whole).first(1 + random() % (whole.size() - 1)))) << i;
    }
    // Whole, but of another device: the sum is that of quadtile.
    std::vector<std::byte> foreign(whole.begin(), whole.end() - 8);
    foreign[8] ^= std::byte{1};  // vendorID
    std::uint64_t sum = 0xCBF29CE484222325U;
    for (const std::byte byte : foreign) {
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    const auto sum_bytes = std::as_bytes(std::span(&sum, 1));
    foreign.insert(foreign.end(), sum_bytes.begin(), sum_bytes.end());
    EXPECT_TRUE(is_ignored(foreign));
}

}  // namespace
}  // namespace quadtile::test
