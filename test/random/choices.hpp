// The named choices that make up a random case, so that a case can be printed, repeated and shrunk;
// random shapes, texels and thresholds of importance maps and images; the subjects of cases.

#pragma once

#include <quadtile/downsampler.hpp>
#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quadtile::test {

// A sequence of random words, the same on every machine (SplitMix64).
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t word();
    // Below `end`, which is above 0.
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(word() % end); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    // In [0, 1).
    float unit() { return static_cast<float>(word() >> 40U) * 0x1p-24F; }

 private:
    std::uint64_t state_;
};

// Values by name. A value that was not given is drawn from the seed and the name alone, so fixing
// one choice leaves all others as they were.
class Choices {
 public:
    struct Choice {
        std::string name;
        std::uint32_t value;
        std::uint32_t lowest;             // the simplest value: where shrinking leads to
        std::vector<std::string> labels;  // of the values from 0 on; empty for numbers

        // As the command line takes it, behind "name=".
        [[nodiscard]] std::string text() const;
    };
    using Given = std::map<std::string, std::string>;

    explicit Choices(std::uint64_t seed, Given given = {});

    // Values that are taken instead of being drawn, if they were not given and are possible.
    void prefer(Given values) { preferred_ = std::move(values); }

    // In [lowest, highest], drawn by `draw`, whose answer is clamped to that range.
    std::uint32_t number(const std::string& name, std::uint32_t lowest, std::uint32_t highest,
                         const std::function<std::uint32_t(Random&)>& draw);
    // All values are equally likely.
    std::uint32_t number(const std::string& name, std::uint32_t lowest, std::uint32_t highest);
    // The index of a label, the simplest first. Throws std::invalid_argument where a label was
    // given that is not among them.
    std::uint32_t one_of(const std::string& name, const std::vector<std::string>& labels);
    // True once in `n` cases.
    bool one_in(const std::string& name, std::uint32_t n);

    // For contents that are not worth a choice of their own.
    [[nodiscard]] Random random(const std::string& name) const;

    // Returns the choices so far, in order.
    [[nodiscard]] const std::vector<Choice>& made() const noexcept { return made_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    // The command line's words that repeat the case: its seed and its choices so far.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
    std::uint32_t add(Choice choice);
    // The text of a value that was given or is preferred; null: it is to be drawn.
    [[nodiscard]] const std::string* given(const std::string& name) const;

    std::uint64_t seed_;
    Given given_;
    Given preferred_;
    std::vector<Choice> made_;
    std::string text_;
};

// The choices of these names (default: all), as they may be given or preferred.
[[nodiscard]] Choices::Given given_of(const std::vector<Choices::Choice>& made,
                                      const std::vector<std::string>& names = {});

// ---- Contents

// Limits of a random shape.
struct ShapeLimits {
    std::uint32_t max_extent;  // texels on a side
    std::uint32_t max_layers;
    std::uint32_t max_texels;  // in all layers
};

// From one texel to the limits: small maps mostly, thin ones, extents beside powers of two. Its
// format is left as it is.
[[nodiscard]] MapShape random_shape(Choices& choices, const ShapeLimits& limits);

// One of the formats of importance maps.
[[nodiscard]] TexelFormat random_map_format(Choices& choices, const std::string& name);

// The choices of a shape. A case keeps those of the case before it, mostly: drivers allocate images
// longer than most cases take.
[[nodiscard]] const std::vector<std::string>& shape_choices();
[[nodiscard]] bool keeps_shape(const Choices& choices);

// A few values that texels and thresholds share, so that they are equal now and then: finite and
// not negative.
[[nodiscard]] std::vector<float> random_palette(const Choices& choices);

// A value of the palette, or one at the edge of what thresholds may be.
[[nodiscard]] float threshold_value(Random& random, const std::vector<float>& palette);
// A threshold by level, monotone.
[[nodiscard]] Threshold level_threshold(Random& random, const MapShape& shape,
                                        const std::vector<float>& palette);

// The texels of an image of any format, in memory as ImageView takes them. `finite`: no NaN, no
// infinity, nothing larger than 1000 nor negative, for sums and fragments.
[[nodiscard]] std::vector<std::byte> random_texels(Choices& choices, const ImageShape& shape,
                                                   const std::vector<float>& palette,
                                                   bool finite = false);

// The same for some texels of it: each is drawn anew.
void change_texels(Random& random, const ImageShape& shape, const std::vector<float>& palette,
                   std::vector<std::byte>& texels, const DirtyRectangle& rectangle,
                   bool finite = false);

// ---- Subjects: each makes a case from choices and compares quadtile with its CPU twin

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
};

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
// Lists and mip levels of a driver that lies.
[[nodiscard]] Subject lies_subject(const RandomSettings& settings);
// Bakes of small scenes against the baker's reference tracer.
[[nodiscard]] Subject bakes_subject(const RandomSettings& settings);

// The program `quadtile`, its options, files and errors against the library in this process.
[[nodiscard]] Subject programs_subject();

}  // namespace quadtile::test
