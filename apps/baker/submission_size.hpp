// How much goes into a submission, so that none takes much longer than it should.

#pragma once

#include <algorithm>

namespace quadtile::baker {

// By the speed of the submissions before. Work is counted in any unit that tells how long it takes.
class SubmissionSize {
 public:
    SubmissionSize(double first_work, double seconds)
        : seconds_(seconds), least_work_(first_work / 8.0), speed_(first_work / seconds) {}

    [[nodiscard]] double most_work() const { return std::max(least_work_, speed_ * seconds_); }

    // Small submissions tell little of the speed, but always a lower bound.
    void note(double work, double seconds) {
        const double speed = std::max(work, 1.0) / seconds;
        speed_ = speed > speed_       ? std::min(speed, 2.0 * speed_)
                 : seconds > seconds_ ? 0.5 * (speed_ + speed)
                                      : speed_;
    }

 private:
    double seconds_;
    double least_work_;
    double speed_;  // work a second
};

}  // namespace quadtile::baker
