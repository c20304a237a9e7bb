// Submission of work and waiting for it, for the parts of the library that own a queue.

#pragma once

#include "device/device_context.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace quadtile::detail {

// One command buffer and its fence: record, submit, wait.
class Commands {
 public:
    // Makes a command buffer. A run that takes longer than `timeout` counts as hung. Throws
    // Error(invalid_argument) for a timeout of 0 or less, and for a device without a queue.
    Commands(std::shared_ptr<DeviceContext> context, std::chrono::milliseconds timeout)
        : context_(std::move(context)), timeout_(std::min(timeout, LONGEST_TIMEOUT)) {
        if (timeout <= std::chrono::milliseconds::zero()) {
            refuse("gpu_timeout is ", timeout.count(),
                   " ms, it must be more than 0; milliseconds::max() waits for ever");
        }
        if (!context_->can_submit()) {
            refuse(
                "running commands needs a queue, but the adopted device has none; set "
                "AdoptedDevice::queue or submit");
        }
        context_->calls("creating a command buffer", [&] {
            const vk::Device device = context_->device;
            const Dispatch& d = context_->dispatch;
            pool_ = device.createCommandPoolUnique(
                {vk::CommandPoolCreateFlagBits::eResetCommandBuffer, context_->queue_family},
                nullptr, d);
            buffer_ =
                device.allocateCommandBuffers({*pool_, vk::CommandBufferLevel::ePrimary, 1}, d)
                    .front();
            fence_ = device.createFenceUnique({}, nullptr, d);
            context_->name(*pool_, "the commands");
            context_->name(buffer_, "the commands");
            context_->name(*fence_, "the end of the commands");
        });
    }

    // Returns whether a run has exceeded the timeout. Then no other run starts, and the resources
    // of the hung run must not be destroyed.
    [[nodiscard]] bool is_hung() const noexcept { return is_hung_; }
    // Throws Error: device_lost after a hung run, and those of MadeIn::check.
    void refuse_if_hung() const {
        context_->made_in.check();
        if (is_hung_) {
            throw Error(ErrorCode::device_lost,
                        "the device has not come back from an earlier run; make a new Device");
        }
    }

    // Returns whether a hung run still executes, or may do so.
    [[nodiscard]] bool is_at_work() const noexcept {
        return is_hung_ && (!context_->made_in.has_device() ||
                            says_nothing(static_cast<vk::Result>(
                                context_->dispatch.vkGetFenceStatus(context_->device, *fence_))));
    }

    template <typename Record>
    void run(const std::string& doing, Record&& record) {
        context_->calls(doing, [&] {
            const Dispatch& d = context_->dispatch;
            // At first, because a failed run may have left the fence in any state.
            context_->device.resetFences(*fence_, d);
            buffer_.reset({}, d);
            buffer_.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit}, d);
            {
                const DebugLabel label(*context_, buffer_, doing);
                record(buffer_);
            }
            buffer_.end(d);
            vk::SubmitInfo submit;
            submit.setCommandBuffers(buffer_);
            context_->submit(submit, *fence_);
        });
        await(doing);
        context_->note_run();
    }

 private:
    using Clock = std::chrono::steady_clock;

    // Practically for ever; its nanoseconds fit their type.
    static constexpr std::chrono::milliseconds LONGEST_TIMEOUT = std::chrono::hours(24 * 365);

    // Waits until the device has finished. Throws if it is lost or hung.
    void await(const std::string& doing) {
        const Clock::time_point start = Clock::now();
        vk::Result result = ask_for_a_while();
        while (says_nothing(result)) {
            const std::chrono::nanoseconds left = timeout_ - (Clock::now() - start);
            if (left <= std::chrono::nanoseconds::zero()) {
                is_hung_ = true;
                throw Error(ErrorCode::device_lost,
                            "the device has not finished " + doing + " within " +
                                std::to_string(timeout_.count() / 1'000'000) +
                                " ms; allow it more time, or make a new Device and look for what "
                                "keeps this one busy",
                            static_cast<int>(result));
            }
            const VkFence fence = *fence_;
            result = static_cast<vk::Result>(context_->dispatch.vkWaitForFences(
                context_->device, 1, &fence, VK_TRUE, static_cast<std::uint64_t>(left.count())));
            if (result != vk::Result::eTimeout && says_nothing(result)) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time to free memory
            }
        }
        if (result != vk::Result::eSuccess) {
            is_hung_ = result != vk::Result::eErrorDeviceLost;  // a lost one no longer executes
            throw error_from(result, doing);
        }
    }

    // Returns whether the device may still execute: also if the query itself lacks memory.
    [[nodiscard]] static bool says_nothing(vk::Result result) noexcept {
        return result == vk::Result::eNotReady || result == vk::Result::eTimeout ||
               result == vk::Result::eErrorOutOfHostMemory ||
               result == vk::Result::eErrorOutOfDeviceMemory;
    }

    // Polls before the thread sleeps, because waking it takes longer than most runs. Does not poll
    // on CPU drivers, which need the time themselves.
    [[nodiscard]] vk::Result ask_for_a_while() const {
        if (context_->info.type == "CPU") {
            return vk::Result::eNotReady;
        }
        constexpr std::chrono::microseconds A_WHILE(500);
        const Clock::time_point end = Clock::now() + A_WHILE;
        vk::Result result{};
        do {
            result = static_cast<vk::Result>(
                context_->dispatch.vkGetFenceStatus(context_->device, *fence_));
        } while (result == vk::Result::eNotReady && Clock::now() < end);
        return result;
    }

    std::shared_ptr<DeviceContext> context_;
    std::chrono::nanoseconds timeout_;
    bool is_hung_ = false;
    Unique<vk::CommandPool> pool_;
    vk::CommandBuffer buffer_;
    Unique<vk::Fence> fence_;
};

// Destroys an object with Commands, unless the device may still use it: then the object is leaked.
struct DestroyUnlessAtWork {
    template <typename Worker>
    void operator()(Worker* worker) const {
        if (!worker->is_at_work()) {
            delete worker;
        }
    }
};

// GPU timestamps of one submission, if the queue has them.
class Timestamps {
 public:
    static constexpr std::uint32_t CAPACITY = 4;

    explicit Timestamps(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {
        if (!context_->info.timestamps) {
            return;
        }
        pool_ = context_->calls("creating a query pool", [&] {
            auto pool = context_->device.createQueryPoolUnique(
                {{}, vk::QueryType::eTimestamp, CAPACITY}, nullptr, context_->dispatch);
            context_->name(*pool, "timestamps");
            return pool;
        });
        const auto families =
            context_->physical_device.getQueueFamilyProperties(context_->dispatch);
        valid_mask_ = UINT64_MAX >> (64U - families[context_->queue_family].timestampValidBits);
        period_ns_ =
            context_->physical_device.getProperties(context_->dispatch).limits.timestampPeriod;
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(pool_); }

    void reset(vk::CommandBuffer commands) {
        count_ = 0;
        if (pool_) {
            commands.resetQueryPool(*pool_, 0, CAPACITY, context_->dispatch);
        }
    }

    void write(vk::CommandBuffer commands) {
        if (pool_) {
            commands.writeTimestamp(vk::PipelineStageFlagBits::eAllCommands, *pool_, count_++,
                                    context_->dispatch);
        }
    }

    // Returns the milliseconds between timestamp i and the next, for a submission that has
    // finished; empty without timestamps.
    [[nodiscard]] std::vector<double> intervals_ms() const {
        if (!pool_ || count_ == 0) {
            return {};
        }
        std::vector<std::uint64_t> ticks(count_);
        const vk::Result result = context_->device.getQueryPoolResults(
            *pool_, 0, count_, ticks.size() * sizeof(ticks[0]), ticks.data(), sizeof(ticks[0]),
            vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait, context_->dispatch);
        if (result != vk::Result::eSuccess) {
            throw error_from(result, "reading timestamps");
        }
        std::vector<double> intervals;
        for (std::uint32_t i = 0; i + 1 < count_; ++i) {
            const std::uint64_t elapsed = (ticks[i + 1] - ticks[i]) & valid_mask_;
            intervals.push_back(static_cast<double>(elapsed) * period_ns_ * 1e-6);
        }
        return intervals;
    }

 private:
    std::shared_ptr<DeviceContext> context_;
    Unique<vk::QueryPool> pool_;
    std::uint64_t valid_mask_ = 0;
    double period_ns_ = 0.0;
    std::uint32_t count_ = 0;
};

}  // namespace quadtile::detail
