// How glslc has laid out structs in a kernel, for comparison with C++.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace quadtile::test {

using Offsets = std::map<std::string, std::uint32_t>;  // by the member's name

// Offsets of the members of every struct with offsets. A struct without (a variable's copy) has the
// same name; it is passed over.
[[nodiscard]] std::map<std::string, Offsets> offsets_in(std::span<const std::uint32_t> module);

// Bytes from one element to the next of arrays of structs, by the struct's name.
[[nodiscard]] std::map<std::string, std::uint32_t> strides_in(
    std::span<const std::uint32_t> module);

}  // namespace quadtile::test

#define EXPECT_MEMBER(offsets, Struct, member) \
    EXPECT_EQ(offsets.at(#member), offsetof(Struct, member)) << #Struct "." #member
