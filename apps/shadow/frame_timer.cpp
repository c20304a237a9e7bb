#include "frame_timer.hpp"

namespace quadtile::shadow {

FrameTimer::FrameTimer(const app::Gpu& gpu, std::uint32_t marks)
    : device_(gpu.device()), count_(marks), tick_microseconds_(1e3 * gpu.timestamp_milliseconds()) {
    if (tick_microseconds_ > 0.0) {
        queries_ = device_.createQueryPoolUnique(
            {.queryType = vk::QueryType::eTimestamp, .queryCount = marks});
    }
}

void FrameTimer::record_reset(vk::CommandBuffer commands) {
    if (queries_) {
        commands.resetQueryPool(*queries_, 0, count_);
        has_frame_ = true;
    }
}

void FrameTimer::record_mark(vk::CommandBuffer commands, std::uint32_t mark) const {
    if (queries_) {
        commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *queries_, mark);
    }
}

std::optional<std::vector<double>> FrameTimer::marks() const {
    if (!has_frame_) {
        return {};
    }
    const auto [result, ticks] = device_.getQueryPoolResults<std::uint64_t>(
        *queries_, 0, count_, count_ * sizeof(std::uint64_t), sizeof(std::uint64_t),
        vk::QueryResultFlagBits::e64);
    if (result != vk::Result::eSuccess) {
        return {};
    }
    std::vector<double> microseconds;
    for (const std::uint64_t tick : ticks) {
        microseconds.push_back(static_cast<double>(tick) * tick_microseconds_);
    }
    return microseconds;
}

}  // namespace quadtile::shadow
