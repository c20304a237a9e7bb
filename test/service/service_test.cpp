// The service: every request is answered exactly once, by the list that the reference gives or by
// an error that says why not.

#include "requests.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <thread>

namespace quadtile::test {
namespace {

class ServiceTest : public GpuTest {};
class ServiceSoak : public GpuTest {};

TEST_F(ServiceTest, WhatWaitsTogetherRunsTogether) {
    GatedService gated({.strategy = Strategy::fused, .lanes = 1, .max_batch_layers = 12});
    Service& service = *gated.service;
    Ticket first = gated.hold_lane();
    std::vector<SubdivisionRequest> requests;
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 20; ++i) {
        // Layers, thresholds and contents differ; some have another size.
        const MapShape shape{100, i % 7 == 6 ? 50U : 80U, 1 + i % 3};
        requests.push_back(request_of(shape, with_special_values(random_map(shape, i), 100, i),
                                      Threshold::constant(0.99F - 0.01F * static_cast<float>(i))));
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
    // The 18 of one size make three batches of 12 layers, six requests each; the two others make
    // one.
    const ServiceStatistics statistics = service.statistics();
    EXPECT_EQ(statistics.largest_batch, 6U);
    EXPECT_EQ(statistics.runs, 1U + 4U);
}

// In images and in buffers of the service's device, mixed with maps from the host; by every
// strategy.
// A batch that mixes balances, of which one run has one only.
TEST_F(ServiceTest, BatchesHaveOneBalance) {
    GatedService gated({.strategy = Strategy::fused, .lanes = 1});
    Ticket first = gated.hold_lane();
    std::vector<SubdivisionRequest> requests;
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 5; ++i) {
        const MapShape shape{90, 70};
        requests.push_back(request_of(shape, peaks_map(shape, 40, i), Threshold::constant(1.0F)));
        requests.back().options.balance = i % 2 == 0 ? Balance::edges : Balance::none;
        tickets.push_back(gated.service->submit(requests.back()));
    }
    gated.open();
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        EXPECT_EQ(check_answer(tickets[i].result.get(), requests[i]), "") << i;
    }
    (void)first.result.get();
    EXPECT_EQ(gated.service->statistics().largest_batch, 3U);
}

// The ways in which a request that waits is answered.
enum class Answered { by_list, by_expiry, by_cancellation, by_shutdown };

// Has a request answered whose owner calls `let_go`, with another one before it, by a gated service
// of one lane. The gate opens when the owner goes: `let_go` may wait for the lane.
void answer(GatedService& gated, Service& service, Answered way,
            const std::function<void()>& let_go) {
    Ticket runs = gated.hold_lane();
    Ticket other = service.submit(mixed_request(2));
    SubdivisionRequest request = mixed_request(1);
    request.texels_owner = std::shared_ptr<const void>(
        request.map.texels, [&gated, &let_go, texels = request.texels_owner](const void*) {
            gated.open();
            let_go();
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
    (void)runs.result.get();
    if (way == Answered::by_shutdown) {
        EXPECT_THAT(throwing(other), fails(ErrorCode::cancelled));
    } else {
        EXPECT_EQ(check_answer(other.result.get(), mixed_request(2)), "");
    }
}

constexpr Answered ALL_ANSWERS[] = {Answered::by_list, Answered::by_expiry,
                                    Answered::by_cancellation, Answered::by_shutdown};

TEST_F(ServiceTest, OwnersMayCallTheService) {
    for (const Answered way : ALL_ANSWERS) {
        GatedService gated({.lanes = 1});
        Service& service = *gated.service;
        bool has_gone = false;
        answer(gated, service, way, [&] {
            EXPECT_EQ(service.statistics().submitted, 3U);
            if (way != Answered::by_shutdown) {
                (void)service.try_submit(mixed_request(3)).value().cancel();
            }
            service.shutdown();
            has_gone = true;
        });
        EXPECT_TRUE(has_gone);
    }
}

TEST_F(ServiceTest, OwnersMayEndTheService) {
    for (const Answered way : ALL_ANSWERS) {
        GatedService gated({.lanes = 1});
        Service& service = *gated.service;
        answer(gated, service, way, [&] { gated.service.reset(); });
        EXPECT_FALSE(gated.service);
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
    // Room for one small map at a time, not for the large one, nor for a batch.
    constexpr std::uint64_t LIMIT = 2U << 20U;
    GatedService gated({.strategy = Strategy::fused, .lanes = 1, .memory_limit_bytes = LIMIT});
    Service& service = *gated.service;
    Ticket first = gated.hold_lane();
    const MapShape too_large{1024, 1024};
    Ticket large =
        service.submit(request_of(too_large, random_map(too_large), Threshold::constant(0.5F)));
    std::vector<SubdivisionRequest> requests;
    std::vector<Ticket> tickets;
    for (std::uint32_t i = 0; i < 12; ++i) {
        const MapShape shape{200, 200};
        requests.push_back(request_of(shape, random_map(shape, i), Threshold::constant(0.999F)));
        tickets.push_back(service.submit(requests.back()));
    }
    gated.open();
    EXPECT_FALSE(first.result.get().tiles.empty());
    EXPECT_THAT(throwing(large), fails(ErrorCode::out_of_memory, "memory limit"));
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        EXPECT_EQ(check_answer(tickets[i].result.get(), requests[i]), "");
    }
    const ServiceStatistics statistics = service.statistics();
    EXPECT_LE(statistics.most_memory_bytes, LIMIT);
    EXPECT_GT(statistics.memory_bytes, 0U);
    EXPECT_EQ(statistics.failed, 1U);
    EXPECT_EQ(statistics.largest_batch, 12U);  // then each alone
}

TEST_F(ServiceTest, SizesAtAndBeyondEveryLimit) {
    const DeviceInfo& info = device_for().info();
    Service service(device_for());
    const Threshold threshold = Threshold::constant(0.9F);
    const auto succeeds = [&](const SubdivisionRequest& request) {
        Ticket ticket = service.submit(request);
        EXPECT_EQ(check_answer(ticket.result.get(), request), "");
    };
    const auto refused = [&](const MapShape& shape, ErrorCode code, const char* text) {
        static const std::vector<float> texel(1);  // nobody looks at the others
        EXPECT_THAT(asking(service, {.map = {texel.data(), shape}, .threshold = threshold}),
                    fails(code, text));
    };
    EXPECT_THAT(submitting(service, {.map = {nullptr, {2, 2}}, .threshold = threshold}),
                is_refused());
    EXPECT_THAT(
        submitting(service, request_of({2, 2}, random_map({2, 2}), Threshold::per_level({1.0F}))),
        is_refused());
    refused({0, 1}, ErrorCode::invalid_argument, "is empty");
    refused({1, 0}, ErrorCode::invalid_argument, "is empty");
    refused({1, 1, 0}, ErrorCode::invalid_argument, "is empty");
    refused({MAX_MAP_EXTENT + 1, 1}, ErrorCode::invalid_argument, "65536 texels on a side");
    refused({1, MAX_MAP_EXTENT + 1}, ErrorCode::invalid_argument, "65536 texels on a side");
    refused({1, 1, MAX_LAYERS + 1}, ErrorCode::invalid_argument, "and 65536 layers");
    refused({65536, 65536}, ErrorCode::invalid_argument, "2^32 - 1 are the most");
    succeeds(request_of({info.max_map_extent, 1}, random_map({info.max_map_extent, 1}), threshold));
    succeeds(request_of({1, info.max_map_extent}, random_map({1, info.max_map_extent}), threshold));
    succeeds(request_of({1, 1, info.max_layers}, random_map({1, 1, info.max_layers}), threshold));
    if (info.max_map_extent < MAX_MAP_EXTENT) {
        refused({info.max_map_extent + 1, 1}, ErrorCode::unsupported, "texels on a side");
        refused({1, info.max_map_extent + 1}, ErrorCode::unsupported, "texels on a side");
    }
    if (info.max_layers < MAX_LAYERS) {
        refused({1, 1, info.max_layers + 1}, ErrorCode::unsupported, "layers; cut it");
    }
    refused({8, 8, 1, TexelFormat::rgba8_unorm}, ErrorCode::invalid_argument, "one channel");

    // Budgets: none for a layer is too few, one is enough, and there is no most.
    SubdivisionRequest request = request_of({40, 30, 2}, random_map({40, 30, 2}), threshold);
    for (const std::uint64_t budget : {0, 1}) {
        request.options.max_tiles = budget;
        EXPECT_THAT(asking(service, request), is_refused());
    }
    for (const std::uint64_t budget : {std::uint64_t{2}, UINT64_MAX}) {
        request.options.max_tiles = budget;
        succeeds(request);
    }
    request.options.max_tiles.reset();
    request.deadline = std::chrono::steady_clock::time_point::min();
    EXPECT_THAT(asking(service, request), fails(ErrorCode::deadline_exceeded));
    request.deadline = std::chrono::steady_clock::time_point::max();
    succeeds(request);
}

TEST_F(ServiceTest, ListsAndThresholdsAtAndBeyondWhatTheDeviceAddresses) {
    const Device& device = device_for(variant_named("short chunks"));
    Service service(device);
    const auto all_split_request = [](const MapShape& shape) {
        const MapAndThreshold map = all_split(shape);
        return request_of(shape, map.texels, map.threshold);
    };
    ASSERT_EQ(device.info().max_tiles, 16384U);
    const SubdivisionRequest longest = all_split_request({128, 128});
    Ticket ticket = service.submit(longest);
    EXPECT_EQ(check_answer(ticket.result.get(), longest), "");
    EXPECT_THAT(asking(service, all_split_request({129, 128})),
                fails(ErrorCode::unsupported, "raise the threshold or cut the map into several"));
    EXPECT_THAT(asking(service, request_of({1024, 1024}, random_map({1024, 1024}),
                                           Threshold::constant(0.5F))),
                fails(ErrorCode::unsupported, "cut the map into several"));
    const MapShape shape{300, 200};
    EXPECT_THAT(asking(service, request_of(shape, random_map(shape),
                                           Threshold::map(random_thresholds(shape)))),
                fails(ErrorCode::unsupported, "the buffer of the thresholds of this map's nodes",
                      "give thresholds per level"));
}

TEST_F(ServiceTest, MemoryAtAndBeyondTheLimit) {
    const SubdivisionRequest request =
        request_of({200, 200}, random_map({200, 200}), Threshold::constant(0.9F));
    std::uint64_t needed = 0;
    {
        Service service(device_for(), {.lanes = 1});
        (void)service.submit(request).result.get();
        needed = service.statistics().most_memory_bytes;
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

TEST_F(ServiceTest, TilersOfSeveralThreadsShareADevice) {
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([thread] {
            Tiler tiler(device_for());
            for (std::uint32_t i = 0; i < 10; ++i) {
                const SubdivisionRequest request = mixed_request(5000 + 100 * thread + i);
                EXPECT_EQ(
                    check_answer(tiler.subdivide(request.map, request.threshold, request.options),
                                 request),
                    "");
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// ---- Soak

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    std::uint64_t resident = 0;
    file >> pages >> resident;
    return resident * 4096;
}

// QUADTILE_SOAK_SECONDS, or a few.
std::chrono::seconds soak_time() {
    const char* text = std::getenv("QUADTILE_SOAK_SECONDS");
    return std::chrono::seconds(text != nullptr ? std::atoi(text) : 5);
}

// On two devices, one of which is lost at half time.
TEST_F(ServiceSoak, EightThreadsOfMixedRequestsAndCancellations) {
    Gate kept;  // its submissions and the other's come one after the other
    Gate lost;
    kept.open();
    lost.open();
    Service service({kept.device, lost.device},
                    {.lanes = 2, .queue_capacity = 32, .repeat_lost = true});
    const auto start = std::chrono::steady_clock::now();
    const auto end = start + soak_time();
    std::atomic<std::uint64_t> answered = 0;
    std::atomic<std::uint64_t> lists = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
            std::mt19937 random(thread);
            for (std::uint32_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
                SubdivisionRequest request = mixed_request(static_cast<std::uint32_t>(random()));
                if (random() % 10 == 0) {
                    request.deadline =
                        std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 20);
                }
                Ticket ticket = service.submit(request);
                if (random() % 5 == 0) {
                    (void)ticket.cancel();
                }
                try {
                    EXPECT_EQ(check_answer(ticket.result.get(), request), "");
                    ++lists;
                } catch (const Error& error) {
                    EXPECT_TRUE(error.code() == ErrorCode::cancelled ||
                                error.code() == ErrorCode::deadline_exceeded)
                        << error.what();
                }
                ++answered;
            }
        });
    }
    // Memory is flat from the first third on, when everything has been met; on a busy machine it
    // may not have been.
    std::this_thread::sleep_until(start + soak_time() / 3);
    const std::uint64_t resident = resident_bytes();
    const bool has_met_everything = answered >= 1000;
    std::this_thread::sleep_until(start + soak_time() / 2);
    lost.open(VK_ERROR_DEVICE_LOST);
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (has_met_everything) {
        EXPECT_LT(resident_bytes(), resident + (64U << 20U));
    } else {
        std::printf("SKIPPED: whether memory is flat: too few requests in this time\n");
    }
    const ServiceStatistics statistics = service.statistics();
    // The bound is the largest batch of these maps in each lane, whatever the number of runs.
    EXPECT_LT(statistics.most_memory_bytes, 64U << 20U);
    EXPECT_EQ(statistics.submitted, answered);
    EXPECT_EQ(statistics.succeeded, lists);
    EXPECT_EQ(statistics.succeeded + statistics.cancelled + statistics.expired, answered);
    EXPECT_EQ(statistics.failed, 0U);
    EXPECT_GT(lists, 0U);
    std::printf(
        "%llu requests, %llu lists, %llu cancelled, %llu expired, %llu runs, resident "
        "%llu MB\n",
        static_cast<unsigned long long>(answered), static_cast<unsigned long long>(lists),
        static_cast<unsigned long long>(statistics.cancelled),
        static_cast<unsigned long long>(statistics.expired),
        static_cast<unsigned long long>(statistics.runs),
        static_cast<unsigned long long>(resident_bytes() >> 20U));
}

}  // namespace
}  // namespace quadtile::test
