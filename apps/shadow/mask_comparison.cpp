#include "mask_comparison.hpp"

#include "quadtile_shadow_rays_shaders.hpp"

#include "shaders/light.h"
#include "shaders/marks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr app::Scope CLEARED{Stage::eTransfer, Access::eTransferWrite};
constexpr app::Scope SHADER_USE{Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite};

}  // namespace

double MaskDifference::light_percent(std::size_t lights) const {
    const double most = 255.0 * std::max(surface_pixels, 1U) *
                        static_cast<double>(std::clamp<std::size_t>(lights, 1, LIGHT_BYTES));
    return 100.0 * light_difference / most;
}

MaskComparison::MaskComparison(app::Gpu& gpu)
    : gpu_(gpu),
      counts_(gpu.make_buffer(sizeof(MaskCounts),
                              Usage::eStorageBuffer | Usage::eTransferDst | Usage::eTransferSrc)),
      read_counts_(
          gpu.make_buffer(sizeof(MaskCounts), Usage::eTransferDst, app::MemoryUse::readback)),
      interface_(
          gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                             {Type::eStorageImage, Type::eStorageImage, Type::eStorageImage,
                              Type::eStorageImage, Type::eStorageBuffer, Type::eStorageImage},
                             sizeof(std::int32_t))),
      compare_(gpu.make_compute_pipeline(*interface_.layout, app::COMPARE_MASKS_COMP)) {
    std::memset(read_counts_.mapped, 0, sizeof(MaskCounts));
    interface_.write(4, std::array{*counts_.handle});
}

// Clears the marks and leaves them in layout GENERAL.
void MaskComparison::prepare_marks(vk::CommandBuffer commands, vk::Extent2D extent) {
    const app::Scope before{Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer, {}};
    if (marks_.handle && marks_.extent == extent) {
        app::memory_barrier(commands, before, CLEARED);
    } else {
        gpu_.device().waitIdle();  // a window may still show the old marks
        marks_ = gpu_.make_image(extent, vk::Format::eR32Uint,
                                 vk::ImageUsageFlagBits::eStorage |
                                     vk::ImageUsageFlagBits::eTransferSrc |
                                     vk::ImageUsageFlagBits::eTransferDst,
                                 vk::ImageViewType::e2D);
        app::change_layout(commands, *marks_.handle, Layout::eUndefined, Layout::eGeneral, before,
                           CLEARED);
    }
    commands.clearColorImage(*marks_.handle, Layout::eGeneral, vk::ClearColorValue{},
                             app::COLOUR_RANGE);
}

void MaskComparison::record(vk::CommandBuffer commands, const Targets& targets,
                            const RayCaster& rays, std::uint32_t mark_pixels) {
    prepare_marks(commands, targets.extent);
    commands.fillBuffer(*counts_.handle, 0, VK_WHOLE_SIZE, 0);
    app::memory_barrier(commands, CLEARED, SHADER_USE);
    std::uint32_t binding = 0;
    for (const app::Image* const image :
         {&targets.mask, &targets.light, &rays.mask(), &rays.light()}) {
        interface_.write(binding++, *image->view, Layout::eGeneral);
    }
    interface_.write(5, *marks_.view, Layout::eGeneral);
    interface_.bind(commands, *compare_, static_cast<std::int32_t>(mark_pixels));
    constexpr std::uint32_t GROUP_EXTENT = 8;  // as in the shader
    commands.dispatch((targets.extent.width + GROUP_EXTENT - 1) / GROUP_EXTENT,
                      (targets.extent.height + GROUP_EXTENT - 1) / GROUP_EXTENT, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eTransfer | Stage::eComputeShader | Stage::eFragmentShader,
                         Access::eTransferRead | Access::eTransferWrite | Access::eShaderRead});
    commands.copyBuffer(*counts_.handle, *read_counts_.handle,
                        vk::BufferCopy{.size = sizeof(MaskCounts)});
    app::memory_barrier(commands, CLEARED, app::HOST_READS);
}

MaskDifference MaskComparison::difference() const {
    MaskCounts counts;
    std::memcpy(&counts, read_counts_.mapped, sizeof(counts));
    return {.surface_pixels = counts.surface_pixels,
            .wrong = counts.wrong,
            .wrongly_lit = counts.wrongly_lit,
            .wrongly_shadowed = counts.wrongly_shadowed,
            .light_difference = counts.light_difference};
}

// ---- Places

namespace {

constexpr std::uint32_t BLOCK = 16;  // pixels on a side

// Groups of neighbouring blocks with wrong pixels (union-find).
class Groups {
 public:
    Groups(std::span<const std::uint32_t> marks, std::uint32_t width)
        : marks_(marks),
          width_(width),
          height_(static_cast<std::uint32_t>(marks.size()) / width),
          columns_((width + BLOCK - 1) / BLOCK),
          rows_((height_ + BLOCK - 1) / BLOCK),
          group_(std::size_t{columns_} * rows_, NONE) {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            if ((marks[i] & MARK_EXACT) != 0) {
                group_[block_of(i)] = UNKNOWN;
            }
        }
    }

    [[nodiscard]] std::vector<ErrorPlace> places() {
        std::vector<ErrorPlace> places;
        for (std::uint32_t block = 0; block < group_.size(); ++block) {
            if (group_[block] == UNKNOWN) {
                fill(block, static_cast<std::uint32_t>(places.size()));
                places.emplace_back();
            }
        }
        measure(places);
        std::ranges::stable_sort(places, std::ranges::greater(), &ErrorPlace::pixels);
        return places;
    }

 private:
    static constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t UNKNOWN = NONE - 1;

    [[nodiscard]] std::size_t block_of(std::size_t pixel) const {
        return pixel / width_ / BLOCK * columns_ + pixel % width_ / BLOCK;
    }

    void fill(std::uint32_t first, std::uint32_t group) {
        std::vector<std::uint32_t> waiting{first};
        group_[first] = group;
        while (!waiting.empty()) {
            const std::uint32_t x = waiting.back() % columns_;
            const std::uint32_t y = waiting.back() / columns_;
            waiting.pop_back();
            for (std::uint32_t row = y - std::min(y, 1U); row <= std::min(y + 1, rows_ - 1);
                 ++row) {
                for (std::uint32_t column = x - std::min(x, 1U);
                     column <= std::min(x + 1, columns_ - 1); ++column) {
                    const std::uint32_t block = row * columns_ + column;
                    if (group_[block] == UNKNOWN) {
                        group_[block] = group;
                        waiting.push_back(block);
                    }
                }
            }
        }
    }

    template <typename Act>
    void for_each_wrong(const Act& act) const {
        for (std::size_t i = 0; i < marks_.size(); ++i) {
            if ((marks_[i] & MARK_EXACT) != 0) {
                act(group_[block_of(i)], i);
            }
        }
    }

    void measure(std::vector<ErrorPlace>& places) const {
        struct Sum {
            double x = 0.0;
            double y = 0.0;
            double nearest = std::numeric_limits<double>::max();
        };
        std::vector<Sum> sums(places.size());
        for_each_wrong([&](std::uint32_t group, std::size_t i) {
            ++places[group].pixels;
            sums[group].x += static_cast<double>(i % width_);
            sums[group].y += static_cast<double>(i / width_);
        });
        for_each_wrong([&](std::uint32_t group, std::size_t i) {
            ErrorPlace& place = places[group];
            const double x = static_cast<double>(i % width_) - sums[group].x / place.pixels;
            const double y = static_cast<double>(i / width_) - sums[group].y / place.pixels;
            const double distance = x * x + y * y;
            if (distance < sums[group].nearest) {
                sums[group].nearest = distance;
                place.x = static_cast<std::uint32_t>(i % width_);
                place.y = static_cast<std::uint32_t>(i / width_);
            }
        });
    }

    std::span<const std::uint32_t> marks_;
    std::uint32_t width_;
    std::uint32_t height_;
    std::uint32_t columns_;
    std::uint32_t rows_;
    std::vector<std::uint32_t> group_;  // per block
};

}  // namespace

std::vector<ErrorPlace> error_places(std::span<const std::uint32_t> marks, std::uint32_t width) {
    return Groups(marks, width).places();
}

}  // namespace quadtile::shadow
