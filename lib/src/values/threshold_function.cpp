#include <quadtile/error.hpp>
#include <quadtile/threshold_function.hpp>

#include <utility>

namespace quadtile {

// A text or code; the other is empty.
struct ThresholdFunction::Code {
    std::string glsl;
    std::vector<std::byte> compiled;

    friend bool operator==(const Code&, const Code&) = default;
};

ThresholdFunction::ThresholdFunction(std::shared_ptr<const Code> code) : code_(std::move(code)) {}

ThresholdFunction ThresholdFunction::from_glsl(std::string text) {
    if (text.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the GLSL of the threshold is empty; define float threshold(uint level, uvec2 "
                    "position, uint layer)");
    }
    return ThresholdFunction(std::make_shared<const Code>(Code{std::move(text), {}}));
}

ThresholdFunction ThresholdFunction::from_compiled(std::vector<std::byte> code) {
    if (code.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the compiled threshold function is empty; give what compile_threshold has "
                    "made");
    }
    return ThresholdFunction(std::make_shared<const Code>(Code{{}, std::move(code)}));
}

const std::string& ThresholdFunction::glsl() const noexcept {
    return code_->glsl;
}

std::span<const std::byte> ThresholdFunction::compiled() const noexcept {
    return code_->compiled;
}

bool operator==(const ThresholdFunction& a, const ThresholdFunction& b) noexcept {
    return a.code_ == b.code_ || *a.code_ == *b.code_;
}

}  // namespace quadtile
