/// \file
/// Fitted virtual shadow maps: tiles as fine as the picture needs them, within a budget, stable
/// from frame to frame, computed on the GPU. A library of its own: quadtile::shadow.
///
/// The method is that of Giegl and Wimmer ("Fitted Virtual Shadow Maps", 2007), with the tile
/// hierarchy and all later steps on the GPU. docs/shadows_definition.md has the definitions.

#pragma once

#include <quadtile/export.h>
#include <quadtile/shadow.h>
#include <quadtile/device.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiles.hpp>

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace quadtile {

// ---- Description of a frame by the host

/// 4 x 4 matrix by column, as GLSL and GLM have it: element [4 * column + row].
using ShadowMatrix = std::array<float, 16>;

/// Axis-aligned box in the world.
struct ShadowBox {
    std::array<float, 3> low{};   ///< corner with the least coordinates
    std::array<float, 3> high{};  ///< opposite corner
};

/// Clip space of a light, of a face of a point light, or of a sun level. It sees depths from 0 to
/// 1, and x and y from -1 to 1.
struct ShadowProjection {
    /// Parallel or perspective; w is positive in front of it. Only zeros, the default: the layer is
    /// unused in this frame and has no tiles.
    ShadowMatrix clip_from_world{};
    /// Shadow texels per pixel along a side, 1/64 to 64: also the priority of this light if budgets
    /// are short.
    float weight = 1.0F;
    /// Number of projections, from this one on, that form one light: 1; SHADOW_FACES for the first
    /// face of a point light; up to SHADOW_MAX_LEVELS for the first and finest sun level; 0 for the
    /// others.
    std::uint32_t layers = 1;
    /// Greatest w, a distance along its axis, of pixels that the light reaches: `farthest` of spot
    /// and point lights. Pixels beyond request nothing. That of a light's first layer counts.
    float range = std::numeric_limits<float>::infinity();
};

/// Camera of a depth buffer.
struct ShadowView {
    /// Column 0 of the picture is at x = -1 and row 0 at y = -1, as in Vulkan. Any range and
    /// direction of depths.
    ShadowMatrix clip_from_world{};
    float background_depth = 0.0F;  ///< of pixels without a surface: 0 for reversed-Z, else 1
};

/// Returns the clip space of a sun around a box, which it extends by a sixty-fourth. `direction` is
/// the one in which the light goes, of any length.
///
/// The clip space is stable if the box moves or grows. Along each axis its extent depends on the
/// box's size only, and has 8 to 16 eighths of a power of two. It begins at a multiple of an eighth
/// of itself. If the box begins in another eighth across the light, the clip space moves by a step
/// and only what is new is drawn. If it does so along the light, or needs an eighth more or less,
/// all tiles are drawn again.
///
/// Throws Error(invalid_argument) for a direction of length 0, a box that is inside out, and
/// numbers that are not finite.
[[nodiscard]] QUADTILE_API ShadowProjection
directional_shadow_projection(const std::array<float, 3>& direction, const ShadowBox& box);

/// Returns the clip space of a spot light: a square pyramid of this full angle along `direction`,
/// from `nearest` to `farthest`.
[[nodiscard]] QUADTILE_API ShadowProjection
spot_shadow_projection(const std::array<float, 3>& position, const std::array<float, 3>& direction,
                       float angle_degrees, float nearest, float farthest);

/// Returns the clip spaces of a point light: the faces of a cube along x, -x, y, -y, z and -z, each
/// from `nearest` to `farthest` along its axis. They are six consecutive layers: `lights` counts
/// six, and elsewhere the first one stands for all. Throws Error(invalid_argument) as
/// spot_shadow_projection.
[[nodiscard]] QUADTILE_API std::array<ShadowProjection, SHADOW_FACES> point_shadow_projections(
    const std::array<float, 3>& position, float nearest, float farthest);

/// Returns the clip spaces of the sun levels of a large world: `levels` boxes around the camera at
/// `eye`. The first is `nearest_extent` wide across the light, and each next one is twice as wide.
/// Along the light all are as deep as the world. So texels near the camera are equally fine in a
/// world of any size. A box moves in steps of an eighth of its extent. Tiles that stay in it and
/// are at most as wide keep their slots and are not drawn again. All are drawn again if
/// `direction`, `world` or `nearest_extent` changes. Sun levels are consecutive layers: `lights`
/// counts each of them, and elsewhere the first one stands for all. Places outside the last one are
/// lit.
///
/// Throws Error(invalid_argument) as directional_shadow_projection, for an extent that is not above
/// 0, and if `levels` is not 1 to SHADOW_MAX_LEVELS.
[[nodiscard]] QUADTILE_API std::vector<ShadowProjection> directional_shadow_levels(
    const std::array<float, 3>& direction, const ShadowBox& world, const std::array<float, 3>& eye,
    float nearest_extent, std::uint32_t levels);

// ---- Options and frames

/// Sizes, budgets and quality of shadow maps.
struct ShadowOptions {
    /// Layers of the importance map, 1 to SHADOW_MAX_LIGHTS: one per light, six per point light,
    /// one per sun level. A frame may use fewer.
    std::uint32_t lights = 1;
    /// Texels on a side of each layer, a power of two, 16 to 2048. All layers together have 2^23
    /// texels at most.
    std::uint32_t map_extent = 1024;
    /// Texels on a side of the atlas, a power of two: tile_extent to 128 * tile_extent, at most
    /// 16384.
    std::uint32_t atlas_extent = 4096;
    /// Texels on a side of the largest slot, a power of two, 64 to 1024. The smallest has a
    /// sixteenth.
    std::uint32_t tile_extent = 128;
    /// Texels at each edge of a slot that show the surroundings of the tile: 1 to less than a
    /// thirty-secondth of tile_extent. The filter of shadow_lookup.glsl needs 2. With 1 only its
    /// nearest texel is right.
    std::uint32_t gutter = 2;
    std::uint32_t max_tiles = 2048;  ///< budget of tiles, K, of all lights: `lights` to 65535

    /// Compares member by member.
    friend bool operator==(const ShadowOptions&, const ShadowOptions&) = default;
};

/// Returns the options as the kernels read them. Throws Error(invalid_argument) that names a member
/// out of its range.
[[nodiscard]] QUADTILE_API ShadowParameters shadow_parameters(const ShadowOptions& options);

/// Returns a frame as the kernels read it. `lights` has one projection per layer, for the first
/// layers; the others are unused. `depth_extent` is that of the depth buffer in pixels. Throws
/// Error(invalid_argument) if there are more projections than layers, if a light's layers are
/// incomplete, if a weight is out of range, if the depth buffer is empty, and for matrices that are
/// not finite or cannot be inverted.
[[nodiscard]] QUADTILE_API ShadowFrame make_shadow_frame(const ShadowOptions& options,
                                                         const ShadowView& view,
                                                         VkExtent2D depth_extent,
                                                         std::span<const ShadowProjection> lights);

// ---- On the GPU

/// Finds the tiles of shadow maps and their slots in an atlas, frame after frame: from the camera's
/// depth buffer to tiles, crop matrices, page table and draws, without readback. Owns pipelines
/// only.
class QUADTILE_API ShadowFitter {
 public:
    /// Compiles the pipelines. Throws Error: invalid_argument as shadow_parameters; unsupported
    /// if the device lacks such images; out_of_memory, device_lost, vulkan.
    ShadowFitter(const Device& device, const ShadowOptions& options);

    /// Returns the options of the constructor.
    [[nodiscard]] const ShadowOptions& options() const noexcept;

    /// Sizes, alignment and usage of the caller's resources.
    struct Requirements {
        VkDeviceSize memory_size_bytes;  ///< of one range for all data
        VkDeviceSize alignment_bytes;    ///< of the range
        VkBufferUsageFlags usage;        ///< STORAGE | INDIRECT | TRANSFER_DST; others may be added
        /// R32_SFLOAT, `lights` layers; usages may be added. A map's columns and rows lie at
        /// shadow_importance_texel.
        VkImageCreateInfo importance;
        VkImageCreateInfo page_table;  ///< R32_UINT, `lights` layers; usages may be added

        // Offsets in the memory, for the caller's descriptors and commands.
        VkDeviceSize frame_offset_bytes;   ///< ShadowFrame of the last recording
        VkDeviceSize header_offset_bytes;  ///< ShadowHeader
        VkDeviceSize tiles_offset_bytes;   ///< ShadowTile[max_tiles], in canonical order
        /// uint[max_tiles]: indices of tiles to draw; first those to draw whole.
        VkDeviceSize render_offset_bytes;
    };
    /// Returns the requirements. They depend on the options only.
    [[nodiscard]] Requirements requirements() const;

    /// Resources, which the caller owns.
    struct Resources {
        BufferRange memory;                   ///< zeros at first; fill it with zeros to restart
        VkImage importance = VK_NULL_HANDLE;  ///< zeros like `memory`; always in layout GENERAL
        VkImage page_table = VK_NULL_HANDLE;  ///< always in layout GENERAL; contents are valid
                                              ///< after the first frame
        /// The camera's depth buffer: a 2D view of its depth aspect, or of a float colour format,
        /// of one sample, with usage SAMPLED.
        VkImageView depth = VK_NULL_HANDLE;
        VkImageLayout depth_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;  ///< while read
        /// The atlas as the last frame has left it: a 2D view of its depth aspect, or of
        /// R32_SFLOAT, with usage SAMPLED. Edges of shadows are found by looking up this frame's
        /// pixels in it. Its contents do not matter in the first frame.
        VkImageView atlas = VK_NULL_HANDLE;
        VkImageLayout atlas_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;  ///< while read
    };

    /// Views and descriptors of one set of resources; copies share them. Keep one until the
    /// commands recorded with it have executed, and destroy it before the resources.
    class Binding {
        friend class ShadowFitter;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Makes the views and writes the descriptors; the resources must exist.
    /// Throws Error: invalid_argument for null handles and a range that is not aligned;
    /// out_of_memory.
    [[nodiscard]] Binding bind(const Resources& resources) const;

    /// Changes of the scene since the last frame, written by the GPU or the host.
    struct Changes {
        BufferRange boxes;           ///< ShadowChange[capacity], in any order; only read
        BufferRange count;           ///< a uint: number of boxes in this frame; only read
        std::uint32_t capacity = 0;  ///< 1 to 2^20; if `count` is above, all is drawn whole
    };
    /// Descriptors of one set of changes; copies share them. Keep one until the commands recorded
    /// with it have executed.
    class ChangeBinding {
        friend class ShadowFitter;
        struct QUADTILE_LOCAL Impl;
        explicit ChangeBinding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };
    /// Writes the descriptors; the buffers must exist, of usage STORAGE_BUFFER.
    /// Throws Error(invalid_argument) for null handles and a capacity out of range.
    [[nodiscard]] ChangeBinding bind_changes(const Changes& changes) const;

    /// Records a frame into a command buffer of a queue with compute, outside a render pass: the
    /// importance map from the depth buffer, the tiles, their slots, the page table. Leaves its own
    /// pipelines, descriptor sets and push constants bound. Does not allocate, submit or wait;
    /// copies `frame`.
    ///
    /// All tiles of a light are drawn again if its clip space differs from that of the last frame,
    /// except by a step: a parallel one that has moved by whole texels (shadow_step).
    /// Slots that show a part of a box of `changes` are drawn again, too. Default: nothing has
    /// changed.
    ///
    /// Before: the depth buffer, the atlas and the changes available and visible to
    /// COMPUTE_SHADER / SHADER_READ, the images in the binding's layouts; all earlier uses of
    /// memory, importance and page table ordered before TRANSFER / TRANSFER_WRITE and
    /// COMPUTE_SHADER / SHADER_READ | SHADER_WRITE.
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written all, and TRANSFER / TRANSFER_WRITE the
    /// frame. To consume it, make it visible to DRAW_INDIRECT / INDIRECT_COMMAND_READ and to
    /// SHADER_READ in the stages that read. The caller must then draw every slot in `render`: the
    /// next frame relies on it.
    void record(VkCommandBuffer commands, const Binding& binding, const ShadowFrame& frame,
                const ChangeBinding* changes = nullptr) const;

    /// Buffers of record_cull.
    struct Objects {
        BufferRange objects;             ///< ShadowObject[object_count]; only read
        std::uint32_t object_count = 0;  ///< 1 or more
        /// VkDrawIndexedIndirectCommand[object_count], written, for one vkCmdDrawIndexedIndirect
        /// (features multiDrawIndirect and drawIndirectFirstInstance).
        BufferRange draws;
        /// uint[instance_capacity], written: the instances of the draws. The shader finds its tile
        /// at instances[gl_InstanceIndex].
        BufferRange instances;
        /// Room for instances: `max_tiles` or more. The first max_tiles are the tiles of `render`.
        /// If there is no room behind them for an object, it is drawn in all of these. That costs
        /// time but loses no shadow. ShadowHeader::instances tells how many were needed. All sets
        /// that a frame culls count places together.
        std::uint32_t instance_capacity = 0;
        /// Whether these are static casters, for an atlas of their own: they are drawn in the first
        /// ShadowHeader::static_count tiles of `render` alone.
        bool is_static = false;
    };
    /// Descriptors of one set of objects; copies share them. Keep one, and the Binding, until the
    /// commands recorded with it have executed.
    class ObjectBinding {
        friend class ShadowFitter;
        struct QUADTILE_LOCAL Impl;
        explicit ObjectBinding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };
    /// Writes the descriptors; all three buffers must exist, of usage STORAGE_BUFFER, `draws` of
    /// INDIRECT_BUFFER too. Throws Error: invalid_argument for null handles, no objects, and
    /// fewer instances than max_tiles; unsupported for more objects than a
    /// dispatch takes, a descriptor reaches or 2^32 instances allow, and for more instances than a
    /// descriptor reaches.
    [[nodiscard]] ObjectBinding bind_objects(const Binding& binding, const Objects& objects) const;

    /// Records culling, after `record`: each object is drawn in the tiles of `render` whose slots
    /// show its bounding box. A frame may cull several sets, each once.
    ///
    /// Before: all that `record` has written visible to COMPUTE_SHADER / SHADER_READ |
    /// SHADER_WRITE; the objects to SHADER_READ; earlier uses of draws and instances ordered before
    /// SHADER_WRITE.
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written draws and instances.
    void record_cull(VkCommandBuffer commands, const ObjectBinding& objects) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

// ---- On the host

namespace reference {

/// CPU twin of ShadowFitter: plain, sequential, bit-identical.
class QUADTILE_API ShadowFitter {
 public:
    /// Checks the options. Throws Error(invalid_argument) as shadow_parameters.
    explicit ShadowFitter(const ShadowOptions& options);

    /// Outcome of a frame.
    struct Result {
        ShadowHeader header{};              ///< as on the GPU
        std::vector<ShadowTile> tiles;      ///< header.tiles
        std::vector<std::uint32_t> render;  ///< indices into tiles; first header.static_count
        /// The importance map from which the tiles were made, by layer, then row. On the GPU it has
        /// already faded for the next frame.
        std::vector<float> importance;
        std::vector<std::uint32_t> page_table;  ///< by layer, then row
    };

    /// Computes the next frame. `depth` has depth_width * depth_height values by row. `atlas` has
    /// atlas_extent * atlas_extent depths as the last frame has left them. Throws
    /// Error(invalid_argument) for other sizes.
    const Result& next(const ShadowFrame& frame, std::span<const float> depth,
                       std::span<const float> atlas, std::span<const ShadowChange> changes = {});

    /// Returns the tiles of `render` that each object is drawn in, in their order. `is_static`: as
    /// for Objects.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> cull(
        std::span<const ShadowObject> objects, bool is_static = false) const;

 private:
    ShadowParameters parameters_;
    ShadowFrame frame_{};  // of the last frame
    Result result_;
};

}  // namespace reference

}  // namespace quadtile
