// Comparison of a technique's shadows with those of rays: counts, and marks in the picture.

#pragma once

#include "ray_caster.hpp"

#include <vector>

namespace quadtile::shadow {

// Differences over the pixels with surfaces, of hard shadows (Targets::mask) and of shown light
// (Targets::light).
struct MaskDifference {
    std::uint32_t surface_pixels = 0;
    std::uint32_t wrong = 0;             // pixels with a difference in any light
    std::uint32_t wrongly_lit = 0;       // lit in the mask but not by rays, by any light
    std::uint32_t wrongly_shadowed = 0;  // the opposite
    // Sum of absolute differences of the shares of the first four lights, in 1/255.
    std::uint32_t light_difference = 0;

    // Mean difference over pixels and lights, in percent of the light.
    [[nodiscard]] double light_percent(std::size_t lights) const;
};

class MaskComparison {
 public:
    explicit MaskComparison(app::Gpu& gpu);

    // Compares the frame recorded by Renderer::record_shadows with that of the rays. Marks extend
    // `mark_pixels` beyond wrong pixels. A new extent waits for the device.
    void record(vk::CommandBuffer commands, const Targets& targets, const RayCaster& rays,
                std::uint32_t mark_pixels = 0);
    // Returns the result of the last executed comparison.
    [[nodiscard]] MaskDifference difference() const;
    // Marks: R32_UINT, STORAGE | TRANSFER_SRC, GENERAL, words of shaders/marks.h. After record()
    // readable by compute and fragment shaders and by transfers.
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

// Group of wrong pixels.
struct ErrorPlace {
    std::uint32_t x = 0;  // of the pixel nearest to their middle
    std::uint32_t y = 0;
    std::uint32_t pixels = 0;

    friend bool operator==(const ErrorPlace&, const ErrorPlace&) = default;
};

// Returns the groups in a picture's marks (row by row), largest first. Pixels in touching blocks of
// 16 x 16 belong together.
[[nodiscard]] std::vector<ErrorPlace> error_places(std::span<const std::uint32_t> marks,
                                                   std::uint32_t width);

}  // namespace quadtile::shadow
