// kernels/fused.comp on the host: its pipelines, its scratch, and the recording of its passes.

#pragma once

#include <quadtile/map.hpp>
#include <quadtile/tiles.hpp>

#include "compute_program.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace quadtile::detail {

// The pipelines for maps of one format and lists in one chunk, or in several.
struct FusedPipelines {
    vk::Pipeline all;
    vk::Pipeline count;
    vk::Pipeline emit;
};

class FusedSubdivision {
 public:
    // `program` outlives it.
    explicit FusedSubdivision(const ComputeProgram& program) : program_(program) {}

    [[nodiscard]] static vk::DeviceSize scratch_size_bytes(const MapShape& shape);

    // Compiles them when they are first needed. Thread-safe.
    [[nodiscard]] FusedPipelines pipelines(TexelFormat format, std::uint32_t tile_capacity) const;

    // One dispatch, in canonical order two. The thresholds must be monotone.
    void record(vk::CommandBuffer commands, const MapShape& shape, const FusedPipelines& pipelines,
                vk::DescriptorSet descriptors, std::uint32_t tile_capacity,
                const std::vector<float>& thresholds, Order order) const;

 private:
    const ComputeProgram& program_;
    mutable std::mutex mutex_;  // of the pipelines
    // By pass, encoding, and whether the list is in one chunk.
    mutable std::map<std::tuple<Kernel, std::uint32_t, bool>, Unique<vk::Pipeline>> pipelines_;
};

}  // namespace quadtile::detail
