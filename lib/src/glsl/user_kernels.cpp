#include "glsl/user_kernels.hpp"

#include "device/kernels.hpp"
#include "glsl/glsl_text.hpp"
#include "glsl/user_code_check.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

namespace quadtile::detail {

namespace {

using SpirvWords = std::vector<std::uint32_t>;

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

SpirvWords compile(const UserKernel& kernel, const std::string& glsl) {
    const UserSource source{kernel.include_name, kernel.display_name, glsl};
    // The names of resources are in the code as it is written.
    const SpirvWords named = compile_kernel(kernel.name, kernel.macros, source, CodeForm::named);
    if (const auto violation = find_violation(named, kernel.library_code)) {
        refuse_text(source, *violation);
    }
    return compile_kernel(kernel.name, kernel.macros, source, CodeForm::optimised);
}

}  // namespace

UserKernel UserKernel::threshold(bool subgroup_operations) {
    return {"subtree",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"}, {"USER_THRESHOLD", "1"}},
            kernel_code("subtree", subgroup_operations).spirv,
            "user_threshold.glsl",
            "threshold"};
}

UserKernel UserKernel::reduction(std::uint32_t channels, bool odd_blocks,
                                 bool subgroup_operations) {
    const std::string library_name = "downsample_floats_" + std::to_string(channels);
    return {"downsample",
            {{"SUBGROUPS", subgroup_operations ? "1" : "0"},
             {"EXTREMES", "0"},
             {"CHANNELS", std::to_string(channels)},
             {"CUSTOM", "1"},
             {"ODD_BLOCKS", odd_blocks ? "1" : "0"},
             {"PYRAMID", "0"}},
            kernel_code(library_name, subgroup_operations).spirv,
            "user_reduction.glsl",
            "reduction"};
}

std::vector<std::uint32_t> code_of(const UserKernel& kernel, const std::string& glsl) {
    // Reachable until the process ends, so that objects in globals find it.
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::string, SpirvWords>;
    // The mutex is held during compilation: others who need the same kernel wait for it.
    const std::lock_guard lock(mutex);
    const std::string identity = identity_of(kernel) + '\n' + glsl;
    if (const auto found = known.find(identity); found != known.end()) {
        return found->second;
    }
    SpirvWords words = compile(kernel, glsl);
    constexpr std::size_t MANY = 256;  // more texts than programs have, unless they generate texts
    if (known.size() >= MANY) {
        known.clear();
    }
    return known[identity] = std::move(words);
}

}  // namespace quadtile::detail
