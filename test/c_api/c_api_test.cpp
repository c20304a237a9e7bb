// The C API: every function, every error, and lists that are those of the reference. The printed
// program of docs/c.md shows that it is C.

#include "c_api.hpp"

namespace quadtile {
namespace {

// A service of one lane, which is busy with `runs` until the gate is opened: what is submitted then
// waits.
struct Held {
    explicit Held(std::uint32_t side, std::uint32_t queue_capacity)
        : size_bytes(sizeof(float) * side * side), gate(lane_gate_make(FLOATS.data(), size_bytes)) {
        quadtile_service_options options = default_options();
        options.lanes = 1;
        options.queue_capacity = queue_capacity;
        service = make_service(options);
        runs = submit(service, request_of(lane_gate_texels(gate), side, side));
        EXPECT_TRUE(lane_gate_wait(gate));
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
        lane_gate_open(gate);
        runs.reset();
        service.reset();
        lane_gate_free(gate);
    }

    // A moment later: while the test waits for what the gate keeps.
    [[nodiscard]] std::jthread open_soon() {
        return std::jthread([this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            has_opened = true;
            lane_gate_open(gate);
        });
    }

    std::size_t size_bytes;
    lane_gate* gate;
    Service service;
    Ticket runs;
    std::atomic<bool> has_opened = false;
};

class CApi : public testing::Test {
 protected:
    void TearDown() override { EXPECT_EQ(validation_messages, 0); }
};

// ---- What succeeds

TEST_F(CApi, ListsAreThoseOfTheReference) {
    const std::pair<const void*, std::int32_t> maps[] = {
        {SPECIAL.data(), QUADTILE_FORMAT_R32_FLOAT}, {HALVES.data(), QUADTILE_FORMAT_R16_FLOAT},
        {FLOATS.data(), QUADTILE_FORMAT_D32_FLOAT},  {HALVES.data(), QUADTILE_FORMAT_R16_UNORM},
        {BYTES.data(), QUADTILE_FORMAT_R8_UNORM},    {HALVES.data(), QUADTILE_FORMAT_D16_UNORM}};
    const MapShape shapes[] = {{130, 70, 3}, {257, 33, 1}, {1, 1, 1}};
    const float thresholds[] = {0.9F, 0.8F, 0.95F, 0.99F, 0.5F, 1.5F, 0.9F, 0.5F, 0.25F, 0.1F};
    const Service service = make_service();
    for (std::size_t map = 0; map < std::size(maps); ++map) {
        const MapShape& shape = shapes[map % 3];
        quadtile_request request = request_of(maps[map].first, shape.width, shape.height);
        request.layers = shape.layers;
        request.format = maps[map].second;
        (void)ask(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL;
        request.threshold_levels = thresholds;
        request.threshold_level_count = top_level(shape.width, shape.height) + 1;
        (void)ask(service, request,
                  Threshold::per_level({thresholds, thresholds + request.threshold_level_count}));

        request.threshold_kind = QUADTILE_THRESHOLD_MAX_RESOLUTION;
        request.threshold_value = 16.0F;
        request.order = QUADTILE_ORDER_ANY;
        (void)ask(service, request, Threshold::max_resolution(16.0F));

        request.threshold_kind = QUADTILE_THRESHOLD_MEMORY;
        request.nodes = 200.0F;
        request.fragments = BYTES.data();
        request.fragments_format = QUADTILE_FORMAT_R8_UNORM;
        MapView fragments{BYTES.data(), shape};
        fragments.shape.format = TexelFormat::r8_unorm;
        (void)ask(service, request, Threshold::memory(16.0F, 200.0F, fragments));
    }
    quadtile_request request = request_of(FLOATS.data(), 130, 70);
    request.threshold_kind = QUADTILE_THRESHOLD_GLSL;
    request.threshold_parameters = thresholds + 7;
    request.threshold_parameter_count = 2;
    request.threshold_glsl = "float threshold(uint level";
    const Ticket broken = submit(service, request);
    if (!taking_fails(broken, QUADTILE_ERROR_UNSUPPORTED, "QUADTILE_RUNTIME_GLSL")) {
        EXPECT_TRUE(taking_fails(submit(service, request), QUADTILE_ERROR_INVALID_ARGUMENT,
                                 "threshold:1: error: "));
        request.threshold_glsl =
            "float threshold(uint level, uvec2 position, uint layer) {\n"
            "    return threshold_parameter(0) + threshold_parameter(1);\n"
            "}\n";
        (void)ask(service, request, Threshold::constant(0.75F));
    }
}

// Catches a strategy, budget or balance that is lost on its way, or taken for another one, and
// lists that end with their ticket or service.
TEST_F(CApi, ListsSayHowTheyCameAbout) {
    for (const auto& [strategy, name] :
         {std::pair(QUADTILE_STRATEGY_SUBTREE, "subtree"), {QUADTILE_STRATEGY_FUSED, "fused"}}) {
        quadtile_service_options options = default_options();
        options.strategy = strategy;
        const Service service = make_service(options);
        const List list = ask(service, small_request());
        EXPECT_STREQ(list->strategy, name);
        EXPECT_STREQ(list->strategy_reason, "");
        EXPECT_STREQ(list->device, device_of(service).name);
        ASSERT_GT(list->stage_count, 1U);
        EXPECT_STREQ(list->stages[0].name, "wait");
        EXPECT_EQ(list->stages[0].on_gpu, 0);
        EXPECT_GE(list->stages[0].milliseconds, 0.0);
    }
    quadtile_service* made = nullptr;
    ASSERT_EQ(quadtile_service_create(nullptr, &made), QUADTILE_SUCCESS);
    Service service(made);
    quadtile_request request = request_of(FLOATS.data(), 128, 128);
    request.max_tiles = 3000;
    Ticket ticket = submit(service, request);
    const List budget = take(ticket, request);
    EXPECT_LE(budget->tile_count, 3000U);
    EXPECT_GT(budget->threshold_factor, 1.0F);
    EXPECT_STRNE(budget->strategy_reason, "");
    std::vector<float> texels(std::size_t{128} * 128);
    texels[63 * 128 + 63] = 1.0F;  // next to large tiles
    quadtile_request balanced = request_of(texels.data(), 128, 128);
    for (const std::int32_t balance : {QUADTILE_BALANCE_EDGES, QUADTILE_BALANCE_CORNERS}) {
        balanced.balance = balance;
        const List list = ask(service, balanced);
        EXPECT_TRUE(std::any_of(list->tiles, list->tiles + list->tile_count, [](const auto& tile) {
            return (tile.flags & QUADTILE_TILE_COARSER_LEFT) != 0;
        }));
    }
    const Ticket later = submit(service, request);
    ticket.reset();
    service.reset();
    expect_reference(request, *budget);
    (void)take(later, request);
}

TEST_F(CApi, DevicesAreDescribed) {
    const quadtile_device_list* list = nullptr;
    ASSERT_EQ(quadtile_enumerate_devices(&list), QUADTILE_SUCCESS);
    std::uint32_t usable = 0;
    for (std::uint32_t i = 0; i < list->device_count; ++i) {
        const quadtile_device_info& device = *list->devices[i];
        EXPECT_EQ(device.index, i);
        EXPECT_TRUE(*device.name != '\0' && *device.type != '\0');
        if (*device.rejections != '\0') {
            continue;
        }
        ++usable;
        EXPECT_TRUE(device.max_map_extent >= 4096 && device.max_layers > 0 && device.max_tiles > 0);
        EXPECT_TRUE(device.api_version >> 22U > 0 && device.local_memory_bytes > 0 &&
                    *device.driver != '\0');
        // Several are made and told apart.
        const std::string number = std::to_string(i);
        const char* const names[] = {number.c_str(), number.c_str()};
        quadtile_service_options options = default_options();
        options.devices = names;
        options.device_count = 2;
        const Service service = make_service(options);
        (void)ask(service, small_request());
        EXPECT_STREQ(device_of(service).name, device.name);
        EXPECT_EQ(device_of(service, 1).index, device_of(service).index);
        EXPECT_NE(&device_of(service, 1), &device_of(service));
    }
    EXPECT_GT(usable, 0U);
    quadtile_device_list_free(list);
}

// Requests that wait behind a busy lane until the queue is full, each with one of what a request
// can have: a deadline, a cancellation, texels that are copied, a priority. The one of low priority
// has a gate, too: what comes before it has been answered then.
TEST_F(CApi, RequestsThatWaitAreAnsweredEachInItsWay) {
    lane_gate* const low_gate = lane_gate_make(FLOATS.data(), sizeof(float) * 64 * 64);
    {
        Held held(64, 3);
        const quadtile_request plain = small_request();
        quadtile_request request = plain;
        request.deadline_ms = 1;
        EXPECT_TRUE(taking_fails(submit(held.service, request), QUADTILE_ERROR_DEADLINE_EXCEEDED,
                                 "deadline"));
        const Ticket cancelled = submit(held.service, plain);
        EXPECT_EQ(quadtile_ticket_cancel(cancelled.get()), QUADTILE_SUCCESS);
        EXPECT_EQ(quadtile_ticket_cancel(cancelled.get()), QUADTILE_TOO_LATE);
        EXPECT_EQ(wait(cancelled), QUADTILE_SUCCESS);
        EXPECT_TRUE(taking_fails(cancelled, QUADTILE_ERROR_CANCELLED, "cancelled"));

        const Ticket low = submit(held.service, request_of(lane_gate_texels(low_gate), 64, 64));
        const Ticket last = submit(held.service, request_of(FLOATS.data(), 64, 64));
        std::vector<float> texels(FLOATS.begin(), FLOATS.begin() + 60 * 40);
        request.texels = texels.data();
        request.copy_texels = 1;
        request.priority = 1;
        request.deadline_ms = UINT64_MAX;
        const Ticket copied = submit(held.service, request);
        texels.assign(texels.size(), 0.0F);
        auto* refused = something<quadtile_ticket>();
        EXPECT_EQ(quadtile_service_try_submit(held.service.get(), &plain, &refused),
                  QUADTILE_QUEUE_FULL);
        EXPECT_EQ(refused, nullptr);

        EXPECT_EQ(quadtile_ticket_cancel(held.runs.get()), QUADTILE_TOO_LATE);
        EXPECT_EQ(wait(held.runs, 1), QUADTILE_NOT_READY);
        EXPECT_EQ(wait(copied), QUADTILE_NOT_READY);
        const std::jthread opener = held.open_soon();
        const Ticket later = submit(held.service, plain);
        EXPECT_TRUE(held.has_opened);  // it has waited for room
        EXPECT_EQ(wait(held.runs, QUADTILE_NO_TIMEOUT), QUADTILE_SUCCESS);
        EXPECT_TRUE(lane_gate_wait(low_gate));
        (void)take(copied, plain);
        EXPECT_EQ(wait(low), QUADTILE_NOT_READY);
        EXPECT_EQ(wait(last), QUADTILE_NOT_READY);
        lane_gate_open(low_gate);
        (void)take(later, plain);
        const quadtile_tile_list* list = nullptr;
        EXPECT_EQ(quadtile_ticket_take(held.runs.get(), &list), QUADTILE_SUCCESS);
        const List owner(list);
        EXPECT_EQ(wait(held.runs), QUADTILE_SUCCESS);
        EXPECT_TRUE(taking_fails(held.runs, QUADTILE_ERROR_INVALID_ARGUMENT, "already taken"));
    }
    lane_gate_free(low_gate);
}

// One that waits, and one that runs: whoever reads its texels then crashes.
TEST_F(CApi, FreedTicketsLetGoOfTheTexels) {
    const std::size_t bytes = sizeof(float) * 4096 * 4096;
    void* const texels = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    {
        Held held(1024, 8);
        submit(held.service, request_of(texels, 4096, 4096)).reset();
        EXPECT_EQ(::mprotect(texels, bytes, PROT_NONE), 0);
        const std::jthread opener = held.open_soon();
        held.runs.reset();
        EXPECT_TRUE(held.has_opened);  // it has waited for the lane
        EXPECT_EQ(::mprotect(lane_gate_texels(held.gate), held.size_bytes, PROT_NONE), 0);
        (void)ask(held.service, small_request());
    }
    ::munmap(texels, bytes);
}

// ---- What does not

TEST_F(CApi, WhatOnlyTheDeviceKnowsIsAnswered) {
    quadtile_service_options options = default_options();
    options.memory_limit_bytes = 4U << 20U;
    const Service service = make_service(options);
    const std::uint32_t extent = device_of(service).max_map_extent;
    quadtile_request small = small_request();
    small.max_tiles = 1;
    small.layers = 2;
    EXPECT_TRUE(taking_fails(submit(service, request_of(FLOATS.data(), 1024, 1024)),
                             QUADTILE_ERROR_OUT_OF_MEMORY, "memory limit"));
    EXPECT_TRUE(
        taking_fails(submit(service, small), QUADTILE_ERROR_INVALID_ARGUMENT, "max_tiles is 1"));
    if (extent < 65536) {
        EXPECT_TRUE(taking_fails(submit(service, request_of(FLOATS.data(), extent + 1, 1)),
                                 QUADTILE_ERROR_UNSUPPORTED, ""));
    }
    (void)ask(service, small_request());
}

// Catches a cache that is cut, or read from another place than it was written to.
TEST_F(CApi, ThePipelineCacheComesBack) {
    quadtile_service_options options = default_options();
    std::size_t size = 0;
    std::vector<std::byte> bytes;
    {
        const Service made = make_service(options);
        (void)take(submit(made, small_request()), small_request());
        ASSERT_EQ(quadtile_service_pipeline_cache(made.get(), 0, nullptr, &size), QUADTILE_SUCCESS);
        ASSERT_GE(size, 40U);
        bytes.resize(size);
        size -= 1;
        EXPECT_TRUE(is_refused(quadtile_service_pipeline_cache(made.get(), 0, bytes.data(), &size),
                               "but the pipeline cache has"));
        ASSERT_EQ(size, bytes.size());
        ASSERT_EQ(quadtile_service_pipeline_cache(made.get(), 0, bytes.data(), &size),
                  QUADTILE_SUCCESS);
        EXPECT_TRUE(is_refused(quadtile_service_pipeline_cache(made.get(), 1, nullptr, &size),
                               "numbered from 0"));
    }
    bool is_ignored = false;
    options.log_user_data = &is_ignored;
    options.log = [](void* user_data, std::int32_t, const char* message) {
        *static_cast<bool*>(user_data) |= std::strstr(message, "is damaged or") != nullptr;
    };
    options.pipeline_cache = bytes.data();
    options.pipeline_cache_size = bytes.size();
    (void)take(submit(make_service(options), small_request()), small_request());
    EXPECT_FALSE(is_ignored);
    options.pipeline_cache_size -= 1;
    make_service(options).reset();
    EXPECT_TRUE(is_ignored);
}

TEST_F(CApi, NullIsRefused) {
    const Service owner = make_service();
    quadtile_service* const service = owner.get();
    const quadtile_request request = small_request();
    quadtile_request made;
    auto* ticket = something<quadtile_ticket>();
    const quadtile_device_info* device = nullptr;
    const quadtile_tile_list* list = nullptr;
    std::int32_t is_lost = 0;
    const Ticket kept = submit(owner, request);
    const auto expect = [](quadtile_status status, const char* words) {
        EXPECT_TRUE(is_refused(status, words));
    };
    expect(quadtile_enumerate_devices(nullptr), "list is NULL");
    expect(quadtile_service_options_init(nullptr, sizeof(quadtile_service_options)),
           "options is NULL");
    expect(quadtile_service_create(nullptr, nullptr), "service is NULL");
    expect(quadtile_service_device(nullptr, 0, &is_lost, &device), "service is NULL");
    expect(quadtile_service_device(service, 0, nullptr, &device), "is_lost is NULL");
    expect(quadtile_service_device(service, 0, &is_lost, nullptr), "device is NULL");
    expect(quadtile_service_device(service, 1, &is_lost, &device),
           "number is 1, but the service has 1 devices");
    expect(quadtile_request_init(nullptr, sizeof(made)), "request is NULL");
    for (const auto submitting : {quadtile_service_submit, quadtile_service_try_submit}) {
        expect(submitting(nullptr, &request, &ticket), "service is NULL");
        expect(submitting(service, nullptr, &ticket), "request is NULL");
        expect(submitting(service, &request, nullptr), "ticket is NULL");
    }
    EXPECT_EQ(ticket, nullptr);
    expect(quadtile_ticket_wait(nullptr, 0), "ticket is NULL");
    expect(quadtile_ticket_take(nullptr, &list), "ticket is NULL");
    expect(quadtile_ticket_take(kept.get(), nullptr), "list is NULL");
    (void)take(kept, request);  // it was not lost
    quadtile_device_list_free(nullptr);
    quadtile_service_destroy(nullptr);
    quadtile_ticket_free(nullptr);
    quadtile_tile_list_free(nullptr);
    std::jthread([&] {
        EXPECT_STREQ(quadtile_last_error(), "");  // errors are of their thread
        expect(quadtile_ticket_cancel(nullptr), "ticket is NULL");
    }).join();
    EXPECT_STREQ(quadtile_last_error(), "list is NULL");
}

// What the library itself refuses, its own tests have.
TEST_F(CApi, BadRequestsAreRefused) {
    using R = quadtile_request;
    const auto by_glsl = [](R& r, const char* glsl, const float* parameters, std::uint32_t count) {
        r.threshold_kind = QUADTILE_THRESHOLD_GLSL;
        r.threshold_glsl = glsl;
        r.threshold_parameters = parameters;
        r.threshold_parameter_count = count;
    };
    const auto by_level = [](R& r, const float* levels, std::uint32_t count) {
        r.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL;
        r.threshold_levels = levels;
        r.threshold_level_count = count;
    };
    // As many as are allowed lie there, and no more.
    const auto* const parameters =
        static_cast<float*>(at_end_of_memory(FLOATS.data(), 16 * sizeof(float)));
    const std::pair<std::function<void(R&)>, const char*> cases[] = {
        {[](R& r) { r.struct_size = 0; }, "struct_size is 0"},
        {[](R& r) { r.struct_size += 8; }, "struct_size"},
        {[](R& r) { r.texels = nullptr; }, "texels is NULL"},
        {[](R& r) { r.width = 0; }, "width"},
        {[](R& r) {
             r.copy_texels = 1;
             r.width = r.height = 65536;
         },
         "2^32"},
        {[](R& r) { r.format = 6; }, "format is 6"},
        {[](R& r) { r.format = -1; }, "QUADTILE_FORMAT_*"},
        {[](R& r) { r.order = 2; }, "order is 2"},
        {[](R& r) { r.balance = 3; }, "balance is 3"},
        {[](R& r) { r.threshold_kind = 0; }, "threshold_kind is 0"},
        {[](R& r) { r.threshold_kind = 6; }, "threshold_kind is 6"},
        {[&](R& r) { by_glsl(r, nullptr, nullptr, 0); }, "threshold_glsl is NULL"},
        {[&](R& r) { by_glsl(r, "x", nullptr, 1); }, "threshold_parameters is NULL"},
        {[&](R& r) { by_glsl(r, "x", parameters, UINT32_MAX); },
         "threshold_parameter_count is 4294967295, but a threshold function has at most 16 "
         "parameters"},
        {[&](R& r) { by_level(r, nullptr, 7); }, "threshold_levels is NULL"},
        {[&](R& r) { by_level(r, FLOATS.data(), 6); },
         "threshold_level_count is 6, but a map of this size has 7 levels"},
        {[](R& r) { r.threshold_kind = QUADTILE_THRESHOLD_MEMORY; }, "fragments is NULL"},
        {[](R& r) {
             r.threshold_kind = QUADTILE_THRESHOLD_MEMORY;
             r.fragments = FLOATS.data();
             r.fragments_format = 100;
         },
         "fragments_format is 100"},
    };
    const Service service = make_service();
    const auto expect = [&](const R* request, const char* words) {
        for (const auto submitting : {quadtile_service_submit, quadtile_service_try_submit}) {
            auto* ticket = something<quadtile_ticket>();
            EXPECT_TRUE(is_refused(submitting(service.get(), request, &ticket), words)) << words;
            EXPECT_EQ(ticket, nullptr);
        }
    };
    R request;
    for (const auto& [change, words] : cases) {
        request = small_request();
        change(request);
        expect(&request, words);
    }
    // A request of another library, which has nothing behind its first member.
    request.struct_size = sizeof(request.struct_size);
    expect(static_cast<const R*>(at_end_of_memory(&request.struct_size, 8)), "struct_size is 8");
    EXPECT_TRUE(
        is_refused(quadtile_request_init(&request, sizeof(request) - 1), "quadtile_request has"));
}

TEST_F(CApi, BadOptionsAreRefused) {
    using O = quadtile_service_options;
    constexpr quadtile_status INVALID = QUADTILE_ERROR_INVALID_ARGUMENT;
    const auto expect_refused = [](const O* options, quadtile_status status, const char* words) {
        auto* service = something<quadtile_service>();
        EXPECT_TRUE(fails(quadtile_service_create(options, &service), status, words)) << words;
        EXPECT_EQ(service, nullptr);
    };
    struct Case {
        void (*change)(O&);
        const char* words;
        quadtile_status status = INVALID;
    };
    for (const auto& [change, words, status] :
         {Case{[](O& o) { o.struct_size = 0; }, "struct_size is 0"},
          {[](O& o) { o.strategy = 4; }, "strategy is 4"},
          {[](O& o) { o.strategy = -1; }, "QUADTILE_STRATEGY_*"},
          {[](O& o) { o.lanes = 0; }, "lanes"},
          {[](O& o) { o.max_batch_layers = 0; }, "max_batch_layers"},
          {[](O& o) { o.queue_capacity = 0; }, "queue_capacity"},
          {[](O& o) {
               o.strategy = QUADTILE_STRATEGY_SUBTREE;
               o.subtree_levels = 9;
           },
           "9"},
          {[](O& o) {
               o.device = "0";
               o.devices = &o.device;
               o.device_count = 1;
           },
           "device and devices are both given"},
          {[](O& o) { o.device_count = 1; }, "devices is NULL"},
          {[](O& o) { o.pipeline_cache_size = 1; }, "pipeline_cache is NULL"},
          {[](O& o) { o.device = "no such device"; }, "no such device",
           QUADTILE_ERROR_NO_DEVICE}}) {
        O options = default_options();
        change(options);
        expect_refused(&options, status, words);
    }
    // Options of another library, which have nothing behind their first member.
    O options = default_options();
    options.struct_size = sizeof(options.struct_size);
    expect_refused(static_cast<const O*>(at_end_of_memory(&options.struct_size, 8)), INVALID,
                   "struct_size is 8");
    EXPECT_TRUE(
        is_refused(quadtile_service_options_init(&options, 8), "quadtile_service_options has"));
}

// ---- Memory that runs out

// The number-th allocation by `new` of this thread fails from now on, once. 0: none.
thread_local long allocations_until_failure = 0;

// Each allocation of a request's way fails in turn: it ends in a status, and the service goes on.
TEST_F(CApi, HostMemoryMayRunOut) {
    const Service service = make_service();
    const std::vector<float> levels(7, 0.9F);
    quadtile_request request = small_request();
    request.copy_texels = 1;
    request.deadline_ms = 600000;
    request.threshold_kind = QUADTILE_THRESHOLD_PER_LEVEL;
    request.threshold_levels = levels.data();
    request.threshold_level_count = 7;
    int refused = 0;
    quadtile_status status = QUADTILE_ERROR_OUT_OF_MEMORY;
    for (long number = 1; status != QUADTILE_SUCCESS && number < 1000; ++number) {
        quadtile_ticket* ticket = nullptr;
        allocations_until_failure = number;
        status = quadtile_service_submit(service.get(), &request, &ticket);
        allocations_until_failure = 0;
        if (status == QUADTILE_SUCCESS) {
            (void)take(Ticket(ticket), request);
        } else {
            EXPECT_TRUE(fails(status, QUADTILE_ERROR_OUT_OF_MEMORY, "host memory"));
            EXPECT_EQ(ticket, nullptr);
            ++refused;
        }
    }
    EXPECT_EQ(status, QUADTILE_SUCCESS);
    EXPECT_GT(refused, 5);

    const Ticket ticket = submit(service, request);
    const quadtile_tile_list* list = nullptr;
    EXPECT_EQ(wait(ticket, QUADTILE_NO_TIMEOUT), QUADTILE_SUCCESS);
    allocations_until_failure = 1;
    status = quadtile_ticket_take(ticket.get(), &list);
    allocations_until_failure = 0;
    EXPECT_TRUE(fails(status, QUADTILE_ERROR_OUT_OF_MEMORY, "host memory"));
    (void)take(ticket, request);
}

}  // namespace
}  // namespace quadtile

void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

// Without it, that of a sanitizer would meet the `delete` below.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    if (quadtile::allocations_until_failure > 0 && --quadtile::allocations_until_failure == 0) {
        return nullptr;
    }
    return std::malloc(size != 0 ? size : 1);
}

// Not inline: GCC would see memory of `new` freed.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}
