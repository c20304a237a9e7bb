// Sights of probes on a Vulkan device.

#pragma once

#include "gpu.hpp"
#include "parallel.hpp"
#include "tracer.hpp"

namespace quadtile::baker {

class GpuProbes {
 public:
    // Storage buffers with the scene's triangles and covered texels must outlive this object.
    GpuProbes(app::Gpu& gpu, const TracedScene& scene, vk::Buffer triangles,
              vk::Buffer covered_words, double submission_seconds);

    // Does the work of Tracer::see.
    [[nodiscard]] std::vector<ProbeSight> see(std::span<const ProjectionFrame> frames,
                                              std::span<const glm::vec4> points);

 private:
    app::Gpu& gpu_;
    vk::Buffer triangles_;
    vk::Buffer covered_words_;
    app::Buffer boxes_;
    app::Buffer sights_;
    app::ProgramInterface interface_;
    vk::UniquePipeline probe_;
    ProbeParameters parameters_{};
    SubmissionSize submission_size_;
};

}  // namespace quadtile::baker
