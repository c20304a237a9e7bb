// A real window on an X server of its own, driven by synthetic mouse and keys.

#pragma once

#include "apps/program.hpp"

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer::test {

// Xvfb, until it is destroyed.
class XServer {
 public:
    XServer();
    ~XServer();
    XServer(const XServer&) = delete;
    XServer& operator=(const XServer&) = delete;

    [[nodiscard]] const std::string& display() const { return display_; }
    // Tells whether Xvfb and xdotool are installed.
    [[nodiscard]] static bool is_installed();

 private:
    pid_t process_ = -1;
    std::string display_;
};

// A program in a window, with --log and --validation, and the lines that it logs. What it waits for
// in vain throws std::runtime_error with all that was logged.
class ProgramWindow {
 public:
    // Runs in `directory`, where its settings and caches go, too. Waits for its window.
    ProgramWindow(const XServer& server, const std::filesystem::path& directory,
                  const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment = {});

    // As xdotool knows them: "key ctrl+s", "mousemove 10 10 click 1"; %w is the window.
    void act(const std::string& commands) const;
    std::string wait_for(const std::string& text) { return program_->wait_for(text); }
    [[nodiscard]] std::string title() const;
    [[nodiscard]] std::string log() const { return program_->log(); }
    // Waits for its end.
    [[nodiscard]] int exit_status() { return program_->wait(); }

 private:
    [[nodiscard]] std::string xdotool(const std::string& commands) const;

    std::string display_;
    std::optional<app::test::RunningProgram> program_;
    std::string window_;
};

}  // namespace quadtile::viewer::test
