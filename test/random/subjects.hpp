// Subjects of random cases: each makes a case from choices and compares quadtile with its CPU twin.

#pragma once

#include "choices.hpp"

#include <quadtile/device.hpp>

#include <atomic>
#include <functional>
#include <string>

namespace quadtile::test {

// Runs a case: one sentence on what is wrong, or empty. An exception counts as wrong, too.
using Check = std::function<std::string(Choices&)>;

// Settings of all subjects.
struct RandomSettings {
    std::uint32_t max_texels = 1U << 22U;  // of a map or image, all layers together
    bool is_short = false;                 // seconds, not minutes: few variants of a device
    std::uint64_t stretch = 1;             // cases in a row that run the same pipelines
};

// For one thread at a time.
struct Subject {
    std::string name;
    double share;               // of the time, where all subjects run
    std::uint64_t quick_cases;  // of --quick
    Check check;
    // Lists that all threads have compared so far, where a case has several; else null.
    const std::atomic<std::uint64_t>* lists = nullptr;
};

// Submits to the device's queue, which Tilers and Services of other threads use, too.
[[nodiscard]] SubmitFunction submit_to(const Device& device);

// Tile lists of all strategies, ways and variants of a device against reference::subdivide.
[[nodiscard]] Subject tiles_subject(const RandomSettings& settings);
// Lists, budgets and balances of the reference against their definition.
[[nodiscard]] Subject reference_subject();
// Lists of many maps, run back to back in one scratch buffer, against reference::subdivide.
[[nodiscard]] Subject hand_overs_subject(const RandomSettings& settings);
// Lists of many requests to a Service, from several threads, against reference::subdivide.
[[nodiscard]] Subject service_subject(const RandomSettings& settings);
// Mip levels against reference::downsample.
[[nodiscard]] Subject mips_subject(const RandomSettings& settings);
// Fitted shadow maps against reference::ShadowFitter.
[[nodiscard]] Subject shadows_subject(const RandomSettings& settings);
// Bakes of small scenes against the baker's reference tracer.
[[nodiscard]] Subject bakes_subject(const RandomSettings& settings);

// The program `quadtile`, its options, files and errors against the library in this process.
[[nodiscard]] Subject programs_subject();

}  // namespace quadtile::test
