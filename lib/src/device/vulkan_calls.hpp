// What a Vulkan call throws, as an Error that says what was being done.

#pragma once

#include "device/vulkan.hpp"

#include <quadtile/error.hpp>

#include <string>
#include <utility>

namespace quadtile::detail {

// The Error for a failed Vulkan call made while `doing` something ("creating the pyramid image").
[[nodiscard]] Error error_from(vk::Result result, const std::string& doing);

// Runs Vulkan-Hpp calls; what they throw becomes an Error that says what was being done.
template <typename Calls>
auto vulkan_calls(const std::string& doing, Calls&& calls) {
    try {
        return std::forward<Calls>(calls)();
    } catch (const vk::SystemError& error) {
        throw error_from(static_cast<vk::Result>(error.code().value()), doing);
    }
}

}  // namespace quadtile::detail
