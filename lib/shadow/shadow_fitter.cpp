#include "device/compute_program.hpp"

#include <quadtile/pyramid.hpp>
#include <quadtile/shadow.hpp>
#include <quadtile/subdivider.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace quadtile {

namespace {

using detail::ComputeProgram;
using detail::Descriptor;
using detail::DeviceContext;
using detail::vulkan_calls;

#include "quadtile_shadow_kernels.inc"

// Workgroups of the kernels (their local_size).
constexpr std::uint32_t IMPORTANCE_BLOCK = 32;
constexpr std::uint32_t NODE_GROUP = 256;
constexpr std::uint32_t LARGEST_GROUP = 1024;
constexpr std::uint32_t LARGEST_PLAIN_GROUP = 256;  // without subgroups: sums take longer
constexpr std::uint32_t PAGE_TABLE_BLOCK = 32;
constexpr std::uint32_t CULL_GROUP = 64;

// Of kernels/shadow/bindings.glsl and cull.comp.
constexpr std::uint32_t STORAGE_BUFFERS = 14;

// Of importance.comp.
constexpr std::uint32_t LIT_BINDING = 14;

// As kernels/shadow/bindings.glsl has it.
struct PushConstants {
    ShadowParameters parameters;
    std::uint32_t object_count = 0;
    std::uint32_t instance_capacity = 0;
};

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

constexpr std::uint32_t groups_of(std::uint32_t threads, std::uint32_t group) {
    return (threads + group - 1) / group;
}

// Nodes of the levels from the root's on, so many of them.
constexpr std::uint32_t nodes_from_root(std::uint32_t levels) {
    return ((std::uint32_t{1} << (2 * levels)) - 1) / 3;
}

Descriptor storage_buffer(const BufferRange& range, vk::DeviceSize size_bytes) {
    return Descriptor::storage_buffer(range.buffer, range.offset_bytes, size_bytes);
}

MapShape map_shape(const ShadowOptions& options) {
    return {options.map_extent, options.map_extent, options.lights, TexelFormat::r32_float};
}

void require(bool is_given, const std::string& what) {
    if (!is_given) {
        throw Error(ErrorCode::invalid_argument, "shadow maps need " + what + ", but got none");
    }
}

// A range of the memory.
struct Region {
    VkDeviceSize offset_bytes = 0;
    VkDeviceSize size_bytes = 0;
};

// Where everything lies in the memory.
struct Layout {
    Region frame;
    Region header;
    Region tiles;
    Region lists;
    Region removed;
    Region pyramid;
    Region pyramid_state;
    Region thresholds;
    Region events;
    Region scratch;
    Region tile_list;
    Region work;
    Region last_lights;
    VkDeviceSize size_bytes = 0;
    VkDeviceSize alignment_bytes = 0;
    VkBufferUsageFlags usage = 0;
};

std::uint64_t work_words(const ShadowParameters& parameters) {
    const std::uint64_t cells = shadow_atlas_cells(parameters);
    return std::uint64_t{3} * parameters.max_tiles + 1 + cells / 32;
}

Layout make_layout(const ShadowOptions& options, const ShadowParameters& parameters,
                   const Pyramid& pyramid, const Subdivider& subdivider) {
    const MapShape shape = map_shape(options);
    const auto levels = pyramid.requirements(shape);
    const auto list = subdivider.requirements(shape, options.max_tiles);
    Layout layout;
    constexpr VkDeviceSize LARGEST_STORAGE_ALIGNMENT = 256;  // that Vulkan allows
    layout.alignment_bytes =
        std::max({levels.alignment_bytes, list.alignment_bytes, LARGEST_STORAGE_ALIGNMENT});
    layout.usage = levels.usage | list.usage | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                   VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const auto place = [&](VkDeviceSize size_bytes) {
        const Region region{layout.size_bytes, size_bytes};
        const VkDeviceSize end = layout.size_bytes + size_bytes + layout.alignment_bytes - 1;
        layout.size_bytes = end - end % layout.alignment_bytes;
        return region;
    };
    constexpr VkDeviceSize WORD = sizeof(std::uint32_t);
    layout.frame = place(sizeof(ShadowFrame));
    layout.header = place(sizeof(ShadowHeader));
    layout.tiles = place(options.max_tiles * sizeof(ShadowTile));
    layout.lists = place(3 * WORD * shadow_list_stride(options.max_tiles));
    layout.removed = place(options.max_tiles * sizeof(ShadowTile));
    layout.pyramid = place(levels.pyramid_size_bytes);
    layout.pyramid_state = place(levels.state_size_bytes);
    layout.thresholds = place(threshold_map_size_bytes(shape));
    layout.events = place(WORD * (2 * BUDGET_FACTORS + 1));
    layout.scratch = place(list.scratch_size_bytes);
    layout.tile_list = place(list.tile_list_size_bytes);
    layout.work = place(WORD * work_words(parameters));
    layout.last_lights = place(sizeof(ShadowMatrix) * SHADOW_MAX_LIGHTS);
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
    return vulkan_calls("creating a view of a shadow map's image", [&] {
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

void check_limits(const DeviceContext& context) {
    const std::uint32_t buffers = context.physical_device.getProperties(context.dispatch)
                                      .limits.maxPerStageDescriptorStorageBuffers;
    if (buffers < STORAGE_BUFFERS) {
        throw Error(ErrorCode::unsupported,
                    "fitted shadow maps need " + std::to_string(STORAGE_BUFFERS) +
                        " storage buffers in a shader, but " + context.info.name + " allows " +
                        std::to_string(buffers) + "; take another device");
    }
}

// Threads of the workgroups that sum up.
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
    return std::min({LARGEST_GROUP, limits.maxComputeWorkGroupInvocations,
                     context.info.subgroup_size * subgroups.maxComputeWorkgroupSubgroups});
}

std::vector<detail::BindingType> frame_bindings() {
    using Type = vk::DescriptorType;
    std::vector<detail::BindingType> bindings;
    for (std::uint32_t binding = 0; binding <= LIT_BINDING; ++binding) {
        bindings.push_back({binding, binding == 0 || binding == LIT_BINDING
                                         ? Type::eCombinedImageSampler
                                     : binding < 3 ? Type::eStorageImage
                                                   : Type::eStorageBuffer});
    }
    return bindings;
}

std::vector<detail::BindingType> object_bindings() {
    constexpr auto BUFFER = vk::DescriptorType::eStorageBuffer;
    return {{0, BUFFER}, {1, BUFFER}, {2, BUFFER}};
}

}  // namespace

// ---- What is made once

struct ShadowFitter::Impl {
    Impl(const Device& made_on, const ShadowOptions& given);

    // What one kernel, or also another stage, has written is there for the next.
    void kernel_barrier(vk::CommandBuffer commands, vk::PipelineStageFlags other_stages = {},
                        vk::AccessFlags other_accesses = {}) const;
    void record_frame(vk::CommandBuffer commands, const Binding::Impl& bound,
                      const ShadowFrame& frame) const;
    void record_kernel(vk::CommandBuffer commands, const Binding::Impl& bound,
                       vk::Pipeline pipeline, vk::Extent3D groups) const;

    ShadowOptions options;
    ShadowParameters parameters;
    Pyramid pyramid;
    Subdivider subdivider;
    Layout layout;
    ComputeProgram objects;  // for its descriptors, which are set 1 of the kernels
    ComputeProgram program;
    Unique<vk::Sampler> sampler;
    std::uint32_t large_group;  // threads
    Unique<vk::Pipeline> importance;
    Unique<vk::Pipeline> importance_edges;  // with a lit mask
    Unique<vk::Pipeline> count;
    Unique<vk::Pipeline> thresholds;
    Unique<vk::Pipeline> allocate;
    Unique<vk::Pipeline> page_table;
    Unique<vk::Pipeline> cull;
};

struct ShadowFitter::Binding::Impl {
    std::shared_ptr<const ShadowFitter::Impl> owner;
    BufferRange memory;
    vk::Image importance;
    Unique<vk::ImageView> importance_words;
    Unique<vk::ImageView> importance_floats;
    Unique<vk::ImageView> page_table;
    bool has_lit;
    detail::DescriptorSet descriptors;
    Pyramid::Binding pyramid;
    Subdivider::Binding subdivision;
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
      pyramid(made_on),
      subdivider(made_on, {.strategy = Strategy::fused}),
      layout(make_layout(options, parameters, pyramid, subdivider)),
      objects(made_on.context(), "shadow maps, objects", object_bindings(), 0),
      program(made_on.context(), "shadow maps", frame_bindings(), sizeof(PushConstants),
              objects.set_layout()),
      sampler(
          program.make_sampler(vk::Filter::eNearest, vk::SamplerReductionMode::eWeightedAverage)),
      large_group(largest_group(program.context())) {
    check_limits(program.context());
    // By subgroups where the device has them, and the kernel uses them.
    const bool by_subgroups = made_on.info().features.subgroup_operations;
    const auto make = [&](std::span<const std::uint32_t> plain, const std::string& name,
                          std::span<const std::uint32_t> by_subgroup = {}) {
        const bool uses_subgroups = by_subgroups && !by_subgroup.empty();
        return program.make_pipeline({uses_subgroups ? by_subgroup : plain, uses_subgroups},
                                     "shadow maps, " + name, {{0, large_group}});
    };
    importance = make(SHADOW_IMPORTANCE, "importance");
    importance_edges = make(SHADOW_IMPORTANCE_EDGES, "importance, edges");
    count = make(SHADOW_COUNT, "count", SHADOW_COUNT_SUBGROUP);
    thresholds = make(SHADOW_THRESHOLDS, "thresholds");
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
    return {.memory_size_bytes = layout.size_bytes,
            .alignment_bytes = layout.alignment_bytes,
            .usage = layout.usage,
            // quadtile reads it as floats, atomics need integers.
            .importance =
                image_of(impl_->options, VK_FORMAT_R32_SFLOAT, VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT),
            .page_table = image_of(impl_->options, VK_FORMAT_R32_UINT, 0),
            .frame_offset_bytes = layout.frame.offset_bytes,
            .header_offset_bytes = layout.header.offset_bytes,
            .tiles_offset_bytes = layout.tiles.offset_bytes,
            .kept_offset_bytes = layout.lists.offset_bytes,
            .added_offset_bytes = layout.lists.offset_bytes + list_bytes,
            .removed_offset_bytes = layout.removed.offset_bytes,
            .render_offset_bytes = layout.lists.offset_bytes + 2 * list_bytes,
            .tile_list_offset_bytes = layout.tile_list.offset_bytes};
}

ShadowFitter::Binding ShadowFitter::bind(const Resources& resources) const {
    const Layout& layout = impl_->layout;
    const MapShape shape = map_shape(impl_->options);
    require(resources.memory.buffer != VK_NULL_HANDLE, "a buffer for their memory");
    require(resources.importance != VK_NULL_HANDLE, "an image for importance");
    require(resources.page_table != VK_NULL_HANDLE, "an image for the page table");
    require(resources.depth != VK_NULL_HANDLE, "a view of the camera's depth buffer");
    if (resources.memory.offset_bytes % layout.alignment_bytes != 0) {
        throw Error(ErrorCode::invalid_argument,
                    "the memory of shadow maps begins at " +
                        std::to_string(resources.memory.offset_bytes) +
                        " bytes; take a multiple of Requirements::alignment_bytes, " +
                        std::to_string(layout.alignment_bytes));
    }
    const DeviceContext& context = impl_->program.context();
    const auto range_of = [&](const Region& region) {
        return BufferRange{resources.memory.buffer,
                           resources.memory.offset_bytes + region.offset_bytes};
    };
    auto words = make_view(context, resources.importance, vk::Format::eR32Uint, shape.layers);
    auto floats = make_view(context, resources.importance, vk::Format::eR32Sfloat, shape.layers);
    auto pages = make_view(context, resources.page_table, vk::Format::eR32Uint, shape.layers);

    std::vector<Descriptor> descriptors{
        Descriptor::sampled(*impl_->sampler, resources.depth, resources.depth_layout),
        Descriptor::storage_images({*words}),
        Descriptor::storage_images({*pages}),
    };
    for (const Region& region :
         {layout.frame, layout.header, layout.tiles, layout.lists, layout.removed, layout.pyramid,
          layout.thresholds, layout.events, layout.tile_list, layout.work, layout.last_lights}) {
        descriptors.push_back(storage_buffer(range_of(region), region.size_bytes));
    }
    const bool has_lit = resources.lit != VK_NULL_HANDLE;
    // Without a mask no kernel looks there, but lavapipe follows all descriptors of a set.
    descriptors.push_back(
        has_lit ? Descriptor::sampled(*impl_->sampler, resources.lit, resources.lit_layout)
                : Descriptor::sampled(*impl_->sampler, *words, VK_IMAGE_LAYOUT_GENERAL));
    const MapImage map{*floats, VK_IMAGE_LAYOUT_GENERAL};
    auto pyramid = impl_->pyramid.bind(
        shape,
        {.map = map, .pyramid = range_of(layout.pyramid), .state = range_of(layout.pyramid_state)});
    auto subdivision =
        impl_->subdivider.bind(shape, {.map = map,
                                       .scratch = range_of(layout.scratch),
                                       .tile_list = range_of(layout.tile_list),
                                       .tile_capacity = impl_->options.max_tiles,
                                       .node_thresholds = range_of(layout.thresholds)});
    auto set = impl_->program.make_descriptors(descriptors);
    return Binding(std::make_shared<Binding::Impl>(Binding::Impl{
        impl_, resources.memory, resources.importance, std::move(words), std::move(floats),
        std::move(pages), has_lit, std::move(set), std::move(pyramid), std::move(subdivision)}));
}

void ShadowFitter::rebind_depth(Binding& binding, VkImageView depth, VkImageLayout layout) const {
    require(depth != VK_NULL_HANDLE, "a view of the camera's depth buffer");
    impl_->program.replace_descriptor(binding.impl_->descriptors, 0,
                                      Descriptor::sampled(*impl_->sampler, depth, layout));
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

// What the host says of the frame.
void ShadowFitter::Impl::record_frame(vk::CommandBuffer commands, const Binding::Impl& bound,
                                      const ShadowFrame& frame) const {
    const auto update = [&](std::size_t offset_bytes, std::size_t size_bytes) {
        commands.updateBuffer(bound.memory.buffer,
                              bound.memory.offset_bytes + layout.frame.offset_bytes + offset_bytes,
                              size_bytes, reinterpret_cast<const std::byte*>(&frame) + offset_bytes,
                              program.dispatch());
    };
    update(0, offsetof(ShadowFrame, lights) + options.lights * sizeof(ShadowLight));
    if (frame.rectangle_count > 0) {
        update(offsetof(ShadowFrame, rectangles), frame.rectangle_count * sizeof(ShadowRectangle));
    }
}

// quadtile's own recordings change what is bound, so each kernel binds all that it needs.
void ShadowFitter::Impl::record_kernel(vk::CommandBuffer commands, const Binding::Impl& bound,
                                       vk::Pipeline pipeline, vk::Extent3D groups) const {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline, program.dispatch());
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, program.layout(), 0,
                                bound.descriptors.set, {}, program.dispatch());
    const PushConstants constants{.parameters = parameters};
    commands.pushConstants<PushConstants>(program.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                          constants, program.dispatch());
    commands.dispatch(groups.width, groups.height, groups.depth, program.dispatch());
}

void ShadowFitter::record(VkCommandBuffer commands, const Binding& binding,
                          const ShadowFrame& frame) const {
    const Impl& impl = *impl_;
    const Binding::Impl& bound = *binding.impl_;
    const vk::CommandBuffer buffer(commands);
    const std::uint32_t lights = impl.options.lights;
    const std::uint32_t levels = impl.parameters.map_levels;
    const auto kernel = [&](const Unique<vk::Pipeline>& pipeline, vk::Extent3D groups) {
        impl.record_kernel(buffer, bound, *pipeline, groups);
        impl.kernel_barrier(buffer);
    };
    impl.record_frame(buffer, bound, frame);
    impl.kernel_barrier(buffer, Stage::eTransfer, Access::eTransferWrite);
    kernel(bound.has_lit ? impl.importance_edges : impl.importance,
           {groups_of(frame.depth_width, IMPORTANCE_BLOCK),
            groups_of(frame.depth_height, IMPORTANCE_BLOCK), lights});
    impl.pyramid.record(commands, bound.pyramid);
    impl.kernel_barrier(buffer);
    const std::uint32_t nodes = nodes_from_root(levels);  // of level 1 and above
    const std::uint32_t texel_quads = (std::uint32_t{1} << (2 * levels)) / 4;
    kernel(impl.count, {groups_of(nodes_from_root(levels + 1), impl.large_group), 1, lights});
    kernel(impl.thresholds, {groups_of(texel_quads + nodes, NODE_GROUP), 1, lights});
    impl.subdivider.record(commands, bound.subdivision, Threshold::bound_monotone_map(),
                           {.order = Order::canonical});
    impl.kernel_barrier(buffer);

    // Slots and page table follow from the list, each by itself: no barrier between.
    impl.record_kernel(
        buffer, bound, *impl.allocate,
        {groups_of(impl.options.max_tiles, shadow_allocate_group_tiles(impl.large_group)), 1, 1});
    const std::uint32_t blocks = groups_of(impl.options.map_extent, PAGE_TABLE_BLOCK);
    impl.record_kernel(buffer, bound, *impl.page_table, {blocks, blocks, lights});
}

void ShadowFitter::record_cull(VkCommandBuffer commands, const ObjectBinding& objects) const {
    const Impl& impl = *impl_;
    const ObjectBinding::Impl& bound = *objects.impl_;
    const vk::CommandBuffer buffer(commands);
    const Dispatch& dispatch = impl.program.dispatch();
    buffer.bindPipeline(vk::PipelineBindPoint::eCompute, *impl.cull, dispatch);
    buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, impl.program.layout(), 0,
                              {bound.frame, bound.descriptors.set}, {}, dispatch);
    const PushConstants constants{.parameters = impl.parameters,
                                  .object_count = bound.object_count,
                                  .instance_capacity = bound.instance_capacity};
    buffer.pushConstants<PushConstants>(impl.program.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                        constants, dispatch);
    const std::uint32_t threads = std::max(bound.object_count, impl.options.max_tiles);
    buffer.dispatch(groups_of(threads, CULL_GROUP), 1, 1, dispatch);
}

}  // namespace quadtile
