// A host application's device: quadtile works on it and leaves it alive.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <functional>
#include <thread>

namespace quadtile::test {
namespace {

class Adopt : public GpuTest {};

AdoptedDevice handles_of(const Device& host) {
    return {.get_instance_proc_addr = host.get_instance_proc_addr(),
            .instance = host.instance(),
            .physical_device = host.physical_device(),
            .device = host.handle(),
            .queue = host.queue(),
            .queue_family = host.queue_family()};
}

TEST_F(Adopt, RecordsWithoutAQueueOfItsOwn) {
    AdoptedDevice host = handles_of(device_for());
    host.queue = VK_NULL_HANDLE;
    const Device adopted = Device::adopt(host);
    EXPECT_THAT([&] { const Tiler tiler(adopted); }, is_refused("needs a queue"));
    EXPECT_THAT([&] { const Mipmapper mipmapper(adopted); }, is_refused("needs a queue"));

    Gpu gpu(device_for());
    const Pyramid pyramid(adopted);
    const Subdivider subdivider(adopted);
    const MapShape shape{50, 40};
    const std::vector<float> texels = random_map(shape);
    const MapView view = view_of(texels, shape.width, shape.height);
    const Threshold threshold = Threshold::constant(0.8F);
    const std::vector<Tile> expected = reference::subdivide(view, threshold).tiles;
    const PyramidWorkspace map(gpu, pyramid, view);
    const SubdivisionWorkspace list(gpu, subdivider, map, expected.size());
    list.run(gpu, pyramid, map, subdivider, threshold);
    EXPECT_TRUE(list.read_sorted(gpu) == expected);
}

// Would catch Devices that each have a mutex of their own for the same queue, which the validation
// layer reports.
TEST_F(Adopt, DevicesOfOneQueueSubmitInTurn) {
    const AdoptedDevice host = handles_of(device_for());
    const auto work = [&] {
        const std::vector<float> texels(64, 0.5F);
        Tiler tiler(Device::adopt(host));
        for (int i = 0; i < 50; ++i) {
            (void)tiler.subdivide(view_of(texels, 8, 8), Threshold::constant(1.0F));
        }
    };
    std::thread other(work);
    work();
    other.join();
}

TEST_F(Adopt, HandlesThatCannotWorkAreRefused) {
    const auto adopting = [](const std::function<void(AdoptedDevice&)>& spoil) {
        AdoptedDevice host = handles_of(device_for());
        spoil(host);
        return [host] { (void)Device::adopt(host); };
    };
    EXPECT_THAT(adopting([](AdoptedDevice& host) { host.device = VK_NULL_HANDLE; }), is_refused());
    EXPECT_THAT(adopting([](AdoptedDevice& host) { host.get_instance_proc_addr = nullptr; }),
                is_refused());
    EXPECT_THAT(adopting([](AdoptedDevice& host) { host.queue_family = 99; }), is_refused());
}

}  // namespace
}  // namespace quadtile::test
