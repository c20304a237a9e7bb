#include "rays.hpp"

#include "parallel.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::shadow {

namespace {

glm::vec3 vector_of(const float (&v)[3]) {
    return {v[0], v[1], v[2]};
}

struct Context {
    RTCIntersectContext embree = baker::EmbreeRays::plain_context();
    const Geometry* geometry = nullptr;
};

// Refuses hits in holes.
void leave_out(const RTCFilterFunctionNArguments* arguments) {
    const Geometry& geometry = *reinterpret_cast<const Context*>(arguments->context)->geometry;
    const auto& hit = *reinterpret_cast<const RTCHit*>(arguments->hit);
    const std::uint32_t* const corners = &geometry.indices[std::size_t{3} * hit.primID];
    if (corners[0] >= geometry.mask_vertices.size()) {
        return;
    }
    const auto corner = [&](std::size_t i) {
        const auto& at = geometry.mask_vertices[corners[i]].coordinates;
        return glm::vec2(at[0], at[1]);
    };
    const glm::vec2 place =
        (1.0F - hit.u - hit.v) * corner(0) + hit.u * corner(1) + hit.v * corner(2);
    const Mask& mask = geometry.masks[geometry.mask_vertices[corners[0]].mask];
    const std::uint32_t bit = mask_bit(mask, place.x, place.y);
    if ((geometry.mask_bits[bit / 32] >> (bit % 32) & 1U) == 0) {
        arguments->valid[0] = 0;
    }
}

}  // namespace

Rays::Rays(const Geometry& geometry)
    : geometry_(&geometry),
      rays_(
          geometry.vertices.size(), [&](std::size_t i) { return geometry.vertices[i].position; },
          geometry.indices.size() / 3,
          [&](std::size_t i) {
              const std::uint32_t* const first = &geometry.indices[3 * i];
              return std::array{first[0], first[1], first[2]};
          }) {
    for (const Vertex& vertex : geometry.vertices) {
        const glm::vec3 size = glm::abs(vertex.position);
        largest_coordinate_ = std::max({largest_coordinate_, size.x, size.y, size.z});
    }
}

std::vector<Rays::Truth> Rays::truths(std::span<const Receiver> receivers,
                                      std::span<const Light> lights, const Camera& camera,
                                      std::uint32_t height) const {
    constexpr float ENDLESS = std::numeric_limits<float>::infinity();
    std::vector<Truth> truths(receivers.size());
    const std::size_t width = receivers.size() / height;
    baker::parallel_for(height, 0, [&](std::size_t row) {
        Context context{.geometry = geometry_};
        context.embree.filter = leave_out;
        for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
            const glm::vec3 position = vector_of(receivers[i].position);
            const glm::vec3 up = above(receivers[i], camera, height);
            for (std::uint32_t l = 0; l < lights.size(); ++l) {
                if ((receivers[i].faces >> l & 1U) == 0) {
                    continue;
                }
                const bool is_sun = lights[l].kind == Light::Kind::sun;
                const auto is_reached = [&](const glm::vec3& from) {
                    const glm::vec3 way =
                        is_sun ? -glm::normalize(lights[l].direction) : lights[l].position - from;
                    return rays_.is_free(from, way, is_sun ? ENDLESS : 1.0F, context.embree);
                };
                const bool is_lit = is_reached(position + up);
                truths[i].reached |= is_lit ? 1U << l : 0;
                truths[i].undecided |=
                    is_reached(position + UNDECIDED_RATIO * up) != is_lit ? 1U << l : 0;
            }
        }
    });
    return truths;
}

glm::vec3 Rays::above(const Receiver& receiver, const Camera& camera, std::uint32_t height) const {
    const float distance = glm::distance(vector_of(receiver.position), camera.position);
    const float pixel = 2.0F * std::tan(glm::radians(camera.vertical_field_degrees) / 2.0F) /
                        static_cast<float>(height);  // at distance 1
    const float units =
        std::ldexp(largest_coordinate_, -18) + distance * (pixel / 128.0F + std::ldexp(1.0F, -18));
    return units * vector_of(receiver.normal);
}

}  // namespace quadtile::shadow
