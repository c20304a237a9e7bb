#include "gpu_lamps.hpp"

#include "quadtile_baker_gpu_shaders.hpp"
#include "surface_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

using Usage = vk::BufferUsageFlagBits;

namespace {

std::span<const std::byte> addressable(const app::Gpu& gpu,
                                       std::span<const LampTriangle> triangles) {
    const std::uint64_t most = gpu.physical_device().getProperties().limits.maxStorageBufferRange;
    if (triangles.size_bytes() > most) {
        throw std::runtime_error("emitters of " + std::to_string(triangles.size()) +
                                 " triangles are too many for this device, which addresses " +
                                 std::to_string(most / sizeof(LampTriangle)) +
                                 "; simplify them, or use --reference");
    }
    return std::as_bytes(triangles);
}

}  // namespace

GpuLamps::GpuLamps(app::Gpu& gpu, const std::array<vk::Buffer, 3>& of_scene,
                   const SurfaceMap& surface, std::span<const LampTriangle> triangles,
                   LampSums& sums)
    : gpu_(gpu),
      sums_(sums),
      triangles_(gpu.upload(addressable(gpu, triangles), Usage::eStorageBuffer)),
      patches_(gpu.upload(std::as_bytes(std::span(surface.patches)), Usage::eStorageBuffer)),
      normals_(gpu.upload(std::as_bytes(std::span(surface.normal)), Usage::eStorageBuffer)),
      interface_(gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                                    std::vector(11, vk::DescriptorType::eStorageBuffer),
                                    sizeof(LampParameters))),
      lamps_(gpu.make_compute_pipeline(*interface_.layout, app::LAMPS_COMP)) {
    std::vector<vk::Buffer> buffers{*triangles_.handle};
    std::ranges::copy(of_scene, std::back_inserter(buffers));
    buffers.insert(buffers.end(), {*patches_.handle, *normals_.handle});
    for (std::size_t i = 0; i < sums.size(); ++i) {
        std::span<const std::byte> bytes = std::as_bytes(std::span(sums[i]));
        if (bytes.empty()) {  // a binding needs a buffer
            bytes = std::as_bytes(triangles);
        }
        device_sums_[i] = gpu.upload(bytes, Usage::eStorageBuffer | Usage::eTransferSrc);
        buffers.push_back(*device_sums_[i].handle);
    }
    interface_.write(0, buffers);
}

void GpuLamps::add(const LampParameters& parameters) {
    gpu_.run([&](vk::CommandBuffer commands) {
        interface_.bind(commands, *lamps_, parameters);
        commands.dispatch((parameters.light_map_width + 7) / 8,
                          (parameters.light_map_height + 7) / 8, 1);
        app::memory_barrier(commands);
    });
}

void GpuLamps::read() {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        gpu_.download(*device_sums_[i].handle, 0, std::as_writable_bytes(std::span(sums_[i])));
    }
}

}  // namespace quadtile::baker
