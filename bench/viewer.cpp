// Time of a change of a setting in the viewer until a picture of 1600 x 1000 pixels is drawn,
// without a window and panels: the subdivision, the tally of its tiles, and the indirect draw of
// the list.

#include "viewer.hpp"
#include "render_pass.hpp"
#include "support/maps.hpp"
#include "support/temporary_directory.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <string>

namespace quadtile::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr vk::Format FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Rect2D AREA{.extent = {1600, 1000}};

std::string pfm(const std::vector<float>& texels, std::uint32_t side) {
    std::string bytes = "Pf\n" + std::to_string(side) + " " + std::to_string(side) + "\n-1\n";
    bytes.append(reinterpret_cast<const char*>(texels.data()), texels.size() * sizeof(float));
    return bytes;
}

// An image to draw into again and again.
class Target {
 public:
    explicit Target(app::Gpu& gpu)
        : gpu_(gpu),
          render_pass_(
              app::make_render_pass(gpu.device(), FORMAT, vk::ImageLayout::eTransferSrcOptimal)),
          image_(gpu.make_image(AREA.extent, FORMAT, vk::ImageUsageFlagBits::eColorAttachment,
                                vk::ImageViewType::e2D)),
          framebuffer_(gpu.make_framebuffer(*render_pass_, AREA.extent, std::array{*image_.view})) {
    }

    void draw(Viewer& viewer) {
        gpu_.run([&](vk::CommandBuffer commands) {
            app::begin_with_background(commands, *render_pass_, *framebuffer_, AREA.extent);
            viewer.draw(commands, AREA.extent);
            commands.endRenderPass();
        });
    }

 private:
    app::Gpu& gpu_;
    vk::UniqueRenderPass render_pass_;
    app::Image image_;
    vk::UniqueFramebuffer framebuffer_;
};

// Measures a threshold that gives about `tiles` tiles.
void measure_knob(benchmark::State& state, app::Gpu& gpu, std::uint32_t side, std::uint64_t tiles) {
    const quadtile::test::TemporaryDirectory directory;
    const MapShape shape{.width = side, .height = side};
    Options options;
    options.files = {directory.add("map.pfm", pfm(quadtile::test::smooth_map(shape), side))};
    options.tile_count = tiles;
    Viewer viewer(options, [] {});
    viewer.attach(gpu, FORMAT);
    viewer.wait_for_map(AREA);
    viewer.update(AREA);
    if (!viewer.problem().empty()) {
        state.SkipWithError(viewer.problem().c_str());
        return;
    }
    Target target(gpu);
    target.draw(viewer);
    float factor = 1.0001F;
    for (auto _ : state) {
        const Clock::time_point start = Clock::now();
        viewer.scale_threshold(factor);
        viewer.update(AREA);
        target.draw(viewer);
        state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
        factor = 1.0F / factor;
    }
    state.counters["tiles"] = viewer.summary().header.written;
    state.counters["subdivision_ms"] = viewer.summary().milliseconds.value_or(0.0);
    state.SetLabel(viewer.tiles().device().info().name);
}

// Uses one device for all, since some drivers refuse a process that makes dozens of instances.
void add_benchmarks(app::Gpu& gpu) {
    for (const std::uint32_t side : {1024U, 2048U, 4096U}) {
        for (const std::uint64_t tiles : {1000U, 100'000U, 1'000'000U}) {
            const std::string name =
                "viewer_knob/" + std::to_string(side) + "/" + std::to_string(tiles);
            benchmark::RegisterBenchmark(name.c_str(), measure_knob, std::ref(gpu), side, tiles)
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
}

}  // namespace
}  // namespace quadtile::viewer

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const quadtile::app::Instance instance("quadtile_viewer_bench", {}, false);
    quadtile::app::Gpu gpu(instance, {}, {});
    quadtile::viewer::add_benchmarks(gpu);
    benchmark::RunSpecifiedBenchmarks();
}
