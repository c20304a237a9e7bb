#include "gpu_test.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace quadtile::test {

namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

std::map<std::string, Device>& devices() {
    static std::map<std::string, Device> instance;
    return instance;
}

using TilerKey = std::tuple<std::string, Strategy, std::uint32_t>;

std::map<TilerKey, Tiler>& tilers() {
    static std::map<TilerKey, Tiler> instance;
    return instance;
}

DeviceOptions options_for(const Variant& variant) {
    DeviceOptions options;
    options.validation = Device::validation_available();
    options.disabled = variant.disabled;
    options.limits = variant.limits;
    options.log = [](Severity severity, std::string_view message) {
        if (severity == Severity::info) {
            return;
        }
        const std::lock_guard lock(messages_mutex);
        messages.emplace_back(message);
    };
    return options;
}

// Destroys the devices while gtest can still report what validation says of it.
class Cleanup : public testing::Environment {
 public:
    void SetUp() override {
        const Device& device = device_for();
        std::printf("Device: %s, %s, subgroup size %u\n", device.info().name.c_str(),
                    device.info().driver.c_str(), device.info().subgroup_size);
        if (!Device::validation_available()) {
            std::printf("VALIDATION IS OFF: the Khronos validation layer is not installed\n");
        }
    }
    void TearDown() override {
        tilers().clear();
        devices().clear();
        for (const std::string& message : take_validation_messages()) {
            ADD_FAILURE() << message;
        }
    }
};

std::string text_of(const Tile& tile) {
    std::ostringstream text;
    text << "(level " << tile.level() << ", x " << tile.x() << ", y " << tile.y() << ", layer "
         << tile.layer() << ", flags " << tile.flags() << ", importance " << tile.importance
         << ", threshold " << tile.threshold << ")";
    return text.str();
}

}  // namespace

const std::vector<Variant>& all_variants() {
    static const std::vector<Variant> variants{
        {"as the device is", {}, {}},
        {"without subgroup operations", {.subgroup_operations = true}, {}},
        {"without MAX samplers", {.sampler_minmax = true}, {}},
        {"without storage images of all formats", {.storage_image_formats = true}, {}},
        {"without dynamic indexing", {.storage_image_dynamic_indexing = true}, {}},
        {"7 workgroups in a dimension", {}, {.max_workgroup_count = 7}},
        // Tile lists of up to 4 x 4096 tiles, pyramids of up to 4 x 32768 floats, and no more.
        {"short chunks", {}, {.max_storage_buffer_range_bytes = 128 * 1024}},
    };
    return variants;
}

const Variant& variant_named(const std::string& name) {
    for (const Variant& variant : all_variants()) {
        if (variant.name == name) {
            return variant;
        }
    }
    throw std::invalid_argument("there is no variant " + name);
}

const Device& device_for(const Variant& variant) {
    const auto found = devices().find(variant.name);
    if (found != devices().end()) {
        return found->second;
    }
    return devices().emplace(variant.name, Device::create(options_for(variant))).first->second;
}

Tiler& tiler_for(const Variant& variant, Strategy strategy, std::uint32_t subtree_levels) {
    const TilerKey key{variant.name, strategy, subtree_levels};
    const auto found = tilers().find(key);
    if (found != tilers().end()) {
        return found->second;
    }
    return tilers()
        .emplace(key, Tiler(device_for(variant),
                            {.strategy = strategy, .subtree_levels = subtree_levels}))
        .first->second;
}

std::vector<std::string> take_validation_messages() {
    const std::lock_guard lock(messages_mutex);
    return std::exchange(messages, {});
}

void GpuTest::TearDown() {
    for (const std::string& message : take_validation_messages()) {
        ADD_FAILURE() << message;
    }
}

std::string difference(const TileList& actual, const TileList& expected) {
    std::ostringstream text;
    if (actual.tiles.size() != expected.tiles.size()) {
        text << actual.tiles.size() << " tiles where " << expected.tiles.size()
             << " were expected; ";
    }
    if (actual.nan_texels != expected.nan_texels) {
        text << actual.nan_texels << " NaN texels where " << expected.nan_texels
             << " were expected; ";
    }
    const std::size_t common = std::min(actual.tiles.size(), expected.tiles.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (!(actual.tiles[i] == expected.tiles[i])) {
            text << "tile " << i << " is " << text_of(actual.tiles[i]) << " where "
                 << text_of(expected.tiles[i]) << " was expected";
            break;
        }
    }
    return text.str();
}

}  // namespace quadtile::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::AddGlobalTestEnvironment(new quadtile::test::Cleanup);  // gtest deletes it
    return RUN_ALL_TESTS();
}
