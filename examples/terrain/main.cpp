// Terrain without cracks whose tiles are as fine as the picture needs them. One command buffer
// makes the importance map from the heights and the camera, and the balanced list of tiles. One
// indirect draw draws a patch per tile.

#include "gpu.hpp"
#include "shaders/scene.h"

#include <quadtile/quadtile.hpp>

#include <CLI/CLI.hpp>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace terrain {

namespace {

using renderer::Buffer;
using renderer::change_layout;
using renderer::COLOUR_RANGE;
using renderer::DEPTH_FORMAT;
using renderer::DEPTH_RANGE;
using renderer::Frames;
using renderer::Gpu;
using renderer::Image;
using renderer::Interface;
using renderer::memory_barrier;

constexpr std::uint32_t HEIGHTS_SHADER[] =
#include "heights.comp.inc"
    ;
constexpr std::uint32_t IMPORTANCE_SHADER[] =
#include "importance.comp.inc"
    ;
constexpr std::uint32_t VERTEX_SHADER[] =
#include "terrain.vert.inc"
    ;
constexpr std::uint32_t FRAGMENT_SHADER[] =
#include "terrain.frag.inc"
    ;

using Access = vk::AccessFlagBits2;
using Layout = vk::ImageLayout;
using Point = vk::PipelineBindPoint;
using Stage = vk::PipelineStageFlagBits2;
using Usage = vk::BufferUsageFlagBits;
constexpr auto SHADERS = vk::ShaderStageFlagBits::eCompute | vk::ShaderStageFlagBits::eVertex |
                         vk::ShaderStageFlagBits::eFragment;

struct Options {
    std::uint32_t frames = 20;                  // of the flight; the last frame is written
    std::vector<std::uint32_t> size{960, 540};  // width and height, pixels
    float pitch_degrees = 24.0F;                // below the horizon
    float error_pixels = 4.0F;                  // largest error of a tile
    std::uint32_t seed = 8;                     // the heights' seed
    std::string screenshot = "terrain.png";
    bool has_cracks = false;         // without stitches
    bool shows_tiles = false;        // in the left half of the picture
    bool counts_background = false;  // counts magenta background pixels in all frames
    bool validates = false;
};

// Makes two triangles for each square of a patch. The vertices go row by row.
std::vector<std::uint16_t> patch_indices() {
    std::vector<std::uint16_t> indices;
    for (std::uint32_t y = 0; y < PATCH; ++y) {
        for (std::uint32_t x = 0; x < PATCH; ++x) {
            const std::uint32_t first = y * (PATCH + 1) + x;
            for (const std::uint32_t vertex : {first, first + 1, first + PATCH + 1, first + 1,
                                               first + PATCH + 2, first + PATCH + 1}) {
                indices.push_back(static_cast<std::uint16_t>(vertex));
            }
        }
    }
    return indices;
}

class Renderer {
 public:
    Renderer(Gpu& gpu, const quadtile::Device& device, const Options& options);

    // Records a frame and submits it.
    void render(const View& view) {
        frames_.submit([&](vk::CommandBuffer commands) { record(commands, view); });
    }

    // Returns the last frame, four bytes per pixel.
    [[nodiscard]] std::vector<std::byte> picture() { return gpu_.download(picture_, extent_); }

 private:
    static constexpr vk::Format PICTURE_FORMAT = vk::Format::eR8G8B8A8Unorm;
    static constexpr std::uint32_t MOST_TILES = MAP_EXTENT * MAP_EXTENT;  // one per texel

    void record(vk::CommandBuffer commands, const View& view) const;
    void make_heights(std::uint32_t seed);

    Gpu& gpu_;
    vk::Extent2D extent_;
    std::array<float, 4> background_;
    quadtile::MapShape map_shape_{.width = MAP_EXTENT, .height = MAP_EXTENT};
    // A tile of level l has an error of 2^l times its importance, in pixels.
    quadtile::Threshold threshold_;
    quadtile::Subdivider subdivider_;
    quadtile::Subdivider::Requirements needed_;

    // Resources that only the GPU uses. All frames share them, since they run one after the other.
    Image heights_;
    Image map_;
    Buffer scratch_;
    Buffer balance_;
    Buffer tile_list_;
    Buffer indices_;    // the patch's
    Buffer arguments_;  // a VkDrawIndexedIndirectCommand
    Image picture_;
    Image depth_;

    quadtile::Subdivider::Binding subdivision_;
    Interface interface_;  // shaders/resources.glsl
    vk::UniquePipeline importance_pipeline_;
    vk::UniquePipeline draw_pipeline_;

    Frames frames_;  // destroyed first
};

// ---- A frame

void Renderer::record(vk::CommandBuffer commands, const View& view) const {
    // The frame before may still run. It must have read the map, scratch, list and arguments before
    // we write them, and quadtile needs what its last run has left in the scratch.
    memory_barrier(
        commands,
        {Stage::eComputeShader | Stage::eDrawIndirect | Stage::eVertexShader | Stage::eCopy,
         Access::eShaderWrite | Access::eTransferWrite},
        {Stage::eComputeShader | Stage::eDrawIndirect | Stage::eCopy,
         Access::eShaderRead | Access::eShaderWrite | Access::eIndirectCommandRead |
             Access::eTransferWrite});

    interface_.bind(commands, Point::eCompute, *importance_pipeline_, view);
    commands.dispatch(MAP_EXTENT, MAP_EXTENT, 1);

    // quadtile reads the map that importance.comp has written.
    memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                   {Stage::eComputeShader, Access::eShaderRead});

    // The stitches need tiles that differ by at most one level across an edge. The list has room
    // for a tile per texel, so it cannot overflow.
    subdivider_.record(commands, subdivision_, threshold_,
                       {.order = quadtile::Order::any, .balance = quadtile::Balance::edges});

    // The vertex shader reads the tiles. Their number becomes the draw's number of instances.
    memory_barrier(
        commands, {Stage::eComputeShader, Access::eShaderWrite},
        {Stage::eVertexShader | Stage::eCopy, Access::eShaderRead | Access::eTransferRead});
    commands.copyBuffer(*tile_list_.handle, *arguments_.handle,
                        vk::BufferCopy{offsetof(quadtile::TileListHeader, written),
                                       offsetof(VkDrawIndexedIndirectCommand, instanceCount),
                                       sizeof(std::uint32_t)});
    memory_barrier(commands, {Stage::eCopy, Access::eTransferWrite},
                   {Stage::eDrawIndirect, Access::eIndirectCommandRead});

    // The frame before has drawn into the same images, whose contents may be lost.
    change_layout(commands, picture_, COLOUR_RANGE, Layout::eUndefined,
                  Layout::eColorAttachmentOptimal,
                  {Stage::eColorAttachmentOutput | Stage::eCopy, Access::eColorAttachmentWrite},
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite});
    constexpr auto DEPTH_TESTS = Stage::eEarlyFragmentTests | Stage::eLateFragmentTests;
    change_layout(
        commands, depth_, DEPTH_RANGE, Layout::eUndefined, Layout::eDepthAttachmentOptimal,
        {DEPTH_TESTS, Access::eDepthStencilAttachmentWrite},
        {DEPTH_TESTS, Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite});

    const vk::RenderingAttachmentInfo picture{
        .imageView = *picture_.view,
        .imageLayout = Layout::eColorAttachmentOptimal,
        .loadOp = vk::AttachmentLoadOp::eClear,
        .storeOp = vk::AttachmentStoreOp::eStore,
        .clearValue = {.color = vk::ClearColorValue{background_}}};
    const vk::RenderingAttachmentInfo depth{.imageView = *depth_.view,
                                            .imageLayout = Layout::eDepthAttachmentOptimal,
                                            .loadOp = vk::AttachmentLoadOp::eClear,
                                            .storeOp = vk::AttachmentStoreOp::eDontCare,
                                            .clearValue = {.depthStencil = {.depth = 0.0F}}};
    const vk::Rect2D area{.extent = extent_};
    commands.beginRendering({.renderArea = area,
                             .layerCount = 1,
                             .colorAttachmentCount = 1,
                             .pColorAttachments = &picture,
                             .pDepthAttachment = &depth});
    interface_.bind(commands, Point::eGraphics, *draw_pipeline_, view);
    commands.setViewport(0, vk::Viewport{.width = static_cast<float>(extent_.width),
                                         .height = static_cast<float>(extent_.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, area);
    commands.bindIndexBuffer(*indices_.handle, 0, vk::IndexType::eUint16);
    commands.drawIndexedIndirect(*arguments_.handle, 0, 1, 0);
    commands.endRendering();
}

// ---- Set-up

Renderer::Renderer(Gpu& gpu, const quadtile::Device& device, const Options& options)
    : gpu_(gpu),
      extent_{options.size[0], options.size[1]},
      background_(options.counts_background ? std::array{1.0F, 0.0F, 1.0F, 1.0F}
                                            : std::array{0.76F, 0.84F, 0.91F, 1.0F}),
      threshold_(quadtile::Threshold::max_resolution(options.error_pixels)),
      subdivider_(device, {.strategy = quadtile::Strategy::fused}),
      needed_(subdivider_.requirements(map_shape_, MOST_TILES)),
      heights_(gpu.make_image({HEIGHT_EXTENT, HEIGHT_EXTENT}, vk::Format::eR32Sfloat,
                              vk::ImageUsageFlagBits::eStorage)),
      // quadtile samples the map; our shader writes it.
      map_(gpu.make_image({MAP_EXTENT, MAP_EXTENT},
                          static_cast<vk::Format>(quadtile::vk_format(map_shape_.format)),
                          vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled)),
      scratch_(gpu.make_buffer(needed_.scratch_size_bytes,
                               vk::BufferUsageFlags(needed_.usage) | Usage::eTransferDst)),
      balance_(gpu.make_buffer(needed_.balance_size_bytes, vk::BufferUsageFlags(needed_.usage))),
      tile_list_(gpu.make_buffer(needed_.tile_list_size_bytes,
                                 vk::BufferUsageFlags(needed_.usage) | Usage::eTransferSrc)),
      indices_(gpu.make_buffer(patch_indices().size() * sizeof(std::uint16_t), Usage::eIndexBuffer,
                               true)),
      arguments_(gpu.make_buffer(sizeof(VkDrawIndexedIndirectCommand),
                                 Usage::eIndirectBuffer | Usage::eTransferDst, true)),
      picture_(gpu.make_image(
          extent_, PICTURE_FORMAT,
          vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferSrc)),
      depth_(
          gpu.make_image(extent_, DEPTH_FORMAT, vk::ImageUsageFlagBits::eDepthStencilAttachment)),
      subdivision_(subdivider_.bind(map_shape_,
                                    {.map = {.view = *map_.view, .layout = VK_IMAGE_LAYOUT_GENERAL},
                                     .scratch = {.buffer = *scratch_.handle},
                                     .tile_list = {.buffer = *tile_list_.handle},
                                     .tile_capacity = MOST_TILES,
                                     .balance = {.buffer = *balance_.handle}})),
      interface_(gpu.make_interface(SHADERS, std::array{*heights_.view, *map_.view},
                                    std::array{*tile_list_.handle}, sizeof(View))),
      frames_(gpu) {
    const std::vector<std::uint16_t> indices = patch_indices();
    std::memcpy(indices_.mapped, indices.data(), indices.size() * sizeof(std::uint16_t));
    const VkDrawIndexedIndirectCommand arguments{.indexCount =
                                                     static_cast<std::uint32_t>(indices.size())};
    std::memcpy(arguments_.mapped, &arguments, sizeof arguments);
    importance_pipeline_ = gpu.make_compute_pipeline(*interface_.layout, IMPORTANCE_SHADER);
    draw_pipeline_ = gpu.make_draw_pipeline(*interface_.layout, VERTEX_SHADER, FRAGMENT_SHADER,
                                            PICTURE_FORMAT, true);
    make_heights(options.seed);
}

void Renderer::make_heights(std::uint32_t seed) {
    const vk::UniquePipeline pipeline =
        gpu_.make_compute_pipeline(*interface_.layout, HEIGHTS_SHADER);
    gpu_.run([&](vk::CommandBuffer commands) {
        for (const Image* const image : {&heights_, &map_}) {
            change_layout(commands, *image, COLOUR_RANGE, Layout::eUndefined, Layout::eGeneral, {},
                          {Stage::eComputeShader, Access::eShaderWrite});
        }
        // The scratch must be zero once. Each run of quadtile leaves it ready for the next.
        commands.fillBuffer(*scratch_.handle, 0, VK_WHOLE_SIZE, 0);
        interface_.bind(commands, Point::eCompute, *pipeline, View{.seed = seed});
        commands.dispatch((HEIGHT_EXTENT + 7) / 8, (HEIGHT_EXTENT + 7) / 8, 1);
        memory_barrier(commands,
                       {Stage::eComputeShader | Stage::eTransfer,
                        Access::eShaderWrite | Access::eTransferWrite},
                       {Stage::eComputeShader | Stage::eVertexShader | Stage::eFragmentShader,
                        Access::eShaderRead | Access::eShaderWrite});
    });
}

// ---- The program

// Returns the view of a frame: a flight in a circle over the middle of the map.
View view_of_frame(std::uint32_t frame, const Options& options) {
    constexpr float FIELD_OF_VIEW = std::numbers::pi_v<float> * 50.0F / 180.0F;  // vertical
    constexpr float RADIUS = 170.0F;
    constexpr float MIDDLE = (HEIGHT_EXTENT - 1) / 2.0F;
    const float angle = 0.6F + 0.02F * static_cast<float>(frame);
    const float pitch = options.pitch_degrees * std::numbers::pi_v<float> / 180.0F;
    // Direction along the circle.
    const float ahead_x = -std::sin(angle);
    const float ahead_y = std::cos(angle);
    const float scale_y = 1.0F / std::tan(FIELD_OF_VIEW / 2.0F);
    const auto height = static_cast<float>(options.size[1]);
    return {.eye = {MIDDLE + RADIUS * std::cos(angle), MIDDLE + RADIUS * std::sin(angle), 330.0F},
            .pixels_per_unit = scale_y * height / 2.0F,
            .right = {-ahead_y, ahead_x, 0.0F},
            .scale_x = scale_y * height / static_cast<float>(options.size[0]),
            .down = {-ahead_x * std::sin(pitch), -ahead_y * std::sin(pitch), -std::cos(pitch)},
            .scale_y = scale_y,
            .forward = {ahead_x * std::cos(pitch), ahead_y * std::cos(pitch), -std::sin(pitch)},
            .stitches = options.has_cracks ? 0U : 1U,
            .tiles_end = options.shows_tiles ? static_cast<float>(options.size[0]) / 2.0F : 0.0F};
}

std::size_t count_magenta(const std::vector<std::byte>& picture) {
    constexpr std::array MAGENTA{std::byte{255}, std::byte{0}, std::byte{255}};
    std::size_t count = 0;
    for (std::size_t i = 0; i < picture.size(); i += 4) {
        count += std::equal(MAGENTA.begin(), MAGENTA.end(), picture.data() + i) ? 1 : 0;
    }
    return count;
}

void run(const Options& options, std::atomic<std::uint32_t>& validation_messages) {
    Gpu gpu(options.validates ? &validation_messages : nullptr);
    const quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile());
    Renderer renderer(gpu, device, options);
    std::size_t background_pixels = 0;
    for (std::uint32_t frame = 0; frame < options.frames; ++frame) {
        renderer.render(view_of_frame(frame, options));
        if (options.counts_background) {
            background_pixels += count_magenta(renderer.picture());
        }
    }
    if (options.counts_background) {
        std::printf("%zu pixels of the background in %u frames\n", background_pixels,
                    options.frames);
        return;
    }
    if (stbi_write_png(options.screenshot.c_str(), static_cast<int>(options.size[0]),
                       static_cast<int>(options.size[1]), 4, renderer.picture().data(),
                       static_cast<int>(4 * options.size[0])) == 0) {
        throw std::runtime_error("cannot write " + options.screenshot);
    }
    std::printf("%s: frame %u, on %s\n", options.screenshot.c_str(), options.frames - 1,
                device.info().name.c_str());
}

}  // namespace

}  // namespace terrain

int main(int argument_count, char** arguments) {
    try {
        terrain::Options options;
        CLI::App app("Draws terrain by tiles into a picture", "terrain");
        app.add_option("--frames", options.frames)->check(CLI::Range(1, 1'000'000));
        app.add_option("--size", options.size, "WxH")
            ->delimiter('x')
            ->expected(2)
            ->check(CLI::Range(1, 4096));
        app.add_option("--pitch", options.pitch_degrees)->check(CLI::Range(0.0, 90.0));
        app.add_option("--error", options.error_pixels)->check(CLI::Range(0.01, 1000.0));
        app.add_option("--seed", options.seed);
        app.add_option("--screenshot", options.screenshot);
        app.add_flag("--no-stitching", options.has_cracks);
        app.add_flag("--show-tiles", options.shows_tiles);
        app.add_flag("--count-background", options.counts_background);
        app.add_flag("--validate", options.validates);
        CLI11_PARSE(app, argument_count, arguments);
        std::atomic<std::uint32_t> validation_messages = 0;
        terrain::run(options, validation_messages);
        if (validation_messages > 0) {
            throw std::runtime_error("the validation layer has reported messages, printed above");
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "terrain: error: %s\n", error.what());
        return 1;
    }
}
