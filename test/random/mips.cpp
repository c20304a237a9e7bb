// Mip levels: each reduction, format, edge rule and method against its twin.

#include "contents.hpp"
#include "subjects.hpp"
#include "support/custom_reduction.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/variants.hpp"
#include "support/workspace.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace quadtile::test {

namespace {

struct Kind {
    DownsamplerOptions options;
    std::size_t variant;
};

// Returns all combinations that a Downsampler takes, in a fixed order. Their index is the choice
// "kind".
const std::vector<Kind>& all_kinds() {
    static const std::vector<Kind> kinds = [] {
        using F = TexelFormat;
        std::vector<Kind> made;
        const std::vector<std::pair<F, F>> formats = {
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
        const std::size_t variants = all_variants().size();
        constexpr MipMethod METHODS[] = {MipMethod::spd, MipMethod::subgroup, MipMethod::per_level};
        const std::size_t combinations = 6 * formats.size() * 3 * 3 * 2 * variants;
        for (std::size_t number = 0; number < combinations; ++number) {
            std::size_t left = number;
            const auto next = [&](std::size_t count) {
                return std::exchange(left, left / count) % count;
            };
            Kind kind;
            kind.variant = next(variants);
            kind.options.copy_source = next(2) == 1;
            kind.options.method = METHODS[next(3)];
            kind.options.edge_rule = static_cast<EdgeRule>(next(3));
            std::tie(kind.options.source_format, kind.options.format) =
                formats[next(formats.size())];
            kind.options.reduction = static_cast<Reduction>(next(6));
            const bool is_custom = kind.options.reduction == Reduction::custom;
            kind.options.custom_glsl = is_custom ? CUSTOM_REDUCTION_GLSL : "";
            try {
                check_formats(kind.options.reduction, kind.options.source_format,
                              kind.options.format);
            } catch (const Error&) {
                continue;
            }
            if (!is_custom || can_compile_glsl()) {
                made.push_back(kind);
            }
        }
        return made;
    }();
    return kinds;
}

std::string name_of(const Kind& kind) {
    return text_of(kind.options) + ", " + all_variants()[kind.variant].name;
}

// Downsamplers stay as long as they are used: drivers compile their pipelines for seconds.
class Downsamplers {
 public:
    struct Entry {
        std::uint32_t kind;
        Downsampler downsampler;
    };

    // A kind that is there already, mostly.
    std::uint32_t draw(Random& random, bool is_short) const {
        const bool is_new =
            entries_.size() < (is_short ? 2U : 8U) || random.one_in(is_short ? 200 : 50);
        const auto kinds = static_cast<std::uint32_t>(all_kinds().size());
        while (is_new) {
            const std::uint32_t kind = random.below(kinds);
            // CPU drivers compile custom reductions for minutes.
            const bool is_quick = all_kinds()[kind].variant == 0 &&
                                  all_kinds()[kind].options.reduction != Reduction::custom;
            if (is_quick || !is_short) {
                return kind;
            }
        }
        auto entry = entries_.begin();
        std::advance(entry, random.below(static_cast<std::uint32_t>(entries_.size())));
        return entry->kind;
    }

    const Downsampler& at(std::uint32_t kind) {
        const auto found = std::ranges::find(entries_, kind, &Entry::kind);
        if (found != entries_.end()) {
            return found->downsampler;
        }
        const Kind& wanted = all_kinds()[kind];
        entries_.push_front(
            {kind, Downsampler(device_for(all_variants()[wanted.variant]), wanted.options)});
        if (entries_.size() > 16) {
            entries_.pop_back();
        }
        return entries_.front().downsampler;
    }

    Gpu& gpu(std::size_t variant) {
        const Device& device = device_for(all_variants()[variant]);
        return gpus_.try_emplace(variant, device, submit_to(device)).first->second;
    }

    // Images and buffers for an image; those of the last one where they fit.
    MipWorkspace& workspace(std::uint32_t kind, const ImageView& view, std::uint32_t levels) {
        if (workspace_ && workspace_kind_ == kind && workspace_->view.shape == view.shape &&
            workspace_->shape.levels == levels) {
            workspace_->view = view;
            gpu(all_kinds()[kind].variant).upload(workspace_->source, view.texels);
        } else {
            workspace_.reset();
            workspace_.emplace(gpu(all_kinds()[kind].variant), at(kind), view, levels);
            workspace_kind_ = kind;
        }
        return *workspace_;
    }

    Choices::Given last;  // choices of kind and shape

 private:
    std::list<Entry> entries_;
    std::map<std::size_t, Gpu> gpus_;
    std::uint32_t workspace_kind_ = 0;
    std::optional<MipWorkspace> workspace_;
};

std::string check_levels(Choices& choices, const RandomSettings& settings,
                         Downsamplers& downsamplers) {
    if (keeps_shape(choices)) {
        choices.prefer(downsamplers.last);
    }
    const std::uint32_t number = choices.number(
        "kind", 0, static_cast<std::uint32_t>(all_kinds().size()) - 1,
        [&](Random& random) { return downsamplers.draw(random, settings.is_short); });
    const Kind& kind = all_kinds()[number];
    const DownsamplerOptions& options = kind.options;
    const Device& device = device_for(all_variants()[kind.variant]);
    ImageShape shape =
        random_shape(choices, {.max_extent = device.info().max_map_extent,
                               .max_layers = std::min(device.info().max_layers, 2048U),
                               .max_texels = settings.max_texels});
    shape.format = options.source_format;
    const bool is_extreme = options.reduction == Reduction::max ||
                            options.reduction == Reduction::min ||
                            options.reduction == Reduction::min_max;
    if (loses_infinities(device, options.format)) {
        return {};  // it has other faults with halves, too, not understood yet
    }
    const bool finite = !is_extreme;
    const std::vector<float> palette = random_palette(choices);
    std::vector<std::byte> texels = random_texels(choices, shape, palette, finite);
    const std::uint32_t full = full_mip_levels(shape.width, shape.height, options.edge_rule);
    const std::uint32_t levels = choices.number("levels", 1, full, [&](Random& random) {
        return random.one_in(4) ? 1 + random.below(full) : full;
    });

    std::vector<std::string> names = shape_choices();
    names.insert(names.end(), {"kind", "levels"});
    downsamplers.last = given_of(choices.made(), names);

    const auto expected = [&] { return expected_chain(options, {texels.data(), shape}, levels); };
    const std::size_t first_level = options.copy_source ? 0 : 1;
    Gpu& gpu = downsamplers.gpu(kind.variant);
    const Downsampler& downsampler = downsamplers.at(number);
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
    MipWorkspace& workspace = downsamplers.workspace(number, {texels.data(), shape}, levels);
    workspace.run(
        gpu, [&](VkCommandBuffer commands) { downsampler.record(commands, workspace.binding); });
    std::string wrong = difference(workspace.read(gpu), expected(), first_level);
    if (!wrong.empty()) {
        return name_of(kind) + ": " + wrong;
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
        change_texels(random, shape, palette, texels, rectangle.layer, rectangle.x, rectangle.y,
                      rectangle.width, rectangle.height, finite);
        workspace.view.texels = texels.data();
        gpu.upload(workspace.source, texels.data());
        workspace.run(gpu, [&](VkCommandBuffer commands) {
            downsampler.record(commands, workspace.binding, rectangle);
        });
        wrong = difference(workspace.read(gpu), expected(), first_level);
        if (!wrong.empty()) {
            return name_of(kind) + ", after update " + std::to_string(round) + ": " + wrong;
        }
    }
    return {};
}

}  // namespace

Subject mips_subject(const RandomSettings& settings) {
    const auto downsamplers = std::make_shared<Downsamplers>();
    return {"mips", 0.2, 25,
            [=](Choices& choices) { return check_levels(choices, settings, *downsamplers); }};
}

}  // namespace quadtile::test
