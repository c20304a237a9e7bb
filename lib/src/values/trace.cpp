#include <quadtile/error.hpp>
#include <quadtile/trace.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>

namespace quadtile {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// Chrome counts in microseconds.
double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

struct TraceFile::Impl {
    std::mutex mutex;
    std::string path;
    std::ofstream file;
    bool is_open = true;
    bool is_first = true;
    Clock::time_point zero;
    std::map<std::string, std::size_t> tracks;

    void write(json event) {
        event["pid"] = 1;
        file << (is_first ? "[\n" : ",\n")
             << event.dump(-1, ' ', false, json::error_handler_t::replace);
        is_first = false;
    }

    // Returns a track's number; writes its name before the first use.
    std::size_t number_of(const std::string& track) {
        const auto [known, is_new] = tracks.emplace(track, tracks.size() + 1);
        if (is_new) {
            write({{"ph", "M"},
                   {"name", "thread_name"},
                   {"tid", known->second},
                   {"args", {{"name", track}}}});
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
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): close() reports errors
    }
}

void TraceFile::add(const TraceEvent& event) {
    Impl& impl = *impl_;
    const std::lock_guard lock(impl.mutex);
    if (!impl.is_open) {
        return;
    }
    json details = json::object();
    for (const auto& [name, value] : event.details) {
        details[name] = value;
    }
    json members{{"tid", impl.number_of(event.track)},
                 {"name", event.name},
                 {"ts", microseconds(event.start - impl.zero)},
                 {"args", details}};
    if (event.id == 0) {
        members["ph"] = "X";
        members["dur"] = microseconds(event.duration);
    } else {
        members["cat"] = event.track;
        members["id"] = event.id;
        members["ph"] = "b";
        impl.write(members);
        members["ph"] = "e";
        members["ts"] = microseconds(event.start + event.duration - impl.zero);
    }
    impl.write(std::move(members));
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
