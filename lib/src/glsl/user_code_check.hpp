// Whether the SPIR-V of a kernel with a function of the user's keeps to what the kernel's pipelines
// are made with.

#pragma once

#include "glsl/spirv_module.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quadtile::detail {

// What code may not have: "'Table' is at binding 3 of descriptor set 1, which ...".
struct Violation {
    std::string subject;  // in place of a name where none is known: "a resource"
    std::string what;     // "is at binding 3 of descriptor set 1, which ..."
    // How a text spells it: one of these identifiers, or one that begins so. Resources have names
    // in code with debug information alone; of two at one binding both are here.
    std::vector<std::string> names;
    bool are_beginnings = false;
};

// The first one of `code`. `library_code` is the same kernel as the library has it, without a
// function: its capabilities and its resources in set 0 are allowed, and nothing else but what
// every Vulkan device has, and set 1 where `has_set_1`.
[[nodiscard]] std::optional<Violation> find_violation(SpirvView code, SpirvView library_code,
                                                      bool has_set_1);

// Instructions of the entry point once all calls are replaced by what they call, which optimisers
// and drivers do.
[[nodiscard]] double inlined_instructions(SpirvView code);

}  // namespace quadtile::detail
