#include "devices.hpp"

#include "kept_pipelines.hpp"

#include <map>

namespace quadtile::python {

namespace {

struct Devices {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<SharedDevice>> by_name;
};

// Never destroyed, because Tilers of other threads may still work when statics are.
Devices& devices() {
    static Devices& all = *new Devices;
    return all;
}

}  // namespace

std::shared_ptr<SharedDevice> shared_device(const std::string& select) {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    std::shared_ptr<SharedDevice>& device = all.by_name[select];
    if (!device) {
        const std::vector<std::byte> pipelines = app::kept_pipelines();
        device = std::make_shared<SharedDevice>(Device::create(
            {.select = select, .pipeline_cache = pipelines, .check = DeviceCheck::automatic}));
    }
    return device;
}

void forget_device(const std::string& select) {
    Devices& all = devices();
    std::shared_ptr<SharedDevice> forgotten;  // destroyed after the lock is released
    const std::lock_guard lock(all.mutex);
    if (const auto device = all.by_name.extract(select)) {
        forgotten = device.mapped();
    }
}

void keep_pipelines() {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    for (const auto& [select, device] : all.by_name) {
        if (device) {  // it is null where no device was found
            app::keep_pipelines(device->device);
        }
    }
}

}  // namespace quadtile::python
