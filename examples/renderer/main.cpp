// A renderer that uses quadtile's tiles on the GPU alone. One command buffer draws the importance
// map of a scene, makes the list of tiles, and uses the list in two more steps.

#include "gpu.hpp"
#include "scene.hpp"

#include <quadtile/quadtile.hpp>

#include <CLI/CLI.hpp>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace renderer {

namespace {

constexpr std::uint32_t IMPORTANCE_VERTEX_SHADER[] =
#include "importance.vert.inc"
    ;
constexpr std::uint32_t IMPORTANCE_FRAGMENT_SHADER[] =
#include "importance.frag.inc"
    ;
constexpr std::uint32_t COUNT_RAYS_SHADER[] =
#include "count_rays.comp.inc"
    ;
constexpr std::uint32_t DRAW_TILES_VERTEX_SHADER[] =
#include "draw_tiles.vert.inc"
    ;
constexpr std::uint32_t DRAW_TILES_FRAGMENT_SHADER[] =
#include "draw_tiles.frag.inc"
    ;

using Access = vk::AccessFlagBits2;
using Layout = vk::ImageLayout;
using Point = vk::PipelineBindPoint;
using Stage = vk::PipelineStageFlagBits2;
using Usage = vk::BufferUsageFlagBits;
constexpr auto DEPTH_TESTS = Stage::eEarlyFragmentTests | Stage::eLateFragmentTests;

struct Options {
    std::string scene;
    std::uint32_t frames = 1;                   // the camera turns; the last frame is written
    std::vector<std::uint32_t> size{960, 540};  // of the map and the picture
    std::uint32_t lightmap_texels = 1024;       // along a side
    float max_resolution = 32.0F;               // a tile needs fewer rays on a side
    std::uint32_t max_tiles = 16384;
    std::string map;  // a PFM file for the last map, if any
    std::string output = "picture.png";
    bool validate = false;

    [[nodiscard]] vk::Extent2D extent() const { return {size[0], size[1]}; }
};

class Renderer {
 public:
    Renderer(Gpu& gpu, const quadtile::Device& device, const Options& options,
             const std::vector<Vertex>& triangles);

    // Records a frame and submits it.
    void render(const View& view) {
        frames_.submit([&](vk::CommandBuffer commands) { record(commands, view); });
    }

    // These wait for the last frame: its importance map, its picture with four bytes per pixel, and
    // what its tiles need.
    [[nodiscard]] std::vector<float> map();
    [[nodiscard]] std::vector<std::byte> picture() { return gpu_.download(picture_, extent_); }
    [[nodiscard]] Totals totals();

 private:
    static constexpr vk::Format PICTURE_FORMAT = vk::Format::eR8G8B8A8Unorm;

    void record(vk::CommandBuffer commands, const View& view) const;
    void draw(vk::CommandBuffer commands, const Image& target, bool with_depth,
              const std::array<float, 4>& background, const std::function<void()>& record) const;

    Gpu& gpu_;
    vk::Extent2D extent_;
    std::uint32_t max_tiles_;
    std::uint32_t vertices_;
    quadtile::MapShape map_shape_;  // one layer of 32-bit floats
    quadtile::Threshold threshold_;
    quadtile::Subdivider subdivider_;
    quadtile::Subdivider::Requirements needed_;

    // Resources that only the GPU uses. All frames share them, since they run one after the other.
    Image map_;
    Image depth_;
    Buffer triangles_;
    Buffer scratch_;
    Buffer tile_list_;
    Buffer totals_;
    Image picture_;

    quadtile::Subdivider::Binding subdivision_;
    Interface interface_;  // shaders/resources.glsl
    vk::UniquePipeline importance_pipeline_;
    vk::UniquePipeline count_pipeline_;
    vk::UniquePipeline draw_pipeline_;

    Frames frames_;  // destroyed first
};

// ---- A frame

void Renderer::record(vk::CommandBuffer commands, const View& view) const {
    // The frame before may still run. It must have read the map, scratch, list and sums before we
    // write them, and quadtile needs what its last run has left in the scratch.
    memory_barrier(
        commands,
        {Stage::eComputeShader | Stage::eDrawIndirect | Stage::eVertexShader, Access::eShaderWrite},
        {Stage::eComputeShader | Stage::eTransfer | Stage::eColorAttachmentOutput,
         Access::eShaderRead | Access::eShaderWrite | Access::eTransferWrite});
    commands.fillBuffer(*totals_.handle, 0, VK_WHOLE_SIZE, 0);

    // The old contents of depth and map may be lost.
    change_layout(
        commands, depth_, DEPTH_RANGE, Layout::eUndefined, Layout::eDepthAttachmentOptimal,
        {DEPTH_TESTS, Access::eDepthStencilAttachmentWrite},
        {DEPTH_TESTS, Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite});
    change_layout(commands, map_, COLOUR_RANGE, Layout::eUndefined, Layout::eColorAttachmentOptimal,
                  {Stage::eColorAttachmentOutput | Stage::eComputeShader, {}},
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite});
    draw(commands, map_, true, {}, [&] {
        interface_.bind(commands, Point::eGraphics, *importance_pipeline_, view);
        commands.draw(vertices_, 1, 0, 0);
    });

    // quadtile reads the map.
    change_layout(commands, map_, COLOUR_RANGE, Layout::eColorAttachmentOptimal,
                  Layout::eShaderReadOnlyOptimal,
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite},
                  {Stage::eComputeShader, Access::eShaderRead});

    // The budget keeps the list within its capacity for every map, so it cannot overflow.
    subdivider_.record(commands, subdivision_, threshold_,
                       {.order = quadtile::Order::any, .max_tiles = max_tiles_});

    // The dispatch and the draw read arguments in the list's header. Both read its tiles.
    memory_barrier(
        commands,
        {Stage::eComputeShader | Stage::eTransfer, Access::eShaderWrite | Access::eTransferWrite},
        {Stage::eDrawIndirect | Stage::eComputeShader | Stage::eVertexShader,
         Access::eIndirectCommandRead | Access::eShaderRead | Access::eShaderWrite});

    // quadtile has bound its own pipeline, descriptors and push constants.
    interface_.bind(commands, Point::eCompute, *count_pipeline_, view);
    commands.dispatchIndirect(*tile_list_.handle, offsetof(quadtile::TileListHeader, dispatch_x));

    // The host reads the sums after the last frame.
    memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                   {Stage::eHost, Access::eHostRead});
    change_layout(commands, picture_, COLOUR_RANGE, Layout::eUndefined,
                  Layout::eColorAttachmentOptimal,
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite},
                  {Stage::eColorAttachmentOutput, Access::eColorAttachmentWrite});
    // The background is never visible, since the tiles cover the picture. In magenta an error would
    // be noticed.
    draw(commands, picture_, false, {1.0F, 0.0F, 1.0F, 1.0F}, [&] {
        interface_.bind(commands, Point::eGraphics, *draw_pipeline_, view);
        commands.drawIndirect(*tile_list_.handle,
                              offsetof(quadtile::TileListHeader, draw_vertex_count), 1, 0);
    });
}

void Renderer::draw(vk::CommandBuffer commands, const Image& target, bool with_depth,
                    const std::array<float, 4>& background,
                    const std::function<void()>& record) const {
    const vk::RenderingAttachmentInfo colour{
        .imageView = *target.view,
        .imageLayout = Layout::eColorAttachmentOptimal,
        .loadOp = vk::AttachmentLoadOp::eClear,
        .storeOp = vk::AttachmentStoreOp::eStore,
        .clearValue = {.color = vk::ClearColorValue{background}}};
    const vk::RenderingAttachmentInfo depth{.imageView = *depth_.view,
                                            .imageLayout = Layout::eDepthAttachmentOptimal,
                                            .loadOp = vk::AttachmentLoadOp::eClear,
                                            .storeOp = vk::AttachmentStoreOp::eDontCare,
                                            .clearValue = {.depthStencil = {.depth = 0.0F}}};
    const vk::Rect2D area{.extent = extent_};
    commands.beginRendering({.renderArea = area,
                             .layerCount = 1,
                             .colorAttachmentCount = 1,
                             .pColorAttachments = &colour,
                             .pDepthAttachment = with_depth ? &depth : nullptr});
    commands.setViewport(0, vk::Viewport{.width = static_cast<float>(extent_.width),
                                         .height = static_cast<float>(extent_.height),
                                         .maxDepth = 1.0F});
    commands.setScissor(0, area);
    record();
    commands.endRendering();
}

// ---- Set-up

Renderer::Renderer(Gpu& gpu, const quadtile::Device& device, const Options& options,
                   const std::vector<Vertex>& triangles)
    : gpu_(gpu),
      extent_(options.extent()),
      max_tiles_(options.max_tiles),
      vertices_(static_cast<std::uint32_t>(triangles.size())),
      map_shape_{.width = extent_.width, .height = extent_.height},
      threshold_(quadtile::Threshold::max_resolution(options.max_resolution)),
      subdivider_(device, {.strategy = quadtile::Strategy::fused}),
      needed_(subdivider_.requirements(map_shape_, max_tiles_)),
      map_(gpu.make_image(extent_, static_cast<vk::Format>(quadtile::vk_format(map_shape_.format)),
                          vk::ImageUsageFlagBits::eColorAttachment |
                              vk::ImageUsageFlagBits::eSampled |
                              vk::ImageUsageFlagBits::eTransferSrc)),
      depth_(
          gpu.make_image(extent_, DEPTH_FORMAT, vk::ImageUsageFlagBits::eDepthStencilAttachment)),
      triangles_(gpu.make_buffer(triangles.size() * sizeof(Vertex), Usage::eStorageBuffer, true)),
      scratch_(gpu.make_buffer(needed_.scratch_size_bytes,
                               vk::BufferUsageFlags(needed_.usage) | Usage::eTransferDst)),
      tile_list_(
          gpu.make_buffer(needed_.tile_list_size_bytes, vk::BufferUsageFlags(needed_.usage))),
      totals_(gpu.make_buffer(sizeof(Totals), Usage::eStorageBuffer | Usage::eTransferDst, true)),
      picture_(gpu.make_image(
          extent_, PICTURE_FORMAT,
          vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferSrc)),
      subdivision_(subdivider_.bind(
          map_shape_,
          {.map = {.view = *map_.view, .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
           .scratch = {.buffer = *scratch_.handle},
           .tile_list = {.buffer = *tile_list_.handle},
           .tile_capacity = max_tiles_})),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eCompute | vk::ShaderStageFlagBits::eVertex, {},
          std::array{*triangles_.handle, *tile_list_.handle, *totals_.handle}, sizeof(View))),
      frames_(gpu) {
    std::memcpy(triangles_.mapped, triangles.data(), triangles.size() * sizeof(Vertex));
    importance_pipeline_ = gpu.make_draw_pipeline(
        *interface_.layout, IMPORTANCE_VERTEX_SHADER, IMPORTANCE_FRAGMENT_SHADER,
        static_cast<vk::Format>(quadtile::vk_format(map_shape_.format)), true);
    count_pipeline_ = gpu.make_compute_pipeline(*interface_.layout, COUNT_RAYS_SHADER);
    draw_pipeline_ = gpu.make_draw_pipeline(*interface_.layout, DRAW_TILES_VERTEX_SHADER,
                                            DRAW_TILES_FRAGMENT_SHADER, PICTURE_FORMAT);
    gpu.run([&](vk::CommandBuffer commands) {
        // The scratch must be zero once. Each run of quadtile leaves it ready for the next.
        commands.fillBuffer(*scratch_.handle, 0, VK_WHOLE_SIZE, 0);
        memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                       {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    });
}

std::vector<float> Renderer::map() {
    const auto bytes = gpu_.download(map_, extent_, Layout::eShaderReadOnlyOptimal);
    std::vector<float> texels(bytes.size() / sizeof(float));
    std::memcpy(texels.data(), bytes.data(), bytes.size());
    return texels;
}

Totals Renderer::totals() {
    gpu_.wait_idle();
    Totals totals;
    std::memcpy(&totals, totals_.mapped, sizeof(totals));
    return totals;
}

// ---- The program

// Returns the camera of the scene, turned a little further in each frame.
View view_of_frame(std::uint32_t frame, const Scene& scene, const Options& options) {
    const glm::mat4 camera = glm::mat4_cast(glm::angleAxis(0.02F * static_cast<float>(frame),
                                                           glm::vec3(0.0F, 1.0F, 0.0F))) *
                             glm::mat4(glm::mat3(scene.camera));
    const auto [width, height] = options.extent();
    const float scale = 1.0F / std::tan(scene.field_of_view / 2.0F);
    const float aspect = static_cast<float>(width) / static_cast<float>(height);
    return {.eye = glm::vec3(scene.camera[3]),
            .pixel = 2.0F / (scale * static_cast<float>(height)),
            .right = scale / aspect * glm::vec3(camera[0]),
            .near_plane = 0.05F,
            .down = -scale * glm::vec3(camera[1]),
            .lightmap_texels = static_cast<float>(options.lightmap_texels),
            .forward = -glm::vec3(camera[2]),
            .width = width,
            .height = height};
}

void write_map(const std::vector<float>& map, const Options& options) {
    std::ofstream file(options.map, std::ios::binary);
    const std::size_t width = options.size[0];
    file << "Pf\n" << width << ' ' << options.size[1] << "\n-1\n";  // little-endian floats
    for (std::size_t row = options.size[1]; row-- > 0;) {           // from the bottom up
        file.write(reinterpret_cast<const char*>(&map[row * width]),
                   static_cast<std::streamsize>(width * sizeof(float)));
    }
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + options.map);
    }
}

void run(const Options& options, std::atomic<std::uint32_t>& validation_messages) {
    const Scene scene = SceneFile(options.scene).scene();
    Gpu gpu(options.validate ? &validation_messages : nullptr);
    const quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile());
    Renderer renderer(gpu, device, options, scene.triangles);

    for (std::uint32_t frame = 0; frame < options.frames; ++frame) {
        renderer.render(view_of_frame(frame, scene, options));
    }
    if (!options.map.empty()) {
        write_map(renderer.map(), options);
    }
    const auto [width, height] = options.extent();
    if (stbi_write_png(options.output.c_str(), static_cast<int>(width), static_cast<int>(height), 4,
                       renderer.picture().data(), static_cast<int>(4 * width)) == 0) {
        throw std::runtime_error("cannot write " + options.output);
    }
    const Totals totals = renderer.totals();
    std::printf("frame %u: %u tiles, %llu rays, on %s\n", options.frames - 1, totals.tiles,
                (1ULL << 32U) * totals.rays_high + totals.rays_low, device.info().name.c_str());
}

}  // namespace

}  // namespace renderer

int main(int argument_count, char** arguments) {
    try {
        renderer::Options options;
        CLI::App app("Draws a scene's importance map and its tiles into a picture", "renderer");
        app.add_option("scene", options.scene, "a .glb file")->required();
        app.add_option("--frames", options.frames)->check(CLI::Range(1, 1'000'000));
        app.add_option("--size", options.size, "WxH")
            ->delimiter('x')
            ->expected(2)
            ->check(CLI::Range(1U, 16384U));
        app.add_option("--lightmap", options.lightmap_texels)->check(CLI::Range(1U, 65536U));
        app.add_option("--max-resolution", options.max_resolution)->check(CLI::Range(1.0, 65536.0));
        app.add_option("--max-tiles", options.max_tiles)->check(CLI::Range(1U, 1U << 22U));
        app.add_option("--map", options.map);
        app.add_option("--output", options.output);
        app.add_flag("--validate", options.validate);
        CLI11_PARSE(app, argument_count, arguments);
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
