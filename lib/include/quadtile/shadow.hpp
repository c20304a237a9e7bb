/// \file
/// Fitted virtual shadow maps: tiles as fine as the picture needs them, within a budget, stable
/// from frame to frame, on the GPU. A library of its own: quadtile::shadow.
///
/// The method is that of Giegl and Wimmer ("Fitted Virtual Shadow Maps", 2007), with the tile
/// hierarchy and all that follows on the GPU. docs/shadows.md has the definitions.

#pragma once

#include <quadtile/export.h>
#include <quadtile/shadow.h>
#include <quadtile/device.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/tiles.hpp>

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace quadtile {

// ---- What the host says of a frame

/// A matrix of 4 x 4 by column, as GLSL and GLM have them: element [4 * column + row].
using ShadowMatrix = std::array<float, 16>;

/// A box in the world.
struct ShadowBox {
    std::array<float, 3> low{};   ///< its corner with the least coordinates
    std::array<float, 3> high{};  ///< the opposite corner
};

/// A light, or a face of a point light: its clip space, in which it sees from depth 0 to 1, and x
/// and y from -1 to 1.
struct ShadowProjection {
    ShadowMatrix clip_from_world{};  ///< parallel or perspective; w is positive before the light
    /// As many times the shadow texels along a side, 1/64 to 64: what lights are worth to each
    /// other where budgets are short.
    float weight = 1.0F;
    /// Projections from this one on that are one light: 1; SHADOW_FACES for the first face of a
    /// point light; up to SHADOW_MAX_LEVELS for the first level of a parallel light, the finest; 0
    /// for the others.
    std::uint32_t layers = 1;
};

/// A camera and the depth buffer that was drawn with it.
struct ShadowView {
    /// Column 0 of the picture is at x = -1, row 0 at y = -1, as Vulkan has it. Any range and
    /// direction of depths.
    ShadowMatrix clip_from_world{};
    float background_depth = 0.0F;  ///< where nothing was drawn: 0 for reversed depths, else 1
};

/// The clip space of parallel light that holds a box, and a sixty-fourth of its extent around. What
/// a moving camera or scene changes of the box does not make it crawl: it has a power of two as its
/// extent, which only the box's size decides, and begins at a multiple of an eighth of that; only
/// where the box begins in another eighth, it jumps, and all tiles are drawn again. Depths alike.
/// `direction` is that of the light, of any length.
/// Throws Error(invalid_argument) for a direction of length 0, a box that is inside out, and
/// numbers that are not finite.
[[nodiscard]] QUADTILE_API ShadowProjection
directional_shadow_projection(const std::array<float, 3>& direction, const ShadowBox& box);

/// The clip space of a spot light: a square pyramid of this full angle along `direction`, from
/// `nearest` to `farthest`.
/// Throws Error(invalid_argument) for a direction of length 0, an angle outside 0.1 to 170 degrees,
/// distances that are not 0 < nearest < farthest, and numbers that are not finite.
[[nodiscard]] QUADTILE_API ShadowProjection
spot_shadow_projection(const std::array<float, 3>& position, const std::array<float, 3>& direction,
                       float angle_degrees, float nearest, float farthest);

/// The clip spaces of a point light: faces of a cube, along x, -x, y, -y, z and -z, each from
/// `nearest` to `farthest` along its axis. They are six lights that follow each other, and `lights`
/// counts six; elsewhere the first one stands for all. Throws Error(invalid_argument) as
/// spot_shadow_projection.
[[nodiscard]] QUADTILE_API std::array<ShadowProjection, SHADOW_FACES> point_shadow_projections(
    const std::array<float, 3>& position, float nearest, float farthest);

/// The clip spaces of parallel light in a large world: `levels` boxes around the camera, at `eye`,
/// the first `nearest_extent` wide across the light, each next one twice as wide; all along the
/// light as deep as the world. So texels beside the camera are as fine in a world of any size. A
/// box moves by an eighth of its extent at a time, and all of its tiles are drawn again then. They
/// are so many lights that follow each other, and `lights` counts them; elsewhere the first one
/// stands for all. What the last one does not see is lit. Throws Error(invalid_argument) as
/// directional_shadow_projection, for an extent that is not above 0, and levels that are not 1 to
/// SHADOW_MAX_LEVELS.
[[nodiscard]] QUADTILE_API std::vector<ShadowProjection> directional_shadow_levels(
    const std::array<float, 3>& direction, const ShadowBox& world, const std::array<float, 3>& eye,
    float nearest_extent, std::uint32_t levels);

// ---- What stays

/// Sizes, budgets and quality of shadow maps.
struct ShadowOptions {
    /// Layers of the importance map, 1 to SHADOW_MAX_LIGHTS: one a light, six a point light,
    /// one for each level of a parallel one.
    std::uint32_t lights = 1;
    /// Texels on a side of each light's importance map, a power of two, 16 to 2048; all layers
    /// together have 2^23 texels at most.
    std::uint32_t map_extent = 1024;
    /// Texels on a side of the atlas, a power of two: tile_extent to 128 * tile_extent, at most
    /// 16384.
    std::uint32_t atlas_extent = 4096;
    /// Texels on a side of the largest slot, a power of two, 64 to 1024. The smallest has a
    /// sixteenth.
    std::uint32_t tile_extent = 128;
    /// Texels at each edge of a slot that repeat what lies around: 1 to less than a
    /// thirty-secondth of tile_extent. The filter of shadow_lookup.glsl needs 2; with 1 only its
    /// nearest texel is right.
    std::uint32_t gutter = 2;
    std::uint32_t max_tiles = 2048;  ///< K of the budget, of all lights: `lights` to 65535
    /// P of the budget: the share of the atlas that slots may take, one page at least; 0.1 to 1.
    /// Where it is nearly full, tiles that come new do not find room beside those that stay, and
    /// all are laid out and drawn again.
    float atlas_fill = 0.875F;
    /// Slots grow, and tiles are split, at their threshold t; they shrink, and tiles are merged,
    /// below merge_ratio * t. 1: no hysteresis. Above 0.5.
    float merge_ratio = 0.8F;
    /// What a texel of an importance map keeps of what it needed, from frame to frame: 0 (nothing)
    /// to 0.99. Needs that come and go, as at the edges of things, then do not make tiles come and
    /// go. 0.95 halves it in 14 frames.
    float importance_decay = 0.95F;
    float resolution_scale = 1.0F;  ///< shadow texels for each pixel, along a side: 1/64 to 64
    /// As many times more of them where the last picture has edges of shadows, which are all that
    /// is seen of texels: 1 to 64. Counts with Resources::atlas or `lit` alone.
    float edge_scale = 8.0F;
    /// Where light grazes a surface, shadows are stretched; texels follow up to this ratio. 1 to
    /// 1024.
    float max_stretch = 4.0F;

    /// Member by member.
    friend bool operator==(const ShadowOptions&, const ShadowOptions&) = default;
};

/// Throws Error(invalid_argument), which names the member and its range.
QUADTILE_API void check_shadow_options(const ShadowOptions& options);

/// The options as the kernels take them. Throws as check_shadow_options.
[[nodiscard]] QUADTILE_API ShadowParameters shadow_parameters(const ShadowOptions& options);

/// A frame as the kernels take it. `lights` has one for each layer; `depth_extent` is that of the
/// depth buffer, pixels. Throws Error(invalid_argument) for more or fewer lights than layers,
/// lights whose layers are not whole, weights out of range, a depth buffer of extent 0, and
/// matrices that are not finite or cannot be inverted.
[[nodiscard]] QUADTILE_API ShadowFrame make_shadow_frame(const ShadowOptions& options,
                                                         const ShadowView& view,
                                                         VkExtent2D depth_extent,
                                                         std::span<const ShadowProjection> lights);

// ---- On the GPU

/// Finds, from frame to frame, the tiles of shadow maps and their slots in an atlas: from the depth
/// buffer of the camera to tiles, crop matrices, page table and draws, without a read-back. Owns
/// pipelines only.
///
/// Thread-safe. Recordings of one Binding must execute one after the other, in the order of their
/// frames.
class QUADTILE_API ShadowFitter {
 public:
    /// Compiles the pipelines. Throws Error: invalid_argument as check_shadow_options; unsupported
    /// where the device has no such images; out_of_memory, device_lost, vulkan.
    ShadowFitter(const Device& device, const ShadowOptions& options);

    /// What it was made with.
    [[nodiscard]] const ShadowOptions& options() const noexcept;

    /// What the caller must bring.
    struct Requirements {
        VkDeviceSize memory_size_bytes;  ///< of one buffer for all
        VkDeviceSize alignment_bytes;    ///< of its range
        VkBufferUsageFlags usage;        ///< STORAGE | INDIRECT | TRANSFER_DST; add to it freely
        VkImageCreateInfo importance;    ///< R32_SFLOAT, a layer a light; add usages freely
        VkImageCreateInfo page_table;    ///< R32_UINT, a layer a light; add usages freely

        // Places in the memory, in bytes from its beginning, for descriptors and commands of the
        // caller's.
        VkDeviceSize frame_offset_bytes;    ///< a ShadowFrame: that of the last recording
        VkDeviceSize header_offset_bytes;   ///< a ShadowHeader
        VkDeviceSize tiles_offset_bytes;    ///< ShadowTile[max_tiles], in canonical order
        VkDeviceSize kept_offset_bytes;     ///< uint[max_tiles]: those of `tiles` that are kept
        VkDeviceSize added_offset_bytes;    ///< uint[max_tiles]: those that are not
        VkDeviceSize removed_offset_bytes;  ///< ShadowTile[max_tiles]: as they were
        VkDeviceSize render_offset_bytes;   ///< uint[max_tiles]: those that must be drawn
        /// TileListHeader and Tile[max_tiles]: quadtile's list, of which `tiles` are made.
        VkDeviceSize tile_list_offset_bytes;
    };
    /// The sizes follow from the options alone.
    [[nodiscard]] Requirements requirements() const;

    /// What the caller brings; all of it stays the caller's.
    struct Resources {
        BufferRange memory;                   ///< filled with zeros at first, or to begin anew
        VkImage importance = VK_NULL_HANDLE;  ///< as `memory`; in layout GENERAL always
        VkImage page_table = VK_NULL_HANDLE;  ///< in layout GENERAL always; its contents count once
                                              ///< a frame has been recorded
        /// The camera's depth buffer: a 2D view of its depth aspect, or of a float colour format,
        /// of one sample, with usage SAMPLED.
        VkImageView depth = VK_NULL_HANDLE;
        VkImageLayout depth_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;  ///< when it is read
        /// The atlas, as the last frame has left it: a 2D view of its depth aspect, or of
        /// R32_SFLOAT, with usage SAMPLED. Edges of shadows are found by what it says of this
        /// frame's pixels. Null: by `lit`.
        VkImageView atlas = VK_NULL_HANDLE;
        VkImageLayout atlas_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;  ///< when it is read
        /// What the last picture's shadows were, where there is such an image: a 2D view of
        /// R32_UINT with usage SAMPLED, of the depth buffer's extent. A word a pixel, of
        /// shadow_lit_word of all lights: bit l where light l reaches it, bit 16 + l where it is in
        /// the light's shadow, neither where it faces away or is background. Full of zeros before
        /// the first picture. Null: all is treated alike.
        VkImageView lit = VK_NULL_HANDLE;
        VkImageLayout lit_layout = VK_IMAGE_LAYOUT_GENERAL;  ///< when it is read
    };

    /// The views and descriptors of one set of resources; copies share them. Keep one until the
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

    /// Another depth buffer, as one has where frames are in flight. Recordings of the binding must
    /// have executed.
    void rebind_depth(Binding& binding, VkImageView depth, VkImageLayout layout) const;

    /// What has changed since the last frame, for record: written by the GPU or the host.
    struct Changes {
        BufferRange boxes;           ///< ShadowChange[capacity], in any order; only read
        BufferRange count;           ///< a uint: how many of them this frame has; only read
        std::uint32_t capacity = 0;  ///< 1 to 2^20; where `count` is above, all is drawn again
    };
    /// The descriptors of one set of changes; copies share them. Keep one until the commands
    /// recorded with it have executed.
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
    /// importance map from the depth buffer, the tiles, their slots, the page table. A light whose
    /// clip space is not that of the frame before has all its tiles drawn again, and so have slots
    /// that show something of a box of `changes` (default: nothing has changed). Leaves its own
    /// pipelines, descriptor sets and push constants bound.
    ///
    /// Before: the depth buffer, and the atlas or lit mask, available and visible to COMPUTE_SHADER
    /// / SHADER_READ, in the binding's layouts, and so the changes; all earlier uses of memory,
    /// importance and page table ordered before TRANSFER / TRANSFER_WRITE and COMPUTE_SHADER /
    /// SHADER_READ | SHADER_WRITE.
    /// After: all was written by COMPUTE_SHADER / SHADER_WRITE and TRANSFER / TRANSFER_WRITE (the
    /// frame). To consume it make that visible to DRAW_INDIRECT / INDIRECT_COMMAND_READ and
    /// SHADER_READ in the stages that read. Every slot in `render` must then be drawn: the next
    /// frame takes it for granted.
    ///
    /// Does not allocate, submit or wait. `frame` is copied.
    void record(VkCommandBuffer commands, const Binding& binding, const ShadowFrame& frame,
                const ChangeBinding* changes = nullptr) const;

    /// For record_cull.
    struct Objects {
        BufferRange objects;             ///< ShadowObject[object_count]; only read
        std::uint32_t object_count = 0;  ///< 1 or more
        /// VkDrawIndexedIndirectCommand[object_count], written: for one vkCmdDrawIndexedIndirect
        /// (features multiDrawIndirect and drawIndirectFirstInstance).
        BufferRange draws;
        /// uint[instance_capacity], written: instances of draws. The shader finds its tile at
        /// instances[gl_InstanceIndex].
        BufferRange instances;
        /// `max_tiles` or more. The first max_tiles are the tiles of `render`; an object for which
        /// there is no room behind them is drawn in all of these, whatever its light_mask: so no
        /// shadow is lost, but time, and ShadowHeader::instances tells how many were needed.
        std::uint32_t instance_capacity = 0;
    };
    /// The descriptors of one set of objects; copies share them. Keep one, and the Binding, until
    /// the commands recorded with it have executed.
    class ObjectBinding {
        friend class ShadowFitter;
        struct QUADTILE_LOCAL Impl;
        explicit ObjectBinding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };
    /// Writes the descriptors; all four buffers must exist, of usage STORAGE_BUFFER, `draws` of
    /// INDIRECT_BUFFER too. Throws Error(invalid_argument) for null handles, no objects, and fewer
    /// instances than max_tiles.
    [[nodiscard]] ObjectBinding bind_objects(const Binding& binding, const Objects& objects) const;

    /// Records, after `record`, which objects are to be drawn in which tiles of `render`: those
    /// whose bounding boxes the slots show, of lights in their masks.
    ///
    /// Before: what `record` has written visible to COMPUTE_SHADER / SHADER_READ | SHADER_WRITE;
    /// the objects to SHADER_READ; earlier uses of draws and instances ordered before SHADER_WRITE.
    /// After: draws and instances were written by COMPUTE_SHADER / SHADER_WRITE.
    void record_cull(VkCommandBuffer commands, const ObjectBinding& objects) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

// ---- On the host

namespace reference {

/// The CPU twin of ShadowFitter: plain, sequential, the same to the bit.
class QUADTILE_API ShadowFitter {
 public:
    /// Throws Error(invalid_argument) as check_shadow_options.
    explicit ShadowFitter(const ShadowOptions& options);

    /// What a frame leaves.
    struct Result {
        ShadowHeader header{};              ///< as on the GPU
        std::vector<ShadowTile> tiles;      ///< header.tiles of them
        std::vector<std::uint32_t> kept;    ///< indices into tiles
        std::vector<std::uint32_t> added;   ///< indices into tiles
        std::vector<ShadowTile> removed;    ///< as they were in the last frame
        std::vector<std::uint32_t> render;  ///< indices into tiles
        /// The map that the tiles were made of, layer by layer, row by row. On the GPU it has faded
        /// since, for the next frame.
        std::vector<float> importance;
        std::vector<std::uint32_t> page_table;  ///< alike
        std::vector<Tile> tile_list;            ///< quadtile's own
    };

    /// The next frame; `depth` has depth_width * depth_height values, row by row, and `lit` as many
    /// words of the last picture's lit mask, or none; `atlas` has atlas_extent * atlas_extent
    /// depths, as the last frame has left them, or none; `changes` are as many as there are. Throws
    /// Error(invalid_argument) where they have not.
    const Result& next(const ShadowFrame& frame, std::span<const float> depth,
                       std::span<const std::uint32_t> lit = {}, std::span<const float> atlas = {},
                       std::span<const ShadowChange> changes = {});

    /// Which tiles of `render` each object is drawn in, in their order.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> cull(
        std::span<const ShadowObject> objects) const;

 private:
    ShadowParameters parameters_;
    ShadowFrame frame_{};  // the last one
    Result result_;
};

}  // namespace reference

}  // namespace quadtile
