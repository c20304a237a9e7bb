// Resources that a TileEngine keeps between runs: pipelines, and images and buffers that grow.

#include "running/tile_engine.hpp"

#include <algorithm>
#include <utility>

namespace quadtile::detail {

void TileEngine::forget_resources() {
    if (is_hung()) {
        return;
    }
    list_.reset();
    map_.reset();
    upload_staging_.forget();
    readback_staging_.forget();
}

// Returns a known Subdivider; null: there is none yet.
const Subdivider* TileEngine::find_subdivider(const SubdividerOptions& options) const {
    const auto is_it = [&](const KnownSubdivider& known) {
        return known.options.strategy == options.strategy &&
               (options.strategy != Strategy::subtree ||
                known.options.subtree_levels == options.subtree_levels) &&
               known.options.threshold_function == options.threshold_function;
    };
    const auto known = std::ranges::find_if(subdividers_, is_it);
    return known != subdividers_.end() ? &known->subdivider : nullptr;
}

const Subdivider& TileEngine::make_subdivider(const SubdividerOptions& options) {
    Subdivider made(device_, options);
    // Functions may be generated per request, so only the last ones are kept.
    constexpr std::ptrdiff_t MOST_FUNCTIONS = 8;
    const auto has_function = [](const KnownSubdivider& one) {
        return one.options.threshold_function.has_value();
    };
    if (options.threshold_function &&
        std::ranges::count_if(subdividers_, has_function) >= MOST_FUNCTIONS) {
        const auto oldest = std::ranges::find_if(subdividers_, has_function);
        if (subdivider_ == &oldest->subdivider) {
            list_.reset();
            map_.reset();
            subdivider_ = nullptr;
        }
        subdividers_.erase(oldest);
    }
    return subdividers_.emplace_back(KnownSubdivider{options, std::move(made)}).subdivider;
}

bool TileEngine::prepare_strategy(const SubdividerOptions& options) {
    commands_.refuse_if_hung();  // resources of a hung run stay as they are
    const Subdivider* subdivider = find_subdivider(options);
    const bool is_new = subdivider == nullptr;
    if (is_new) {
        subdivider = &make_subdivider(options);
    }
    if (subdivider_ != subdivider) {
        list_.reset();
        map_.reset();
        subdivider_ = subdivider;
    }
    if (options.strategy != Strategy::fused && !pyramid_) {
        pyramid_.emplace(device_);
    }
    return is_new;
}

void TileEngine::prepare_map(const Source& source) {
    const MapShape& shape = source.shape;
    prepare_resources(shape);
    if (!source.image && !map_->map.handle()) {
        MapShape room = shape;
        room.layers = map_->room.layers;
        using Usage = vk::ImageUsageFlagBits;
        map_->map = Image({context_, account_}, "the importance map",
                          image_info(room, 1, Usage::eSampled | Usage::eTransferDst),
                          aspect_of(shape.format));
    }
    const MapImage image =
        source.image.value_or(MapImage{map_->map.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL});
    // The caller may reuse a handle for another image, so images are always bound anew.
    if (!source.image && image.view == map_->bound.view) {
        return;
    }
    map_->bound = {};  // nothing is bound if binding fails
    if (map_->pyramid) {
        map_->pyramid->binding = pyramid_->bind(shape, {.map = image,
                                                        .pyramid = {map_->pyramid->levels.handle()},
                                                        .state = {map_->pyramid->state.handle()}});
    }
    map_->bound = image;
    if (list_) {
        subdivider_->rebind_map(list_->binding, image);
    }
}

// Prepares all resources except an image.
void TileEngine::prepare_resources(const MapShape& shape) {
    const bool fused = subdivider_->strategy() == Strategy::fused;
    if (map_ && clean_) {
        MapShape room = map_->room;
        room.layers = shape.layers;
        // The pyramid is bound for all layers; without one fewer layers suffice.
        if (room == shape &&
            (map_->room.layers == shape.layers || (fused && map_->room.layers >= shape.layers))) {
            if (map_->used != shape) {
                list_.reset();
                map_->used = shape;
                map_->scratch_is_zero = false;  // its parts have other places for other layers
            }
            return;
        }
    }
    list_.reset();
    map_.reset();
    using Usage = vk::BufferUsageFlagBits;
    const MemorySource memory{context_, account_};
    const Subdivider::Requirements for_subdivider = subdivider_->requirements(shape, 1);
    const vk::BufferUsageFlags copied = Usage::eTransferDst | Usage::eTransferSrc;
    Buffer scratch(memory, "the scratch of the subdivision", for_subdivider.scratch_size_bytes,
                   vk::BufferUsageFlags(for_subdivider.usage) | copied, MemoryKind::device);
    std::optional<PyramidResources> pyramid_resources;
    if (!fused) {
        const Pyramid::Requirements needed = pyramid_->requirements(shape);
        Buffer levels(memory, "the pyramid", needed.pyramid_size_bytes,
                      vk::BufferUsageFlags(needed.usage), MemoryKind::device);
        Buffer state(memory, "the pyramid's state", needed.state_size_bytes,
                     vk::BufferUsageFlags(needed.usage) | copied, MemoryKind::device);
        pyramid_resources.emplace(
            PyramidResources{std::move(levels), std::move(state), std::nullopt});
    }
    map_.emplace(MapResources{.room = shape,
                              .used = shape,
                              .bound = {},
                              .map = {},
                              .pyramid = std::move(pyramid_resources),
                              .scratch = std::move(scratch),
                              .scratch_is_zero = false,
                              .node_thresholds = {},
                              .layer_thresholds = {},
                              .balance = {}});
    clean_ = true;
}

void TileEngine::prepare_buffer(Buffer& buffer, const char* name, std::uint64_t size_bytes) {
    if (buffer.handle() && buffer.size_bytes() >= size_bytes) {
        return;
    }
    list_.reset();  // it is bound without the buffer
    buffer = {};
    buffer = Buffer({context_, account_}, name, size_bytes,
                    vk::BufferUsageFlags(subdivider_->requirements(map_->used, 1).usage) |
                        vk::BufferUsageFlagBits::eTransferDst,
                    MemoryKind::device);
}

void TileEngine::prepare_list(std::uint64_t capacity) {
    if (list_ && list_->capacity >= capacity) {
        return;
    }
    const Subdivider::Requirements needed = subdivider_->requirements(map_->used, capacity);
    list_.reset();  // before the new one, so that both never take memory together
    Buffer buffer({context_, account_}, "a list of " + std::to_string(capacity) + " tiles",
                  needed.tile_list_size_bytes,
                  vk::BufferUsageFlags(needed.usage) | vk::BufferUsageFlagBits::eTransferSrc,
                  MemoryKind::device);
    auto binding = bind_list(buffer, capacity);
    list_.emplace(ListResources{capacity, std::move(buffer), std::move(binding)});
}

Subdivider::Binding TileEngine::bind_list(const Buffer& buffer, std::uint64_t capacity) const {
    return subdivider_->bind(
        map_->used, {.map = map_->bound,
                     .pyramid = {map_->pyramid ? map_->pyramid->levels.handle() : vk::Buffer()},
                     .scratch = {map_->scratch.handle()},
                     .tile_list = {buffer.handle()},
                     .tile_capacity = capacity,
                     .node_thresholds = {map_->node_thresholds.handle()},
                     .layer_thresholds = {map_->layer_thresholds.handle()},
                     .balance = {map_->balance.handle()}});
}

}  // namespace quadtile::detail
