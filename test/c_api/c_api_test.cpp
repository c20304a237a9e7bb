// The C API: every function, every error, and lists that are those of the reference. The printed
// program of docs/c.md shows that it is C.

#include "support/hash.hpp"

#include <quadtile/quadtile.h>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "lane_gate.h"
}

namespace quadtile {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

// A call fails with this status and a message that has these words.
AssertionResult fails(quadtile_status status, quadtile_status expected, const std::string& words) {
    const std::string message = quadtile_last_error();
    return status == expected && message.find(words) != std::string::npos
               ? AssertionSuccess()
               : AssertionFailure() << "status " << status << ", " << message;
}
AssertionResult is_refused(quadtile_status status, const std::string& words) {
    return fails(status, QUADTILE_ERROR_INVALID_ARGUMENT, words);
}

// Value of an output, which a call that fails sets to null.
template <typename T>
T* something() {
    static char place = 0;
    return reinterpret_cast<T*>(&place);
}

// ---- Maps

constexpr std::size_t MAX_TEXELS = std::size_t{1024} * 1024;

template <typename Texel, typename Make>
std::vector<Texel> texels_of(const Make& make) {
    std::vector<Texel> texels(MAX_TEXELS);
    for (std::uint32_t i = 0; i < MAX_TEXELS; ++i) {
        texels[i] = static_cast<Texel>(make(i));
    }
    return texels;
}

const auto FLOATS = texels_of<float>([](auto i) { return test::unit_float(test::hash(i)); });
const auto HALVES = texels_of<std::uint16_t>([](auto i) { return test::hash(i) % 0x7c00U; });
const auto BYTES = texels_of<std::uint8_t>([](auto i) { return test::hash(i); });
const auto SPECIAL = texels_of<float>([](auto i) {
    return i % 50 == 7   ? std::nanf("")
           : i % 50 == 9 ? -std::numeric_limits<float>::infinity()
                         : FLOATS[i];
});

// Copies data to the end of readable memory, so that reads beyond it crash. Never unmapped.
void* at_end_of_memory(const void* data, std::size_t size) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    auto* const pages = static_cast<char*>(
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(::mprotect(pages + page, page, PROT_NONE), 0);
    return std::memcpy(pages + page - size, data, size);
}

// ---- Services and requests

template <auto FREE>
struct Freed {
    void operator()(auto* object) const { FREE(object); }
};
using Service = std::unique_ptr<quadtile_service, Freed<quadtile_service_destroy>>;
using Ticket = std::unique_ptr<quadtile_ticket, Freed<quadtile_ticket_free>>;
using List = std::unique_ptr<const quadtile_tile_list, Freed<quadtile_tile_list_free>>;

void count_message(void* user_data, std::int32_t severity, const char* message) {
    if (severity != QUADTILE_SEVERITY_INFO) {
        std::printf("severity %d: %s\n", severity, message);
        ++*static_cast<int*>(user_data);
    }
}

bool validation = true;  // where the layer is installed
int validation_messages = 0;

quadtile_service_options default_options() {
    quadtile_service_options options;
    EXPECT_EQ(quadtile_service_options_init(&options, sizeof(options)), QUADTILE_SUCCESS);
    options.log = count_message;
    options.log_user_data = &validation_messages;
    return options;
}

Service make_service(quadtile_service_options options = default_options()) {
    quadtile_service* service = nullptr;
    options.validation = validation ? 1 : 0;
    quadtile_status status = quadtile_service_create(&options, &service);
    if (status == QUADTILE_ERROR_UNSUPPORTED && validation) {
        std::printf("VALIDATION IS OFF: %s\n", quadtile_last_error());
        validation = false;
        options.validation = 0;
        status = quadtile_service_create(&options, &service);
    }
    if (status != QUADTILE_SUCCESS) {
        throw std::runtime_error(quadtile_last_error());
    }
    return Service(service);
}

const quadtile_device_info& device_of(const Service& service, std::uint32_t number = 0) {
    const quadtile_device_info* device = nullptr;
    std::int32_t is_lost = 1;
    EXPECT_EQ(quadtile_service_device(service.get(), number, &is_lost, &device), QUADTILE_SUCCESS);
    EXPECT_EQ(is_lost, 0);
    return *device;
}

quadtile_request request_of(const void* texels, std::uint32_t width, std::uint32_t height) {
    quadtile_request request;
    EXPECT_EQ(quadtile_request_init(&request, sizeof(request)), QUADTILE_SUCCESS);
    request.texels = texels;
    request.width = width;
    request.height = height;
    request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    request.threshold_value = 0.9F;
    return request;
}

quadtile_request small_request() {
    return request_of(FLOATS.data(), 60, 40);
}

Ticket submit(const Service& service, const quadtile_request& request) {
    quadtile_ticket* ticket = nullptr;
    EXPECT_EQ(quadtile_service_submit(service.get(), &request, &ticket), QUADTILE_SUCCESS);
    EXPECT_NE(ticket, nullptr);
    return Ticket(ticket);
}

quadtile_status wait(const Ticket& ticket, std::uint64_t timeout_ms = 0) {
    return quadtile_ticket_wait(ticket.get(), timeout_ms);
}

TexelFormat format_of(std::int32_t format) {
    constexpr TexelFormat FORMATS[] = {TexelFormat::r32_float, TexelFormat::r16_float,
                                       TexelFormat::d32_float, TexelFormat::r16_unorm,
                                       TexelFormat::r8_unorm,  TexelFormat::d16_unorm};
    return FORMATS[format];
}

Threshold threshold_of(const quadtile_request& request, const MapShape& shape) {
    switch (request.threshold_kind) {
        case QUADTILE_THRESHOLD_CONSTANT:
            return Threshold::constant(request.threshold_value);
        case QUADTILE_THRESHOLD_MAX_RESOLUTION:
            return Threshold::max_resolution(request.threshold_value);
        case QUADTILE_THRESHOLD_PER_LEVEL:
            return Threshold::per_level({request.threshold_levels,
                                         request.threshold_levels + request.threshold_level_count});
        default: {
            MapView fragments{request.fragments, shape};
            fragments.shape.format = format_of(request.fragments_format);
            return Threshold::memory(request.threshold_value, request.nodes, fragments);
        }
    }
}

void expect_reference(const quadtile_request& request, const quadtile_tile_list& list) {
    const MapShape shape{request.width, request.height, request.layers, format_of(request.format)};
    const TileList expected = reference::subdivide(
        {request.texels, shape}, threshold_of(request, shape),
        {.max_tiles = request.max_tiles != 0 ? std::optional(request.max_tiles) : std::nullopt,
         .balance = static_cast<Balance>(request.balance)});  // the same numbers
    EXPECT_EQ(list.width, shape.width);
    EXPECT_EQ(list.height, shape.height);
    EXPECT_EQ(list.layers, shape.layers);
    EXPECT_EQ(list.levels, expected.levels());
    EXPECT_EQ(list.order, request.order);
    EXPECT_EQ(list.nan_texels, expected.nan_texels);
    EXPECT_EQ(list.threshold_factor, expected.threshold_factor);
    std::vector<Tile> tiles;
    for (std::uint64_t i = 0; i < list.tile_count; ++i) {
        const quadtile_tile& tile = list.tiles[i];
        tiles.push_back({tile_position(tile.x, tile.y),
                         tile_node(tile.level, tile.flags, tile.layer), tile.importance,
                         tile.threshold});
    }
    if (request.order == QUADTILE_ORDER_ANY) {
        sort_canonical(tiles);
    }
    EXPECT_TRUE(tiles == expected.tiles);
}

// The list of a request that succeeds, compared.
List take(const Ticket& ticket, const quadtile_request& request) {
    const quadtile_tile_list* list = nullptr;
    if (quadtile_ticket_take(ticket.get(), &list) != QUADTILE_SUCCESS) {
        throw std::runtime_error(quadtile_last_error());
    }
    expect_reference(request, *list);
    return List(list);
}
List ask(const Service& service, const quadtile_request& request) {
    return take(submit(service, request), request);
}

AssertionResult taking_fails(const Ticket& ticket, quadtile_status status,
                             const std::string& words) {
    auto* list = something<const quadtile_tile_list>();
    const AssertionResult result = fails(quadtile_ticket_take(ticket.get(), &list), status, words);
    return list == nullptr ? result : AssertionFailure() << "there is a list";
}

// A service of one lane, which is busy with `runs` until the gate is opened: what is submitted then
// waits.
class Held {
 public:
    explicit Held(quadtile_service_options options = default_options(), std::uint32_t side = 64)
        : size_bytes(sizeof(float) * side * side), gate(lane_gate_make(FLOATS.data(), size_bytes)) {
        options.lanes = 1;
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
    const float thresholds[] = {0.9F, 0.8F, 0.95F, 0.99F, 0.5F, 1.5F, 0.9F, 2.0F, 0.1F, 0.1F};
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
        (void)ask(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_MAX_RESOLUTION;
        request.threshold_value = 16.0F;
        request.order = QUADTILE_ORDER_ANY;
        (void)ask(service, request);

        request.threshold_kind = QUADTILE_THRESHOLD_MEMORY;
        request.nodes = 200.0F;
        request.fragments = BYTES.data();
        request.fragments_format = QUADTILE_FORMAT_R8_UNORM;
        (void)ask(service, request);
    }
}

TEST_F(CApi, ThresholdsAreCompiledFromGlsl) {
    const float parameters[] = {0.5F, 0.25F};
    const Service service = make_service();
    quadtile_request request = request_of(FLOATS.data(), 130, 70);
    request.threshold_kind = QUADTILE_THRESHOLD_GLSL;
    request.threshold_glsl =
        "float threshold(uint level, uvec2 position, uint layer) {\n"
        "    return threshold_parameter(0) + threshold_parameter(1);\n"
        "}\n";
    request.threshold_parameters = parameters;
    request.threshold_parameter_count = 2;
    const Ticket ticket = submit(service, request);
    const quadtile_tile_list* list = nullptr;
    const quadtile_status status = quadtile_ticket_take(ticket.get(), &list);
    if (status == QUADTILE_ERROR_UNSUPPORTED) {
        GTEST_SKIP() << quadtile_last_error();
    }
    ASSERT_EQ(status, QUADTILE_SUCCESS) << quadtile_last_error();
    const List owner(list);
    quadtile_request same = request;
    same.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    same.threshold_value = 0.75F;
    expect_reference(same, *list);
    request.threshold_glsl = "float threshold(uint level";
    EXPECT_TRUE(taking_fails(submit(service, request), QUADTILE_ERROR_INVALID_ARGUMENT,
                             "threshold:1: error: "));
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
        EXPECT_STRNE(device.name, "");
        EXPECT_STRNE(device.type, "");
        if (device.rejections[0] != '\0') {
            continue;
        }
        ++usable;
        EXPECT_GE(device.max_map_extent, 4096U);
        EXPECT_GT(device.max_layers, 0U);
        EXPECT_GT(device.max_tiles, 0U);
        EXPECT_GE(device.api_version, 1U << 22U);
        EXPECT_GT(device.local_memory_bytes, 0U);
        EXPECT_STRNE(device.driver, "");
        const std::string number = std::to_string(i);
        quadtile_service_options options = default_options();
        options.device = number.c_str();
        const Service service = make_service(options);
        EXPECT_EQ(device_of(service).index, i);
        EXPECT_STREQ(device_of(service).name, device.name);
    }
    EXPECT_GT(usable, 0U);
    quadtile_device_list_free(list);
}

// The layer's advice is provoked; it says nothing of itself.
TEST_F(CApi, MessagesReachTheLog) {
    quadtile_service_options options = default_options();
    int messages = 0;
    options.log_user_data = &messages;
    ::setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT", 1);
    make_service(options).reset();
    ::unsetenv("VK_LAYER_ENABLES");
    EXPECT_TRUE(messages > 0 || !validation);
}

// Requests that wait behind a busy lane, each with one of what a request can have: texels that are
// copied, a priority, deadlines, a cancellation, and tickets that are freed. The one of low
// priority has a gate, too: what comes before it has been answered then. Whoever reads the texels
// of the freed one crashes.
TEST_F(CApi, RequestsThatWaitAreAnsweredEachInItsWay) {
    lane_gate* const low_gate = lane_gate_make(FLOATS.data(), sizeof(float) * 64 * 64);
    const std::size_t freed_bytes = sizeof(float) * 4096 * 4096;
    void* const freed = ::mmap(nullptr, freed_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    {
        Held held;
        const quadtile_request plain = small_request();
        submit(held.service, request_of(freed, 4096, 4096)).reset();
        EXPECT_EQ(::mprotect(freed, freed_bytes, PROT_NONE), 0);

        quadtile_request request = plain;
        std::vector<float> texels(FLOATS.begin(), FLOATS.begin() + 60 * 40);
        request.texels = texels.data();
        request.copy_texels = 1;
        request.priority = 1;
        const Ticket copied = submit(held.service, request);
        texels.assign(texels.size(), 0.0F);

        const Ticket low = submit(held.service, request_of(lane_gate_texels(low_gate), 64, 64));
        const Ticket last = submit(held.service, request_of(FLOATS.data(), 64, 64));
        request = plain;
        request.priority = 1;
        request.deadline_ms = UINT64_MAX;
        const Ticket in_time = submit(held.service, request);
        request.deadline_ms = 1;
        const Ticket late = submit(held.service, request);
        EXPECT_TRUE(taking_fails(late, QUADTILE_ERROR_DEADLINE_EXCEEDED, "deadline"));

        const Ticket cancelled = submit(held.service, plain);
        EXPECT_EQ(quadtile_ticket_cancel(cancelled.get()), QUADTILE_SUCCESS);
        EXPECT_EQ(quadtile_ticket_cancel(cancelled.get()), QUADTILE_TOO_LATE);
        EXPECT_EQ(wait(cancelled), QUADTILE_SUCCESS);
        EXPECT_TRUE(taking_fails(cancelled, QUADTILE_ERROR_CANCELLED, "cancelled"));

        EXPECT_EQ(quadtile_ticket_cancel(held.runs.get()), QUADTILE_TOO_LATE);
        for (const Ticket* ticket :
             std::initializer_list<const Ticket*>{&held.runs, &copied, &in_time, &low}) {
            EXPECT_EQ(wait(*ticket), QUADTILE_NOT_READY);
        }
        EXPECT_EQ(wait(held.runs, 1), QUADTILE_NOT_READY);
        const std::jthread opener = held.open_soon();
        EXPECT_EQ(wait(held.runs, QUADTILE_NO_TIMEOUT), QUADTILE_SUCCESS);
        EXPECT_TRUE(held.has_opened);
        EXPECT_TRUE(lane_gate_wait(low_gate));
        (void)take(copied, plain);
        (void)take(in_time, plain);
        EXPECT_EQ(wait(low), QUADTILE_NOT_READY);
        EXPECT_EQ(wait(last), QUADTILE_NOT_READY);
        lane_gate_open(low_gate);
        const quadtile_tile_list* list = nullptr;
        EXPECT_EQ(quadtile_ticket_take(held.runs.get(), &list), QUADTILE_SUCCESS);
        const List owner(list);
        EXPECT_EQ(wait(held.runs), QUADTILE_SUCCESS);
        EXPECT_TRUE(taking_fails(held.runs, QUADTILE_ERROR_INVALID_ARGUMENT, "already taken"));
    }
    ::munmap(freed, freed_bytes);
    lane_gate_free(low_gate);
}

TEST_F(CApi, AFreedTicketThatRunsLetsGoOfTheTexels) {
    Held held(default_options(), 1024);
    const std::jthread opener = held.open_soon();
    held.runs.reset();
    EXPECT_TRUE(held.has_opened);  // it has waited for the lane
    EXPECT_EQ(::mprotect(lane_gate_texels(held.gate), held.size_bytes, PROT_NONE), 0);
    (void)ask(held.service, small_request());
}

// ---- What does not

TEST_F(CApi, AFullQueueRefuses) {
    quadtile_service_options options = default_options();
    options.queue_capacity = 2;
    Held held(options);
    const quadtile_request request = small_request();
    std::vector<Ticket> tickets;
    for (const quadtile_status expected :
         {QUADTILE_SUCCESS, QUADTILE_SUCCESS, QUADTILE_QUEUE_FULL}) {
        auto* ticket = something<quadtile_ticket>();
        EXPECT_EQ(quadtile_service_try_submit(held.service.get(), &request, &ticket), expected);
        EXPECT_EQ(ticket != nullptr, expected == QUADTILE_SUCCESS);
        tickets.emplace_back(ticket);
    }
    const std::jthread opener = held.open_soon();
    const Ticket later = submit(held.service, request);
    EXPECT_TRUE(held.has_opened);  // it has waited for room
    (void)take(later, request);
}

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
    options.pipeline_cache = nullptr;
    quadtile_service* made = nullptr;
    EXPECT_TRUE(is_refused(quadtile_service_create(&options, &made), "pipeline_cache is NULL"));
}

// Finds devices that are not made or not told apart.
TEST_F(CApi, SeveralDevices) {
    const std::string number = std::to_string(device_of(make_service()).index);
    const char* const names[] = {number.c_str(), number.c_str()};
    quadtile_service_options options = default_options();
    options.devices = names;
    options.device_count = 2;
    const Service service = make_service(options);
    (void)take(submit(service, small_request()), small_request());
    EXPECT_EQ(device_of(service, 1).index, device_of(service).index);
    EXPECT_NE(&device_of(service, 1), &device_of(service));
    quadtile_service* made = nullptr;
    options.device = names[0];
    EXPECT_TRUE(
        is_refused(quadtile_service_create(&options, &made), "device and devices are both given"));
    options.device = nullptr;
    options.devices = nullptr;
    EXPECT_TRUE(is_refused(quadtile_service_create(&options, &made), "devices is NULL"));
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
    const std::pair<std::function<quadtile_status()>, const char*> rows[] = {
        {[] { return quadtile_enumerate_devices(nullptr); }, "list is NULL"},
        {[] { return quadtile_service_options_init(nullptr, sizeof(quadtile_service_options)); },
         "options is NULL"},
        {[] { return quadtile_service_create(nullptr, nullptr); }, "service is NULL"},
        {[&] { return quadtile_service_device(nullptr, 0, &is_lost, &device); }, "service is NULL"},
        {[&] { return quadtile_service_device(service, 0, nullptr, &device); }, "is_lost is NULL"},
        {[&] { return quadtile_service_device(service, 0, &is_lost, nullptr); }, "device is NULL"},
        {[&] { return quadtile_service_device(service, 1, &is_lost, &device); },
         "number is 1, but the service has 1 devices"},
        {[&] { return quadtile_request_init(nullptr, sizeof(made)); }, "request is NULL"},
        {[&] { return quadtile_service_submit(nullptr, &request, &ticket); }, "service is NULL"},
        {[&] { return quadtile_service_submit(service, nullptr, &ticket); }, "request is NULL"},
        {[&] { return quadtile_service_submit(service, &request, nullptr); }, "ticket is NULL"},
        {[&] { return quadtile_service_try_submit(nullptr, &request, &ticket); },
         "service is NULL"},
        {[&] { return quadtile_service_try_submit(service, nullptr, &ticket); }, "request is NULL"},
        {[&] { return quadtile_service_try_submit(service, &request, nullptr); }, "ticket is NULL"},
        {[] { return quadtile_ticket_wait(nullptr, 0); }, "ticket is NULL"},
        {[] { return quadtile_ticket_cancel(nullptr); }, "ticket is NULL"},
        {[&] { return quadtile_ticket_take(nullptr, &list); }, "ticket is NULL"},
        {[&] { return quadtile_ticket_take(kept.get(), nullptr); }, "list is NULL"}};
    for (const auto& [call, words] : rows) {
        EXPECT_TRUE(is_refused(call(), words));
    }
    EXPECT_EQ(ticket, nullptr);
    (void)take(kept, request);  // it was not lost
    quadtile_device_list_free(nullptr);
    quadtile_service_destroy(nullptr);
    quadtile_ticket_free(nullptr);
    quadtile_tile_list_free(nullptr);
    std::jthread([] {
        EXPECT_STREQ(quadtile_last_error(), "");  // errors are of their thread
        EXPECT_TRUE(is_refused(quadtile_ticket_cancel(nullptr), "ticket is NULL"));
    }).join();
    EXPECT_STREQ(quadtile_last_error(), "list is NULL");
}

// By both functions that submit; no ticket is left.
void expect_refused(const Service& service, const quadtile_request* request,
                    const std::string& words) {
    for (const auto submitting : {quadtile_service_submit, quadtile_service_try_submit}) {
        auto* ticket = something<quadtile_ticket>();
        EXPECT_TRUE(is_refused(submitting(service.get(), request, &ticket), words)) << words;
        EXPECT_EQ(ticket, nullptr);
    }
}

TEST_F(CApi, BadRequestsAreRefused) {
    using R = quadtile_request;
    const auto by_glsl = [](R& r, const char* glsl, const float* parameters = nullptr,
                            std::uint32_t count = 0) {
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
    const auto by_memory = [](R& r, const std::vector<float>* fragments) {
        r.threshold_kind = QUADTILE_THRESHOLD_MEMORY;
        r.fragments = fragments != nullptr ? fragments->data() : nullptr;
    };
    const float negative[] = {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, -1.0F};
    // As many as are allowed lie there, and no more.
    const auto* const parameters =
        static_cast<float*>(at_end_of_memory(FLOATS.data(), 16 * sizeof(float)));
    const std::pair<std::function<void(R&)>, const char*> cases[] = {
        {[](R& r) { r.struct_size = 0; }, "struct_size is 0"},
        {[](R& r) { r.struct_size += 8; }, "struct_size"},
        {[](R& r) { r.texels = nullptr; }, "texels is NULL"},
        {[](R& r) { r.width = 0; }, "width"},
        {[](R& r) { r.height = 0; }, "height"},
        {[](R& r) { r.layers = 0; }, "layers"},
        {[](R& r) { r.width = 65537; }, "65537"},
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
        {[](R& r) { r.threshold_value = -1.0F; }, "negative"},
        {[](R& r) { r.threshold_value = std::nanf(""); }, "NaN"},
        {[&](R& r) { by_glsl(r, nullptr); }, "threshold_glsl is NULL"},
        {[&](R& r) { by_glsl(r, ""); }, "is empty"},
        {[&](R& r) { by_glsl(r, "x", nullptr, 1); }, "threshold_parameters is NULL"},
        {[&](R& r) { by_glsl(r, "x", FLOATS.data(), 17); }, "at most 16 parameters"},
        {[&](R& r) { by_glsl(r, "x", parameters, UINT32_MAX); },
         "threshold_parameter_count is 4294967295, but a threshold function has at most 16 "
         "parameters"},
        {[&](R& r) { by_level(r, nullptr, 7); }, "threshold_levels is NULL"},
        {[&](R& r) { by_level(r, FLOATS.data(), 6); },
         "threshold_level_count is 6, but a map of this size has 7 levels"},
        {[&](R& r) { by_level(r, negative, 7); }, "level 6"},
        {[&](R& r) { by_memory(r, nullptr); }, "fragments is NULL"},
        {[&](R& r) {
             by_memory(r, &FLOATS);
             r.fragments_format = 100;
         },
         "fragments_format is 100"},
        {[&](R& r) { by_memory(r, &SPECIAL); }, "fragment counts"},
        {[&](R& r) {
             by_memory(r, &FLOATS);
             r.nodes = -1.0F;
         },
         "nodes"},
    };
    const Service service = make_service();
    for (const auto& [change, words] : cases) {
        quadtile_request request = small_request();
        change(request);
        expect_refused(service, &request, words);
    }
    // A request of another library, which has nothing behind its first member.
    quadtile_request request = small_request();
    request.struct_size = sizeof(request.struct_size);
    expect_refused(service,
                   static_cast<const quadtile_request*>(
                       at_end_of_memory(&request.struct_size, sizeof(request.struct_size))),
                   "struct_size is 8");
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
          {[](O& o) { o.device = "no such device"; }, "no such device",
           QUADTILE_ERROR_NO_DEVICE}}) {
        O options = default_options();
        change(options);
        expect_refused(&options, status, words);
    }
    // Options of another library, which have nothing behind their first member.
    O options = default_options();
    options.struct_size = sizeof(options.struct_size);
    expect_refused(
        static_cast<const O*>(at_end_of_memory(&options.struct_size, sizeof(options.struct_size))),
        INVALID, "struct_size is 8");
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
