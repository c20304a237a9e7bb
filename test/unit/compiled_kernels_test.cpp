#include "glsl/compiled_kernels.hpp"
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
using detail::CompiledKernels;
using detail::Content;
using detail::FrameState;
using detail::SpirvWords;
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

TEST(CompiledKernels, AreFoundByName) {
    std::vector<std::byte> kernels;
    detail::append_kernel(kernels, "one", SpirvWords{1, 2, 3});
    detail::append_kernel(kernels, "two", SpirvWords{4});
    EXPECT_EQ(detail::find_kernel(kernels, "one"), (SpirvWords{1, 2, 3}));
    EXPECT_EQ(detail::find_kernel(kernels, "two"), (SpirvWords{4}));
    EXPECT_EQ(detail::find_kernel(kernels, "tw"), std::nullopt);
    kernels.pop_back();
    EXPECT_EQ(detail::find_kernel(kernels, "two"), std::nullopt);
}

TEST(CompiledKernels, AreCompiledOnceForEachDirectory) {
    const TemporaryDirectory directory;
    std::vector<std::string> warnings;
    const CacheDirectory cache(directory.path(), [&](Severity, std::string_view message) {
        warnings.emplace_back(message);
    });
    int compiled = 0;
    const auto get = [&](CompiledKernels& kernels, const std::string& name,
                         const CacheDirectory& used) {
        return kernels.get(name, used,
                           [&] { return SpirvWords{static_cast<std::uint32_t>(++compiled)}; });
    };
    CompiledKernels process;
    EXPECT_EQ(get(process, "a", cache), SpirvWords{1});
    EXPECT_EQ(get(process, "a", cache), SpirvWords{1});
    EXPECT_EQ(get(process, "b", cache), SpirvWords{2});
    CompiledKernels next_process;
    EXPECT_EQ(get(next_process, "b", cache), SpirvWords{2});
    EXPECT_EQ(get(next_process, "a", cache), SpirvWords{1});
    EXPECT_EQ(compiled, 2);
    CompiledKernels without_directory;
    EXPECT_EQ(get(without_directory, "a", CacheDirectory()), SpirvWords{3});
    const TemporaryDirectory later;
    EXPECT_EQ(get(without_directory, "a", CacheDirectory(later.path(), {})), SpirvWords{3});
    EXPECT_THAT(later.names(), testing::SizeIs(1));
    EXPECT_THAT(warnings, testing::IsEmpty());

    ASSERT_THAT(directory.names(), testing::SizeIs(2));
    for (const std::string& name : directory.names()) {
        std::ofstream(directory.path() / name, std::ios::app) << "more";
    }
    CompiledKernels after_damage;
    EXPECT_EQ(get(after_damage, "a", cache), SpirvWords{4});
    EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr("is damaged")));
    CompiledKernels mended;
    EXPECT_EQ(get(mended, "a", cache), SpirvWords{4});
}

// A directory threw without a name, a FIFO was waited for.
TEST(CompiledKernels, EntriesThatAreNoFilesAreCompiledAgain) {
    const TemporaryDirectory directory;
    std::vector<std::string> warnings;
    const CacheDirectory cache(directory.path(), [&](Severity, std::string_view message) {
        warnings.emplace_back(message);
    });
    const auto get = [&] {
        CompiledKernels next_process;
        warnings.clear();
        return next_process.get("a", cache, [] { return SpirvWords{1}; });
    };
    (void)get();
    ASSERT_THAT(directory.names(), testing::SizeIs(1));
    const std::string name = *directory.names().begin();
    const std::filesystem::path entry = directory.path() / name;
    const auto names_it = testing::AllOf(testing::HasSubstr(name), testing::HasSubstr("no file"));

    std::filesystem::remove(entry);
    std::filesystem::create_directory(entry);
    EXPECT_EQ(get(), SpirvWords{1});
    EXPECT_THAT(warnings, testing::ElementsAre(names_it, testing::HasSubstr("cannot write")));
    EXPECT_THAT(directory.names(), testing::SizeIs(1));

    std::filesystem::remove(entry);
    ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
    EXPECT_EQ(get(), SpirvWords{1});
    EXPECT_THAT(warnings, testing::ElementsAre(names_it));
    EXPECT_EQ(get(), SpirvWords{1});  // replaced by a file
    EXPECT_THAT(warnings, testing::IsEmpty());

    std::filesystem::resize_file(entry, std::uintmax_t{1} << 40U);  // sparse
    EXPECT_EQ(get(), SpirvWords{1});
    EXPECT_THAT(warnings, testing::ElementsAre(
                              testing::AllOf(testing::HasSubstr(name), testing::HasSubstr("MiB"))));
}

}  // namespace
}  // namespace quadtile
