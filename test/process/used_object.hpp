// Objects of the library that have been used, one of each kind.

#pragma once

#include <quadtile/quadtile.h>
#include <quadtile/downsampler.hpp>
#include <quadtile/error.hpp>
#include <quadtile/service.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiler.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace quadtile::test {

inline const std::vector<float> TEXELS(64 * 64, 0.5F);
inline const MapView MAP{TEXELS.data(), {64, 64}};

inline quadtile_request c_request() {
    quadtile_request request;
    (void)quadtile_request_init(&request, sizeof(request));
    request.texels = TEXELS.data();
    request.width = request.height = 64;
    request.format = QUADTILE_FORMAT_R32_FLOAT;
    request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    request.threshold_value = 0.1F;
    return request;
}

inline void check(quadtile_status status) {
    if (status != QUADTILE_SUCCESS) {
        throw std::runtime_error(quadtile_last_error());
    }
}

// Makes a device, with the validation layer if that is installed.
inline Device make_device() {
    try {
        return Device::create({.validation = true});
    } catch (const Error&) {
        return Device::create();
    }
}

// Its destructor leaves work of services under way.
class UsedObject {
 public:
    static constexpr std::array<const char*, 5> KINDS{"device", "tiler", "mipmapper", "service",
                                                      "c_service"};

    explicit UsedObject(const std::string& kind) {
        if (kind == "c_service") {
            check(quadtile_service_create(nullptr, &c_service));
            const quadtile_request request = c_request();
            for (quadtile_ticket*& ticket : tickets) {
                check(quadtile_service_submit(c_service, &request, &ticket));
            }
            check(quadtile_ticket_wait(tickets[0], 60'000));
            return;
        }
        device.emplace(make_device());
        if (kind == "tiler") {
            tiler.emplace(*device);
        } else if (kind == "mipmapper") {
            mipmapper.emplace(*device, DownsamplerOptions{.source_format = TexelFormat::r32_float,
                                                          .format = TexelFormat::r32_float});
        } else if (kind == "service") {
            service.emplace(*device, ServiceOptions{});
        }
        use();
    }
    UsedObject(const UsedObject&) = delete;
    UsedObject& operator=(const UsedObject&) = delete;
    ~UsedObject() {
        for (quadtile_ticket* ticket : tickets) {
            quadtile_ticket_free(ticket);
        }
        quadtile_service_destroy(c_service);
    }

    void use() {
        if (tiler) {
            (void)tiler->subdivide(MAP, Threshold::constant(0.1F));
        } else if (mipmapper) {
            (void)mipmapper->make({TEXELS.data(), {64, 64, 1, TexelFormat::r32_float}});
        } else if (service) {
            const SubdivisionRequest request{.map = MAP, .threshold = Threshold::constant(0.1F)};
            (void)service->submit(request).result.get();
            for (int i = 0; i < 20; ++i) {
                (void)service->submit(request);
            }
        } else if (c_service != nullptr) {
            quadtile_ticket* ticket = nullptr;
            const quadtile_request request = c_request();
            check(quadtile_service_submit(c_service, &request, &ticket));
            quadtile_ticket_free(ticket);
        } else {
            (void)Pyramid(*device);
        }
    }

    // Waits for the work of services.
    void finish() {
        while (service && service->statistics().succeeded < service->statistics().submitted) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::optional<Device> device;
    std::optional<Tiler> tiler;
    std::optional<Mipmapper> mipmapper;
    std::optional<Service> service;
    quadtile_service* c_service = nullptr;
    std::array<quadtile_ticket*, 20> tickets{};
};

}  // namespace quadtile::test
