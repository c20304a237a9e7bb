// A renderer that uses quadtile's tiles on the GPU alone. One command buffer makes the importance
// map and the list of tiles, and uses the list in two more steps.

#include "gpu.hpp"
#include "scene.hpp"

#include <quadtile/quadtile.hpp>

#include <CLI/CLI.hpp>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

namespace renderer {

namespace {

constexpr std::uint32_t IMPORTANCE_SHADER[] =
#include "importance.comp.inc"
    ;
constexpr std::uint32_t SHADE_TILES_SHADER[] =
#include "shade_tiles.comp.inc"
    ;
constexpr std::uint32_t DRAW_TILES_VERTEX_SHADER[] =
#include "draw_tiles.vert.inc"
    ;
constexpr std::uint32_t DRAW_TILES_FRAGMENT_SHADER[] =
#include "draw_tiles.frag.inc"
    ;

using Access = vk::AccessFlagBits2;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits2;

class Renderer {
 public:
    Renderer(Gpu& gpu, const quadtile::Device& device, vk::Extent2D extent,
             std::uint32_t max_tiles);

    // Records a frame and submits it.
    void render(const Scene& scene) {
        frames_.submit([&](vk::CommandBuffer commands) { record(commands, scene); });
    }

    // Returns the last frame, four bytes per pixel.
    [[nodiscard]] std::vector<std::byte> picture() { return gpu_.download(picture_, extent_); }

 private:
    static constexpr vk::Format PICTURE_FORMAT = vk::Format::eR8G8B8A8Unorm;

    void record(vk::CommandBuffer commands, const Scene& scene) const;

    Gpu& gpu_;
    vk::Extent2D extent_;
    std::uint32_t max_tiles_;
    quadtile::MapShape map_shape_;
    quadtile::Threshold threshold_ = quadtile::Threshold::max_resolution(MAX_TILE_PIXELS);
    quadtile::Subdivider subdivider_;
    quadtile::Subdivider::Requirements needed_;

    // Resources that only the GPU uses. All frames share them, since they run one after the other.
    Image map_;
    Buffer scratch_;
    Buffer tile_list_;
    Buffer colours_;  // per tile
    Image picture_;

    quadtile::Subdivider::Binding subdivision_;
    Interface interface_;  // shaders/resources.glsl
    vk::UniquePipeline importance_pipeline_;
    vk::UniquePipeline shade_pipeline_;
    vk::UniquePipeline draw_pipeline_;

    Frames frames_;  // destroyed first
};

// ---- A frame

void Renderer::record(vk::CommandBuffer commands, const Scene& scene) const {
    using Point = vk::PipelineBindPoint;

    // The frame before may still run. It must have read the map, scratch, list and colours before
    // we write them, and quadtile needs what its last run has left in the scratch. DRAW_INDIRECT is
    // for strategies other than `fused`, which keep arguments in the scratch.
    memory_barrier(
        commands,
        {Stage::eComputeShader | Stage::eDrawIndirect | Stage::eVertexShader, Access::eShaderWrite},
        {Stage::eComputeShader | Stage::eDrawIndirect,
         Access::eShaderRead | Access::eShaderWrite | Access::eIndirectCommandRead});

    interface_.bind(commands, Point::eCompute, *importance_pipeline_, scene);
    commands.dispatch((extent_.width + 7) / 8, (extent_.height + 7) / 8, 1);

    // quadtile reads the map that importance.comp has written.
    memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                   {Stage::eComputeShader, Access::eShaderRead});

    // The budget keeps the list within its capacity for every map, so it cannot overflow.
    subdivider_.record(commands, subdivision_, threshold_,
                       {.order = quadtile::Order::any, .max_tiles = max_tiles_});

    // The dispatch and the draw read arguments in the list's header. Both read its tiles.
    memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                   {Stage::eDrawIndirect | Stage::eComputeShader | Stage::eVertexShader,
                    Access::eIndirectCommandRead | Access::eShaderRead});

    // quadtile has bound its own pipeline, descriptors and push constants.
    interface_.bind(commands, Point::eCompute, *shade_pipeline_, scene);
    commands.dispatchIndirect(*tile_list_.handle, offsetof(quadtile::TileListHeader, dispatch_x));

    // The draw reads the colours of the tiles.
    memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                   {Stage::eVertexShader, Access::eShaderRead});
    // The frame before has drawn into the same picture, whose contents may be lost.
    change_layout(commands, picture_, COLOUR_RANGE, Layout::eUndefined,
                  Layout::eColorAttachmentOptimal,
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite},
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite});

    // The background is never visible, since the tiles cover the picture. In magenta an error would
    // be noticed.
    const vk::ClearColorValue magenta{std::array{1.0F, 0.0F, 1.0F, 1.0F}};
    const vk::RenderingAttachmentInfo target{.imageView = *picture_.view,
                                             .imageLayout = Layout::eColorAttachmentOptimal,
                                             .loadOp = vk::AttachmentLoadOp::eClear,
                                             .storeOp = vk::AttachmentStoreOp::eStore,
                                             .clearValue = {.color = magenta}};
    const vk::Rect2D area{.extent = extent_};
    commands.beginRendering({.renderArea = area,
                             .layerCount = 1,
                             .colorAttachmentCount = 1,
                             .pColorAttachments = &target});
    interface_.bind(commands, Point::eGraphics, *draw_pipeline_, scene);
    commands.setViewport(0, vk::Viewport{.width = static_cast<float>(extent_.width),
                                         .height = static_cast<float>(extent_.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, area);
    commands.drawIndirect(*tile_list_.handle, offsetof(quadtile::TileListHeader, draw_vertex_count),
                          1, 0);
    commands.endRendering();
}

// ---- Set-up

Renderer::Renderer(Gpu& gpu, const quadtile::Device& device, vk::Extent2D extent,
                   std::uint32_t max_tiles)
    : gpu_(gpu),
      extent_(extent),
      max_tiles_(max_tiles),
      map_shape_{.width = extent.width, .height = extent.height},
      subdivider_(device, {.strategy = quadtile::Strategy::fused}),
      needed_(subdivider_.requirements(map_shape_, max_tiles)),
      // quadtile samples the map; our shader writes it.
      map_(gpu.make_image(extent, static_cast<vk::Format>(quadtile::vk_format(map_shape_.format)),
                          vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled)),
      scratch_(gpu.make_buffer(
          needed_.scratch_size_bytes,
          vk::BufferUsageFlags(needed_.usage) | vk::BufferUsageFlagBits::eTransferDst)),
      tile_list_(
          gpu.make_buffer(needed_.tile_list_size_bytes, vk::BufferUsageFlags(needed_.usage))),
      colours_(gpu.make_buffer(max_tiles * sizeof(std::uint32_t),
                               vk::BufferUsageFlagBits::eStorageBuffer)),
      picture_(gpu.make_image(
          extent, PICTURE_FORMAT,
          vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferSrc)),
      subdivision_(subdivider_.bind(map_shape_,
                                    {.map = {.view = *map_.view, .layout = VK_IMAGE_LAYOUT_GENERAL},
                                     .scratch = {.buffer = *scratch_.handle},
                                     .tile_list = {.buffer = *tile_list_.handle},
                                     .tile_capacity = max_tiles})),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eCompute | vk::ShaderStageFlagBits::eVertex,
          std::array{*map_.view}, std::array{*tile_list_.handle, *colours_.handle}, sizeof(Scene))),
      frames_(gpu) {
    importance_pipeline_ = gpu.make_compute_pipeline(*interface_.layout, IMPORTANCE_SHADER);
    shade_pipeline_ = gpu.make_compute_pipeline(*interface_.layout, SHADE_TILES_SHADER);
    draw_pipeline_ = gpu.make_draw_pipeline(*interface_.layout, DRAW_TILES_VERTEX_SHADER,
                                            DRAW_TILES_FRAGMENT_SHADER, PICTURE_FORMAT);
    gpu.run([&](vk::CommandBuffer commands) {
        // The scratch must be zero once. Each run of quadtile leaves it ready for the next.
        commands.fillBuffer(*scratch_.handle, 0, VK_WHOLE_SIZE, 0);
        // The map's layout allows writing and sampling.
        change_layout(commands, map_, COLOUR_RANGE, Layout::eUndefined, Layout::eGeneral, {}, {});
        memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                       {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    });
}

// ---- The program

// Counts the tiles of a map on the host. An engine's tools use quadtile in this way, on other
// threads at the same time and on the same queue.
std::size_t count_tiles(const quadtile::Device& device, const Scene& scene,
                        std::uint32_t max_tiles) {
    quadtile::Tiler tiler(device);
    const std::vector<float> texels = importance_map(scene);
    const auto list = tiler.subdivide(quadtile::view_of(texels, scene.width, scene.height),
                                      quadtile::Threshold::max_resolution(MAX_TILE_PIXELS),
                                      {.order = quadtile::Order::any, .max_tiles = max_tiles});
    return list.tiles.size();
}

struct Options {
    std::uint32_t frames = 20;
    vk::Extent2D size{960, 540};
    std::uint32_t max_tiles = 16384;
    std::string output = "picture.png";
    bool validate = false;
};

void run(const Options& options, std::atomic<std::uint32_t>& validation_messages) {
    Gpu gpu(options.validate ? &validation_messages : nullptr);
    const quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile());
    Renderer renderer(gpu, device, options.size, options.max_tiles);

    const auto [width, height] = options.size;
    const Scene last = scene_of_frame(options.frames - 1, width, height);
    auto tile_count = std::async(std::launch::async,
                                 [&] { return count_tiles(device, last, options.max_tiles); });
    for (std::uint32_t frame = 0; frame < options.frames; ++frame) {
        renderer.render(scene_of_frame(frame, width, height));
    }

    if (stbi_write_png(options.output.c_str(), static_cast<int>(width), static_cast<int>(height), 4,
                       renderer.picture().data(), static_cast<int>(4 * width)) == 0) {
        throw std::runtime_error("cannot write " + options.output);
    }
    std::printf("%s: frame %u, %zu tiles, on %s\n", options.output.c_str(), options.frames - 1,
                tile_count.get(), device.info().name.c_str());
}

}  // namespace

}  // namespace renderer

int main(int argument_count, char** arguments) {
    try {
        renderer::Options options;
        std::vector<std::uint32_t> size{960, 540};
        CLI::App app("Draws a floor under spotlights by tiles into a picture", "renderer");
        app.add_option("--frames", options.frames)->check(CLI::Range(1, 1'000'000));
        app.add_option("--size", size, "WxH")
            ->delimiter('x')
            ->expected(2)
            ->check(CLI::Range(1U, renderer::MAX_SIDE));
        app.add_option("--max-tiles", options.max_tiles)->check(CLI::Range(1U, 1U << 22U));
        app.add_option("--output", options.output);
        app.add_flag("--validate", options.validate);
        CLI11_PARSE(app, argument_count, arguments);
        options.size = vk::Extent2D{size[0], size[1]};
        std::atomic<std::uint32_t> validation_messages = 0;
        renderer::run(options, validation_messages);
        if (validation_messages > 0) {
            throw std::runtime_error("the validation layer has reported messages, printed above");
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "renderer: error: %s\n", error.what());
        return 1;
    }
}
