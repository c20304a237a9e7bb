#include "gpu_probes.hpp"

#include "quadtile_baker_gpu_shaders.hpp"

#include <algorithm>
#include <stdexcept>

namespace quadtile::baker {

namespace {

using Usage = vk::BufferUsageFlagBits;

constexpr double FIRST_RAYS = 4096.0;        // per submission, until the speed is known
constexpr std::uint32_t MOST_STEPS = 60000;  // for drivers that end all loops after 65,535
constexpr vk::DeviceSize SIGHTS_BYTES = MOST_PROBES * sizeof(ProbeSight);

// Appends the tree over the triangles from `first` to before `end`, which are neighbours in space.
Box<glm::vec3> add_boxes(const std::vector<TracedTriangle>& triangles, std::size_t first,
                         std::size_t end, std::vector<TriangleBox>& boxes) {
    const std::size_t place = boxes.size();
    boxes.emplace_back();
    Box<glm::vec3> box;
    const bool is_leaf = end - first <= BOX_TRIANGLES;
    if (is_leaf) {
        for (std::size_t i = 9 * first; i < 9 * end; i += 3) {
            const float* const corner = triangles[i / 9].positions + i % 9;
            box.include(glm::vec3(corner[0], corner[1], corner[2]));
        }
    } else {
        const std::size_t middle =
            first + ((end - first) / 2 + BOX_TRIANGLES - 1) / BOX_TRIANGLES * BOX_TRIANGLES;
        box.include(add_boxes(triangles, first, middle, boxes));
        box.include(add_boxes(triangles, middle, end, boxes));
    }
    boxes[place] = {.low = {box.low.x, box.low.y, box.low.z},
                    .high = {box.high.x, box.high.y, box.high.z},
                    .next = static_cast<std::uint32_t>(boxes.size()),
                    .first_triangle = is_leaf ? static_cast<std::uint32_t>(first) : NO_NODE};
    return box;
}

}  // namespace

GpuProbes::GpuProbes(app::Gpu& gpu, const TracedScene& scene, vk::Buffer triangles,
                     vk::Buffer covered_words, double submission_seconds)
    : gpu_(gpu),
      triangles_(triangles),
      covered_words_(covered_words),
      sights_(gpu.make_buffer(SIGHTS_BYTES, Usage::eStorageBuffer | Usage::eTransferSrc)),
      interface_(gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                                    std::vector(6, vk::DescriptorType::eStorageBuffer),
                                    sizeof(ProbeParameters))),
      probe_(gpu.make_compute_pipeline(*interface_.layout, app::PROBE_COMP)),
      submission_size_(FIRST_RAYS, submission_seconds) {
    std::vector<TriangleBox> boxes;
    add_boxes(scene.triangles, 0, scene.triangles.size(), boxes);
    boxes_ = gpu.upload(std::as_bytes(std::span(boxes)), Usage::eStorageBuffer);
    parameters_ = {.boxes = static_cast<std::uint32_t>(boxes.size()),
                   .triangles = static_cast<std::uint32_t>(scene.triangles.size()),
                   .most_steps = gpu.ends_long_loops() ? MOST_STEPS : NO_NODE,
                   .light_map_width = scene.texels.extent().width,
                   .light_map_height = scene.texels.extent().height,
                   .covered_texels = scene.texels.count()};
}

std::vector<ProbeSight> GpuProbes::see(std::span<const ProjectionFrame> frames,
                                       std::span<const glm::vec4> points) {
    const app::Buffer frames_here = gpu_.upload(std::as_bytes(frames), Usage::eStorageBuffer);
    const app::Buffer points_here = gpu_.upload(std::as_bytes(points), Usage::eStorageBuffer);
    interface_.write(0, std::array{triangles_, *boxes_.handle, *frames_here.handle,
                                   *points_here.handle, *sights_.handle, covered_words_});
    std::vector<ProbeSight> sights(frames.size() * points.size());
    parameters_.points = static_cast<std::uint32_t>(points.size());
    for (std::size_t done = 0; done < sights.size(); done = parameters_.end_ray) {
        const std::size_t rays = std::min<std::size_t>(
            sights.size() - done, static_cast<std::size_t>(submission_size_.most_work()));
        parameters_.first_ray = static_cast<std::uint32_t>(done);
        parameters_.end_ray = static_cast<std::uint32_t>(done + rays);
        const auto start = Clock::now();
        gpu_.run([&](vk::CommandBuffer commands) {
            interface_.bind(commands, *probe_, parameters_);
            commands.dispatch(static_cast<std::uint32_t>((rays + 63) / 64), 1, 1);
        });
        submission_size_.note(static_cast<double>(rays), seconds_since(start));
    }
    gpu_.download(*sights_.handle, 0, std::as_writable_bytes(std::span(sights)));
    if (std::ranges::count(sights, TOO_MANY_BOXES, &ProbeSight::ahead) > 0) {
        throw std::runtime_error(
            "a probe's ray meets more triangles than this driver's loops can count; choose another "
            "device with --device, or use --reference");
    }
    return sights;
}

}  // namespace quadtile::baker
