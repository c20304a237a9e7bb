// The downsampler against its twin: each reduction, format, edge rule and variant, to the bit.

#include "gpu_test.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace quadtile::test {
namespace {

class DownsamplerKernel : public GpuTest {};

// Sizes and what each is for. Blocks have 64 x 64 texels; they are handed over to groups at level 6
// (images above 64) and 12 (above 4096).
constexpr ImageShape SIZES[] = {
    {1, 1, 1},        // nothing to make
    {1, 2, 1},        // an axis that is one texel from the start
    {3, 1, 1},        // three texels folded into one
    {64, 64, 1},      // one even block, no hand-over
    {63, 65, 2},      // just below and above a block; layers
    {127, 127, 1},    // odd at every level: one block of 127 x 127 under fold
    {128, 32, 1},     // powers of two that are not square; a block smaller than 64
    {130, 70, 1},     // the rest of the last block is smaller than a texel of level 3
    {256, 256, 3},    // even; a hand-over of 4 x 4, no more than 16 x 16
    {1090, 1100, 1},  // a hand-over of more than 16 x 16, odd
    {1152, 1030, 1},  // a hand-over that is even along one axis
    {4160, 70, 1},    // two hand-overs; the group beside the last is one block wide
    {70, 8255, 1},    // two groups under fold, the last of more than 64
};
// For combinations of formats and methods: odd and even blocks, handed over to an odd group;
// layers.
constexpr ImageShape ONE_SIZE[] = {{200, 130, 2}};

MipChain make_chain(Gpu& gpu, const Downsampler& downsampler, const ImageView& image,
                    std::uint32_t levels) {
    MipWorkspace workspace(gpu, downsampler, image, levels);
    gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    return workspace.read(gpu);
}

void expect_equal(Gpu& gpu, const Downsampler& downsampler, const ImageShape& shape,
                  std::uint32_t levels) {
    const DownsamplerOptions& options = downsampler.options();
    bool special = options.reduction == Reduction::max || options.reduction == Reduction::min ||
                   options.reduction == Reduction::min_max;
    if (special && loses_infinities(gpu.device(), options.format)) {
        std::printf("without NaN and infinities, which this driver cannot store: %s\n",
                    text_of(options).c_str());
        special = false;
    }
    const std::vector<std::byte> texels = random_texels(shape, special && !options.filtered);
    const ImageView image{texels.data(), shape};
    EXPECT_EQ(difference(make_chain(gpu, downsampler, image, levels),
                         expected_chain(options, image, levels), options.copy_source ? 0 : 1),
              "")
        << text_of(options) << ", " << text_of(shape) << ", " << levels << " levels";
}

void expect_equal_on(const DownsamplerOptions& options, std::span<const ImageShape> sizes,
                     const Variant& variant = all_variants().front()) {
    Gpu gpu(device_for(variant));
    const Downsampler downsampler(gpu.device(), options);
    for (ImageShape shape : sizes) {
        shape.format = options.source_format;
        expect_equal(gpu, downsampler, shape,
                     full_mip_levels(shape.width, shape.height, options.edge_rule));
    }
}

DownsamplerOptions options_of(Reduction reduction, TexelFormat source, TexelFormat target,
                              EdgeRule rule, MipMethod method = MipMethod::spd) {
    DownsamplerOptions options;
    options.reduction = reduction;
    options.source_format = source;
    options.format = target;
    options.edge_rule = rule;
    options.method = method;
    if (reduction == Reduction::custom) {
        options.custom_glsl = CUSTOM_REDUCTION_GLSL;
    }
    return options;
}

// Reductions of the caller's need the compiler.
bool can_make(Reduction reduction) {
    return reduction != Reduction::custom || can_compile_glsl();
}

// Extremes and sums are two kinds of arithmetic. Catches what depends on extents: blocks, edges,
// hand-overs, texels that are left out.
TEST_F(DownsamplerKernel, EqualsItsTwinAtEverySizeAndWithEveryNumberOfLevels) {
    constexpr TexelFormat FORMAT = TexelFormat::r32_float;
    for (const auto& [reduction, rule] : {std::pair(Reduction::max, EdgeRule::round_up),
                                          {Reduction::mean, EdgeRule::fold},
                                          {Reduction::mean, EdgeRule::drop}}) {
        const DownsamplerOptions options = options_of(reduction, FORMAT, FORMAT, rule);
        expect_equal_on(options, SIZES);
        Gpu gpu(device_for());
        const Downsampler downsampler(gpu.device(), options);
        for (std::uint32_t levels = 1; levels <= full_mip_levels(300, 200, rule); ++levels) {
            expect_equal(gpu, downsampler, {300, 200, 1, FORMAT}, levels);
        }
    }
    // Level 0 alone, copied from a block of the most texels: those beyond the first 1024 were
    // missing.
    DownsamplerOptions copying = options_of(Reduction::min, FORMAT, FORMAT, EdgeRule::fold);
    copying.copy_source = true;
    Gpu gpu(device_for());
    expect_equal(gpu, Downsampler(gpu.device(), copying), {127, 127, 1, FORMAT}, 1);
}

// Each reduction, each way to decode and to encode a texel, each edge rule and method, on both
// variants of the device in turn; random cases (test/random) have all combinations. Drivers compile
// each for seconds.
TEST_F(DownsamplerKernel, EqualsItsTwinInEveryReduction) {
    using F = TexelFormat;
    using R = Reduction;
    using E = EdgeRule;
    using M = MipMethod;
    const Variant& whole = all_variants().front();
    const Variant& bare = all_variants().back();
    for (const auto& [options, variant] :
         {std::pair(options_of(R::max, F::d32_float, F::r32_float, E::drop, M::per_level), &whole),
          std::pair(options_of(R::min, F::d16_unorm, F::r16_unorm, E::round_up), &bare),
          std::pair(options_of(R::mean, F::rgba8_srgb, F::rgba8_srgb, E::round_up, M::subgroup),
                    &whole),
          std::pair(options_of(R::mean, F::r32_float, F::r32_float, E::drop, M::subgroup), &bare),
          std::pair(options_of(R::mean, F::rgba8_unorm, F::rgba8_unorm, E::drop), &whole),
          std::pair(options_of(R::sum, F::r8_unorm, F::r32_float, E::fold), &whole),
          std::pair(options_of(R::min_max, F::rg16_float, F::rg16_float, E::fold), &whole),
          std::pair(options_of(R::custom, F::r32_float, F::r32_float, E::drop, M::per_level),
                    &whole)}) {
        if (can_make(options.reduction)) {
            expect_equal_on(options, ONE_SIZE, *variant);
        }
    }
}

// Filtered reads: extremes are exact, means within 2^-8 of the largest texel of four (here 1 code,
// 2 of the steeper sRGB codes, or 0.02 of values up to 3). Blits of powers of two are means, which
// drivers round as they like, lavapipe down: a code a level.
TEST_F(DownsamplerKernel, FilteredReadsAndBlitsStayWithinTheirBounds) {
    Gpu gpu(device_for());
    using F = TexelFormat;
    using R = Reduction;
    using M = MipMethod;
    std::uint32_t made = 0;
    for (const auto& [reduction, format, method, bound] :
         {std::tuple(R::max, F::r32_float, M::spd, 0.0F),
          std::tuple(R::min, F::r8_unorm, M::spd, 0.0F),
          std::tuple(R::mean, F::rgba16_float, M::spd, 0.02F),
          std::tuple(R::mean, F::r8_unorm, M::spd, 1.0F),
          std::tuple(R::mean, F::rgba8_srgb, M::spd, 2.0F),
          std::tuple(R::mean, F::rgba8_srgb, M::blit, 8.0F),
          std::tuple(R::mean, F::r32_float, M::blit, 0.02F)}) {
        const bool blits = method == M::blit;
        const EdgeRule rule = blits ? EdgeRule::fold : EdgeRule::round_up;
        DownsamplerOptions options = options_of(reduction, format, format, rule, method);
        options.filtered = !blits;
        std::optional<Downsampler> downsampler;
        try {
            downsampler.emplace(gpu.device(), options);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
            EXPECT_FALSE(blits);
            continue;
        }
        made += blits ? 0 : 1;
        const ImageShape shape =
            blits ? ImageShape{128, 64, 2, format} : ImageShape{130, 67, 2, format};
        const std::vector<std::byte> texels = random_texels(shape, false);
        const ImageView image{texels.data(), shape};
        const std::uint32_t levels = full_mip_levels(shape.width, shape.height, rule);
        const MipChain chain = make_chain(gpu, *downsampler, image, levels);
        options.method = blits ? M::per_level : method;
        EXPECT_EQ(difference(chain, expected_chain(options, image, levels), 1, bound), "")
            << text_of(options);
    }
    EXPECT_GT(made, 0U);
    // "GENERAL is slower than TRANSFER_SRC_OPTIMAL", which a chain in one image cannot help.
    for (const std::string& message : take_validation_messages()) {
        EXPECT_NE(message.find("Performance Warning"), std::string::npos) << message;
    }
}

// ---- A dirty rectangle ----------------------------------------------------------------------

// On a device that cannot index images, each level is a window of its own. Levels made of rounded
// ones would differ from the twin's, and so would a window's for which the one before left a
// counter.
TEST_F(DownsamplerKernel, RectanglesSufficeLevelByLevel) {
    Gpu gpu(device_for({"without indexing", {.storage_image_dynamic_indexing = true}, {}}));
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    DownsamplerOptions options =
        options_of(Reduction::mean, TexelFormat::r8_unorm, TexelFormat::r8_unorm, EdgeRule::drop);
    options.copy_source = true;
    const Downsampler downsampler(gpu.device(), options);
    const ImageShape shape{4200, 70, 1, options.source_format};
    std::vector<std::byte> texels = random_texels(shape, false);
    const ImageView image{texels.data(), shape};
    const std::uint32_t levels = full_mip_levels(shape.width, shape.height, options.edge_rule);
    const MipWorkspace workspace(gpu, downsampler, image, levels);
    for (std::uint32_t round = 0; round < 6; ++round) {
        const DirtyRectangle rectangle =
            random_rectangle(shape, round % 2 == 1 ? 5000 : 150, below);
        const bool is_whole = round == 0 || round == 5;  // at last, the counters are at rest
        for (std::uint32_t y = rectangle.y; y < rectangle.y + rectangle.height; ++y) {
            std::generate_n(texels.begin() + y * shape.width + rectangle.x, rectangle.width,
                            [&] { return static_cast<std::byte>(below(256)); });
        }
        gpu.upload(workspace.source, texels.data());
        gpu.run([&](VkCommandBuffer commands) {
            is_whole ? downsampler.record(commands, workspace.binding)
                     : downsampler.record(commands, workspace.binding, rectangle);
        });
        ASSERT_EQ(difference(workspace.read(gpu), expected_chain(options, image, levels), 0), "")
            << "round " << round;
    }
}

TEST_F(DownsamplerKernel, OnlyTouchedBlocksRun) {
    Gpu gpu(device_for());
    const DownsamplerOptions options =
        options_of(Reduction::max, TexelFormat::r32_float, TexelFormat::r32_float, EdgeRule::fold);
    const Downsampler downsampler(gpu.device(), options);
    const ImageShape shape{256, 256, 1, options.source_format};
    std::vector<float> texels(std::size_t{256} * 256, 1.0F);
    MipWorkspace workspace(gpu, downsampler, {texels.data(), shape}, 9);
    gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    std::ranges::fill(texels, 2.0F);
    gpu.upload(workspace.source, texels.data());
    // Blocks (1, 2) and (2, 2).
    gpu.run([&](VkCommandBuffer commands) {
        downsampler.record(commands, workspace.binding, DirtyRectangle{127, 128, 2, 64, 0});
    });
    const MipChain chain = workspace.read(gpu);
    std::vector<float> level_6(16);
    std::memcpy(level_6.data(), chain.levels[6].texels.data(), 16 * sizeof(float));
    for (std::size_t i = 0; i < level_6.size(); ++i) {
        EXPECT_EQ(level_6[i], i == 9 || i == 10 ? 2.0F : 1.0F) << "block " << i;
    }
}

// ---- Mipmapper ---------------------------------------------------------------------------------

// One that is cut into batches within its second layer, others of other shapes and levels, and what
// is refused between them.
TEST_F(DownsamplerKernel, MipmappersServeManyImages) {
    constexpr TexelFormat FORMAT = TexelFormat::rgba32_float;
    Mipmapper first(
        device_for(),
        {.source_format = FORMAT, .format = FORMAT, .copy_source = true, .method = MipMethod::spd},
        GPU_TIMEOUT);
    Mipmapper mipmapper(std::move(first));
    const auto making = [&](const ImageShape& shape, std::uint32_t levels = 0) {
        return [&, shape, levels] {
            static const std::vector<float> texel(4);  // nobody looks at the others
            (void)mipmapper.make({texel.data(), shape}, levels);
        };
    };
    const std::pair<std::function<void()>, const char*> rows[] = {
        {making({4, 4, 1, TexelFormat::r32_float}), "made for rgba32_float"},
        {[&] {
             (void)mipmapper.make({nullptr, {37, 19, 1, FORMAT}});
         },
         "null pointer"},
        {making({0, 19, 1, FORMAT}), "0 x 19"},
        {making({37, 19, 1, FORMAT}, 7), "1 to 6"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text));
    }
    const std::uint32_t too_wide = device_for().info().max_map_extent + 1;
    if (too_wide <= MAX_MAP_EXTENT) {
        EXPECT_THAT(making({too_wide, 1, 1, FORMAT}),
                    fails(ErrorCode::unsupported, std::to_string(too_wide)));
    }
    for (const auto& [shape, levels] : {std::pair(ImageShape{37, 19, 1, FORMAT}, 1U),
                                        {{37, 19, 1, FORMAT}, 3U},
                                        {{1501, 1500, 2, FORMAT}, 2U},  // 69 MiB
                                        {{37, 19, 2, FORMAT}, 0U}}) {
        const std::vector<std::byte> texels = random_texels(shape, false);
        const ImageView image{texels.data(), shape};
        const MipChain chain = mipmapper.make(image, levels);
        EXPECT_EQ(difference(chain, expected_chain(mipmapper.options(), image, levels), 0), "")
            << text_of(shape) << ", " << levels << " levels";
        EXPECT_EQ(chain.gpu_time_us.has_value(), device_for().info().timestamps);
        EXPECT_GT(chain.gpu_time_us.value_or(1.0), 0.0);
    }
}

// ---- Refusals ---------------------------------------------------------------------------------

TEST_F(DownsamplerKernel, WhatCannotBeMadeIsRefusedByName) {
    using F = TexelFormat;
    using R = Reduction;
    using M = MipMethod;
    constexpr EdgeRule FOLD = EdgeRule::fold;
    DownsamplerOptions empty = options_of(R::custom, F::r32_float, F::r32_float, FOLD);
    empty.custom_glsl.clear();
    DownsamplerOptions wrong = empty;
    wrong.custom_glsl =
        "// comment\nTEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n    return e;\n}\n";
    const struct {
        DownsamplerOptions options;
        const char* text;
        ErrorCode code = ErrorCode::invalid_argument;
    } rows[] = {
        {options_of(R::max, F::r32_float, F::d32_float, FOLD), "d32_float"},
        {options_of(R::max, F::r32_float, F::rgba8_unorm, FOLD), "number of channels"},
        {options_of(R::sum, F::r8_unorm, F::r8_unorm, FOLD), "sums exceed"},
        {options_of(R::max, F::r32_float, F::r32_float, FOLD, M::blit), "only make means",
         ErrorCode::unsupported},
        {options_of(R::mean, F::r32_float, F::r32_float, EdgeRule::round_up, M::blit),
         "round the sizes of levels down"},
        {empty, "custom_glsl"},
        {can_make(R::custom) ? wrong : empty, can_make(R::custom) ? "reduction:3: error" : ""}};
    for (const auto& row : rows) {
        EXPECT_THAT([&] { const Downsampler downsampler(device_for(), row.options); },
                    fails(row.code, row.text));
    }
    const Device unable = Device::create({.disabled = {.storage_image_formats = true}});
    EXPECT_THAT([&] { const Downsampler downsampler(unable, rows[0].options); }, is_refused());
    EXPECT_THAT(
        [&] {
            const Downsampler downsampler(unable,
                                          options_of(R::max, F::r8_unorm, F::r8_unorm, FOLD));
        },
        fails(ErrorCode::unsupported, "shaderStorageImageWriteWithoutFormat"));
}

TEST_F(DownsamplerKernel, ResourcesThatDoNotFitAreRefusedByName) {
    Gpu gpu(device_for());
    const Downsampler downsampler(gpu.device(), options_of(Reduction::max, TexelFormat::r32_float,
                                                           TexelFormat::r32_float, EdgeRule::fold));
    const auto asking = [&](const Downsampler::Shape& shape) {
        return [&, shape] { (void)downsampler.requirements(shape); };
    };
    EXPECT_THAT(asking({64, 64, 1, 0}), is_refused("0 levels"));
    EXPECT_THAT(asking({64, 64, 1, 8}), is_refused("1 to 7"));
    EXPECT_THAT(asking({0, 64, 1, 1}), is_refused("empty"));
    if (can_make(Reduction::custom) && device_for().info().type == "CPU") {
        // lavapipe makes wrong ones of large images.
        const Downsampler custom(gpu.device(), options_of(Reduction::custom, TexelFormat::r32_float,
                                                          TexelFormat::r32_float, EdgeRule::fold));
        EXPECT_THROW(
            (void)custom.requirements({4160, 70, 1, full_mip_levels(4160, 70, EdgeRule::fold)}),
            Error);
    }
    const std::uint32_t too_wide = device_for().info().max_map_extent + 1;
    if (too_wide <= MAX_MAP_EXTENT) {
        EXPECT_THAT(asking({too_wide, 1, 1, 1}), fails(ErrorCode::unsupported, "too large"));
    }

    const ImageShape shape{64, 64, 1, TexelFormat::r32_float};
    const std::vector<std::byte> texels = random_texels(shape, false);
    MipWorkspace workspace(gpu, downsampler, {texels.data(), shape}, 7);
    using Resources = Downsampler::Resources;
    const auto without = [](VkImageUsageFlags& usage, VkImageUsageFlagBits bit) {
        usage &= ~static_cast<VkImageUsageFlags>(bit);
    };
    const struct {
        std::function<void(Resources&)> spoil;
        const char* text;
    } cases[] = {
        {[&](Resources& r) { without(r.destination.created.usage, VK_IMAGE_USAGE_STORAGE_BIT); },
         "usage { Storage }"},
        {[&](Resources& r) { without(r.source.created.usage, VK_IMAGE_USAGE_SAMPLED_BIT); },
         "usage { Sampled }"},
        {[](Resources& r) { r.source.created.format = VK_FORMAT_R8_UNORM; }, "format R8Unorm"},
        {[](Resources& r) { r.source.created.extent.width = 63; }, "63 x 64"},
        {[](Resources& r) { r.destination.created.mipLevels = 6; }, "6 mip levels"},
        {[](Resources& r) { r.destination.created.extent.height = 32; }, "level 1"},
        {[](Resources& r) { r.source.image = VK_NULL_HANDLE; }, "null"},
        {[](Resources& r) { r.state.buffer = VK_NULL_HANDLE; }, "state"},
        {[](Resources& r) { r.destination.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL; },
         "GENERAL"},
    };
    for (const auto& [spoil, text] : cases) {
        Resources resources;
        resources.source = workspace.source.resource();
        resources.destination = workspace.source.resource();
        resources.state = workspace.state.range();
        spoil(resources);
        EXPECT_THAT([&] { (void)downsampler.bind({64, 64, 1, 7}, resources); }, is_refused(text));
    }

    gpu.run([&](VkCommandBuffer commands) {
        for (const DirtyRectangle& rectangle :
             {DirtyRectangle{0, 0, 0, 1, 0}, DirtyRectangle{60, 0, 5, 1, 0},
              DirtyRectangle{0, 64, 1, 1, 0}, DirtyRectangle{0, 0, 1, 1, 1},
              DirtyRectangle{1, 1, ~0U, 1, 0}}) {
            EXPECT_THAT([&] { downsampler.record(commands, workspace.binding, rectangle); },
                        is_refused(rectangle.width == 0 ? "is empty" : "is not inside"));
        }
    });
}

}  // namespace
}  // namespace quadtile::test
