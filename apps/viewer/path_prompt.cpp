#include "path_prompt.hpp"

#include "widgets.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <GLFW/glfw3.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace {

namespace fs = std::filesystem;

// Returns files and folders in order. Folders end with '/'; "~" at the start is the home.
std::vector<std::string> matches(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> paths;
    if (glob(pattern.c_str(), GLOB_MARK | GLOB_TILDE, nullptr, &found) == 0) {
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
    return paths;
}

// Returns the pattern that matches only this text.
std::string literally(const std::string& text) {
    std::string pattern;
    for (const char c : text) {
        pattern += std::string("*?[]\\").find(c) == std::string::npos ? "" : "\\";
        pattern += c;
    }
    return pattern;
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

// Replaces "~" at the start by the user's home.
fs::path with_home(const std::string& path) {
    const char* const home = std::getenv("HOME");
    const bool is_at_home = path == "~" || path.starts_with("~/");
    return is_at_home && home != nullptr ? home + path.substr(1) : path;
}

}  // namespace

void PathPrompt::open_files(const std::string& title, std::vector<std::string> extensions) {
    saves_ = false;
    extensions_ = std::move(extensions);
    appear(title, open_folder_ / "");
}

void PathPrompt::save_file(const std::string& title, const fs::path& suggestion) {
    saves_ = true;
    default_extension_ = suggestion.extension().string();
    extensions_ = {default_extension_};
    appear(title, save_folder_ / suggestion);
}

void PathPrompt::appear(const std::string& title, const fs::path& path) {
    std::error_code ignored;
    is_open_ = true;
    appears_ = true;
    has_focus_ = false;
    asks_to_replace_ = false;
    completes_ = chooses_ = cancels_ = false;
    title_ = title;
    path_ = (path.is_absolute() ? path : fs::current_path(ignored) / path).string();
    problem_.clear();
    list_continuations();
}

// While a mouse button is down, the text field does not get the focus.
bool PathPrompt::takes_keys() const {
    return !is_open_ || has_focus_ || ImGui::IsAnyMouseDown();
}

void PathPrompt::press(int key) {
    completes_ = completes_ || key == GLFW_KEY_TAB;
    chooses_ = chooses_ || key == GLFW_KEY_ENTER || key == GLFW_KEY_KP_ENTER;
    cancels_ = cancels_ || key == GLFW_KEY_ESCAPE;
}

void PathPrompt::list_continuations() {
    listed_ = path_;
    continuations_ = matches(literally(path_) + "*");
    std::erase_if(continuations_, [&](const std::string& path) {
        return !path.ends_with('/') && !extensions_.empty() &&
               std::ranges::find(extensions_, fs::path(path).extension().string()) ==
                   extensions_.end();
    });
}

std::string PathPrompt::completion() const {
    if (continuations_.empty()) {
        return path_;
    }
    std::string common = continuations_.front();
    for (const std::string& path : continuations_) {
        common.erase(std::ranges::mismatch(common, path).in1, common.end());
    }
    return common;
}

void PathPrompt::draw_path() {
    if (appears_ || (!ImGui::IsAnyItemActive() && !ImGui::IsAnyMouseDown())) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1.0F);
    const auto edit = [](ImGuiInputTextCallbackData* data) {
        auto& prompt = *static_cast<PathPrompt*>(data->UserData);
        if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways &&
            std::exchange(prompt.completes_, false)) {
            prompt.path_.assign(data->Buf, static_cast<std::size_t>(data->BufTextLen));
            prompt.list_continuations();
            const std::string completed = prompt.completion();
            data->DeleteChars(0, data->BufTextLen);
            data->InsertChars(0, completed.c_str());
        } else if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways &&
                   std::exchange(prompt.goes_to_end_, false)) {
            data->ClearSelection();
            data->CursorPos = data->BufTextLen;
        }
        return 0;
    };
    constexpr ImGuiInputTextFlags FLAGS = ImGuiInputTextFlags_AutoSelectAll |
                                          ImGuiInputTextFlags_CallbackAlways |
                                          ImGuiInputTextFlags_CallbackCompletion;  // keeps Tab
    ImGui::InputText("##path", &path_, FLAGS, edit, this);
    has_focus_ = ImGui::IsItemActive();
    if (path_ != listed_) {
        problem_.clear();
        asks_to_replace_ = false;
        list_continuations();
    }
}

void PathPrompt::draw_continuations() {
    ImGui::BeginChild("continuations", {0.0F, -2.0F * ImGui::GetFrameHeightWithSpacing()}, true);
    std::optional<std::string> clicked;
    for (std::size_t i = 0; i < continuations_.size(); ++i) {
        const std::string& path = continuations_[i];
        ImGui::PushID(static_cast<int>(i));  // the path is no label: it may contain ImGui's "##"
        if (ImGui::Selectable("##path")) {
            clicked = path;
        }
        ImGui::PopID();
        ImGui::SameLine(0.0F, 0.0F);
        ImGui::TextUnformatted(path.c_str() + path.rfind('/', path.size() - 2) + 1);
    }
    ImGui::EndChild();
    if (clicked) {
        path_ = *clicked;
        goes_to_end_ = true;
    }
}

std::optional<PathPrompt::Paths> PathPrompt::choose() {
    const fs::path path = with_home(path_);
    std::error_code ignored;
    if (is_folder(path)) {
        path_ = (path / "").string();
        goes_to_end_ = true;
    } else if (saves_) {
        return choose_to_save();
    } else if (fs::exists(path, ignored)) {
        return Paths{path};
    } else {
        const std::vector<std::string> found = matches(path_);
        if (!found.empty()) {
            return Paths(found.begin(), found.end());
        }
        problem_ = "There is no such file.";
    }
    return std::nullopt;
}

std::optional<PathPrompt::Paths> PathPrompt::choose_to_save() {
    fs::path path = with_home(path_);
    if (!path.has_filename()) {
        problem_ = "The file needs a name.";
        return std::nullopt;
    }
    if (!path.has_extension()) {
        path += default_extension_;
    }
    std::error_code ignored;
    if (path.has_parent_path() && !is_folder(path.parent_path())) {
        problem_ = "There is no folder '" + path.parent_path().string() + "'.";
    } else if (is_folder(path)) {
        problem_ = "'" + path.filename().string() + "' is a folder.";
    } else if (fs::exists(path, ignored) && !asks_to_replace_) {
        asks_to_replace_ = true;
        problem_ = "Replace '" + path.filename().string() + "'?";
    } else {
        return Paths{path};
    }
    return std::nullopt;
}

std::optional<PathPrompt::Paths> PathPrompt::draw() {
    if (!is_open_) {
        return std::nullopt;
    }
    const std::string label = title_ + "###path prompt";
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float line = ImGui::GetTextLineHeight();
    if (appears_) {
        ImGui::OpenPopup(label.c_str());
        ImGui::SetNextWindowSize(
            {std::min(54.0F * line, display.x), std::min(24.0F * line, display.y)});
        ImGui::SetNextWindowPos({display.x / 2.0F, display.y / 2.0F}, ImGuiCond_Always,
                                {0.5F, 0.5F});
    }
    if (!ImGui::BeginPopupModal(label.c_str(), &is_open_, ImGuiWindowFlags_NoSavedSettings)) {
        is_open_ = false;  // the user clicked its cross
        return std::nullopt;
    }
    draw_path();
    draw_continuations();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(BAD_COLOUR), "%s", problem_.c_str());
    const char* const verb = !saves_ ? "Open" : asks_to_replace_ ? "Replace" : "Save";
    chooses_ = ImGui::Button(verb, {7.0F * line, 0.0F}) || chooses_;
    ImGui::SameLine();
    cancels_ = ImGui::Button("Cancel", {7.0F * line, 0.0F}) || cancels_;
    const std::optional<Paths> chosen = std::exchange(chooses_, false) ? choose() : std::nullopt;
    if (chosen) {
        (saves_ ? save_folder_ : open_folder_) = fs::absolute(chosen->front()).parent_path();
    }
    appears_ = false;
    if (chosen || std::exchange(cancels_, false)) {
        is_open_ = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
    return chosen;
}

}  // namespace quadtile::viewer
