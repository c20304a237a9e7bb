// Light of lamps on a Vulkan device.

#pragma once

#include "gpu.hpp"
#include "tracer.hpp"

#include <array>
#include <span>

namespace quadtile::baker {

// A pass of lamps.
class GpuLamps {
 public:
    // Does the work of Tracer::begin_lamps. `of_scene`: storage buffers with sums of the pass,
    // covered texels and outgoing radiance, which must outlive this object.
    GpuLamps(app::Gpu& gpu, const std::array<vk::Buffer, 3>& of_scene, const SurfaceMap& surface,
             std::span<const LampTriangle> triangles, LampSums& sums);

    // Do the work of Tracer::add_lamp and Tracer::read_lamps.
    void add(const LampParameters& parameters);
    void read();

 private:
    app::Gpu& gpu_;
    LampSums& sums_;
    app::Buffer triangles_;
    app::Buffer patches_;
    app::Buffer normals_;
    std::array<app::Buffer, std::tuple_size_v<LampSums>> device_sums_;
    app::ProgramInterface interface_;
    vk::UniquePipeline lamps_;
};

}  // namespace quadtile::baker
