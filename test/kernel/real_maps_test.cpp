// The real importance maps, where they are present (see data_directory): every strategy gives the
// reference's list, and the tiles partition the map.

#include "gpu_test.hpp"
#include "support/maps.hpp"

#ifdef QUADTILE_HAS_IMAGES
#include <quadtile/images.hpp>

namespace quadtile::test {
namespace {

class RealMaps : public GpuTest {};

TEST_F(RealMaps, EveryStrategyPartitionsThem) {
    const auto data = data_directory();
    if (!data) {
        GTEST_SKIP() << "no real importance maps here: set QUADTILE_DATA to their folder";
    }
    std::size_t maps = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*data / "importance")) {
        if (entry.path().extension() != ".exr") {
            continue;
        }
        ++maps;
        const LoadedMap loaded = load_map(entry.path());
        const MapView map = loaded.view();
        SCOPED_TRACE(entry.path());
        const Threshold threshold = Threshold::max_resolution(maps % 2 == 0 ? 0.5F : 64.0F);
        const TileList expected = reference::subdivide(map, threshold);
        EXPECT_EQ(check_partition(expected.tiles, map.shape), "");
        for (const Strategy strategy : STRATEGIES) {
            EXPECT_EQ(difference(tiler_for(strategy).subdivide(map, threshold), expected), "")
                << text_of(strategy);
        }
    }
    EXPECT_GT(maps, 0U) << "no .exr file in " << *data / "importance";
}

}  // namespace
}  // namespace quadtile::test
#endif
