// A driver that lies: it loses messages between workgroups or returns old ones, or its subgroup
// operations are wrong. Lists and mip levels must be right all the same, because quadtile finds it
// out and goes another way, or refused with an Error. Catches a wait without an end, a lost message
// that nobody notices or that spoils the next run, and a check that misses a fault.

#include "choices.hpp"
#include "fault/faulty_vulkan.hpp"
#include "support/variants.hpp"
#include "support/workspace.hpp"

#include <quadtile/reference.hpp>
#include <quadtile/tiler.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

namespace quadtile::test {

namespace {

// Lets the driver lie until the end of its life.
class Lying {
 public:
    explicit Lying(const Lie& lie) {
        const auto control = faulty_vulkan::control();
        control->lie = lie;
        control->pretends_gpu = true;
    }
    Lying(const Lying&) = delete;
    Lying& operator=(const Lying&) = delete;
    ~Lying() {
        const auto control = faulty_vulkan::control();
        control->lie = {};
        control->pretends_gpu = false;
    }
};

// Texels with random bits below their first ones, so that few messages are equal.
std::vector<std::byte> varied_texels(Random& random, const MapShape& shape,
                                     std::vector<std::byte> texels) {
    if (shape.format == TexelFormat::r32_float) {
        for (std::size_t i = 0; i < texels.size(); i += 4) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &texels[i], 4);
            bits ^= static_cast<std::uint32_t>(random.word()) & 0xffffU;
            std::memcpy(&texels[i], &bits, 4);
        }
    }
    return texels;
}

std::string list_under_lies(Random& random, Choices& choices, const RandomSettings& settings,
                            const Device& device) {
    const std::uint32_t longest = random.one_in(5) ? 3000 : 400;
    MapShape shape{1 + random.below(longest), 1 + random.below(longest > 400 ? 5 : 300),
                   1 + random.below(3)};
    shape.format =
        !settings.is_short && random.one_in(3) ? TexelFormat::r8_unorm : TexelFormat::r32_float;
    const std::vector<float> palette = random_palette(choices);
    const std::vector<std::byte> texels =
        varied_texels(random, shape, random_texels(choices, shape, palette));
    const MapView map{texels.data(), shape};
    const Threshold threshold = level_threshold(random, shape, palette);
    const bool is_plain = settings.is_short || random.one_in(3);  // with few pipelines
    SubdivideOptions options{.order = is_plain || random.one_in(2) ? Order::any : Order::canonical};
    if (!is_plain && random.one_in(4)) {
        options.balance = Balance::edges;
    } else if (!is_plain && random.one_in(4)) {
        options.max_tiles = 1 + random.below(5000);
    }
    TileList expected;
    try {
        expected = reference::subdivide(map, threshold, options);
    } catch (const Error&) {  // too small a budget
        options.max_tiles.reset();
        expected = reference::subdivide(map, threshold, options);
    }
    Tiler tiler(device, {.strategy = Strategy::automatic, .gpu_timeout = GPU_TIMEOUT});
    for (int times = 0; times < 2; ++times) {
        TileList list = tiler.subdivide(map, threshold, options);
        sort_canonical(list.tiles);
        if (std::string wrong = difference(list, expected); !wrong.empty()) {
            return "a map of " + text_of(shape) + ": " + wrong;
        }
    }
    return {};
}

// `by_messages`: only images whose levels are all handed over by messages. Others are released and
// acquired, and a driver that loses those breaks a promise of Vulkan.
std::string levels_under_lies(Random& random, Choices& choices, const Device& device,
                              bool by_messages) {
    const auto extent = [&] {
        return by_messages ? 1U << random.below(10) : 1 + random.below(600);
    };
    const ImageShape shape{extent(), extent(), 1 + random.below(2),
                           by_messages || random.one_in(2) ? TexelFormat::r32_float
                                                           : TexelFormat::rgba8_srgb};
    const DownsamplerOptions options{
        .reduction = random.one_in(2) ? Reduction::max : Reduction::mean,
        .source_format = shape.format,
        .format = shape.format,
        .edge_rule = static_cast<EdgeRule>(random.below(3)),
        .method = MipMethod::spd};
    const std::vector<std::byte> texels =
        random_texels(choices, shape, random_palette(choices), true);
    const ImageView image{texels.data(), shape};
    const std::uint32_t levels = full_mip_levels(shape.width, shape.height, options.edge_rule);
    const MipChain expected = expected_chain(options, image, levels);
    Mipmapper mipmapper(device, options, GPU_TIMEOUT);
    for (int times = 0; times < 2; ++times) {
        if (std::string wrong = difference(mipmapper.make(image), expected, 1); !wrong.empty()) {
            return "mip levels: " + wrong;
        }
    }
    return {};
}

// Records lists into one scratch buffer, first under the lie, then with honest kernels: once a run
// is lost, all later ones must say so.
std::string recorded_under_lies(Random& random, const Device& device) {
    const MapShape shape{65 + random.below(400), 65 + random.below(400)};
    std::vector<float> texels(std::size_t{shape.width} * shape.height);
    std::ranges::generate(texels, [&] { return random.unit(); });
    const MapView map{texels.data(), shape};
    const Threshold threshold = Threshold::constant(1.0F - 0x1p-10F);
    const std::vector<Tile> expected = reference::subdivide(map, threshold).tiles;
    const Strategy strategy = random.one_in(3) ? Strategy::subtree : Strategy::fused;
    Gpu gpu(device, submit_to(device));
    std::optional<PyramidWorkspace> levels;
    std::optional<SubdivisionWorkspace> list;
    bool is_lost = false;
    for (int times = 0; times < 3; ++times) {
        if (times == 1) {
            faulty_vulkan::control()->lie = {};
        }
        const Pyramid pyramid(device);
        const Subdivider subdivider(device, {.strategy = strategy});
        if (!list) {
            levels.emplace(gpu, pyramid, map);
            list.emplace(gpu, subdivider, *levels, expected.size());
        }
        const auto pyramid_binding = pyramid.bind(shape, {.map = levels->map.map_image(),
                                                          .pyramid = {levels->levels.handle()},
                                                          .state = {levels->state.handle()}});
        const auto binding = subdivider.bind(shape, list->resources(*levels, expected.size()));
        gpu.run([&](VkCommandBuffer commands) {
            if (strategy == Strategy::subtree) {
                pyramid.record(commands, pyramid_binding);
                gpu.compute_barrier(commands);
            }
            subdivider.record(commands, binding, threshold);
        });
        const TileListHeader header = list->read_header(gpu);
        if ((header.flags & TILE_LIST_INCOMPLETE) != 0) {
            is_lost = true;
            if (header.written != 0 || header.required != 0 || header.draw_instance_count != 0) {
                return "a lost run leaves tiles";
            }
            continue;
        }
        std::vector<Tile> tiles = list->read_tiles(gpu);
        sort_canonical(tiles);
        if (is_lost) {
            return "a list that comes behind a lost one is not lost";
        }
        if (std::string wrong = difference(tiles, expected); !wrong.empty()) {
            return "recorded: " + wrong;
        }
    }
    return {};
}

bool is_of_messages(Lie::Kind kind) {
    return kind == Lie::lost_stores || kind == Lie::stale_loads;
}

// `lying_device`: of the faulty loader, which keeps its pipelines; each case adopts it anew.
std::string check_lie(Choices& choices, const RandomSettings& settings,
                      const Device& lying_device) {
    static std::mutex one_at_a_time;  // the driver lies to all threads
    const std::lock_guard lock(one_at_a_time);
    const auto kind = static_cast<Lie::Kind>(choices.one_of(
        "lie",
        {"none", "lost_stores", "stale_loads", "wrong_shuffles", "wrong_scans", "wrong_maxima"}));
    if (settings.is_short && lying_device.info().name.find("SwiftShader") != std::string::npos) {
        return {};  // it compiles for minutes
    }
    // One message in 2, 16 or 64; few modules, because drivers compile for seconds.
    constexpr std::uint32_t MASKS[] = {1U, 0xfU << 9U, 0x3fU};
    const std::uint32_t mask = MASKS[choices.number("mask", 0, is_of_messages(kind) ? 2 : 0)];
    // Without a check only receivers can notice.
    const bool checks = !is_of_messages(kind) || choices.one_in("checks", 2);
    const Lying lying({kind, mask});
    AdoptedDevice host = handles_of(lying_device);
    host.check = checks ? DeviceCheck::automatic : DeviceCheck::off;
    Random random = choices.random("requests");
    try {
        const Device device = Device::adopt(host);
        if (checks && !is_of_messages(kind) &&
            device.info().faults.empty() != (kind == Lie::none)) {
            return "the check finds " + std::to_string(device.info().faults.size()) + " faults";
        }
        if (is_of_messages(kind) && choices.one_in("records", 3)) {
            return recorded_under_lies(random, device);
        }
        for (std::uint32_t left = choices.number("requests", 1, 4); left > 0; --left) {
            std::string wrong =
                !settings.is_short && random.one_in(3)
                    ? levels_under_lies(random, choices, device, kind == Lie::stale_loads)
                    : list_under_lies(random, choices, settings, device);
            if (!wrong.empty()) {
                return wrong;
            }
        }
    } catch (const Error& error) {
        const std::string_view text = error.what();
        const bool is_clear = error.code() == ErrorCode::unsupported &&
                              (text.find("messages between workgroups") != text.npos ||
                               text.find("makes wrong tile lists") != text.npos);
        return is_of_messages(kind) && is_clear ? "" : "refused: " + std::string(text);
    }
    return {};
}

}  // namespace

Subject lies_subject(const RandomSettings& settings) {
    const auto device = std::make_shared<std::optional<Device>>();
    return {
        "lies", 0.05, 3, [=](Choices& choices) {
            if (!*device) {
                device->emplace(Device::create({.get_instance_proc_addr = faulty_vulkan::entry()}));
            }
            return check_lie(choices, settings, **device);
        }};
}

}  // namespace quadtile::test
