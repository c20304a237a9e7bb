// The devices of a process that bake together, or the CPU reference, and their tracers.

#pragma once

#include "options.hpp"
#include "tracer.hpp"

#include "gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadtile::baker {

class Devices {
 public:
    // Opens the devices that the options name; none for --reference. The process is number
    // `process` of those of its host that do so. Throws std::runtime_error.
    void open(const Options& options, std::uint32_t process);
    // Returns the host's memory of a tracer, beside sums and radiance; none: it is on the device.
    [[nodiscard]] std::optional<std::uint64_t> tracer_bytes(const TileOptions& tiles,
                                                            std::uint64_t pool_bytes) const;
    // As baker::check_light_map, for all devices.
    void check_light_map(const Extent& light_map, std::size_t sum_count) const;

    // Makes the tracers of a scene, which must outlive them. Throws as make_gpu_tracer.
    void make_tracers(const TracedScene& scene, const TileOptions& tiles, const Options& options);
    [[nodiscard]] std::span<Tracer* const> tracers() const { return tracers_; }
    // Returns the names of all devices, a line for each.
    [[nodiscard]] std::string names() const;
    [[nodiscard]] TracerStatistics statistics() const;
    // Frees tracers and devices.
    void close();

    [[nodiscard]] std::uint32_t validation_messages() const {
        return instance_ ? instance_->validation_messages() : 0;
    }

 private:
    std::optional<app::Instance> instance_;
    std::vector<std::unique_ptr<app::Gpu>> gpus_;
    std::vector<std::unique_ptr<Tracer>> owned_;
    std::vector<Tracer*> tracers_;
};

}  // namespace quadtile::baker
