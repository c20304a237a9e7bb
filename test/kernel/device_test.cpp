#include "gpu_test.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test {
namespace {

class DeviceChoice : public GpuTest {};

// Would catch a part of a name that is a number ("4090") taken for a device's number alone.
TEST_F(DeviceChoice, SelectsByNumberAndByPartOfTheName) {
    const std::vector<DeviceInfo> all = Device::enumerate();
    for (const DeviceInfo& info : all) {
        const std::size_t first = std::min(info.name.find_first_of("123456789"), info.name.size());
        const std::string number =
            info.name.substr(first, info.name.find_first_not_of("0123456789", first) - first);
        const bool is_part = !number.empty() && std::stoul(number) >= all.size();
        for (const std::string& select :
             {std::to_string(info.index), info.name.substr(1, 4), is_part ? number : info.name}) {
            if (info.usable()) {
                EXPECT_EQ(Device::create({.select = select}).info().type, info.type) << select;
            }
        }
        EXPECT_THAT([] { (void)Device::create({.select = "no such device"}); },
                    fails(ErrorCode::no_device, "no such device",
                          "(" + info.name + "): neither its number nor its name matches"));
    }
}

// Would catch the loader's complaint about a file taken for a lack of memory.
TEST_F(DeviceChoice, NamesManifestsThatMayBeDamaged) {
    const TemporaryDirectory directory;
    const std::string manifest = directory.add("driver.json", "junk{");
    const char* const before = std::getenv("VK_ICD_FILENAMES");
    const std::string kept = before != nullptr ? before : "";
    (void)setenv("VK_ICD_FILENAMES", manifest.c_str(), 1);
    EXPECT_THAT([] { (void)Device::create(); },
                fails(ErrorCode::out_of_memory, "VK_ICD_FILENAMES", manifest));
    (void)(before != nullptr ? setenv("VK_ICD_FILENAMES", kept.c_str(), 1)
                             : unsetenv("VK_ICD_FILENAMES"));
}

// Catches bytes that come to a driver although they are damaged or foreign, and pipelines that are
// lost on the way.
TEST_F(DeviceChoice, TakesOnlyWholePipelineCaches) {
    const std::vector<float> texels(97 * 61, 1.0F);
    const MapView map = view_of(texels, 97, 61);
    const TileList expected = reference::subdivide(map, Threshold::constant(1.5F));
    std::vector<std::byte> kept;
    const auto is_ignored = [&](std::span<const std::byte> bytes) {
        bool ignored = false;
        const Device device = Device::create({.log =
                                                  [&](Severity, std::string_view message) {
                                                      ignored |= message.find("is damaged or") !=
                                                                 std::string_view::npos;
                                                  },
                                              .pipeline_cache = bytes});
        if (kept.empty() || !ignored) {
            EXPECT_EQ(difference(Tiler(device).subdivide(map, Threshold::constant(1.5F)), expected),
                      "");
            kept = device.pipeline_cache();
        }
        return ignored;
    };
    EXPECT_FALSE(is_ignored({}));
    const std::vector<std::byte> whole = kept;
    EXPECT_FALSE(is_ignored(whole));
    EXPECT_EQ(kept, whole);
    std::mt19937 random(1);
    for (int i = 0; i < 40; ++i) {
        std::vector<std::byte> damaged = whole;
        damaged[random() % damaged.size()] ^= std::byte{1};
        EXPECT_TRUE(is_ignored(damaged)) << i;
        EXPECT_TRUE(is_ignored(std::span(whole).first(1 + random() % (whole.size() - 1)))) << i;
    }
    // Whole, but of another device: the sum is that of quadtile.
    std::vector<std::byte> foreign(whole.begin(), whole.end() - 8);
    foreign[8] ^= std::byte{1};  // vendorID
    std::uint64_t sum = 0xCBF29CE484222325U;
    for (const std::byte byte : foreign) {
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    const auto sum_bytes = std::as_bytes(std::span(&sum, 1));
    foreign.insert(foreign.end(), sum_bytes.begin(), sum_bytes.end());
    EXPECT_TRUE(is_ignored(foreign));
}

// A host's loader, whose layers offer VK_EXT_validation_features or not.
PFN_vkGetInstanceProcAddr loader = nullptr;
bool offers_features = true;
std::string mistake;

VkResult VKAPI_CALL enumerate_extensions(const char* layer, std::uint32_t* count,
                                         VkExtensionProperties* extensions) {
    const auto real = reinterpret_cast<PFN_vkEnumerateInstanceExtensionProperties>(
        loader(nullptr, "vkEnumerateInstanceExtensionProperties"));
    const VkResult result = real(layer, count, extensions);
    for (std::uint32_t i = 0; extensions != nullptr && !offers_features && i < *count; ++i) {
        if (extensions[i].extensionName == std::string(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
            extensions[i].extensionName[0] = '-';
        }
    }
    return result;
}
VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkInstance* instance) {
    const std::span names(info->ppEnabledExtensionNames, info->enabledExtensionCount);
    const bool is_enabled = std::ranges::any_of(names, [](const std::string& name) {
        return name == VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
    });
    const auto* const next = static_cast<const VkBaseInStructure*>(info->pNext);
    const bool is_used =
        next != nullptr && next->sType == VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    if (is_enabled != offers_features || is_used != offers_features) {
        mistake = std::string(is_used ? "used" : "not used") +
                  (is_enabled ? ", enabled" : ", not enabled");
    }
    const auto real = reinterpret_cast<PFN_vkCreateInstance>(loader(nullptr, "vkCreateInstance"));
    return real(info, callbacks, instance);
}
PFN_vkVoidFunction VKAPI_CALL hosts_entry(VkInstance instance, const char* name) {
    const std::string function = name;
    return function == "vkEnumerateInstanceExtensionProperties"
               ? reinterpret_cast<PFN_vkVoidFunction>(enumerate_extensions)
           : function == "vkCreateInstance" ? reinterpret_cast<PFN_vkVoidFunction>(create_instance)
                                            : loader(instance, name);
}

// Would catch VkValidationFeaturesEXT where its extension is missing. Calls that go around a host's
// loader fail in test/fault.
TEST_F(DeviceChoice, ValidationFeaturesAreUsedWhereTheyAreOffered) {
    loader = device_for().get_instance_proc_addr();
    const bool has_layer = Device::validation_available();
    for (const bool offered : {false, true}) {
        offers_features = offered;
        mistake.clear();
        const Device device =
            Device::create({.validation = has_layer, .get_instance_proc_addr = hosts_entry});
        EXPECT_EQ(device.get_instance_proc_addr(), hosts_entry);
        EXPECT_EQ(has_layer ? mistake : "", "") << offered;
    }
}

}  // namespace
}  // namespace quadtile::test
