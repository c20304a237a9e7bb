#include <quadtile/error.hpp>
#include <quadtile/threshold.hpp>

#include "refuse.hpp"

#include <utility>

namespace quadtile {

ThresholdFunction::ThresholdFunction(std::shared_ptr<const std::string> text)
    : text_(std::move(text)) {}

ThresholdFunction ThresholdFunction::from_glsl(std::string text) {
    if (text.empty()) {
        detail::refuse(
            "the GLSL of the threshold is empty; define float threshold(uint level, uvec2 "
            "position, uint layer)");
    }
    return ThresholdFunction(std::make_shared<const std::string>(std::move(text)));
}

const std::string& ThresholdFunction::glsl() const noexcept {
    return *text_;
}

bool operator==(const ThresholdFunction& a, const ThresholdFunction& b) noexcept {
    return a.text_ == b.text_ || *a.text_ == *b.text_;
}

}  // namespace quadtile
