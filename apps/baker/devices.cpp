#include "devices.hpp"

#include "gpu_tracer.hpp"
#include "parallel.hpp"
#include "reference_tracer.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace quadtile::baker {

void Devices::open(const Options& options, std::uint32_t process) {
    if (options.reference || !traces(options)) {
        return;
    }
    instance_.emplace("quadtile-bake", std::span<const char* const>(), options.validation);
    gpus_.resize(options.gpus);
    const auto open_one = [&](std::size_t i) {
        gpus_[i] = std::make_unique<app::Gpu>(*instance_, options.device, vk::SurfaceKHR(),
                                              std::size_t{process} * options.gpus + i);
    };
    open_one(0);
    if (const std::size_t choices = gpus_[0]->choices(); options.gpus > choices) {
        throw std::runtime_error("--gpus " + std::to_string(options.gpus) + ": there " +
                                 (choices == 1
                                      ? "is one such device"
                                      : "are " + std::to_string(choices) + " such devices") +
                                 "; give a smaller number, or choose others with --device (see "
                                 "'quadtile devices')");
    }
    parallel_for(options.gpus - 1, options.gpus, [&](std::size_t i) { open_one(i + 1); });
}

std::optional<std::uint64_t> Devices::tracer_bytes(const TileOptions& tiles,
                                                   std::uint64_t pool_bytes) const {
    if (gpus_.empty()) {
        return 0;
    }
    return gpus_[0]->physical_device().getProperties().deviceType == vk::PhysicalDeviceType::eCpu
               ? std::optional(gpu_tracer_bytes(tiles, pool_bytes))
               : std::nullopt;
}

void Devices::check_light_map(const Extent& light_map, std::size_t sum_count) const {
    for (const std::unique_ptr<app::Gpu>& gpu : gpus_) {
        baker::check_light_map(*gpu, light_map, sum_count);
    }
}

void Devices::make_tracers(const TracedScene& scene, const TileOptions& tiles,
                           const Options& options) {
    owned_.resize(std::max<std::size_t>(gpus_.size(), 1));
    parallel_for(owned_.size(), options.gpus, [&](std::size_t i) {
        owned_[i] = gpus_.empty() ? make_reference_tracer(scene, tiles, options.threads)
                                  : make_gpu_tracer(*gpus_[i], scene, tiles,
                                                    {.pool_bytes = options.pool_bytes});
    });
    std::ranges::transform(owned_, std::back_inserter(tracers_),
                           [](const std::unique_ptr<Tracer>& tracer) { return tracer.get(); });
}

std::string Devices::names() const {
    std::string names;
    std::ranges::for_each(owned_, [&](const auto& of) { names += of->device_name() + "\n"; });
    return names;
}

TracerStatistics Devices::statistics() const {
    TracerStatistics all;
    std::ranges::for_each(owned_, [&](const auto& of) { all.add(of->statistics()); });
    return all;
}

void Devices::close() {
    tracers_.clear();
    owned_.clear();
    gpus_.clear();
}

}  // namespace quadtile::baker
