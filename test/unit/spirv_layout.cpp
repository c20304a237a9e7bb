#include "spirv_layout.hpp"

#include <cstring>

namespace quadtile::test {

namespace {

// SPIR-V 1.5, sections 3.20 and 3.42.
constexpr std::uint32_t HEADER_WORDS = 5;
constexpr std::uint32_t OP_NAME = 5;
constexpr std::uint32_t OP_MEMBER_NAME = 6;
constexpr std::uint32_t OP_TYPE_ARRAY = 28;
constexpr std::uint32_t OP_TYPE_RUNTIME_ARRAY = 29;
constexpr std::uint32_t OP_DECORATE = 71;
constexpr std::uint32_t OP_MEMBER_DECORATE = 72;
constexpr std::uint32_t DECORATION_ARRAY_STRIDE = 6;
constexpr std::uint32_t DECORATION_OFFSET = 35;

// A string literal: bytes, ended by 0.
std::string literal(std::span<const std::uint32_t> words) {
    std::string text(words.size_bytes(), '\0');
    std::memcpy(text.data(), words.data(), words.size_bytes());
    return {text.c_str()};
}

// Calls visit(opcode, the instruction's words).
template <typename Visit>
void visit_instructions(std::span<const std::uint32_t> module, Visit visit) {
    for (std::size_t i = HEADER_WORDS; i < module.size();) {
        const std::uint32_t length = module[i] >> 16U;
        visit(module[i] & 0xffffU, module.subspan(i, length));
        i += length;
    }
}

using Words = std::span<const std::uint32_t>;

std::map<std::uint32_t, std::string> names_in(Words module) {
    std::map<std::uint32_t, std::string> names;
    visit_instructions(module, [&](std::uint32_t opcode, Words words) {
        if (opcode == OP_NAME) {
            names[words[1]] = literal(words.subspan(2));
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
            member_names[words[1]][words[2]] = literal(words.subspan(3));
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
