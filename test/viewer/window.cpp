#include "window.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace quadtile::viewer::test {

namespace {

namespace fs = std::filesystem;

bool is_command(const std::string& name) {
    return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

void pause_briefly() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::string output_of(const std::string& command) {
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("cannot run " + command);
    }
    std::string output;
    std::array<char, 256> bytes{};
    while (std::fgets(bytes.data(), bytes.size(), pipe) != nullptr) {
        output += bytes.data();
    }
    ::pclose(pipe);
    while (!output.empty() && output.back() == '\n') {
        output.pop_back();
    }
    return output;
}

}  // namespace

// ---- The X server

bool XServer::is_installed() {
    return is_command("Xvfb") && is_command("xdotool");
}

XServer::XServer() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        throw std::runtime_error("pipe failed");
    }
    process_ = ::fork();
    if (process_ == 0) {
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        ::close(ends[0]);
        const std::string number = std::to_string(ends[1]);
        ::execlp("Xvfb", "Xvfb", "-displayfd", number.c_str(), "-screen", "0", "1600x1000x24",
                 "-nolisten", "tcp", "-noreset", nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    std::string number;
    for (char digit = 0; ::read(ends[0], &digit, 1) == 1 && digit != '\n';) {
        number += digit;
    }
    ::close(ends[0]);
    if (number.empty()) {
        throw std::runtime_error("Xvfb does not start");
    }
    display_ = ":" + number;
}

XServer::~XServer() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
}

// ---- The window

ProgramWindow::ProgramWindow(const XServer& server, const fs::path& directory,
                             const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& environment)
    : display_(server.display()) {
    std::vector<std::string> all{"--log", "--validation"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    app::test::ProgramOptions options{.directory = directory, .environment = environment};
    options.environment["DISPLAY"] = display_;
    for (const char* const name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"}) {
        options.environment[name] = directory;
    }
    program_.emplace(all, options);
    wait_for("on screen");
    while (window_.empty()) {  // GLFW has shown it; the server may not have
        pause_briefly();
        window_ = xdotool("search --onlyvisible --name quadtile");
    }
    act("windowfocus --sync %w");
}

std::string ProgramWindow::xdotool(const std::string& commands) const {
    return output_of("DISPLAY=" + display_ + " xdotool " + commands + " 2>&1");
}

void ProgramWindow::act(const std::string& commands) const {
    std::string with_window = commands;
    for (std::size_t at = 0; (at = with_window.find("%w", at)) != std::string::npos;) {
        with_window.replace(at, 2, window_);
    }
    const std::string output = xdotool(with_window);
    if (!output.empty()) {
        throw std::runtime_error("xdotool " + with_window + ": " + output);
    }
}

std::string ProgramWindow::title() const {
    return xdotool("getwindowname " + window_);
}

}  // namespace quadtile::viewer::test
