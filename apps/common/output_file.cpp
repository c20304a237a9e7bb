#include "output_file.hpp"

#include "arguments.hpp"
#include "platform.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t LARGE_BYTES = std::size_t{1} << 16U;

// What a user can do about a file or a directory that cannot be written.
const char* remedy(int error) {
    switch (error) {
        case ENOENT:
            return "; create the folder first, or give another one";
        case EISDIR:
        case ENOTDIR:
            return "; give another name";
        case EACCES:
        case EPERM:
        case EROFS:
            return "; change the permissions, or give another folder";
        case EFBIG:
        case ENOSPC:
            return "; free some space, or write to another disk";
        default:
            return "; write to another place";
    }
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

OutputFile::OutputFile(const fs::path& target) : name_('\'' + text_of(target) + '\'') {
    std::error_code error;
    if (fs::is_directory(target, error)) {
        error = std::make_error_code(std::errc::is_a_directory);
    }
    errno = error.value();
    check(error == std::error_code() || error == std::errc::no_such_file_or_directory);
    const int direct = platform::open_directly(target);
    check(direct >= 0);
    if (direct > 0) {
        descriptor_ = direct;
        return;
    }
    target_ = follow_links(target);  // links stay, their targets are replaced
    static std::atomic<unsigned> count = 0;
    do {  // short names, whatever the target's name is
        temporary_ =
            target_.parent_path() /
            (".quadtile-" + std::to_string(platform::process_id()) + "-" + std::to_string(count++));
        removed_by_signal_.emplace(temporary_);
        descriptor_ = platform::create(temporary_, target_);
    } while (descriptor_ < 0 && errno == EEXIST);
    check(descriptor_ >= 0);
}

OutputFile OutputFile::standard_output() {
    return {platform::duplicate_standard_output(), "standard output"};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      held_(std::move(other.held_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      removed_by_signal_(std::move(other.removed_by_signal_)) {}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) {
        (void)platform::close(descriptor_);
    }
    if (!temporary_.empty()) {
        std::error_code ignored;
        fs::remove(temporary_, ignored);
    }
}

void OutputFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::ptrdiff_t written = platform::write(descriptor_, bytes.data(), bytes.size());
        check(written >= 0 || errno == EINTR);
        bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
}

void OutputFile::write_at(std::uint64_t place, std::string_view bytes) {
    if (temporary_.empty()) {
        held_.resize(std::max<std::size_t>(held_.size(), place + bytes.size()));
        bytes.copy(&held_[place], bytes.size());
        return;
    }
    check(platform::seek(descriptor_, place) == 0);
    write(bytes);
    if (bytes.size() >= LARGE_BYTES) {
        platform::begin_sync(descriptor_, place, bytes.size());
    }
}

// Some file systems report a full disk only here.
void OutputFile::finish() {
    if (descriptor_ >= 0) {
        write(std::exchange(held_, {}));
        check(temporary_.empty() || platform::sync(descriptor_) == 0);
        check(platform::close(std::exchange(descriptor_, -1)) == 0);
    }
}

void OutputFile::commit() {
    commit_all({this, 1});
}

void OutputFile::commit_all(std::span<OutputFile> files) {
    for (OutputFile& file : files) {
        file.finish();
    }
    for (OutputFile& file : files) {
        if (!file.temporary_.empty()) {
            file.check(platform::replace(file.temporary_, file.target_) == 0);
            file.temporary_.clear();
            file.removed_by_signal_.reset();
        }
    }
}

void OutputFile::check(bool succeeded) const {
    if (!succeeded) {
        const int error = errno;
        throw std::runtime_error("cannot write " + name_ + ": " + platform::error_text() +
                                 remedy(error));
    }
}

void write_file(const fs::path& path, std::string_view bytes) {
    OutputFile file(path);
    file.write(bytes);
    file.commit();
}

OutputDirectories::~OutputDirectories() {
    for (auto directory = created_.rbegin(); directory != created_.rend(); ++directory) {
        std::error_code ignored;  // it is not empty
        fs::remove(*directory, ignored);
    }
}

void OutputDirectories::create(const fs::path& directory) {
    std::error_code error;
    const fs::file_status status = fs::status(directory, error);
    if (fs::is_directory(status)) {
        return;
    }
    if (fs::exists(status)) {
        error = std::make_error_code(std::errc::not_a_directory);
    } else {
        const fs::path above = directory.parent_path();
        if (!above.empty() && above != directory) {
            create(above);
        }
        removed_by_signal_.emplace_back(directory);
        if (fs::create_directory(directory, error)) {
            created_.push_back(directory);
        }
    }
    if (error) {
        throw std::runtime_error("cannot create the directory '" + text_of(directory) + "': " +
                                 error.message() + remedy(error.default_error_condition().value()));
    }
}

}  // namespace quadtile::app
