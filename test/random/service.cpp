// Service: many maps of few sizes, of all formats and with few to many layers, from several threads
// at a time. Catches what one map alone hides: batches, staging memory of the wrong size, lists of
// other requests.

#include "contents.hpp"
#include "subjects.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <quadtile/reference.hpp>
#include <quadtile/service.hpp>

#include <algorithm>
#include <memory>
#include <thread>

namespace quadtile::test {

namespace {

std::atomic<std::uint64_t> lists_answered = 0;

// Maps of one size and format: each request takes some of the layers.
struct MapFamily {
    MapShape shape;
    std::vector<float> palette;
    std::vector<std::byte> texels;
};

MapFamily random_family(Choices& choices, std::uint32_t number, std::uint32_t texels,
                        const Device& device) {
    const std::string of = "_" + std::to_string(number);
    constexpr TexelFormat FORMATS[] = {TexelFormat::r8_unorm,  TexelFormat::r16_unorm,
                                       TexelFormat::d16_unorm, TexelFormat::r16_float,
                                       TexelFormat::r32_float, TexelFormat::d32_float};
    const auto extent = [&](const std::string& name) {
        return choices.number(name + of, 1, 300, [](Random& random) {
            return 1 + random.below(1U << (1 + random.below(8))) + random.below(44);
        });
    };
    MapFamily family;
    family.shape.width = extent("width");
    family.shape.height = extent("height");
    const std::uint32_t size = family.shape.width * family.shape.height;
    const std::uint32_t most =
        std::clamp(texels / size, 1U, std::min(device.info().max_layers, 2048U));
    family.shape.layers = choices.number("layers" + of, 1, most, [&](Random& random) {
        return random.one_in(2) ? most : 1 + random.below(most);
    });
    family.shape.format = FORMATS[choices.number("format" + of, 0, 5)];
    family.palette = random_palette(choices);
    family.texels = random_texels(choices, family.shape, family.palette);
    return family;
}

struct Asked {
    MapView map;
    Threshold threshold;
    SubdivideOptions options;
    Ticket ticket;
};

Asked random_request(Random& random, const MapFamily& family, bool may_be_balanced) {
    MapShape shape = family.shape;
    const std::uint32_t layer = random.one_in(3) ? 0 : random.below(shape.layers);
    const std::uint32_t most = shape.layers - layer;
    shape.layers = random.one_in(3) ? most : 1 + random.below(random.below(most) + 1);
    const std::size_t layer_bytes = family.texels.size() / family.shape.layers;
    Threshold threshold = level_threshold(random, shape, family.palette);
    if (random.one_in(8) && shape.width * shape.height * shape.layers < 1U << 12U) {
        threshold = Threshold::map(make_thresholds(shape, [&](auto...) { return 0.5F; }));
    }
    return {{family.texels.data() + layer * layer_bytes, shape},
            threshold,
            {.order = random.one_in(2) ? Order::any : Order::canonical,
             .balance = may_be_balanced && random.one_in(4) ? Balance::edges : Balance::none},
            {}};
}

std::string wrong_answer(Asked& asked) {
    TileList list = asked.ticket.result.get();
    ++lists_answered;
    if (asked.options.order == Order::any) {
        sort_canonical(list.tiles);
    }
    return difference(
        list, reference::subdivide(asked.map, asked.threshold, {.balance = asked.options.balance}));
}

struct KeptServices {
    std::unique_ptr<Service> of[2];  // by `automatic`; in batches by `fused`
};

std::string check_service(Choices& choices, const RandomSettings& settings, KeptServices& kept) {
    const Device& device = device_for(all_variants().front());
    // CPU drivers compile the fused kernels, which also balance, for each size of maps. That takes
    // as long as hundreds of cases.
    const bool makes_batches =
        choices.one_in("makes_batches", device.info().type == "CPU" ? 200 : 2);
    std::unique_ptr<Service>& service = kept.of[makes_batches ? 1 : 0];
    if (!service) {
        service = std::make_unique<Service>(
            device,
            ServiceOptions{.strategy = makes_batches ? Strategy::fused : Strategy::automatic,
                           .max_batch_layers = 2048,
                           .gpu_timeout = GPU_TIMEOUT});
    }
    const std::uint32_t texels =
        choices.number("texels_at_most", 1, settings.max_texels, [&](Random& random) {
            return random.one_in(100) ? settings.max_texels : 1U << (10 + random.below(7));
        });
    std::vector<MapFamily> families(choices.number("families", 1, 3));
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        families[i] = random_family(choices, i, texels, device);
    }
    const std::uint32_t threads = choices.number("threads", 1, 4);
    const std::uint32_t requests = choices.number("requests", 1, 8);  // of each thread
    std::vector<std::string> wrong(threads);
    const auto ask_and_check = [&](std::uint32_t thread) {
        Random random = choices.random("thread " + std::to_string(thread));
        std::vector<Asked> all;
        for (std::uint32_t i = 0; i < requests; ++i) {
            const auto family = random.below(static_cast<std::uint32_t>(families.size()));
            all.push_back(random_request(random, families[family], makes_batches));
            all.back().ticket = service->submit({.map = all.back().map,
                                                 .threshold = all.back().threshold,
                                                 .options = all.back().options,
                                                 .priority = static_cast<int>(random.below(3))});
        }
        for (Asked& asked : all) {  // all, before the texels go
            try {
                const std::string found = wrong_answer(asked);
                if (wrong[thread].empty() && !found.empty()) {
                    wrong[thread] = text_of(asked.map.shape) + ": " + found;
                }
            } catch (const Error& error) {
                wrong[thread] = text_of(asked.map.shape) + ": an error: " + error.what();
            }
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::uint32_t thread = 1; thread < threads; ++thread) {
            others.emplace_back(ask_and_check, thread);
        }
        ask_and_check(0);
    }
    const auto found = std::ranges::find_if(wrong, [](const auto& text) { return !text.empty(); });
    return found != wrong.end() ? *found : "";
}

}  // namespace

Subject service_subject(const RandomSettings& settings) {
    const auto kept = std::make_shared<KeptServices>();
    return {"service", 0.2,
            [=](Choices& choices) { return check_service(choices, settings, *kept); },
            &lists_answered};
}

}  // namespace quadtile::test
