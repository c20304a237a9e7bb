#include <quadtile/tiler.hpp>

#include "running/tile_engine.hpp"

namespace quadtile {

struct Tiler::Impl {
    detail::TileEnginePointer engine;
};

Tiler::Tiler(const Device& device, const TilerOptions& options)
    : impl_(new Impl{detail::TileEnginePointer(new detail::TileEngine(
          device, options,
          options.memory_limit_bytes != 0
              ? std::make_shared<detail::MemoryAccount>(options.memory_limit_bytes)
              : nullptr))}) {}
Tiler::Tiler(Tiler&&) noexcept = default;
Tiler& Tiler::operator=(Tiler&&) noexcept = default;
Tiler::~Tiler() = default;

TileList Tiler::subdivide(const MapView& map, const Threshold& threshold,
                          const SubdivideOptions& options) {
    return impl_->engine->subdivide(map, threshold, options);
}

TileList Tiler::subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                          const SubdivideOptions& options) {
    return impl_->engine->subdivide(map, layer_thresholds, options);
}

}  // namespace quadtile
