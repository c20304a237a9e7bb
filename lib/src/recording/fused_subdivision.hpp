// kernels/fused_*.comp and kernels/balance_*.comp on the host: their pipelines, their scratch, and
// the recording of the passes.

#pragma once

#include <quadtile/kernel_parameters.h>
#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include "device/compute_program.hpp"
#include "recording/dirty_regions.hpp"

#include <compare>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace quadtile::detail {

class FusedSubdivision {
 public:
    // `program` outlives it.
    explicit FusedSubdivision(const ComputeProgram& program) : program_(program) {}

    // Compiles the pipeline of any order for R32F maps, so that what cannot work fails.
    void prepare() const;

    [[nodiscard]] static vk::DeviceSize scratch_size_bytes(const MapShape& shape);
    // What balanced lists need beside it.
    [[nodiscard]] static vk::DeviceSize balance_size_bytes(const MapShape& shape);

    // What is subdivided, and how.
    struct Run {
        MapShape shape;
        std::uint32_t tile_capacity;
        std::vector<float> thresholds;  // of all levels, monotone
        SubdivideOptions options;
        // Those bound, instead of `thresholds`:
        bool layer_thresholds;
        bool node_thresholds;
        bool layer_lists;
        // With the pyramid bound instead of these two (DESCENT in fused.glsl): for balanced lists.
        bool descent;
    };

    // One dispatch; one more for canonical order, one more for a budget, one more for balance.
    // Compiles pipelines when they are first needed. Thread-safe.
    void record(vk::CommandBuffer commands, vk::DescriptorSet descriptors, const Run& run) const;

    // Counts only the blocks that rectangles touch, then writes the whole list in canonical order.
    // The scratch is as a run in canonical order without a budget has left it. Throws as
    // dirty_regions does.
    void record_update(vk::CommandBuffer commands, vk::DescriptorSet descriptors, const Run& run,
                       std::span<const DirtyRectangle> rectangles) const;

 private:
    struct PipelineKey {
        Kernel pass;
        std::uint32_t encoding;  // of the map
        bool tiles_in_one_chunk;
        bool with_budget;
        bool layer_thresholds;
        bool node_thresholds;
        bool layer_lists;
        std::uint32_t share_levels;
        bool pyramid_in_one_chunk;
        bool corners;
        std::uint32_t stage;  // of balance_tiles.comp

        auto operator<=>(const PipelineKey&) const = default;
    };

    [[nodiscard]] PipelineKey key_of(const Run& run) const;
    [[nodiscard]] vk::Pipeline pipeline(const PipelineKey& key) const;
    void bind(vk::CommandBuffer commands, vk::DescriptorSet descriptors) const;
    void bind(vk::CommandBuffer commands, const PipelineKey& key) const;
    void push(vk::CommandBuffer commands, const FusedParameters& parameters) const;
    void record_balanced(vk::CommandBuffer commands, const Run& run) const;
    void record_blocks(vk::CommandBuffer commands, const PipelineKey& key,
                       const MapShape& shape) const;
    // A pass behind others by workgroups that take several blocks each.
    void record_shares(vk::CommandBuffer commands, PipelineKey key, const MapShape& shape) const;

    const ComputeProgram& program_;
    mutable std::mutex mutex_;  // of the pipelines
    mutable std::map<PipelineKey, Unique<vk::Pipeline>> pipelines_;
};

}  // namespace quadtile::detail
