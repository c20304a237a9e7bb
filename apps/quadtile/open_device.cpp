#include "open_device.hpp"

#include <quadtile/error.hpp>

namespace quadtile::app {

Device open_device(const std::string& select, const std::string& without) {
    try {
        DeviceOptions options;
        options.select = select;
        return Device::create(options);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_device) {
            throw;
        }
        throw Error(error.code(),
                    std::string(error.what()) + "; " + without + " works without a device",
                    error.vk_result());
    }
}

}  // namespace quadtile::app
