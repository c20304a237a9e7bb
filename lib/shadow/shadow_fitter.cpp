#include "device/compute_program.hpp"
#include "values/refuse.hpp"

#include <quadtile/shadow_memory.h>
#include <quadtile/shadow.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DeviceContext;
using detail::EmbeddedKernel;

#include "quadtile_shadow_kernels.inc"

// Workgroup sizes of choose.comp and allocate.comp.
constexpr std::uint32_t LARGEST_GROUP = 1024;
constexpr std::uint32_t LARGEST_PLAIN_GROUP = 256;  // without subgroups: sums take longer
constexpr std::uint32_t ALLOCATE_BYTES = 24;        // of allocate.comp: shared memory for a thread
constexpr std::uint32_t CULL_THREADS = 4096;        // of cull.comp, if there are few objects
constexpr std::uint32_t ALIGNMENT_BYTES = 256;      // Vulkan's largest, of storage buffers
constexpr std::uint32_t MOST_CHANGES = 1U << 20;  // every device can dispatch workgroups for these

// Push constants of kernels/shadow/bindings.glsl; first those of kernels with a set of their own.
struct SetConstants {
    std::uint32_t object_count = 0;
    std::uint32_t instance_capacity = 0;
    std::uint32_t is_static = 0;
    std::uint32_t lanes = 1;
};
struct PushConstants {
    ShadowParameters parameters;
    SetConstants of_set;
    ShadowPlaces places{};
};
constexpr std::size_t LEAST_PUSH_CONSTANTS_BYTES = 128;  // guaranteed by Vulkan
static_assert(sizeof(PushConstants) <= LEAST_PUSH_CONSTANTS_BYTES);

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

constexpr std::uint32_t groups_of(std::uint32_t threads, std::uint32_t group) {
    return (threads + group - 1) / group;
}

void require(bool is_given, const std::string& what) {
    if (!is_given) {
        detail::refuse("shadow maps need ", what, ", but got none");
    }
}

// Layout of the memory.
struct Layout {
    VkDeviceSize header_offset_bytes = 0;
    VkDeviceSize words_offset_bytes = 0;
    ShadowPlaces places{};
    VkDeviceSize size_bytes = 0;

    [[nodiscard]] VkDeviceSize offset_bytes(std::uint32_t place) const {
        return words_offset_bytes + VkDeviceSize{place} * sizeof(std::uint32_t);
    }
};

constexpr VkDeviceSize aligned(VkDeviceSize bytes) {
    return VkDeviceSize{groups_of(static_cast<std::uint32_t>(bytes), ALIGNMENT_BYTES)} *
           ALIGNMENT_BYTES;
}

// Words of all nodes: at most a fifth of the guaranteed size of a storage buffer.
std::uint32_t node_words(const ShadowParameters& parameters) {
    return 2 * parameters.lights *
           (shadow_light_blocks(parameters) * shadow_first_nodes(SHADOW_BLOCK_LEVELS) +
            shadow_first_nodes(shadow_levels_above(parameters)));
}

// Words of "Work" in kernels/shadow/bindings.glsl.
std::uint32_t work_words(const ShadowParameters& parameters) {
    const std::uint32_t tallied =
        std::bit_ceil(parameters.lights * shadow_light_blocks(parameters));
    return shadow_atlas_cells(parameters) / 32 + 2 * groups_of(parameters.max_tiles, 32) +
           2 * SHADOW_TALLY_WORDS * tallied + 1 + SHADOW_FOUND_WORDS * parameters.max_tiles;
}

Layout make_layout(const ShadowParameters& parameters) {
    static_assert(sizeof(ShadowTile) == SHADOW_TILE_WORDS * sizeof(std::uint32_t));
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
        .tiles = place(tiles * SHADOW_TILE_WORDS),
        .render = place(tiles),
        .work = place(work_words(parameters)),
        .events = place(2 * BUDGET_FACTORS),
        .nodes = place(node_words(parameters)),
        .blocks = place(parameters.lights * shadow_light_blocks(parameters) * SHADOW_BLOCK_WORDS),
        .last_lights = place(SHADOW_LAST_LIGHT_WORDS * SHADOW_MAX_LIGHTS)};
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
                  limits.maxComputeSharedMemorySize / ALLOCATE_BYTES,
                  context.info.subgroup_size * subgroups.maxComputeWorkgroupSubgroups}));
}

std::vector<detail::BindingType> frame_bindings() {
    using Type = vk::DescriptorType;
    return {{0, Type::eCombinedImageSampler},
            {1, Type::eStorageImage},
            {2, Type::eStorageImage},
            {3, Type::eStorageBuffer},
            {4, Type::eCombinedImageSampler}};
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
    // Compiles a kernel. `part`: of importance.comp.
    [[nodiscard]] vk::Pipeline make(const std::string& name, std::uint32_t part = 0) const {
        return program.pipeline(
            detail::find_kernel(KERNELS, "shadow_" + name,
                                program.context().info.features.subgroup_operations),
            {{0, large_group}, {1, part}});
    }
    // Returns the objects that a dispatch of cull.comp takes, a descriptor reaches, and whose
    // instances in all tiles a word counts.
    [[nodiscard]] std::uint64_t most_objects() const {
        const DeviceContext& context = program.context();
        return std::min<std::uint64_t>(
            {std::uint64_t{context.max_workgroup_count} * SHADOW_CULL_GROUP,
             context.max_storage_buffer_range_bytes / sizeof(ShadowObject),
             std::numeric_limits<std::uint32_t>::max() / options.max_tiles - 1});
    }
    // `set`, if not null, is bound as set 1.
    void record_kernel(vk::CommandBuffer commands, vk::DescriptorSet bound, vk::Pipeline pipeline,
                       vk::Extent3D groups, vk::DescriptorSet set = {},
                       const SetConstants& of_set = {}) const;

    ShadowOptions options;
    ShadowParameters parameters;
    Layout layout;
    ComputeProgram objects;  // layout of set 1
    ComputeProgram program;
    Unique<vk::Sampler> sampler;
    std::uint32_t large_group;  // threads of choose.comp and allocate.comp
    vk::Pipeline steps =        // not of one layer
        options.lights > 1 ? make("importance", SHADOW_STEPS) : vk::Pipeline();
    vk::Pipeline importance =
        make("importance", options.lights == 1 ? SHADOW_WHOLE : SHADOW_REQUESTS);
    vk::Pipeline count = make("count");
    vk::Pipeline choose = make("choose");
    vk::Pipeline list = make("list");
    vk::Pipeline change = make("change");
    vk::Pipeline allocate = make("allocate");
    vk::Pipeline page_table = make("page_table");
    vk::Pipeline cull = make("cull");
};

struct ShadowFitter::Binding::Impl {
    std::shared_ptr<const ShadowFitter::Impl> owner;
    BufferRange memory;
    Unique<vk::ImageView> importance;
    Unique<vk::ImageView> page_table;
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
    SetConstants constants;
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
}

ShadowFitter::ShadowFitter(const Device& device, const ShadowOptions& options)
    : impl_(std::make_shared<const Impl>(device, options)) {}

const ShadowOptions& ShadowFitter::options() const noexcept {
    return impl_->options;
}

ShadowFitter::Requirements ShadowFitter::requirements() const {
    const Layout& layout = impl_->layout;
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
            .render_offset_bytes = layout.offset_bytes(layout.places.render)};
}

ShadowFitter::Binding ShadowFitter::bind(const Resources& resources) const {
    require(resources.memory.buffer != VK_NULL_HANDLE, "a buffer for their memory");
    require(resources.importance != VK_NULL_HANDLE, "an image for importance");
    require(resources.page_table != VK_NULL_HANDLE, "an image for the page table");
    require(resources.depth != VK_NULL_HANDLE, "a view of the camera's depth buffer");
    require(resources.atlas != VK_NULL_HANDLE, "a view of their atlas");
    if (resources.memory.offset_bytes % ALIGNMENT_BYTES != 0) {
        detail::refuse("the memory of shadow maps begins at ", resources.memory.offset_bytes,
                       " bytes; take a multiple of Requirements::alignment_bytes, ",
                       ALIGNMENT_BYTES);
    }
    const DeviceContext& context = impl_->program.context();
    const std::uint32_t layers = impl_->options.lights;
    auto importance = make_view(context, resources.importance, vk::Format::eR32Uint, layers);
    auto pages = make_view(context, resources.page_table, vk::Format::eR32Uint, layers);
    auto set = impl_->program.make_descriptors(
        {Descriptor::sampled(*impl_->sampler, resources.depth, resources.depth_layout),
         Descriptor::storage_images({*importance}), Descriptor::storage_images({*pages}),
         Descriptor::storage_buffer(resources.memory, impl_->layout.size_bytes),
         Descriptor::sampled(*impl_->sampler, resources.atlas, resources.atlas_layout)});
    return Binding(std::make_shared<Binding::Impl>(Binding::Impl{
        impl_, resources.memory, std::move(importance), std::move(pages), std::move(set)}));
}

ShadowFitter::ChangeBinding ShadowFitter::bind_changes(const Changes& changes) const {
    require(changes.boxes.buffer != VK_NULL_HANDLE, "a buffer of changes");
    require(changes.count.buffer != VK_NULL_HANDLE, "a buffer with the number of changes");
    if (changes.capacity == 0 || changes.capacity > MOST_CHANGES) {
        detail::refuse("Changes::capacity is ", changes.capacity, ", but must be 1 to ",
                       MOST_CHANGES);
    }
    const Descriptor count = Descriptor::storage_buffer(changes.count, sizeof(std::uint32_t));
    auto set = impl_->objects.make_descriptors(  // kernels do not use its third one
        {Descriptor::storage_buffer(changes.boxes, changes.capacity * sizeof(ShadowChange)), count,
         count});
    return ChangeBinding(std::make_shared<ChangeBinding::Impl>(
        ChangeBinding::Impl{impl_, std::move(set), changes.capacity}));
}

ShadowFitter::ObjectBinding ShadowFitter::bind_objects(const Binding& binding,
                                                       const Objects& objects) const {
    require(objects.objects.buffer != VK_NULL_HANDLE, "a buffer of objects");
    require(objects.draws.buffer != VK_NULL_HANDLE, "a buffer for draws");
    require(objects.instances.buffer != VK_NULL_HANDLE, "a buffer for instances");
    require(objects.object_count > 0, "an object at least to cull");
    const DeviceContext& context = impl_->program.context();
    const std::uint64_t most_objects = impl_->most_objects();
    if (objects.object_count > most_objects) {
        detail::cannot("culling has ", objects.object_count, " objects, but takes ", most_objects,
                       " on ", context.info.name,
                       " with this max_tiles; bind several sets of objects");
    }
    const std::uint64_t most_instances =
        context.max_storage_buffer_range_bytes / sizeof(std::uint32_t);
    if (objects.instance_capacity > most_instances) {
        detail::cannot("culling has room for ", objects.instance_capacity, " instances, but ",
                       context.info.name, " can address ", most_instances, "; give no more room");
    }
    if (objects.instance_capacity < impl_->options.max_tiles) {
        detail::refuse("culling has room for ", objects.instance_capacity,
                       " instances, but needs max_tiles, ", impl_->options.max_tiles, ", at least");
    }
    auto set = impl_->objects.make_descriptors(
        {Descriptor::storage_buffer(objects.objects, objects.object_count * sizeof(ShadowObject)),
         Descriptor::storage_buffer(objects.draws,
                                    objects.object_count * sizeof(VkDrawIndexedIndirectCommand)),
         Descriptor::storage_buffer(objects.instances,
                                    objects.instance_capacity * sizeof(std::uint32_t))});
    // Few objects share the tiles out to several threads each.
    const std::uint32_t lanes =
        std::clamp(std::bit_floor(CULL_THREADS / objects.object_count), 1U, SHADOW_CULL_GROUP);
    return ObjectBinding(std::make_shared<ObjectBinding::Impl>(
        ObjectBinding::Impl{impl_,
                            binding.impl_->descriptors.set,
                            std::move(set),
                            {.object_count = objects.object_count,
                             .instance_capacity = objects.instance_capacity,
                             .is_static = objects.is_static ? 1U : 0U,
                             .lanes = lanes}}));
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

void ShadowFitter::Impl::record_kernel(vk::CommandBuffer commands, vk::DescriptorSet bound,
                                       vk::Pipeline pipeline, vk::Extent3D groups,
                                       vk::DescriptorSet set, const SetConstants& of_set) const {
    const Dispatch& dispatch = program.dispatch();
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline, dispatch);
    const std::array sets{bound, set};
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program.layout(), 0, set ? 2U : 1U,
                                sets.data(), 0, nullptr, dispatch);
    const PushConstants constants{
        .parameters = parameters, .of_set = of_set, .places = layout.places};
    commands.pushConstants<PushConstants>(program.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                          constants, dispatch);
    commands.dispatch(groups.width, groups.height, groups.depth, dispatch);
}

void ShadowFitter::record(VkCommandBuffer commands, const Binding& binding,
                          const ShadowFrame& frame, const ChangeBinding* changes) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    const vk::CommandBuffer buffer(commands);
    // An empty frame has an unused layer: its workgroups clear what the last frame has left.
    const std::uint32_t layers = std::max(frame.layers, 1U);
    const vk::Extent3D blocks{shadow_light_blocks(impl.parameters), 1, layers};
    const auto kernel = [&](vk::Pipeline pipeline, vk::Extent3D groups, auto... set) {
        impl.record_kernel(buffer, bound.descriptors.set, pipeline, groups, set...);
        impl.kernel_barrier(buffer);
    };
    buffer.updateBuffer(bound.memory.buffer, bound.memory.offset_bytes,
                        offsetof(ShadowFrame, lights) + layers * sizeof(ShadowLight), &frame,
                        impl.program.dispatch());
    impl.kernel_barrier(buffer, Stage::eTransfer, Access::eTransferWrite);
    if (impl.options.lights > 1) {
        kernel(impl.steps, {groups_of(layers, SHADOW_STEP_GROUP), 1, 1});
    }
    kernel(impl.importance, {groups_of(frame.depth_width, SHADOW_PICTURE_BLOCK),
                             groups_of(frame.depth_height, SHADOW_PICTURE_BLOCK), 1});
    kernel(impl.count, blocks);
    kernel(impl.choose, {1, 1, 1});
    kernel(impl.list, blocks);
    if (changes != nullptr) {
        const ChangeBinding::Impl& changed = *changes->impl_;
        kernel(impl.change,
               {groups_of(changed.capacity, SHADOW_CHANGE_GROUP),
                groups_of(impl.options.max_tiles, SHADOW_CHANGE_TILES), 1},
               changed.descriptors.set, SetConstants{.object_count = changed.capacity});
    }
    // These two run beside each other.
    impl.record_kernel(buffer, bound.descriptors.set, impl.allocate,
                       {groups_of(impl.options.max_tiles, SHADOW_ALLOCATE_GROUP), 1, 1});
    impl.record_kernel(buffer, bound.descriptors.set, impl.page_table, blocks);
}

void ShadowFitter::record_cull(VkCommandBuffer commands, const ObjectBinding& objects) const {
    const ObjectBinding::Impl& bound = *objects.impl_;
    const std::uint32_t threads =
        std::max(bound.constants.object_count * bound.constants.lanes, impl_->options.max_tiles);
    impl_->record_kernel(vk::CommandBuffer(commands), bound.frame, impl_->cull,
                         {groups_of(threads, SHADOW_CULL_GROUP), 1, 1}, bound.descriptors.set,
                         bound.constants);
}

}  // namespace quadtile
