// History of a run's thresholds, for undo and redo.

#pragma once

#include "settings.hpp"

#include <cstddef>
#include <vector>

namespace quadtile::viewer {

class ThresholdHistory {
 public:
    // Adds the threshold after a completed change. Forgets those that were undone.
    void note(const ThresholdSettings& now) {
        if (all_.empty() || all_[at_] != now) {
            all_.resize(all_.empty() ? 0 : at_ + 1);
            all_.push_back(now);
            at_ = all_.size() - 1;
        }
    }
    // Tells whether there is a threshold this many changes later (1) or earlier (-1).
    [[nodiscard]] bool can_go(std::ptrdiff_t changes) const {
        const std::ptrdiff_t target = static_cast<std::ptrdiff_t>(at_) + changes;
        return target >= 0 && target < static_cast<std::ptrdiff_t>(all_.size());
    }
    // Changes `threshold` if can_go().
    void go(std::ptrdiff_t changes, ThresholdSettings& threshold) {
        if (can_go(changes)) {
            at_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at_) + changes);
            threshold = all_[at_];
        }
    }
    // Returns the first threshold of the run; `threshold` itself if none was noted.
    [[nodiscard]] const ThresholdSettings& first(const ThresholdSettings& threshold) const {
        return all_.empty() ? threshold : all_.front();
    }

 private:
    std::vector<ThresholdSettings> all_;
    std::size_t at_ = 0;
};

}  // namespace quadtile::viewer
