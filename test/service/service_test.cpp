// The service: every request is answered exactly once, by the list that the reference gives or by
// an error that says why not.

#include "gpu_test.hpp"

#include <atomic>
#include <future>
#include <string>
#include <thread>

namespace quadtile::test {
namespace {

class ServiceTest : public GpuTest {};

TEST_F(ServiceTest, WhatWaitsTogetherRunsTogether) {
    GatedService gated({.strategy = Strategy::fused, .lanes = 1, .max_batch_layers = 12});
    Service& service = *gated.service;
    Ticket first = gated.hold_lane();
    std::vector<SubdivisionRequest> requests;
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 20; ++i) {
        // Layers, thresholds and contents differ; some have another size or format, one has a
        // budget, and one is longer than any batch.
        const bool is_depth = i % 7 == 5;
        const MapShape shape{100, i % 7 == 6 ? 50U : 80U, i == 11 ? 13 : 1 + i % 3,
                             is_depth ? TexelFormat::d32_float : TexelFormat::r32_float};
        const std::vector<float> texels = random_map(shape, i);
        requests.push_back(request_of(shape,
                                      is_depth ? texels : with_special_values(texels, 100, i),
                                      Threshold::constant(0.99F - 0.01F * static_cast<float>(i))));
        if (i == 9) {
            requests.back().options.max_tiles = 1'000'000;
        }
        tickets.push_back(service.submit(requests.back()));
    }
    gated.open();
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        TileList list = tickets[i].result.get();
        EXPECT_EQ(list.shape, requests[i].map.shape);
        EXPECT_EQ(list.report.stages.front().stage, "wait");
        EXPECT_EQ(check_answer(std::move(list), requests[i]), "") << i;
    }
    (void)first.result.get();
    // Of those of one size 0, 1, 2, 3, 4, 7, 15 make 12 layers, then 8, 10, 14, 16, 18 make 11, and
    // 17 is left. The depths make a run, so do those of half the size, the budget, and the longest.
    const ServiceStatistics statistics = service.statistics();
    EXPECT_EQ(statistics.largest_batch, 7U);
    EXPECT_EQ(statistics.runs, 1U + 7U);
}

// The ways in which a request that waits is answered.
enum class Answered { by_list, by_expiry, by_cancellation, by_shutdown };

// Has a request answered whose owner calls `let_go`, with another one before it, by a gated service
// of one lane. The gate opens when the owner goes: `let_go` may wait for the lane.
void answer(GatedService& gated, Service& service, Answered way,
            const std::function<void()>& let_go) {
    Ticket runs = gated.hold_lane();
    Ticket other = service.submit(mixed_request(2));
    std::atomic<bool> has_gone = false;
    SubdivisionRequest request = mixed_request(1);
    request.texels_owner = std::shared_ptr<const void>(
        request.map.texels,
        [&gated, &let_go, &has_gone, texels = request.texels_owner](const void*) {
            gated.open();
            let_go();
            has_gone = true;
        });
    if (way == Answered::by_expiry) {
        request.deadline = std::chrono::steady_clock::now() + 1ms;
    }
    Ticket ticket = service.submit(std::move(request));
    if (way == Answered::by_list) {
        gated.open();
    } else if (way == Answered::by_cancellation) {
        EXPECT_TRUE(ticket.cancel());
    } else if (way == Answered::by_shutdown) {
        service.shutdown(Shutdown::cancel);
    }
    ASSERT_EQ(ticket.result.wait_for(PATIENCE), std::future_status::ready);
    EXPECT_TRUE(has_gone);  // before the answer
    (void)runs.result.get();
    if (way == Answered::by_shutdown) {
        EXPECT_THAT(throwing(other), fails(ErrorCode::cancelled));
    } else {
        EXPECT_EQ(check_answer(other.result.get(), mixed_request(2)), "");
    }
}

TEST_F(ServiceTest, OwnersMayCallAndEndTheService) {
    for (const Answered way : {Answered::by_list, Answered::by_expiry, Answered::by_cancellation,
                               Answered::by_shutdown}) {
        GatedService called({.lanes = 1});
        answer(called, *called.service, way, [&] {
            EXPECT_EQ(called.service->statistics().submitted, 3U);
            if (way != Answered::by_shutdown) {
                (void)called.service->try_submit(mixed_request(3)).value().cancel();
            }
            called.service->shutdown();
        });
        GatedService ended({.lanes = 1});
        answer(ended, *ended.service, way, [&] { ended.service.reset(); });
        EXPECT_FALSE(ended.service);
    }
}

TEST_F(ServiceTest, ShutdownAnswersEverything) {
    constexpr std::uint32_t WAITING = 5;
    for (const Shutdown how : {Shutdown::finish, Shutdown::cancel}) {
        GatedService gated({.lanes = 1, .queue_capacity = WAITING});
        Service& service = *gated.service;
        Ticket runs = gated.hold_lane();
        std::vector<Ticket> tickets;
        for (std::uint32_t i = 0; i < WAITING; ++i) {
            tickets.push_back(service.submit(mixed_request(i)));
        }
        // Keeps the lane until the service is being shut down; what is cancelled is answered
        // without the lane.
        std::thread opener([&] {
            EXPECT_THAT(
                [&] {
                    while (!service.try_submit(mixed_request(1))) {  // it is full until then
                        std::this_thread::yield();
                    }
                },
                fails(ErrorCode::cancelled));
            for (const Ticket& ticket : tickets) {
                EXPECT_EQ(ticket.result.wait_for(how == Shutdown::cancel ? PATIENCE : 0s),
                          how == Shutdown::cancel ? std::future_status::ready
                                                  : std::future_status::timeout);
            }
            gated.open();
        });
        service.shutdown(how);
        opener.join();
        ASSERT_EQ(runs.result.wait_for(0s), std::future_status::ready);
        EXPECT_FALSE(runs.result.get().tiles.empty());
        for (std::uint32_t i = 0; i < WAITING; ++i) {
            ASSERT_EQ(tickets[i].result.wait_for(0s), std::future_status::ready);
            if (how == Shutdown::cancel) {
                EXPECT_THAT(throwing(tickets[i]), fails(ErrorCode::cancelled));
            } else {
                EXPECT_EQ(check_answer(tickets[i].result.get(), mixed_request(i)), "");
            }
        }
        EXPECT_THAT(submitting(service, mixed_request(1)),
                    fails(ErrorCode::cancelled, "shut down"));
        service.shutdown();  // again: nothing
    }
}

TEST_F(ServiceTest, ShutdownMayBecomeACancellation) {
    GatedService gated({.lanes = 1, .queue_capacity = 1});
    Service& service = *gated.service;
    Ticket runs = gated.hold_lane();
    Ticket waits = service.submit(mixed_request(1));
    const std::future<void> finishes = std::async(std::launch::async, [&] { service.shutdown(); });
    EXPECT_THROW(
        while (!service.try_submit(mixed_request(1))) { std::this_thread::yield(); }, Error);
    const std::future<void> cancels =
        std::async(std::launch::async, [&] { service.shutdown(Shutdown::cancel); });
    EXPECT_EQ(waits.result.wait_for(PATIENCE), std::future_status::ready);
    gated.open();
    EXPECT_THAT(throwing(waits), fails(ErrorCode::cancelled));
    EXPECT_FALSE(runs.result.get().tiles.empty());
}

TEST_F(ServiceTest, TheMemoryLimitIsKept) {
    // Room for one map at a time, not for a batch.
    constexpr std::uint64_t LIMIT = 2U << 20U;
    GatedService gated({.strategy = Strategy::fused, .lanes = 1, .memory_limit_bytes = LIMIT});
    Service& service = *gated.service;
    Ticket first = gated.hold_lane();
    std::vector<SubdivisionRequest> requests;
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 12; ++i) {
        const MapShape shape{200, 200};
        requests.push_back(request_of(shape, random_map(shape, i), Threshold::constant(0.999F)));
        tickets.push_back(service.submit(requests.back()));
    }
    gated.open();
    EXPECT_FALSE(first.result.get().tiles.empty());
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        EXPECT_EQ(check_answer(tickets[i].result.get(), requests[i]), "");
    }
    const ServiceStatistics statistics = service.statistics();
    EXPECT_LE(statistics.most_memory_bytes, LIMIT);
    EXPECT_GT(statistics.memory_bytes, 0U);
    EXPECT_EQ(statistics.largest_batch, 12U);  // then each alone
}

// What a Tiler refuses is refused; here is what the service checks itself.
TEST_F(ServiceTest, RequestsAtAndBeyondEveryLimit) {
    const DeviceInfo& info = device_for().info();
    Service service(device_for());
    const Threshold threshold = Threshold::constant(0.9F);
    const auto succeeds = [&](const SubdivisionRequest& request) {
        EXPECT_EQ(check_answer(service.submit(request).result.get(), request), "");
    };
    for (const MapShape& shape :
         {MapShape{info.max_map_extent, 1}, {1, info.max_map_extent}, {1, 1, info.max_layers}}) {
        succeeds(request_of(shape, random_map(shape), threshold));
    }
    static const std::vector<float> texel(1);  // nobody looks at the others
    for (const auto& [map, text] :
         {std::pair{MapView{texel.data(), {0, 1}}, "is empty"},
          {{texel.data(), {65536, 65536}}, "2^32 - 1 are the most"},
          {{texel.data(), {8, 8, 1, TexelFormat::rgba8_unorm}}, "one channel"},
          {{nullptr, {2, 2}}, "null pointer"}}) {
        EXPECT_THAT(submitting(service, {.map = map, .threshold = threshold}), is_refused(text));
    }
    EXPECT_THAT(
        submitting(service, request_of({2, 2}, random_map({2, 2}), Threshold::per_level({1.0F}))),
        is_refused("1 level thresholds"));
    if (info.max_map_extent < MAX_MAP_EXTENT) {
        EXPECT_THAT(asking(service, {.map = {texel.data(), {info.max_map_extent + 1, 1}},
                                     .threshold = threshold}),
                    fails(ErrorCode::unsupported, "texels on a side"));
    }

    SubdivisionRequest request = request_of({40, 30, 2}, random_map({40, 30, 2}), threshold);
    request.options.max_tiles = 1;  // none for a layer
    EXPECT_THAT(asking(service, request), is_refused("max_tiles is"));
    request.options.max_tiles = UINT64_MAX;
    succeeds(request);
    request.options.max_tiles.reset();
    request.deadline = std::chrono::steady_clock::time_point::min();
    EXPECT_THAT(asking(service, request), fails(ErrorCode::deadline_exceeded));
    request.deadline = std::chrono::steady_clock::time_point::max();
    succeeds(request);
}

TEST_F(ServiceTest, MemoryAtAndBeyondTheLimit) {
    const SubdivisionRequest request =
        request_of({200, 200}, random_map({200, 200}), Threshold::constant(0.9F));
    std::uint64_t needed = 0;
    {
        Service service(device_for(), {.lanes = 1});
        // Resources of other sizes go, and their memory is given back.
        const MapShape large{1000, 1000};
        const MapShape small{40, 30};
        (void)service.submit(request).result.get();
        needed = service.statistics().most_memory_bytes;
        for (const MapShape& shape : {large, small}) {
            (void)service.submit(request_of(shape, random_map(shape), Threshold::constant(2.0F)))
                .result.get();
        }
        EXPECT_LT(service.statistics().memory_bytes, service.statistics().most_memory_bytes);
    }
    {
        Service service(device_for(), {.lanes = 1, .memory_limit_bytes = needed});
        EXPECT_EQ(check_answer(service.submit(request).result.get(), request), "");
    }
    // Too few bytes for one of two lanes is not "no limit".
    for (const std::uint64_t limit : {needed - 1, std::uint64_t{1}}) {
        Service service(device_for(), {.lanes = limit == 1 ? 2U : 1U, .memory_limit_bytes = limit});
        EXPECT_THAT(asking(service, request),
                    fails(ErrorCode::out_of_memory, "raise the memory limit or use a smaller map"));
        EXPECT_LE(service.statistics().most_memory_bytes, limit);
    }
}

TEST_F(ServiceTest, OptionsBeyondTheirLimits) {
    const auto refused = [](const ServiceOptions& options, const char* text) {
        EXPECT_THAT([&] { const Service service(device_for(), options); }, is_refused(text));
    };
    refused({.lanes = 0}, "queue_capacity above 0");
    refused({.max_batch_layers = 0}, "queue_capacity above 0");
    refused({.queue_capacity = 0}, "queue_capacity above 0");
    refused({.strategy = Strategy::reference}, "reference::subdivide");
    for (const std::uint32_t levels : {0U, MAX_SUBTREE_LEVELS + 1}) {
        refused({.strategy = Strategy::subtree, .subtree_levels = levels}, "must be 1 to 8");
    }
    for (const std::chrono::milliseconds timeout : {0ms, -1ms}) {
        refused({.gpu_timeout = timeout}, "it must be more than 0");
    }
    // The longest of all, and more layers than there are.
    Service service(device_for(), {.max_batch_layers = UINT32_MAX,
                                   .queue_capacity = SIZE_MAX,
                                   .gpu_timeout = std::chrono::milliseconds::max()});
    const SubdivisionRequest request = mixed_request(2);
    EXPECT_EQ(check_answer(service.submit(request).result.get(), request), "");
}

// ---- Several devices: each request is answered once, by whichever device is free and can; what
// one device loses is not lost with the others.

class ServiceDevices : public GpuTest {};

// For one of the devices, or for all. Maps of one kind, which need few pipelines; their lists are
// short, so that each is one submission.
SubdivisionRequest request_for(std::optional<std::uint32_t> device, std::uint32_t number) {
    const MapShape shape{200, 120, 2};
    SubdivisionRequest request =
        request_of(shape, with_special_values(random_map(shape, number), 50, number),
                   Threshold::constant(1.5F));
    request.device = device;
    return request;
}

void expect_answer(Ticket& ticket, const SubdivisionRequest& request) {
    ASSERT_EQ(ticket.result.wait_for(PATIENCE), std::future_status::ready);
    EXPECT_EQ(check_answer(ticket.result.get(), request), "");
}

// Every driver of the machine; the same device twice where there is only one. A device that is busy
// takes nothing. Finds requests that wait for a device, and answers that depend on it.
TEST_F(ServiceDevices, RequestsGoToWhicheverIsFree) {
    Gate busy;
    std::vector<Device> devices{busy.device};
    for (const DeviceInfo& info : Device::enumerate()) {
        if (info.usable()) {
            devices.push_back(Device::create({.select = std::to_string(info.index)}));
        }
    }
    Service service(devices, {.lanes = 1});
    Ticket held = service.submit(request_for(0, 1));
    busy.await(1);
    for (std::uint32_t i = 0; i < 3 * devices.size(); ++i) {
        const auto device = i < 4 ? std::nullopt : std::optional(i % (devices.size() - 1) + 1);
        Ticket ticket = service.submit(request_for(device, i));
        expect_answer(ticket, request_for(device, i));
    }
    const std::vector<DeviceStatistics> statistics = service.statistics().devices;
    EXPECT_EQ(statistics[0].succeeded, 0U);
    for (std::size_t i = 1; i < devices.size(); ++i) {
        EXPECT_GT(statistics[i].succeeded, 0U);
    }
    busy.open();
    expect_answer(held, request_for(0, 1));
}

// Finds a device that takes all that waits while others idle.
TEST_F(ServiceDevices, EachTakesItsPartOfABatch) {
    Gate gates[2];
    Service service({gates[0].device, gates[1].device}, {.strategy = Strategy::fused, .lanes = 1});
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 10; ++i) {
        tickets.push_back(service.submit(request_for(i < 2 ? std::optional(i) : std::nullopt, i)));
        if (i < 2) {
            gates[i].await(1);
        }
    }
    gates[0].open();
    gates[1].open();
    for (std::uint32_t i = 0; i < 10; ++i) {
        expect_answer(tickets[i], request_for(std::nullopt, i));
    }
    EXPECT_EQ(service.statistics().largest_batch, 4U);
}

// Finds a map that fails although a device can take it, and an error without the reasons.
TEST_F(ServiceDevices, WhatOneCannotTakeGoesToAnother) {
    const Device& small = device_for(all_variants().back());
    const MapShape shape{1024, 1024};
    SubdivisionRequest large = request_of(shape, random_map(shape), Threshold::constant(0.999F));
    Gate other;
    // By a strategy that needs a pyramid: that is what is too large.
    Service service({small, other.device, small}, {.strategy = Strategy::subtree, .lanes = 1});
    Ticket held = service.submit(request_for(1, 1));
    other.await(1);
    Ticket ticket = service.submit(large);  // for the small ones first
    large.device = 2;
    EXPECT_THAT(asking(service, large),
                fails(ErrorCode::unsupported, "device 2 (", "cut the map into several"));
    other.open();
    expect_answer(ticket, large);
    expect_answer(held, request_for(1, 1));
    large.device.reset();
    Service both({small, small}, {.strategy = Strategy::subtree});
    EXPECT_THAT(asking(both, large),
                fails(ErrorCode::unsupported, "no device can answer this request: device 0 (",
                      "at once; device 1 ("));

    EXPECT_THAT([] { const Service none(std::vector<Device>{}); }, is_refused("list of devices"));
    EXPECT_THAT(submitting(service, request_for(3, 1)), is_refused("the service has 3"));
}

// Finds a request that takes one device after the other, and lanes that end in a shutdown although
// something is repeated.
TEST_F(ServiceDevices, WhatALostDeviceLeavesIsRepeatedOnce) {
    Gate gates[4];
    Service service({gates[0].device, gates[1].device, gates[2].device, gates[3].device},
                    {.lanes = 1, .repeat_lost = true});
    std::vector<Ticket> held;
    for (const std::uint32_t i : {2U, 3U}) {
        held.push_back(service.submit(request_for(i, i)));
        gates[i].await(1);
    }
    gates[0].open(VK_ERROR_DEVICE_LOST);
    gates[1].open(VK_ERROR_DEVICE_LOST);
    EXPECT_THAT(asking(service, request_for(std::nullopt, 1)),
                fails(ErrorCode::device_lost, "device 0 (", "; device 1 ("));

    gates[3].open();
    expect_answer(held[1], request_for(3, 3));
    gates[3].open(VK_NOT_READY);  // closed again
    Ticket repeated = service.submit(request_for(std::nullopt, 4));
    gates[3].await(2);
    gates[2].open();
    const std::future<void> stops = std::async(std::launch::async, [&] { service.shutdown(); });
    EXPECT_THAT(
        [&] {
            while (true) {
                (void)service.submit(request_for(2, 5)).result.get();
            }
        },
        fails(ErrorCode::cancelled));
    gates[3].open(VK_ERROR_DEVICE_LOST);
    expect_answer(repeated, request_for(std::nullopt, 4));
    EXPECT_TRUE(service.statistics().devices[0].lost);
    expect_answer(held[0], request_for(2, 2));
}

}  // namespace
}  // namespace quadtile::test
