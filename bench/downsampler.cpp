// Times of mip levels for each method, format and kind of reads, beside the least time possible.
// Names are downsampler/REDUCTION/FORMATS/VARIANT/SIZE, and downsampler/roof/FORMAT/ROOF/SIZE.

#include "measurement.hpp"
#include "mip_images.hpp"
#include "roofs.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::bench {

namespace {

struct Formats {
    Reduction reduction;
    std::string name;  // name of the reduction
    TexelFormat source;
    TexelFormat target;
};

const std::vector<Formats> FORMATS = {
    {Reduction::max, "max", TexelFormat::r32_float, TexelFormat::r32_float},
    {Reduction::mean, "mean", TexelFormat::rgba8_unorm, TexelFormat::rgba8_unorm},
    {Reduction::mean, "mean", TexelFormat::rgba8_srgb, TexelFormat::rgba8_srgb},
    {Reduction::mean, "mean", TexelFormat::rgba16_float, TexelFormat::rgba16_float},
    {Reduction::max, "max", TexelFormat::r8_unorm, TexelFormat::r8_unorm},
    {Reduction::min_max, "min_max", TexelFormat::r32_float, TexelFormat::rg32_float},
    {Reduction::sum, "sum", TexelFormat::r32_float, TexelFormat::r32_float},
};

struct Variant {
    std::string name;
    MipMethod method;
    bool filtered;
};
const std::vector<Variant> VARIANTS = {
    {"spd", MipMethod::spd, false},           {"spd_filtered", MipMethod::spd, true},
    {"subgroup", MipMethod::subgroup, false}, {"per_level", MipMethod::per_level, false},
    {"blit", MipMethod::blit, false},
};

DownsamplerOptions options_for(const Formats& formats, const Variant& variant) {
    DownsamplerOptions options;
    options.reduction = formats.reduction;
    options.source_format = formats.source;
    options.format = formats.target;
    options.edge_rule = EdgeRule::fold;
    options.method = variant.method;
    options.filtered = variant.filtered;
    return options;
}

// Returns a benchmark's name without the size.
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

// Throws WrongResult.
void check_all(test::Gpu& gpu, const Downsampler& downsampler, const ImageShape& shape) {
    const auto texels = bench_texels(shape);
    const ImageView view = {texels.data(), shape};
    const test::MipWorkspace workspace(gpu, downsampler, view, all_levels(shape));
    gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    check_levels(workspace.read(gpu), view, downsampler.options());
}

// Makes images whose level 0 is noise, on the device.
std::shared_ptr<const test::MipWorkspace> make_images(test::Gpu& gpu,
                                                      const Downsampler& downsampler,
                                                      const ImageShape& shape) {
    auto images = std::make_shared<const test::MipWorkspace>(
        gpu, downsampler, ImageView{nullptr, shape}, all_levels(shape));
    fill_with_random_rows(gpu, images->source, shape.format);
    return images;
}

// Registers the benchmarks. Runs each check once, even if it stands for several sizes.
class Subject : public std::enable_shared_from_this<Subject> {
 public:
    explicit Subject(Session& session) : session_(session) {}

    void add_roofs(const ImageShape& shape);
    void add_all(const Formats& formats, const ImageShape& shape);

 private:
    // `check` runs once per name for each shape that stands for `shape`.
    void add(const std::string& name, const ImageShape& shape,
             std::function<void(const ImageShape&)> check,
             std::function<test::Recorder()> prepare) {
        session_.add(name + "/" + text_of_extents(shape),
                     [this, self = shared_from_this(), name, shape, check = std::move(check),
                      prepare = std::move(prepare)] {
                         require_images(session_.gpu().device().info(), shape);
                         for (const ImageShape& small : shapes_to_check(shape)) {
                             if (checked_.insert(name + "/" + text_of_extents(small)).second) {
                                 check(small);
                             }
                         }
                         return Measurement{prepare(), {}};
                     });
    }

    std::shared_ptr<const Downsampler> make_downsampler(const Formats& formats,
                                                        const Variant& variant) const {
        return std::make_shared<const Downsampler>(session_.gpu().device(),
                                                   options_for(formats, variant));
    }

    Session& session_;
    std::set<std::string> checked_;
};

void Subject::add_roofs(const ImageShape& shape) {
    const auto check_read = [this](const ImageShape& small) {
        test::Gpu& gpu = session_.gpu();
        const auto texels = bench_texels(small);
        const ImageView view = {texels.data(), small};
        const test::Image image = gpu.upload(view);
        ReadTexels(gpu, image.map_image(), small).check(gpu, view);
    };
    add("downsampler/roof/r32_float/read", shape, check_read, [this, shape] {
        test::Gpu& gpu = session_.gpu();
        const auto image =
            std::make_shared<const test::Image>(gpu.make_image(shape, VK_IMAGE_LAYOUT_GENERAL));
        fill_with_random_rows(gpu, *image, shape.format);
        const auto read = std::make_shared<const ReadTexels>(gpu, image->map_image(), shape);
        return [image, read](VkCommandBuffer commands) { read->record(commands); };
    });
    for (const TexelFormat format : {TexelFormat::r32_float, TexelFormat::rgba8_unorm}) {
        ImageShape stored = shape;
        stored.format = format;
        const auto check = [this](const ImageShape& small) {
            Traffic(session_.gpu(), small).check(session_.gpu());
        };
        add(std::string("downsampler/roof/") + name_of(format) + "/traffic", stored, check,
            [this, stored] {
                const auto traffic = std::make_shared<const Traffic>(session_.gpu(), stored);
                return [traffic](VkCommandBuffer commands) { traffic->record(commands); };
            });
    }
}

void Subject::add_all(const Formats& formats, const ImageShape& shape) {
    for (const Variant& variant : VARIANTS) {
        // A blit of odd extents makes other texels, which no reference checks.
        const bool can_blit =
            formats.reduction == Reduction::mean && std::has_single_bit(shape.width);
        if (variant.method == MipMethod::blit && !can_blit) {
            continue;
        }
        ImageShape source = shape;
        source.format = formats.source;
        const auto check = [=, this](const ImageShape& small) {
            check_all(session_.gpu(), *make_downsampler(formats, variant), small);
        };
        add(name_for(formats, variant.name), source, check, [=, this] {
            const auto downsampler = make_downsampler(formats, variant);
            const auto images = make_images(session_.gpu(), *downsampler, source);
            return [downsampler, images](VkCommandBuffer commands) {
                downsampler->record(commands, images->binding);
            };
        });
    }
}

}  // namespace

void add_downsampler(Session& session, const std::vector<std::uint32_t>& extents) {
    const auto subject = std::make_shared<Subject>(session);
    for (const std::uint32_t extent : extents) {
        const ImageShape shape = {extent, extent};
        subject->add_roofs(shape);
        for (const Formats& formats : FORMATS) {
            subject->add_all(formats, shape);
        }
    }
}

}  // namespace quadtile::bench
