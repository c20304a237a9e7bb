// Vulkan-Hpp as the library uses it: in a namespace of its own and with a dispatcher for each
// device, so that a host application's Vulkan-Hpp of any version never meets quadtile's.
// Precompiled.

#pragma once

#include "device/process.hpp"

#define VULKAN_HPP_NAMESPACE quadtile_vulkan
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_NO_SPACESHIP_OPERATOR
#include <vulkan/vulkan.hpp>

#include <utility>

namespace quadtile {

namespace vk = ::quadtile_vulkan;

using Dispatch = vk::DispatchLoaderDynamic;

// A handle that this object destroys, unless its device cannot be used any more (MadeIn).
template <typename Handle>
class Unique : public vk::UniqueHandle<Handle, Dispatch> {
    using Base = vk::UniqueHandle<Handle, Dispatch>;

 public:
    Unique() = default;
    Unique(Base&& made) noexcept : Base(std::move(made)) {}
    Unique(Unique&&) noexcept = default;
    Unique& operator=(Unique&& other) noexcept {
        leak_without_device();
        Base::operator=(std::move(other));
        made_in_ = other.made_in_;
        return *this;
    }
    ~Unique() { leak_without_device(); }
    void reset() noexcept { *this = Unique(); }

 private:
    void leak_without_device() noexcept {
        if (!made_in_.has_device()) {
            (void)this->release();
        }
    }

    detail::MadeIn made_in_;
};

}  // namespace quadtile
