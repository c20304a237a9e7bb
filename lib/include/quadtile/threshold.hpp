/// \file
/// Thresholds: limits that a node's importance must stay below for the node to become a tile; by
/// level, by node, or by a function in the user's GLSL.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// Thresholds of all nodes of all layers, from level 0 (the texels) to the root; without Vulkan.
class QUADTILE_API NodeThresholds {
 public:
    /// Makes thresholds of 0 for maps of this size in texels. Throws Error(invalid_argument) for a
    /// size that no map has (check_shape).
    NodeThresholds(std::uint32_t width, std::uint32_t height, std::uint32_t layers = 1);

    /// Returns the width of the map in texels.
    [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
    /// Returns the height of the map in texels.
    [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
    /// Returns the number of layers.
    [[nodiscard]] std::uint32_t layers() const noexcept { return layers_; }
    /// Returns the level of the root.
    [[nodiscard]] std::uint32_t top() const noexcept { return top_level(width_, height_); }

    /// Returns the threshold of a node inside the map: x < level_extent(width(), level); y alike.
    [[nodiscard]] float& at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                            std::uint32_t layer = 0) {
        return values_[place(level, x, y, layer)];
    }
    /// Returns the threshold of a node inside the map.
    [[nodiscard]] float at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t layer = 0) const {
        return values_[place(level, x, y, layer)];
    }

 private:
    friend class Threshold;
    struct LevelPlace {     /// \cond
        std::size_t first;  // node of the first layer
        std::size_t layer_pitch;
        std::size_t row_pitch;
    };  /// \endcond

    [[nodiscard]] std::size_t place(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                    std::uint32_t layer) const noexcept {
        const LevelPlace& nodes = places_[level];
        return nodes.first + layer * nodes.layer_pitch + y * nodes.row_pitch + x;
    }

    std::uint32_t width_;
    std::uint32_t height_;
    std::uint32_t layers_;
    std::vector<LevelPlace> places_;
    std::vector<float> values_;  // as kernels read them: threshold_map_index in quadtree.h
};

namespace detail {
class TileEngine;
}

/// The values of a Threshold on one map: a number for each node, scaled, with -0 and denormals as
/// 0. Copyable; shares the NodeThresholds with the Threshold.
class QUADTILE_API ResolvedThreshold {
 public:
    /// Returns the threshold of a node inside the map.
    [[nodiscard]] float at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t layer) const;

 private:
    friend class Threshold;
    std::vector<float> levels_;                    // of one that is set per level
    std::shared_ptr<const NodeThresholds> nodes_;  // of one that is set per node
    std::vector<std::uint32_t> factors_;           // for nodes_
};

/// A threshold for each level of the quadtree, or for each node. Cheap to copy, independent of
/// devices.
///
/// A threshold is *monotone* if no node has a greater one than its children have. Then all
/// ancestors of a split node are split, because maxima grow upwards. constant, max_resolution and
/// memory are monotone, per_level and map if their values are, bound_monotone_map by the caller's
/// promise. bound_map and function count as not monotone.
class QUADTILE_API Threshold {
 public:
    /// Makes one threshold for all levels. Throws Error(invalid_argument) for NaN, negative values.
    [[nodiscard]] static Threshold constant(float value);

    /// Makes a threshold of values[l] at level l. A map needs exactly top_level + 1 values, which
    /// is checked when the threshold is used with the map. Throws Error(invalid_argument) for NaN
    /// and negative values.
    [[nodiscard]] static Threshold per_level(std::vector<float> values);

    /// Makes the threshold pixels / 2^l at level l. The importance is then the resolution, in
    /// pixels per texel of the map, that the texel needs along each axis. So a tile of level l
    /// needs importance * 2^l pixels on a side, and no tile except a clamped one needs `pixels` or
    /// more. Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold max_resolution(float pixels);

    /// Makes a threshold of one value per node. Copies of the threshold share the nodes. Their size
    /// is checked when the threshold is used with a map. Throws Error(invalid_argument), which
    /// names the node, for NaN and negative values.
    [[nodiscard]] static Threshold map(NodeThresholds nodes);

    /// Makes a threshold for tiles that are rendered into per-pixel linked lists. The importance is
    /// that of max_resolution. The threshold at level l is
    ///
    ///     min(max_resolution, sqrt(nodes / mean)) / 2^l.
    ///
    /// Beside the promise of max_resolution, no tile except a clamped one needs `nodes` or more
    /// list nodes, if the fragments lie as `fragments` predicts: its values are the number of
    /// fragments in a pixel of each texel. `mean` is their sum over the node's texels, divided by
    /// 4^l: the tile's image covers the node's whole square, also if the edge of the map cuts it. A
    /// node without fragments has the threshold max_resolution / 2^l.
    ///
    /// `fragments` has the size and the layers of the map, and any format of maps. Texels of
    /// unorm formats are counts too: 3 is 3 fragments. It is read during the call only. Sums are
    /// 64-bit floats, so those of whole numbers are exact.
    ///
    /// Throws Error(invalid_argument) for NaN and negative arguments, for a bad shape or null
    /// texels, and for fragments that are negative, infinite or NaN, naming the texel.
    [[nodiscard]] static Threshold memory(float max_resolution, float nodes,
                                          const MapView& fragments);

    /// Makes a threshold per node for values that the GPU computes: the contents of the buffer of
    /// thresholds (Subdivider::Resources) when the commands execute. quadtile does not check them:
    /// NaN counts as +infinity, -0 and denormals as 0. For Subdivider only, with the strategies
    /// that need no monotone thresholds.
    [[nodiscard]] static Threshold bound_map();

    /// Makes the same threshold with the caller's promise that it is monotone. It goes with all
    /// strategies and budgets of Subdivider. If the promise does not hold, the list is wrong.
    [[nodiscard]] static Threshold bound_monotone_map();

    /// Makes a threshold that a function in the user's GLSL computes for each node, by the strategy
    /// subtree. `parameters` are the values of threshold_parameter(i); they may change from run to
    /// run at no cost. The text is GLSL 4.60 that defines
    ///
    ///     float threshold(uint level, uvec2 position, uint layer)
    ///
    /// for a node inside the map. Position (0, 0) is the node at the map's upper left corner; level
    /// 0 is the texels. A kernel may call it several times for a node, in any order and from any
    /// thread, so it must return the same value each time. NaN counts as +infinity, -0 and
    /// denormals as 0; a node with a negative threshold is always split. The text may use
    ///
    ///     uvec2 map_extent()                      texels of the map
    ///     uint  map_layers()
    ///     float threshold_parameter(uint index)   a parameter, 0 if not given; the index is the
    ///                                             same in all threads
    ///     #include "quadtile/quadtree.h"          and the other installed shared headers
    ///
    /// The kernel's other names are not part of this interface. The text is compiled when it is
    /// used with a device. Then quadtile refuses resources of its own, types of other sizes than 32
    /// bits, and other features that not every Vulkan device has, with Error(invalid_argument);
    /// subgroup operations only if the device has them off (Features). A text may have 64 KiB. The
    /// compiler has no limit of time or memory, so compile only texts that you trust.
    ///
    /// Throws Error(invalid_argument) for an empty text and more than max_function_parameters.
    [[nodiscard]] static Threshold function(std::string glsl, std::vector<float> parameters = {});
    static constexpr std::size_t max_function_parameters = 16;  ///< of Threshold::function

    /// Returns this threshold with each value multiplied by `factor` and rounded to the nearest
    /// float, as a budget scales it (quadtile/budget.h). With the threshold_factor of a list it
    /// makes the same list again. Scaling twice rounds twice. Throws Error(invalid_argument) for
    /// factors other than those of budgets, budget_factor(i), and for bound_map and function.
    [[nodiscard]] Threshold scaled(float factor) const;

    /// Returns whether nodes of one level may differ: map, memory, bound_map and function.
    [[nodiscard]] bool is_by_node() const noexcept;

    /// Returns whether values come from a buffer (Subdivider::Resources): map, memory, bound_map.
    [[nodiscard]] bool needs_threshold_map() const noexcept;

    /// Returns the text of Threshold::function; null for all other thresholds.
    [[nodiscard]] const std::string* user_function() const noexcept;
    /// Returns the parameters of Threshold::function; empty for all other thresholds.
    [[nodiscard]] const std::vector<float>& function_parameters() const noexcept;

    /// Checks that the threshold fits maps of this shape. Throws Error(invalid_argument) if
    /// per_level has another number of values, or map or memory another size or number of layers.
    void check_fits(const MapShape& shape) const;

    /// Returns the thresholds of the levels 0 to `top`, with -0 and denormals (below 2^-126) as 0.
    /// Throws Error(invalid_argument) if per_level has another number of values, and for a
    /// threshold per node.
    [[nodiscard]] std::vector<float> levels(std::uint32_t top) const;

    /// Returns the thresholds of all nodes of maps of this shape. Throws Error(invalid_argument) as
    /// check_fits does, and for bound_map and function, whose values the host does not know.
    [[nodiscard]] ResolvedThreshold resolve(const MapShape& shape) const;

    /// Returns whether the threshold is monotone (before `scaled`). `top` must be the root's level.
    /// Throws Error(invalid_argument) if the threshold does not fit so many levels.
    [[nodiscard]] bool is_monotone(std::uint32_t top) const;

    /// Throws Error(invalid_argument), which names the levels or the nodes, if the threshold is not
    /// monotone, and as is_monotone does.
    void check_monotone(std::uint32_t top) const;

 private:
    enum class Kind { constant, per_level, max_resolution, map, bound_map, function };
    Threshold(Kind kind, std::vector<float> values);

    [[nodiscard]] std::vector<float> given_levels(std::uint32_t top) const;
    // Returns where the threshold is not monotone, as a clause; empty if it is monotone.
    [[nodiscard]] std::string growth(std::uint32_t top) const;
    // Copies a part of threshold_map_contents; for map and memory.
    void copy_nodes(std::size_t first, std::span<float> part) const;
    friend QUADTILE_API std::vector<float> threshold_map_contents(const Threshold& threshold,
                                                                  const MapShape& shape);
    friend class detail::TileEngine;

    // Returns why the host does not know the values, as a clause.
    [[nodiscard]] std::string why_unknown() const;
    [[nodiscard]] bool is_known() const;  // by the host

    Kind kind_;
    std::vector<float> values_;                    // per level, or the parameters of a function
    std::shared_ptr<const NodeThresholds> nodes_;  // of map and memory; -0 and denormals are 0
    std::string nodes_growth_;                     // `growth` of the nodes
    std::vector<std::uint32_t> factors_;  // indices of all factors, in order of application
    std::shared_ptr<const std::string> function_;
    bool is_promised_monotone_ = false;  // for bound_monotone_map
};

/// Returns the size of the buffer of thresholds per node that Subdivider reads
/// (Subdivider::Resources). threshold_map_index in quadtile/quadtree.h gives the place of each
/// node.
[[nodiscard]] QUADTILE_API std::uint64_t threshold_map_size_bytes(const MapShape& shape) noexcept;

/// Returns the contents of that buffer for a threshold per node or per level. Throws
/// Error(invalid_argument) as Threshold::resolve does.
[[nodiscard]] QUADTILE_API std::vector<float> threshold_map_contents(const Threshold& threshold,
                                                                     const MapShape& shape);

}  // namespace quadtile
