// The downsampler against its twin: each reduction, format, edge rule and variant, to the bit.

#include "gpu_test.hpp"
#include "support/custom_reduction.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <texel_codec.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test {
namespace {

class DownsamplerKernel : public GpuTest {};

// Sizes and what each is for. Blocks have 64 x 64 texels; they are handed over to groups at level 6
// (images above 64) and 12 (above 4096).
struct Size {
    std::uint32_t width;
    std::uint32_t height;
    std::uint32_t layers;
    const char* what_it_hits;
};
constexpr Size SIZES[] = {
    {1, 1, 1, "nothing to make"},
    {1, 2, 1, "an axis that is one texel from the start"},
    {3, 1, 1, "three texels folded into one"},
    {64, 64, 1, "one even block, no hand-over"},
    {63, 65, 2, "just below and above a block; layers"},
    {127, 127, 1, "odd at every level: one block of 127 x 127 under fold"},
    {128, 32, 1, "powers of two that are not square; a block smaller than 64"},
    {130, 70, 1, "the rest of the last block is smaller than a texel of level 3"},
    {256, 256, 3, "even; a hand-over of 4 x 4, no more than 16 x 16"},
    {1300, 1090, 1, "a hand-over of more than 16 x 16, odd"},
    {2048, 1100, 1, "a hand-over that is even along one axis"},
};
constexpr Size LARGE_SIZES[] = {
    {4160, 70, 1, "two hand-overs; the group beside the last is one block wide"},
    {70, 8255, 1, "two groups under fold, the last of more than 64"},
};

std::string name_of(Reduction reduction) {
    static const char* const names[] = {"max", "min", "mean", "sum", "min_max", "custom"};
    return names[static_cast<int>(reduction)];
}

std::string name_of(EdgeRule rule) {
    static const char* const names[] = {"round_up", "fold", "drop"};
    return names[static_cast<int>(rule)];
}

std::string text_of(const DownsamplerOptions& options, const ImageShape& shape) {
    static const char* const methods[] = {"automatic", "spd", "subgroup", "per_level", "blit"};
    return name_of(options.reduction) + " " + quadtile::name_of(options.source_format) + " to " +
           quadtile::name_of(options.format) + ", " + name_of(options.edge_rule) + ", " +
           methods[static_cast<int>(options.method)] +
           (options.read == TexelRead::filtered ? ", filtered" : "") +
           (options.exchange == Exchange::shared_memory ? ", shared memory" : "") + ", " +
           std::to_string(shape.width) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.layers);
}

// Random texels; floats in (-1, 3), with special values where only extremes are made of them.
std::vector<std::byte> random_texels(const ImageShape& shape, bool special,
                                     std::uint32_t seed = 1) {
    std::mt19937 random(seed + shape.width * 7919 + shape.height);
    const std::size_t count = std::size_t{shape.width} * shape.height * shape.layers;
    const std::size_t size = texel_size_bytes(shape.format);
    const std::uint32_t encoding = reference::encoding_of(shape.format);
    const bool depth = shape.format == TexelFormat::d32_float;
    std::vector<std::byte> bytes(count * size);
    if (encoding >= ENCODING_UNORM8) {
        std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random() & 0xffU); });
        return bytes;
    }
    for (std::size_t i = 0; i < count; ++i) {
        reference::Texel texel{};
        for (float& channel : texel) {
            const float unit = static_cast<float>(random() >> 8U) / 16777216.0F;
            channel = depth ? unit : 4.0F * unit - 1.0F;
            if (special && !depth && random() % 64 == 0) {
                constexpr float SPECIAL[] = {std::numeric_limits<float>::quiet_NaN(),
                                             -std::numeric_limits<float>::quiet_NaN(),
                                             std::numeric_limits<float>::infinity(),
                                             -std::numeric_limits<float>::infinity(), -0.0F};
                channel = SPECIAL[random() % 5];
            }
        }
        reference::encode_texel(shape.format, texel, bytes.data() + i * size);
    }
    return bytes;
}

// Whether two texels are the same; 0 and -0 are, and NaN and NaN.
bool same_texel(TexelFormat format, const std::byte* a, const std::byte* b) {
    if (std::memcmp(a, b, texel_size_bytes(format)) == 0) {
        return true;
    }
    const reference::Texel x = reference::decode_texel(format, a);
    const reference::Texel y = reference::decode_texel(format, b);
    const bool floats = reference::encoding_of(format) <= ENCODING_FLOAT16;
    return floats && std::equal(x.begin(), x.end(), y.begin(), [](float m, float n) {
               return m == n || (std::isnan(m) && std::isnan(n));
           });
}

// One sentence on the first difference, or empty.
std::string difference(const MipChain& actual, const MipChain& expected, bool compare_level_0) {
    for (std::size_t l = compare_level_0 ? 0 : 1; l < expected.levels.size(); ++l) {
        const MipChain::Level& a = actual.levels[l];
        const MipChain::Level& e = expected.levels[l];
        if (a.shape.width != e.shape.width || a.shape.height != e.shape.height ||
            a.texels.size() != e.texels.size()) {
            return "level " + std::to_string(l) + " has another size";
        }
        const std::size_t size = texel_size_bytes(e.shape.format);
        for (std::size_t i = 0; i < e.texels.size() / size; ++i) {
            if (!same_texel(e.shape.format, &a.texels[i * size], &e.texels[i * size])) {
                const reference::Texel x =
                    reference::decode_texel(e.shape.format, &a.texels[i * size]);
                const reference::Texel y =
                    reference::decode_texel(e.shape.format, &e.texels[i * size]);
                const std::size_t in_layer = i % (std::size_t{e.shape.width} * e.shape.height);
                std::string text = "level " + std::to_string(l) + " (" +
                                   std::to_string(in_layer % e.shape.width) + ", " +
                                   std::to_string(in_layer / e.shape.width) + "):";
                for (std::size_t c = 0; c < channel_count(e.shape.format); ++c) {
                    text += " " + std::to_string(x[c]) + " for " + std::to_string(y[c]);
                }
                return text;
            }
        }
    }
    return "";
}

// The largest distance of a channel, as the texels are decoded; unorm and sRGB in codes.
double largest_distance(const MipChain& actual, const MipChain& expected) {
    double largest = 0;
    for (std::size_t l = 1; l < expected.levels.size(); ++l) {
        const TexelFormat format = expected.levels[l].shape.format;
        const std::size_t size = texel_size_bytes(format);
        const bool codes = reference::encoding_of(format) >= ENCODING_UNORM8;
        for (std::size_t i = 0; i < expected.levels[l].texels.size() / size; ++i) {
            const std::byte* a = &actual.levels[l].texels[i * size];
            const std::byte* e = &expected.levels[l].texels[i * size];
            if (codes && reference::encoding_of(format) != ENCODING_UNORM16) {
                for (std::size_t c = 0; c < size; ++c) {
                    largest = std::max(
                        largest, std::abs(static_cast<double>(a[c]) - static_cast<double>(e[c])));
                }
                continue;
            }
            const reference::Texel x = reference::decode_texel(format, a);
            const reference::Texel y = reference::decode_texel(format, e);
            for (std::size_t c = 0; c < channel_count(format); ++c) {
                largest = std::max(largest, static_cast<double>(std::abs(x[c] - y[c])));
            }
        }
    }
    return largest;
}

MipChain expected_chain(const DownsamplerOptions& options, const ImageView& image,
                        std::uint32_t levels) {
    return reference::downsample(image, {.reduction = options.reduction,
                                         .format = options.format,
                                         .edge_rule = options.edge_rule,
                                         .levels = levels,
                                         .method = options.method,
                                         .copy_source = options.copy_source,
                                         .custom = custom_reduction});
}

MipChain make_chain(Gpu& gpu, const Downsampler& downsampler, const ImageView& image,
                    std::uint32_t levels) {
    MipWorkspace workspace(gpu, downsampler, image, levels);
    gpu.run([&](VkCommandBuffer commands) {
        gpu.barrier(commands);
        downsampler.record(commands, workspace.binding);
        gpu.barrier(commands);
    });
    return workspace.read(gpu);
}

void expect_equal(Gpu& gpu, const Downsampler& downsampler, const ImageShape& shape,
                  std::uint32_t levels) {
    const DownsamplerOptions& options = downsampler.options();
    bool special = options.reduction == Reduction::max || options.reduction == Reduction::min ||
                   options.reduction == Reduction::min_max;
    if (special && loses_infinities(gpu.device(), options.format)) {
        std::printf("without NaN and infinities, which this driver cannot store: %s\n",
                    text_of(options, shape).c_str());
        special = false;
    }
    const std::vector<std::byte> texels =
        random_texels(shape, special && options.read == TexelRead::texels);
    const ImageView image{texels.data(), shape};
    EXPECT_EQ(difference(make_chain(gpu, downsampler, image, levels),
                         expected_chain(options, image, levels), options.copy_source),
              "")
        << text_of(options, shape) << ", " << levels << " levels";
}

struct Formats {
    TexelFormat source;
    TexelFormat target;
};

// The formats that a reduction goes between in the tests: each way to decode and to encode a texel
// once, with the arithmetic of the reduction.
std::vector<Formats> formats_for(Reduction reduction) {
    using F = TexelFormat;
    switch (reduction) {
        case Reduction::min_max:
            return {{F::r32_float, F::rg32_float},
                    {F::d16_unorm, F::rg32_float},
                    {F::rg16_float, F::rg16_float}};
        case Reduction::sum:
            return {{F::r32_float, F::r32_float},
                    {F::r8_unorm, F::r32_float},
                    {F::rgba16_float, F::rgba32_float}};
        case Reduction::max:
        case Reduction::min:
            return {{F::r32_float, F::r32_float},    {F::r16_float, F::r16_float},
                    {F::d32_float, F::r32_float},    {F::d16_unorm, F::r16_unorm},
                    {F::r8_unorm, F::r8_unorm},      {F::rg32_float, F::rg32_float},
                    {F::rgba8_unorm, F::rgba8_unorm}};
        default:
            return {{F::r32_float, F::r32_float},       {F::r16_float, F::r16_float},
                    {F::d16_unorm, F::r32_float},       {F::r16_unorm, F::r16_unorm},
                    {F::r8_unorm, F::r8_unorm},         {F::rg16_float, F::rg16_float},
                    {F::rgba16_float, F::rgba16_float}, {F::rgba8_unorm, F::rgba8_unorm},
                    {F::rgba8_srgb, F::rgba8_srgb}};
    }
}

constexpr EdgeRule EDGE_RULES[] = {EdgeRule::round_up, EdgeRule::fold, EdgeRule::drop};
// For combinations of formats and methods: odd and even blocks, handed over to an odd group;
// layers.
constexpr Size ONE_SIZE[] = {{200, 130, 2, "one of all kinds"}};

void expect_equal_on(const DownsamplerOptions& options, std::span<const Size> sizes,
                     const Variant& variant = all_variants().front()) {
    Gpu gpu(device_for(variant));
    const Downsampler downsampler(gpu.device(), options);
    for (const Size& size : sizes) {
        const ImageShape shape{size.width, size.height, size.layers, options.source_format};
        expect_equal(gpu, downsampler, shape,
                     full_mip_levels(size.width, size.height, options.edge_rule));
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
    options.read = TexelRead::texels;
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
// hand-overs.
TEST_F(DownsamplerKernel, EqualsItsTwinAtEverySize) {
    for (const auto& [reduction, rule] :
         {std::pair(Reduction::max, EdgeRule::round_up), std::pair(Reduction::mean, EdgeRule::fold),
          std::pair(Reduction::mean, EdgeRule::drop)}) {
        const DownsamplerOptions options =
            options_of(reduction, TexelFormat::r32_float, TexelFormat::r32_float, rule);
        expect_equal_on(options, SIZES);
        expect_equal_on(options, LARGE_SIZES);
    }
}

TEST_F(DownsamplerKernel, EqualsItsTwinInEveryReductionUnderEveryEdgeRule) {
    for (const Reduction reduction : {Reduction::max, Reduction::min, Reduction::mean,
                                      Reduction::sum, Reduction::min_max, Reduction::custom}) {
        if (!can_make(reduction)) {
            std::printf("without custom reductions: this build has no GLSL compiler\n");
            continue;
        }
        for (const EdgeRule rule : EDGE_RULES) {
            const Formats formats = formats_for(reduction).front();
            expect_equal_on(options_of(reduction, formats.source, formats.target, rule), ONE_SIZE);
        }
    }
}

// lavapipe makes wrong ones of large images.
TEST_F(DownsamplerKernel, CustomReductionsOfLargeImagesAreRefusedOnCpuDrivers) {
    if (!can_make(Reduction::custom) || device_for().info().type != "CPU") {
        GTEST_SKIP() << "no CPU driver, or no GLSL compiler";
    }
    const Downsampler downsampler(
        device_for(), options_of(Reduction::custom, TexelFormat::r32_float, TexelFormat::r32_float,
                                 EdgeRule::fold));
    for (const Size& size : LARGE_SIZES) {
        EXPECT_THROW((void)downsampler.requirements(
                         {size.width, size.height, size.layers,
                          full_mip_levels(size.width, size.height, EdgeRule::fold)}),
                     Error);
    }
}

// Each format of each kind of arithmetic. Edge rules, methods and exchanges take turns, because
// drivers compile each combination for seconds; random cases (test/random) have all combinations.
TEST_F(DownsamplerKernel, EqualsItsTwinInEveryFormat) {
    constexpr MipMethod METHODS[] = {MipMethod::spd, MipMethod::subgroup, MipMethod::per_level};
    std::size_t turn = 0;
    for (const Reduction reduction :
         {Reduction::max, Reduction::mean, Reduction::sum, Reduction::min_max}) {
        for (const Formats& formats : formats_for(reduction)) {
            DownsamplerOptions options = options_of(reduction, formats.source, formats.target,
                                                    EDGE_RULES[turn % 3], METHODS[turn / 3 % 3]);
            options.exchange = turn % 2 == 0 ? Exchange::automatic : Exchange::shared_memory;
            expect_equal_on(options, ONE_SIZE);
            ++turn;
        }
    }
}

TEST_F(DownsamplerKernel, MakesAsManyLevelsAsAreWanted) {
    Gpu gpu(device_for());
    for (const EdgeRule rule : EDGE_RULES) {
        const Downsampler downsampler(
            gpu.device(),
            options_of(Reduction::mean, TexelFormat::r32_float, TexelFormat::r32_float, rule));
        const ImageShape shape{300, 200, 1, TexelFormat::r32_float};
        for (std::uint32_t levels = 1; levels <= full_mip_levels(300, 200, rule); ++levels) {
            expect_equal(gpu, downsampler, shape, levels);
        }
    }
}

TEST_F(DownsamplerKernel, CopiesTheSourceIntoLevel0) {
    Gpu gpu(device_for());
    std::size_t turn = 0;  // of the edge rules
    using F = TexelFormat;
    for (const Formats& formats :
         {Formats{F::d32_float, F::r32_float}, Formats{F::d16_unorm, F::r32_float},
          Formats{F::rgba8_srgb, F::rgba8_srgb}, Formats{F::rgba8_srgb, F::rgba8_unorm}}) {
        const EdgeRule rule = EDGE_RULES[turn++ % 3];
        DownsamplerOptions options =
            options_of(Reduction::mean, formats.source, formats.target, rule);
        options.copy_source = true;
        const Downsampler downsampler(gpu.device(), options);
        for (const ImageShape& shape :
             {ImageShape{130, 67, 2, formats.source}, ImageShape{1, 1, 1, formats.source}}) {
            const std::vector<std::byte> texels = random_texels(shape, false);
            const ImageView image{texels.data(), shape};
            const std::uint32_t levels = full_mip_levels(shape.width, shape.height, rule);
            EXPECT_EQ(difference(make_chain(gpu, downsampler, image, levels),
                                 expected_chain(options, image, levels), true),
                      "")
                << text_of(options, shape);
        }
    }
}

// Filtered reads: extremes are exact, means within 2^-8 of the largest texel of four (here 1 code,
// 2 of the steeper sRGB codes, or 0.02 of values up to 3).
TEST_F(DownsamplerKernel, FilteredReadsStayWithinTheirBound) {
    Gpu gpu(device_for());
    using F = TexelFormat;
    std::uint32_t made = 0;
    for (const Formats& formats :
         {Formats{F::r32_float, F::r32_float}, Formats{F::r16_float, F::r16_float},
          Formats{F::r8_unorm, F::r8_unorm}, Formats{F::rg16_float, F::rg16_float},
          Formats{F::rgba8_unorm, F::rgba8_unorm}, Formats{F::rgba8_srgb, F::rgba8_srgb},
          Formats{F::rgba16_float, F::rgba16_float}}) {
        for (const Reduction reduction : {Reduction::max, Reduction::min, Reduction::mean}) {
            DownsamplerOptions options =
                options_of(reduction, formats.source, formats.target, EdgeRule::round_up);
            options.read = TexelRead::filtered;
            std::optional<Downsampler> downsampler;
            try {
                downsampler.emplace(gpu.device(), options);
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
                continue;
            }
            ++made;
            const bool codes = reference::encoding_of(formats.source) >= ENCODING_UNORM8;
            const double code_bound = formats.source == F::rgba8_srgb ? 2.0 : 1.0;
            const double bound = reduction != Reduction::mean ? 0.0 : (codes ? code_bound : 0.02);
            for (const ImageShape& shape : {ImageShape{130, 67, 2, formats.source},
                                            ImageShape{256, 256, 1, formats.source}}) {
                const std::vector<std::byte> texels = random_texels(shape, false);
                const ImageView image{texels.data(), shape};
                const std::uint32_t levels =
                    full_mip_levels(shape.width, shape.height, options.edge_rule);
                EXPECT_LE(largest_distance(make_chain(gpu, *downsampler, image, levels),
                                           expected_chain(options, image, levels)),
                          bound)
                    << text_of(options, shape);
            }
        }
    }
    EXPECT_GT(made, 0U);
}

// Without one optional feature after the other.
TEST_F(DownsamplerKernel, EqualsItsTwinInEveryVariant) {
    for (const Variant& variant : all_variants()) {
        Gpu gpu(device_for(variant));
        DownsamplerOptions options = options_of(Reduction::max, TexelFormat::r8_unorm,
                                                TexelFormat::r8_unorm, EdgeRule::fold);
        options.read = TexelRead::automatic;
        if (variant.disabled.storage_image_formats) {
            try {
                const Downsampler downsampler(gpu.device(), options);
                ADD_FAILURE() << "made without storage images";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::unsupported);
                EXPECT_NE(std::string(error.what()).find("shaderStorageImageWriteWithoutFormat"),
                          std::string::npos);
            }
            continue;
        }
        const Downsampler downsampler(gpu.device(), options);
        for (const Size& size : ONE_SIZE) {
            expect_equal(gpu, downsampler,
                         {size.width, size.height, size.layers, TexelFormat::r8_unorm},
                         full_mip_levels(size.width, size.height, EdgeRule::fold));
        }
    }
}

// Several levels are read, each for windows of its own; and code that is compiled here.
TEST_F(DownsamplerKernel, FourStorageImagesAreEnoughForOtherMethodsAndReductions) {
    for (const auto& [reduction, method] : {std::pair(Reduction::mean, MipMethod::subgroup),
                                            std::pair(Reduction::mean, MipMethod::per_level),
                                            std::pair(Reduction::custom, MipMethod::spd)}) {
        if (can_make(reduction)) {
            expect_equal_on(options_of(reduction, TexelFormat::r8_unorm, TexelFormat::r8_unorm,
                                       EdgeRule::fold, method),
                            ONE_SIZE, variant_named("4 storage images"));
        }
    }
}

TEST_F(DownsamplerKernel, BlitsMakeMeansOfPowersOfTwo) {
    Gpu gpu(device_for());
    for (const TexelFormat format :
         {TexelFormat::rgba8_unorm, TexelFormat::rgba8_srgb, TexelFormat::r32_float}) {
        DownsamplerOptions options =
            options_of(Reduction::mean, format, format, EdgeRule::fold, MipMethod::blit);
        const Downsampler downsampler(gpu.device(), options);
        const ImageShape shape{128, 64, 2, format};
        const std::vector<std::byte> texels = random_texels(shape, false);
        const ImageView image{texels.data(), shape};
        const MipChain actual = make_chain(gpu, downsampler, image, 8);
        options.method = MipMethod::per_level;
        // Drivers round as they like, lavapipe down: a code a level.
        const bool codes = format != TexelFormat::r32_float;
        EXPECT_LE(largest_distance(actual, expected_chain(options, image, 8)), codes ? 8.0 : 0.02)
            << text_of(options, shape);
    }
    // "GENERAL is slower than TRANSFER_SRC_OPTIMAL", which a chain in one image cannot help.
    for (const std::string& message : take_validation_messages()) {
        EXPECT_NE(message.find("Performance Warning"), std::string::npos) << message;
    }
}

TEST_F(DownsamplerKernel, AThousandRunsNeedNoReset) {
    Gpu gpu(device_for());
    const DownsamplerOptions options = options_of(Reduction::mean, TexelFormat::rgba8_unorm,
                                                  TexelFormat::rgba8_unorm, EdgeRule::fold);
    const Downsampler downsampler(gpu.device(), options);
    const ImageShape shape{200, 130, 2, options.source_format};
    const std::vector<std::byte> texels = random_texels(shape, false);
    const ImageView image{texels.data(), shape};
    const std::uint32_t levels = full_mip_levels(200, 130, EdgeRule::fold);
    MipWorkspace workspace(gpu, downsampler, image, levels);
    for (std::uint32_t submission = 0; submission < 10; ++submission) {
        gpu.run([&](VkCommandBuffer commands) {
            for (std::uint32_t run = 0; run < 100; ++run) {
                gpu.barrier(commands);
                downsampler.record(commands, workspace.binding);
            }
            gpu.barrier(commands);
        });
    }
    EXPECT_EQ(difference(workspace.read(gpu), expected_chain(options, image, levels), false), "");
}

TEST_F(DownsamplerKernel, SeveralAtOnceDoNotInterfere) {
    Gpu gpu(device_for());
    const DownsamplerOptions options =
        options_of(Reduction::max, TexelFormat::r32_float, TexelFormat::r32_float, EdgeRule::drop);
    const Downsampler downsampler(gpu.device(), options);
    std::vector<std::vector<std::byte>> texels;
    std::vector<MipWorkspace> workspaces;
    for (std::uint32_t i = 0; i < 4; ++i) {
        const ImageShape shape{300 + i, 200 - i, 1, options.source_format};
        texels.push_back(random_texels(shape, true, i));
        workspaces.emplace_back(gpu, downsampler, ImageView{texels.back().data(), shape}, 9);
    }
    gpu.run([&](VkCommandBuffer commands) {
        gpu.barrier(commands);
        for (const MipWorkspace& workspace : workspaces) {
            downsampler.record(commands, workspace.binding);
        }
        gpu.barrier(commands);
    });
    for (const MipWorkspace& workspace : workspaces) {
        EXPECT_EQ(
            difference(workspace.read(gpu), expected_chain(options, workspace.view, 9), false), "");
    }
}

// ---- Dirty rectangles ----------------------------------------------------------------------

DirtyRectangle random_rectangle(std::mt19937& random, const ImageShape& shape) {
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    DirtyRectangle rectangle{};
    rectangle.x = below(shape.width);
    rectangle.y = below(shape.height);
    rectangle.width = 1 + below(std::min(shape.width - rectangle.x, 150U));
    rectangle.height = 1 + below(std::min(shape.height - rectangle.y, 150U));
    rectangle.layer = below(shape.layers);
    return rectangle;
}

// The list on the GPU.
void write_rectangles(const MipWorkspace& workspace,
                      const std::vector<DirtyRectangle>& rectangles) {
    const std::uint32_t header[4] = {static_cast<std::uint32_t>(rectangles.size())};
    std::byte* const list = workspace.dirty_rectangles.mapped();
    std::memcpy(list, header, sizeof(header));
    std::memcpy(list + sizeof(header), rectangles.data(),
                rectangles.size() * sizeof(DirtyRectangle));
}

// New texels inside a rectangle.
void change(std::vector<std::byte>& texels, const ImageShape& shape,
            const DirtyRectangle& rectangle, std::mt19937& random) {
    const std::size_t size = texel_size_bytes(shape.format);
    for (std::uint32_t y = rectangle.y; y < rectangle.y + rectangle.height; ++y) {
        for (std::uint32_t x = rectangle.x; x < rectangle.x + rectangle.width; ++x) {
            const std::size_t texel =
                (std::size_t{rectangle.layer} * shape.height + y) * shape.width + x;
            for (std::size_t i = 0; i < size; ++i) {
                texels[texel * size + i] = static_cast<std::byte>(random() & 0xffU);
            }
        }
    }
}

// Rounds of changes, listed by the host and on the GPU in turn.
void expect_rectangles_to_suffice(const Variant& variant, const DownsamplerOptions& options,
                                  std::span<const Size> sizes) {
    Gpu gpu(device_for(variant));
    std::mt19937 random(7);
    const Downsampler downsampler(gpu.device(), options);
    constexpr std::uint32_t CAPACITY = 16;
    for (const Size& size : sizes) {
        const ImageShape shape{size.width, size.height, size.layers, options.source_format};
        std::vector<std::byte> texels = random_texels(shape, false);
        const std::uint32_t levels = full_mip_levels(shape.width, shape.height, options.edge_rule);
        MipWorkspace workspace(gpu, downsampler, {texels.data(), shape}, levels, CAPACITY);
        gpu.run([&](VkCommandBuffer commands) {
            gpu.barrier(commands);
            downsampler.record(commands, workspace.binding);
            gpu.barrier(commands);
        });
        for (std::uint32_t round = 0; round < 6; ++round) {
            std::vector<DirtyRectangle> rectangles;
            for (std::uint32_t i = 0; i < 1 + random() % 5; ++i) {
                rectangles.push_back(random_rectangle(random, shape));
                change(texels, shape, rectangles.back(), random);
            }
            gpu.upload(workspace.source, texels.data());
            const bool on_gpu = round % 2 == 1;
            if (on_gpu) {
                write_rectangles(workspace, rectangles);
            }
            gpu.run([&](VkCommandBuffer commands) {
                gpu.barrier(commands);
                if (on_gpu) {
                    downsampler.record_indirect(commands, workspace.binding);
                } else {
                    downsampler.record(commands, workspace.binding, rectangles);
                }
                gpu.barrier(commands);
            });
            const ImageView image{texels.data(), shape};
            ASSERT_EQ(difference(workspace.read(gpu), expected_chain(options, image, levels),
                                 options.copy_source),
                      "")
                << text_of(options, shape) << ", round " << round;
        }
        // The whole of it again: the counters are at rest.
        gpu.run([&](VkCommandBuffer commands) {
            gpu.barrier(commands);
            downsampler.record(commands, workspace.binding);
            gpu.barrier(commands);
        });
        const ImageView image{texels.data(), shape};
        EXPECT_EQ(difference(workspace.read(gpu), expected_chain(options, image, levels), false),
                  "");
    }
}

TEST_F(DownsamplerKernel, DirtyRectanglesBringAllLevelsUpToDate) {
    constexpr Size sizes[] = {{60, 50, 1, "one block"},
                              {333, 290, 2, "one hand-over; layers"},
                              {4200, 300, 1, "two hand-overs"}};
    for (const EdgeRule rule : EDGE_RULES) {
        expect_rectangles_to_suffice(
            all_variants().front(),
            options_of(Reduction::mean, TexelFormat::r8_unorm, TexelFormat::r8_unorm, rule), sizes);
    }
}

// On a device with room for few images levels are stored window by window, here four windows from
// level 0 on. Levels made of rounded ones would differ from the twin's, and so would a window's for
// which the one before left a counter, a mark or an expectation.
TEST_F(DownsamplerKernel, FourStorageImagesAreEnough) {
    for (const EdgeRule rule : EDGE_RULES) {
        DownsamplerOptions options =
            options_of(Reduction::mean, TexelFormat::r8_unorm, TexelFormat::r8_unorm, rule);
        options.copy_source = true;
        constexpr Size sizes[] = {{4200, 70, 1, "two hand-overs"}};
        expect_rectangles_to_suffice(variant_named("4 storage images"), options, sizes);
    }
}

TEST_F(DownsamplerKernel, OnlyTouchedBlocksRun) {
    Gpu gpu(device_for());
    const DownsamplerOptions options =
        options_of(Reduction::max, TexelFormat::r32_float, TexelFormat::r32_float, EdgeRule::fold);
    const Downsampler downsampler(gpu.device(), options);
    const ImageShape shape{256, 256, 1, options.source_format};
    std::vector<float> texels(std::size_t{256} * 256, 1.0F);
    MipWorkspace workspace(gpu, downsampler, {texels.data(), shape}, 9, 4);
    gpu.run([&](VkCommandBuffer commands) {
        gpu.barrier(commands);
        downsampler.record(commands, workspace.binding);
        gpu.barrier(commands);
    });
    std::ranges::fill(texels, 2.0F);
    gpu.upload(workspace.source, texels.data());
    // Two rectangles that share a block: blocks (1, 2) and (2, 2).
    const std::vector<DirtyRectangle> rectangles{{64, 128, 65, 10, 0}, {127, 190, 2, 2, 0}};
    for (const bool on_gpu : {false, true}) {
        if (on_gpu) {
            write_rectangles(workspace, rectangles);
        }
        gpu.run([&](VkCommandBuffer commands) {
            gpu.barrier(commands);
            if (on_gpu) {
                downsampler.record_indirect(commands, workspace.binding);
            } else {
                downsampler.record(commands, workspace.binding, rectangles);
            }
            gpu.barrier(commands);
        });
        const MipChain chain = workspace.read(gpu);
        std::vector<float> level_6(16);
        std::memcpy(level_6.data(), chain.levels[6].texels.data(), 16 * sizeof(float));
        for (std::size_t i = 0; i < level_6.size(); ++i) {
            EXPECT_EQ(level_6[i], i == 9 || i == 10 ? 2.0F : 1.0F) << "block " << i;
        }
    }
}

// ---- Refusals ---------------------------------------------------------------------------------

template <typename Call>
std::string message_of(Call&& call, ErrorCode code) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    return "nothing was thrown";
}

TEST_F(DownsamplerKernel, WhatCannotBeMadeIsRefusedByName) {
    using testing::HasSubstr;
    const Device& device = device_for();
    const auto making = [&](const DownsamplerOptions& options, ErrorCode code) {
        return message_of([&] { const Downsampler downsampler(device, options); }, code);
    };
    using F = TexelFormat;
    EXPECT_THAT(making(options_of(Reduction::max, F::r32_float, F::d32_float, EdgeRule::fold),
                       ErrorCode::invalid_argument),
                HasSubstr("d32_float"));
    EXPECT_THAT(making(options_of(Reduction::max, F::r32_float, F::rgba8_unorm, EdgeRule::fold),
                       ErrorCode::invalid_argument),
                HasSubstr("number of channels"));
    EXPECT_THAT(making(options_of(Reduction::sum, F::r8_unorm, F::r8_unorm, EdgeRule::fold),
                       ErrorCode::invalid_argument),
                HasSubstr("sums exceed"));
    EXPECT_THAT(making(options_of(Reduction::max, F::r32_float, F::r32_float, EdgeRule::fold,
                                  MipMethod::blit),
                       ErrorCode::unsupported),
                HasSubstr("means only"));
    EXPECT_THAT(making(options_of(Reduction::mean, F::r32_float, F::r32_float, EdgeRule::round_up,
                                  MipMethod::blit),
                       ErrorCode::invalid_argument),
                HasSubstr("rounded down"));
    DownsamplerOptions custom_options =
        options_of(Reduction::custom, F::r32_float, F::r32_float, EdgeRule::fold);
    custom_options.custom_glsl.clear();
    EXPECT_THAT(making(custom_options, ErrorCode::invalid_argument), HasSubstr("custom_glsl"));
    if (can_make(Reduction::custom)) {
        custom_options.custom_glsl =
            "// comment\nTEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n    return e;\n}\n";
        EXPECT_THAT(making(custom_options, ErrorCode::invalid_argument),
                    HasSubstr("reduction:3: error"));
    }
}

TEST_F(DownsamplerKernel, ResourcesThatDoNotFitAreRefusedByName) {
    using testing::HasSubstr;
    Gpu gpu(device_for());
    const Downsampler downsampler(gpu.device(), options_of(Reduction::max, TexelFormat::r32_float,
                                                           TexelFormat::r32_float, EdgeRule::fold));
    const auto refused = [&](auto&& call) { return message_of(call, ErrorCode::invalid_argument); };
    EXPECT_THAT(refused([&] {
                    (void)downsampler.requirements({64, 64, 1, 0});
                }),
                HasSubstr("0 levels"));
    EXPECT_THAT(refused([&] {
                    (void)downsampler.requirements({64, 64, 1, 8});
                }),
                HasSubstr("1 to 7"));
    EXPECT_THAT(refused([&] {
                    (void)downsampler.requirements({0, 64, 1, 1});
                }),
                HasSubstr("empty"));
    if (device_for().info().max_map_extent < MAX_MAP_EXTENT) {
        const std::uint32_t wide = device_for().info().max_map_extent + 1;
        EXPECT_THAT(message_of(
                        [&] {
                            (void)downsampler.requirements({wide, 1, 1, 1});
                        },
                        ErrorCode::unsupported),
                    HasSubstr("too large"));
    }

    const ImageShape shape{64, 64, 1, TexelFormat::r32_float};
    const std::vector<std::byte> texels = random_texels(shape, false);
    MipWorkspace workspace(gpu, downsampler, {texels.data(), shape}, 7);
    Downsampler::Resources good;
    good.source = workspace.source.resource();
    good.destination = workspace.source.resource();
    good.state = workspace.state.range();
    const auto binding = [&](auto&& spoil) {
        Downsampler::Resources resources = good;
        spoil(resources);
        return refused([&] { (void)downsampler.bind({64, 64, 1, 7}, resources); });
    };
    using Resources = Downsampler::Resources;
    EXPECT_THAT(binding([](Resources& r) {
                    r.destination.created.usage &=
                        ~static_cast<VkImageUsageFlags>(VK_IMAGE_USAGE_STORAGE_BIT);
                }),
                HasSubstr("usage { Storage }"));
    EXPECT_THAT(binding([](Resources& r) {
                    r.source.created.usage &=
                        ~static_cast<VkImageUsageFlags>(VK_IMAGE_USAGE_SAMPLED_BIT);
                }),
                HasSubstr("usage { Sampled }"));
    EXPECT_THAT(binding([](Resources& r) { r.source.created.format = VK_FORMAT_R8_UNORM; }),
                HasSubstr("format R8Unorm"));
    EXPECT_THAT(binding([](Resources& r) { r.source.created.extent.width = 63; }),
                HasSubstr("63 x 64"));
    EXPECT_THAT(binding([](Resources& r) { r.destination.created.mipLevels = 6; }),
                HasSubstr("6 mip levels"));
    EXPECT_THAT(binding([](Resources& r) { r.destination.created.extent.height = 32; }),
                HasSubstr("level 1"));
    EXPECT_THAT(binding([](Resources& r) { r.source.image = VK_NULL_HANDLE; }), HasSubstr("null"));
    EXPECT_THAT(binding([](Resources& r) { r.state.buffer = VK_NULL_HANDLE; }), HasSubstr("state"));
    EXPECT_THAT(binding([](Resources& r) {
                    r.destination.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
                }),
                HasSubstr("GENERAL"));

    for (const DirtyRectangle& rectangle :
         {DirtyRectangle{0, 0, 0, 1, 0}, DirtyRectangle{60, 0, 5, 1, 0},
          DirtyRectangle{0, 64, 1, 1, 0}, DirtyRectangle{0, 0, 1, 1, 1},
          DirtyRectangle{1, 1, ~0U, 1, 0}}) {
        gpu.run([&](VkCommandBuffer commands) {
            EXPECT_THAT(refused([&] {
                            downsampler.record(commands, workspace.binding,
                                               std::span(&rectangle, 1));
                        }),
                        testing::AnyOf(HasSubstr("is empty"), HasSubstr("is not inside")));
        });
    }
    gpu.run([&](VkCommandBuffer commands) {
        EXPECT_THAT(refused([&] { downsampler.record_indirect(commands, workspace.binding); }),
                    HasSubstr("dirty_blocks"));
    });
}

}  // namespace
}  // namespace quadtile::test
