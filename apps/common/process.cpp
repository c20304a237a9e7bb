#include "process.hpp"

#include "arguments.hpp"
#include "output_file.hpp"
#include "platform.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <locale>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace {

using PathCharacter = std::filesystem::path::value_type;

// An object or the signal that takes a path out of the list owns it.
std::array<std::atomic<const PathCharacter*>, 128> removed_paths;
static_assert(std::atomic<const PathCharacter*>::is_always_lock_free);

void remove_temporary_files() {
    // The content of a folder comes behind it in the list.
    for (auto path = removed_paths.rbegin(); path != removed_paths.rend(); ++path) {
        if (const PathCharacter* const name = path->exchange(nullptr)) {
            platform::remove(name);
        }
    }
}

std::string program_name;  // of run_program

void print_error(std::string_view message) {
    std::cerr << message_line(program_name + ": error", message) << std::endl;
}

}  // namespace

int run_program(std::string_view name, std::string_view out_of_memory,
                const std::function<int()>& run) {
    program_name = name;
    const auto fail = [](std::string_view message, int status) {
        print_error(message);
        return status;
    };
    platform::prepare_process(end_by_signal);
    // Numbers are written with a point, and read so, whatever a loaded library has set.
    std::locale::global(std::locale::classic());
    try {
        try {
            return run();
        } catch (const PrintedText& printed) {
            OutputFile output = OutputFile::standard_output();
            output.write(printed.text);
            output.commit();
            return 0;
        }
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const std::exception& error) {
        return fail(is_out_of_memory(error) ? out_of_memory : error.what(), 1);
    }
}

std::filesystem::path demo_map_path() {
    return (platform::program_file().parent_path() / QUADTILE_DEMO_MAP).lexically_normal();
}

void check_validation(std::uint64_t messages) {
    if (messages > 0) {
        throw std::runtime_error("the validation layer has reported " +
                                 counted(messages, "message") + ", printed above");
    }
}

bool is_out_of_memory(const std::exception& error) {
    const auto* const system = dynamic_cast<const std::system_error*>(&error);
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           (system != nullptr && system->code() == std::errc::resource_unavailable_try_again);
}

void end_by_signal(int signal) {
    remove_temporary_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void end_at_once(std::string_view message) {
    print_error(message);
    remove_temporary_files();
    std::_Exit(1);
}

RemovedBySignal::RemovedBySignal(const std::filesystem::path& path) {
    const std::size_t size = path.native().size() + 1;
    auto name = std::make_unique<PathCharacter[]>(size);
    std::copy_n(path.c_str(), size, name.get());
    for (; place_ < removed_paths.size(); ++place_) {
        const PathCharacter* free = nullptr;
        if (removed_paths[place_].compare_exchange_strong(free, name.get())) {
            (void)name.release();
            return;
        }
    }
}

RemovedBySignal::RemovedBySignal(RemovedBySignal&& other) noexcept
    : place_(std::exchange(other.place_, removed_paths.size())) {}

RemovedBySignal::~RemovedBySignal() {
    if (place_ < removed_paths.size()) {
        delete[] removed_paths[place_].exchange(nullptr);
    }
}

namespace {

// Returns the bytes of the first character of the text, which it sets; 0: it is not valid UTF-8.
std::size_t character_size(std::string_view text, char32_t& character) {
    using Utf8 = std::codecvt<char32_t, char8_t, std::mbstate_t>;
    std::mbstate_t state{};
    const auto* const first = reinterpret_cast<const char8_t*>(text.data());
    const char8_t* next = first;
    char32_t* end = &character;
    std::use_facet<Utf8>(std::locale::classic())
        .in(state, first, first + text.size(), next, &character, &character + 1, end);
    const bool is_valid = end != &character && (character < 0xd800U || character > 0xdfffU);
    return is_valid ? static_cast<std::size_t>(next - first) : 0;
}

}  // namespace

std::string message_line(std::string_view start, std::string_view message) {
    constexpr std::string_view DIGITS = "0123456789abcdef";
    std::string line = std::string(start) + ": ";
    while (!message.empty()) {
        char32_t code = 0;
        const std::size_t size = character_size(message, code);
        const bool is_control = code < 0x20U || (code >= 0x7fU && code < 0xa0U);
        const std::string_view character = message.substr(0, size == 0 ? 1 : size);
        message.remove_prefix(character.size());
        if (character == "\n" || character == "\r" || character == "\t") {
            line += ' ';
        } else if (size != 0 && !is_control) {
            line += character;
        } else {
            for (const char c : character) {
                const auto byte = static_cast<std::uint8_t>(c);
                line += {'\\', 'x', DIGITS[byte >> 4U], DIGITS[byte & 0xfU]};
            }
        }
    }
    return line;
}

}  // namespace quadtile::app
