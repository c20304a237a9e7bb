// A ShadowFitter on the GPU with what it asks its caller for, and its results beside its twin's.

#pragma once

#include "support/gpu.hpp"
#include "support/variants.hpp"

#include "scene.hpp"

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadtile::test {

// Resources that callers of ShadowFitter must provide.
class Workspace {
 public:
    Workspace(Gpu& gpu, const ShadowOptions& options)
        : gpu_(gpu),
          fitter_(gpu.device(), options),
          needed_(fitter_.requirements()),
          memory_(gpu.make_buffer(needed_.memory_size_bytes, needed_.usage)),
          importance_(gpu.make_image(needed_.importance)),
          page_table_(gpu.make_image(needed_.page_table)),
          depth_(gpu.make_image(MapShape{DEPTH_EXTENT.width, DEPTH_EXTENT.height})),
          depth_view_(gpu.make_view(depth_)),
          atlas_(gpu.make_image(MapShape{options.atlas_extent, options.atlas_extent})),
          atlas_view_(gpu.make_view(atlas_)),
          binding_(fitter_.bind({.memory = memory_.range(),
                                 .importance = importance_.handle(),
                                 .page_table = page_table_.handle(),
                                 .depth = depth_view_.get(),
                                 .atlas = atlas_view_.get()})) {
        gpu_.fill(memory_, 0);
        const std::vector<float> zeros(std::size_t{options.map_extent} * options.map_extent *
                                       options.lights);
        gpu_.upload(importance_, zeros.data());
        gpu_.upload(atlas_, empty_atlas(options).data());
    }

    [[nodiscard]] const ShadowFitter& fitter() const { return fitter_; }
    [[nodiscard]] const ShadowFitter::Binding& binding() const { return binding_; }
    [[nodiscard]] const ShadowFitter::Requirements& needed() const { return needed_; }

    // `atlas`: empty if it stays as it is, at first without casters.
    void run(const ShadowFrame& frame, const std::vector<float>& depth,
             const std::vector<float>& atlas = {}, const std::vector<ShadowChange>& changes = {},
             std::uint32_t capacity = 0) {
        frame_ = frame;
        gpu_.upload(depth_, depth.data());
        if (!atlas.empty()) {
            gpu_.upload(atlas_, atlas.data());
        }
        if (changes.empty()) {
            gpu_.run([&](VkCommandBuffer commands) { fitter_.record(commands, binding_, frame); });
            return;
        }
        const auto count = static_cast<std::uint32_t>(changes.size());
        const Buffer boxes = gpu_.make_buffer(changes);
        const Buffer counts = gpu_.make_buffer(std::vector<std::uint32_t>{count});
        const auto changed = fitter_.bind_changes({.boxes = boxes.range(),
                                                   .count = counts.range(),
                                                   .capacity = capacity > 0 ? capacity : count});
        gpu_.run(
            [&](VkCommandBuffer commands) { fitter_.record(commands, binding_, frame, &changed); });
    }

    [[nodiscard]] ShadowHeader header() {
        return read<ShadowHeader>(needed_.header_offset_bytes, 1)[0];
    }

    // All of the last frame, as the twin gives it.
    [[nodiscard]] reference::ShadowFitter::Result result() {
        reference::ShadowFitter::Result result;
        result.header = header();
        result.tiles = read<ShadowTile>(needed_.tiles_offset_bytes, result.header.tiles);
        result.render =
            read<std::uint32_t>(needed_.render_offset_bytes, result.header.render_count);
        result.importance = importance();  // as the next frame begins with it
        result.page_table = texels<std::uint32_t>(page_table_);
        const std::size_t layer_texels = result.page_table.size() / fitter_.options().lights;
        for (std::size_t i = 0; i < result.page_table.size(); ++i) {
            if (shadow_is_unused(frame_.lights[i / layer_texels])) {  // nobody reads it
                result.page_table[i] = 0;
                result.importance[i] = 0.0F;
            }
        }
        return result;
    }

    // Returns the slots that culling leaves, per object, ascending.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> cull(
        const std::vector<ShadowObject>& objects, std::uint32_t instance_capacity, bool is_static) {
        const auto count = static_cast<std::uint32_t>(objects.size());
        const Buffer boxes = gpu_.make_buffer(objects);
        const Buffer draws = gpu_.make_buffer(objects.size() * sizeof(VkDrawIndexedIndirectCommand),
                                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        const Buffer instances = gpu_.make_buffer(instance_capacity * sizeof(std::uint32_t),
                                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        const auto bound = fitter_.bind_objects(binding_, {.objects = boxes.range(),
                                                           .object_count = count,
                                                           .draws = draws.range(),
                                                           .instances = instances.range(),
                                                           .instance_capacity = instance_capacity,
                                                           .is_static = is_static});
        gpu_.run([&](VkCommandBuffer commands) { fitter_.record_cull(commands, bound); });
        const auto commands = gpu_.read<VkDrawIndexedIndirectCommand>(draws, 0, objects.size());
        const auto tiles = gpu_.read<std::uint32_t>(instances, 0, instance_capacity);
        std::vector<std::vector<std::uint32_t>> drawn;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (commands[i].indexCount != objects[i].index_count ||
                commands[i].firstIndex != objects[i].first_index ||
                commands[i].vertexOffset != objects[i].vertex_offset) {
                throw std::runtime_error("the draw of object " + std::to_string(i) +
                                         " is of other indices");
            }
            const auto first = tiles.begin() + commands[i].firstInstance;
            drawn.emplace_back(first, first + commands[i].instanceCount);
            std::ranges::sort(drawn.back());
        }
        return drawn;
    }

 private:
    template <typename T>
    std::vector<T> read(VkDeviceSize offset_bytes, std::size_t count) {
        return count == 0 ? std::vector<T>() : gpu_.read<T>(memory_, offset_bytes, count);
    }

    template <typename T>
    std::vector<T> texels(const Image& image) {
        const std::vector<std::byte> bytes = gpu_.download(image, 0);
        std::vector<T> values(bytes.size() / sizeof(T));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

    // The importance image, with the texels where the maps of the last frame have them.
    std::vector<float> importance() {
        const ShadowParameters parameters = shadow_parameters(fitter_.options());
        const std::uint32_t extent = fitter_.options().map_extent;
        const std::vector<float> image = texels<float>(importance_);
        std::vector<float> map;
        for (std::uint32_t i = 0; i < image.size(); ++i) {
            const std::uint32_t layer = i / extent / extent;
            const auto turned = [&](std::uint32_t axis, std::uint32_t place) {
                const std::int32_t origin = shadow_origin(parameters, frame_.lights[layer], axis);
                return shadow_importance_texel(parameters, origin, place);
            };
            map.push_back(image[(layer * extent + turned(1, i / extent % extent)) * extent +
                                turned(0, i % extent)]);
        }
        return map;
    }

    Gpu& gpu_;
    ShadowFitter fitter_;
    ShadowFitter::Requirements needed_;
    Buffer memory_;
    Image importance_;
    Image page_table_;
    Image depth_;
    Owned<VkImageView> depth_view_;
    Image atlas_;
    Owned<VkImageView> atlas_view_;
    ShadowFitter::Binding binding_;
    ShadowFrame frame_{};  // the last one
};

// Names what differs from the twin's result, to the bit; empty where nothing does.
inline std::string difference(const reference::ShadowFitter::Result& gpu,
                              const reference::ShadowFitter::Result& twin) {
    const auto same = [](const auto& a, const auto& b) {
        return a.size() == b.size() &&
               (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
    };
    std::vector<float> faded;
    for (const float importance : twin.importance) {
        faded.push_back(shadow_faded(importance));
    }
    std::string differing;
    const auto check = [&](bool is_same, const char* what) {
        differing += is_same ? "" : (differing.empty() ? "" : ", ") + std::string(what);
    };
    check(same(gpu.importance, faded), "importance");
    check(gpu.header.factor_index == twin.header.factor_index, "factor");
    check(gpu.header.tiles == twin.header.tiles, "number of tiles");
    check(std::memcmp(&gpu.header, &twin.header, sizeof(ShadowHeader)) == 0, "header");
    check(same(gpu.tiles, twin.tiles), "tiles");
    check(same(gpu.render, twin.render), "render");
    check(same(gpu.page_table, twin.page_table), "page table");
    return differing;
}

}  // namespace quadtile::test
