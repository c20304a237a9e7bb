#include "ranks.hpp"

#include <exception>
#include <stdexcept>

namespace quadtile::baker {

Range Ranks::take(std::size_t most) {
    const std::scoped_lock lock(mutex_);
    const std::size_t fair = takers_ == 1 ? most : left_.size() / (2 * takers_);
    const std::size_t first = left_.first;
    left_.first = std::min(left_.end, first + std::clamp<std::size_t>(fair, 1, most));
    return {first, left_.first};
}

void Ranks::stop() {
    const std::scoped_lock lock(mutex_);
    left_.end = left_.first;
}

std::size_t Ranks::handed_out() const {
    const std::scoped_lock lock(mutex_);
    return left_.first;
}

void Ranks::hand_out(const Range& items, std::size_t takers) {
    const std::scoped_lock lock(mutex_);
    left_ = items;
    takers_ = takers * count_;
}

void Ranks::together(const std::function<void()>& work) {
    std::exception_ptr failure;
    try {
        work();
    } catch (...) {
        failure = std::current_exception();
    }
    // The lowest rank has the greatest number here.
    const double lowest = greatest(failure ? count_ - number_ : 0);
    if (lowest == 0.0) {
        return;
    }
    has_ended_together_ = true;
    if (lowest != count_ - number_) {
        throw EndedElsewhere();
    }
    if (is_first()) {
        std::rethrow_exception(failure);
    }
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        throw std::runtime_error(name() + ": " + error.what());
    }
}

}  // namespace quadtile::baker
