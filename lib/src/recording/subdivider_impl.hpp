// Parts of a Subdivider: subdivider.cpp checks and binds, subdivider_passes.cpp records the passes
// of `subtree`.

#pragma once

#include <quadtile/kernel_parameters.h>
#include <quadtile/subdivider.hpp>

#include "recording/fused_subdivision.hpp"

#include <array>
#include <string>
#include <vector>

namespace quadtile {

namespace detail {

// Levels of one dispatch: from nodes of `upper` down to nodes of `lower`.
struct Descent {
    std::uint32_t upper;
    std::uint32_t lower;
};

[[nodiscard]] std::vector<Descent> descents_of(const MapShape& shape, std::uint32_t subtree_levels);

constexpr vk::DeviceSize PLACEHOLDER_BYTES = 16;

// Returns the bytes of the node lists and counters of `subtree`.
[[nodiscard]] vk::DeviceSize subtree_scratch_size_bytes(const MapShape& shape,
                                                        std::uint32_t subtree_levels);

[[nodiscard]] std::uint64_t nodes_of_level(const MapShape& shape, std::uint32_t level);

// Returns the lengths of the two node lists that passes read and write in turn, enough for the
// levels listed in each: pass i writes list i % 2.
[[nodiscard]] std::array<std::uint64_t, 2> list_lengths(const MapShape& shape,
                                                        const std::vector<Descent>& descents);

}  // namespace detail

struct Subdivider::Impl {
    Impl(const Device& device, const SubdividerOptions& options);

    [[nodiscard]] bool is_fused() const noexcept { return strategy == Strategy::fused; }

    // Source of a kernel's thresholds.
    enum class ThresholdSource { levels, nodes, function };

    [[nodiscard]] static ThresholdSource source_of(const Threshold& threshold) {
        return threshold.user_function() != nullptr ? ThresholdSource::function
               : threshold.needs_threshold_map()    ? ThresholdSource::nodes
                                                    : ThresholdSource::levels;
    }

    // Returns the pipeline of the passes, compiled at its first use; not for `fused`. Thread-safe.
    [[nodiscard]] vk::Pipeline pipeline(ThresholdSource source) const;

    [[nodiscard]] vk::DeviceSize aligned(vk::DeviceSize bytes) const {
        const vk::DeviceSize alignment = detail::storage_alignment_bytes(program.context());
        return (bytes + alignment - 1) / alignment * alignment;
    }

    // Returns the bytes of the kernels' state in the scratch. Behind it are the bytes that unused
    // bindings point to (placeholder).
    [[nodiscard]] vk::DeviceSize state_bytes(const MapShape& shape) const {
        return is_fused() ? detail::FusedSubdivision::scratch_size_bytes(shape)
                          : detail::subtree_scratch_size_bytes(shape, subtree_levels);
    }

    // Returns a descriptor for buffers that a kernel could read but does not use. It lies apart
    // from all written memory, so that no dispatch seems to wait for another.
    [[nodiscard]] detail::Descriptor placeholder(const MapShape& shape,
                                                 const BufferRange& scratch) const {
        return detail::Descriptor::storage_buffer(
            {scratch.buffer, scratch.offset_bytes + placeholder_offset_bytes(shape)},
            detail::PLACEHOLDER_BYTES);
    }
    [[nodiscard]] vk::DeviceSize placeholder_offset_bytes(const MapShape& shape) const {
        return aligned(state_bytes(shape));
    }

    void check(const MapShape& shape, std::uint64_t tile_capacity) const;
    void check_threshold_map(const MapShape& shape) const;
    void check_threshold(const MapShape& shape, const Threshold& threshold) const;
    // Without a threshold: with those of the layers.
    void record(VkCommandBuffer commands, const Binding::Impl& bound, const Threshold* threshold,
                const SubdivideOptions& options) const;
    void record_passes(vk::CommandBuffer buffer, const Binding::Impl& bound,
                       const Threshold& threshold) const;
    [[nodiscard]] SubdivisionParameters parameters_of(const Binding::Impl& bound,
                                                      const Threshold& threshold) const;

    Strategy strategy;
    std::uint32_t subtree_levels;
    std::string threshold_function;  // GLSL; empty: none
    detail::ComputeProgram program;
    Unique<vk::Sampler> sampler;
    std::vector<std::uint32_t> function_code;  // subtree.comp with the threshold function
    detail::FusedSubdivision fused;            // for the strategy `fused`
};

struct Subdivider::Binding::Impl {
    MapShape shape;
    std::vector<detail::Descent> descents;
    std::uint32_t tile_capacity;
    BufferRange scratch;
    bool layer_thresholds;
    bool node_thresholds;
    bool balance;
    detail::DescriptorSet descriptors;
};

}  // namespace quadtile
