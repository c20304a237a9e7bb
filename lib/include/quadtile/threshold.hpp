/// \file
/// When a node of the quadtree is fine enough: its importance is below its threshold.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>
#include <quadtile/node_thresholds.hpp>
#include <quadtile/threshold_function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile {

/// What a Threshold comes to on one map: a number for each node, scaled, -0 and denormals given as
/// 0. Copyable; shares the NodeThresholds with the Threshold.
class QUADTILE_API ResolvedThreshold {
 public:
    /// Of a node inside the map.
    [[nodiscard]] float at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t layer) const;

 private:
    friend class Threshold;
    std::vector<float> levels_;                    // where it is by level
    std::shared_ptr<const NodeThresholds> nodes_;  // where it is by node
    std::vector<std::uint32_t> factors_;           // for nodes_
};

/// A threshold for each level of the quadtree, or for each node. Cheap to copy, without any tie to
/// a device.
///
/// It is *monotone* where "a node is split" implies "all its ancestors are split". Maxima grow
/// upwards, so that holds wherever the threshold does not grow from a node to its parent: constant,
/// max_resolution and memory always, per_level where its values do not increase, map where no
/// node's is larger than those of its children, bound_monotone_map by the caller's word.
class QUADTILE_API Threshold {
 public:
    /// The same threshold at every level.
    /// Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold constant(float value);

    /// values[l] at level l; a map needs exactly top_level + 1 values, which is checked when the
    /// threshold meets the map. Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold per_level(std::vector<float> values);

    /// pixels / 2^l at level l. The importance is then the linear resolution needed per texel of
    /// the map: a tile of level l needs importance * 2^l pixels on a side, and no tile but a
    /// clamped one needs `pixels` or more. Throws Error(invalid_argument) for NaN and negative
    /// values.
    [[nodiscard]] static Threshold max_resolution(float pixels);

    /// The thresholds of the nodes one by one. They are copied once, not with the Threshold; that
    /// they are of the map's size is checked when the threshold meets the map.
    /// Throws Error(invalid_argument), which names the node, for NaN and negative values.
    [[nodiscard]] static Threshold map(NodeThresholds nodes);

    /// For tiles that are rendered into per-pixel linked lists, of importance as in max_resolution:
    /// at level l
    ///
    ///     min(max_resolution, sqrt(nodes / mean)) / 2^l,
    ///
    /// so that beside what max_resolution promises no tile but a clamped one needs `nodes` or more
    /// list nodes, where they lie as `fragments` predicts: the number of fragments in a pixel of
    /// each texel. `mean` is their sum over the node's texels, divided by 4^l: the tile's image
    /// covers the node's whole square, also where the edge of the map cuts it. Where there are no
    /// fragments the threshold is max_resolution / 2^l.
    ///
    /// `fragments` has the size and layers of the map, and any format of maps; it is read here and
    /// not kept. The sums are of 64-bit floats, so those of whole numbers are exact.
    ///
    /// Throws Error(invalid_argument) for NaN and negative arguments, for a bad shape or null
    /// texels, and for fragments that are negative, infinite or NaN, naming the texel.
    [[nodiscard]] static Threshold memory(float max_resolution, float nodes,
                                          const MapView& fragments);

    /// Whatever is in the buffer of thresholds that was bound with the map (Subdivider::Resources)
    /// when the commands execute: for thresholds that were made on the GPU. Nobody checks them; NaN
    /// counts as +infinity there, -0 and denormals as 0. For Subdivider alone, with the strategies
    /// that need no monotone thresholds.
    [[nodiscard]] static Threshold bound_map();

    /// The same where the caller sees to it that no node's threshold is larger than those of its
    /// children: for all strategies of Subdivider, budgets and updates. Where that does not hold,
    /// the list is wrong.
    [[nodiscard]] static Threshold bound_monotone_map();

    /// Whatever a function of the user's gives each node on the GPU, by the strategy subtree.
    /// `parameters` are what threshold_parameter(i) is there; they may change from run
    /// to run at no cost. Nobody knows whether it is monotone. Throws Error(invalid_argument) for
    /// more than max_function_parameters.
    [[nodiscard]] static Threshold function(ThresholdFunction function,
                                            std::vector<float> parameters = {});
    static constexpr std::size_t max_function_parameters = 16;  ///< of Threshold::function

    /// This threshold with that of each level or node times `factor`, rounded to the nearest float:
    /// what a budget of tiles compares with (quadtile/budget.h). With the threshold_factor of a
    /// list it gives that list again. Scaling what has been scaled rounds once more.
    /// Throws Error(invalid_argument) for all but the factors of budgets, budget_factor(i), and for
    /// bound_map and function.
    [[nodiscard]] Threshold scaled(float factor) const;

    /// Whether nodes of one level have thresholds of their own: map, memory, bound_map and
    /// function.
    [[nodiscard]] bool is_by_node() const noexcept;

    /// Whether they are read from a buffer (Subdivider::Resources): map, memory and bound_map.
    [[nodiscard]] bool needs_threshold_map() const noexcept;

    /// Null for all but Threshold::function.
    [[nodiscard]] const ThresholdFunction* user_function() const noexcept;
    /// Those of Threshold::function; empty for all others.
    [[nodiscard]] const std::vector<float>& function_parameters() const noexcept;

    /// Throws Error(invalid_argument) where it does not fit maps of this shape: per_level has
    /// another number of values, map or memory another size or number of layers.
    void check_fits(const MapShape& shape) const;

    /// The thresholds of the levels 0 to `top`, -0 and denormals (below 2^-126) given as 0.
    /// Throws Error(invalid_argument) when per_level has another number of values, and where the
    /// threshold is by node.
    [[nodiscard]] std::vector<float> levels(std::uint32_t top) const;

    /// The thresholds of all nodes of maps of this shape.
    /// Throws Error(invalid_argument) as check_fits does, and for bound_map and function, which the
    /// host does not know.
    [[nodiscard]] ResolvedThreshold resolve(const MapShape& shape) const;

    /// Whether no level's threshold is larger than that of the level below, and no node's larger
    /// than that of a child. All nodes are looked at, and `top` must be that of their map. Of
    /// bound_map and function nothing is known, so they are not.
    /// Throws Error(invalid_argument) where it does not fit so many levels.
    [[nodiscard]] bool is_monotone(std::uint32_t top) const;

    /// Throws Error(invalid_argument), which names the levels or the nodes, where it is not
    /// monotone, and as is_monotone does.
    void check_monotone(std::uint32_t top) const;

 private:
    enum class Kind { constant, per_level, max_resolution, map, bound_map, function };
    Threshold(Kind kind, std::vector<float> values);

    [[nodiscard]] std::vector<float> given_levels(std::uint32_t top) const;
    // Where it is not monotone, as a clause; empty where it is.
    [[nodiscard]] std::string growth(std::uint32_t top) const;
    [[nodiscard]] std::string growth_of_nodes(std::uint32_t top) const;

    // Where the host does not know it: why, as a clause.
    [[nodiscard]] std::string why_unknown() const;
    [[nodiscard]] bool is_known() const;  // to the host

    Kind kind_;
    std::vector<float> values_;                    // by level; the parameters of a function
    std::shared_ptr<const NodeThresholds> nodes_;  // of map and memory
    std::vector<std::uint32_t> factors_;           // their indices, one after the other
    std::optional<ThresholdFunction> function_;
    bool is_promised_monotone_ = false;  // of bound_monotone_map
};

/// Bytes of the buffer of thresholds that Subdivider reads where they are by node
/// (Subdivider::Resources): those of level 0, layer by layer and row by row, then the other levels
/// placed as in the pyramid. threshold_map_index in quadtile/quadtree.h gives each node's place.
[[nodiscard]] QUADTILE_API std::uint64_t threshold_map_size_bytes(const MapShape& shape) noexcept;

/// The contents of that buffer for a threshold, by node or by level.
/// Throws Error(invalid_argument) as Threshold::resolve does.
[[nodiscard]] QUADTILE_API std::vector<float> threshold_map_contents(const Threshold& threshold,
                                                                     const MapShape& shape);

}  // namespace quadtile
