// Mip levels: each reduction, format, edge rule and method against its twin.

#include "choices.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/variants.hpp"
#include "support/workspace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace quadtile::test {

namespace {

struct Kind {
    std::uint32_t variant;
    DownsamplerOptions options;
};

// Any combination that a Downsampler takes.
Kind random_kind(Choices& choices, const RandomSettings& settings) {
    using F = TexelFormat;
    constexpr std::pair<F, F> FORMATS[] = {
        {F::r32_float, F::r32_float},       {F::r16_float, F::r16_float},
        {F::d32_float, F::r32_float},       {F::d16_unorm, F::r16_unorm},
        {F::d16_unorm, F::r32_float},       {F::r16_unorm, F::r16_unorm},
        {F::r8_unorm, F::r8_unorm},         {F::r8_unorm, F::r32_float},
        {F::rg32_float, F::rg32_float},     {F::rg16_float, F::rg16_float},
        {F::r32_float, F::rg32_float},      {F::d32_float, F::rg32_float},
        {F::d16_unorm, F::rg32_float},      {F::r16_float, F::rg16_float},
        {F::rgba32_float, F::rgba32_float}, {F::rgba16_float, F::rgba16_float},
        {F::rgba16_float, F::rgba32_float}, {F::rgba8_unorm, F::rgba8_unorm},
        {F::rgba8_srgb, F::rgba8_srgb},     {F::rgba8_srgb, F::rgba8_unorm}};
    constexpr MipMethod METHODS[] = {MipMethod::spd, MipMethod::subgroup, MipMethod::per_level};
    // CPU drivers compile custom reductions and other variants for minutes.
    const auto variants = static_cast<std::uint32_t>(settings.is_short ? 1 : all_variants().size());
    std::vector<std::string> reductions{"max", "min", "mean", "sum", "min_max"};
    if (can_compile_glsl() && !settings.is_short) {
        reductions.emplace_back("custom");
    }
    Kind kind{choices.number("variant", 0, variants - 1), {}};
    DownsamplerOptions& options = kind.options;
    options.reduction = static_cast<Reduction>(choices.one_of("reduction", reductions));
    const bool is_custom = options.reduction == Reduction::custom;
    options.custom_glsl = is_custom ? CUSTOM_REDUCTION_GLSL : "";
    std::vector<std::pair<F, F>> formats;
    std::vector<std::string> names;
    for (const auto& [source, format] : FORMATS) {
        try {
            check_formats(options.reduction, source, format);
            formats.emplace_back(source, format);
            names.push_back(std::string(name_of(source)) + "-" + name_of(format));
        } catch (const Error&) {  // NOLINT(bugprone-empty-catch): not these
        }
    }
    std::tie(options.source_format, options.format) = formats[choices.one_of("formats", names)];
    options.edge_rule =
        static_cast<EdgeRule>(choices.one_of("edges", {"round_up", "fold", "drop"}));
    options.method = METHODS[choices.one_of("method", {"spd", "subgroup", "per_level"})];
    options.copy_source = choices.one_in("copy_source", 2);
    return kind;
}

// What stays from case to case: drivers compile pipelines for seconds.
struct Kept {
    std::map<std::size_t, Gpu> gpus;    // by variant
    std::vector<Choices::Choice> last;  // choices of the last case
    std::string name;                   // of its kind
    std::optional<Downsampler> downsampler;
    std::optional<MipWorkspace> workspace;
};

// Lets a case take the kind and the shape of the last one, mostly.
void keep_choices(Choices& choices, const RandomSettings& settings, const Kept& kept) {
    std::vector<std::string> names;
    if (keeps_shape(choices)) {
        names = shape_choices();
        names.emplace_back("levels");
    }
    if (!choices.random("new kind").one_in(settings.is_short ? 12 : 50)) {
        names.insert(names.end(),
                     {"variant", "reduction", "formats", "edges", "method", "copy_source"});
    }
    choices.prefer(given_of(kept.last, names));
}

std::string check_levels(Choices& choices, const RandomSettings& settings, Kept& kept) {
    keep_choices(choices, settings, kept);
    const Kind kind = random_kind(choices, settings);
    const DownsamplerOptions& options = kind.options;
    const Device& device = device_for(all_variants()[kind.variant]);
    ImageShape shape =
        random_shape(choices, {.max_extent = device.info().max_map_extent,
                               .max_layers = std::min(device.info().max_layers, 2048U),
                               .max_texels = settings.max_texels});
    shape.format = options.source_format;
    const bool finite = options.reduction != Reduction::max &&
                        options.reduction != Reduction::min &&
                        options.reduction != Reduction::min_max;
    if (loses_infinities(device, options.format)) {
        return {};  // it has other faults with halves, too, not understood yet
    }
    const std::vector<float> palette = random_palette(choices);
    std::vector<std::byte> texels = random_texels(choices, shape, palette, finite);
    const std::uint32_t full = full_mip_levels(shape.width, shape.height, options.edge_rule);
    const std::uint32_t levels = choices.number("levels", 1, full, [&](Random& random) {
        return random.one_in(4) ? 1 + random.below(full) : full;
    });

    kept.last = choices.made();

    const ImageView image{texels.data(), shape};
    const auto expected = [&] { return expected_chain(options, image, levels); };
    const std::size_t first_level = options.copy_source ? 0 : 1;
    Gpu& gpu = kept.gpus.try_emplace(kind.variant, device, submit_to(device)).first->second;
    const std::string name = text_of(options) + ", " + all_variants()[kind.variant].name;
    if (kept.name != name) {
        kept.workspace.reset();
        kept.downsampler.emplace(device, options);
        kept.name = name;
    }
    const Downsampler& downsampler = *kept.downsampler;
    try {
        (void)downsampler.requirements({shape.width, shape.height, shape.layers, levels});
    } catch (const Error& error) {
        // lavapipe makes no large custom ones in one dispatch, short buffers hold none.
        if ((options.reduction == Reduction::custom || kind.variant != 0) &&
            error.code() == ErrorCode::unsupported) {
            return {};
        }
        throw;
    }
    if (kept.workspace && kept.workspace->view.shape == shape &&
        kept.workspace->shape.levels == levels) {
        kept.workspace->view = image;
        gpu.upload(kept.workspace->source, image.texels);
    } else {
        kept.workspace.reset();
        kept.workspace.emplace(gpu, downsampler, image, levels);
    }
    MipWorkspace& workspace = *kept.workspace;
    gpu.run([&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    std::string wrong = difference(workspace.read(gpu), expected(), first_level);
    if (!wrong.empty()) {
        return name + ": " + wrong;
    }
    if (options.method != MipMethod::spd) {
        return {};
    }
    const std::uint32_t rounds = choices.number("rounds", 0, 3);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        Random random = choices.random("round " + std::to_string(round));
        const DirtyRectangle rectangle =
            random_rectangle(shape, random.one_in(4) ? 5000 : 150,
                             [&](std::uint32_t end) { return random.below(end); });
        change_texels(random, shape, palette, texels, rectangle, finite);
        gpu.upload(workspace.source, texels.data());
        gpu.run([&](VkCommandBuffer commands) {
            downsampler.record(commands, workspace.binding, rectangle);
        });
        wrong = difference(workspace.read(gpu), expected(), first_level);
        if (!wrong.empty()) {
            return name + ", after update " + std::to_string(round) + ": " + wrong;
        }
    }
    return {};
}

}  // namespace

Subject mips_subject(const RandomSettings& settings) {
    const auto kept = std::make_shared<Kept>();
    return {"mips", 0.2, 25,
            [=](Choices& choices) { return check_levels(choices, settings, *kept); }};
}

}  // namespace quadtile::test
