// Mipmapper against the CPU reference, with validation on where the layer is installed.

#include "compare_levels.hpp"
#include "random_images.hpp"

#include <quadtile/error.hpp>
#include <quadtile/mipmapper.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

namespace quadtile::app::test {
namespace {

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

// Compares the levels from `first` on.
void expect_equal(const MipChain& actual, const MipChain& expected, std::size_t first = 1) {
    ASSERT_EQ(actual.levels.size(), expected.levels.size());
    for (std::size_t i = first; i < actual.levels.size(); ++i) {
        const ImageShape& shape = actual.levels[i].shape;
        ASSERT_TRUE(shape == expected.levels[i].shape) << "level " << i;
        EXPECT_TRUE(reference::decode_texels({actual.levels[i].texels.data(), shape}) ==
                    reference::decode_texels({expected.levels[i].texels.data(), shape}))
            << "level " << i;
    }
}

std::string describe(const DownsamplerOptions& options, const ImageShape& shape) {
    return std::string(name_of(options.source_format)) + " to " + name_of(options.format) +
           ", method " + std::to_string(static_cast<int>(options.method)) + ", " +
           std::to_string(shape.width) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.layers);
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
    expect_equal(made, expected, 0);
}

// Each number of channels, each kind of copy into level 0, each method and reduction once. The
// random tests have their combinations.
TEST_F(MipmapperTest, EqualsTheReference) {
    using enum TexelFormat;
    for (const DownsamplerOptions& options : {DownsamplerOptions{.source_format = d16_unorm,
                                             .format = r32_float,
                                             .edge_rule = EdgeRule::drop,
                                             .copy_source = true,
                                             .method = MipMethod::spd},
                                              {.reduction = Reduction::max,
                                              .source_format = r8_unorm,
                                              .format = r8_unorm,
                                              .edge_rule = EdgeRule::round_up,
                                              .method = MipMethod::per_level},
                                              {.reduction = Reduction::min_max,
                                              .source_format = r16_float,
                                              .format = rg16_float,
                                              .method = MipMethod::spd},
                                              {.source_format = rgba8_srgb,
                                              .format = rgba8_unorm,
                                              .copy_source = true,
                                              .method = MipMethod::subgroup}}) {
        Mipmapper mipmapper(device(), options);
        EXPECT_EQ(mipmapper.options().method, options.method);
        expect_reference(mipmapper, RandomImage({37, 19, 2, options.source_format}));
    }
}

TEST_F(MipmapperTest, BlitsAreNearTheReference) {
    constexpr TexelFormat FORMAT = TexelFormat::rgba8_srgb;
    for (const bool copy_source : {false, true}) {
        std::optional<Mipmapper> mipmapper;
        try {
            mipmapper.emplace(device(), DownsamplerOptions{.source_format = FORMAT,
                                                           .format = FORMAT,
                                                           .copy_source = copy_source,
                                                           .method = MipMethod::blit});
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::unsupported) << error.what();
            GTEST_SKIP() << error.what();
        }
        const RandomImage image({64, 32, 2, FORMAT});
        const MipChain made = mipmapper->make(image.view());
        EXPECT_EQ(made.levels[0].texels, image.texels);
        EXPECT_LE(largest_difference(
                      made, reference::downsample(image.view(), {.format = FORMAT, .custom = {}})),
                  4.0);
    }
}

TEST_F(MipmapperTest, ServesManyImages) {
    constexpr TexelFormat FORMAT = TexelFormat::rgba32_float;
    Mipmapper mipmapper(
        device(),
        {.source_format = FORMAT, .format = FORMAT, .copy_source = true, .method = MipMethod::spd});
    expect_reference(mipmapper, RandomImage({19, 37, 2, FORMAT}));
    for (const std::uint32_t levels : {1U, 3U}) {
        expect_reference(mipmapper, RandomImage({37, 19, 1, FORMAT}, levels), levels);
    }
    // 69 MiB, cut within the second layer.
    expect_reference(mipmapper, RandomImage({1501, 1500, 2, FORMAT}), 2);
    Mipmapper moved(std::move(mipmapper));
    expect_reference(moved, RandomImage({37, 19, 1, FORMAT}, 9));

    for (const std::uint32_t runs : {1U, 4U}) {
        const std::optional<double> time_us = moved.measure_us(runs);
        EXPECT_EQ(time_us.has_value(), device().info().timestamps);
        EXPECT_GT(time_us.value_or(1.0), 0.0);
        EXPECT_LT(time_us.value_or(1.0), 1e6);
    }
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
    constexpr TexelFormat FORMAT = TexelFormat::r8_unorm;
    Mipmapper mipmapper(device(),
                        {.source_format = FORMAT, .format = FORMAT, .method = MipMethod::spd});
    const RandomImage image({37, 19, 1, FORMAT});
    const auto invalid = ErrorCode::invalid_argument;
    expect_error(invalid, {"call Mipmapper::make first"}, [&] { (void)mipmapper.measure_us(30); });
    expect_error(invalid, {"r32_float", "made for r8_unorm"}, [&] {
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
