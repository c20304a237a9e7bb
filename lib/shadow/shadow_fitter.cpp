#include "device/compute_program.hpp"

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DeviceContext;

#include "quadtile_shadow_kernels.inc"

// Workgroup sizes of the kernels (local_size).
constexpr std::uint32_t IMPORTANCE_BLOCK = 32;
constexpr std::uint32_t LARGEST_GROUP = 1024;
constexpr std::uint32_t LARGEST_PLAIN_GROUP = 256;  // without subgroups: sums take longer
constexpr std::uint32_t GROUP_THREAD_BYTES = 24;    // shared memory of allocate.comp, for a thread
constexpr std::uint32_t CULL_GROUP = 64;
constexpr std::uint32_t CHANGE_GROUP = 64;  // boxes
constexpr std::uint32_t CHANGE_TILE_GROUP = 8;
constexpr std::uint32_t MOST_CHANGES = 1U << 20;  // every device can dispatch workgroups for these

// Constants of kernels/shadow/bindings.glsl.
constexpr std::uint32_t BLOCK_LEVELS = 5;
constexpr std::uint32_t BLOCK_TEXELS = 1U << (2 * BLOCK_LEVELS);
constexpr std::uint32_t BLOCK_WORDS = 3 + 2 * BLOCK_TEXELS / 32 + 1;
constexpr std::uint32_t FOUND_WORDS = 8;
constexpr std::uint32_t TALLY_WORDS = 8;
constexpr std::uint32_t LAST_LIGHT_WORDS = 21;
constexpr std::uint32_t TILE_GROUP = 64;  // of allocate.comp

// Binding of set 0.
constexpr std::uint32_t MEMORY_BINDING = 3;
constexpr std::uint32_t LIT_BINDING = 4;

// Offsets of the parts of the memory, in words behind the header.
struct Places {
    std::uint32_t tiles = 0;
    std::uint32_t lists = 0;
    std::uint32_t removed = 0;
    std::uint32_t tile_list = 0;
    std::uint32_t work = 0;
    std::uint32_t events = 0;
    std::uint32_t nodes = 0;
    std::uint32_t blocks = 0;
    std::uint32_t last_lights = 0;
};

// Push constants of kernels/shadow/bindings.glsl.
struct PushConstants {
    ShadowParameters parameters;
    std::uint32_t object_count = 0;
    std::uint32_t instance_capacity = 0;
    Places places;
};
constexpr std::size_t LEAST_PUSH_CONSTANTS_BYTES = 128;  // guaranteed by Vulkan
static_assert(sizeof(PushConstants) <= LEAST_PUSH_CONSTANTS_BYTES);

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

constexpr std::uint32_t groups_of(std::uint32_t threads, std::uint32_t group) {
    return (threads + group - 1) / group;
}

// Number of nodes in the first `levels` levels from the root.
constexpr std::uint32_t nodes_from_root(std::uint32_t levels) {
    return ((std::uint32_t{1} << (2 * levels)) - 1) / 3;
}

Descriptor storage_buffer(const BufferRange& range, vk::DeviceSize size_bytes) {
    return Descriptor::storage_buffer(range.buffer, range.offset_bytes, size_bytes);
}

void require(bool is_given, const std::string& what) {
    if (!is_given) {
        throw Error(ErrorCode::invalid_argument, "shadow maps need " + what + ", but got none");
    }
}

// Layout of the memory.
struct Layout {
    VkDeviceSize header_offset_bytes = 0;
    VkDeviceSize words_offset_bytes = 0;
    Places places;
    VkDeviceSize size_bytes = 0;

    [[nodiscard]] VkDeviceSize offset_bytes(std::uint32_t place) const {
        return words_offset_bytes + VkDeviceSize{place} * sizeof(std::uint32_t);
    }
};

constexpr VkDeviceSize ALIGNMENT_BYTES = 256;  // Vulkan's largest for storage buffers

constexpr VkDeviceSize aligned(VkDeviceSize bytes) {
    return groups_of(static_cast<std::uint32_t>(bytes), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

// Words of all nodes: at most a fifth of the guaranteed size of a storage buffer.
std::uint32_t node_words(const ShadowParameters& parameters, std::uint32_t light_blocks) {
    const std::uint32_t above =
        parameters.map_levels - std::min(parameters.map_levels, BLOCK_LEVELS);
    return 2 * parameters.lights *
           (light_blocks * nodes_from_root(BLOCK_LEVELS) + nodes_from_root(above));
}

// Blocks of a layer of the map.
std::uint32_t blocks_of(const ShadowParameters& parameters) {
    return 1U << (2 * (parameters.map_levels - std::min(parameters.map_levels, BLOCK_LEVELS)));
}

// Words of "Work" in kernels/shadow/bindings.glsl.
std::uint32_t work_words(const ShadowParameters& parameters) {
    constexpr std::uint32_t TILE_WORDS = sizeof(ShadowTile) / sizeof(std::uint32_t);
    const std::uint32_t tallied = std::bit_ceil(parameters.lights * blocks_of(parameters));
    return shadow_atlas_cells(parameters) / 32 + 2 * groups_of(parameters.max_tiles, 32) +
           2 * TALLY_WORDS * tallied + 2 + (TILE_WORDS + FOUND_WORDS) * parameters.max_tiles;
}

Layout make_layout(const ShadowParameters& parameters) {
    constexpr std::uint32_t TILE_WORDS = sizeof(ShadowTile) / sizeof(std::uint32_t);
    constexpr std::uint32_t LIST_WORDS = sizeof(Tile) / sizeof(std::uint32_t);
    constexpr std::uint32_t LIST_HEADER_WORDS = sizeof(TileListHeader) / sizeof(std::uint32_t);
    constexpr std::uint32_t PLACE_WORDS = ALIGNMENT_BYTES / sizeof(std::uint32_t);
    const std::uint32_t tiles = parameters.max_tiles;
    std::uint32_t end = 0;
    const auto place = [&end](std::uint32_t words) {
        const std::uint32_t begin = end;
        end = groups_of(begin + words, PLACE_WORDS) * PLACE_WORDS;
        return begin;
    };
    Layout layout;
    layout.header_offset_bytes = aligned(sizeof(ShadowFrame));
    layout.words_offset_bytes = layout.header_offset_bytes + aligned(sizeof(ShadowHeader));
    layout.places = {
        .tiles = place(tiles * TILE_WORDS),
        .lists = place(3 * shadow_list_stride(tiles)),
        .removed = place(tiles * TILE_WORDS),
        .tile_list = place(LIST_HEADER_WORDS + tiles * LIST_WORDS),
        .work = place(work_words(parameters)),
        .events = place(2 * BUDGET_FACTORS),
        .nodes = place(node_words(parameters, blocks_of(parameters))),
        .blocks = place(parameters.lights * blocks_of(parameters) * BLOCK_WORDS),
        .last_lights = place(LAST_LIGHT_WORDS * SHADOW_MAX_LIGHTS)};
    layout.size_bytes = layout.offset_bytes(end);
    return layout;
}

VkImageCreateInfo image_of(const ShadowOptions& options, VkFormat format,
                           VkImageCreateFlags flags) {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.flags = flags;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {options.map_extent, options.map_extent, 1};
    info.mipLevels = 1;
    info.arrayLayers = options.lights;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                 VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    return info;
}

Unique<vk::ImageView> make_view(const DeviceContext& context, VkImage image, vk::Format format,
                                std::uint32_t layers) {
    return context.calls("creating a view of a shadow map's image", [&] {
        auto view = context.device.createImageViewUnique(
            {{},
             image,
             vk::ImageViewType::e2DArray,
             format,
             {},
             {vk::ImageAspectFlagBits::eColor, 0, 1, 0, layers}},
            nullptr, context.dispatch);
        context.name(*view, "a shadow map's image");
        return view;
    });
}

// Threads of allocate.comp's workgroups, a power of two.
std::uint32_t largest_group(const DeviceContext& context) {
    const auto properties =
        context.physical_device.getProperties2<vk::PhysicalDeviceProperties2,
                                               vk::PhysicalDeviceSubgroupSizeControlProperties>(
            context.dispatch);
    const auto& limits = properties.get<vk::PhysicalDeviceProperties2>().properties.limits;
    if (!context.info.features.subgroup_operations) {
        return std::min(LARGEST_PLAIN_GROUP, limits.maxComputeWorkGroupInvocations);
    }
    const auto& subgroups = properties.get<vk::PhysicalDeviceSubgroupSizeControlProperties>();
    return std::bit_floor(
        std::min({LARGEST_GROUP, limits.maxComputeWorkGroupInvocations,
                  limits.maxComputeSharedMemorySize / GROUP_THREAD_BYTES,
                  context.info.subgroup_size * subgroups.maxComputeWorkgroupSubgroups}));
}

std::vector<detail::BindingType> frame_bindings() {
    using Type = vk::DescriptorType;
    return {{0, Type::eCombinedImageSampler},
            {1, Type::eStorageImage},
            {2, Type::eStorageImage},
            {MEMORY_BINDING, Type::eStorageBuffer},
            {LIT_BINDING, Type::eCombinedImageSampler}};
}

std::vector<detail::BindingType> object_bindings() {
    constexpr auto BUFFER = vk::DescriptorType::eStorageBuffer;
    return {{0, BUFFER}, {1, BUFFER}, {2, BUFFER}};
}

}  // namespace

// ---- Construction

struct ShadowFitter::Impl {
    Impl(const Device& made_on, const ShadowOptions& given);

    // Makes the writes of a kernel, and of `other_stages`, visible to the next kernel.
    void kernel_barrier(vk::CommandBuffer commands, vk::PipelineStageFlags other_stages = {},
                        vk::AccessFlags other_accesses = {}) const;
    void record_frame(vk::CommandBuffer commands, const Binding::Impl& bound,
                      const ShadowFrame& frame) const;
    // `set`, if not null, is bound as set 1.
    void record_kernel(vk::CommandBuffer commands, vk::DescriptorSet bound, vk::Pipeline pipeline,
                       vk::Extent3D groups, vk::DescriptorSet set = {},
                       std::uint32_t object_count = 0, std::uint32_t instance_capacity = 0) const;

    ShadowOptions options;
    ShadowParameters parameters;
    Layout layout;
    ComputeProgram objects;  // layout of set 1
    ComputeProgram program;
    Unique<vk::Sampler> sampler;
    std::uint32_t large_group;  // threads of choose.comp and allocate.comp
    Unique<vk::Pipeline> importance;
    Unique<vk::Pipeline> importance_lit;    // with a lit mask
    Unique<vk::Pipeline> importance_atlas;  // with the atlas
    Unique<vk::Pipeline> count;
    Unique<vk::Pipeline> choose;
    Unique<vk::Pipeline> list;
    Unique<vk::Pipeline> change;
    Unique<vk::Pipeline> allocate;
    Unique<vk::Pipeline> page_table;
    Unique<vk::Pipeline> cull;
};

struct ShadowFitter::Binding::Impl {
    std::shared_ptr<const ShadowFitter::Impl> owner;
    BufferRange memory;
    Unique<vk::ImageView> importance;
    Unique<vk::ImageView> page_table;
    vk::Pipeline importance_kernel;
    detail::DescriptorSet descriptors;
};

struct ShadowFitter::ChangeBinding::Impl {
    std::shared_ptr<const ShadowFitter::Impl> owner;
    detail::DescriptorSet descriptors;
    std::uint32_t capacity;
};

struct ShadowFitter::ObjectBinding::Impl {
    std::shared_ptr<const ShadowFitter::Impl> owner;
    vk::DescriptorSet frame;
    detail::DescriptorSet descriptors;
    std::uint32_t object_count;
    std::uint32_t instance_capacity;
};

ShadowFitter::Impl::Impl(const Device& made_on, const ShadowOptions& given)
    : options(given),
      parameters(shadow_parameters(given)),
      layout(make_layout(parameters)),
      objects(made_on.context(), "shadow maps, objects", object_bindings(), 0),
      program(made_on.context(), "shadow maps", frame_bindings(), sizeof(PushConstants),
              objects.set_layout()),
      sampler(
          program.make_sampler(vk::Filter::eNearest, vk::SamplerReductionMode::eWeightedAverage)),
      large_group(largest_group(program.context())) {
    detail::watch_exit(made_on.context()->owned);  // a shared library has its own copy of this
    const bool by_subgroups = made_on.info().features.subgroup_operations;
    const auto make = [&](std::span<const std::uint32_t> plain, const std::string& name,
                          std::span<const std::uint32_t> by_subgroup = {}) {
        const bool uses_subgroups = by_subgroups && !by_subgroup.empty();
        return program.make_pipeline({uses_subgroups ? by_subgroup : plain, uses_subgroups},
                                     "shadow maps, " + name, {{0, large_group}});
    };
    importance = make(SHADOW_IMPORTANCE, "importance");
    importance_lit = make(SHADOW_IMPORTANCE_LIT, "importance, lit mask");
    importance_atlas = make(SHADOW_IMPORTANCE_ATLAS, "importance, atlas");
    count = make(SHADOW_COUNT, "count");
    choose = make(SHADOW_CHOOSE, "choose", SHADOW_CHOOSE_SUBGROUP);
    list = make(SHADOW_LIST, "list");
    change = make(SHADOW_CHANGE, "change");
    allocate = make(SHADOW_ALLOCATE, "allocate", SHADOW_ALLOCATE_SUBGROUP);
    page_table = make(SHADOW_PAGE_TABLE, "page table");
    cull = make(SHADOW_CULL, "cull");
}

ShadowFitter::ShadowFitter(const Device& device, const ShadowOptions& options)
    : impl_(std::make_shared<const Impl>(device, options)) {}

const ShadowOptions& ShadowFitter::options() const noexcept {
    return impl_->options;
}

ShadowFitter::Requirements ShadowFitter::requirements() const {
    const Layout& layout = impl_->layout;
    const VkDeviceSize list_bytes =
        sizeof(std::uint32_t) * shadow_list_stride(impl_->options.max_tiles);
    const VkDeviceSize lists = layout.offset_bytes(layout.places.lists);
    return {.memory_size_bytes = layout.size_bytes,
            .alignment_bytes = ALIGNMENT_BYTES,
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                     VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            // Mutable, since callers read floats, and atomics need integers.
            .importance =
                image_of(impl_->options, VK_FORMAT_R32_SFLOAT, VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT),
            .page_table = image_of(impl_->options, VK_FORMAT_R32_UINT, 0),
            .frame_offset_bytes = 0,
            .header_offset_bytes = layout.header_offset_bytes,
            .tiles_offset_bytes = layout.offset_bytes(layout.places.tiles),
            .kept_offset_bytes = lists,
            .added_offset_bytes = lists + list_bytes,
            .removed_offset_bytes = layout.offset_bytes(layout.places.removed),
            .render_offset_bytes = lists + 2 * list_bytes,
            .tile_list_offset_bytes = layout.offset_bytes(layout.places.tile_list)};
}

ShadowFitter::Binding ShadowFitter::bind(const Resources& resources) const {
    require(resources.memory.buffer != VK_NULL_HANDLE, "a buffer for their memory");
    require(resources.importance != VK_NULL_HANDLE, "an image for importance");
    require(resources.page_table != VK_NULL_HANDLE, "an image for the page table");
    require(resources.depth != VK_NULL_HANDLE, "a view of the camera's depth buffer");
    if (resources.memory.offset_bytes % ALIGNMENT_BYTES != 0) {
        throw Error(ErrorCode::invalid_argument,
                    "the memory of shadow maps begins at " +
                        std::to_string(resources.memory.offset_bytes) +
                        " bytes; take a multiple of Requirements::alignment_bytes, " +
                        std::to_string(ALIGNMENT_BYTES));
    }
    const DeviceContext& context = impl_->program.context();
    const std::uint32_t layers = impl_->options.lights;
    auto importance = make_view(context, resources.importance, vk::Format::eR32Uint, layers);
    auto pages = make_view(context, resources.page_table, vk::Format::eR32Uint, layers);
    const bool has_lit = resources.lit != VK_NULL_HANDLE;
    const bool has_atlas = resources.atlas != VK_NULL_HANDLE;
    const vk::Pipeline importance_kernel = has_atlas ? *impl_->importance_atlas
                                           : has_lit ? *impl_->importance_lit
                                                     : *impl_->importance;
    auto set = impl_->program.make_descriptors(
        {Descriptor::sampled(*impl_->sampler, resources.depth, resources.depth_layout),
         Descriptor::storage_images({*importance}), Descriptor::storage_images({*pages}),
         storage_buffer(resources.memory, impl_->layout.size_bytes),
         // Without atlas and mask no kernel reads it, but lavapipe follows all descriptors of a
         // set.
         has_atlas ? Descriptor::sampled(*impl_->sampler, resources.atlas, resources.atlas_layout)
         : has_lit ? Descriptor::sampled(*impl_->sampler, resources.lit, resources.lit_layout)
                   : Descriptor::sampled(*impl_->sampler, *importance, VK_IMAGE_LAYOUT_GENERAL)});
    return Binding(std::make_shared<Binding::Impl>(
        Binding::Impl{impl_, resources.memory, std::move(importance), std::move(pages),
                      importance_kernel, std::move(set)}));
}

void ShadowFitter::rebind_depth(Binding& binding, VkImageView depth, VkImageLayout layout) const {
    require(depth != VK_NULL_HANDLE, "a view of the camera's depth buffer");
    impl_->program.replace_descriptor(binding.impl_->descriptors, 0,
                                      Descriptor::sampled(*impl_->sampler, depth, layout));
}

ShadowFitter::ChangeBinding ShadowFitter::bind_changes(const Changes& changes) const {
    require(changes.boxes.buffer != VK_NULL_HANDLE, "a buffer of changes");
    require(changes.count.buffer != VK_NULL_HANDLE, "a buffer with the number of changes");
    if (changes.capacity == 0 || changes.capacity > MOST_CHANGES) {
        throw Error(ErrorCode::invalid_argument,
                    "Changes::capacity is " + std::to_string(changes.capacity) +
                        ", but must be 1 to " + std::to_string(MOST_CHANGES));
    }
    const Descriptor count = storage_buffer(changes.count, sizeof(std::uint32_t));
    auto set = impl_->objects.make_descriptors(  // kernels do not use its third one
        {storage_buffer(changes.boxes, changes.capacity * sizeof(ShadowChange)), count, count});
    return ChangeBinding(std::make_shared<ChangeBinding::Impl>(
        ChangeBinding::Impl{impl_, std::move(set), changes.capacity}));
}

ShadowFitter::ObjectBinding ShadowFitter::bind_objects(const Binding& binding,
                                                       const Objects& objects) const {
    require(objects.objects.buffer != VK_NULL_HANDLE, "a buffer of objects");
    require(objects.draws.buffer != VK_NULL_HANDLE, "a buffer for draws");
    require(objects.instances.buffer != VK_NULL_HANDLE, "a buffer for instances");
    require(objects.object_count > 0, "an object at least to cull");
    if (objects.instance_capacity < impl_->options.max_tiles) {
        throw Error(ErrorCode::invalid_argument,
                    "culling has room for " + std::to_string(objects.instance_capacity) +
                        " instances, but needs max_tiles, " +
                        std::to_string(impl_->options.max_tiles) + ", at least");
    }
    auto set = impl_->objects.make_descriptors(
        {storage_buffer(objects.objects, objects.object_count * sizeof(ShadowObject)),
         storage_buffer(objects.draws, objects.object_count * sizeof(VkDrawIndexedIndirectCommand)),
         storage_buffer(objects.instances, objects.instance_capacity * sizeof(std::uint32_t))});
    return ObjectBinding(std::make_shared<ObjectBinding::Impl>(
        ObjectBinding::Impl{impl_, binding.impl_->descriptors.set, std::move(set),
                            objects.object_count, objects.instance_capacity}));
}

// ---- A frame

void ShadowFitter::Impl::kernel_barrier(vk::CommandBuffer commands,
                                        vk::PipelineStageFlags other_stages,
                                        vk::AccessFlags other_accesses) const {
    const vk::MemoryBarrier barrier(Access::eShaderWrite | other_accesses,
                                    Access::eShaderRead | Access::eShaderWrite);
    commands.pipelineBarrier(Stage::eComputeShader | other_stages, Stage::eComputeShader, {},
                             barrier, {}, {}, program.dispatch());
}

// Records the copy of the frame.
void ShadowFitter::Impl::record_frame(vk::CommandBuffer commands, const Binding::Impl& bound,
                                      const ShadowFrame& frame) const {
    commands.updateBuffer(bound.memory.buffer, bound.memory.offset_bytes,
                          offsetof(ShadowFrame, lights) + options.lights * sizeof(ShadowLight),
                          &frame, program.dispatch());
}

void ShadowFitter::Impl::record_kernel(vk::CommandBuffer commands, vk::DescriptorSet bound,
                                       vk::Pipeline pipeline, vk::Extent3D groups,
                                       vk::DescriptorSet set, std::uint32_t object_count,
                                       std::uint32_t instance_capacity) const {
    const Dispatch& dispatch = program.dispatch();
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline, dispatch);
    const std::array sets{bound, set};
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program.layout(), 0, set ? 2U : 1U,
                                sets.data(), 0, nullptr, dispatch);
    const PushConstants constants{.parameters = parameters,
                                  .object_count = object_count,
                                  .instance_capacity = instance_capacity,
                                  .places = layout.places};
    commands.pushConstants<PushConstants>(program.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                          constants, dispatch);
    commands.dispatch(groups.width, groups.height, groups.depth, dispatch);
}

void ShadowFitter::record(VkCommandBuffer commands, const Binding& binding,
                          const ShadowFrame& frame, const ChangeBinding* changes) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    const vk::CommandBuffer buffer(commands);
    const std::uint32_t lights = impl.options.lights;
    const vk::Extent3D blocks{blocks_of(impl.parameters), 1, lights};
    const auto kernel = [&](vk::Pipeline pipeline, vk::Extent3D groups, auto... set) {
        impl.record_kernel(buffer, bound.descriptors.set, pipeline, groups, set...);
        impl.kernel_barrier(buffer);
    };
    impl.record_frame(buffer, bound, frame);
    impl.kernel_barrier(buffer, Stage::eTransfer, Access::eTransferWrite);
    kernel(bound.importance_kernel, {groups_of(frame.depth_width, IMPORTANCE_BLOCK),
                                     groups_of(frame.depth_height, IMPORTANCE_BLOCK), lights});
    kernel(*impl.count, blocks);
    kernel(*impl.choose, {1, 1, 1});
    kernel(*impl.list, blocks);
    if (changes != nullptr) {
        const ChangeBinding::Impl& changed = *changes->impl_;
        kernel(*impl.change,
               {groups_of(changed.capacity, CHANGE_GROUP),
                groups_of(impl.options.max_tiles, CHANGE_TILE_GROUP), 1},
               changed.descriptors.set, changed.capacity);
    }
    // These two run beside each other.
    impl.record_kernel(buffer, bound.descriptors.set, *impl.allocate,
                       {groups_of(impl.options.max_tiles, TILE_GROUP), 1, 1});
    impl.record_kernel(buffer, bound.descriptors.set, *impl.page_table, blocks);
}

void ShadowFitter::record_cull(VkCommandBuffer commands, const ObjectBinding& objects) const {
    const ObjectBinding::Impl& bound = *objects.impl_;
    const std::uint32_t threads = std::max(bound.object_count, impl_->options.max_tiles);
    impl_->record_kernel(vk::CommandBuffer(commands), bound.frame, *impl_->cull,
                         {groups_of(threads, CULL_GROUP), 1, 1}, bound.descriptors.set,
                         bound.object_count, bound.instance_capacity);
}

}  // namespace quadtile
