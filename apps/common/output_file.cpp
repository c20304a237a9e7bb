#include "output_file.hpp"

#include "file_arguments.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace fs = std::filesystem;

OutputFile::OutputFile(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

OutputFile::OutputFile(const fs::path& target)
    : descriptor_(-1), name_('\'' + target.string() + '\''), target_(target) {
    std::error_code ignored;
    const fs::file_status status = fs::status(target, ignored);
    if (fs::is_directory(status)) {
        fail(EISDIR);
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            fail(errno);
        }
        return;
    }
    target_ = follow_links(target);  // links stay, what they lead to is replaced
    std::string pattern = target_.string() + ".XXXXXX";
    descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
        fail(errno);
    }
    temporary_ = pattern;
    // mkostemp makes private files; the result gets the permissions that any new file would.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, 0666 & ~mask);
}

OutputFile OutputFile::standard_output() {
    return {::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "standard output"};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

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
    // Some file systems report a full disk only here.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        fail(errno);
    }
    if (!temporary_.empty()) {
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
            fail(errno);
        }
        temporary_.clear();
    }
}

void OutputFile::fail(int error) const {
    throw std::runtime_error("cannot write " + name_ + ": " +
                             std::generic_category().message(error));
}

}  // namespace quadtile::app
