// Frame times as the panel shows them. They catch a bound on what moves that bounds the time that
// is shown, too (all frames of 0.25 s and more were "250 ms"), and means that follow too slowly.

#include "frame_clock.hpp"

#include <gmock/gmock.h>

namespace quadtile::shadow {
namespace {

using ::testing::FloatNear;

TEST(FrameClock, ShowsLongFramesAsTheyAre) {
    FrameClock clock;
    EXPECT_EQ(clock.frame_milliseconds(), 0.0F);
    clock.add(2.0F);
    EXPECT_EQ(clock.frame_milliseconds(), 2000.0F);
    EXPECT_EQ(clock.step_seconds(), 0.25F);  // nothing jumps
    clock.add(0.8F);
    EXPECT_THAT(clock.frame_milliseconds(), FloatNear(800.0F, 0.01F));
}

TEST(FrameClock, ShowsTheMeanOfHalfASecond) {
    FrameClock clock;
    for (int frame = 0; frame < 1000; ++frame) {
        clock.add(frame % 2 == 0 ? 0.010F : 0.020F);
    }
    EXPECT_THAT(clock.frame_milliseconds(), FloatNear(15.0F, 0.2F));
    EXPECT_EQ(clock.step_seconds(), 0.020F);
    for (int frame = 0; frame < 3; ++frame) {
        clock.add(0.3F);
    }
    EXPECT_THAT(clock.frame_milliseconds(), FloatNear(300.0F, 0.01F));
}

}  // namespace
}  // namespace quadtile::shadow
