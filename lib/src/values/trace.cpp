#include <quadtile/error.hpp>
#include <quadtile/trace.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>

namespace quadtile {

namespace {

using Clock = std::chrono::steady_clock;

// Length of the UTF-8 character at the front, 0 where there is none.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80U                       ? 1
                               : byte(0) >= 0xC2U && byte(0) < 0xE0U ? 2
                               : (byte(0) & 0xF0U) == 0xE0U          ? 3
                               : byte(0) >= 0xF0U && byte(0) < 0xF5U ? 4
                                                                     : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length;
}

std::string quoted(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        const char first = text[0];
        if (length == 0) {
            json += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            json += '\\';
            json += first;
        } else if (static_cast<unsigned char>(first) < 0x20U) {
            std::array<char, 8> escape{};
            (void)std::snprintf(escape.data(), escape.size(), "\\u%04x",
                                static_cast<unsigned>(first));
            json += escape.data();
        } else {
            json += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    json += '"';
    return json;
}

// Of members whose values are JSON.
using Members = std::vector<std::pair<std::string, std::string>>;

std::string object(const Members& members) {
    std::string json = "{";
    for (const auto& [name, value] : members) {
        json += json.size() > 1 ? "," : "";
        json += quoted(name);
        json += ':';
        json += value;
    }
    json += '}';
    return json;
}

// Chrome counts in microseconds.
std::string microseconds(Clock::duration time) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.3f",
                        std::chrono::duration<double, std::micro>(time).count());
    return text.data();
}

}  // namespace

struct TraceFile::Impl {
    std::mutex mutex;
    std::string path;
    std::ofstream file;
    bool is_open = true;
    bool is_first = true;
    Clock::time_point zero;
    std::map<std::string, std::string> tracks;

    void write(Members members) {
        members.emplace_back("pid", "1");
        file << (is_first ? "[\n" : ",\n") << object(members);
        is_first = false;
    }

    // A track's number; its name is written before it is first used.
    std::string number_of(const std::string& track) {
        const auto [known, is_new] = tracks.emplace(track, std::to_string(tracks.size() + 1));
        if (is_new) {
            write({{"ph", quoted("M")},
                   {"name", quoted("thread_name")},
                   {"tid", known->second},
                   {"args", object({{"name", quoted(track)}})}});
        }
        return known->second;
    }
};

TraceFile::TraceFile(const std::string& path, Clock::time_point zero)
    : impl_(std::make_unique<Impl>()) {
    impl_->path = path;
    impl_->zero = zero;
    errno = 0;
    impl_->file.open(path, std::ios::binary | std::ios::trunc);
    if (!impl_->file) {
        throw Error(ErrorCode::invalid_argument, "cannot write the trace file '" + path + "': " +
                                                     std::generic_category().message(errno));
    }
}

TraceFile::~TraceFile() {
    try {
        close();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): close() is for who wants to know
    }
}

void TraceFile::add(const TraceEvent& event) {
    Impl& impl = *impl_;
    const std::lock_guard lock(impl.mutex);
    if (!impl.is_open) {
        return;
    }
    Members details;
    for (const auto& [name, value] : event.details) {
        details.emplace_back(name, quoted(value));
    }
    Members members{{"tid", impl.number_of(event.track)},
                    {"name", quoted(event.name)},
                    {"ts", microseconds(event.start - impl.zero)},
                    {"args", object(details)}};
    if (event.id == 0) {
        members.insert(members.end(), {{"ph", quoted("X")}, {"dur", microseconds(event.duration)}});
        impl.write(members);
    } else {
        members.insert(members.end(),
                       {{"cat", quoted(event.track)}, {"id", std::to_string(event.id)}});
        Members end = members;
        members.emplace_back("ph", quoted("b"));
        impl.write(members);
        end[2].second = microseconds(event.start + event.duration - impl.zero);
        end.emplace_back("ph", quoted("e"));
        impl.write(end);
    }
    impl.file.flush();
}

void TraceFile::add(std::span<const StageTime> stages, const std::string& track) {
    for (const StageTime& stage : stages) {
        add({.name = stage.stage,
             .track = stage.on_gpu ? track + ", GPU" : track,
             .start = stage.start,
             .duration = std::chrono::duration_cast<Clock::duration>(
                 std::chrono::duration<double, std::milli>(stage.milliseconds))});
    }
}

void TraceFile::close() {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->is_open) {
        return;
    }
    impl_->is_open = false;
    impl_->file << (impl_->is_first ? "[]\n" : "\n]\n");
    impl_->file.close();
    if (!impl_->file) {
        throw Error(ErrorCode::invalid_argument, "the trace file '" + impl_->path +
                                                     "' could not be written whole; is the disk "
                                                     "full?");
    }
}

}  // namespace quadtile
