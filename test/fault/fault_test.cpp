// Every call of Vulkan fails in turn, with memory that is out and with a device that is lost: what
// was asked for is answered rightly or by the Error that says so, everything is destroyed, and what
// can go on goes on. Waits that hang end in time.

#include "faulty_vulkan.hpp"
#include "gpu_test.hpp"
#include "leaks.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace quadtile::test {
namespace {

// ---- Devices, attempts under a fault, sweeps over all calls

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

using Clock = std::chrono::steady_clock;

// More than anything here takes, less than the test may.
constexpr auto SOON = 300s;  // shaders compile meanwhile, on machines that are busy

std::mutex messages_mutex;
std::vector<std::string> messages;

DeviceOptions options_over_faults() {
    DeviceOptions options;
    options.get_instance_proc_addr = faulty_vulkan::entry();
    // Not under the sanitizer, where it takes longer than all the rest.
    options.validation = !IS_SANITIZED && has_validation_layer();
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
Device without_faults(const Device& device) {
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
        EXPECT_FALSE(faulty_vulkan::control()->failed_function.empty())
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

class Faults : public testing::Test {
 protected:
    static void SetUpTestSuite() {
        // As on a GPU: runs are awaited awake, and Service puts maps together.
        faulty_vulkan::control()->pretends_gpu = true;
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
        EXPECT_THAT(std::exchange(faulty_vulkan::control()->mistakes, {}), IsEmpty());
        const std::lock_guard lock(messages_mutex);
        EXPECT_THAT(std::exchange(messages, {}), IsEmpty());
    }

    // Does it without a fault; then with the first call failing, the second, and so on until it
    // does not come to that many: with memory that is out, of the host and of the device in turn,
    // and again with the device lost in each call that may say so.
    // `step`: from one failing call to the next. `may_go_well`: also where memory was out.
    static void with_each_call_failing(const std::function<void(Attempt&)>& scenario,
                                       std::uint64_t step = 1, bool may_go_well = false) {
        const std::string before = faulty_vulkan::alive();
        const auto attempt_with = [&](VkResult result, std::uint64_t call) {
            faulty_vulkan::start(result == VK_SUCCESS
                                     ? std::nullopt
                                     : std::optional(faulty_vulkan::Fault{call, result}));
            const Clock::time_point attempt_start = Clock::now();
            Attempt attempt(result);
            scenario(attempt);
            const std::string failed = faulty_vulkan::control()->failed_function;
            faulty_vulkan::start();
            EXPECT_LT(Clock::now() - attempt_start, SOON) << failed;
            EXPECT_EQ(faulty_vulkan::alive(), before) << failed;
            expect_no_complaints();
            // Memory that is out while a run is awaited says nothing of the run.
            const bool may_be_absorbed =
                failed.empty() ||
                (!attempt.is_lost() &&
                 (failed == "vkGetFenceStatus" || failed == "vkWaitForFences" || may_go_well));
            EXPECT_TRUE(attempt.has_failed() || may_be_absorbed)
                << failed << " has failed, and nothing was said";
            return !failed.empty();
        };
        EXPECT_FALSE(attempt_with(VK_SUCCESS, 0));
        for (const bool is_loss : {false, true}) {
            for (std::uint64_t call = 1;; call += step) {
                const VkResult result = is_loss         ? VK_ERROR_DEVICE_LOST
                                        : call % 2 == 0 ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                        : VK_ERROR_OUT_OF_DEVICE_MEMORY;
                SCOPED_TRACE("call " + std::to_string(call) + " returns " + std::to_string(result));
                if (!attempt_with(result, call)) {
                    break;
                }
                if (HasFailure()) {
                    return;  // thousands would follow
                }
            }
        }
    }

 private:
    static inline std::optional<Device> shared_device;
    static inline std::optional<Device> shared_plain_device;
};

// ---- One call after the other

TEST_F(Faults, MakingDevices) {
    with_each_call_failing([](Attempt& attempt) {
        attempt.succeeds([] {
            const Device device = Device::create(options_over_faults());
            EXPECT_EQ(device.info().type, "virtual GPU");
        });
        attempt.succeeds([] { EXPECT_FALSE(Device::enumerate(faulty_vulkan::entry()).empty()); });
        attempt.succeeds([] {
            (void)Device::adopt({.get_instance_proc_addr = faulty_vulkan::entry(),
                                 .instance = device().instance(),
                                 .physical_device = device().physical_device(),
                                 .device = device().handle()});
        });
    });
}

// Would catch VkValidationFeaturesEXT where its extension is missing.
TEST_F(Faults, ValidationFeaturesAreUsedWhereTheyAreOffered) {
    for (const bool offered : {false, true}) {
        faulty_vulkan::control()->offers_features = offered;
        const Device made = Device::create(options_over_faults());
        EXPECT_THAT(std::exchange(faulty_vulkan::control()->mistakes, {}), IsEmpty()) << offered;
    }
}

// A Tiler that met memory that is out goes on; one whose device is lost says so again.
TEST_F(Faults, Tiler) {
    const Question first({64, 64}, Threshold::constant(0.9F));
    const Question by_node({33, 20, 2}, Threshold::map(random_thresholds({33, 20, 2})));
    // 4160 tiles: more than come back with their header, and more than the first list has room for.
    const Question longer({65, 64}, Threshold::constant(0.0F));
    const Question layered({33, 20, 3}, Threshold::constant(0.8F));
    const std::vector<Threshold> layers(3, layered.threshold);
    // `automatic` takes fused, and subtree for thresholds that differ from node to node.
    with_each_call_failing(
        [&](Attempt& attempt) {
            std::optional<Tiler> tiler;
            if (!attempt.succeeds([&] { tiler.emplace(device()); })) {
                return;
            }
            const auto ask = [&](const Question& question) {
                return attempt.succeeds(
                    [&] { question.expect(tiler->subdivide(question.map, question.threshold)); });
            };
            const auto ask_layers = [&] {
                return attempt.succeeds(
                    [&] { layered.expect(tiler->subdivide(layered.map, layers)); });
            };
            const std::vector<std::function<bool()>> calls{
                [&] { return ask(first); }, [&] { return ask(longer); }, ask_layers,
                [&] { return ask(by_node); }, [&] { return ask(first); }};
            const auto failed =
                std::ranges::find_if(calls, [](const auto& call) { return !call(); });
            if (failed != calls.end()) {
                // Memory is there again; a lost device stays lost.
                EXPECT_NE((*failed)(), attempt.is_lost());
                EXPECT_NE(ask(first), attempt.is_lost());
            }
        },
        1, true);  // a Tiler lets go what it keeps, and tries again
}

// Would catch buffers that go when `automatic` takes another strategy, or other layers come.
TEST_F(Faults, StrategiesInTurnShareTheirMemory) {
    const Question by_fused({64, 64, 2}, Threshold::constant(0.9F));
    const Question one_layer({64, 64}, Threshold::constant(0.9F));
    const Question by_subtree({64, 64, 2},
                              Threshold::per_level({0.7F, 0.8F, 0.9F, 0.9F, 0.9F, 0.9F, 0.9F}));
    Tiler tiler(device());
    for (const bool again : {false, true}) {
        faulty_vulkan::start();
        for (const Question* question : {&by_fused, &by_subtree, &one_layer, &by_subtree}) {
            const TileList list = tiler.subdivide(question->map, question->threshold);
            question->expect(list);
            EXPECT_EQ(list.report.strategy,
                      question == &by_subtree ? Strategy::subtree : Strategy::fused);
        }
        EXPECT_EQ(std::ranges::count(faulty_vulkan::calls(), "vkAllocateMemory") == 0, again);
    }
}

// Other shortages, each where the specification allows it.
TEST_F(Faults, OtherShortages) {
    const Question question({64, 64}, Threshold::constant(0.9F));
    const auto subdivide = [&] {
        Tiler tiler(device());
        question.expect(tiler.subdivide(question.map, question.threshold));
    };
    faulty_vulkan::start();
    subdivide();
    const std::vector<std::string> calls = faulty_vulkan::calls();
    const std::string before = faulty_vulkan::alive();
    for (const auto& [function, result, text] :
         {std::tuple("vkAllocateMemory", VK_ERROR_TOO_MANY_OBJECTS, "more allocations"),
          std::tuple("vkMapMemory", VK_ERROR_MEMORY_MAP_FAILED, "out of host memory while binding"),
          std::tuple("vkAllocateDescriptorSets", VK_ERROR_OUT_OF_POOL_MEMORY, "out of device"),
          std::tuple("vkAllocateDescriptorSets", VK_ERROR_FRAGMENTED_POOL, "out of device")}) {
        const auto call = std::ranges::find(calls, function);
        ASSERT_NE(call, calls.end());
        faulty_vulkan::start(
            faulty_vulkan::Fault{static_cast<std::uint64_t>(call - calls.begin()) + 1, result});
        EXPECT_THAT(subdivide, fails(ErrorCode::out_of_memory, text));
        EXPECT_EQ(faulty_vulkan::control()->failed_function, function);
        EXPECT_EQ(faulty_vulkan::alive(), before);
    }
    faulty_vulkan::start();
}

// Would catch uploads that take the slow way although the host sees the GPU's memory, that fill a
// small window, or that fail although host memory would do.
TEST_F(Faults, UploadsChooseTheirMemory) {
    using faulty_vulkan::HostMemory;
    const Question question({64, 64}, Threshold::constant(0.9F));
    const auto from_host = [&](HostMemory kind, std::optional<faulty_vulkan::Fault> fault) {
        faulty_vulkan::control()->host_memory = kind;
        faulty_vulkan::control()->from_host.clear();
        const Device made = Device::create(options_over_faults());
        Tiler tiler(made);
        faulty_vulkan::start(fault);
        question.expect(tiler.subdivide(question.map, question.threshold));
        return std::ranges::count(faulty_vulkan::control()->from_host, true);
    };
    // What is read back is there anyway.
    const auto read_back = from_host(HostMemory::beside_device, std::nullopt);
    EXPECT_EQ(from_host(HostMemory::beside_window, std::nullopt), read_back + 1);

    const std::vector<std::string> calls = faulty_vulkan::calls();
    std::vector<std::ptrdiff_t> moved;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i] != "vkAllocateMemory") {
            continue;
        }
        try {
            moved.push_back(from_host(HostMemory::beside_device,
                                      faulty_vulkan::Fault{i + 1, VK_ERROR_OUT_OF_DEVICE_MEMORY}));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        }
    }
    EXPECT_THAT(moved, testing::ElementsAre(read_back + 1))
        << "only the staging of the map may move";
    faulty_vulkan::start();
    faulty_vulkan::control()->host_memory = HostMemory::real;
}

TEST_F(Faults, Mipmapper) {
    const std::vector<float> texels = random_map({20, 9});
    const ImageView image{texels.data(), {20, 9, 1, TexelFormat::r32_float}};
    std::vector<DownsamplerOptions> variants(2);
    for (DownsamplerOptions& options : variants) {
        options.source_format = options.format = TexelFormat::r32_float;
    }
    variants[0].copy_source = true;  // into another image
    variants[1].method = MipMethod::blit;
    for (const DownsamplerOptions& options : variants) {
        const MipChain expected = Mipmapper(device(), options).make(image);
        with_each_call_failing([&](Attempt& attempt) {
            std::optional<Mipmapper> mipmapper;
            if (!attempt.succeeds([&] { mipmapper.emplace(device(), options, SOON); })) {
                return;
            }
            const auto make = [&] {
                return attempt.succeeds(
                    [&] { EXPECT_EQ(difference(mipmapper->make(image), expected, 0), ""); });
            };
            if (!make() || !make()) {
                EXPECT_NE(make(), attempt.is_lost());
            }
        });
    }
}

// ---- What is recorded into the caller's commands

TEST_F(Faults, SubdividerMakesPipelinesWhenItRecords) {
    Gpu gpu(plain());
    const Question question({100, 70}, Threshold::constant(0.9F));
    // `fused` makes its pipelines when it first records; the same Subdivider continues.
    const Pyramid pyramid(plain());
    const PyramidWorkspace map(gpu, pyramid, question.map);
    with_each_call_failing([&](Attempt& attempt) {
        attempt.succeeds([&] {
            const Subdivider subdivider(device(), {.strategy = Strategy::fused});
            const SubdivisionWorkspace list(gpu, subdivider, map, question.expected.tiles.size());
            const auto record = [&] {
                gpu.run([&](VkCommandBuffer commands) {
                    subdivider.record(commands, list.binding, question.threshold,
                                      {.max_tiles = 100'000});
                });
            };
            if (!attempt.succeeds(record)) {
                faulty_vulkan::recover();
                gpu.fill(list.scratch, 0);
                record();
            }
            EXPECT_TRUE(list.read_tiles(gpu) == question.expected.tiles);
        });
    });
}

// A layout with more storage images than there is room for is a mistake, also where none is used.
TEST_F(Faults, FewStorageImagesSuffice) {
    faulty_vulkan::control()->most_storage_images = 4;
    const Device made = Device::create(options_over_faults());
    for (const Strategy strategy : {Strategy::fused, Strategy::subtree}) {
        const Question question({100, 60}, Threshold::constant(0.5F));
        question.expect(
            Tiler(made, {.strategy = strategy}).subdivide(question.map, question.threshold));
    }
    const Downsampler downsampler(
        made, {.source_format = TexelFormat::r32_float, .format = TexelFormat::r32_float});
    const Downsampler blitted(made, {.method = MipMethod::blit});
    faulty_vulkan::control()->most_storage_images = 0;
}

// Bindings keep the device for themselves, whatever goes first.
TEST_F(Faults, BindingsOutliveWhatMadeThem) {
    const std::string before = faulty_vulkan::alive();
    const std::vector<float> texels = random_map({64, 64});
    std::optional<std::tuple<Downsampler::Binding, Pyramid::Binding, Subdivider::Binding>> bindings;
    {
        const Device fresh = Device::create(options_over_faults());
        Gpu gpu(without_faults(fresh));
        const Downsampler downsampler(fresh, {.reduction = Reduction::max,
                                              .source_format = TexelFormat::r32_float,
                                              .format = TexelFormat::r32_float});
        const Pyramid pyramid(fresh);
        const Subdivider subdivider(fresh, {.strategy = Strategy::subtree});
        MipWorkspace mips(gpu, downsampler, view_of(texels, 64, 64), 7);
        PyramidWorkspace map(gpu, pyramid, view_of(texels, 64, 64));
        SubdivisionWorkspace list(gpu, subdivider, map, 64);
        bindings.emplace(std::move(mips.binding), std::move(map.binding), std::move(list.binding));
    }
    bindings.reset();
    EXPECT_EQ(faulty_vulkan::alive(), before);
}

// ---- The service

// Requests of every kind, with their answers. The first keeps a lane while the others come, three
// of one size go together, and the last one is for the first device alone.
struct Questions {
    Questions() {
        questions.emplace_back(MapShape{32, 32}, Threshold::constant(0.9F));
        for (std::uint32_t i = 0; i < 3; ++i) {
            questions.emplace_back(MapShape{64, 48, 1 + i}, Threshold::constant(0.9F), std::nullopt,
                                   i);
        }
        questions.emplace_back(MapShape{64, 64}, Threshold::constant(0.5F), 2000);
        questions.emplace_back(MapShape{40, 70}, Threshold::constant(0.8F));
    }

    [[nodiscard]] SubdivisionRequest request(std::size_t i) const {
        const Question& asked = questions[i];
        SubdivisionRequest request{
            .map = asked.map, .threshold = asked.threshold, .options = asked.options};
        if (i + 1 == questions.size()) {
            request.device = 0;
        }
        return request;
    }

    std::vector<Question> questions;
};

// Asks all of them at once; everything is answered, soon.
void ask_all(Attempt& attempt, Service& service, const Questions& questions) {
    std::vector<std::pair<const Question*, Ticket>> asked;
    for (std::size_t i = 0; i < questions.questions.size(); ++i) {
        attempt.succeeds([&] {
            asked.emplace_back(&questions.questions[i], service.submit(questions.request(i)));
        });
    }
    for (auto& one : asked) {
        ASSERT_EQ(one.second.result.wait_for(SOON), std::future_status::ready);
        attempt.succeeds([&] { one.first->expect(one.second.result.get()); });
    }
}

// Two lanes, and threads that ask at the same time: which call fails is another one each time, so
// every third number will do. What fails in a batch or for want of memory is tried again, so a
// failure may be absorbed. Then a service that met memory that is out answers as ever, and one
// whose device is lost takes nothing more. Random requests (test/random) lose one of two devices.
TEST_F(Faults, ServiceOfTwoLanes) {
    const Questions questions;
    const auto scenario = [&](Attempt& attempt) {
        std::optional<Service> service;
        if (!attempt.succeeds([&] { service.emplace(device()); })) {
            return;
        }
        {
            const std::jthread other([&] { ask_all(attempt, *service, questions); });
            ask_all(attempt, *service, questions);
        }
        const ServiceStatistics counts = service->statistics();
        EXPECT_EQ(counts.succeeded + counts.failed, counts.submitted);
        if (faulty_vulkan::control()->failed_function.empty()) {
            return;
        }
        if (attempt.is_lost()) {
            EXPECT_THAT([&] { (void)service->submit(questions.request(0)); },
                        fails(ErrorCode::device_lost));
        } else {
            faulty_vulkan::recover();
            Attempt again(VK_SUCCESS);
            ask_all(again, *service, questions);
        }
    };
    with_each_call_failing(scenario, 3, true);
}

// ---- Waits that hang

class Hangs : public Faults {
 protected:
    static constexpr auto TIMEOUT = 30ms;

    void TearDown() override {
        faulty_vulkan::release();
        EXPECT_EQ(faulty_vulkan::alive(), before_);
        Faults::TearDown();
    }

    // The device has done all that it was given.
    static void come_back() {
        faulty_vulkan::release();
        Gpu(plain()).run([](VkCommandBuffer) {});
    }

 private:
    std::string before_ = faulty_vulkan::alive();
};

TEST_F(Hangs, EveryRequestIsAnsweredInTime) {
    const Questions questions;
    Service service(device(), {.gpu_timeout = TIMEOUT});
    faulty_vulkan::hold();
    const Clock::time_point start = Clock::now();
    std::vector<Ticket> tickets;
    tickets.reserve(20);
    std::vector<std::string> texts;
    const auto note_loss_of = [&](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
            texts.emplace_back(error.what());
        }
    };
    for (std::size_t i = 0; i < 20; ++i) {
        note_loss_of([&] { tickets.push_back(service.submit(questions.request(i % 5))); });
    }
    for (Ticket& ticket : tickets) {
        ASSERT_EQ(ticket.result.wait_for(SOON), std::future_status::ready);
        note_loss_of([&] { (void)ticket.result.get(); });
    }
    EXPECT_EQ(texts.size(), 20U);
    EXPECT_THAT(texts, Contains(HasSubstr("the device has not finished subdividing within 30 ms; "
                                          "allow it more time, or make a new Device")));
    EXPECT_THAT([&] { (void)service.submit(questions.request(0)); },
                fails(ErrorCode::device_lost, "within 30 ms"));
    service.shutdown();
    EXPECT_LT(Clock::now() - start, SOON / 2);
    come_back();  // so that everything can be destroyed
}

// Also where memory is out for every question about a run: the library cannot tell whether it has
// ended.
TEST_F(Hangs, TilersAndMipmappersSayItAgain) {
    const Question question({64, 64}, Threshold::constant(0.9F));
    const ImageView image{question.texels.data(), {64, 64, 1, TexelFormat::rgba8_srgb}};
    for (const VkResult waits_return : {VK_TIMEOUT, VK_ERROR_OUT_OF_HOST_MEMORY}) {
        Tiler tiler(device(), {.gpu_timeout = TIMEOUT});
        Mipmapper mipmapper(device(), {}, TIMEOUT);
        faulty_vulkan::hold(waits_return);
        for (const char* const text : {"within 30 ms", "has not come back from an earlier run"}) {
            EXPECT_THAT([&] { (void)tiler.subdivide(question.map, question.threshold); },
                        fails(ErrorCode::device_lost, text));
            EXPECT_THAT([&] { (void)mipmapper.make(image); }, fails(ErrorCode::device_lost, text));
        }
        come_back();
    }
}

// Objects that the device may still write to are not destroyed.
TEST_F(Hangs, WhatTheDeviceWorksWithIsNotDestroyed) {
    const Question question({64, 64}, Threshold::constant(0.9F));
    const ImageView image{question.texels.data(), {64, 64, 1, TexelFormat::rgba8_srgb}};
    const std::uint64_t mark = faulty_vulkan::mark();
    const Clock::time_point start = Clock::now();
    {
        const LeakIsMeant leak_is_meant;
        const Device hung = Device::create(options_over_faults());
        Service service(hung, {.lanes = 1, .gpu_timeout = TIMEOUT});
        Tiler tiler(hung, {.gpu_timeout = TIMEOUT});
        Mipmapper mipmapper(hung, {}, TIMEOUT);
        Tiler idle(hung);
        faulty_vulkan::hold();
        Ticket ticket = service.submit({.map = question.map, .threshold = question.threshold});
        EXPECT_THAT([&] { (void)ticket.result.get(); }, fails(ErrorCode::device_lost));
        EXPECT_THAT([&] { (void)tiler.subdivide(question.map, question.threshold); },
                    fails(ErrorCode::device_lost));
        EXPECT_THAT([&] { (void)mipmapper.make(image); }, fails(ErrorCode::device_lost));
    }
    EXPECT_LT(Clock::now() - start, SOON);
    EXPECT_THAT(faulty_vulkan::alive(),
                AllOf(HasSubstr("3 CommandPool"), HasSubstr("2 Device"), HasSubstr("2 Instance")));
    faulty_vulkan::forget_since(mark);
}

}  // namespace
}  // namespace quadtile::test
