// Tables of a benchmark, on standard output row by row and as JSON, and the main function of the
// benchmarks that print them.

#pragma once

#include "process.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace quadtile::bench {

using Json = nlohmann::ordered_json;

inline std::string formatted(const char* format, auto... values) {
    char text[400];
    std::snprintf(text, sizeof(text), format, values...);
    return text;
}

inline void print(const std::string& line) {
    std::cout << line << std::endl;  // flushed at once, since rows take long
}

struct Value {
    std::string name;
    double value;
    int digits = 0;  // after the decimal point
};
using Row = std::vector<Value>;

class Tables {
 public:
    // Prints a row, and before the table's first row its header. All rows of a table have the same
    // names; `label` tells them apart.
    void add(const std::string& table, const std::string& label, const Row& row) {
        Json& rows = json["tables"][table];
        if (rows.empty()) {
            std::string header = formatted("%-*s", LABEL_WIDTH, "");
            for (const Value& value : row) {
                header += formatted("%*s", width_of(value), value.name.c_str());
            }
            print(header);
        }
        std::string line = formatted("%-*s", LABEL_WIDTH, label.c_str());
        Json numbers{{"label", label}};
        for (const Value& value : row) {
            line += formatted("%*.*f", width_of(value), value.digits, value.value);
            numbers[value.name] = value.value;
        }
        print(line);
        rows.push_back(numbers);
    }

    Json json;

 private:
    static constexpr int LABEL_WIDTH = 26;

    static int width_of(const Value& value) {
        return 2 + std::max(static_cast<int>(value.name.size()), 6 + value.digits);
    }
};

// Writes the JSON, unless the path is empty.
inline void save(const Json& json, const std::string& path) {
    if (!path.empty() && !(std::ofstream(path) << json.dump(1) << "\n").flush()) {
        throw std::runtime_error("'" + path + "' cannot be written");
    }
}

// Reads the arguments and runs. Returns the exit status.
template <typename Arguments>
int run_program(int argc, char** argv, const std::string& name, const std::string& description,
                const std::function<void(CLI::App&, Arguments&)>& define_options,
                const std::function<void(const CLI::App&, Arguments&)>& run) {
    Arguments arguments;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    define_options(app, arguments);
    CLI11_PARSE(app, argc, argv);
    return quadtile::app::run_program(name, "there is not enough memory", [&] {
        run(app, arguments);
        return 0;
    });
}

}  // namespace quadtile::bench
