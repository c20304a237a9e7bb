#include "devices.hpp"

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
        device = std::make_shared<SharedDevice>(Device::create({.select = select}));
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

}  // namespace quadtile::python
