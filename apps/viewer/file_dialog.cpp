#include "file_dialog.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <tuple>
#include <utility>

namespace quadtile::viewer {

namespace {

namespace fs = std::filesystem;

const ImVec4 PROBLEM_COLOUR{1.0F, 0.4F, 0.35F, 1.0F};

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string readable_size(std::uint64_t bytes) {
    constexpr std::array<const char*, 5> UNITS{"B", "KiB", "MiB", "GiB", "TiB"};
    double size = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (size >= 1024.0 && unit + 1 < UNITS.size()) {
        size /= 1024.0;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit > 0 && size < 10.0 ? "%.1f %s" : "%.0f %s", size,
                  UNITS[unit]);
    return text.data();
}

// What a user types for the own folder.
fs::path with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    const bool is_at_home = path == "~" || path.starts_with("~/");
    return is_at_home && home != nullptr ? fs::path(home + path.substr(1)) : fs::path(path);
}

// Absolute, without "..", and without a separator at its end.
fs::path tidy(const fs::path& folder) {
    std::error_code error;
    const fs::path absolute = fs::absolute(folder, error);
    const fs::path path = (error ? folder : absolute).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_pressed(ImGuiKey key) {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), false);
}

float scale() {
    constexpr float FONT_SIZE = 13.0F;  // of ImGui's own font
    return ImGui::GetFontSize() / FONT_SIZE;
}

}  // namespace

void FileDialog::open_files(const std::string& title, std::vector<std::string> extensions) {
    extensions_ = std::move(extensions);
    std::ranges::transform(extensions_, extensions_.begin(), lower_case);
    name_.clear();
    appear(Mode::open, title);
    enter(folder_.empty() ? "." : folder_);
}

void FileDialog::save_file(const std::string& title, const fs::path& suggestion) {
    default_extension_ = suggestion.extension().string();
    extensions_.clear();
    if (!default_extension_.empty()) {
        extensions_.push_back(lower_case(default_extension_));
    }
    name_ = suggestion.filename().string();
    appear(Mode::save, title);
    const fs::path folder = suggestion.has_parent_path() ? suggestion.parent_path() : folder_;
    enter(folder.empty() ? "." : folder);
}

void FileDialog::appear(Mode mode, const std::string& title) {
    mode_ = mode;
    appears_ = true;
    title_ = title;
    problem_.clear();
    asks_to_replace_ = false;
}

bool FileDialog::is_open() const noexcept {
    return mode_ != Mode::closed;
}

void FileDialog::enter(const fs::path& folder) {
    const fs::path entered = tidy(folder);
    std::error_code error;
    std::vector<Entry> entries;
    for (fs::directory_iterator i(entered, error); !error && i != fs::directory_iterator();
         i.increment(error)) {
        const std::string name = i->path().filename().string();
        std::error_code unknown;  // a broken link, for example, is no folder and has no size
        const bool folder_entry = i->is_directory(unknown);
        const bool matches =
            folder_entry || extensions_.empty() ||
            std::ranges::find(extensions_, lower_case(i->path().extension().string())) !=
                extensions_.end();
        if (matches && !name.starts_with('.')) {
            const std::uint64_t bytes = folder_entry ? 0 : i->file_size(unknown);
            entries.push_back({name, folder_entry, unknown ? 0 : bytes});
        }
    }
    if (error) {
        problem_ = entered.string() + ": " + error.message();
        if (folder_.empty() || entered == folder_) {  // what was in it is there no longer
            folder_ = entered;
            path_text_ = entered.string();
            entries_.clear();
        }
        return;
    }
    std::ranges::sort(entries, {}, [](const Entry& entry) {  // folders first
        return std::tuple(!entry.is_folder, lower_case(entry.name), entry.name);
    });
    problem_.clear();
    entries_ = std::move(entries);
    anchor_ = 0;
    folder_ = entered;
    path_text_ = entered.string();
    if (mode_ == Mode::open) {
        name_.clear();
    }
}

void FileDialog::go_to(const std::string& path) {
    const fs::path target = tidy(folder_ / with_home(path));
    if (is_folder(target) || !is_there(target)) {
        enter(target);
        return;
    }
    enter(target.parent_path());
    name_ = target.filename().string();
}

void FileDialog::clear_selection() {
    for (Entry& entry : entries_) {
        entry.is_selected = false;
    }
}

void FileDialog::select(std::size_t index, bool adds, bool extends) {
    const bool several = mode_ == Mode::open && !entries_[index].is_folder;
    problem_.clear();
    if (!several || !adds) {
        clear_selection();
    }
    if (several && extends) {
        const auto [first, last] = std::minmax(index, anchor_);
        for (std::size_t i = first; i <= last; ++i) {
            entries_[i].is_selected = true;
        }
    } else {
        entries_[index].is_selected = !entries_[index].is_selected;
        anchor_ = index;
    }
    if (several) {  // folders are not opened together with files
        for (Entry& entry : entries_) {
            entry.is_selected = entry.is_selected && !entry.is_folder;
        }
    }
    if (mode_ == Mode::open) {
        const auto selected = std::ranges::find(entries_, true, &Entry::is_selected);
        const bool single = std::ranges::count(entries_, true, &Entry::is_selected) == 1;
        name_ = single ? selected->name : "";
    } else if (!entries_[index].is_folder) {
        name_ = entries_[index].name;
    }
}

std::optional<FileDialog::Paths> FileDialog::choose() {
    if (mode_ == Mode::save) {
        return choose_to_save();
    }
    if (name_.empty()) {
        Paths paths;
        for (const Entry& entry : entries_) {
            if (entry.is_selected) {
                paths.push_back(folder_ / entry.name);
            }
        }
        return paths.empty() ? std::nullopt : std::optional(paths);
    }
    const fs::path path = folder_ / with_home(name_);
    if (is_folder(path)) {
        enter(path);
    } else if (is_there(path)) {
        return Paths{path};
    } else {
        problem_ = "There is no file '" + name_ + "' here.";
    }
    return std::nullopt;
}

fs::path FileDialog::path_to_save() const {
    fs::path path = folder_ / with_home(name_);
    if (!path.has_extension()) {
        path += default_extension_;
    }
    return path;
}

std::optional<FileDialog::Paths> FileDialog::choose_to_save() {
    if (name_.empty()) {
        problem_ = "The file needs a name.";
        return std::nullopt;
    }
    const fs::path typed = folder_ / with_home(name_);
    if (is_folder(typed)) {
        enter(typed);
        return std::nullopt;
    }
    const fs::path path = path_to_save();
    if (!is_folder(path.parent_path())) {
        problem_ = "There is no folder '" + path.parent_path().string() + "'.";
    } else if (is_folder(path)) {
        problem_ = "'" + path.filename().string() + "' is a folder.";
    } else if (is_there(path) && !asks_to_replace_) {
        asks_to_replace_ = true;
    } else {
        return Paths{path};
    }
    return std::nullopt;
}

bool FileDialog::draw_path() {
    if (ImGui::Button("Up")) {
        enter(folder_.parent_path());
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1.0F);
    const bool typed =
        ImGui::InputText("##path", &path_text_, ImGuiInputTextFlags_EnterReturnsTrue);
    if (typed) {
        go_to(path_text_);
    }
    return typed;
}

std::optional<std::size_t> FileDialog::draw_entries() {
    std::optional<std::size_t> clicked;
    const float below = 3.0F * ImGui::GetFrameHeightWithSpacing();
    constexpr ImGuiTableFlags FLAGS = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersOuter;
    if (!ImGui::BeginTable("entries", 2, FLAGS, {0.0F, -below})) {
        return std::nullopt;
    }
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("size", ImGuiTableColumnFlags_WidthFixed, 80.0F * scale());
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(entries_.size()));
    while (clipper.Step()) {
        for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
            const auto index = static_cast<std::size_t>(row);
            const Entry& entry = entries_[index];
            ImGui::TableNextColumn();
            ImGui::PushID(row);  // the name is no label: it may have ImGui's "##" in it
            if (ImGui::Selectable(
                    "##entry", entry.is_selected,
                    ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
                clicked = index;
            }
            ImGui::PopID();
            ImGui::SameLine(0.0F, 0.0F);
            ImGui::TextUnformatted((entry.name + (entry.is_folder ? "/" : "")).c_str());
            ImGui::TableNextColumn();
            if (!entry.is_folder) {
                ImGui::TextUnformatted(readable_size(entry.size_bytes).c_str());
            }
        }
    }
    ImGui::EndTable();
    if (clicked) {
        select(*clicked, ImGui::GetIO().KeyCtrl, ImGui::GetIO().KeyShift);
    }
    return clicked && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) ? clicked : std::nullopt;
}

void FileDialog::draw_name() {
    const auto selected = std::ranges::count(entries_, true, &Entry::is_selected);
    const std::string hint =
        selected > 1 ? std::to_string(selected) + " files are selected" : "name of the file";
    // What is typed goes here, whatever was clicked before.
    if (appears_ || (!ImGui::IsAnyItemActive() && !ImGui::IsAnyMouseDown())) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1.0F);
    if (ImGui::InputTextWithHint("##name", hint.c_str(), &name_,
                                 ImGuiInputTextFlags_AutoSelectAll)) {
        clear_selection();
        problem_.clear();
    }
}

FileDialog::Buttons FileDialog::draw_buttons() {
    const ImVec2 size{90.0F * scale(), 0.0F};
    const char* verb = mode_ == Mode::open ? "Open" : asks_to_replace_ ? "Replace" : "Save";
    Buttons buttons{};
    buttons.choose = ImGui::Button(verb, size);
    ImGui::SameLine();
    buttons.cancel = ImGui::Button("Cancel", size);
    return buttons;
}

std::optional<std::vector<fs::path>> FileDialog::draw() {
    if (!is_open()) {
        return std::nullopt;
    }
    const std::string label = title_ + "###file dialog";
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    if (appears_) {
        ImGui::OpenPopup(label.c_str());
        ImGui::SetNextWindowSize(
            {std::min(700.0F * scale(), display.x), std::min(480.0F * scale(), display.y)});
        ImGui::SetNextWindowPos({display.x / 2.0F, display.y / 2.0F}, ImGuiCond_Always,
                                {0.5F, 0.5F});
    }
    bool stays_open = true;
    if (!ImGui::BeginPopupModal(label.c_str(), &stays_open, ImGuiWindowFlags_NoSavedSettings)) {
        mode_ = Mode::closed;  // by its cross
        return std::nullopt;
    }
    const bool asked_to_replace = asks_to_replace_;
    ImGui::BeginDisabled(asked_to_replace);
    const bool path_typed = draw_path();
    const std::optional<std::size_t> double_clicked = draw_entries();
    ImGui::EndDisabled();
    if (asked_to_replace) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(("Replace " + path_to_save().filename().string() + "?").c_str());
    } else {
        draw_name();
    }
    const Buttons buttons = draw_buttons();
    ImGui::PushStyleColor(ImGuiCol_Text, PROBLEM_COLOUR);
    ImGui::TextUnformatted(problem_.c_str());
    ImGui::PopStyleColor();

    std::optional<Paths> chosen;
    if (double_clicked && entries_[*double_clicked].is_folder) {
        enter(folder_ / entries_[*double_clicked].name);
    } else if (buttons.choose || double_clicked ||
               (!path_typed && (is_pressed(ImGuiKey_Enter) || is_pressed(ImGuiKey_KeyPadEnter)))) {
        chosen = choose();
    } else if (buttons.cancel || is_pressed(ImGuiKey_Escape)) {
        stays_open = asked_to_replace;  // else the question alone goes
        asks_to_replace_ = false;
    }
    appears_ = false;
    if (chosen || !stays_open) {
        mode_ = Mode::closed;
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
    return chosen;
}

}  // namespace quadtile::viewer
