#include "platform.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace quadtile::app::platform {

namespace fs = std::filesystem;

namespace {

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

}  // namespace

int process_id() {
    return ::getpid();
}

fs::path program_folder() {
    std::error_code ignored;  // then the current folder
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::optional<FileId> file_id(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(FileId(status.st_dev, status.st_ino))
                                              : std::nullopt;
}

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

int duplicate_standard_output() {
    return ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

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

std::ptrdiff_t write(int descriptor, std::string_view bytes) {
    return ::write(descriptor, bytes.data(), bytes.size());
}

int sync(int descriptor) {
    const bool failed = ::fsync(descriptor) != 0;
    return failed && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

int close(int descriptor) {
    return ::close(descriptor);
}

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

void prepare_process(void (*end)(int signal)) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        if (std::signal(signal, end) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) < 0) {
            ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

bool error_is_terminal() {
    return ::isatty(STDERR_FILENO) == 1;
}

void remove(const PathCharacter* path) noexcept {
    if (::unlink(path) != 0) {
        ::rmdir(path);
    }
}

void print_error(std::string_view text) noexcept {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace quadtile::app::platform
