#include "map_files.hpp"

#include "support/pfm.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::pfm;

class MapFilesTest : public ::testing::Test {
 protected:
    std::filesystem::path add(const std::string& name, std::uint32_t side) const {
        return directory_.add(name, pfm(std::vector(std::size_t{side} * side, 1.0F), side));
    }
    std::uint32_t width() { return files_.wait().frame->map.shape.width; }

    quadtile::test::TemporaryDirectory directory_;
    MapFiles files_{[] {}};
};

TEST_F(MapFilesTest, GoesThroughFilesInBothDirections) {
    files_.open({add("a.pfm", 3), add("b.pfm", 4), add("c.pfm", 5)}, {});
    EXPECT_TRUE(files_.is_loading());
    const auto first = files_.wait();
    EXPECT_EQ(first.frame->name, "a.pfm");
    EXPECT_EQ(first.frame->statistics.texels, 9U);
    EXPECT_EQ(first.frame->stamp, stamp_of(directory_.path() / "a.pfm"));
    EXPECT_FALSE(files_.is_loading() || files_.take());
    for (const auto& [step, side] : {std::pair(1, 4U), {1, 5U}, {1, 3U}, {-1, 5U}, {-7, 4U}}) {
        files_.step(step);
        EXPECT_EQ(width(), side);
    }
    EXPECT_EQ(files_.index(), 1U);
    files_.open({}, {});
    EXPECT_EQ(files_.wait().frame->name, "demo map");
}

// Catches a result of an earlier request, and one that never comes.
TEST_F(MapFilesTest, OnlyTheLastRequestArrives) {
    files_.open({add("a.pfm", 300), add("b.pfm", 4), add("c.pfm", 5)}, {});
    files_.step(1);
    files_.step(1);
    EXPECT_EQ(width(), 5U);
    EXPECT_FALSE(files_.is_loading());
    directory_.add("c.pfm", pfm(std::vector{1.0F}, 1));
    files_.reload();
    EXPECT_EQ(width(), 1U);
    files_.choose_channel("Z");
    EXPECT_THAT(files_.wait().error, ::testing::HasSubstr("Z"));
    EXPECT_EQ(stamp_of("missing.exr"), std::nullopt);
}

}  // namespace
}  // namespace quadtile::viewer::test
