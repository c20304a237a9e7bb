// A window over the panel in which the user types the path of a file to open or to write. Tab
// completes the path; a list shows the files and folders that continue it.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

class PathPrompt {
 public:
    using Paths = std::vector<std::filesystem::path>;

    // Asks for an existing file, or for several by a pattern ("*.exr"). Lists files with these
    // extensions (".exr"), or all files if there are none.
    void open_files(const std::string& title, std::vector<std::string> extensions);
    // Asks for a file to write: at first in the current directory, then in the folder of the last
    // saved file. A name without an extension gets that of `suggestion`. Asks before it takes an
    // existing file.
    void save_file(const std::string& title, const std::filesystem::path& suggestion);

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    // Tells whether keys and characters may come now. Dear ImGui gives the text field the focus
    // some frames after the prompt has opened, or after Enter. Earlier keys would be lost.
    [[nodiscard]] bool takes_keys() const;
    // Reports a pressed key of GLFW. The next draw() acts on it.
    void press(int key);

    // Draws the prompt if it is open. Call it in each frame, between ImGui::NewFrame and
    // ImGui::Render. Returns the chosen paths, once.
    [[nodiscard]] std::optional<Paths> draw();

 private:
    void appear(const std::string& title, const std::filesystem::path& path);
    void list_continuations();
    // Returns the longest common start of all continuations.
    [[nodiscard]] std::string completion() const;
    void draw_path();
    void draw_continuations();
    // Returns the files that the path names, if it is a choice.
    [[nodiscard]] std::optional<Paths> choose();
    [[nodiscard]] std::optional<Paths> choose_to_save();

    bool is_open_ = false;
    bool appears_ = false;    // was opened since the last frame
    bool has_focus_ = false;  // the text field has the focus
    bool saves_ = false;
    bool asks_to_replace_ = false;
    bool goes_to_end_ = false;  // move the cursor to the end, after a click on a continuation
    bool completes_ = false;    // Tab was pressed since the last frame,
    bool chooses_ = false;      // or Enter,
    bool cancels_ = false;      // or Escape
    std::string title_;
    std::vector<std::string> extensions_;
    std::string default_extension_;
    std::filesystem::path open_folder_;  // folder of the last choice
    std::filesystem::path save_folder_;
    std::string path_;                        // in the text field
    std::string listed_;                      // the path that the continuations belong to
    std::vector<std::string> continuations_;  // paths; those of folders end with '/'
    std::string problem_;                     // problem of the path
};

}  // namespace quadtile::viewer
