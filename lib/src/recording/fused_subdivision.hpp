// Host side of kernels/fused_*.comp and kernels/balance_*.comp: pipelines, scratch, and the
// recording of the passes.

#pragma once

#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/image.hpp>
#include <quadtile/tiles.hpp>

#include "device/compute_program.hpp"

#include <string>
#include <vector>

namespace quadtile::detail {

class FusedSubdivision {
 public:
    // `program` must outlive this object.
    explicit FusedSubdivision(const ComputeProgram& program) : program_(program) {}

    // Compiles the pipeline of any order for R32F maps, so that errors show early.
    void prepare() const;

    [[nodiscard]] static vk::DeviceSize scratch_size_bytes(const MapShape& shape);
    // Returns the additional bytes for balanced lists.
    [[nodiscard]] static vk::DeviceSize balance_size_bytes(const MapShape& shape);

    // A map with the options of its subdivision.
    struct Run {
        MapShape shape;
        std::uint32_t tile_capacity;
        std::vector<float> thresholds{};  // of all levels, monotone
        SubdivideOptions options{};
        // Whether the bound thresholds of the layers replace `thresholds`.
        bool layer_thresholds = false;
        bool node_thresholds = false;
    };

    // Records one dispatch, and one more each for canonical order, a budget and a balance; without
    // Features::hand_over more. Compiles
    // pipelines at their first use. Thread-safe.
    void record(vk::CommandBuffer commands, vk::DescriptorSet descriptors, const Run& run) const;

 private:
    // A kernel of kernels.cmake with its specialization constants.
    struct Pass {
        std::string kernel;
        Specialization constants;
    };

    [[nodiscard]] Pass pass_of(const Run& run, const std::string& kernel, bool with_budget,
                               std::uint32_t stage = STAGE_ANY) const;
    [[nodiscard]] bool uses_subgroups() const {
        return program_.context().info.features.subgroup_operations;
    }
    void bind(vk::CommandBuffer commands, const Pass& pass) const;
    // Records a pass from the texels up to the root. `by_steps`: a dispatch for each hand-over.
    void record_blocks(vk::CommandBuffer commands, Pass pass, FusedParameters parameters,
                       bool by_steps) const;
    // Records a pass of workgroups that take several blocks each, after other passes.
    void record_shares(vk::CommandBuffer commands, Pass pass, const MapShape& shape) const;

    const ComputeProgram& program_;
};

}  // namespace quadtile::detail
