#include "process.hpp"

#include "arguments.hpp"
#include "counted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <locale>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace {

// Paths allocated by strdup. An object or the signal that takes one out of the list owns it.
std::array<std::atomic<char*>, 128> removed_paths;
static_assert(std::atomic<char*>::is_always_lock_free);

void prepare_process() {
    // Numbers are written with a point, and read so, whatever a loaded library has set.
    std::locale::global(std::locale::classic());
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        if (std::signal(signal, end_by_signal) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) < 0) {
            ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

}  // namespace

int run_program(std::string_view name, std::string_view out_of_memory,
                const std::function<int()>& run) {
    const auto fail = [&](std::string_view message, int status) {
        std::cerr << message_line(std::string(name) + ": error", message) << std::endl;
        return status;
    };
    prepare_process();
    try {
        return run();
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const PrintedText& printed) {
        std::cout << printed.text;
        return 0;
    } catch (const std::exception& error) {
        return fail(is_out_of_memory(error) ? out_of_memory : error.what(), 1);
    }
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
    // The content of a folder comes behind it in the list.
    for (auto path = removed_paths.rbegin(); path != removed_paths.rend(); ++path) {
        const char* const name = path->exchange(nullptr);
        if (name != nullptr && ::unlink(name) != 0) {
            ::rmdir(name);
        }
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

RemovedBySignal::RemovedBySignal(const std::filesystem::path& path) {
    char* const name = ::strdup(path.c_str());
    for (; place_ < removed_paths.size(); ++place_) {
        char* free = nullptr;
        if (removed_paths[place_].compare_exchange_strong(free, name)) {
            return;
        }
    }
    std::free(name);
}

RemovedBySignal::RemovedBySignal(RemovedBySignal&& other) noexcept
    : place_(std::exchange(other.place_, removed_paths.size())) {}

RemovedBySignal::~RemovedBySignal() {
    if (place_ < removed_paths.size()) {
        std::free(removed_paths[place_].exchange(nullptr));
    }
}

namespace {

// Returns the bytes of the first character of the text; 0: it is not valid UTF-8.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (byte(0) < 0x80U) {
        return 1;
    }
    struct Form {
        unsigned int mask;  // bits of the first byte that give the size
        unsigned int first;
        std::uint32_t least;  // smaller characters have a shorter form
    };
    constexpr std::array<Form, 3> FORMS{
        {{0xe0U, 0xc0U, 0x80U}, {0xf0U, 0xe0U, 0x800U}, {0xf8U, 0xf0U, 0x10000U}}};
    for (std::size_t size = 2; size <= 4; ++size) {
        const Form& form = FORMS[size - 2];
        if ((byte(0) & form.mask) != form.first) {
            continue;
        }
        if (text.size() < size) {
            return 0;
        }
        std::uint32_t character = byte(0) & ~form.mask;
        for (std::size_t i = 1; i < size; ++i) {
            if ((byte(i) & 0xc0U) != 0x80U) {
                return 0;
            }
            character = (character << 6U) | (byte(i) & 0x3fU);
        }
        const bool surrogate = character >= 0xd800U && character <= 0xdfffU;
        return character < form.least || character > 0x10ffffU || surrogate ? 0 : size;
    }
    return 0;
}

// Returns whether a valid character is one of U+0000 to U+001F and U+007F to U+009F.
bool is_control(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character[0]);
    return first < 0x20U || first == 0x7fU ||
           (first == 0xc2U && static_cast<std::uint8_t>(character[1]) < 0xa0U);
}

}  // namespace

std::string message_line(std::string_view start, std::string_view message) {
    constexpr std::string_view DIGITS = "0123456789abcdef";
    std::string line = std::string(start) + ": ";
    while (!message.empty()) {
        const std::size_t size = character_size(message);
        const std::string_view character = message.substr(0, size == 0 ? 1 : size);
        message.remove_prefix(character.size());
        if (character == "\n" || character == "\r" || character == "\t") {
            line += ' ';
        } else if (size != 0 && !is_control(character)) {
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
