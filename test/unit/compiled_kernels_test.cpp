#include "device/cache_directory.hpp"
#include "device/framed_data.hpp"

#include <support/temporary_directory.hpp>

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/stat.h>  // mkfifo

namespace quadtile {
namespace {

using detail::CacheDirectory;
using detail::Content;
using detail::FrameState;
using test::TemporaryDirectory;

TEST(FramedData, ComesBackOrSaysWhyNot) {
    const std::vector<std::byte> payload{std::byte{1}, std::byte{2}, std::byte{3}};
    const std::vector<std::byte> whole = frame(Content::user_kernels, 7, payload);
    const auto state_of = [](const std::vector<std::byte>& bytes, std::uint64_t version = 7) {
        return unframe(Content::user_kernels, version, bytes).state;
    };
    const detail::Unframed back = unframe(Content::user_kernels, 7, whole);
    EXPECT_EQ(back.state, FrameState::whole);
    EXPECT_TRUE(std::ranges::equal(back.payload, payload));
    EXPECT_EQ(state_of(frame(Content::user_kernels, 7, {})), FrameState::whole);
    EXPECT_EQ(state_of(whole, 8), FrameState::other_version);
    EXPECT_EQ(unframe(Content::pipeline_cache, 7, whole).state, FrameState::foreign);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::vector<std::byte> changed = whole;
        changed[i] ^= std::byte{0x40};
        EXPECT_NE(state_of(changed), FrameState::whole) << i;
        EXPECT_NE(state_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)}),
                  FrameState::whole)
            << i;
    }
    std::vector<std::byte> longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_EQ(state_of(longer), FrameState::damaged);
}

}  // namespace
}  // namespace quadtile
