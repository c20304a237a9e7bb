#include "command_line.hpp"
#include "expectations.hpp"
#include "fuzz_targets.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace quadtile::app::fuzz {

namespace {

std::vector<std::string> arguments_of(std::string_view bytes) {
    std::vector<std::string> arguments{"quadtile"};
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        std::string argument(bytes.substr(0, end));
        std::ranges::replace(argument, '\0', '\n');
        arguments.push_back(std::move(argument));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    return arguments;
}

void expect(bool condition, const char* what) {
    if (!condition) {
        throw std::logic_error(std::string("a request was accepted ") + what);
    }
}

// Checks what the commands assume of their requests.
void check(const TextRequest& request) {
    expect(request.text.ends_with('\n'), "for a text without an end");
}
void check(const SubdivisionRequest& request) {
    expect(request.subtree_levels >= 1 && request.subtree_levels <= MAX_SUBTREE_LEVELS,
           "with subtree levels outside their range");
    expect(!request.options.max_tiles || *request.options.max_tiles >= 1,
           "with a budget of no tiles");
    expect(!request.options.max_tiles || request.options.balance == Balance::none,
           "with a budget and a balance");
}
void check(const TilesRequest& request) {
    expect(!request.input.empty(), "without INPUT");
    expect(request.subdivision.threshold.has_value() + request.memory.has_value() +
                   request.function.has_value() ==
               1,
           "without exactly one threshold");
    expect(!request.function ||
               (!request.function->glsl.empty() &&
                request.function->parameters.size() <= Threshold::max_function_parameters),
           "without GLSL, or with too many parameters");
    expect(!request.memory || !request.memory->fragments.empty(), "without fragments");
    check(request.subdivision);
}
void check(const MipmapRequest& request) {
    expect(!request.input.empty() && !request.directory.empty(), "without IMAGE or OUTDIR");
    expect((request.reduction == Reduction::custom) == !request.glsl.empty(),
           "with GLSL and a reduction");
}
void check(const DevicesRequest& /*request*/) {}
void check(const DemoRequest& /*request*/) {}

}  // namespace

void fuzz_command_line(std::string_view bytes) {
    const std::vector<std::string> arguments = arguments_of(bytes);
    std::vector<const char*> pointers;
    pointers.reserve(arguments.size());
    for (const std::string& argument : arguments) {
        pointers.push_back(argument.c_str());
    }
    try {
        const Request request =
            parse_command_line(static_cast<int>(pointers.size()), pointers.data());
        std::visit([](const auto& accepted) { check(accepted); }, request);
    } catch (const UsageError& error) {
        check_message(error.what(), {});
        const std::string_view message = error.what();
        if (message.find("; see 'quadtile ") == std::string_view::npos ||
            !message.ends_with("--help'")) {
            throw std::logic_error("a usage error does not show the way to the help: " +
                                   std::string(message));
        }
    }
}

}  // namespace quadtile::app::fuzz
