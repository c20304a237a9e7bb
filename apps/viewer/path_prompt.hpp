// A window over the panel in which the path of a file is typed: to open, or to write to. Tab
// completes the path; a list has the files and folders that continue it.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

class PathPrompt {
 public:
    using Paths = std::vector<std::filesystem::path>;

    // Asks for a file that exists, or for several by a pattern ("*.exr"). Files with other
    // extensions (".exr") are not listed; without extensions all are.
    void open_files(const std::string& title, std::vector<std::string> extensions);
    // Asks for a file to write: at first in the current directory, then in the folder of the last
    // file that was saved. A name without an extension gets that of `suggestion`; an existing file
    // is asked about.
    void save_file(const std::string& title, const std::filesystem::path& suggestion);

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    // Whether keys and characters may come now. Dear ImGui gives its text field the focus some
    // frames after it was opened, or after Enter was pressed in it; what comes before would be
    // lost.
    [[nodiscard]] bool takes_keys() const;
    // A key of GLFW was pressed; the next draw() acts on it.
    void press(int key);

    // Draws it if it is open: in each frame, between ImGui::NewFrame and ImGui::Render. What was
    // chosen, once.
    [[nodiscard]] std::optional<Paths> draw();

 private:
    void appear(const std::string& title, const std::filesystem::path& path);
    void list_continuations();
    // As much as all continuations have in common.
    [[nodiscard]] std::string completion() const;
    void draw_path();
    void draw_continuations();
    // What the path comes to, if it is a choice.
    [[nodiscard]] std::optional<Paths> choose();
    [[nodiscard]] std::optional<Paths> choose_to_save();

    bool is_open_ = false;
    bool appears_ = false;    // was opened since the last frame
    bool has_focus_ = false;  // the text field
    bool saves_ = false;
    bool asks_to_replace_ = false;
    bool goes_to_end_ = false;  // the cursor, after a click on a continuation
    bool completes_ = false;    // since the last frame Tab was pressed,
    bool chooses_ = false;      // Enter
    bool cancels_ = false;      // or Escape
    std::string title_;
    std::vector<std::string> extensions_;
    std::string default_extension_;
    std::filesystem::path open_folder_;  // of the last choice
    std::filesystem::path save_folder_;
    std::string path_;                        // in the text field
    std::string listed_;                      // the path that the continuations belong to
    std::vector<std::string> continuations_;  // paths; those of folders end with '/'
    std::string problem_;                     // with the path
};

}  // namespace quadtile::viewer
