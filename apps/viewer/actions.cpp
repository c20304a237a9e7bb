#include "actions.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>

namespace quadtile::viewer {

namespace {

// GLFW names keys by their place on a keyboard of the United States; letters go by what is printed
// on the user's. Where that is another script it is the place after all.
int printed_key(int key) {
    const bool has_character = key >= GLFW_KEY_APOSTROPHE && key <= GLFW_KEY_WORLD_2;
    const char* const name = has_character ? glfwGetKeyName(key, 0) : nullptr;
    if (name == nullptr || static_cast<unsigned char>(name[0]) >= 0x80U) {
        return key;
    }
    if (name[0] >= 'a' && name[0] <= 'z') {
        return GLFW_KEY_A + (name[0] - 'a');
    }
    return key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? GLFW_KEY_UNKNOWN : key;
}

// Not the locks.
constexpr int MODIFIERS = GLFW_MOD_CONTROL | GLFW_MOD_SHIFT | GLFW_MOD_ALT | GLFW_MOD_SUPER;

bool is_typed(unsigned int character) {
    if (is_writing()) {
        return false;
    }
    const ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
    return character != 0 && std::find(typed.begin(), typed.end(), character) != typed.end();
}

}  // namespace

// Dear ImGui wants text for one frame more than the text field is there.
bool is_writing() {
    return ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
}

void act_on_keys(const std::vector<Action>& actions, const std::vector<PressedKey>& pressed) {
    for (const Action& action : actions) {
        const auto is_pressed = [&](const Shortcut& shortcut) {
            return std::ranges::any_of(pressed, [&](const PressedKey& key) {
                const bool is_text = is_writing() && (key.modifiers & GLFW_MOD_CONTROL) == 0;
                return !is_text && shortcut.key == printed_key(key.key) &&
                       shortcut.modifiers == (key.modifiers & MODIFIERS) &&
                       (action.repeats || !key.is_repeated);
            });
        };
        if (std::ranges::any_of(action.shortcuts, [&](const Shortcut& shortcut) {
                return is_typed(shortcut.character) || is_pressed(shortcut);
            })) {
            action.act();
        }
    }
}

}  // namespace quadtile::viewer
