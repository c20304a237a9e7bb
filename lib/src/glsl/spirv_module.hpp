// The instructions of a SPIR-V module (SPIR-V 1.5, sections 2.3 and 3).

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace quadtile::detail {

using SpirvView = std::span<const std::uint32_t>;

enum SpirvOpcode : std::uint32_t {
    OP_NAME = 5,
    OP_MEMBER_NAME = 6,
    OP_CAPABILITY = 17,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_RUNTIME_ARRAY = 29,
    OP_TYPE_POINTER = 32,
    OP_VARIABLE = 59,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72,
};

// Calls visit(opcode, the instruction's words) for each instruction. Returns false if the module is
// damaged: without a header, or with an instruction that has no words or ends beyond the module.
template <typename Visit>
bool visit_instructions(SpirvView module, const Visit& visit) {
    constexpr std::size_t HEADER_WORDS = 5;
    constexpr std::uint32_t MAGIC = 0x07230203;
    if (module.size() < HEADER_WORDS || module[0] != MAGIC) {
        return false;
    }
    for (std::size_t i = HEADER_WORDS; i < module.size();) {
        const std::uint32_t length = module[i] >> 16U;
        if (length == 0 || length > module.size() - i) {
            return false;
        }
        visit(module[i] & 0xffffU, module.subspan(i, length));
        i += length;
    }
    return true;
}

// Returns the string literal at the end of an instruction: bytes, ended by 0.
inline std::string spirv_literal(SpirvView words) {
    std::string text(words.size_bytes(), '\0');
    std::memcpy(text.data(), words.data(), words.size_bytes());
    return text.substr(0, text.find('\0'));
}

}  // namespace quadtile::detail
