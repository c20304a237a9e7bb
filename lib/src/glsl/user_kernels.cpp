#include "glsl/user_kernels.hpp"

#include "device/kernels.hpp"
#include "glsl/user_code_check.hpp"

#include <map>
#include <mutex>

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

SpirvWords compile(const UserKernel& kernel, const std::string& glsl) {
    const UserSource source{kernel.include_name, kernel.display_name, glsl};
    // As it is written: the optimiser removes the kernel's own resource beside the user's.
    const SpirvWords written =
        compile_kernel(kernel.name, kernel.macros, source, CodeForm::as_written);
    if (const std::string violation = violation_in(written, kernel.library_code);
        !violation.empty()) {
        refuse_at(source, 0, violation);
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
