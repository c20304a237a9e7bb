#include "output_file.hpp"

#include "arguments.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace fs = std::filesystem;

namespace {

constexpr mode_t PERMISSIONS = 0666;  // reduced by the umask

std::string link_to(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

OutputFile::OutputFile(const fs::path& target, Temporary temporary)
    : descriptor_(-1), name_('\'' + target.string() + '\'') {
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    if (fs::is_directory(status)) {
        fail(EISDIR);
    }
    if (status.type() == fs::file_type::none) {
        fail(error.value());
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            fail(errno);
        }
        return;
    }
    target_ = follow_links(target);  // links stay, their targets are replaced
    if (temporary == Temporary::unnamed_where_possible) {
        const fs::path directory = target_.has_parent_path() ? target_.parent_path() : ".";
        descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, PERMISSIONS);
        if (descriptor_ >= 0 && ::access(link_to(descriptor_).c_str(), F_OK) != 0) {
            ::close(std::exchange(descriptor_, -1));  // without /proc it would never get a name
        }
    }
    if (descriptor_ < 0) {
        name_temporary([&](const char* name) {
            return descriptor_ = ::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, PERMISSIONS);
        });
    }
}

OutputFile OutputFile::standard_output() {
    return {::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "standard output"};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      removed_by_signal_(std::move(other.removed_by_signal_)) {}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void OutputFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fail(errno);
        }
    }
}

void OutputFile::commit() {
    if (!target_.empty() && temporary_.empty()) {
        name_temporary([&](const char* name) {
            return ::linkat(AT_FDCWD, link_to(descriptor_).c_str(), AT_FDCWD, name,
                            AT_SYMLINK_FOLLOW);
        });
    }
    // Some file systems report a full disk only here.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        fail(errno);
    }
    if (!temporary_.empty()) {
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
            fail(errno);
        }
        temporary_.clear();
        removed_by_signal_.reset();
    }
}

// Short names, whatever the target's name is.
void OutputFile::name_temporary(const std::function<int(const char*)>& make) {
    static std::atomic<unsigned> count = 0;
    int result = -1;
    do {
        const fs::path name = target_.parent_path() / (".quadtile-" + std::to_string(::getpid()) +
                                                       "-" + std::to_string(count++));
        removed_by_signal_.emplace(name);
        result = make(name.c_str());
        if (result >= 0) {
            temporary_ = name;
        }
    } while (result < 0 && errno == EEXIST);
    if (result < 0) {
        fail(errno);
    }
}

void OutputFile::fail(int error) const {
    throw std::runtime_error("cannot write " + name_ + ": " +
                             std::generic_category().message(error));
}

void write_file(const fs::path& path, std::string_view bytes) {
    OutputFile file(path);
    file.write(bytes);
    file.commit();
}

namespace fs = std::filesystem;

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
