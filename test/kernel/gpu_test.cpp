#include "gpu_test.hpp"
#include "support/gpu.hpp"

#include <cstdio>

namespace quadtile::test {

namespace {

// Destroys the devices while gtest can still report what validation says of it.
class Cleanup : public testing::Environment {
 public:
    void SetUp() override {
        const Device& device = device_for();
        std::printf("Device: %s, %s, subgroup size %u\n", device.info().name.c_str(),
                    device.info().driver.c_str(), device.info().subgroup_size);
        if (!has_validation_layer()) {
            std::printf("VALIDATION IS OFF: the Khronos validation layer is not installed\n");
        }
    }
    void TearDown() override {
        release_devices();
        for (const std::string& message : take_validation_messages()) {
            ADD_FAILURE() << message;
        }
    }
};

}  // namespace
}  // namespace quadtile::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::AddGlobalTestEnvironment(new quadtile::test::Cleanup);  // gtest deletes it
    return RUN_ALL_TESTS();
}
