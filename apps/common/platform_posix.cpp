#include "platform.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
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

int duplicate_standard_output() {
    return ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

std::ptrdiff_t write(int descriptor, const char* bytes, std::size_t size) {
    return ::write(descriptor, bytes, size);
}

int seek(int descriptor, std::uint64_t place) {
    return ::lseek(descriptor, static_cast<off_t>(place), SEEK_SET) < 0 ? -1 : 0;
}

void begin_sync(int descriptor, std::uint64_t place, std::size_t size) {
    (void)::sync_file_range(descriptor, static_cast<off_t>(place), static_cast<off_t>(size),
                            SYNC_FILE_RANGE_WRITE);
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

std::string error_text() {
    return std::generic_category().message(errno);
}

void remove(const char* path) noexcept {
    if (::unlink(path) != 0) {
        ::rmdir(path);
    }
}

bool are_same(const fs::path& one, const fs::path& other) {
    return one == other;
}

fs::path user_folder(const char* variable, const char* in_home) {
    const auto folder_of = [](const char* name) {
        const char* const value = std::getenv(name);
        return fs::path(value == nullptr ? "" : value);
    };
    // The XDG Base Directory Specification ignores relative paths.
    const fs::path given = folder_of(variable);
    if (given.is_absolute()) {
        return given / "quadtile";
    }
    const fs::path home = folder_of("HOME");
    return home.empty() ? home : home / in_home / "quadtile";
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

void on_interrupt(void (*note)(int signal)) {
    // mpirun passes SIGUSR1 on, without a time-out.
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
        std::signal(signal, note);
    }
}

int process_id() {
    return ::getpid();
}

fs::path program_file() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored);
}

bool is_terminal(int stream) {
    return ::isatty(stream) == 1;
}

std::uint64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::uint64_t kibibytes = 0;
    while (file >> name) {
        if (name == "MemAvailable:" && file >> kibibytes) {
            return kibibytes << 10U;
        }
    }
    return 0;
}

}  // namespace quadtile::app::platform
