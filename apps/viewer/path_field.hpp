// A window over the panel with a field for the path of a file.

#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace quadtile::viewer {

class PathField {
 public:
    using Take = std::function<void(const std::filesystem::path&)>;

    // Opens the window. `take` is called with the absolute path that the user enters. If the file
    // is to be written and exists already, Enter must be pressed twice.
    void open(const std::string& title, const std::filesystem::path& suggestion, bool writes,
              Take take);
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    // Enter or Escape was pressed, for the next draw().
    void enter() { enters_ = true; }
    void cancel() { cancels_ = true; }
    // Draws the window if it is open. Call it in each frame of Dear ImGui.
    void draw();

 private:
    bool is_open_ = false;
    bool appears_ = false;  // was opened since the last frame
    bool writes_ = false;
    bool enters_ = false;
    bool cancels_ = false;
    std::string title_;
    std::string text_;
    std::string replaced_;  // the text for which the user was asked whether to replace the file
    Take take_;
};

}  // namespace quadtile::viewer
