// How a program defines its command line and reads it, with CLI11.

#pragma once

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace quadtile::app {

// Both ends included.
template <typename Number>
[[nodiscard]] CLI::Validator within(Number low, Number high) {
    return CLI::Range(low, high).description("");
}
[[nodiscard]] inline CLI::Validator satisfying(const Check& check) {
    return {[check](std::string& text) { return check(text); }, ""};
}
[[nodiscard]] inline CLI::Validator within(float low, float high) {
    return satisfying(float_between(low, high));
}
template <typename Names>
[[nodiscard]] CLI::Validator one_of(const Names& names) {
    return CLI::IsMember(names).description("");
}

// A heading of the help and the options below it.
class OptionGroup {
 public:
    OptionGroup(CLI::App& app, std::string heading) : app_(app), heading_(std::move(heading)) {}

    // `type`: what the help shows for the value. Lists of numbers are one argument, with commas
    // between them.
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
    // One of the names in a table of Named; the variable takes its value.
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

// Which of these options was given; empty: none. What the program does not have counts as not
// given. Throws UsageError for two.
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

// What `read` returns after the arguments are parsed. Throws UsageError, which names --help, for
// arguments that are wrong and for runtime errors of `read`; PrintedText for --help and --version.
template <typename Read>
[[nodiscard]] auto parse_arguments(CLI::App& app, int argc, const char* const* argv, Read&& read) {
    try {
        app.parse(argc, argv);
        return read();
    } catch (const CLI::CallForVersion& version) {
        throw PrintedText{std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        throw PrintedText{app.help()};
    } catch (const std::runtime_error& error) {  // CLI::ParseError, UsageError or Error
        std::string program = app.get_name();
        for (const CLI::App* const command : app.get_subcommands()) {
            program += " " + command->get_name();
        }
        throw UsageError(std::string(error.what()) + "; see '" + program + " --help'");
    }
}

}  // namespace quadtile::app
