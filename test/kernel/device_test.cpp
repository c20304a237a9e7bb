#include "gpu_test.hpp"

#include <gmock/gmock.h>

namespace quadtile::test {
namespace {

class DeviceChoice : public GpuTest {};

TEST_F(DeviceChoice, SelectsByNumberAndByPartOfTheName) {
    for (const DeviceInfo& info : Device::enumerate()) {
        if (info.usable()) {
            EXPECT_EQ(Device::create({.select = std::to_string(info.index)}).info().name,
                      info.name);
            EXPECT_EQ(Device::create({.select = info.name.substr(1, 4)}).info().type, info.type);
        }
    }
}

TEST_F(DeviceChoice, SaysWhyEachDeviceWasPassedOver) {
    for (const DeviceInfo& info : Device::enumerate()) {
        EXPECT_THAT([] { (void)Device::create({.select = "no such device"}); },
                    fails(ErrorCode::no_device, "no such device",
                          "(" + info.name + "): neither its number nor its name matches"));
    }
}

TEST_F(DeviceChoice, TurnsFeaturesOffOnRequest) {
    const Device device =
        Device::create({.disabled = {.subgroup_operations = true, .sampler_minmax = true}});
    EXPECT_FALSE(device.info().features.subgroup_operations);
    EXPECT_FALSE(device.info().features.sampler_minmax);
}

TEST_F(DeviceChoice, LimitsAreOnlyEverLowered) {
    const Device device =
        Device::create({.limits = {.max_storage_buffer_range_bytes = std::uint64_t{1} << 60U}});
    EXPECT_EQ(device.info().max_tiles, Device::create().info().max_tiles);
}

// As a host would that is linked with the loader: its entry, by way of the host.
PFN_vkGetInstanceProcAddr loader = nullptr;
int asked = 0;
PFN_vkVoidFunction VKAPI_CALL hosts_entry(VkInstance instance, const char* name) {
    ++asked;
    return loader(instance, name);
}

TEST_F(DeviceChoice, TheHostsLoader) {
    loader = device_for().get_instance_proc_addr();
    const auto asked_by = [&](const auto& call) {
        asked = 0;
        call();
        return asked > 0;
    };
    EXPECT_TRUE(asked_by([] {
        const Device device = Device::create({.get_instance_proc_addr = hosts_entry});
        EXPECT_EQ(device.get_instance_proc_addr(), hosts_entry);
        EXPECT_EQ(device.info().name, device_for().info().name);
    }));
    EXPECT_TRUE(asked_by([] { EXPECT_FALSE(Device::enumerate(hosts_entry).empty()); }));
    EXPECT_TRUE(asked_by([] {
        EXPECT_EQ(Device::validation_available(hosts_entry), Device::validation_available());
    }));
}

}  // namespace
}  // namespace quadtile::test
