// Names of values in options, files and messages, by tables: std::array<Named<Value>, N>.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app {

template <typename Value>
struct Named {
    std::string_view name;
    Value value;
};

// In the order of the table.
template <typename Table>
[[nodiscard]] std::vector<std::string> names_in(const Table& table) {
    std::vector<std::string> names;
    for (const auto& entry : table) {
        names.emplace_back(entry.name);
    }
    return names;
}

// Of a name that the table has.
template <typename Table>
[[nodiscard]] auto value_in(const Table& table, std::string_view name) {
    return std::ranges::find(table, name, [](const auto& entry) { return entry.name; })->value;
}

// Of a value that the table has.
template <typename Table, typename Value>
[[nodiscard]] std::string_view name_in(const Table& table, const Value& value) {
    return std::ranges::find(table, value, [](const auto& entry) { return entry.value; })->name;
}

}  // namespace quadtile::app
