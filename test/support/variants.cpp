#include "support/variants.hpp"

#include "device/device_context.hpp"

#include "support/gpu.hpp"
#include "support/guarded_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace quadtile::test {

namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

std::mutex devices_mutex;

std::map<std::string, Device>& devices() {
    static std::map<std::string, Device> instance;
    return instance;
}

using TilerKey = std::tuple<std::string, Strategy, std::uint32_t>;

std::map<TilerKey, Tiler>& tilers() {
    thread_local std::map<TilerKey, Tiler> instance;
    return instance;
}

DeviceOptions options_for(const Variant& variant) {
    DeviceOptions options;
    options.get_instance_proc_addr = guarded_memory::entry();
    const char* const validation = std::getenv("QUADTILE_VALIDATION");
    options.validation =
        has_validation_layer() && (validation == nullptr || std::string(validation) != "0");
    options.disabled = variant.disabled;
    options.log = [](Severity severity, std::string_view message) {
        if (severity == Severity::info) {  // an exception of a log must end neither call nor lane
            throw std::runtime_error("the log does not want this");
        }
        const std::lock_guard lock(messages_mutex);
        messages.emplace_back(message);
    };
    return options;
}

}  // namespace

void release_devices() {
    tilers().clear();
    devices().clear();
}

const std::vector<Variant>& all_variants() {
    static const std::vector<Variant> variants{
        {"as the device is", {}, {}},
        // Reach: tile lists of 4 x 4096 tiles, pyramids of 4 x 32768 floats. Images: Vulkan
        // guarantees no more; one if they cannot be indexed at run time.
        {"with everything off",
         {.subgroup_operations = true, .sampler_minmax = true, .hand_over = true},
         {.max_workgroup_count = 7,
          .max_storage_buffer_range_bytes = 128 * 1024,
          .max_storage_images = 4}},
    };
    return variants;
}

const Device& device_for(const Variant& variant) {
    const std::lock_guard lock(devices_mutex);
    const auto found = devices().find(variant.name);
    if (found != devices().end()) {
        return found->second;
    }
    const Device device = Device::create(options_for(variant));
    const auto& [workgroups, range_bytes, images] = variant.limits;
    device.context()->set_limits({workgroups, range_bytes, images});
    return devices().emplace(variant.name, device).first->second;
}

SubmitFunction submit_to(const Device& device) {
    return [context = device.context()](const VkSubmitInfo& work, VkFence fence) {
        context->submit(vk::SubmitInfo(work), vk::Fence(fence));  // throws where it fails
        return VK_SUCCESS;
    };
}

Tiler& tiler_for(const Variant& variant, Strategy strategy, std::uint32_t subtree_levels) {
    return tilers()
        .try_emplace(
            {variant.name, strategy, subtree_levels}, device_for(variant),
            TilerOptions{
                .strategy = strategy, .subtree_levels = subtree_levels, .gpu_timeout = GPU_TIMEOUT})
        .first->second;
}

bool loses_infinities(const Device& device, TexelFormat format) {
    const bool is_half = format == TexelFormat::r16_float || format == TexelFormat::rg16_float ||
                         format == TexelFormat::rgba16_float;
    return is_half && device.info().name.find("SwiftShader") != std::string::npos;
}

std::vector<std::string> take_validation_messages() {
    const std::lock_guard lock(messages_mutex);
    std::ranges::move(guarded_memory::take_mistakes(), std::back_inserter(messages));
    return std::exchange(messages, {});
}

std::string text_of(const MapShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.layers);
}

std::string text_of(Strategy strategy) {
    constexpr const char* NAMES[] = {"automatic", "reference", "subtree", "fused"};
    return NAMES[static_cast<int>(strategy)];
}

std::string text_of(const Tile& tile) {
    std::ostringstream text;
    text.precision(9);
    text << "(level " << tile.level() << ", x " << tile.x() << ", y " << tile.y() << ", layer "
         << tile.layer() << ", flags " << tile.flags() << ", importance " << tile.importance
         << ", threshold " << tile.threshold << ")";
    return text.str();
}

std::string difference(std::span<const Tile> actual, std::span<const Tile> expected) {
    if (actual.size() != expected.size()) {
        return std::to_string(actual.size()) + " tiles instead of " +
               std::to_string(expected.size());
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::memcmp(&actual[i], &expected[i], sizeof(Tile)) != 0) {
            return "tile " + std::to_string(i) + " is " + text_of(actual[i]) + " instead of " +
                   text_of(expected[i]);
        }
    }
    return {};
}

std::string difference(const TileList& actual, const TileList& expected) {
    std::string text = difference(actual.tiles, expected.tiles);
    if (text.empty() && actual.nan_texels != expected.nan_texels) {
        text = std::to_string(actual.nan_texels) + " NaN texels instead of " +
               std::to_string(expected.nan_texels);
    }
    if (text.empty() && actual.threshold_factor != expected.threshold_factor) {
        text = "a factor of " + std::to_string(actual.threshold_factor) + " instead of " +
               std::to_string(expected.threshold_factor);
    }
    return text;
}

}  // namespace quadtile::test
