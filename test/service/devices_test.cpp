// A service of several devices: each request is answered exactly once, by whichever device is free
// and can, with the list that the reference gives; what one device loses is not lost with the
// others.

#include "requests.hpp"

#include <future>

namespace quadtile::test {
namespace {

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

// Finds requests that go down with a device that they do not need, are answered twice or never; and
// statistics that do not say which devices are left.
TEST_F(ServiceDevices, ALostDeviceFailsItsRequestsOnly) {
    Gate gates[2];
    Service service({gates[0].device, gates[1].device}, {.lanes = 1});
    Ticket keeps_other = service.submit(request_for(1, 1));
    gates[1].await(1);
    Ticket runs = service.submit(request_for(std::nullopt, 2));
    gates[0].await(1);
    Ticket waits = service.submit(request_for(std::nullopt, 3));
    Ticket waits_there = service.submit(request_for(0, 4));
    gates[0].open(VK_ERROR_DEVICE_LOST);
    EXPECT_THAT(throwing(runs), fails(ErrorCode::device_lost, "device 0 (", "was lost"));
    EXPECT_THAT(throwing(waits_there), fails(ErrorCode::device_lost, "device 0 ("));
    EXPECT_THAT(submitting(service, request_for(0, 5)), fails(ErrorCode::device_lost));
    gates[1].open();
    expect_answer(keeps_other, request_for(1, 1));
    expect_answer(waits, request_for(std::nullopt, 3));
    EXPECT_TRUE(service.statistics().devices[0].lost);
    EXPECT_FALSE(service.statistics().devices[1].lost);

    gates[1].open(VK_ERROR_DEVICE_LOST);  // the last one
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(asking(service, request_for(std::nullopt, 6)),
                    fails(ErrorCode::device_lost, "device 1 ("));
    }
    const ServiceStatistics statistics = service.statistics();
    EXPECT_TRUE(statistics.devices[1].lost);
    EXPECT_EQ(statistics.submitted, 5U);
    EXPECT_EQ(statistics.succeeded, 2U);
    EXPECT_EQ(statistics.failed, 3U);
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
    expect_answer(held[0], request_for(2, 2));
}

}  // namespace
}  // namespace quadtile::test
