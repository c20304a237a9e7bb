#include "support/workspace.hpp"

namespace quadtile::test {

namespace {

Buffer make_zeros(Gpu& gpu, VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
    Buffer buffer = gpu.make_buffer(size_bytes, usage);
    gpu.fill(buffer, 0);
    return buffer;
}

}  // namespace

PyramidWorkspace::PyramidWorkspace(Gpu& gpu, const Pyramid& pyramid, const MapView& view)
    : shape(view.shape),
      map(gpu.upload(view)),
      levels(gpu.make_buffer(pyramid.requirements(shape).pyramid_size_bytes,
                             pyramid.requirements(shape).usage)),
      state(make_zeros(gpu, pyramid.requirements(shape).state_size_bytes,
                       pyramid.requirements(shape).usage)),
      binding(pyramid.bind(
          shape, {.map = map.map_image(), .pyramid = levels.range(), .state = state.range()})) {}

SubdivisionWorkspace::SubdivisionWorkspace(Gpu& gpu, const Subdivider& subdivider,
                                           const PyramidWorkspace& pyramid,
                                           std::uint64_t tile_capacity)
    : scratch(make_zeros(gpu,
                         subdivider.requirements(pyramid.shape, tile_capacity).scratch_size_bytes,
                         subdivider.requirements(pyramid.shape, tile_capacity).usage)),
      tile_list(gpu.make_buffer(
          subdivider.requirements(pyramid.shape, tile_capacity).tile_list_size_bytes,
          subdivider.requirements(pyramid.shape, tile_capacity).usage)),
      binding(subdivider.bind(pyramid.shape, {.map = pyramid.map.map_image(),
                                              .pyramid = pyramid.levels.range(),
                                              .scratch = scratch.range(),
                                              .tile_list = tile_list.range(),
                                              .tile_capacity = tile_capacity})) {}

TileListHeader SubdivisionWorkspace::read_header(Gpu& gpu) const {
    return gpu.read<TileListHeader>(tile_list, 0, 1).front();
}

std::vector<Tile> SubdivisionWorkspace::read_tiles(Gpu& gpu) const {
    return gpu.read<Tile>(tile_list, sizeof(TileListHeader), read_header(gpu).written);
}

}  // namespace quadtile::test
