#include "rays.hpp"

#include <embree3/rtcore.h>

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace quadtile::shadow {

namespace {

struct Release {
    void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
    void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};

glm::vec3 vector_of(const float (&v)[3]) {
    return {v[0], v[1], v[2]};
}

// Calls `act` with all numbers below `count`, on all processors.
void in_parallel(std::size_t count, const auto& act) {
    constexpr std::size_t BLOCK = 1024;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t first = next.fetch_add(BLOCK); first < count;
             first = next.fetch_add(BLOCK)) {
            for (std::size_t i = first; i < std::min(first + BLOCK, count); ++i) {
                act(i);
            }
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned int i = 1; i < std::thread::hardware_concurrency(); ++i) {
        threads.emplace_back(work);
    }
    work();
}

}  // namespace

struct Rays::Impl {
    std::unique_ptr<std::remove_pointer_t<RTCDevice>, Release> device{rtcNewDevice(nullptr)};
    std::unique_ptr<std::remove_pointer_t<RTCScene>, Release> scene;
    float largest_coordinate = 0.0F;
};

Rays::Rays(const Geometry& geometry) : impl_(std::make_unique<Impl>()) {
    if (impl_->device == nullptr) {
        throw std::runtime_error("Embree gives no device: error " +
                                 std::to_string(rtcGetDeviceError(nullptr)));
    }
    set_geometry(geometry);
}

Rays::~Rays() = default;

void Rays::set_geometry(const Geometry& geometry) {
    const RTCDevice device = impl_->device.get();
    impl_->scene.reset(rtcNewScene(device));
    rtcSetSceneFlags(impl_->scene.get(), RTC_SCENE_FLAG_ROBUST);
    const RTCGeometry triangles = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* const positions = static_cast<glm::vec3*>(
        rtcSetNewGeometryBuffer(triangles, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                sizeof(glm::vec3), geometry.vertices.size()));
    auto* const indices = static_cast<std::uint32_t*>(
        rtcSetNewGeometryBuffer(triangles, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                3 * sizeof(std::uint32_t), geometry.indices.size() / 3));
    if (positions != nullptr && indices != nullptr) {
        std::ranges::transform(geometry.vertices, positions, &Vertex::position);
        std::ranges::copy(geometry.indices, indices);
    }
    rtcCommitGeometry(triangles);
    rtcAttachGeometry(impl_->scene.get(), triangles);
    rtcReleaseGeometry(triangles);
    rtcCommitScene(impl_->scene.get());
    if (const RTCError error = rtcGetDeviceError(device); error != RTC_ERROR_NONE) {
        throw std::runtime_error("Embree cannot build its structure: error " +
                                 std::to_string(error));
    }
    impl_->largest_coordinate = 0.0F;
    for (const Vertex& vertex : geometry.vertices) {
        const glm::vec3 size = glm::abs(vertex.position);
        impl_->largest_coordinate = std::max({impl_->largest_coordinate, size.x, size.y, size.z});
    }
}

std::vector<std::uint32_t> Rays::reached(std::span<const Receiver> receivers,
                                         std::span<const Light> lights, const Camera& camera,
                                         std::uint32_t height) const {
    std::vector<std::uint32_t> words(receivers.size());
    in_parallel(receivers.size(), [&](std::size_t i) {
        const glm::vec3 from = origin(receivers[i], camera, height);
        for (std::uint32_t l = 0; l < lights.size(); ++l) {
            const bool is_sun = lights[l].kind == Light::Kind::sun;
            const glm::vec3 way =
                is_sun ? -glm::normalize(lights[l].direction) : lights[l].position - from;
            if ((receivers[i].word >> (16 + l) & 1U) != 0 && is_free(from, way, is_sun)) {
                words[i] |= 1U << l;
            }
        }
    });
    return words;
}

glm::vec3 Rays::origin(const Receiver& receiver, const Camera& camera, std::uint32_t height) const {
    const glm::vec3 position = vector_of(receiver.position);
    const float distance = glm::distance(position, camera.position);
    const float pixel = 2.0F * std::tan(glm::radians(camera.vertical_field_degrees) / 2.0F) /
                        static_cast<float>(height);  // at distance 1
    const float above = std::ldexp(impl_->largest_coordinate, -18) +
                        distance * (pixel / 128.0F + std::ldexp(1.0F, -18));
    return position + above * vector_of(receiver.normal);
}

bool Rays::is_free(const glm::vec3& origin, const glm::vec3& way, bool is_endless) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRay ray{.org_x = origin.x,
               .org_y = origin.y,
               .org_z = origin.z,
               .tnear = 0.0F,
               .dir_x = way.x,
               .dir_y = way.y,
               .dir_z = way.z,
               .time = 0.0F,
               .tfar = is_endless ? std::numeric_limits<float>::infinity() : 1.0F,
               .mask = ~0U,
               .id = 0,
               .flags = 0};
    rtcOccluded1(impl_->scene.get(), &context, &ray);
    return ray.tfar >= 0.0F;
}

}  // namespace quadtile::shadow
