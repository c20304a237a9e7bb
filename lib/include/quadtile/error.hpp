/// \file
/// The one exception type of the library.

#pragma once

#include <quadtile/export.h>

#include <stdexcept>
#include <string>

namespace quadtile {

/// What kind of failure an Error is.
enum class ErrorCode {
    invalid_argument,   ///< the caller's mistake; nothing was done
    unsupported,        ///< the device or this build cannot do it
    no_device,          ///< no Vulkan loader, driver or suitable device
    out_of_memory,      ///< host or device memory
    device_lost,        ///< the device stopped; make a new Device
    cancelled,          ///< by the caller, or a service was shut down before
    deadline_exceeded,  ///< a request waited for too long
    vulkan,             ///< any other failure of a Vulkan call
};

/// What went wrong, where, and what to do about it, in one sentence (`what()`).
class QUADTILE_API Error : public std::runtime_error {
 public:
    /// `vk_result` is the VkResult of the call that failed, 0 (VK_SUCCESS) where there was none.
    Error(ErrorCode code, const std::string& message, int vk_result = 0)
        : std::runtime_error(message), code_(code), vk_result_(vk_result) {}

    /// The kind of failure.
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// The VkResult of the call that failed; 0 (VK_SUCCESS) where there was none.
    [[nodiscard]] int vk_result() const noexcept { return vk_result_; }

 private:
    ErrorCode code_;
    int vk_result_;
};

}  // namespace quadtile
