// Conversion of Vulkan errors to Errors that name the failed operation.

#pragma once

#include "device/vulkan.hpp"

#include <quadtile/error.hpp>

#include <string>
#include <utility>

namespace quadtile::detail {

// Returns the Error for a failed Vulkan call. `doing` names the operation ("creating the pyramid
// image").
[[nodiscard]] Error error_from(vk::Result result, const std::string& doing);

// Runs Vulkan-Hpp calls. Their exceptions become Errors that name the operation.
template <typename Calls>
auto vulkan_calls(const std::string& doing, Calls&& calls) {
    try {
        return std::forward<Calls>(calls)();
    } catch (const vk::SystemError& error) {
        throw error_from(static_cast<vk::Result>(error.code().value()), doing);
    }
}

}  // namespace quadtile::detail
