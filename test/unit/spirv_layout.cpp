#include "spirv_layout.hpp"

#include "glsl/spirv_module.hpp"

namespace quadtile::test {

namespace {

using detail::OP_DECORATE;
using detail::OP_MEMBER_DECORATE;
using detail::OP_MEMBER_NAME;
using detail::OP_NAME;
using detail::OP_TYPE_ARRAY;
using detail::OP_TYPE_RUNTIME_ARRAY;
using detail::spirv_literal;
using detail::visit_instructions;

constexpr std::uint32_t DECORATION_ARRAY_STRIDE = 6;
constexpr std::uint32_t DECORATION_OFFSET = 35;

using Words = detail::SpirvView;

std::map<std::uint32_t, std::string> names_in(Words module) {
    std::map<std::uint32_t, std::string> names;
    visit_instructions(module, [&](std::uint32_t opcode, Words words) {
        if (opcode == OP_NAME) {
            names[words[1]] = spirv_literal(words.subspan(2));
        }
    });
    return names;
}

}  // namespace

std::map<std::string, Offsets> offsets_in(Words module) {
    std::map<std::uint32_t, std::string> names = names_in(module);
    std::map<std::uint32_t, std::map<std::uint32_t, std::string>> member_names;
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> member_offsets;
    visit_instructions(module, [&](std::uint32_t opcode, Words words) {
        if (opcode == OP_MEMBER_NAME) {
            member_names[words[1]][words[2]] = spirv_literal(words.subspan(3));
        } else if (opcode == OP_MEMBER_DECORATE && words[3] == DECORATION_OFFSET) {
            member_offsets[words[1]][words[2]] = words[4];
        }
    });
    std::map<std::string, Offsets> result;
    for (const auto& [id, offsets] : member_offsets) {
        for (const auto& [member, offset] : offsets) {
            result[names[id]][member_names[id][member]] = offset;
        }
    }
    return result;
}

std::map<std::string, std::uint32_t> strides_in(Words module) {
    std::map<std::uint32_t, std::string> names = names_in(module);
    std::map<std::uint32_t, std::uint32_t> strides;  // by array
    std::map<std::string, std::uint32_t> result;
    visit_instructions(module, [&](std::uint32_t opcode, Words words) {
        if (opcode == OP_DECORATE && words[2] == DECORATION_ARRAY_STRIDE) {
            strides[words[1]] = words[3];
        } else if ((opcode == OP_TYPE_ARRAY || opcode == OP_TYPE_RUNTIME_ARRAY) &&
                   strides.contains(words[1])) {
            result[names[words[2]]] = strides[words[1]];
        }
    });
    return result;
}

}  // namespace quadtile::test
