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

}  // namespace

Rays::Rays(const Geometry& geometry)
    : rays_(
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

std::vector<std::uint32_t> Rays::reached(std::span<const Receiver> receivers,
                                         std::span<const Light> lights, const Camera& camera,
                                         std::uint32_t height) const {
    constexpr float ENDLESS = std::numeric_limits<float>::infinity();
    std::vector<std::uint32_t> words(receivers.size());
    const std::size_t width = receivers.size() / height;
    baker::parallel_for(height, 0, [&](std::size_t row) {
        for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
            const glm::vec3 from = origin(receivers[i], camera, height);
            for (std::uint32_t l = 0; l < lights.size(); ++l) {
                const bool is_sun = lights[l].kind == Light::Kind::sun;
                const glm::vec3 way =
                    is_sun ? -glm::normalize(lights[l].direction) : lights[l].position - from;
                if ((receivers[i].faces >> l & 1U) != 0 &&
                    rays_.is_free(from, way, is_sun ? ENDLESS : 1.0F)) {
                    words[i] |= 1U << l;
                }
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
    const float above =
        std::ldexp(largest_coordinate_, -18) + distance * (pixel / 128.0F + std::ldexp(1.0F, -18));
    return position + above * vector_of(receiver.normal);
}

}  // namespace quadtile::shadow
