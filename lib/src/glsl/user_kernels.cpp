#include "glsl/user_kernels.hpp"

#include "device/kernels.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace quadtile::detail {

namespace {

using SpirvWords = std::vector<std::uint32_t>;

// Constants of SPIR-V 1.5, sections 2.3, 3.7, 3.20, 3.31 and 3.32.
constexpr std::size_t HEADER_WORDS = 5;
constexpr std::uint32_t OP_CAPABILITY = 17;
constexpr std::uint32_t OP_VARIABLE = 59;
constexpr std::uint32_t OP_DECORATE = 71;
constexpr std::uint32_t STORAGE_UNIFORM_CONSTANT = 0;
constexpr std::uint32_t STORAGE_UNIFORM = 2;
constexpr std::uint32_t STORAGE_PUSH_CONSTANT = 9;
constexpr std::uint32_t STORAGE_STORAGE_BUFFER = 12;
constexpr std::uint32_t DECORATION_BINDING = 33;
constexpr std::uint32_t DECORATION_DESCRIPTOR_SET = 34;
constexpr std::uint32_t GROUP_NON_UNIFORM = 61;
constexpr std::uint32_t GROUP_NON_UNIFORM_ARITHMETIC = 63;
constexpr std::uint32_t GROUP_NON_UNIFORM_SHUFFLE = 65;
constexpr std::uint32_t GROUP_NON_UNIFORM_QUAD = 68;

// Capabilities of every Vulkan device: Matrix, Shader, Sampled1D, Image1D, SampledBuffer,
// ImageBuffer, ImageQuery and GroupNonUniform.
constexpr std::uint32_t CAPABILITIES_OF_ALL[] = {0, 1, 43, 44, 46, 47, 50, GROUP_NON_UNIFORM};

using Place = std::pair<std::uint32_t, std::uint32_t>;  // descriptor set, binding

struct Module {
    std::set<std::uint32_t> capabilities;
    std::multiset<Place> resources;
    std::size_t push_constants = 0;  // number of blocks
};

// Reads the compiler's output.
Module read_module(SpirvView code) {
    Module module;
    std::map<std::uint32_t, Place> places;  // by variable
    for (std::size_t i = HEADER_WORDS; i < code.size(); i += code[i] >> 16U) {
        const SpirvView words = code.subspan(i, code[i] >> 16U);
        const std::uint32_t opcode = code[i] & 0xffffU;
        if (opcode == OP_CAPABILITY) {
            module.capabilities.insert(words[1]);
        } else if (opcode == OP_DECORATE && words[2] == DECORATION_BINDING) {
            places[words[1]].second = words[3];
        } else if (opcode == OP_DECORATE && words[2] == DECORATION_DESCRIPTOR_SET) {
            places[words[1]].first = words[3];
        } else if (opcode == OP_VARIABLE && words[3] == STORAGE_PUSH_CONSTANT) {
            ++module.push_constants;
        } else if (opcode == OP_VARIABLE &&
                   (words[3] == STORAGE_UNIFORM_CONSTANT || words[3] == STORAGE_UNIFORM ||
                    words[3] == STORAGE_STORAGE_BUFFER)) {
            module.resources.insert(places[words[2]]);
        }
    }
    return module;
}

std::string name_of_capability(std::uint32_t capability) {
    switch (capability) {
        case 9:
            return "16-bit floats";
        case 10:
            return "64-bit floats";
        case 11:
            return "64-bit integers";
        case 22:
            return "16-bit integers";
        case 39:
            return "8-bit integers";
        default:
            return capability > GROUP_NON_UNIFORM && capability <= GROUP_NON_UNIFORM_QUAD
                       ? "subgroup operations"
                       : joined("the SPIR-V capability ", capability);
    }
}

// Returns the first violation in `code`, a sentence without its end, or nothing. `library_code` is
// the library's own kernel without a function. Its capabilities and its resources are allowed,
// beside the capabilities of every Vulkan device.
std::string violation_in(SpirvView code, SpirvView library_code) {
    const Module module = read_module(code);
    const Module library = read_module(library_code);
    const bool subgroups = std::ranges::any_of(library.capabilities, [](std::uint32_t capability) {
        return capability > GROUP_NON_UNIFORM && capability <= GROUP_NON_UNIFORM_QUAD;
    });
    for (const std::uint32_t capability : module.capabilities) {
        const bool is_operation =
            capability >= GROUP_NON_UNIFORM_ARITHMETIC && capability <= GROUP_NON_UNIFORM_SHUFFLE;
        if (std::ranges::count(CAPABILITIES_OF_ALL, capability) == 0 &&
            !library.capabilities.contains(capability) && !(subgroups && is_operation)) {
            return "the text needs " + name_of_capability(capability) +
                   ", a feature that is not enabled on all devices that this code is for";
        }
    }
    for (const Place& place : module.resources) {
        if (module.resources.count(place) > library.resources.count(place)) {
            return joined(
                "the text has a resource at binding ", place.second, " of descriptor set ",
                place.first,
                place.first == 0 ? ", where the kernel has its own" : ", which is not bound",
                "; a function has no resources of its own");
        }
    }
    return module.push_constants > 1
               ? "the text has push constants of its own; use parameters instead"
               : "";
}

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
