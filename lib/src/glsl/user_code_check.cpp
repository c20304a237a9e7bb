#include "glsl/user_code_check.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace quadtile::detail {

namespace {

// Constants of SPIR-V 1.5, sections 3.7, 3.20 and 3.31.
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

// Deepest type of a resource: a pointer to arrays of arrays of blocks.
constexpr int MAX_TYPE_DEPTH = 8;

// Capabilities of every Vulkan device: Matrix, Shader, Sampled1D, Image1D, SampledBuffer,
// ImageBuffer, ImageQuery and GroupNonUniform.
constexpr std::uint32_t CAPABILITIES_OF_ALL[] = {0, 1, 43, 44, 46, 47, 50, GROUP_NON_UNIFORM};

struct CapabilityName {
    std::uint32_t first;  // capability
    std::uint32_t last;
    const char* name;
    std::vector<std::string> spellings;  // beginnings of identifiers in GLSL
};

const std::vector<CapabilityName>& capability_names() {
    static const auto& NAMES = *new std::vector<CapabilityName>{
        {9, 9, "16-bit floats", {"float16", "f16"}},
        {10, 10, "64-bit floats", {"double", "dvec", "dmat", "float64", "f64"}},
        {11, 12, "64-bit integers", {"int64", "uint64", "i64", "u64"}},
        {22, 22, "16-bit integers", {"int16", "uint16", "i16", "u16"}},
        {39, 39, "8-bit integers", {"int8", "uint8", "i8", "u8"}},
        {GROUP_NON_UNIFORM, GROUP_NON_UNIFORM_QUAD, "subgroup operations", {"subgroup"}}};
    return NAMES;
}

struct Resource {
    std::string name;  // empty: unknown
    std::uint32_t set = 0;
    std::uint32_t binding = 0;

    [[nodiscard]] bool is_at(const Resource& other) const {
        return set == other.set && binding == other.binding;
    }
};

struct Module {
    bool is_whole = false;
    std::set<std::uint32_t> capabilities;
    std::vector<Resource> resources;
    std::size_t push_constants = 0;  // number of blocks
};

Module read_module(SpirvView code) {
    Module module;
    std::map<std::uint32_t, std::string> names;      // by id
    std::map<std::uint32_t, std::uint32_t> pointed;  // by pointer or array: the type in it
    std::map<std::uint32_t, Resource> places;        // by variable
    std::vector<SpirvView> variables;
    bool is_whole = true;
    const auto read = [&](std::uint32_t opcode, SpirvView words) {
        const auto has = [&](std::size_t count) {
            is_whole = is_whole && words.size() >= count;
            return words.size() >= count;
        };
        if (opcode == OP_CAPABILITY && has(2)) {
            module.capabilities.insert(words[1]);
        } else if (opcode == OP_NAME && has(3)) {
            names[words[1]] = spirv_literal(words.subspan(2));
        } else if (opcode == OP_DECORATE && has(3)) {
            if (words[2] == DECORATION_BINDING && has(4)) {
                places[words[1]].binding = words[3];
            } else if (words[2] == DECORATION_DESCRIPTOR_SET && has(4)) {
                places[words[1]].set = words[3];
            }
        } else if (opcode == OP_TYPE_POINTER && has(4)) {
            pointed[words[1]] = words[3];
        } else if ((opcode == OP_TYPE_ARRAY || opcode == OP_TYPE_RUNTIME_ARRAY) && has(3)) {
            pointed[words[1]] = words[2];
        } else if (opcode == OP_VARIABLE && has(4)) {
            variables.push_back(words);
        }
    };
    module.is_whole = visit_instructions(code, read) && is_whole;
    for (const SpirvView words : variables) {
        const std::uint32_t storage = words[3];
        if (storage == STORAGE_PUSH_CONSTANT) {
            ++module.push_constants;
        } else if (storage == STORAGE_UNIFORM_CONSTANT || storage == STORAGE_UNIFORM ||
                   storage == STORAGE_STORAGE_BUFFER) {
            Resource resource = places[words[2]];
            resource.name = names[words[2]];
            // A block without an instance name has the name of its type.
            std::uint32_t type = words[1];
            for (int depth = 0; depth < MAX_TYPE_DEPTH && resource.name.empty(); ++depth) {
                type = pointed[type];
                resource.name = names[type];
            }
            module.resources.push_back(resource);
        }
    }
    return module;
}

Violation capability_violation(std::uint32_t capability) {
    Violation violation{"this code",
                        "needs the SPIR-V capability " + std::to_string(capability) +
                            ", a feature that is not enabled",
                        {},
                        true};
    for (const CapabilityName& known : capability_names()) {
        if (capability >= known.first && capability <= known.last) {
            violation.what = std::string("needs ") + known.name +
                             ", a feature that is not enabled on all devices that this code is for";
            violation.names = known.spellings;
        }
    }
    return violation;
}

}  // namespace

std::optional<Violation> find_violation(SpirvView code, SpirvView library_code) {
    const Module module = read_module(code);
    const Module library = read_module(library_code);
    if (!module.is_whole) {
        return Violation{"this code", "is no SPIR-V", {}, false};
    }
    const bool subgroups = std::ranges::any_of(library.capabilities, [](std::uint32_t capability) {
        return capability > GROUP_NON_UNIFORM && capability <= GROUP_NON_UNIFORM_QUAD;
    });
    for (const std::uint32_t capability : module.capabilities) {
        const bool is_operation =
            capability >= GROUP_NON_UNIFORM_ARITHMETIC && capability <= GROUP_NON_UNIFORM_SHUFFLE;
        if (std::ranges::count(CAPABILITIES_OF_ALL, capability) == 0 &&
            !library.capabilities.contains(capability) && !(subgroups && is_operation)) {
            return capability_violation(capability);
        }
    }
    for (const Resource& resource : module.resources) {
        const auto is_here = [&](const Resource& other) { return other.is_at(resource); };
        if (std::ranges::count_if(module.resources, is_here) <=
            std::ranges::count_if(library.resources, is_here)) {
            continue;
        }
        Violation violation{
            "a resource",
            "is at binding " + std::to_string(resource.binding) + " of descriptor set " +
                std::to_string(resource.set) +
                (resource.set == 0 ? ", where the kernel has its own" : ", which is not bound") +
                "; a function has no resources of its own",
            {},
            false};
        for (const Resource& other : module.resources) {
            if (is_here(other) && !other.name.empty()) {
                violation.names.push_back(other.name);
            }
        }
        return violation;
    }
    if (module.push_constants > 1) {
        return Violation{
            "this code", "has push constants of its own; use parameters instead", {}, false};
    }
    return std::nullopt;
}

}  // namespace quadtile::detail
