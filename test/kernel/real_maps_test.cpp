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
        for (const float pixels : {0.5F, 64.0F}) {
            const Threshold threshold = Threshold::max_resolution(pixels);
            const TileList expected = reference::subdivide(map, threshold);
            EXPECT_EQ(check_partition(expected.tiles, map.shape), "");
            EXPECT_EQ(difference(tiler_for(all_variants().front(), Strategy::per_level)
                                     .subdivide(map, threshold),
                                 expected),
                      "")
                << entry.path() << ", per level, " << pixels;
            EXPECT_EQ(
                difference(
                    tiler_for(all_variants().front(), Strategy::fused).subdivide(map, threshold),
                    expected),
                "")
                << entry.path() << ", fused, " << pixels;
            for (const std::uint32_t levels : {2U, 6U}) {
                const TileList list = tiler_for(all_variants().front(), Strategy::subtree, levels)
                                          .subdivide(map, threshold);
                EXPECT_EQ(difference(list, expected), "")
                    << entry.path() << ", " << levels << " subtree levels, " << pixels;
            }
        }
    }
    EXPECT_GT(maps, 0U) << "no .exr file in " << *data / "importance";
}

}  // namespace
}  // namespace quadtile::test
#endif
