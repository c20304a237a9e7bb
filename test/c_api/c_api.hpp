// Common parts of the tests of the C API: maps, services, requests, and lists against the
// reference.

#pragma once

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

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

// A call fails with this status and a message that has these words.
inline AssertionResult fails(quadtile_status status, quadtile_status expected,
                             const std::string& words) {
    const std::string message = quadtile_last_error();
    return status == expected && message.find(words) != std::string::npos
               ? AssertionSuccess()
               : AssertionFailure() << "status " << status << ", " << message;
}
inline AssertionResult is_refused(quadtile_status status, const std::string& words) {
    return fails(status, QUADTILE_ERROR_INVALID_ARGUMENT, words);
}

// Value of an output, which a call that fails sets to null.
template <typename T>
T* something() {
    static char place = 0;
    return reinterpret_cast<T*>(&place);
}

// ---- Maps

inline constexpr std::size_t MAX_TEXELS = std::size_t{1024} * 1024;

template <typename Texel, typename Make>
std::vector<Texel> texels_of(const Make& make) {
    std::vector<Texel> texels(MAX_TEXELS);
    for (std::uint32_t i = 0; i < MAX_TEXELS; ++i) {
        texels[i] = static_cast<Texel>(make(i));
    }
    return texels;
}

inline const auto FLOATS = texels_of<float>([](auto i) { return test::unit_float(test::hash(i)); });
inline const auto HALVES = texels_of<std::uint16_t>([](auto i) { return test::hash(i) % 0x7c00U; });
inline const auto BYTES = texels_of<std::uint8_t>([](auto i) { return test::hash(i); });
inline const auto SPECIAL = texels_of<float>([](auto i) {
    return i % 50 == 7   ? std::nanf("")
           : i % 50 == 9 ? -std::numeric_limits<float>::infinity()
                         : FLOATS[i];
});

// Copies data to the end of readable memory, so that reads beyond it crash. Never unmapped.
inline void* at_end_of_memory(const void* data, std::size_t size) {
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

inline void count_message(void* user_data, std::int32_t severity, const char* message) {
    if (severity != QUADTILE_SEVERITY_INFO) {
        std::printf("severity %d: %s\n", severity, message);
        ++*static_cast<int*>(user_data);
    }
}

inline bool validation = true;  // where the layer is installed
inline int validation_messages = 0;

inline quadtile_service_options default_options() {
    quadtile_service_options options;
    EXPECT_EQ(quadtile_service_options_init(&options, sizeof(options)), QUADTILE_SUCCESS);
    options.log = count_message;
    options.log_user_data = &validation_messages;
    return options;
}

inline Service make_service(quadtile_service_options options = default_options()) {
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

inline const quadtile_device_info& device_of(const Service& service, std::uint32_t number = 0) {
    const quadtile_device_info* device = nullptr;
    std::int32_t is_lost = 1;
    EXPECT_EQ(quadtile_service_device(service.get(), number, &is_lost, &device), QUADTILE_SUCCESS);
    EXPECT_EQ(is_lost, 0);
    return *device;
}

inline quadtile_request request_of(const void* texels, std::uint32_t width, std::uint32_t height) {
    quadtile_request request;
    EXPECT_EQ(quadtile_request_init(&request, sizeof(request)), QUADTILE_SUCCESS);
    request.texels = texels;
    request.width = width;
    request.height = height;
    request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    request.threshold_value = 0.9F;
    return request;
}

inline quadtile_request small_request() {
    return request_of(FLOATS.data(), 60, 40);
}

inline Ticket submit(const Service& service, const quadtile_request& request) {
    quadtile_ticket* ticket = nullptr;
    EXPECT_EQ(quadtile_service_submit(service.get(), &request, &ticket), QUADTILE_SUCCESS);
    EXPECT_NE(ticket, nullptr);
    return Ticket(ticket);
}

inline quadtile_status wait(const Ticket& ticket, std::uint64_t timeout_ms = 0) {
    return quadtile_ticket_wait(ticket.get(), timeout_ms);
}

inline TexelFormat format_of(std::int32_t format) {
    constexpr TexelFormat FORMATS[] = {TexelFormat::r32_float, TexelFormat::r16_float,
                                       TexelFormat::d32_float, TexelFormat::r16_unorm,
                                       TexelFormat::r8_unorm,  TexelFormat::d16_unorm};
    return FORMATS[format];
}

inline void expect_reference(const quadtile_request& request, const quadtile_tile_list& list,
                             const Threshold& threshold = Threshold::constant(0.9F)) {
    const MapShape shape{request.width, request.height, request.layers, format_of(request.format)};
    const TileList expected = reference::subdivide(
        {request.texels, shape}, threshold,
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
inline List take(const Ticket& ticket, const quadtile_request& request,
                 const Threshold& threshold = Threshold::constant(0.9F)) {
    const quadtile_tile_list* list = nullptr;
    if (quadtile_ticket_take(ticket.get(), &list) != QUADTILE_SUCCESS) {
        throw std::runtime_error(quadtile_last_error());
    }
    expect_reference(request, *list, threshold);
    return List(list);
}
inline List ask(const Service& service, const quadtile_request& request,
                const Threshold& threshold = Threshold::constant(0.9F)) {
    return take(submit(service, request), request, threshold);
}

inline AssertionResult taking_fails(const Ticket& ticket, quadtile_status status,
                                    const std::string& words) {
    auto* list = something<const quadtile_tile_list>();
    const AssertionResult result = fails(quadtile_ticket_take(ticket.get(), &list), status, words);
    return list == nullptr ? result : AssertionFailure() << "there is a list";
}

}  // namespace quadtile
