#include "gpu.hpp"
#include "output_file.hpp"
#include "process.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>

namespace quadtile::app::test {
namespace {

// A driver whose work never ends: a wait takes all the time that it is given.
void hang() {
    auto& driver = VULKAN_HPP_DEFAULT_DISPATCHER;
    driver.vkWaitForFences = [](auto...) { return VK_TIMEOUT; };
    driver.vkDeviceWaitIdle = [](VkDevice) {
        while (true) {
            ::pause();
        }
        return VK_SUCCESS;
    };
    driver.vkFreeMemory = [](auto...) { std::abort(); };  // the work may use it
}

// The work hangs that the program waits for, or a frame that is still drawn when it ends.
int run_hanging(const quadtile::test::TemporaryDirectory& directory, bool waits) {
    return run_program("name", "", [&] {
        ::alarm(60);
        OutputFile file(directory.path() / "result");
        const Instance instance("hang", {}, false);
        Gpu gpu(instance, {}, {});
        if (!waits) {
            hang();
            return 0;
        }
        const Buffer used = gpu.make_buffer(64, vk::BufferUsageFlagBits::eTransferDst);
        hang();
        gpu.run([](vk::CommandBuffer) {});
        return 0;
    });
}

// Catches a wait without a limit behind the time-out, so that the message never came.
TEST(GpuHang, EndsWithItsMessage) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (const bool waits : {true, false}) {
        const quadtile::test::TemporaryDirectory directory;
        EXPECT_EXIT(std::exit(run_hanging(directory, waits)), ::testing::ExitedWithCode(1),
                    "name: error: work on the GPU did not end within a minute\n$")
            << waits;
        EXPECT_THAT(directory.names(), ::testing::IsEmpty());
    }
}

}  // namespace
}  // namespace quadtile::app::test
