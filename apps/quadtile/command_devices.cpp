#include "commands.hpp"
#include "output_file.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>

#include <iomanip>
#include <sstream>

namespace quadtile::app {

namespace {

std::string version_text(std::uint32_t version) {
    return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
           std::to_string(VK_API_VERSION_MINOR(version)) + "." +
           std::to_string(VK_API_VERSION_PATCH(version));
}

void describe(std::ostream& text, const DeviceInfo& info) {
    const auto line = [&](const char* name) -> std::ostream& {
        return text << "    " << std::left << std::setw(32) << name;
    };
    const auto feature = [&](const char* name, bool on) {
        line(name) << (on ? "yes" : "no") << "\n";
    };
    text << info.index << ": " << info.name << "\n";
    line("type") << info.type << "\n";
    line("driver") << info.driver << "\n";
    line("Vulkan") << version_text(info.api_version) << "\n";
    line("subgroup size") << info.subgroup_size << "\n";
    feature("subgroup operations", info.features.subgroup_operations);
    feature("min/max sampler", info.features.sampler_minmax);
    feature("storage image dynamic indexing", info.features.storage_image_dynamic_indexing);
    feature("timestamps", info.timestamps);
    line("largest map") << info.max_map_extent << " x " << info.max_map_extent << " texels, "
                        << info.max_layers << " layers\n";
    line("longest tile list") << info.max_tiles << " tiles\n";
    line("device memory") << (info.local_memory_bytes >> 20U) << " MiB\n";
    for (const std::string& rejection : info.rejections) {
        line("passed over") << rejection << "\n";
    }
}

}  // namespace

void run(const DevicesRequest& /*request*/) {
    const std::vector<DeviceInfo> devices = Device::enumerate();
    std::ostringstream text;
    for (const DeviceInfo& info : devices) {
        describe(text, info);
    }
    OutputFile output = OutputFile::standard_output();
    output.write(text.str());
    // Throws where there is none to choose.
    const DeviceInfo chosen = Device::create().info();
    output.write("chosen: " + std::to_string(chosen.index) + " (" + chosen.name + ")\n");
    output.commit();
}

}  // namespace quadtile::app
