// Mip levels: each method, format and way of reading, against what nothing can be faster than.
// Names are downsampler/REDUCTION/FORMATS/VARIANT/SIZE, and downsampler/roof/FORMAT/ROOF/SIZE.

#include "measurement.hpp"
#include "mip_images.hpp"
#include "roofs.hpp"
#include "traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::bench {

namespace {

struct Formats {
    Reduction reduction;
    std::string name;  // of the reduction
    TexelFormat source;
    TexelFormat target;
};

// On images of every size.
const std::vector<Formats> MAIN_FORMATS = {
    {Reduction::max, "max", TexelFormat::r32_float, TexelFormat::r32_float},
    {Reduction::mean, "mean", TexelFormat::rgba8_unorm, TexelFormat::rgba8_unorm},
    {Reduction::mean, "mean", TexelFormat::rgba8_srgb, TexelFormat::rgba8_srgb},
};
// The largest images are for the main ones only.
constexpr std::uint32_t LARGEST_OF_OTHER_FORMATS = 8192;
const std::vector<Formats> OTHER_FORMATS = {
    {Reduction::mean, "mean", TexelFormat::r32_float, TexelFormat::r32_float},
    {Reduction::mean, "mean", TexelFormat::rgba16_float, TexelFormat::rgba16_float},
    {Reduction::max, "max", TexelFormat::d32_float, TexelFormat::r32_float},
    {Reduction::max, "max", TexelFormat::r8_unorm, TexelFormat::r8_unorm},
    {Reduction::min_max, "min_max", TexelFormat::r32_float, TexelFormat::rg32_float},
    {Reduction::sum, "sum", TexelFormat::r32_float, TexelFormat::r32_float},
};

struct Variant {
    std::string name;
    MipMethod method;
    TexelRead read;
};

const std::vector<Variant> PLAIN_VARIANTS = {
    {"spd", MipMethod::spd, TexelRead::texels},
    {"spd_filtered", MipMethod::spd, TexelRead::filtered},
    {"subgroup", MipMethod::subgroup, TexelRead::texels},
    {"per_level", MipMethod::per_level, TexelRead::texels},
};
const std::vector<Variant> FURTHER_VARIANTS = {
    {"blit", MipMethod::blit, TexelRead::automatic},
};
const std::vector<Variant> DETAILED_VARIANTS = {
    {"subgroup_filtered", MipMethod::subgroup, TexelRead::filtered},
    {"per_level_filtered", MipMethod::per_level, TexelRead::filtered},
};

// 64 images against one of as many texels.
constexpr std::uint32_t BATCH_LAYERS = 64;
constexpr std::uint32_t BATCH_EXTENT_RATIO = 8;
constexpr std::uint32_t LARGEST_BATCHED_EXTENT = 4096;

constexpr std::uint32_t DIRTY_EXTENT = 64;
constexpr std::uint32_t LARGEST_DIRTY_EXTENT = 8192;

// Not powers of two: their levels are odd now and then.
constexpr std::array<std::array<std::uint32_t, 2>, 2> ODD_EXTENTS = {{{1920, 1080}, {4095, 4095}}};

// Checks are small here: the clocks do not fall for long.
constexpr std::chrono::milliseconds WARM_UP_WITHOUT_CHECK{100};
constexpr std::chrono::milliseconds WARM_UP_AFTER_CHECK{200};

DownsamplerOptions options_for(const Formats& formats, const Variant& variant) {
    DownsamplerOptions options;
    options.reduction = formats.reduction;
    options.source_format = formats.source;
    options.format = formats.target;
    options.edge_rule = EdgeRule::fold;
    options.method = variant.method;
    options.read = variant.read;
    return options;
}

// Without the size.
std::string name_for(const Formats& formats, const std::string& variant) {
    std::string name = "downsampler/" + formats.name + "/" + name_of(formats.source);
    if (formats.target != formats.source) {
        name += std::string("_to_") + name_of(formats.target);
    }
    return name + "/" + variant;
}

std::uint32_t all_levels(const ImageShape& shape) {
    return full_mip_levels(shape.width, shape.height, EdgeRule::fold);
}

// A rectangle in the middle of an image: one block of large ones.
DirtyRectangle dirty_rectangle(const ImageShape& shape) {
    const std::uint32_t width = std::min(shape.width, DIRTY_EXTENT);
    const std::uint32_t height = std::min(shape.height, DIRTY_EXTENT);
    return {shape.width / 2 / width * width, shape.height / 2 / height * height, width, height, 0};
}

// Throws WrongResult.
void check_all(test::Gpu& gpu, const Downsampler& downsampler, const ImageShape& shape) {
    const auto texels =
        random_texels(shape.format, std::size_t{shape.width} * shape.height * shape.layers);
    const ImageView view = {texels.data(), shape};
    const test::MipWorkspace workspace(gpu, downsampler, view, all_levels(shape));
    gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    check_levels(workspace.read(gpu), view, downsampler.options());
}

// One dirty rectangle, in a list on the host or on the GPU.
struct DirtyUpdate {
    const Downsampler& downsampler;
    DirtyRectangle rectangle;
    bool on_host;

    // Before the first update: all levels, and the list.
    template <typename Images>
    void prepare(test::Gpu& gpu, const Images& images) const {
        const std::array<std::uint32_t, 4> count = {1, 0, 0, 0};
        std::byte* const list = images.dirty_rectangles.mapped();
        std::memcpy(list, count.data(), sizeof(count));
        std::memcpy(list + sizeof(count), &rectangle, sizeof(rectangle));
        gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, images.binding); });
    }

    void record(VkCommandBuffer commands, const Downsampler::Binding& binding) const {
        if (on_host) {
            downsampler.record(commands, binding, std::span(&rectangle, 1));
        } else {
            downsampler.record_indirect(commands, binding);
        }
    }
};

// Throws WrongResult.
void check_update(test::Gpu& gpu, const DirtyUpdate& update, const ImageShape& shape) {
    auto texels = random_texels(shape.format, std::size_t{shape.width} * shape.height);
    const ImageView view = {texels.data(), shape};
    const test::MipWorkspace workspace(gpu, update.downsampler, view, all_levels(shape), 1);
    update.prepare(gpu, workspace);
    const DirtyRectangle& changed = update.rectangle;
    const std::size_t texel_size = texel_size_bytes(shape.format);
    for (std::uint32_t y = changed.y; y < changed.y + changed.height; ++y) {
        const std::size_t first = (std::size_t{y} * shape.width + changed.x) * texel_size;
        std::ranges::fill_n(&texels[first], static_cast<std::ptrdiff_t>(changed.width * texel_size),
                            std::byte{0x3c});
    }
    gpu.upload(workspace.source, texels.data());
    gpu.run([&](VkCommandBuffer commands) { update.record(commands, workspace.binding); });
    check_levels(workspace.read(gpu), view, update.downsampler.options());
}

// Registers the benchmarks. Each check runs once, however many sizes it stands for.
class Subject {
 public:
    explicit Subject(Session& session) : session_(session) {}

    void add_roofs(const ImageShape& shape);
    void add_all(const Formats& formats, std::span<const Variant> variants,
                 const ImageShape& shape);
    void add_dirty(const Formats& formats, const ImageShape& shape);

 private:
    // Runs `check` for each shape that stands for `shape` where it has not run yet. Returns for how
    // long to warm up after it.
    template <typename Check>
    std::chrono::milliseconds check_once(const std::string& name, const ImageShape& shape,
                                         const Check& check) const {
        std::chrono::milliseconds warm_up = WARM_UP_WITHOUT_CHECK;
        for (const ImageShape& small : shapes_to_check(shape)) {
            const std::string key = name + "/" + text_of_extents(small);
            if (!checked_->contains(key)) {
                check(small);
                checked_->insert(key);
                warm_up = WARM_UP_AFTER_CHECK;
            }
        }
        return warm_up;
    }

    Session& session_;
    std::shared_ptr<std::set<std::string>> checked_ = std::make_shared<std::set<std::string>>();
};

void Subject::add_roofs(const ImageShape& shape) {
    const std::string size = std::string("/").append(text_of_extents(shape));
    session_.add("downsampler/roof/any/empty" + size, [*this] {
        const auto pipeline =
            std::make_shared<const test::ComputePipeline>(make_empty_dispatch(session_.gpu()));
        return Measurement{[pipeline](VkCommandBuffer commands) {
                               pipeline->record(commands, {1, 1, 1});
                           },
                           {},
                           WARM_UP_WITHOUT_CHECK};
    });
    if (shape.layers == 1) {
        session_.add("downsampler/roof/r32_float/read" + size, [*this, shape] {
            test::Gpu& gpu = session_.gpu();
            require_images(gpu.device().info(), shape);
            const auto warm_up = check_once("read", shape, [&](const ImageShape& small) {
                const auto texels =
                    random_texels(small.format, std::size_t{small.width} * small.height);
                const ImageView view = {texels.data(), small};
                const test::Image image = gpu.upload(view);
                ReadTexels(gpu, image.map_image(), small).check(gpu, view);
            });
            const auto image =
                std::make_shared<const test::Image>(gpu.make_image(shape, VK_IMAGE_LAYOUT_GENERAL));
            fill_with_random_rows(gpu, *image, shape.format);
            const auto read = std::make_shared<const ReadTexels>(gpu, image->map_image(), shape);
            return Measurement{
                [image, read](VkCommandBuffer commands) { read->record(commands); }, {}, warm_up};
        });
    }
    for (const TexelFormat format : {TexelFormat::r32_float, TexelFormat::rgba8_unorm}) {
        for (const TexelOrder order : {TexelOrder::z_order, TexelOrder::rows}) {
            ImageShape stored = shape;
            stored.format = format;
            std::string name = "downsampler/roof/";
            name += name_of(format);
            name += order == TexelOrder::rows ? "/traffic_rows" : "/traffic";
            session_.add(name + size, [*this, name, stored, order] {
                test::Gpu& gpu = session_.gpu();
                require_images(gpu.device().info(), stored);
                const auto warm_up = check_once(name, stored, [&](const ImageShape& small) {
                    Traffic(gpu, small, order).check(gpu);
                });
                const auto traffic = std::make_shared<const Traffic>(gpu, stored, order);
                return Measurement{
                    [traffic](VkCommandBuffer commands) { traffic->record(commands); },
                    {},
                    warm_up};
            });
        }
    }
}

void Subject::add_all(const Formats& formats, std::span<const Variant> variants,
                      const ImageShape& shape) {
    for (const Variant& variant : variants) {
        // Of odd extents a blit makes other texels: nothing to check it by, or to compare it with.
        const bool can_blit = formats.reduction == Reduction::mean &&
                              std::has_single_bit(shape.width) && std::has_single_bit(shape.height);
        if (variant.method == MipMethod::blit && !can_blit) {
            continue;
        }
        ImageShape source = shape;
        source.format = formats.source;
        const DownsamplerOptions options = options_for(formats, variant);
        const std::string name = name_for(formats, variant.name);
        session_.add(name + "/" + text_of_extents(shape), [*this, name, options, source] {
            test::Gpu& gpu = session_.gpu();
            require_images(gpu.device().info(), source);
            const Downsampler& downsampler = session_.downsampler(options);
            const auto warm_up = check_once(
                name, source, [&](const ImageShape& small) { check_all(gpu, downsampler, small); });
            const auto images = std::make_shared<const MipImages>(gpu, downsampler, source);
            return Measurement{[&downsampler, images](VkCommandBuffer commands) {
                                   downsampler.record(commands, images->binding);
                               },
                               {},
                               warm_up};
        });
    }
}

void Subject::add_dirty(const Formats& formats, const ImageShape& shape) {
    ImageShape source = shape;
    source.format = formats.source;
    const DownsamplerOptions options = options_for(formats, PLAIN_VARIANTS.front());
    for (const bool on_host : {true, false}) {
        const std::string name = name_for(formats, on_host ? "spd_dirty_host" : "spd_dirty_gpu");
        session_.add(name + "/" + text_of_extents(shape), [*this, name, options, source, on_host] {
            test::Gpu& gpu = session_.gpu();
            require_images(gpu.device().info(), source);
            const Downsampler& downsampler = session_.downsampler(options);
            const auto warm_up = check_once(name, source, [&](const ImageShape& small) {
                check_update(gpu, {downsampler, dirty_rectangle(small), on_host}, small);
            });
            const DirtyUpdate update = {downsampler, dirty_rectangle(source), on_host};
            const auto images = std::make_shared<const MipImages>(gpu, downsampler, source, 1);
            update.prepare(gpu, *images);
            return Measurement{[update, images](VkCommandBuffer commands) {
                                   update.record(commands, images->binding);
                               },
                               {},
                               warm_up};
        });
    }
}

bool contains(const std::vector<std::uint32_t>& extents, std::uint32_t extent) {
    return std::ranges::find(extents, extent) != extents.end();
}

}  // namespace

void add_downsampler(Session& session, const DownsamplerSizes& sizes) {
    Subject subject(session);
    for (const std::uint32_t extent : sizes.extents) {
        const ImageShape shape = {extent, extent};
        const bool detailed = contains(sizes.detailed_extents, extent);
        const auto add = [&](const Formats& formats) {
            subject.add_all(formats, PLAIN_VARIANTS, shape);
            subject.add_all(formats, FURTHER_VARIANTS, shape);
            if (detailed) {
                subject.add_all(formats, DETAILED_VARIANTS, shape);
            }
        };
        subject.add_roofs(shape);
        std::ranges::for_each(MAIN_FORMATS, add);
        if (detailed || extent <= LARGEST_OF_OTHER_FORMATS) {
            std::ranges::for_each(OTHER_FORMATS, add);
        }
    }

    const std::uint32_t largest = std::ranges::max(sizes.extents);
    for (const auto& [width, height] : ODD_EXTENTS) {
        const ImageShape shape = {width, height};
        if (std::max(width, height) <= largest) {
            subject.add_roofs(shape);
            for (const Formats& formats : MAIN_FORMATS) {
                subject.add_all(formats, PLAIN_VARIANTS, shape);
            }
        }
    }

    const std::uint32_t batched = std::min(largest, LARGEST_BATCHED_EXTENT) / BATCH_EXTENT_RATIO;
    if (batched > 0) {
        const ImageShape shape = {batched, batched, BATCH_LAYERS};
        subject.add_roofs(shape);
        for (const Formats& formats : MAIN_FORMATS) {
            subject.add_all(formats, PLAIN_VARIANTS, shape);
            subject.add_all(formats, FURTHER_VARIANTS, shape);
        }
    }

    const std::uint32_t dirty = std::min(largest, LARGEST_DIRTY_EXTENT);
    for (const Formats& formats : MAIN_FORMATS) {
        subject.add_dirty(formats, {dirty, dirty});
    }
}

}  // namespace quadtile::bench
