// Timestamps between the parts of a frame.

#pragma once

#include "gpu.hpp"

#include <optional>
#include <vector>

namespace quadtile::shadow {

class FrameTimer {
 public:
    FrameTimer(const app::Gpu& gpu, std::uint32_t marks);

    // At the beginning of a frame, outside a render pass.
    void record_reset(vk::CommandBuffer commands);
    // When all work before has ended. Each mark once a frame.
    void record_mark(vk::CommandBuffer commands, std::uint32_t mark) const;
    // Microseconds of each mark; none: no timestamps, or no frame has executed to its end.
    [[nodiscard]] std::optional<std::vector<double>> marks() const;

 private:
    vk::Device device_;
    std::uint32_t count_;
    double tick_microseconds_;
    bool has_frame_ = false;
    vk::UniqueQueryPool queries_;  // none: the queue has no timestamps
};

}  // namespace quadtile::shadow
