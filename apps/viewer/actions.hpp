// What the user can do by keys: one table, from which keys are handled and the help is drawn. What
// the mouse does stands there for the help, without keys.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace quadtile::viewer {

// A key of GLFW with exactly these modifiers (GLFW_MOD_*), or a character, whichever keys it takes:
// where brackets and signs lie depends on the keyboard.
struct Shortcut {
    int key = 0;
    int modifiers = 0;
    unsigned int character = 0;
};

struct Action {
    std::string group;  // a heading of the help
    std::string name;
    std::string keys;  // as the help shows them
    std::vector<Shortcut> shortcuts;
    std::function<void()> act;
    bool repeats = false;  // while the key is held
};

// A key that was pressed, as GLFW reports it.
struct PressedKey {
    int key;
    int modifiers;
    bool is_repeated;  // because it is held
};

// Whether a text field takes what is typed.
[[nodiscard]] bool is_writing();

// Does what these keys ask for, and the characters of Dear ImGui's frame; while text is typed only
// keys with Ctrl.
void act_on_keys(const std::vector<Action>& actions, const std::vector<PressedKey>& pressed);

}  // namespace quadtile::viewer
