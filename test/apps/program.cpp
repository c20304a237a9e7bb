#include "program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace quadtile::app::test {

using quadtile::test::read_file;

namespace {

constexpr unsigned int TIME_LIMIT_SECONDS = 280;  // on a busy machine
constexpr std::chrono::seconds PATIENCE(150);

void redirect(int stream, const char* path) {
    const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(file, stream);
    ::close(file);
}

void redirect_output(StandardOutput kind, const char* file) {
    std::array<int, 2> ends{};
    switch (kind) {
        case StandardOutput::captured:
            return redirect(STDOUT_FILENO, file);
        case StandardOutput::closed:
            ::close(STDOUT_FILENO);
            return;
        case StandardOutput::full_device:
            return redirect(STDOUT_FILENO, "/dev/full");
        case StandardOutput::broken_pipe:
            if (::pipe(ends.data()) == 0) {
                ::dup2(ends[1], STDOUT_FILENO);
                ::close(ends[0]);
                ::close(ends[1]);
            }
    }
}

}  // namespace

RunningProgram::RunningProgram(const Arguments& arguments, const ProgramOptions& options) {
    const std::string output = (directory_.path() / "out").string();
    const std::string error = (directory_.path() / "err").string();
    const std::string program = program_path();
    std::vector<const char*> argv{program.c_str()};
    for (const std::string& argument : arguments) {
        argv.push_back(argument.c_str());
    }
    argv.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0) {
        throw std::runtime_error("fork failed");
    }
    if (process_ == 0) {
        redirect(STDERR_FILENO, error.c_str());
        redirect_output(options.standard_output, output.c_str());
        for (const auto& [name, value] : options.environment) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        const rlimit most{options.largest_file_bytes, options.largest_file_bytes};
        ::setrlimit(RLIMIT_FSIZE, &most);
        ::alarm(TIME_LIMIT_SECONDS);
        if (::chdir(options.directory.c_str()) == 0) {
            ::execv(program.c_str(), const_cast<char* const*>(argv.data()));
        }
        ::_exit(127);
    }
}

RunningProgram::~RunningProgram() {
    if (!has_ended()) {
        send(SIGKILL);
        (void)wait();
    }
}

void RunningProgram::send(int signal) const {
    ::kill(process_, signal);
}

bool RunningProgram::has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(process_, &status, WNOHANG) == process_) {
        status_ = status;
    }
    return status_.has_value();
}

int RunningProgram::wait() {
    int status = status_.value_or(0);
    while (!status_ && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string RunningProgram::wait_for(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + PATIENCE;
    for (bool is_last = false; !is_last;) {
        is_last = has_ended() || std::chrono::steady_clock::now() > end;
        const std::string all = log();
        const std::size_t found = all.find(text, read_to_);
        const std::size_t line_end = found == std::string::npos ? found : all.find('\n', found);
        if (line_end != std::string::npos) {
            read_to_ = line_end + 1;
            const std::size_t begin = all.rfind('\n', found);
            const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
            return all.substr(first, line_end - first);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw std::runtime_error("waited in vain for '" + text + "'; the program logged:\n" + log());
}

std::string RunningProgram::log() const {
    const auto path = directory_.path() / "err";
    return std::filesystem::exists(path) ? read_file(path) : "";
}

std::string RunningProgram::output() const {
    const auto path = directory_.path() / "out";
    return std::filesystem::exists(path) ? read_file(path) : "";
}

std::string program_path() {
    const char* const given = std::getenv(QUADTILE_PROGRAM_VARIABLE);
    return given != nullptr ? given : QUADTILE_PROGRAM_PATH;
}

ProgramResult run_program(const Arguments& arguments, const ProgramOptions& options) {
    RunningProgram running(arguments, options);
    const int status = running.wait();
    return {status, running.output(), running.log()};
}

}  // namespace quadtile::app::test
