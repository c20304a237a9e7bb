// Service: many maps of few sizes, of all formats and with few to many layers, from several threads
// at a time; some requests are cancelled or expire, and now and then a device is lost. Catches what
// one map alone hides: batches, staging memory of the wrong size, lists of other requests, answers
// that are lost.

#include "choices.hpp"
#include "fault/faulty_vulkan.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <quadtile/reference.hpp>
#include <quadtile/service.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace quadtile::test {

namespace {

using namespace std::chrono_literals;

// Maps of one size and format: each request takes some of the layers.
struct MapFamily {
    MapShape shape;
    std::vector<float> palette;
    std::vector<std::byte> texels;
};

MapFamily random_family(Choices& choices, std::uint32_t number, std::uint32_t texels,
                        const Device& device) {
    const std::string of = "_" + std::to_string(number);
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
    family.shape.format = random_map_format(choices, "format" + of);
    family.palette = random_palette(choices);
    family.texels = random_texels(choices, family.shape, family.palette);
    return family;
}

// What a request may be answered with, beside its list.
enum class End { list, cancelled, expired, perhaps_expired };

struct Asked {
    SubdivisionRequest request;
    End end = End::list;
    std::string lost;  // what the error says of the device that it may be lost with; empty: none
    Ticket ticket;
};

struct Rules {
    bool may_be_balanced = false;
    std::optional<std::uint32_t> losing_device;  // its number
    bool repeats_lost = false;
};

Asked random_request(Random& random, const MapFamily& family, const Rules& rules) {
    MapShape shape = family.shape;
    const std::uint32_t layer = random.one_in(3) ? 0 : random.below(shape.layers);
    const std::uint32_t most = shape.layers - layer;
    shape.layers = random.one_in(3) ? most : 1 + random.below(random.below(most) + 1);
    const std::size_t layer_bytes = family.texels.size() / family.shape.layers;
    Threshold threshold = level_threshold(random, shape, family.palette);
    if (random.one_in(8) && shape.width * shape.height * shape.layers < 1U << 12U) {
        threshold = Threshold::map(make_thresholds(shape, [&](auto...) { return 0.5F; }));
    }
    Asked asked{.request = {.map = {family.texels.data() + layer * layer_bytes, shape},
                            .threshold = threshold,
                            .options = {.order = random.one_in(2) ? Order::any : Order::canonical,
                                        .balance = rules.may_be_balanced && random.one_in(4)
                                                       ? Balance::edges
                                                       : Balance::none},
                            .priority = static_cast<int>(random.below(3))}};
    if (random.one_in(8)) {
        constexpr std::chrono::microseconds FROM_NOW[] = {-1s, 500us, 1h};
        constexpr End ENDS[] = {End::expired, End::perhaps_expired, End::list};
        const std::uint32_t kind = random.below(3);
        asked.request.deadline = std::chrono::steady_clock::now() + FROM_NOW[kind];
        asked.end = ENDS[kind];
    }
    if (rules.losing_device) {
        if (random.one_in(4)) {
            asked.request.device = random.below(2);
        }
        if (!rules.repeats_lost || asked.request.device == rules.losing_device) {
            asked.lost = "device " + std::to_string(*rules.losing_device) + " (";
        }
    }
    return asked;
}

std::string wrong_answer(Asked& asked) {
    const SubdivisionRequest& request = asked.request;
    std::string wrong;
    try {
        TileList list = asked.ticket.result.get();
        if (request.options.order == Order::any) {
            sort_canonical(list.tiles);
        }
        wrong = difference(list, reference::subdivide(request.map, request.threshold,
                                                      {.balance = request.options.balance}));
        if (asked.end == End::cancelled || asked.end == End::expired) {
            wrong = "is answered after it was cancelled or its deadline had passed";
        }
    } catch (const Error& error) {
        const bool is_right =
            (error.code() == ErrorCode::cancelled && asked.end == End::cancelled) ||
            (error.code() == ErrorCode::deadline_exceeded &&
             (asked.end == End::expired || asked.end == End::perhaps_expired)) ||
            (error.code() == ErrorCode::device_lost && !asked.lost.empty() &&
             std::string_view(error.what()).find(asked.lost) != std::string_view::npos);
        wrong = is_right ? "" : std::string("an error: ") + error.what();
    }
    return wrong.empty() ? "" : text_of(request.map.shape) + ": " + wrong;
}

// Requests of several threads; all are answered before the texels go.
std::string check_answers(Choices& choices, const std::vector<MapFamily>& families,
                          Service& service, const Rules& rules) {
    const std::uint32_t threads = choices.number("threads", 1, 4);
    const std::uint32_t requests = choices.number("requests", 1, 8);  // of each thread
    std::vector<std::string> wrong(threads);
    const auto ask_and_check = [&](std::uint32_t thread) {
        Random random = choices.random("thread " + std::to_string(thread));
        std::vector<Asked> all;
        for (std::uint32_t i = 0; i < requests; ++i) {
            const auto family = random.below(static_cast<std::uint32_t>(families.size()));
            Asked asked = random_request(random, families[family], rules);
            try {
                asked.ticket = service.submit(asked.request);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::device_lost || !asked.request.device ||
                    asked.request.device != rules.losing_device) {
                    wrong[thread] = std::string("is not taken: ") + error.what();
                }
                continue;
            }
            all.push_back(std::move(asked));
        }
        for (Asked& asked : all) {
            if (random.one_in(8) && asked.ticket.cancel()) {
                asked.end = End::cancelled;
            }
        }
        for (Asked& asked : all) {
            const std::string found = wrong_answer(asked);
            wrong[thread] = wrong[thread].empty() ? found : wrong[thread];
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

// Two devices, of which one is lost on the way: the other one answers.
std::string check_lost_device(Choices& choices, const std::vector<MapFamily>& families) {
    static std::mutex one_at_a_time;  // the faults are the process's
    const std::lock_guard lock(one_at_a_time);
    const Rules rules{.losing_device = choices.number("losing_device", 0, 1),
                      .repeats_lost = choices.one_in("repeats_lost", 2)};
    DeviceOptions options;
    options.get_instance_proc_addr = faulty_vulkan::entry();
    const Device losing = Device::create(options);
    const Device good = device_for(all_variants().front());
    Service service(
        rules.losing_device == 0U ? std::vector{losing, good} : std::vector{good, losing},
        {.gpu_timeout = GPU_TIMEOUT, .repeat_lost = rules.repeats_lost});
    faulty_vulkan::start({{choices.number("lost_at_call", 1, 30), VK_ERROR_DEVICE_LOST}});
    const std::string wrong = check_answers(choices, families, service, rules);
    service.shutdown();
    faulty_vulkan::recover();
    const ServiceStatistics counts = service.statistics();
    const bool is_counted =
        counts.submitted == counts.succeeded + counts.failed + counts.cancelled + counts.expired;
    return !wrong.empty() ? wrong
           : !is_counted  ? "the statistics lose requests"
           : counts.devices[1 - *rules.losing_device].lost
               ? "the statistics say that the other device was lost"
               : "";
}

struct KeptServices {
    std::unique_ptr<Service> of[2];  // by `automatic`; in batches by `fused`
};

std::string check_service(Choices& choices, const RandomSettings& settings, KeptServices& kept) {
    const Device& device = device_for(all_variants().front());
    const std::uint32_t texels =
        choices.number("texels_at_most", 1, settings.max_texels, [&](Random& random) {
            return random.one_in(100) ? settings.max_texels : 1U << (10 + random.below(7));
        });
    std::vector<MapFamily> families(choices.number("families", 1, 3));
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        families[i] = random_family(choices, i, texels, device);
    }
    if (choices.one_in("loses_device", 5)) {
        return check_lost_device(choices, families);
    }
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
    return check_answers(choices, families, *service, {.may_be_balanced = makes_batches});
}

}  // namespace

Subject service_subject(const RandomSettings& settings) {
    const auto kept = std::make_shared<KeptServices>();
    return {"service", 0.2, 40,
            [=](Choices& choices) { return check_service(choices, settings, *kept); }};
}

}  // namespace quadtile::test
