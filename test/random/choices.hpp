// The named choices that make up a random case, so that a case can be printed, repeated and shrunk.

#pragma once

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

}  // namespace quadtile::test
