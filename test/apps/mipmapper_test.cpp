// Mipmapper against the CPU reference, with validation on where the layer is installed.

#include "random_images.hpp"

#include <quadtile/error.hpp>
#include <quadtile/mipmapper.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

namespace quadtile::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::mutex messages_mutex;
std::vector<std::string> messages;

std::vector<std::string> take_validation_messages() {
    const std::lock_guard lock(messages_mutex);
    return std::exchange(messages, {});
}

std::optional<Device>& shared_device() {
    static std::optional<Device> device;
    return device;
}

// Destroys the device while gtest can still report what validation says of it.
class Cleanup : public ::testing::Environment {
 public:
    void TearDown() override {
        shared_device().reset();
        EXPECT_THAT(take_validation_messages(), IsEmpty());
    }
};
[[maybe_unused]] ::testing::Environment* const cleanup =
    ::testing::AddGlobalTestEnvironment(new Cleanup);  // gtest deletes it

class MipmapperTest : public ::testing::Test {
 protected:
    void SetUp() override {
        if (shared_device()) {
            return;
        }
        DeviceOptions options;
        options.validation = Device::validation_available();
        options.log = [](Severity severity, std::string_view message) {
            if (severity == Severity::info) {
                return;
            }
            // Downsampler asks for the layout GENERAL, also where blits could do better.
            if (message.find("Image: For optimal performance") != std::string_view::npos) {
                return;
            }
            const std::lock_guard lock(messages_mutex);
            messages.emplace_back(message);
        };
        try {
            shared_device() = Device::create(options);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }
    void TearDown() override { EXPECT_THAT(take_validation_messages(), IsEmpty()); }

    [[nodiscard]] static const Device& device() { return *shared_device(); }
};

reference::Downsampling reference_for(const DownsamplerOptions& options, std::uint32_t levels = 0) {
    return {.reduction = options.reduction,
            .format = options.format,
            .edge_rule = options.edge_rule,
            .levels = levels,
            .method = options.method,
            .custom = {}};
}

// One sentence on how the levels from `first` on differ, or empty.
std::string difference(const MipChain& actual, const MipChain& expected, std::size_t first = 1) {
    if (actual.levels.size() != expected.levels.size()) {
        return std::to_string(actual.levels.size()) + " levels where " +
               std::to_string(expected.levels.size()) + " were expected";
    }
    for (std::size_t i = first; i < actual.levels.size(); ++i) {
        const ImageShape& shape = actual.levels[i].shape;
        if (!(shape == expected.levels[i].shape)) {
            return "level " + std::to_string(i) + " has " + std::to_string(shape.width) + " x " +
                   std::to_string(shape.height) + " texels of " + name_of(shape.format);
        }
        const auto is = reference::decode_texels({actual.levels[i].texels.data(), shape});
        const auto should = reference::decode_texels({expected.levels[i].texels.data(), shape});
        const auto [in_is, in_should] = std::ranges::mismatch(is, should);
        if (in_is != is.end()) {
            const auto texel = static_cast<std::size_t>(in_is - is.begin());
            const std::size_t row = texel / shape.width;
            return "level " + std::to_string(i) + " is " + ::testing::PrintToString(*in_is) +
                   " at (" + std::to_string(texel % shape.width) + ", " +
                   std::to_string(row % shape.height) + ") of layer " +
                   std::to_string(row / shape.height) + " where " +
                   ::testing::PrintToString(*in_should) + " was expected";
        }
    }
    return "";
}

std::string describe(const DownsamplerOptions& options, const ImageShape& shape) {
    return std::string(name_of(options.source_format)) + " to " + name_of(options.format) +
           ", reduction " + std::to_string(static_cast<int>(options.reduction)) + ", edge rule " +
           std::to_string(static_cast<int>(options.edge_rule)) + ", method " +
           std::to_string(static_cast<int>(options.method)) +
           (options.copy_source ? ", copy" : "") + ", " + std::to_string(shape.width) + " x " +
           std::to_string(shape.height) + " x " + std::to_string(shape.layers);
}

// Texels as floats, or as codes of 8 bits.
std::vector<std::byte> encode(TexelFormat format, const std::vector<reference::Texel>& texels) {
    std::vector<std::byte> bytes(texels.size() * texel_size_bytes(format));
    const std::size_t channels = channel_count(format);
    for (std::size_t i = 0; i < texels.size() * channels; ++i) {
        const float value = texels[i / channels][i % channels];
        if (texel_size_bytes(format) == channels * sizeof(float)) {
            std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
        } else {
            bytes[i] = static_cast<std::byte>(std::lround(value * 255.0F));
        }
    }
    return bytes;
}

void expect_reference(Mipmapper& mipmapper, const RandomImage& image, std::uint32_t levels = 0) {
    const DownsamplerOptions& options = mipmapper.options();
    SCOPED_TRACE(describe(options, image.shape));
    const MipChain made = mipmapper.make(image.view(), levels);
    MipChain expected = reference::downsample(image.view(), reference_for(options, levels));
    if (options.copy_source && options.source_format != options.format) {
        // All these formats have room for the source's values.
        MipChain::Level& level_0 = expected.levels[0];
        level_0.shape.format = options.format;
        level_0.texels = encode(options.format, reference::decode_texels(image.view()));
    }
    EXPECT_EQ(difference(made, expected, 0), "");
}

struct FormatCase {
    TexelFormat source;
    TexelFormat levels;
    EdgeRule rule;
    EdgeRule rule_with_copy;

    friend std::ostream& operator<<(std::ostream& stream, const FormatCase& formats) {
        return stream << name_of(formats.source) << " to " << name_of(formats.levels);
    }
};

// Each number of channels, each kind of copy into level 0. The kernels' own tests have all formats.
const std::vector<FormatCase>& format_cases() {
    using enum TexelFormat;
    using enum EdgeRule;
    static const std::vector<FormatCase> cases{{d16_unorm, r32_float, fold, drop},
                                               {r8_unorm, r8_unorm, round_up, fold},
                                               {rg16_float, rg16_float, drop, round_up},
                                               {rgba8_srgb, rgba8_unorm, fold, drop}};
    return cases;
}

class EveryFormat : public MipmapperTest, public ::testing::WithParamInterface<FormatCase> {};

TEST_P(EveryFormat, EqualsTheReference) {
    const FormatCase& formats = GetParam();
    for (const bool copy_source : {false, true}) {
        Mipmapper mipmapper(device(),
                            {.source_format = formats.source,
                             .format = formats.levels,
                             .edge_rule = copy_source ? formats.rule_with_copy : formats.rule,
                             .copy_source = copy_source,
                             .method = MipMethod::spd});
        for (const auto& [width, height, layers] :
             {std::tuple(37U, 19U, 1U), {130U, 67U, 3U}, {1U, 9U, 1U}}) {
            expect_reference(mipmapper, RandomImage({width, height, layers, formats.source}));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Mipmapper, EveryFormat, ::testing::ValuesIn(format_cases()),
                         [](const auto& instance) {
                             return std::string(name_of(instance.param.source)) + "_to_" +
                                    name_of(instance.param.levels) + "_" +
                                    std::to_string(instance.index);
                         });

class EveryMethod : public MipmapperTest, public ::testing::WithParamInterface<MipMethod> {};

TEST_P(EveryMethod, EqualsTheReference) {
    for (const auto& [format, rule, copy_source] :
         {std::tuple(TexelFormat::rgba8_srgb, EdgeRule::fold, false),
          {TexelFormat::r16_float, EdgeRule::round_up, true},
          {TexelFormat::r16_float, EdgeRule::drop, false}}) {
        Mipmapper mipmapper(device(), {.source_format = format,
                                       .format = format,
                                       .edge_rule = rule,
                                       .copy_source = copy_source,
                                       .method = GetParam()});
        EXPECT_EQ(mipmapper.options().method, GetParam());
        for (const auto& [width, height] : {std::pair(37U, 19U), {64U, 64U}, {300U, 201U}}) {
            expect_reference(mipmapper, RandomImage({width, height, 1, format}));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Mipmapper, EveryMethod,
                         ::testing::Values(MipMethod::subgroup, MipMethod::per_level),
                         [](const auto& instance) {
                             return instance.param == MipMethod::subgroup ? "subgroup"
                                                                          : "per_level";
                         });

TEST_F(MipmapperTest, EveryReduction) {
    using enum TexelFormat;
    for (const auto& [reduction, source, format] :
         {std::tuple(Reduction::max, d32_float, r32_float),
          {Reduction::max, rgba8_srgb, rgba8_srgb},
          {Reduction::min, r16_unorm, r16_unorm},
          {Reduction::sum, rgba8_unorm, rgba32_float},
          {Reduction::min_max, d16_unorm, rg32_float},
          {Reduction::min_max, r16_float, rg16_float}}) {
        Mipmapper mipmapper(device(), {.reduction = reduction,
                                       .source_format = source,
                                       .format = format,
                                       .edge_rule = EdgeRule::round_up,
                                       .method = MipMethod::spd});
        expect_reference(mipmapper, RandomImage({37, 19, 2, source}));
    }
}

TEST_F(MipmapperTest, TheCallersOwnReduction) {
    DownsamplerOptions options{.reduction = Reduction::custom,
                               .source_format = TexelFormat::r32_float,
                               .format = TexelFormat::r32_float};
    options.custom_glsl = "TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) { return max(a, d); }";
    std::optional<Mipmapper> mipmapper;
    try {
        mipmapper.emplace(device(), options);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::unsupported) {
            GTEST_SKIP() << error.what();
        }
        throw;
    }
    reference::Downsampling how = reference_for(mipmapper->options());
    how.custom = [](const auto& a, const auto&, const auto&, const auto& d) {
        return reference::Texel{std::max(a[0], d[0])};
    };
    const RandomImage image({37, 19, 1, TexelFormat::r32_float});
    EXPECT_EQ(difference(mipmapper->make(image.view()), reference::downsample(image.view(), how)),
              "");
}

TEST_F(MipmapperTest, BlitsAreNearTheReference) {
    for (const TexelFormat format : {TexelFormat::rgba8_unorm, TexelFormat::rgba8_srgb}) {
        for (const bool copy_source : {false, true}) {
            std::optional<Mipmapper> mipmapper;
            try {
                mipmapper.emplace(device(), DownsamplerOptions{.source_format = format,
                                                               .format = format,
                                                               .copy_source = copy_source,
                                                               .method = MipMethod::blit});
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::unsupported) << error.what();
                GTEST_SKIP() << error.what();
            }
            const RandomImage image({64, 32, 2, format});
            const MipChain made = mipmapper->make(image.view());
            const MipChain expected =
                reference::downsample(image.view(), {.format = format, .custom = {}});
            EXPECT_EQ(made.levels[0].texels, image.texels);
            ASSERT_EQ(made.levels.size(), expected.levels.size());
            for (std::size_t level = 1; level < made.levels.size(); ++level) {
                EXPECT_EQ(made.levels[level].shape, expected.levels[level].shape);
                int largest = 0;
                for (std::size_t i = 0; i < made.levels[level].texels.size(); ++i) {
                    largest = std::max(
                        largest, std::abs(std::to_integer<int>(made.levels[level].texels[i]) -
                                          std::to_integer<int>(expected.levels[level].texels[i])));
                }
                EXPECT_LE(largest, 4) << name_of(format) << " level " << level;
            }
        }
    }
}

TEST_F(MipmapperTest, ServesManyImages) {
    constexpr TexelFormat FORMAT = TexelFormat::rgba8_unorm;
    Mipmapper mipmapper(device(), {.source_format = FORMAT, .format = FORMAT});
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        expect_reference(mipmapper, RandomImage({37, 19, 1, FORMAT}, seed));
    }
    expect_reference(mipmapper, RandomImage({19, 37, 2, FORMAT}));
    for (const std::uint32_t levels : {1U, 2U, 3U, 6U}) {
        expect_reference(mipmapper, RandomImage({37, 19, 1, FORMAT}, levels), levels);
    }
    Mipmapper moved(std::move(mipmapper));
    expect_reference(moved, RandomImage({37, 19, 1, FORMAT}, 9));
}

TEST_F(MipmapperTest, ImagesLargerThanTheStaging) {
    // 69 MiB, cut within the second layer.
    constexpr TexelFormat FORMAT = TexelFormat::rgba32_float;
    Mipmapper mipmapper(device(), {.reduction = Reduction::max,
                                   .source_format = FORMAT,
                                   .format = FORMAT,
                                   .copy_source = true});
    expect_reference(mipmapper, RandomImage({1501, 1500, 2, FORMAT}), 2);
}

TEST_F(MipmapperTest, Measures) {
    constexpr TexelFormat FORMAT = TexelFormat::r16_float;
    Mipmapper mipmapper(device(), {.source_format = FORMAT, .format = FORMAT});
    const RandomImage image({64, 64, 1, FORMAT});
    (void)mipmapper.make(image.view());
    for (const std::uint32_t runs : {1U, 4U}) {
        const std::optional<double> time_us = mipmapper.measure_us(runs);
        EXPECT_EQ(time_us.has_value(), device().info().timestamps);
        EXPECT_GT(time_us.value_or(1.0), 0.0);
        EXPECT_LT(time_us.value_or(1.0), 1e6);
    }
    expect_reference(mipmapper, image);
}

template <typename Call>
void expect_error(ErrorCode code, const std::vector<std::string>& words, Call&& call) {
    try {
        call();
        ADD_FAILURE() << "no error about " << ::testing::PrintToString(words);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        for (const std::string& word : words) {
            EXPECT_THAT(error.what(), HasSubstr(word));
        }
    }
}

TEST_F(MipmapperTest, ErrorsNameWhatIsWrong) {
    constexpr TexelFormat FORMAT = TexelFormat::r16_float;
    Mipmapper mipmapper(device(), {.source_format = FORMAT, .format = FORMAT});
    const RandomImage image({37, 19, 1, FORMAT});
    const auto invalid = ErrorCode::invalid_argument;
    expect_error(invalid, {"call Mipmapper::make first"}, [&] { (void)mipmapper.measure_us(30); });
    expect_error(invalid, {"r32_float", "made for r16_float"}, [&] {
        (void)mipmapper.make(RandomImage({4, 4, 1, TexelFormat::r32_float}).view());
    });
    expect_error(invalid, {"null pointer"}, [&] { (void)mipmapper.make({nullptr, image.shape}); });
    expect_error(invalid, {"0 x 19"}, [&] {
        (void)mipmapper.make({image.texels.data(), {0, 19, 1, FORMAT}});
    });
    expect_error(invalid, {"7 levels", "37 x 19", "1 to 6"},
                 [&] { (void)mipmapper.make(image.view(), 7); });
    expect_error(invalid, {"0 runs"}, [&] {
        (void)mipmapper.make(image.view());
        (void)mipmapper.measure_us(0);
    });
    expect_error(invalid, {"EdgeRule::round_up"}, [&] {
        const Mipmapper blits(device(),
                              {.edge_rule = EdgeRule::round_up, .method = MipMethod::blit});
    });
    if (device().info().max_map_extent < MAX_MAP_EXTENT) {
        const std::uint32_t width = device().info().max_map_extent + 1;
        expect_error(ErrorCode::unsupported, {std::to_string(width)}, [&] {
            (void)mipmapper.make(RandomImage({width, 1, 1, FORMAT}).view());
        });
    }
    expect_reference(mipmapper, image);  // it still works
}

TEST_F(MipmapperTest, NeedsAQueue) {
    AdoptedDevice host;
    host.get_instance_proc_addr = device().get_instance_proc_addr();
    host.instance = device().instance();
    host.physical_device = device().physical_device();
    host.device = device().handle();
    host.queue_family = device().queue_family();
    host.enabled = device().info().features;
    expect_error(ErrorCode::invalid_argument, {"needs a queue"},
                 [&] { const Mipmapper mipmapper(Device::adopt(host)); });
}

}  // namespace
}  // namespace quadtile::app::test
