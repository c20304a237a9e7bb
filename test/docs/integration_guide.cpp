// The code that docs/integration.md, docs/downsampler.md and docs/shadows.md print, in a program of
// a host with a Vulkan device of its own. What the pages leave to the reader is here: making
// buffers and images, uploading, submitting.

#include "shadow/scene.hpp"
#include "support/errors.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/quadtile.hpp>
#include <quadtile/shadow.hpp>

#include <vulkan/vulkan.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadtile::test {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

void check(VkResult result) {
    if (result != VK_SUCCESS) {
        throw std::runtime_error("a Vulkan call failed with " + std::to_string(result));
    }
}

constexpr std::uint32_t width = 200;
constexpr std::uint32_t height = 120;

// A host's device, and what it does with quadtile's. (examples/renderer makes one of its own.)
class IntegrationGuide : public testing::Test {
 protected:
    void SetUp() override {
        const struct {
            VkBool32 subgroupSizeControl = VK_FALSE;
        } sizes{base.info().features.subgroup_operations};
        const VkPhysicalDeviceVulkan12Features enabled_1_2{.samplerFilterMinmax =
                                                               base.info().features.sampler_minmax};
        const VkPhysicalDeviceFeatures enabled{
            .shaderStorageImageWriteWithoutFormat = base.info().features.storage_image_formats,
            .shaderStorageImageArrayDynamicIndexing =
                base.info().features.storage_image_dynamic_indexing};

#include "snippets/adopt"

        gpu = std::make_unique<Gpu>(device);
        importance = smooth_map({width, height});
        const MapView view = view_of(importance, width, height);
        map_image = gpu->upload(view);
        map_view = map_image.view();
        tiles_of_map = reference::subdivide(view, of_map).tiles;
    }

    void TearDown() override {
        buffers.clear();
        images.clear();
        map_image = {};
        gpu.reset();
        vkDestroyCommandPool(vulkan_device, command_pool, nullptr);
    }

    [[nodiscard]] Device device() const {
        return gpu->device();
    }

    VkBuffer make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
        buffers.push_back(gpu->make_buffer(size_bytes, usage, Memory::host_visible));
        return buffers.back().handle();
    }

    VkBuffer make_zeros(VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
        const VkBuffer buffer = make_buffer(size_bytes, usage);
        gpu->fill(buffers.back(), 0);
        return buffer;
    }

    VkImage make_image(const VkImageCreateInfo& info) {
        images.push_back(gpu->make_image(info));
        return images.back().handle();
    }

    VkImage make_zeros(const VkImageCreateInfo& info) {
        const VkImage image = make_image(info);
        const std::vector<float> zeros(std::size_t{info.extent.width} * info.extent.height *
                                       info.arrayLayers);
        gpu->upload(images.back(), zeros.data());
        return image;
    }

    [[nodiscard]] const Buffer& buffer_of(VkBuffer handle) const {
        return *std::ranges::find(buffers, handle, &Buffer::handle);
    }

    [[nodiscard]] TileListHeader read_header(VkBuffer tiles) const {
        return gpu->read<TileListHeader>(buffer_of(tiles), 0, 1).front();
    }
    // In canonical order.
    [[nodiscard]] std::vector<Tile> read_tiles(VkBuffer tiles) const {
        auto read =
            gpu->read<Tile>(buffer_of(tiles), sizeof(TileListHeader), read_header(tiles).written);
        sort_canonical(read);
        return read;
    }

    [[nodiscard]] VkCommandBuffer begin_commands() {
        VkCommandPoolCreateInfo pool_info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = queue_family};
        check(vkCreateCommandPool(vulkan_device, &pool_info, nullptr, &command_pool));
        VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = command_pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
        VkCommandBuffer commands = VK_NULL_HANDLE;
        check(vkAllocateCommandBuffers(vulkan_device, &info, &commands));
        VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        check(vkBeginCommandBuffer(commands, &begin));
        return commands;
    }

    void submit_and_wait(VkCommandBuffer commands) const {
        check(vkEndCommandBuffer(commands));
        VkSubmitInfo work{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .commandBufferCount = 1,
                          .pCommandBuffers = &commands};
        check(vkQueueSubmit(queue, 1, &work, VK_NULL_HANDLE));
        check(vkQueueWaitIdle(queue));
    }

    const Device base = Device::create();
    const VkInstance instance = base.instance();
    const VkPhysicalDevice physical_device = base.physical_device();
    const VkDevice vulkan_device = base.handle();
    const VkQueue queue = base.queue();
    const std::uint32_t queue_family = base.queue_family();
    VkCommandPool command_pool = VK_NULL_HANDLE;

    std::unique_ptr<Gpu> gpu;
    std::deque<Buffer> buffers;
    std::deque<Image> images;
    std::vector<float> importance;
    Image map_image;
    VkImageView map_view = VK_NULL_HANDLE;
    const Threshold of_map = Threshold::max_resolution(64.0F);
    std::vector<Tile> tiles_of_map;
};

TEST_F(IntegrationGuide, OneMapAfterTheOther) {
    std::vector<TexelRect> baked;
    const auto bake = [&](std::uint32_t left, std::uint32_t top, std::uint32_t right,
                          std::uint32_t bottom) {
        baked.push_back({left, top, right, bottom});
    };
#include "snippets/tiler"
    EXPECT_EQ(baked.size(), list.tiles.size());
    EXPECT_TRUE(list.tiles == reference::subdivide(view_of(importance, width, height),
                                                   Threshold::max_resolution(256.0F))
                                  .tiles);
}

TEST_F(IntegrationGuide, ManyMapsOnManyThreads) {
    const Device device = this->device();
    const auto texels = std::make_shared<const std::vector<float>>(importance);
#include "snippets/service"
    EXPECT_TRUE(list.tiles == reference::subdivide(view_of(importance, width, height),
                                                   Threshold::max_resolution(256.0F))
                                  .tiles);
}

TEST_F(IntegrationGuide, Errors) {
    struct {
        [[nodiscard]] static TileList subdivide(const MapView& /*map*/,
                                                const Threshold& /*of_map*/) {
            throw Error(ErrorCode::out_of_memory, "there is no memory");
        }
    } tiler;
    const Threshold& threshold = of_map;
    const MapView map = view_of(importance, width, height);
    std::string logged;
    const auto log = [&](const char* message) { logged = message; };
    TileList list;
#include "snippets/errors"
    EXPECT_THAT(logged, Not(IsEmpty()));
    EXPECT_TRUE(list.tiles == tiles_of_map);
}

TEST_F(IntegrationGuide, FromAMapToItsTilesInOneDispatch) {
    const Device device = this->device();
#include "snippets/setup"
    const VkBuffer covered = make_zeros(sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const std::string bytes = read_file(CONSUMER_SPIRV);
    std::vector<std::uint32_t> spirv(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(spirv.data(), bytes.data(), bytes.size());
    const std::vector<BufferRange> consumed{{tiles, 0}, {covered, 0}};
    const std::vector<std::uint32_t> extent{width, height};
    const ComputePipeline consumer(*gpu, spirv, consumed, nullptr, 8);
    gpu->fill(buffer_of(scratch), 0);

    gpu->run([&](VkCommandBuffer commands) {
#include "snippets/record"
        consumer.record(commands, {0, 1, 1}, std::as_bytes(std::span(extent)));
        vkCmdDispatchIndirect(commands, tiles, offsetof(TileListHeader, dispatch_x));
    });
    EXPECT_TRUE(read_tiles(tiles) == tiles_of_map);
    EXPECT_EQ(gpu->read<std::uint32_t>(buffer_of(covered), 0, 1).front(), width * height);
}

TEST_F(IntegrationGuide, WhenTheListIsFull) {
    const Subdivider subdivider(device(), {.strategy = Strategy::fused});
    std::uint64_t capacity = 10;
    const auto record = [&] {
        const auto needed = subdivider.requirements({width, height}, capacity);
        const VkBuffer scratch = make_zeros(needed.scratch_size_bytes, needed.usage);
        const VkBuffer tiles = make_buffer(needed.tile_list_size_bytes, needed.usage);
        const auto binding = subdivider.bind({width, height}, {.map = map_image.map_image(),
                                                               .scratch = {scratch},
                                                               .tile_list = {tiles},
                                                               .tile_capacity = capacity});
        gpu->run([&](VkCommandBuffer commands) { subdivider.record(commands, binding, of_map); });
        return tiles;
    };
    {
        const VkBuffer tiles = record();
#include "snippets/overflow"
    }
    EXPECT_TRUE(read_tiles(record()) == tiles_of_map);
}

// The page's thresholds of 64 and 16 pixels in the halves of the map, without its GLSL.
Threshold halves() {
    return Threshold::map(make_thresholds({width, height}, [](auto level, auto x, auto...) {
        return (2 * (x << level) >= width ? 16.0F : 64.0F) / static_cast<float>(1U << level);
    }));
}

TEST_F(IntegrationGuide, ThresholdsInGlsl) {
    if (!can_compile_glsl()) {
        GTEST_SKIP() << "this build has no run-time GLSL compiler";
    }
    const MapView map = view_of(importance, width, height);
    const std::vector<Tile> expected = reference::subdivide(map, halves()).tiles;
    EXPECT_FALSE(expected == tiles_of_map);
    Tiler tiler(device());
    Service service(device());
#include "snippets/glsl_threshold"
    EXPECT_TRUE(list.tiles == expected);
    EXPECT_TRUE(ticket.result.get().tiles == expected);

    // The message that the page prints.
    const auto typo =
        "// A text.\nfloat threshold(uint level, uvec2 position, uint layer) {\n"
        "    return float(leve);\n}\n";
    EXPECT_THAT(refusal_of([&] { return tiler.subdivide(map, Threshold::function(typo)); }),
                StartsWith("the GLSL of threshold does not compile:\n"
                           "threshold:3: error: 'leve' : undeclared identifier"));
}

// The code of docs/downsampler.md.
TEST_F(IntegrationGuide, MipLevels) {
    const Device device = this->device();
    std::vector<std::uint8_t> texels(std::size_t{1920} * 1080 * 4);
    std::ranges::generate(texels,
                          [word = 1U]() mutable { return (word = 69069 * word + 1) >> 24U; });
    const auto make_image = [&](const VkImageCreateInfo& info) {
        const VkImage made = IntegrationGuide::make_image(info);
        gpu->upload(images.back(), texels.data());
        return made;
    };
    const VkCommandBuffer commands = begin_commands();
#include "snippets/downsampler"
    submit_and_wait(commands);
    const MipChain expected = reference::downsample(
        {texels.data(), {size.width, size.height, 1, TexelFormat::rgba8_srgb}}, {});
    ASSERT_EQ(expected.levels.size(), shape.levels);
    for (std::uint32_t level = 1; level < shape.levels; ++level) {
        EXPECT_TRUE(gpu->download(images.back(), level) == expected.levels[level].texels) << level;
    }
}

TEST_F(IntegrationGuide, FirstUseAndThePipelineCache) {
    const TemporaryDirectory directory;
    const std::string path = (directory.path() / "pipelines.bin").string();
    std::ofstream(path) << "no pipelines";
    const MapView map = view_of(importance, width, height);
    {
#include "snippets/cache"
        EXPECT_TRUE(tiler.subdivide(map, of_map).tiles == tiles_of_map);
    }
    EXPECT_GE(std::filesystem::file_size(path), 40U);
}

// The code of docs/shadows.md. Its draws are compiled; those of quadtile-shadow, which are the
// same, are run. Random cases (test/random) compare what fitters write.
TEST_F(IntegrationGuide, AFrameOfShadows) {
    const Device device = this->device();
    constexpr VkBufferUsageFlags STORAGE = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const ShadowMatrix camera = camera_of_frame(0).view.clip_from_world;
    const VkExtent2D depth_extent = DEPTH_EXTENT;
    const Image depth_image = gpu->make_image(MapShape{depth_extent.width, depth_extent.height});
    gpu->upload(depth_image, depth_buffer(camera_of_frame(0)).data());
    const Owned<VkImageView> made_depth_view = gpu->make_view(depth_image);
    const std::vector<float> far = empty_atlas({});
    const Image atlas =
        gpu->make_image(MapShape{ShadowOptions().atlas_extent, ShadowOptions().atlas_extent});
    gpu->upload(atlas, far.data());
    const Owned<VkImageView> made_atlas_view = gpu->make_view(atlas);
    const VkImageView depth_view = made_depth_view.get();
    const VkImageView atlas_view = made_atlas_view.get();

    const ShadowBox scene_box = spheres_box();
    constexpr std::uint32_t change_capacity = 2;
    constexpr std::uint32_t object_count = 2;
    const VkBuffer changes = make_zeros(change_capacity * sizeof(ShadowChange), STORAGE);
    const VkBuffer change_count = make_zeros(sizeof(std::uint32_t), STORAGE);
    const VkBuffer objects = make_zeros(object_count * sizeof(ShadowObject), STORAGE);

#include "snippets/shadow_once"
    ASSERT_EQ(needed.importance.arrayLayers, options.lights);
#include "snippets/shadow_frame"
    gpu->run([&](VkCommandBuffer commands) {
#include "snippets/shadow_record"
    });
    const auto draw = [&](VkCommandBuffer commands, VkPipeline clear_slots, VkPipeline draw_slots) {
#include "snippets/shadow_draw"
    };
    (void)draw;  // that would need a render pass

    const auto header = gpu->read<ShadowHeader>(buffer_of(memory), needed.header_offset_bytes, 1);
    EXPECT_GT(header[0].tiles, 20U);
}

}  // namespace
}  // namespace quadtile::test
