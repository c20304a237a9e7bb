// How far a technique's shadows are from those of rays: counts, and marks in the picture.

#pragma once

#include "ray_caster.hpp"

#include <vector>

namespace quadtile::shadow {

// Over the pixels with surfaces: hard shadows (Targets::mask), and light as it is shown
// (Targets::light).
struct MaskDifference {
    std::uint32_t surface_pixels = 0;
    std::uint32_t wrong = 0;             // where any light differs
    std::uint32_t wrongly_lit = 0;       // lit in the mask, not by rays, of any light
    std::uint32_t wrongly_shadowed = 0;  // the other way round
    // Sum of absolute differences of the parts of the first four lights, in 1/255.
    std::uint32_t light_difference = 0;

    // Mean over pixels and lights, in percent of the light.
    [[nodiscard]] double light_percent(std::size_t lights) const;
};

class MaskComparison {
 public:
    explicit MaskComparison(app::Gpu& gpu);

    // Compares the frame that Renderer::record_shadows has recorded with that of the rays. Marks
    // reach `mark_pixels` beyond the pixels that are wrong. Another extent waits for the device.
    void record(vk::CommandBuffer commands, const Targets& targets, const RayCaster& rays,
                std::uint32_t mark_pixels = 0);
    // Of the comparison that has executed last.
    [[nodiscard]] MaskDifference difference() const;
    // R32_UINT, STORAGE | TRANSFER_SRC, GENERAL: words of shaders/marks.h. After record() readable
    // by compute and fragment shaders and by transfers.
    [[nodiscard]] const app::Image& marks() const { return marks_; }

 private:
    void prepare_marks(vk::CommandBuffer commands, vk::Extent2D extent);

    app::Gpu& gpu_;
    app::Buffer counts_;
    app::Buffer read_counts_;
    app::ProgramInterface interface_;
    vk::UniquePipeline compare_;
    app::Image marks_;
};

// Pixels that are wrong and lie together.
struct ErrorPlace {
    std::uint32_t x = 0;  // of the pixel that is nearest to their middle
    std::uint32_t y = 0;
    std::uint32_t pixels = 0;

    friend bool operator==(const ErrorPlace&, const ErrorPlace&) = default;
};

// The places of a picture's marks, row by row: those with most pixels first. Pixels in blocks of 16
// x 16 that touch belong together.
[[nodiscard]] std::vector<ErrorPlace> error_places(std::span<const std::uint32_t> marks,
                                                   std::uint32_t width);

}  // namespace quadtile::shadow
