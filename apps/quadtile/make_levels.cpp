#include "make_levels.hpp"

#include "open_device.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace quadtile::app {

namespace {

constexpr std::uint32_t TIMED_RUNS = 30;

// How the device makes the levels of each method; the reference as spd.
constexpr std::array<std::pair<LevelMethod, MipMethod>, 5> MIP_METHODS{
    {{LevelMethod::spd, MipMethod::spd},
     {LevelMethod::subgroup, MipMethod::subgroup},
     {LevelMethod::per_level, MipMethod::per_level},
     {LevelMethod::blit, MipMethod::blit},
     {LevelMethod::reference, MipMethod::spd}}};

MipMethod mip_method(LevelMethod method) {
    return std::ranges::find(MIP_METHODS, method, [](const auto& pair) { return pair.first; })
        ->second;
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
    return std::ranges::find(MIP_METHODS, automatic_->options().method,
                             [](const auto& pair) { return pair.second; })
        ->first;
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
