// The command line.

#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace terrain {

struct Options {
    std::uint32_t frames = 20;  // of the flight; the last frame is written
    std::uint32_t width = 960;  // pixels
    std::uint32_t height = 540;
    float pitch_degrees = 24.0F;  // below the horizon
    float error_pixels = 4.0F;    // largest error of a tile
    std::uint32_t seed = 8;       // the heights' seed
    std::string screenshot = "terrain.png";
    bool stitches = true;
    bool shows_tiles = false;        // in the left half of the picture
    bool counts_background = false;  // counts magenta background pixels in all frames
    bool validates = false;
};

constexpr const char* USAGE =
    "usage: terrain [--frames N] [--size WxH] [--pitch DEGREES] [--error PIXELS] [--seed N]\n"
    "               [--screenshot FILE.png] [--no-stitching] [--show-tiles]\n"
    "               [--count-background] [--validate]\n";

struct UsageError : std::runtime_error {
    using runtime_error::runtime_error;
};

// Throws UsageError.
Options parse(std::span<char* const> arguments);

}  // namespace terrain
