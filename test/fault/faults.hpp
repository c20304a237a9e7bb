// Common parts of the tests over faulty_vulkan: devices, attempts under a fault, sweeps over all
// calls.

#pragma once

#include "faulty_vulkan.hpp"
#include "gpu_test.hpp"
#include "leaks.hpp"
#include "requests.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace quadtile::test {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

using Clock = std::chrono::steady_clock;

// More than anything here takes, less than the test may.
inline constexpr auto SOON = 300s;  // shaders compile meanwhile, on machines that are busy

inline std::mutex messages_mutex;
inline std::vector<std::string> messages;

inline DeviceOptions options_over_faults() {
    DeviceOptions options;
    options.get_instance_proc_addr = faulty_vulkan::entry();
    // Not under the sanitizer, where it takes longer than all the rest.
    options.validation = !IS_SANITIZED && Device::validation_available();
    options.log = [](Severity severity, std::string_view message) {
        if (severity != Severity::info &&
            message.find("Performance Warning") == std::string_view::npos) {
            const std::lock_guard lock(messages_mutex);
            messages.emplace_back(message);
        }
    };
    return options;
}

// The same device by the real loader: for the test's own work, which never fails.
inline Device without_faults(const Device& device) {
    AdoptedDevice host = handles_of(device);
    host.get_instance_proc_addr = device_for().get_instance_proc_addr();
    return Device::adopt(host);
}

// Calls under one fault, or under none.
class Attempt {
 public:
    explicit Attempt(VkResult fault) : fault_(fault) {}

    [[nodiscard]] bool is_lost() const noexcept { return fault_ == VK_ERROR_DEVICE_LOST; }
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

    // Returns whether a call succeeds. If it fails, its Error must be the fault's, and name the
    // action and a remedy.
    template <typename Call>
    bool succeeds(Call&& call) {
        try {
            std::forward<Call>(call)();
            return true;
        } catch (const Error& error) {
            check(error);
        } catch (const std::exception& other) {
            ADD_FAILURE() << "no Error: " << other.what();
        }
        has_failed_ = true;
        return false;
    }

 private:
    void check(const Error& error) const {
        EXPECT_FALSE(faulty_vulkan::failed_function().empty())
            << "nothing has failed, but: " << error.what();
        EXPECT_EQ(error.vk_result(), fault_) << error.what();
        if (is_lost()) {
            EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
            EXPECT_THAT(error.what(), AllOf(HasSubstr("the device was lost while "),
                                            HasSubstr("; make a new Device")));
        } else {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
            EXPECT_THAT(error.what(), AllOf(AnyOf(HasSubstr("out of host memory while "),
                                                  HasSubstr("out of device memory while ")),
                                            HasSubstr("; free memory")));
        }
    }

    VkResult fault_;
    std::atomic<bool> has_failed_ = false;  // by several threads
};

using Scenario = std::function<void(Attempt&)>;

// Tells whether all may succeed although memory was out in a call.
using MayGoWell = std::function<bool(const std::string& function)>;

class Faults : public testing::Test {
 protected:
    static void SetUpTestSuite() {
        // As on a GPU: runs are awaited awake, and Service puts maps together.
        faulty_vulkan::pretend_gpu(true);
        shared_device.emplace(Device::create(options_over_faults()));
        keep_modules_loaded();
        shared_plain_device.emplace(without_faults(*shared_device));
    }
    static void TearDownTestSuite() {
        shared_plain_device.reset();
        shared_device.reset();
        EXPECT_EQ(faulty_vulkan::alive(), "");
        expect_no_complaints();
    }
    void TearDown() override { expect_no_complaints(); }

    static const Device& device() { return *shared_device; }
    static const Device& plain() { return *shared_plain_device; }

    static void expect_no_complaints() {
        EXPECT_THAT(faulty_vulkan::take_mistakes(), IsEmpty());
        const std::lock_guard lock(messages_mutex);
        EXPECT_THAT(std::exchange(messages, {}), IsEmpty());
    }

    // Does it without a fault; then with the first call failing, the second, and so on until it
    // does not come to that many: with memory that is out, of the host and of the device in turn,
    // and again with the device lost in each call that may say so.
    // `step`: from one failing call to the next.
    static void with_each_call_failing(const char* what, const Scenario& scenario,
                                       std::uint64_t step = 1, const MayGoWell& may_go_well = {}) {
        const Clock::time_point start = Clock::now();
        const std::string before = faulty_vulkan::alive();
        const auto attempt_with = [&](VkResult result, std::uint64_t call) {
            faulty_vulkan::start(result == VK_SUCCESS
                                     ? std::nullopt
                                     : std::optional(faulty_vulkan::Fault{call, result}));
            const Clock::time_point attempt_start = Clock::now();
            Attempt attempt(result);
            scenario(attempt);
            const std::string failed = faulty_vulkan::failed_function();
            faulty_vulkan::start();
            EXPECT_LT(Clock::now() - attempt_start, SOON) << failed;
            EXPECT_EQ(faulty_vulkan::alive(), before) << failed;
            expect_no_complaints();
            // Memory that is out while a run is awaited says nothing of the run.
            const bool may_be_absorbed =
                failed.empty() || (!attempt.is_lost() &&
                                   (failed == "vkGetFenceStatus" || failed == "vkWaitForFences" ||
                                    (may_go_well && may_go_well(failed))));
            EXPECT_TRUE(attempt.has_failed() || may_be_absorbed)
                << failed << " has failed, and nothing was said";
            return !failed.empty();
        };
        EXPECT_FALSE(attempt_with(VK_SUCCESS, 0));
        std::uint64_t attempts = 0;
        for (const bool is_loss : {false, true}) {
            for (std::uint64_t call = 1;; call += step) {
                const VkResult result = is_loss         ? VK_ERROR_DEVICE_LOST
                                        : call % 2 == 0 ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                        : VK_ERROR_OUT_OF_DEVICE_MEMORY;
                SCOPED_TRACE("call " + std::to_string(call) + " returns " + std::to_string(result));
                ++attempts;
                if (!attempt_with(result, call)) {
                    break;
                }
                if (HasFailure()) {
                    return;  // thousands would follow
                }
            }
        }
        std::printf("%s: %llu attempts in %.1f s\n", what,
                    static_cast<unsigned long long>(attempts),
                    std::chrono::duration<double>(Clock::now() - start).count());
    }

 private:
    static inline std::optional<Device> shared_device;
    static inline std::optional<Device> shared_plain_device;
};

// A map, a threshold, and the list that they make.
struct Question {
    explicit Question(const MapShape& shape, Threshold with,
                      std::optional<std::uint64_t> budget = std::nullopt, std::uint32_t seed = 1)
        : texels(random_map(shape, seed)),
          map{texels.data(), shape},
          threshold(std::move(with)),
          options{.max_tiles = budget},
          expected(reference::subdivide(map, threshold, options)) {}
    // The view is of its own texels.
    Question(Question&&) = default;
    Question(const Question&) = delete;

    void expect(const TileList& list) const { EXPECT_EQ(difference(list, expected), ""); }

    std::vector<float> texels;
    MapView map;
    Threshold threshold;
    SubdivideOptions options;
    TileList expected;
};

}  // namespace quadtile::test
