// Clock of frames: their durations, and the time step of moving objects.

#pragma once

#include <algorithm>
#include <deque>

namespace quadtile::shadow {

class FrameClock {
 public:
    // Starts a frame, so many seconds after the last one.
    void add(float seconds) {
        constexpr float SHOWN_SECONDS = 0.5F;
        seconds_.push_back(seconds);
        sum_ += seconds;
        while (seconds_.size() > 1 && sum_ - seconds_.front() >= SHOWN_SECONDS) {
            sum_ -= seconds_.front();
            seconds_.pop_front();
        }
    }

    // Mean of the frames of the last half second, or of the last frame if it took longer.
    [[nodiscard]] float frame_milliseconds() const {
        return seconds_.empty() ? 0.0F : 1000.0F * sum_ / static_cast<float>(seconds_.size());
    }
    // Time step of moving objects. Long frames count as short ones, so that nothing jumps.
    [[nodiscard]] float step_seconds() const {
        constexpr float LONGEST_STEP = 0.25F;
        return seconds_.empty() ? 0.0F : std::min(seconds_.back(), LONGEST_STEP);
    }

 private:
    std::deque<float> seconds_;
    float sum_ = 0.0F;
};

}  // namespace quadtile::shadow
