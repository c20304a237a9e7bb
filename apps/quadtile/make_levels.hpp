// The mip levels of one image by each method.

#pragma once

#include "commands.hpp"
#include "glsl_file.hpp"

#include <quadtile/device.hpp>
#include <quadtile/mip_chain.hpp>
#include <quadtile/mipmapper.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace quadtile::app {

struct MadeLevels {
    MipChain chain;
    std::optional<double> gpu_time_us;
};

// Refers to the image; keeps what several methods need.
class LevelMaker {
 public:
    // Opens the device unless the CPU reference alone is asked for. Throws UsageError for options
    // that contradict each other or the image.
    LevelMaker(const MipmapRequest& request, const ImageView& image);

    [[nodiscard]] TexelFormat format() const noexcept { return options_.format; }
    [[nodiscard]] std::uint32_t levels() const noexcept { return levels_; }
    [[nodiscard]] const std::string& device_name() const noexcept { return device_name_; }

    // The method that MipMethod::automatic stands for. Throws Error as `make`.
    [[nodiscard]] LevelMethod automatic();

    // By one method. Throws Error: unsupported or invalid_argument where that method cannot make
    // these levels.
    [[nodiscard]] MadeLevels make(LevelMethod method);

    // What the CPU reference makes as a method does; for blits, which are rounded as the driver
    // likes, as spd does. None for the user's own GLSL.
    [[nodiscard]] const MipChain* reference_of(LevelMethod method);

 private:
    [[nodiscard]] Mipmapper make_mipmapper(MipMethod method) const;

    ImageView image_;
    DownsamplerOptions options_;
    std::uint32_t levels_;
    GlslFile glsl_;
    std::optional<Device> device_;
    std::string device_name_ = "none (host)";
    std::optional<Mipmapper> automatic_;
    std::map<MipMethod, MipChain> references_;
};

}  // namespace quadtile::app
