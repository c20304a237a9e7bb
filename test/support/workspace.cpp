#include "support/workspace.hpp"

#include "support/glsl.hpp"

#include <quadtile/kernel_parameters.h>

#include <recording/kernel_constants.hpp>
#include <values/texel_codec.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace quadtile::test {

namespace {

Buffer make_zeros(Gpu& gpu, VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
    Buffer buffer = gpu.make_buffer(size_bytes, usage);
    gpu.fill(buffer, 0);
    return buffer;
}

bool holds_its_levels(const Downsampler& downsampler, const Downsampler::Shape& shape) {
    const DownsamplerOptions& options = downsampler.options();
    const VkExtent2D extent = downsampler.requirements(shape).destination_extent;
    return options.source_format == options.format && !options.copy_source &&
           extent.width == shape.width && extent.height == shape.height;
}

Image make_source(Gpu& gpu, const Downsampler& downsampler, const Downsampler::Shape& shape) {
    const auto needed = downsampler.requirements(shape);
    const bool alone = !holds_its_levels(downsampler, shape);
    return gpu.make_image(image_info(
        {shape.width, shape.height, shape.layers, downsampler.options().source_format},
        alone ? 1 : shape.levels, needed.source_usage | (alone ? 0 : needed.destination_usage),
        needed.source_flags | (alone ? 0 : needed.destination_flags)));
}

std::optional<Image> make_destination(Gpu& gpu, const Downsampler& downsampler,
                                      const Downsampler::Shape& shape) {
    if (holds_its_levels(downsampler, shape)) {
        return {};
    }
    const auto needed = downsampler.requirements(shape);
    const VkExtent2D extent = needed.destination_extent;
    return gpu.make_image(
        image_info({extent.width, extent.height, shape.layers, downsampler.options().format},
                   shape.levels, needed.destination_usage, needed.destination_flags));
}

}  // namespace

MipWorkspace::MipWorkspace(Gpu& gpu, const Downsampler& downsampler, const ImageView& image,
                           std::uint32_t levels)
    : view(image),
      options(downsampler.options()),
      shape{image.shape.width, image.shape.height, image.shape.layers, levels},
      source(make_source(gpu, downsampler, shape)),
      destination(make_destination(gpu, downsampler, shape)),
      state(make_zeros(gpu, downsampler.requirements(shape).state_size_bytes,
                       downsampler.requirements(shape).state_usage)),
      binding([&] {
          Downsampler::Resources resources;
          resources.source = source.resource();
          resources.destination = destination ? destination->resource() : source.resource();
          resources.state = state.range();
          return downsampler.bind(shape, resources);
      }()) {
    if (image.texels != nullptr) {
        gpu.upload(source, image.texels);
    }
}

MipChain MipWorkspace::read(Gpu& gpu) const {
    const Image& image = destination ? *destination : source;
    const auto rule = static_cast<std::uint32_t>(options.edge_rule);
    MipChain chain;
    for (std::uint32_t level = 0; level < shape.levels; ++level) {
        MipChain::Level made{{mip_extent(shape.width, level, rule),
                              mip_extent(shape.height, level, rule), shape.layers, options.format},
                             {}};
        if (level > 0 || options.copy_source) {
            // The image may be larger than the level.
            const std::vector<std::byte> texels = gpu.download(image, level);
            const std::size_t size = texel_size_bytes(options.format);
            const std::size_t pitch = std::max(image.extent().width >> level, 1U) * size;
            const std::size_t rows = std::max(image.extent().height >> level, 1U);
            for (std::size_t row = 0; row < std::size_t{made.shape.height} * shape.layers; ++row) {
                const std::size_t layer = row / made.shape.height;
                const auto first =
                    texels.begin() +
                    static_cast<std::ptrdiff_t>((layer * rows + row % made.shape.height) * pitch);
                made.texels.insert(made.texels.end(), first,
                                   first + static_cast<std::ptrdiff_t>(made.shape.width * size));
            }
        } else {
            const auto* const bytes = static_cast<const std::byte*>(view.texels);
            made = {view.shape,
                    {bytes, bytes + std::size_t{shape.width} * shape.height * shape.layers *
                                        texel_size_bytes(view.shape.format)}};
        }
        chain.levels.push_back(std::move(made));
    }
    return chain;
}

std::vector<std::byte> random_texels(const ImageShape& shape, bool special, float low, float high) {
    std::mt19937 random(1 + shape.width * 7919 + shape.height);
    const std::size_t count = std::size_t{shape.width} * shape.height * shape.layers;
    const std::size_t size = texel_size_bytes(shape.format);
    const bool depth = shape.format == TexelFormat::d32_float;
    std::vector<std::byte> bytes(count * size);
    if (detail::encoding_of(shape.format) >= ENCODING_UNORM8) {
        std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random() & 0xffU); });
        return bytes;
    }
    for (std::size_t i = 0; i < count; ++i) {
        reference::Texel texel{};
        for (float& channel : texel) {
            const float unit = static_cast<float>(random() >> 8U) / 16777216.0F;
            channel = depth ? unit : low + (high - low) * unit;
            if (special && !depth && random() % 64 == 0) {
                constexpr float SPECIAL[] = {std::numeric_limits<float>::quiet_NaN(),
                                             -std::numeric_limits<float>::quiet_NaN(),
                                             std::numeric_limits<float>::infinity(),
                                             -std::numeric_limits<float>::infinity(), -0.0F};
                channel = SPECIAL[random() % 5];
            }
        }
        detail::encode_texel(shape.format, texel, bytes.data() + i * size);
    }
    return bytes;
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

std::string difference(const MipChain& actual, const MipChain& expected, std::size_t first_level,
                       float bound) {
    const auto is_same = [bound](float a, float b) {
        constexpr float LEAST = std::numeric_limits<float>::min();
        return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= bound ||
               (std::abs(a) < LEAST && std::abs(b) < LEAST);
    };
    const auto values_of = [bound](const MipChain::Level& level) {
        std::vector<float> values;
        if (bound > 0 && detail::encoding_of(level.shape.format) >= ENCODING_UNORM8) {
            for (const std::byte code : level.texels) {
                values.push_back(static_cast<float>(code));
            }
            return values;
        }
        for (const auto& texel : reference::decode_texels({level.texels.data(), level.shape})) {
            values.insert(values.end(), texel.begin(),
                          texel.begin() + channel_count(level.shape.format));
        }
        return values;
    };
    for (std::size_t l = first_level; l < expected.levels.size(); ++l) {
        const MipChain::Level& a = actual.levels[l];
        const MipChain::Level& e = expected.levels[l];
        if (!(a.shape == e.shape)) {
            return "level " + std::to_string(l) + " has another size";
        }
        if (a.texels == e.texels) {
            continue;
        }
        const std::vector<float> x = values_of(a);
        const std::vector<float> y = values_of(e);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!is_same(x[i], y[i])) {
                return "level " + std::to_string(l) + ", value " + std::to_string(i) + ": " +
                       std::to_string(x[i]) + " instead of " + std::to_string(y[i]);
            }
        }
    }
    return {};
}

std::string text_of(const DownsamplerOptions& options) {
    constexpr const char* REDUCTIONS[] = {"max", "min", "mean", "sum", "min_max", "custom"};
    constexpr const char* RULES[] = {"round_up", "fold", "drop"};
    constexpr const char* METHODS[] = {"automatic", "spd", "subgroup", "per_level", "blit"};
    return std::string(REDUCTIONS[static_cast<int>(options.reduction)]) + " of " +
           name_of(options.source_format) + " as " + name_of(options.format) + ", " +
           RULES[static_cast<int>(options.edge_rule)] + ", " +
           METHODS[static_cast<int>(options.method)] + (options.filtered ? ", filtered" : "") +
           (options.copy_source ? ", with level 0" : "");
}

PyramidWorkspace::PyramidWorkspace(Gpu& gpu, const Pyramid& pyramid, const MapView& view)
    : shape(view.shape),
      map(gpu.upload(view)),
      needed(pyramid.requirements(shape)),
      levels(gpu.make_buffer(needed.pyramid_size_bytes, needed.usage)),
      state(make_zeros(gpu, needed.state_size_bytes, needed.usage)),
      binding(pyramid.bind(
          shape, {.map = map.map_image(), .pyramid = levels.range(), .state = state.range()})) {}

SubdivisionWorkspace::SubdivisionWorkspace(Gpu& gpu, const Subdivider& subdivider,
                                           const PyramidWorkspace& pyramid,
                                           std::uint64_t tile_capacity, bool balanced)
    : needed(subdivider.requirements(pyramid.shape, tile_capacity)),
      scratch(make_zeros(gpu, needed.scratch_size_bytes, needed.usage)),
      tile_list(gpu.make_buffer(needed.tile_list_size_bytes, needed.usage)),
      balance(balanced ? std::optional(gpu.make_buffer(needed.balance_size_bytes, needed.usage))
                       : std::nullopt),
      binding(subdivider.bind(pyramid.shape, resources(pyramid, tile_capacity))) {}

Subdivider::Resources SubdivisionWorkspace::resources(const PyramidWorkspace& pyramid,
                                                      std::uint64_t tile_capacity) const {
    return {.map = pyramid.map.map_image(),
            .pyramid = pyramid.levels.range(),
            .scratch = scratch.range(),
            .tile_list = tile_list.range(),
            .tile_capacity = tile_capacity,
            .balance = balance ? balance->range() : BufferRange{}};
}

TileListHeader SubdivisionWorkspace::read_header(Gpu& gpu) const {
    return gpu.read<TileListHeader>(tile_list, 0, 1).front();
}

std::vector<Tile> SubdivisionWorkspace::read_tiles(Gpu& gpu) const {
    return gpu.read<Tile>(tile_list, sizeof(TileListHeader), read_header(gpu).written);
}

std::string wrong_header(const TileListHeader& header, std::uint64_t required,
                         std::uint64_t capacity, Balance balance,
                         std::uint32_t max_workgroup_count) {
    const auto written = static_cast<std::uint32_t>(std::min(required, capacity));
    TileListHeader expected = header;
    expected.written = expected.draw_instance_count = written;
    expected.required = static_cast<std::uint32_t>(required);
    expected.capacity = static_cast<std::uint32_t>(capacity);
    expected.flags = (required > capacity ? TILE_LIST_OVERFLOW : 0) |
                     (balance != Balance::none ? TILE_LIST_BALANCED : 0);
    expected.dispatch_z = 1;
    expected.draw_vertex_count = 4;
    expected.draw_first_vertex = expected.draw_first_instance = 0;
    expected.threshold_factor = 1.0F;
    const std::uint64_t workgroups = std::uint64_t{header.dispatch_x} * header.dispatch_y;
    if (std::memcmp(&header, &expected, sizeof(header)) == 0 && workgroups >= written &&
        workgroups < std::uint64_t{written} + max_workgroup_count &&
        header.dispatch_x <= max_workgroup_count) {
        return {};
    }
    return "the header says required " + std::to_string(header.required) + " of " +
           std::to_string(required) + ", written " + std::to_string(header.written) + " of " +
           std::to_string(written) + ", flags " + std::to_string(header.flags) + " for " +
           std::to_string(expected.flags) + ", dispatch " + std::to_string(header.dispatch_x) +
           " x " + std::to_string(header.dispatch_y) + ", or wrong draws";
}

}  // namespace quadtile::test
