#include "output_file.hpp"

#include "arguments.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace fs = std::filesystem;

// Functions below return a descriptor or 0; below 0 they have failed, and errno says why.

namespace {

constexpr std::size_t LARGE_BYTES = std::size_t{1} << 16U;
constexpr mode_t NEW_FILE = 0666;  // reduced by the umask
constexpr mode_t ALL = 0777;
constexpr mode_t GROUP = 0070;
constexpr mode_t OTHERS = 0007;

// Gives a file the owner and the permissions of another one. A group that the process cannot give
// away has no more rights than others.
int take_over(int descriptor, const struct stat& like) {
    mode_t mode = like.st_mode & ALL;
    if (::fchown(descriptor, like.st_uid, like.st_gid) != 0 &&
        ::fchown(descriptor, static_cast<uid_t>(-1), like.st_gid) != 0) {
        mode = (mode & ~GROUP) | ((mode & OTHERS) << 3U);
    }
    return ::fchmod(descriptor, mode);
}

// Opens a pipe, a device, or the file that is standard output or standard error. 0: the path leads
// to none of these.
int open_directly(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return 0;  // creating it tells the reason
    }
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat other {};
        if (::fstat(stream, &other) == 0 && other.st_dev == status.st_dev &&
            other.st_ino == status.st_ino && (::fcntl(stream, F_GETFL) & O_ACCMODE) != O_RDONLY) {
            return ::fcntl(stream, F_DUPFD_CLOEXEC, 3);
        }
    }
    return S_ISREG(status.st_mode) ? 0 : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

// Creates a file with the owner and the permissions of `like`; a new file's if that does not exist.
// Fails with EEXIST if the name is taken.
int create(const fs::path& path, const fs::path& like) {
    struct stat status {};
    const bool replaces = ::stat(like.c_str(), &status) == 0;
    const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
                                  replaces ? status.st_mode & ALL : NEW_FILE);
    if (descriptor >= 0 && replaces && take_over(descriptor, status) != 0) {
        const int error = errno;
        ::close(descriptor);
        ::unlink(path.c_str());
        errno = error;
        return -1;
    }
    return descriptor;
}

// Waits until the bytes of a file are on the disk, where files have one.
int sync(int descriptor) {
    const bool failed = ::fsync(descriptor) != 0;
    return failed && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

// Moves a file into the place of another one, and waits until the folder is on the disk.
int replace(const fs::path& from, const fs::path& target) {
    if (::rename(from.c_str(), target.c_str()) != 0) {
        return -1;
    }
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;  // a folder without the right to read it
    }
    const int result = sync(descriptor);
    const int error = errno;
    ::close(descriptor);
    errno = error;
    return result;
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

OutputFile::OutputFile(const fs::path& target) : name_('\'' + target.string() + '\'') {
    std::error_code error;
    if (fs::is_directory(target, error)) {
        error = std::make_error_code(std::errc::is_a_directory);
    }
    errno = error.value();
    check(error == std::error_code() || error == std::errc::no_such_file_or_directory);
    const int direct = open_directly(target);
    check(direct >= 0);
    if (direct > 0) {
        descriptor_ = direct;
        return;
    }
    target_ = follow_links(target);  // links stay, their targets are replaced
    static std::atomic<unsigned> count = 0;
    do {  // short names, whatever the target's name is
        temporary_ = target_.parent_path() /
                     (".quadtile-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
        removed_by_signal_.emplace(temporary_);
        descriptor_ = create(temporary_, target_);
    } while (descriptor_ < 0 && errno == EEXIST);
    check(descriptor_ >= 0);
}

OutputFile OutputFile::standard_output() {
    return {::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "standard output"};
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
        (void)::close(descriptor_);
    }
    if (!temporary_.empty()) {
        std::error_code ignored;
        fs::remove(temporary_, ignored);
    }
}

void OutputFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::ptrdiff_t written = ::write(descriptor_, bytes.data(), bytes.size());
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
    check(::lseek(descriptor_, static_cast<off_t>(place), SEEK_SET) >= 0);
    write(bytes);
    if (bytes.size() >= LARGE_BYTES) {  // the disk takes them meanwhile; `finish` sees its errors
        (void)::sync_file_range(descriptor_, static_cast<off_t>(place),
                                static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
    }
}

// Some file systems report a full disk only here.
void OutputFile::finish() {
    if (descriptor_ >= 0) {
        write(std::exchange(held_, {}));
        check(temporary_.empty() || sync(descriptor_) == 0);
        check(::close(std::exchange(descriptor_, -1)) == 0);
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
            file.check(replace(file.temporary_, file.target_) == 0);
            file.temporary_.clear();
            file.removed_by_signal_.reset();
        }
    }
}

void OutputFile::check(bool succeeded) const {
    if (!succeeded) {
        throw std::runtime_error("cannot write " + name_ + ": " +
                                 std::generic_category().message(errno));
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
        throw std::runtime_error("cannot create the directory '" + directory.string() +
                                 "': " + error.message());
    }
}

}  // namespace quadtile::app
