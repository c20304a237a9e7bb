#include "glsl/glsl_compiler.hpp"

#include <quadtile/error.hpp>

#include "values/refuse.hpp"

namespace quadtile::detail {

namespace {

[[noreturn]] void refuse(const UserSource& user, const std::string& messages) {
    const std::string text = valid_utf8(messages);
    throw Error(ErrorCode::invalid_argument,
                "the GLSL of " + user.display_name + " does not compile:\n" + text +
                    (text == messages
                         ? ""
                         : "\n(GLSL is ASCII outside of comments. Delete the other letters: a byte "
                           "order mark, a no-break space, a typographic quote?)"));
}

// Returns "line 3 of the user's text" in the form of the compiler's messages.
std::string message_at(const UserSource& user, std::size_t line, std::string_view message) {
    return user.display_name + (line != 0 ? ':' + std::to_string(line) : std::string()) +
           ": error: " + std::string(message);
}

}  // namespace

void refuse_at(const UserSource& user, std::size_t line, std::string_view message) {
    refuse(user, message_at(user, line, message));
}

}  // namespace quadtile::detail

#if QUADTILE_RUNTIME_GLSL

#include <shaderc/shaderc.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace quadtile::detail {

namespace {

// A source text. `name` is the name in a kernel's #include, or the kernel's file name.
struct KernelSource {
    std::string_view name;
    std::string_view text;
};

#include "kernel_sources.inc"

constexpr std::size_t MAX_MESSAGES = 5;

std::optional<std::string_view> find_source(std::string_view name) {
    const auto* const found = std::ranges::find(KERNEL_SOURCES, name, &KernelSource::name);
    if (found == std::end(KERNEL_SOURCES)) {
        return std::nullopt;
    }
    return found->text;
}

std::size_t line_at(std::string_view text, std::size_t place) {
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, place), '\n'));
}

// Refuses texts that no compiler should see.
void check_text(const UserSource& user) {
    const std::size_t nul = user.text.find('\0');
    if (nul != std::string::npos) {
        refuse_at(user, line_at(user.text, nul), "the line has a NUL byte");
    }
    if (user.text.size() > MAX_USER_TEXT_BYTES) {
        refuse_at(user, 0,
                  joined("the text has ", user.text.size(), " bytes, at most ", MAX_USER_TEXT_BYTES,
                         " are compiled; shorten it"));
    }
}

// Resolves a kernel's includes: the user's text by its name, others among the embedded sources.
class Includer : public shaderc::CompileOptions::IncluderInterface {
 public:
    explicit Includer(const UserSource& user) : user_(user) {}

    shaderc_include_result* GetInclude(const char* requested, shaderc_include_type type,
                                       const char* requesting, std::size_t /*depth*/) override {
        auto include = std::make_unique<Include>();
        if (requested == user_.include_name) {
            include->is_user = true;
            if (user_open_) {
                include->text = "a text cannot include itself;";
            } else {
                include->name = user_.include_name;
                // Text after the include must begin on a line of its own, also after a backslash.
                include->text = user_.text + "\n\n";
                user_open_ = true;
            }
        } else {
            resolve(*include, requested, type, requesting);
        }
        include->result = {include->name.data(), include->name.size(), include->text.data(),
                           include->text.size(), include.get()};
        return &include.release()->result;
    }

    void ReleaseInclude(shaderc_include_result* result) override {
        const std::unique_ptr<Include> include(static_cast<Include*>(result->user_data));
        if (include->is_user && !include->name.empty()) {
            user_open_ = false;
        }
    }

 private:
    struct Include {
        std::string name;  // empty: not found, and the text is the reason
        std::string text;
        bool is_user = false;
        shaderc_include_result result;
    };

    static void resolve(Include& include, const std::string& requested, shaderc_include_type type,
                        const std::string& requesting) {
        std::vector<std::string> names{requested};
        if (type == shaderc_include_type_relative) {
            // In the same folder first; a name without a slash has no folder.
            names.insert(names.begin(),
                         requesting.substr(0, requesting.rfind('/') + 1) + requested);
        }
        for (const std::string& name : names) {
            if (const auto text = find_source(name)) {
                include.name = name;
                include.text = *text;
                return;
            }
        }
        include.text = "quadtile has no such header";
    }

    const UserSource& user_;
    bool user_open_ = false;
};

struct Message {
    std::string place;  // "subtree.comp:7", or "subtree.comp" for errors of the whole file
    std::string text;
};

// Returns the errors among the compiler's messages.
std::vector<Message> errors_of(std::string_view messages, const std::string& kernel_name) {
    constexpr std::string_view MARK = ": error: ";
    const std::string detail_start = kernel_name + ":     ";
    std::vector<Message> errors;
    while (!messages.empty()) {
        const std::string_view line = messages.substr(0, messages.find('\n'));
        messages.remove_prefix(std::min(line.size() + 1, messages.size()));
        const std::size_t mark = line.find(MARK);
        if (mark != std::string_view::npos) {
            errors.push_back(
                {std::string(line.substr(0, mark)), std::string(line.substr(mark + MARK.size()))});
        } else if (line.starts_with(detail_start) && !errors.empty()) {
            errors.back().text += ' ' + std::string(line.substr(detail_start.size()));
        }
    }
    return errors;
}

// Translates the compiler's errors for the author of the user's text.
std::string retell(const std::string& messages, const std::string& kernel_name,
                   const UserSource& user) {
    const std::size_t last_line = line_at(user.text, user.text.find_last_not_of(" \t\r\n") + 1);
    std::vector<std::string> in_text;
    std::vector<std::string> behind;
    for (const auto& [place, text] : errors_of(messages, kernel_name)) {
        if (place.starts_with(user.include_name + ':')) {
            in_text.push_back(user.display_name + place.substr(user.include_name.size()) +
                              ": error: " + text);
        } else if (place == kernel_name) {
            in_text.push_back(user.display_name + ": error: " + text);
        } else {
            // In the kernel's own text, which compiles if the user's is right.
            behind.push_back(
                message_at(user, last_line, "only where " + place + " uses this text: " + text));
        }
    }
    if (in_text.empty() && behind.empty()) {
        return messages;
    }
    // Errors after the text mostly follow from errors in it.
    const std::vector<std::string>& told = in_text.empty() ? behind : in_text;
    std::string result = told.front();
    for (std::size_t i = 1; i < std::min(told.size(), MAX_MESSAGES); ++i) {
        result += '\n' + told[i];
    }
    if (told.size() > MAX_MESSAGES) {
        result += "\nand " + std::to_string(told.size() - MAX_MESSAGES) + " more";
    }
    if (in_text.empty()) {
        result +=
            "\n(Is a bracket left open, or has the function that the kernel calls another name or "
            "other arguments here?)";
    }
    return result;
}

}  // namespace

std::vector<std::uint32_t> compile_kernel(const std::string& kernel, const Macros& macros,
                                          const UserSource& user, CodeForm form) {
    const std::string name = kernel + ".comp";
    const auto text = find_source(name);
    if (!text) {
        detail::refuse("there is no kernel ", kernel);
    }
    return compile_glsl(name, std::string(*text), macros, user, form);
}

std::vector<std::uint32_t> compile_glsl(const std::string& name, const std::string& text,
                                        const Macros& macros, const UserSource& user,
                                        CodeForm form) {
    check_text(user);

    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    if (form == CodeForm::optimised) {
        options.SetOptimizationLevel(shaderc_optimization_level_performance);
    }
    for (const auto& [macro, value] : macros) {
        options.AddMacroDefinition(macro, value);
    }
    options.SetIncluder(std::make_unique<Includer>(user));

    // Static, because the first use builds its tables, which takes longer than compiling a kernel.
    static const auto& compiler = *new shaderc::Compiler;
    const auto result =
        compiler.CompileGlslToSpv(text, shaderc_compute_shader, name.c_str(), options);
    if (result.GetCompilationStatus() != shaderc_compilation_status_success) {
        refuse(user, retell(result.GetErrorMessage(), name, user));
    }
    return {result.begin(), result.end()};
}

}  // namespace quadtile::detail

#else

namespace quadtile::detail {

std::vector<std::uint32_t> compile_kernel(const std::string& /*kernel*/, const Macros& /*macros*/,
                                          const UserSource& /*user*/, CodeForm /*form*/) {
    cannot(
        "this build of quadtile has no run-time GLSL compiler (QUADTILE_RUNTIME_GLSL=OFF); build "
        "it with QUADTILE_RUNTIME_GLSL=ON");
}

}  // namespace quadtile::detail

#endif
