#include "user_kernels.hpp"

#include <quadtile/error.hpp>
#include <quadtile/glsl.hpp>
#include <quadtile/threshold_function.hpp>

#include "compiled_kernels.hpp"
#include "framed_data.hpp"
#include "kernels.hpp"

#include <optional>

namespace quadtile::detail {

namespace {

// "subtree SUBGROUPS=1 USER_THRESHOLD=1"
std::string identity_of(const UserKernel& kernel) {
    std::string identity = kernel.name;
    for (const auto& [name, value] : kernel.macros) {
        identity += ' ';
        identity += name;
        identity += '=';
        identity += value;
    }
    return identity;
}

[[noreturn]] void refuse_compiled(const UserFunction& function, const std::string& why) {
    throw Error(ErrorCode::invalid_argument,
                "the compiled " + std::string(function.display_name) + " function " + why);
}

std::span<const std::byte> payload_of(const UserFunction& function) {
    const Unframed frame = unframe(Content::user_kernels, kernel_fingerprint(), function.compiled);
    const std::string remedy = std::string("; give what compile_") + function.display_name +
                               " or `quadtile compile` has made";
    switch (frame.state) {
        case FrameState::foreign:
            refuse_compiled(function, "is none: its first bytes are something else's" + remedy);
        case FrameState::other_version:
            refuse_compiled(function,
                            "was made by another version of quadtile; compile its GLSL again "
                            "with this one");
        case FrameState::damaged:
            refuse_compiled(function,
                            "is damaged (its length or checksum is wrong); compile its "
                            "GLSL again");
        case FrameState::whole:
            break;
    }
    return frame.payload;
}

CompiledKernels& compiled_kernels() {
    static CompiledKernels kernels;
    return kernels;
}

}  // namespace

UserKernel UserKernel::threshold(Strategy strategy, bool subgroup_operations) {
    return {strategy == Strategy::per_level ? "per_level" : "subtree",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"}, {"USER_THRESHOLD", "1"}}};
}

UserKernel UserKernel::reduction(std::uint32_t channels, bool odd_blocks,
                                 bool subgroup_operations) {
    return {"downsample",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"},
             {"EXTREMES", "0"},
             {"HALVES", "0"},
             {"CHANNELS", std::to_string(channels)},
             {"TO_BUFFER", "0"},
             {"COUNT_NAN", "0"},
             {"CUSTOM", "1"},
             {"ODD_BLOCKS", odd_blocks ? "1" : "0"}}};
}

std::vector<std::uint32_t> code_of(const UserKernel& kernel, const UserFunction& function,
                                   const CacheDirectory& cache) {
    const std::string identity = identity_of(kernel);
    if (!function.glsl.empty()) {
        return compiled_kernels().get(identity + '\n' + function.glsl, cache, [&] {
            return compile_kernel(kernel.name, kernel.macros,
                                  {function.include_name, function.display_name, function.glsl});
        });
    }
    std::optional<SpirvWords> words = find_kernel(payload_of(function), identity);
    if (!words) {
        refuse_compiled(
            function, "was compiled for something else: it has no code for the kernel " + identity +
                          "; a reduction is compiled for its number of channels");
    }
    return std::move(*words);
}

std::vector<std::byte> compile_ahead(std::span<const UserKernel> kernels,
                                     const UserFunction& function) {
    std::vector<std::byte> payload;
    for (const UserKernel& kernel : kernels) {
        append_kernel(payload, identity_of(kernel), code_of(kernel, function, {}));
    }
    return frame(Content::user_kernels, kernel_fingerprint(), payload);
}

}  // namespace quadtile::detail

namespace quadtile {

using detail::UserFunction;
using detail::UserKernel;

bool can_compile_glsl() noexcept {
    return detail::has_glsl_compiler();
}

bool is_compiled_glsl(std::span<const std::byte> bytes) noexcept {
    return detail::unframe(detail::Content::user_kernels, 0, bytes).state !=
           detail::FrameState::foreign;
}

std::vector<std::byte> compile_threshold(const std::string& glsl) {
    const ThresholdFunction function = ThresholdFunction::from_glsl(glsl);  // refuses an empty one
    std::vector<UserKernel> kernels;
    for (const Strategy strategy : {Strategy::per_level, Strategy::subtree}) {
        for (const bool subgroups : {false, true}) {
            kernels.push_back(UserKernel::threshold(strategy, subgroups));
        }
    }
    return detail::compile_ahead(kernels, UserFunction::threshold(function.glsl(), {}));
}

std::vector<std::byte> compile_reduction(const std::string& glsl, std::uint32_t channels) {
    if (channels != 1 && channels != 2 && channels != 4) {
        throw Error(ErrorCode::invalid_argument, "texels have 1, 2 or 4 channels, a reduction of " +
                                                     std::to_string(channels) +
                                                     " cannot be compiled");
    }
    if (glsl.empty()) {
        throw Error(ErrorCode::invalid_argument, "the GLSL of the reduction is empty");
    }
    std::vector<UserKernel> kernels;
    for (const bool odd_blocks : {false, true}) {
        for (const bool subgroups : {false, true}) {
            kernels.push_back(UserKernel::reduction(channels, odd_blocks, subgroups));
        }
    }
    return detail::compile_ahead(kernels, UserFunction::reduction(glsl, {}));
}

}  // namespace quadtile
