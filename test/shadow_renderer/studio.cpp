#include "studio.hpp"

#include "targets.hpp"

#include "../support/maps.hpp"

#include <cstdio>
#include <cstring>
#include <functional>

namespace quadtile::shadow {

namespace {

using Layout = vk::ImageLayout;

struct Machine {
    explicit Machine(const app::Instance& instance) : gpu(instance, {}, {}) {}

    app::Gpu gpu;
    quadtile::Device device = quadtile::Device::adopt(gpu.for_quadtile({}));
};
std::unique_ptr<app::Instance> instance;
std::unique_ptr<Machine> machine;

// The image may be of any layout, and is again.
void record_copy(vk::CommandBuffer commands, vk::Image image, vk::Extent2D extent,
                 std::uint32_t layers, Layout layout, vk::ImageAspectFlags aspect,
                 vk::Buffer buffer) {
    const vk::ImageSubresourceRange all{aspect, 0, VK_REMAINING_MIP_LEVELS, 0,
                                        VK_REMAINING_ARRAY_LAYERS};
    app::change_layout(commands, image, layout, Layout::eTransferSrcOptimal, app::ALL_USES,
                       app::ALL_USES, all);
    commands.copyImageToBuffer(
        image, Layout::eTransferSrcOptimal, buffer,
        vk::BufferImageCopy{.imageSubresource = {aspect, 0, 0, layers},
                            .imageExtent = {extent.width, extent.height, 1}});
    app::change_layout(commands, image, Layout::eTransferSrcOptimal, layout, app::ALL_USES,
                       app::ALL_USES, all);
}

// Returns the bytes that `record` has copied to a buffer.
std::vector<std::byte> copied(
    vk::DeviceSize size_bytes,
    const std::function<void(vk::CommandBuffer, const app::Buffer&)>& record) {
    const app::Buffer buffer = machine->gpu.make_buffer(
        size_bytes, vk::BufferUsageFlagBits::eTransferDst, app::MemoryUse::readback);
    machine->gpu.run([&](vk::CommandBuffer commands) {
        app::memory_barrier(commands, app::ALL_USES, app::ALL_USES);
        record(commands, buffer);
        app::memory_barrier(commands, app::ALL_USES, app::HOST_READS);
    });
    return {buffer.mapped, buffer.mapped + size_bytes};
}

template <typename T>
std::vector<T> values_at(const std::vector<std::byte>& bytes, vk::DeviceSize offset_bytes,
                         std::size_t count) {
    std::vector<T> values(count);
    if (count > 0) {
        std::memcpy(values.data(), bytes.data() + offset_bytes, count * sizeof(T));
    }
    return values;
}

}  // namespace

// ---- The device

void ShadowRenderer::SetUpTestSuite() {
    instance = std::make_unique<app::Instance>("quadtile_tests", std::span<const char* const>(),
                                               quadtile::Device::validation_available());
    machine = std::make_unique<Machine>(*instance);
    if (!instance->validates()) {
        std::printf("VALIDATION IS OFF: the Khronos validation layer is not installed\n");
    }
}

void ShadowRenderer::TearDownTestSuite() {
    machine.reset();
    EXPECT_EQ(instance->validation_messages(), 0U) << "when the device was destroyed";
    instance.reset();
}

void ShadowRenderer::TearDown() {
    EXPECT_EQ(instance->validation_messages(), 0U);
}

// ---- What is filmed

std::vector<Camera> Film::cameras(std::uint32_t count) const {
    std::vector<Camera> cameras;
    for (std::uint32_t i = 0; i < count; ++i) {
        cameras.push_back(
            flight.at(flight.seconds() * static_cast<float>(i) / static_cast<float>(count - 1)));
    }
    return cameras;
}

Film city_film(std::uint64_t triangles) {
    Geometry geometry = make_geometry(baker::city_scene(triangles, {4096, 4096}));
    const Flight flight = city_flight(geometry.bounds);
    return {std::move(geometry), flight};
}

std::optional<Film> zdm2_film() {
    const auto data = quadtile::test::data_directory();
    if (!data || !std::filesystem::exists(*data / "scenes/zdm2_lightmapped.glb")) {
        return std::nullopt;
    }
    return Film{make_geometry(baker::load_scene(*data / "scenes/zdm2_lightmapped.glb",
                                                baker::LightMapCoordinates::ignore)
                                  .scene),
                zdm2_flight()};
}

void add_quad(baker::Scene& scene, const glm::vec3& corner, const glm::vec3& u,
              const glm::vec3& v) {
    const auto first = static_cast<std::uint32_t>(scene.positions.size());
    for (const glm::vec3& position : {corner, corner + u, corner + u + v, corner + v}) {
        scene.positions.push_back(position);
    }
    scene.triangles.push_back({.vertices = {first, first + 1, first + 2}});
    scene.triangles.push_back({.vertices = {first, first + 2, first + 3}});
}

Light side_sun() {
    return {.direction = {-0.5F, -1.0F, -0.35F}};
}

Light spot_at(const Camera& camera) {
    return {.kind = Light::Kind::spot,
            .direction = camera.forward() + glm::vec3(0.0F, -0.3F, 0.0F),
            .position = camera.position + glm::vec3(0.3F, 0.4F, 0.2F),
            .angle_degrees = 80.0F};
}

// ---- Frames

Studio::Studio(const Geometry& geometry, vk::Extent2D extent, const ShadowOptions& options)
    : extent_(extent),
      renderer_(machine->gpu, machine->device, geometry, extent, options),
      geometry_(geometry) {}

void Studio::draw(const FrameSettings& settings) {
    machine->gpu.run([&](vk::CommandBuffer commands) { renderer_.record(commands, settings); });
}

void Studio::draw_at_once(const std::vector<FrameSettings>& frames) {
    machine->gpu.run([&](vk::CommandBuffer commands) {
        for (const FrameSettings& settings : frames) {
            renderer_.record(commands, settings);
        }
    });
}

MaskDifference Studio::compare(const FrameSettings& settings, std::uint32_t samples,
                               std::uint32_t mark_pixels) {
    if (!rays_) {
        rays_ = std::make_unique<RayCaster>(machine->gpu, geometry_);
        comparison_ = std::make_unique<MaskComparison>(machine->gpu);
    }
    if (!geometry_.moving.empty()) {
        move_vertices(geometry_, settings.second);
        rays_->set_geometry(geometry_);
    }
    machine->gpu.run([&](vk::CommandBuffer commands) {
        renderer_.record_depth(commands, settings);
        rays_->record(commands, renderer_.targets(), settings, renderer_.projections(settings),
                      samples);
        renderer_.record_shadows(commands, settings, *rays_->light().view);
        comparison_->record(commands, renderer_.targets(), *rays_, mark_pixels);
    });
    return comparison_->difference();
}

void Studio::forget(const FrameSettings& settings, float atlas_depth) {
    FrameSettings other = settings;
    other.technique = Technique::single;
    draw(other);
    fill_atlas(atlas_depth);
}

void Studio::fill_atlas(float depth) {
    const vk::Device vulkan = machine->gpu.device();
    const auto pass = make_atlas_pass(vulkan, AtlasContents::cleared);
    const vk::ImageView atlas = *renderer_.targets().atlas.view;
    const std::uint32_t extent = renderer_.targets().options.atlas_extent;
    const auto framebuffer = vulkan.createFramebufferUnique({.renderPass = *pass,
                                                             .attachmentCount = 1,
                                                             .pAttachments = &atlas,
                                                             .width = extent,
                                                             .height = extent,
                                                             .layers = 1});
    machine->gpu.run([&](vk::CommandBuffer commands) {
        app::memory_barrier(commands, app::ALL_USES, app::ALL_USES);
        const vk::ClearValue value{.depthStencil = {.depth = depth}};
        commands.beginRenderPass({.renderPass = *pass,
                                  .framebuffer = *framebuffer,
                                  .renderArea = {.extent = {extent, extent}},
                                  .clearValueCount = 1,
                                  .pClearValues = &value},
                                 vk::SubpassContents::eInline);
        commands.endRenderPass();
    });
}

// ---- What a frame has left

template <typename T>
std::vector<T> Studio::texels(vk::Image image, vk::Extent2D extent, std::uint32_t layers,
                              Layout layout, vk::ImageAspectFlags aspect) const {
    const std::size_t count = std::size_t{extent.width} * extent.height * layers;
    const auto bytes =
        copied(count * sizeof(T), [&](vk::CommandBuffer commands, const app::Buffer& buffer) {
            record_copy(commands, image, extent, layers, layout, aspect, *buffer.handle);
        });
    return values_at<T>(bytes, 0, count);
}

std::vector<std::uint32_t> Studio::words(const app::Image& image) const {
    return texels<std::uint32_t>(*image.handle, extent_, 1, Layout::eGeneral,
                                 vk::ImageAspectFlagBits::eColor);
}

std::vector<std::uint32_t> Studio::mask() const {
    return words(renderer_.targets().mask);
}

std::vector<std::uint32_t> Studio::colours() const {
    return words(renderer_.targets().colour);
}

std::vector<std::uint32_t> Studio::light() const {
    return words(renderer_.targets().light);
}

std::vector<std::uint32_t> Studio::ray_mask() const {
    return words(rays_->mask());
}

std::vector<std::uint32_t> Studio::ray_light() const {
    return words(rays_->light());
}

std::vector<std::uint32_t> Studio::marks() const {
    return words(comparison_->marks());
}

std::vector<float> Studio::depth() const {
    return texels<float>(*renderer_.targets().depth.handle, extent_, 1,
                         Layout::eDepthStencilReadOnlyOptimal, vk::ImageAspectFlagBits::eDepth);
}

std::vector<glm::u16vec4> Studio::normals() const {
    return texels<glm::u16vec4>(*renderer_.targets().normals.handle, extent_, 1, Layout::eGeneral,
                                vk::ImageAspectFlagBits::eColor);
}

std::vector<float> Studio::atlas() const {
    const std::uint32_t extent = renderer_.targets().options.atlas_extent;
    return texels<float>(*renderer_.targets().atlas.handle, {extent, extent}, 1,
                         Layout::eDepthStencilReadOnlyOptimal, vk::ImageAspectFlagBits::eDepth);
}

Studio::Fit Studio::fit() const {
    const ShadowOptions& options = renderer_.targets().options;
    const ShadowFitter::Requirements needed = renderer_.targets().needed;
    const auto bytes = copied(
        needed.memory_size_bytes, [&](vk::CommandBuffer commands, const app::Buffer& buffer) {
            commands.copyBuffer(*renderer_.targets().memory.handle, *buffer.handle,
                                vk::BufferCopy{.size = needed.memory_size_bytes});
        });
    Fit fit;
    fit.header = values_at<ShadowHeader>(bytes, needed.header_offset_bytes, 1)[0];
    fit.tiles = values_at<ShadowTile>(bytes, needed.tiles_offset_bytes, fit.header.tiles);
    fit.render =
        values_at<std::uint32_t>(bytes, needed.render_offset_bytes, fit.header.render_count);
    fit.page_table = texels<std::uint32_t>(*renderer_.targets().page_table.handle,
                                           {options.map_extent, options.map_extent}, options.lights,
                                           Layout::eGeneral, vk::ImageAspectFlagBits::eColor);
    return fit;
}

// ---- Comparisons

double share_that_differs(const std::vector<std::uint32_t>& a,
                          const std::vector<std::uint32_t>& b) {
    double surfaces = 0.0;
    double different = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        surfaces += (a[i] | b[i]) != 0 ? 1.0 : 0.0;
        different += a[i] != b[i] ? 1.0 : 0.0;
    }
    return different / std::max(surfaces, 1.0);
}

double share_wrong(const MaskDifference& difference) {
    return static_cast<double>(difference.wrong) /
           static_cast<double>(std::max(difference.surface_pixels, 1U));
}

}  // namespace quadtile::shadow
