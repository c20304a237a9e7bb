/// \file
/// The one exception type of the library.

#pragma once

#include <quadtile/export.h>

#include <stdexcept>
#include <string>

namespace quadtile {

/// Kinds of failures.
enum class ErrorCode {
    invalid_argument,   ///< a mistake of the caller; nothing was done
    unsupported,        ///< the device or this build cannot do it
    no_device,          ///< no Vulkan loader, driver or suitable device
    out_of_memory,      ///< host or device memory
    device_lost,        ///< the device stopped; make a new Device
    cancelled,          ///< by the caller or by the shutdown of a service
    deadline_exceeded,  ///< a request waited longer than its deadline allows
    vulkan,             ///< any other failure of a Vulkan call
};

/// A failure: its description, place and remedy in one sentence (`what()`).
class QUADTILE_API Error : public std::runtime_error {
 public:
    /// Makes an error. `vk_result` is the VkResult of the failed call; 0 (VK_SUCCESS): none.
    Error(ErrorCode code, const std::string& message, int vk_result = 0)
        : std::runtime_error(message), code_(code), vk_result_(vk_result) {}

    /// Returns the kind of the failure.
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// Returns the VkResult of the failed call; 0 (VK_SUCCESS): none.
    [[nodiscard]] int vk_result() const noexcept { return vk_result_; }

 private:
    ErrorCode code_;
    int vk_result_;
};

}  // namespace quadtile
