#include <quadtile/error.hpp>
#include <quadtile/threshold_function.hpp>

#include <utility>

namespace quadtile {

ThresholdFunction::ThresholdFunction(Code code)
    : function_(std::make_shared<const Code>(std::move(code))) {}

ThresholdFunction ThresholdFunction::from_glsl(std::string text) {
    if (text.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the GLSL of the threshold is empty; define float threshold(uint level, uvec2 "
                    "position, uint layer)");
    }
    return ThresholdFunction(Code{std::move(text), {}});
}

ThresholdFunction ThresholdFunction::from_compiled(std::vector<std::byte> code) {
    if (code.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    "the compiled threshold function is empty; give what compile_threshold has "
                    "made");
    }
    return ThresholdFunction(Code{{}, std::move(code)});
}

bool operator==(const ThresholdFunction& a, const ThresholdFunction& b) noexcept {
    return a.function_ == b.function_ || (a.function_->glsl == b.function_->glsl &&
                                          a.function_->compiled == b.function_->compiled);
}

}  // namespace quadtile
