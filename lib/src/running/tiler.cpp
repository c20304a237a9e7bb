#include <quadtile/tiler.hpp>

#include "running/tile_engine.hpp"
#include "values/layers_and_budgets.hpp"

#include <utility>

namespace quadtile {

struct Tiler::Impl {
    detail::TileEnginePointer engine;
};

Tiler::Tiler(const Device& device, const TilerOptions& options)
    : impl_(new Impl{detail::TileEnginePointer(new detail::TileEngine(device, options))}) {}
Tiler::Tiler(Tiler&&) noexcept = default;
Tiler& Tiler::operator=(Tiler&&) noexcept = default;
Tiler::~Tiler() = default;

TileList Tiler::subdivide(const MapView& map, const Threshold& threshold,
                          const SubdivideOptions& options) {
    return std::move(impl_->engine->subdivide({&map, 1}, {&threshold, 1}, options).front());
}

TileList Tiler::subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                          const SubdivideOptions& options) {
    (void)detail::resolve_layers(map.shape, layer_thresholds);  // names one that does not fit
    return std::move(impl_->engine->subdivide({&map, 1}, layer_thresholds, options).front());
}

}  // namespace quadtile
