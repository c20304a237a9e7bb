#include "glsl/user_kernels.hpp"

#include <quadtile/error.hpp>
#include <quadtile/glsl.hpp>
#include <quadtile/threshold_function.hpp>

#include "device/framed_data.hpp"
#include "device/kernels.hpp"
#include "glsl/compiled_kernels.hpp"
#include "glsl/glsl_text.hpp"
#include "glsl/user_code_check.hpp"

#include <algorithm>
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
    const std::string remedy = std::string("; give the result of compile_") +
                               function.display_name + " or `quadtile compile`";
    switch (frame.state) {
        case FrameState::foreign:
            refuse_compiled(function, "is not compiled code: its first bytes are wrong" + remedy);
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

// Refuses a violation, at the line of the text that has one of its names.
[[noreturn]] void refuse_text(const UserSource& source, const Violation& violation) {
    for (const LogicalLine& line : logical_lines(source.text)) {
        for (const std::string_view token : tokens_of(line.text)) {
            const auto is_spelt = [&](const std::string& name) {
                return violation.are_beginnings ? token.starts_with(name) : token == name;
            };
            if (std::ranges::any_of(violation.names, is_spelt)) {
                refuse_at(source, line.number, "'" + std::string(token) + "' " + violation.what);
            }
        }
    }
    refuse_at(source, 0, violation.subject + ' ' + violation.what);
}

// Three times the longest kernel without a function. Here the compiler takes seconds, beyond it
// more than in proportion; drivers take longer.
constexpr double MAX_INLINED_INSTRUCTIONS = 131'072;

SpirvWords compile(const UserKernel& kernel, const UserSource& source, bool has_set_1) {
    const SpirvWords named = compile_kernel(kernel.name, kernel.macros, source, CodeForm::named);
    if (const auto violation = find_violation(named, kernel.library_code, has_set_1)) {
        refuse_text(source, *violation);
    }
    if (inlined_instructions(named) > MAX_INLINED_INSTRUCTIONS) {
        refuse_at(source, 0,
                  "the text is too long: with each call of a function replaced by its body, the "
                  "kernel has more than 131072 instructions");
    }
    return compile_kernel(kernel.name, kernel.macros, source, CodeForm::optimised);
}

CompiledKernels& compiled_kernels() {
    static auto& kernels = *new CompiledKernels;
    return kernels;
}

}  // namespace

UserKernel UserKernel::threshold(bool subgroup_operations) {
    return {"subtree",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"}, {"USER_THRESHOLD", "1"}},
            code_of(Kernel::subtree, subgroup_operations).spirv};
}

UserKernel UserKernel::node_thresholds() {
    return {"node_thresholds",
            {{"USER_THRESHOLD", "1"}},
            code_of(Kernel::node_thresholds, false).spirv};
}

UserKernel UserKernel::reduction(std::uint32_t channels, bool odd_blocks,
                                 bool subgroup_operations) {
    return {"downsample",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"},
             {"EXTREMES", "0"},
             {"CHANNELS", std::to_string(channels)},
             {"CUSTOM", "1"},
             {"ODD_BLOCKS", odd_blocks ? "1" : "0"},
             {"PYRAMID", "0"}},
            downsample_code(ItemType::floats, channels, odd_blocks, subgroup_operations).spirv};
}

std::vector<std::uint32_t> code_of(const UserKernel& kernel, const UserFunction& function,
                                   bool has_set_1, const CacheDirectory& cache) {
    const std::string identity = identity_of(kernel);
    if (!function.glsl.empty()) {
        const UserSource source{function.include_name, function.display_name, function.glsl};
        SpirvWords words = compiled_kernels().get(identity + '\n' + function.glsl, cache, [&] {
            return compile(kernel, source, has_set_1);
        });
        // The text was compiled for a user with a set 1, or the cache holds other code.
        return find_violation(words, kernel.library_code, has_set_1)
                   ? compile(kernel, source, has_set_1)
                   : words;
    }
    std::optional<SpirvWords> words = find_kernel(payload_of(function), identity);
    if (!words) {
        refuse_compiled(function, "was compiled for another use: it has no code for the kernel " +
                                      identity +
                                      "; a reduction is compiled for its number of channels");
    }
    if (const auto violation = find_violation(*words, kernel.library_code, has_set_1)) {
        refuse_compiled(function, "cannot be used: " + violation->subject + ' ' + violation->what);
    }
    return std::move(*words);
}

std::vector<std::byte> compile_ahead(std::span<const UserKernel> kernels,
                                     const UserFunction& function, bool has_set_1) {
    std::vector<std::byte> payload;
    for (const UserKernel& kernel : kernels) {
        append_kernel(payload, identity_of(kernel), code_of(kernel, function, has_set_1, {}));
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
    const ThresholdFunction function = ThresholdFunction::from_glsl(glsl);  // refuses ""
    const UserKernel kernels[] = {UserKernel::threshold(false), UserKernel::threshold(true),
                                  UserKernel::node_thresholds()};
    // A device that uses the code knows whether it has a set 1.
    return detail::compile_ahead(kernels, UserFunction::threshold(function.glsl(), {}), true);
}

std::vector<std::byte> compile_reduction(const std::string& glsl, std::uint32_t channels) {
    if (channels != 1 && channels != 2 && channels != 4) {
        throw Error(ErrorCode::invalid_argument, "texels have 1, 2 or 4 channels: a reduction of " +
                                                     std::to_string(channels) +
                                                     " cannot be compiled");
    }
    if (glsl.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the GLSL of the reduction is empty; define TEXEL reduce(TEXEL a, TEXEL b, "
                    "TEXEL c, TEXEL d)");
    }
    std::vector<UserKernel> kernels;
    for (const bool odd_blocks : {false, true}) {
        for (const bool subgroups : {false, true}) {
            kernels.push_back(UserKernel::reduction(channels, odd_blocks, subgroups));
        }
    }
    return detail::compile_ahead(kernels, UserFunction::reduction(glsl, {}), false);
}

}  // namespace quadtile
