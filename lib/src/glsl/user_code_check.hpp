// Check that the SPIR-V of a kernel with a user's function fits the kernel's pipelines.

#pragma once

#include "glsl/spirv_module.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quadtile::detail {

// A violation in a sentence: "'Table' is at binding 3 of descriptor set 1, which ...".
struct Violation {
    std::string subject;  // used if no name is known: "a resource"
    std::string what;     // predicate: "is at binding 3 of descriptor set 1, which ..."
    // Spellings in a text: one of these identifiers, or one that begins so. Only code with debug
    // information has the names of resources. Of two resources at one binding both names are here.
    std::vector<std::string> names;
    bool are_beginnings = false;
};

// Returns the first violation in `code`. `library_code` is the library's own kernel without a
// function. Its capabilities and its resources are allowed, beside the capabilities of every Vulkan
// device.
[[nodiscard]] std::optional<Violation> find_violation(SpirvView code, SpirvView library_code);

}  // namespace quadtile::detail
