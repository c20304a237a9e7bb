// How glslc has laid out structs in a kernel, for comparison with C++.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <sstream>
#include <string>

namespace quadtile::test {

using Offsets = std::map<std::string, std::uint32_t>;  // by the member's name

// Offsets of the members of every struct with offsets. A struct without (a variable's copy) has the
// same name; it is passed over.
[[nodiscard]] std::map<std::string, Offsets> offsets_in(std::span<const std::uint32_t> module);

// Bytes from one element to the next of arrays of structs, by the struct's name.
[[nodiscard]] std::map<std::string, std::uint32_t> strides_in(
    std::span<const std::uint32_t> module);

// Offsets of members of a C++ object; `names` are theirs, with commas between them.
template <typename Struct, typename... Members>
Offsets offsets_of(const std::string& names, const Struct& object, const Members&... members) {
    std::istringstream words(names);
    Offsets offsets;
    const auto add = [&](const void* member) {
        std::string name;
        std::getline(words >> std::ws, name, ',');
        offsets[name] = static_cast<std::uint32_t>(static_cast<const std::byte*>(member) -
                                                   reinterpret_cast<const std::byte*>(&object));
    };
    (add(&members), ...);
    return offsets;
}

}  // namespace quadtile::test

// A struct has the same members at the same places in a kernel and in C++: all these, in order.
#define EXPECT_LAYOUT(structs, Struct, ...)                                                    \
    {                                                                                          \
        const Struct object{};                                                                 \
        const auto& [__VA_ARGS__] = object;                                                    \
        EXPECT_EQ((structs).at(#Struct), test::offsets_of(#__VA_ARGS__, object, __VA_ARGS__)); \
    }
