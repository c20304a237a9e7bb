// Resources that a TileEngine keeps between runs: pipelines, and images and buffers that grow.

#include "running/tile_engine.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace quadtile::detail {

void TileEngine::forget_resources() {
    if (is_hung()) {
        return;
    }
    map_.reset();
    upload_staging_.forget();
    readback_staging_.forget();
}

bool TileEngine::prepare_strategy(const SubdividerOptions& options) {
    commands_.refuse_if_hung();  // resources of a hung run stay as they are
    const auto is_it = [&](const KnownSubdivider& known) {
        return known.options.strategy == options.strategy &&
               (options.strategy != Strategy::subtree ||
                known.options.subtree_levels == options.subtree_levels) &&
               known.options.threshold_function == options.threshold_function;
    };
    auto known = std::ranges::find_if(subdividers_, is_it);
    const bool is_new = known == subdividers_.end();
    if (is_new) {
        subdividers_.push_back({options, Subdivider(device_, options)});
        known = std::prev(subdividers_.end());
    }
    // Functions may be generated per request, so only the last ones are kept.
    constexpr std::ptrdiff_t MOST_FUNCTIONS = 8;
    const auto has_function = [](const KnownSubdivider& one) {
        return !one.options.threshold_function.empty();
    };
    if (std::ranges::count_if(subdividers_, has_function) > MOST_FUNCTIONS) {
        const auto oldest = std::ranges::find_if(subdividers_, has_function);
        if (subdivider_ == &oldest->subdivider) {
            subdivider_ = nullptr;
        }
        subdividers_.erase(oldest);
    }
    if (subdivider_ != &known->subdivider) {
        subdivider_ = &known->subdivider;
        if (map_) {
            map_->unbind();
        }
    }
    if (options.strategy != Strategy::fused && !pyramid_) {
        pyramid_.emplace(device_);
    }
    return is_new;
}

// Prepares what all runs on maps of a shape need. Strategies share it.
void TileEngine::prepare_map(const MapShape& shape) {
    const auto has_room = [&] {
        MapShape room = map_->room;
        room.layers = shape.layers;
        return room == shape && map_->room.layers >= shape.layers;
    };
    if (!map_ || !clean_ || !has_room()) {
        map_.reset();  // before the new one, so that both never take memory together
        (void)subdivider_->requirements(shape, 1);  // refuses shapes that the device cannot have
        using Usage = vk::ImageUsageFlagBits;
        Image image({context_, account_}, "the importance map",
                    image_info(shape, 1, Usage::eSampled | Usage::eTransferDst),
                    aspect_of(shape.format));
        map_ = MapResources{};  // not emplace: Clang 14 does not see its default constructor
        map_->room = map_->used = shape;
        map_->map = std::move(image);
        clean_ = true;
    } else if (map_->used != shape) {
        map_->used = shape;
        map_->unbind();
    }
    prepare_buffer(map_->scratch, "the scratch of the subdivision",
                   subdivider_->requirements(shape, 1).scratch_size_bytes);
    if (has_pyramid()) {
        const Pyramid::Requirements needed = pyramid_->requirements(shape);
        prepare_buffer(map_->pyramid, "the pyramid", needed.pyramid_size_bytes);
        prepare_buffer(map_->pyramid_state, "the pyramid's state", needed.state_size_bytes);
    }
}

// Makes one of the map's buffers at least so long.
void TileEngine::prepare_buffer(Buffer& buffer, const std::string& name, std::uint64_t size_bytes) {
    if (buffer.handle() && buffer.size_bytes() >= size_bytes) {
        return;
    }
    using Usage = vk::BufferUsageFlagBits;
    map_->unbind();
    buffer = {};  // before the new one
    buffer = Buffer(
        {context_, account_}, name, size_bytes,
        Usage::eStorageBuffer | Usage::eIndirectBuffer | Usage::eTransferDst | Usage::eTransferSrc,
        MemoryKind::device);
}

void TileEngine::prepare_list(std::uint64_t capacity) {
    if (map_->list.handle() && map_->capacity >= capacity) {
        return;
    }
    map_->capacity = 0;  // if it fails
    prepare_buffer(map_->list, "a list of " + std::to_string(capacity) + " tiles",
                   subdivider_->requirements(map_->used, capacity).tile_list_size_bytes);
    map_->capacity = capacity;
}

// Binds what a run needs, and nothing else: other buffers may be too short for the map in use.
void TileEngine::bind(const Needs& needs) {
    const MapImage image{map_->map.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    if (has_pyramid() && !map_->pyramid_binding) {
        map_->pyramid_binding =
            pyramid_->bind(map_->used, {.map = image,
                                        .pyramid = {map_->pyramid.handle()},
                                        .state = {map_->pyramid_state.handle()}});
    }
    if (map_->binding && map_->bound == needs) {
        return;
    }
    const auto needed = [](bool is_needed, const Buffer& buffer) {
        return BufferRange{is_needed ? buffer.handle() : vk::Buffer()};
    };
    map_->binding = subdivider_->bind(
        map_->used, {.map = image,
                     .pyramid = needed(has_pyramid(), map_->pyramid),
                     .scratch = {map_->scratch.handle()},
                     .tile_list = {map_->list.handle()},
                     .tile_capacity = map_->capacity,
                     .node_thresholds = needed(needs.node_thresholds, map_->node_thresholds),
                     .layer_thresholds = needed(needs.layer_thresholds, map_->layer_thresholds),
                     .balance = needed(needs.balance, map_->balance)});
    map_->bound = needs;
}

}  // namespace quadtile::detail
