// Rays through triangles, by Embree 3, which the targets that include this link.

#pragma once

#include <embree3/rtcore.h>
#include <glm/vec3.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace quadtile::baker {

class EmbreeRays {
 public:
    static constexpr std::uint32_t NOTHING = RTC_INVALID_GEOMETRY_ID;

    // `position(i)`: the glm::vec3 of a vertex. `corners(i)`: the three vertices of a triangle.
    // `threads`: of the construction; 0: as many as processors. Throws std::bad_alloc without
    // enough memory, std::runtime_error for other errors of Embree.
    EmbreeRays(std::size_t vertices, const auto& position, std::size_t triangles,
               const auto& corners, std::uint32_t threads = 0)
        : device_(rtcNewDevice(("threads=" + std::to_string(threads)).c_str())) {
        check();
        scene_.reset(rtcNewScene(device_.get()));
        rtcSetSceneFlags(scene_.get(),
                         RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION);
        if (triangles > 0) {
            const Owned<RTCGeometry> geometry(
                rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE));
            fill(geometry.get(), RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, vertices, position);
            fill(geometry.get(), RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, triangles, corners);
            rtcCommitGeometry(geometry.get());
            rtcAttachGeometry(scene_.get(), geometry.get());
        }
        rtcCommitScene(scene_.get());
        check();
    }

    // Returns the ray, which ends at the nearest hit, and the hit: primID is the triangle, or
    // NOTHING.
    [[nodiscard]] RTCRayHit nearest(const glm::vec3& origin, const glm::vec3& way, float near,
                                    RTCIntersectContext& context) const {
        RTCRayHit found{.ray = make_ray(origin, way, near, ENDLESS),
                        .hit = {.primID = NOTHING, .geomID = NOTHING}};
        rtcIntersect1(scene_.get(), &context, &found);
        return found;
    }

    // Returns whether nothing is on the first `far` lengths of the way.
    [[nodiscard]] bool is_free(const glm::vec3& origin, const glm::vec3& way,
                               float far = ENDLESS) const {
        RTCIntersectContext context = plain_context();
        return is_free(origin, way, far, context);
    }
    [[nodiscard]] bool is_free(const glm::vec3& origin, const glm::vec3& way, float far,
                               RTCIntersectContext& context) const {
        RTCRay ray = make_ray(origin, way, 0.0F, far);
        rtcOccluded1(scene_.get(), &context, &ray);
        return ray.tfar >= 0.0F;
    }

    [[nodiscard]] static RTCIntersectContext plain_context() {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        return context;
    }

 private:
    static constexpr float ENDLESS = std::numeric_limits<float>::infinity();

    struct Release {
        void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
        void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
        void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
    };
    template <typename Handle>
    using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

    void check() const {
        const RTCError error = rtcGetDeviceError(device_.get());
        if (error == RTC_ERROR_OUT_OF_MEMORY) {
            throw std::bad_alloc();
        }
        if (error != RTC_ERROR_NONE) {
            throw std::runtime_error("Embree cannot be used: error " + std::to_string(error));
        }
    }

    static void fill(RTCGeometry geometry, RTCBufferType type, RTCFormat format, std::size_t count,
                     const auto& value) {
        using Value = std::decay_t<decltype(value(count))>;
        auto* const buffer = static_cast<Value*>(
            rtcSetNewGeometryBuffer(geometry, type, 0, format, sizeof(Value), count));
        if (buffer == nullptr) {
            throw std::bad_alloc();
        }
        for (std::size_t i = 0; i < count; ++i) {
            buffer[i] = value(i);
        }
    }

    static RTCRay make_ray(const glm::vec3& origin, const glm::vec3& way, float near, float far) {
        return {.org_x = origin.x,
                .org_y = origin.y,
                .org_z = origin.z,
                .tnear = near,
                .dir_x = way.x,
                .dir_y = way.y,
                .dir_z = way.z,
                .tfar = far,
                .mask = ~0U};
    }

    Owned<RTCDevice> device_;
    Owned<RTCScene> scene_;
};

}  // namespace quadtile::baker
