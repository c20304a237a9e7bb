// A window of the panel in which a file is chosen: to open, or to write to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

class FileDialog {
 public:
    // One of them, or several, that exist; those with other extensions (".exr") are not listed.
    // None: all files are.
    void open_files(const std::string& title, std::vector<std::string> extensions);
    // One to write. A name without an extension gets that of `suggestion`; an existing file is
    // asked about.
    void save_file(const std::string& title, const std::filesystem::path& suggestion);

    [[nodiscard]] bool is_open() const noexcept;

    // Draws it where it is open: in each frame, between ImGui::NewFrame and ImGui::Render. What was
    // chosen, once.
    [[nodiscard]] std::optional<std::vector<std::filesystem::path>> draw();

 private:
    enum class Mode { closed, open, save };
    struct Entry {
        std::string name;
        bool is_folder;
        std::uint64_t size_bytes;
        bool is_selected = false;
    };
    using Paths = std::vector<std::filesystem::path>;

    void appear(Mode mode, const std::string& title);
    void enter(const std::filesystem::path& folder);
    // Goes to a folder, or to that of a file, whose name it takes.
    void go_to(const std::string& path);
    void select(std::size_t index, bool adds, bool extends);
    void clear_selection();
    // What the name and the selection come to, if they are a choice.
    [[nodiscard]] std::optional<Paths> choose();
    [[nodiscard]] std::optional<Paths> choose_to_save();
    [[nodiscard]] std::filesystem::path path_to_save() const;

    // Parts of the window.
    // Whether Enter was meant for the path.
    [[nodiscard]] bool draw_path();
    // The entry that was double-clicked.
    [[nodiscard]] std::optional<std::size_t> draw_entries();
    void draw_name();
    // Whether the button that chooses was pressed, or the one that cancels.
    struct Buttons {
        bool choose;
        bool cancel;
    };
    [[nodiscard]] Buttons draw_buttons();

    Mode mode_ = Mode::closed;
    bool appears_ = false;  // was opened since the last frame
    std::string title_;
    std::vector<std::string> extensions_;  // in lower case, with their dots
    std::string default_extension_;
    std::filesystem::path folder_;  // kept from one time to the next
    std::string path_text_;         // in the upper text field: the folder, or what is typed
    std::vector<Entry> entries_;    // of the folder
    std::size_t anchor_ = 0;        // the entry that a Shift-click selects from
    std::string name_;              // in the lower text field
    std::string problem_;           // with the folder or the name
    bool asks_to_replace_ = false;
};

}  // namespace quadtile::viewer
