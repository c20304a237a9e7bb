#include "device/framed_data.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace quadtile::detail {

namespace {

constexpr std::array<char, 8> MAGIC{'q', 'u', 'a', 'd', 't', 'i', 'l', 'e'};
constexpr std::uint32_t FORMAT_VERSION = 1;

struct FrameHeader {
    std::array<char, 8> magic;
    std::uint32_t format_version;
    Content content;
    std::uint64_t version;
    std::uint64_t payload_bytes;
    std::uint64_t payload_checksum;
};
static_assert(sizeof(FrameHeader) == 40);

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const std::byte byte : bytes) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    return hash;
}

std::vector<std::byte> frame(Content content, std::uint64_t version,
                             std::span<const std::byte> payload) {
    const FrameHeader header{MAGIC,   FORMAT_VERSION, content,
                             version, payload.size(), checksum(payload)};
    std::vector<std::byte> bytes(sizeof(header) + payload.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::ranges::copy(payload, bytes.begin() + sizeof(header));
    return bytes;
}

Unframed unframe(Content content, std::uint64_t version,
                 std::span<const std::byte> bytes) noexcept {
    FrameHeader header;
    if (bytes.size() < sizeof(header)) {
        return {FrameState::foreign, {}};
    }
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.magic != MAGIC || header.content != content) {
        return {FrameState::foreign, {}};
    }
    if (header.format_version != FORMAT_VERSION || header.version != version) {
        return {FrameState::other_version, {}};
    }
    const std::span payload = bytes.subspan(sizeof(header));
    if (header.payload_bytes != payload.size() || header.payload_checksum != checksum(payload)) {
        return {FrameState::damaged, {}};
    }
    return {FrameState::whole, payload};
}

}  // namespace quadtile::detail
