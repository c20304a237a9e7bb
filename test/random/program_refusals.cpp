// Command lines of `quadtile` that are refused: each is right but for one random thing.

#include "program_folder.hpp"

#include <algorithm>
#include <array>

namespace quadtile::test {

namespace {

namespace fs = std::filesystem;
using app::test::ProgramResult;

struct Refused {
    Words words;
    int status;
    Words texts;  // parts of the error's line
};

// A command line that is right, but for one thing.
Refused random_refusal(Choices& choices, const Folder& folder) {
    folder.directory.add("in.pfm", encode_pfm({std::array<float, 6>{}.data(), {3, 2}}));
    folder.directory.add("other.pfm", "Pf\n3 2\n-1\n" + std::string(24, '\0'));
    folder.directory.add("f.glsl", "x");
    const bool is_tiles = choices.one_in("tiles", 2);
    const auto one_of = [&](const std::string& name, const Words& words) {
        return words[choices.number(name, 0, static_cast<std::uint32_t>(words.size()) - 1)];
    };
    const Words input{is_tiles ? "tiles" : "mipmap", "in.pfm"};
    const Words target = is_tiles ? Words{"-o", "out"} : Words{"out"};
    const Words how = is_tiles ? Words{"--strategy=reference"} : Words{"--method=reference"};
    const Words threshold = is_tiles ? Words{"--constant=1"} : Words{};
    const Words right = input + target;
    const std::vector<std::string> kinds{"number", "whole",   "choice", "unknown", "twice",
                                         "bare",   "missing", "folder", "same",    "second"};
    const std::string kind = kinds[choices.one_of("refused", kinds)];
    if (kind == "number" && is_tiles) {
        const std::string option =
            one_of("option", {"--constant", "--max-resolution", "--level-thresholds", "--memory",
                              "--glsl-parameters"});
        Words bad{"nan", "-nan", "x", "1x", "1e39", "-1e400", "0x", "--1", " 1", "1 "};
        if (option != "--glsl-parameters") {
            bad.insert(bad.end(), {"-1", "-inf", "-1e-30"});
        } else {
            bad.insert(bad.end(), {"1e39", "-1e39"});
        }
        const std::string value = one_of("value", bad);
        const std::string first = option == "--memory" ? "1," : "";
        return {right + Words{option + "=" + first + value}, 2, {option, "'" + value + "'"}};
    }
    if (kind == "number" || kind == "whole") {
        const std::string option =
            is_tiles ? one_of("option", {"--max-tiles", "--subtree-levels"}) : "--levels";
        const std::string value = one_of("value", {"0", "-1", "1.5", "x", "4294967296", "nan", "1x",
                                                   "99999999999999999999", " 1"});
        return {right + how + threshold + Words{option + "=" + value}, 2, {option}};
    }
    if (kind == "choice") {
        const std::string option =
            is_tiles ? one_of("option", {"--format", "--strategy", "--order", "--balance"})
                     : one_of("option", {"--method", "--reduce", "--edges", "--format"});
        const std::string value = one_of("value", {"nothing", "AUTO", "none ", "0", "js"});
        return {
            right + threshold + Words{option, value}, 2, {option, "'" + value + "' is none of"}};
    }
    if (kind == "unknown") {
        const std::string option = one_of("option", {"--constants", "-x", "--tile", "--Stats"});
        return {right + how + threshold + Words{option, "1"}, 2, {"unknown option " + option}};
    }
    if (kind == "twice") {
        const std::string option =
            is_tiles ? one_of("option", {"--constant=1", "--max-resolution=1", "--channel=Y",
                                         "--image=a.png", "--format=csv", "--order=any"})
                     : one_of("option", {"--reduce=max", "--edges=fold", "--channel=Y"});
        return {right + how + Words{option, option}, 2, {option.substr(0, option.find('='))}};
    }
    if (kind == "bare") {
        const std::string option =
            is_tiles ? one_of("option", {"--constant", "--image", "--trace", "--channel"})
                     : one_of("option", {"--levels", "--format", "--glsl"});
        return {right + how + Words{option}, 2, {option + " needs a value"}};
    }
    if (kind == "missing") {
        const std::string name =
            one_of("name", {"none.exr", "no\nne", "none/map.pfm", "\x1b[2J", "."});
        const std::string shown = name == "no\nne"    ? "no ne"
                                  : name == "\x1b[2J" ? "\\x1b[2J"
                                                      : name;
        const std::string what = name == "." ? "is a directory" : "no such file";
        if (is_tiles && choices.one_in("fragments", 2)) {
            return {right + how + Words{"--memory=1,1", "--fragments", name}, 1, {shown, what}};
        }
        return {
            Words{input[0], name} + target + how + threshold, 1, {"cannot read '" + shown, what}};
    }
    if (kind == "folder") {
        const std::string path = one_of("path", {"none/out", "in.pfm/out", "."});
        if (!is_tiles) {
            const bool is_file = path != "none/out";
            return {Words{"mipmap", "in.pfm", is_file ? "other.pfm/out" : "/proc/none/out"} + how,
                    1,
                    {"cannot create the directory"}};
        }
        const std::string option = one_of("option", {"-o", "--image", "--trace"});
        return {input + how + threshold + Words{option, path}, 1, {"cannot write '" + path + "'"}};
    }
    if (kind == "second" && is_tiles) {
        const std::string other =
            one_of("other", {"--max-resolution=1", "--level-thresholds=1", "--glsl=f.glsl"});
        return {right + threshold + Words{other}, 2, {"exclude each other"}};
    }
    if (kind == "second") {
        return {right + how + Words{"--glsl=f.glsl", "--reduce=max"}, 2, {"--reduce"}};
    }
    // One file under two names.
    const std::string path =
        one_of("alias", {"in.pfm", "./in.pfm", "absolute", "symbolic", "hard"});
    const fs::path& root = folder.directory.path();
    if (path == "symbolic") {
        fs::create_symlink("in.pfm", root / path);
    } else if (path == "hard") {
        fs::create_hard_link(root / "in.pfm", root / path);
    }
    const std::string alias = path == "absolute" ? (root / "in.pfm").string() : path;
    if (!is_tiles) {
        return {input + Words{alias} + how, 2, {"IMAGE", "OUTDIR", "the same file"}};
    }
    const std::string option = one_of("option", {"--output", "--image", "--trace"});
    if (choices.one_in("fragments", 2)) {
        return {Words{"tiles", "other.pfm"} + how +
                    Words{"--memory=1,1", "--fragments=in.pfm", option, alias},
                2,
                {"--fragments", option, "the same file"}};
    }
    return {input + how + threshold + Words{option, alias}, 2, {"INPUT", option, "the same file"}};
}

}  // namespace

std::string check_refusal(Choices& choices, const Folder& folder) {
    const Refused refused = random_refusal(choices, folder);
    const Contents before = folder.contents();
    const ProgramResult result = folder.run(refused.words);
    const auto wrong = [&](const std::string& what) {
        return what + ": " + line_of(refused.words) + ": " + result.error;
    };
    if (result.status != refused.status) {
        return wrong("ends with status " + std::to_string(result.status));
    }
    if (!result.error.starts_with("quadtile: error: ") ||
        std::ranges::count(result.error, '\n') != 1 || !result.output.empty()) {
        return wrong("tells more than a line with its error");
    }
    for (const std::string& text : refused.texts) {
        if (result.error.find(text) == std::string::npos) {
            return wrong("does not tell '" + text + "'");
        }
    }
    if (refused.status == 2 && result.error.find("see 'quadtile ") == std::string::npos &&
        result.error.find("--levels") == std::string::npos) {
        return wrong("does not tell where the help is");
    }
    return folder.contents() == before ? "" : wrong("changes files");
}

}  // namespace quadtile::test
