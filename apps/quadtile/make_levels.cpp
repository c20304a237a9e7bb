#include "make_levels.hpp"

#include "open_device.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

namespace quadtile::app {

namespace {

constexpr std::uint32_t TIMED_RUNS = 30;

LevelMethod level_method(MipMethod method) {
    switch (method) {
        case MipMethod::subgroup:
            return LevelMethod::subgroup;
        case MipMethod::per_level:
            return LevelMethod::per_level;
        case MipMethod::blit:
            return LevelMethod::blit;
        default:
            return LevelMethod::spd;
    }
}

MipMethod mip_method(LevelMethod method) {
    switch (method) {
        case LevelMethod::subgroup:
            return MipMethod::subgroup;
        case LevelMethod::per_level:
            return MipMethod::per_level;
        case LevelMethod::blit:
            return MipMethod::blit;
        default:
            return MipMethod::spd;
    }
}

// What the levels are made of, where the user does not say.
TexelFormat default_format(Reduction reduction, TexelFormat source) {
    const bool one_channel = channel_count(source) == 1;
    if (reduction == Reduction::min_max && one_channel) {
        return source == TexelFormat::r16_float ? TexelFormat::rg16_float : TexelFormat::rg32_float;
    }
    if (reduction == Reduction::sum) {
        return one_channel ? TexelFormat::r32_float : TexelFormat::rgba32_float;
    }
    return source;
}

std::uint32_t checked_levels(const MipmapRequest& request, const ImageShape& image) {
    const std::uint32_t full = full_mip_levels(image.width, image.height, request.edge_rule);
    if (request.levels && (*request.levels == 0 || *request.levels > full)) {
        throw UsageError("--levels " + std::to_string(*request.levels) + ": an image of " +
                         std::to_string(image.width) + " x " + std::to_string(image.height) +
                         " texels has 1 to " + std::to_string(full) +
                         " levels, the image itself included");
    }
    return request.levels.value_or(full);
}

}  // namespace

const char* name_of(LevelMethod method) noexcept {
    switch (method) {
        case LevelMethod::automatic:
            return "auto";
        case LevelMethod::all:
            return "all";
        case LevelMethod::spd:
            return "spd";
        case LevelMethod::subgroup:
            return "subgroup";
        case LevelMethod::per_level:
            return "per-level";
        case LevelMethod::blit:
            return "blit";
        case LevelMethod::reference:
            break;
    }
    return "reference";
}

const char* name_of(Reduction reduction) noexcept {
    switch (reduction) {
        case Reduction::max:
            return "max";
        case Reduction::min:
            return "min";
        case Reduction::mean:
            return "mean";
        case Reduction::sum:
            return "sum";
        case Reduction::min_max:
            return "min-max";
        case Reduction::custom:
            break;
    }
    return "GLSL";
}

const char* name_of(EdgeRule rule) noexcept {
    switch (rule) {
        case EdgeRule::round_up:
            return "round-up";
        case EdgeRule::fold:
            return "fold";
        case EdgeRule::drop:
            break;
    }
    return "drop";
}

LevelMaker::LevelMaker(const MipmapRequest& request, const ImageView& image)
    : image_(image), levels_(checked_levels(request, image.shape)) {
    options_.reduction = request.reduction;
    options_.source_format = image.shape.format;
    options_.format =
        request.format.value_or(default_format(request.reduction, image.shape.format));
    options_.edge_rule = request.edge_rule;
    if (request.reduction == Reduction::custom) {
        glsl_ = read_glsl_file(request.glsl, GlslKind::reduction);
        options_.custom_glsl = glsl_.text;
        options_.custom_compiled = glsl_.compiled;
    }
    try {
        reference::check_formats(options_.reduction, options_.source_format, options_.format);
    } catch (const Error& error) {
        const bool too_many = request.reduction == Reduction::min_max && request.channel.empty() &&
                              channel_count(image.shape.format) > 2;
        throw UsageError(std::string(error.what()) + (too_many ? "; choose a channel with --channel"
                                                      : request.format ? "; choose another --format"
                                                                       : ""));
    }
    if (request.method != LevelMethod::reference) {
        device_ = open_device(request.device, "--method reference");
        device_name_ = device_->info().name;
    }
}

Mipmapper LevelMaker::make_mipmapper(MipMethod method) const {
    DownsamplerOptions options = options_;
    options.method = method;
    try {
        return Mipmapper(*device_, options);
    } catch (const Error& error) {
        throw glsl_.with_name(error);
    }
}

LevelMethod LevelMaker::automatic() {
    if (!automatic_) {
        automatic_.emplace(make_mipmapper(MipMethod::automatic));
    }
    return level_method(automatic_->options().method);
}

MadeLevels LevelMaker::make(LevelMethod method) {
    if (method == LevelMethod::reference) {
        const MipChain* chain = reference_of(method);
        if (chain == nullptr) {
            throw Error(ErrorCode::unsupported,
                        "the CPU reference cannot run GLSL; choose another --method");
        }
        return {*chain, std::nullopt};
    }
    const auto levels_by = [&](Mipmapper& mipmapper) -> MadeLevels {
        MipChain chain = mipmapper.make(image_, levels_);
        return {std::move(chain), mipmapper.measure_us(TIMED_RUNS)};
    };
    if (automatic_ && automatic() == method) {
        return levels_by(*automatic_);
    }
    Mipmapper mipmapper = make_mipmapper(mip_method(method));
    return levels_by(mipmapper);
}

const MipChain* LevelMaker::reference_of(LevelMethod method) {
    if (options_.reduction == Reduction::custom) {
        return nullptr;
    }
    reference::Downsampling how;
    how.reduction = options_.reduction;
    how.format = options_.format;
    how.edge_rule = options_.edge_rule;
    how.levels = levels_;
    how.method = mip_method(method);
    if (how.method == MipMethod::blit) {
        how.method = MipMethod::spd;
    }
    const bool never_rounded = how.reduction == Reduction::max || how.reduction == Reduction::min ||
                               how.reduction == Reduction::min_max;
    if (never_rounded) {
        how.method = MipMethod::spd;  // all the same
    }
    const auto found = references_.find(how.method);
    if (found != references_.end()) {
        return &found->second;
    }
    return &references_.emplace(how.method, reference::downsample(image_, how)).first->second;
}

}  // namespace quadtile::app
