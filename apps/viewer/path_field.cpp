#include "path_field.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace quadtile::viewer {

namespace fs = std::filesystem;

void PathField::open(const std::string& title, const fs::path& suggestion, bool writes, Take take) {
    is_open_ = appears_ = true;
    enters_ = cancels_ = false;
    writes_ = writes;
    title_ = title;
    text_ = fs::absolute(suggestion).string();
    replaced_.clear();
    take_ = std::move(take);
}

void PathField::draw() {
    if (!is_open_) {
        return;
    }
    const std::string label = title_ + "###path";
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float line = ImGui::GetTextLineHeight();
    if (appears_) {
        ImGui::OpenPopup(label.c_str());
    }
    ImGui::SetNextWindowSize({std::min(54.0F * line, display.x), 0.0F});
    ImGui::SetNextWindowPos({display.x / 2.0F, display.y / 2.0F}, ImGuiCond_Always, {0.5F, 0.5F});
    if (!ImGui::BeginPopupModal(label.c_str(), &is_open_, ImGuiWindowFlags_NoSavedSettings)) {
        is_open_ = false;  // the user clicked its cross
        return;
    }
    if (std::exchange(appears_, false)) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1.0F);
    ImGui::InputText("##path", &text_, ImGuiInputTextFlags_AutoSelectAll);
    const bool asks = !replaced_.empty() && replaced_ == text_;
    const char* const verb = asks ? "Replace the file" : writes_ ? "Save" : "Open";
    enters_ = ImGui::Button(verb, {10.0F * line, 0.0F}) || enters_;
    ImGui::SameLine();
    cancels_ = ImGui::Button("Cancel", {10.0F * line, 0.0F}) || cancels_;
    std::error_code ignored;
    if (std::exchange(enters_, false) && !text_.empty()) {
        if (writes_ && !asks && fs::exists(text_, ignored)) {
            replaced_ = text_;
        } else {
            take_(fs::absolute(text_));
            is_open_ = false;
        }
    }
    is_open_ = is_open_ && !std::exchange(cancels_, false);
    if (!is_open_) {
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

}  // namespace quadtile::viewer
