// Definition and parsing of a program's command line with CLI11.

#pragma once

#include "arguments.hpp"
#include "platform.hpp"

// Before CLI11, whose own conversion takes the code page of Windows; arguments are UTF-8.
namespace CLI::detail {
inline bool lexical_cast(const std::string& text, std::filesystem::path& path) {
    path = quadtile::app::path_of(text);
    return true;
}
}  // namespace CLI::detail

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadtile::app {

[[nodiscard]] inline CLI::Validator satisfying(const Check& check) {
    return {[check](std::string& text) { return check(text); }, ""};
}
// Checks a range, both ends included.
template <std::integral Number>
[[nodiscard]] CLI::Validator within(Number low, Number high) {
    return satisfying(
        whole_between(static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)));
}
[[nodiscard]] inline CLI::Validator within(float low, float high) {
    return satisfying(float_between(low, high));
}
[[nodiscard]] inline CLI::Validator one_of(const std::vector<std::string>& names) {
    return satisfying([names](const std::string& text) {
        return std::ranges::find(names, text) != names.end()
                   ? std::string()
                   : "'" + text + "' is none of " + CLI::detail::join(names, ", ");
    });
}

// Ends the headings of options that --help leaves out and --help-all prints.
constexpr std::string_view RARE_OPTIONS = ", rarely needed";

// A heading of the help and the options below it.
class OptionGroup {
 public:
    OptionGroup(CLI::App& app, std::string heading) : app_(app), heading_(std::move(heading)) {}

    // For options of the same kind that are rarely needed.
    [[nodiscard]] OptionGroup rare() const {
        if (app_.get_help_all_ptr() == nullptr) {
            app_.set_help_all_flag("--help-all", "Print the options that are rarely needed, too");
        }
        return {app_, heading_ + std::string(RARE_OPTIONS)};
    }

    // `type`: the value as the help shows it. Lists are one argument with commas.
    template <typename Value>
    CLI::Option* add(const std::string& option, Value& value, const std::string& type,
                     const std::string& description, const CLI::Validator& check = {}) {
        CLI::Option* const added = app_.add_option(option, value, description)
                                       ->type_name(type)
                                       ->check(check)
                                       ->group(heading_);
        if constexpr (std::is_same_v<Value, std::vector<float>>) {
            take_list(*added);
        }
        return added;
    }
    template <typename Number, std::size_t COUNT>
    CLI::Option* add(const std::string& option, std::array<Number, COUNT>& values,
                     const std::string& type, const std::string& description,
                     const CLI::Validator& check = {}) {
        const auto take = [&values, option, type](const std::vector<Number>& given) {
            if (given.size() != COUNT) {
                throw CLI::ValidationError(option, "needs " + std::to_string(COUNT) + " numbers, " +
                                                       type + ", not " +
                                                       std::to_string(given.size()));
            }
            std::ranges::copy(given, values.begin());
        };
        CLI::Option* const added =
            app_.add_option_function<std::vector<Number>>(option, take, description)
                ->type_name(type)
                ->check(check)
                ->group(heading_);
        take_list(*added);
        return added;
    }
    // Adds an option with a table of Named; the variable receives the value of the given name.
    template <typename Variable, typename Table>
    CLI::Option* add_choice(const std::string& option, Variable& variable, const Table& table,
                            const std::string& type, const std::string& description) {
        return app_
            .add_option_function<std::string>(
                option,
                [&variable, &table](const std::string& name) { variable = value_in(table, name); },
                description)
            ->type_name(type)
            ->check(one_of(names_in(table)))
            ->group(heading_);
    }
    CLI::Option* add_flag(const std::string& option, const std::string& description) {
        return app_.add_flag(option)->description(description)->group(heading_);
    }
    CLI::Option* add_flag(const std::string& option, bool& flag, const std::string& description) {
        return app_.add_flag(option, flag, description)->group(heading_);
    }

 private:
    static void take_list(CLI::Option& option) {
        option.delimiter(',')->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }

    CLI::App& app_;
    std::string heading_;
};

// Returns which of these options was given; empty: none. Options that the program does not have
// count as not given. Throws UsageError for two.
[[nodiscard]] inline std::string only_one_of(const CLI::App& app,
                                             std::initializer_list<const char*> options) {
    std::string given;
    for (const char* const option : options) {
        const CLI::Option* const known = app.get_option_no_throw(option);
        if (known == nullptr || known->count() == 0) {
            continue;
        }
        if (!given.empty()) {
            throw UsageError(given + " and " + option + " exclude each other; give one of them");
        }
        given = option;
    }
    return given;
}

// As check_files(files). Also throws UsageError for an option that was given without a name.
inline void check_files(const CLI::App& app, const std::vector<FileArgument>& files) {
    for (const FileArgument& file : files) {
        const CLI::Option* const option = app.get_option_no_throw(file.name);
        if (file.path.empty() && option != nullptr && option->count() > 0) {
            throw UsageError(file.name + " needs a file name");
        }
    }
    check_files(files);
}

// Formats the help in lines of 100 columns, with "default: X" after an option's purpose, where
// CLI11 has it before.
class HelpFormatter : public CLI::Formatter {
 public:
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        prints_rare_ = mode == CLI::AppFormatMode::All;
        std::string help = Formatter::make_help(app, std::move(name), mode);
        while (help.find("\n\n\n") != std::string::npos) {  // where groups are left out
            help = CLI::detail::find_and_replace(help, "\n\n\n", "\n\n");
        }
        return help;
    }
    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override {
        return group.ends_with(RARE_OPTIONS) && !prints_rare_
                   ? std::string()
                   : Formatter::make_group(std::move(group), is_positional, std::move(options));
    }
    std::string make_option(const CLI::Option* option, bool is_positional) const override {
        constexpr std::size_t COLUMNS = 100;
        std::string names = "  " + CLI::detail::find_and_replace(
                                       make_option_name(option, is_positional), "{false}", "");
        if (!is_positional && option->get_type_size() != 0 && !option->get_type_name().empty()) {
            names += " " + option->get_type_name();
        }
        std::string text = option->get_description();
        if (!is_positional && option->get_required()) {
            text += "; required";
        }
        if (!option->get_default_str().empty() && text.find("default") == std::string::npos) {
            text += "; default: " + option->get_default_str();
        }
        std::string lines;
        if (names.size() + 1 > get_column_width()) {
            lines = std::exchange(names, "") + "\n";
        }
        std::string line = names;
        line.resize(get_column_width(), ' ');
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            const bool is_first = line.size() == get_column_width();
            if (!is_first && line.size() + 1 + word.size() > COLUMNS) {
                lines += line + "\n";
                line.assign(get_column_width(), ' ');
            } else if (!is_first) {
                line += " ";
            }
            line += word;
        }
        return lines + line + "\n";
    }

 private:
    mutable bool prints_rare_ = false;  // in the help that is made
};

// Returns the error for arguments that no option or command takes: for unknown options only,
// because their values are unknown too.
[[nodiscard]] inline std::string text_of_unknown(const CLI::App& app) {
    const std::vector<std::string> arguments = app.remaining(true);
    std::vector<std::string> options;
    std::ranges::copy_if(arguments, std::back_inserter(options),
                         [](const std::string& text) { return text.starts_with('-'); });
    if (!options.empty()) {
        return (options.size() == 1 ? "unknown option " : "unknown options ") +
               CLI::detail::join(options, ", ");
    }
    if (app.get_subcommands().empty() && !app.get_subcommands({}).empty()) {
        return "unknown command '" + arguments.front() + "'";
    }
    return "unexpected argument '" + CLI::detail::join(arguments, "', '") + "'";
}

// Returns the result of `read` after the arguments are parsed. Throws UsageError, which names
// --help, for wrong arguments and for runtime errors of `read`; PrintedText for --help and
// --version.
template <typename Read>
[[nodiscard]] auto parse_arguments(CLI::App& app, int argc, const char* const* argv, Read&& read) {
    const auto formatter = std::make_shared<HelpFormatter>();
    app.formatter(formatter);
    app.allow_windows_style_options(false);  // /map.exr is a path
    for (CLI::App* const command : app.get_subcommands({})) {
        command->formatter(formatter);
        command->allow_windows_style_options(false);
    }
    try {
        try {
            app.parse(argc, argv);
        } catch (const CLI::ExtrasError&) {
            throw UsageError(text_of_unknown(app));
        } catch (const CLI::ArgumentMismatch& error) {
            // "--size: 1 required WxH missing"
            const std::string text = error.what();
            const std::size_t mark = text.find(": 1 required ");
            throw UsageError(mark == std::string::npos ? text
                                                       : text.substr(0, mark) + " needs a value");
        }
        return read();
    } catch (const CLI::CallForVersion& version) {
        throw PrintedText{std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        throw PrintedText{app.help()};
    } catch (const CLI::CallForAllHelp&) {
        throw PrintedText{app.help("", CLI::AppFormatMode::All)};
    } catch (const std::runtime_error& error) {  // CLI::ParseError, UsageError or Error
        std::string program = app.get_name();
        for (const CLI::App* const command : app.get_subcommands()) {
            program += " " + command->get_name();
        }
        throw UsageError(std::string(error.what()) + "; see '" + program + " --help'");
    }
}

}  // namespace quadtile::app
