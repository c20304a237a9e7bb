// Common parts of the GPU tests: any validation message is a failure, and lists are compared with
// the reference's.

#pragma once

#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::test {

// The strategies on the device, without automatic.
inline constexpr Strategy STRATEGIES[] = {Strategy::subtree, Strategy::fused};

class GpuTest : public testing::Test {
 protected:
    void TearDown() override {
        for (const std::string& message : take_validation_messages()) {
            ADD_FAILURE() << message;
        }
    }
};

// The device as it is.
inline Tiler& tiler_for(Strategy strategy, std::uint32_t subtree_levels = 6) {
    return tiler_for(all_variants().front(), strategy, subtree_levels);
}

// A Tiler's lists in both orders are the reference's list. `Thresholds`: one threshold, or one for
// each layer.
template <typename Thresholds>
void expect_reference(Tiler& tiler, const MapView& map, const Thresholds& thresholds,
                      const TileList& expected, std::optional<std::uint64_t> max_tiles = {}) {
    for (const Order order : {Order::canonical, Order::any}) {
        TileList list = tiler.subdivide(map, thresholds, {order, max_tiles, expected.balance});
        EXPECT_EQ(list.order, order);
        EXPECT_EQ(list.balance, expected.balance);
        if (order == Order::any) {
            sort_canonical(list.tiles);
        }
        EXPECT_EQ(difference(list, expected), "")
            << text_of(map.shape) << ", strategy " << text_of(list.report.strategy)
            << (order == Order::any ? ", any order" : "");
    }
}
template <typename Thresholds>
void expect_reference(Tiler& tiler, const MapView& map, const Thresholds& thresholds,
                      std::optional<std::uint64_t> max_tiles = {}) {
    expect_reference(tiler, map, thresholds,
                     reference::subdivide(map, thresholds, {.max_tiles = max_tiles}), max_tiles);
}

// A map, a threshold, and the list that they make.
struct Question {
    explicit Question(const MapShape& shape, Threshold with,
                      std::optional<std::uint64_t> budget = std::nullopt, std::uint32_t seed = 1)
        : texels(random_map(shape, seed)),
          map{texels.data(), shape},
          threshold(std::move(with)),
          options{.max_tiles = budget},
          expected(reference::subdivide(map, threshold, options)) {}
    // The view is of its own texels.
    Question(Question&&) = default;
    Question(const Question&) = delete;

    void expect(const TileList& list) const { EXPECT_EQ(difference(list, expected), ""); }

    std::vector<float> texels;
    MapView map;
    Threshold threshold;
    SubdivideOptions options;
    TileList expected;
};

// ---- The service: requests of every kind, comparison of answers with the reference, and devices
// behind a gate

using namespace std::chrono_literals;

inline SubdivisionRequest request_of(const MapShape& shape, std::vector<float> texels,
                                     const Threshold& threshold) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(texels));
    return {.map = {owner->data(), shape}, .texels_owner = owner, .threshold = threshold};
}

// For what comes in any case, on a busy machine, too.
inline constexpr auto PATIENCE = 4min;

// A device whose submissions stop at a gate until the test opens it, for good: how long a lane is
// busy is not left to the speed of the machine. One that is never opened lets them go after a
// while, so that a test that is stuck fails.
class Gate {
 public:
    Device device = [this] {
        AdoptedDevice host = handles_of(device_for());
        host.queue = VK_NULL_HANDLE;
        host.submit = [this](const VkSubmitInfo& work, VkFence fence) { return pass(work, fence); };
        return Device::adopt(host);
    }();

    // Until so many submissions have come.
    void await(int arrived) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, PATIENCE, [&] { return arrived_ >= arrived; })) {
            throw std::runtime_error("no lane has come to the gate");
        }
    }
    // Lets waiting and later work through, or reports a lost device.
    void open(VkResult result = VK_SUCCESS) {
        const std::lock_guard lock(mutex_);
        result_ = result;
        changed_.notify_all();
    }

 private:
    VkResult pass(const VkSubmitInfo& work, VkFence fence) {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        (void)changed_.wait_for(lock, PATIENCE, [&] { return result_ != VK_NOT_READY; });
        return result_ == VK_ERROR_DEVICE_LOST ? result_ : submit_to(device_for())(work, fence);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int arrived_ = 0;
    VkResult result_ = VK_NOT_READY;
};

// A service with a gate before its queue, which opens in any case: the service waits for its lanes.
struct GatedService {
    explicit GatedService(const ServiceOptions& options)
        : service(std::make_shared<Service>(gate_.device, options)) {}
    ~GatedService() { open(); }
    GatedService(const GatedService&) = delete;
    GatedService& operator=(const GatedService&) = delete;

    // Has one more lane at the gate, with a request of its own.
    [[nodiscard]] Ticket hold_lane() {
        const MapShape shape{8, 8};
        Ticket ticket =
            service->submit(request_of(shape, random_map(shape), Threshold::constant(0.5F)));
        gate_.await(++held_);
        return ticket;
    }
    void open() { gate_.open(); }

 private:
    Gate gate_;
    int held_ = 0;

 public:
    std::shared_ptr<Service> service;  // the last member: its lanes use the others
};

// EXPECT_THAT(throwing(ticket), fails(...))
inline auto throwing(Ticket& ticket) {
    return [&ticket] { (void)ticket.result.get(); };
}
inline auto submitting(Service& service, const SubdivisionRequest& request) {
    return [&service, request] { (void)service.submit(request); };
}
// Returns a call that submits a request and takes the answer.
inline auto asking(Service& service, const SubdivisionRequest& request) {
    return [&service, request] { (void)service.submit(request).result.get(); };
}

// A map and a threshold by a number; random cases (test/random) have all kinds.
inline SubdivisionRequest mixed_request(std::uint32_t number) {
    const MapShape shapes[] = {{64, 64}, {200, 120}, {1, 1}, {130, 70, 3}, {257, 33}};
    const MapShape shape = shapes[number % std::size(shapes)];
    const Threshold thresholds[] = {Threshold::constant(0.9F), Threshold::max_resolution(9.0F),
                                    Threshold::map(random_thresholds(shape, number))};
    return request_of(shape, with_special_values(random_map(shape, number), 64, number),
                      thresholds[number % 3]);
}

// Returns the fault of an answer, or nothing.
inline std::string check_answer(TileList list, const SubdivisionRequest& request) {
    const TileList expected = reference::subdivide(request.map, request.threshold, request.options);
    if (request.options.order == Order::any) {
        sort_canonical(list.tiles);
    }
    return difference(list, expected);
}

}  // namespace quadtile::test
