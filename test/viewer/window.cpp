#include "window.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace quadtile::viewer::test {

namespace {

namespace fs = std::filesystem;

void pause_briefly() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::string output_of(const std::string& command) {
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("cannot run " + command);
    }
    std::string output;
    for (int byte = 0; (byte = std::fgetc(pipe)) != EOF;) {
        output += static_cast<char>(byte);
    }
    ::pclose(pipe);
    output.erase(output.find_last_not_of('\n') + 1);
    return output;
}

}  // namespace

// ---- The X server

bool XServer::is_installed() {
    return std::system("command -v Xvfb >/dev/null && command -v xdotool >/dev/null") == 0;
}

XServer::XServer() {
    // It runs on in the background once it has told its number.
    std::istringstream told(
        output_of("Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>&1 >/dev/null "
                  "2>&1 & echo $!"));
    std::string number;
    if (!(told >> process_ >> number)) {
        throw std::runtime_error("Xvfb does not start");
    }
    display_ = ":" + number;
}

XServer::~XServer() {
    ::kill(process_, SIGTERM);
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
