// The program `quadtile`: random options and files. What it writes is what the library gives for
// them in this process, and an option that is accepted has its effect. No other file is made or
// changed. test/options has the command lines that are refused.

#include "apps/program.hpp"
#include "apps/tiles_files.hpp"
#include "choices.hpp"
#include "draw_tiles.hpp"
#include "save_image.hpp"
#include "support/glsl.hpp"
#include "support/pfm.hpp"
#include "support/variants.hpp"

#include <values/texel_codec.hpp>

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

namespace quadtile::test {

namespace {

namespace fs = std::filesystem;
using app::test::ProgramResult;
using app::test::operator+;
using Words = app::test::Arguments;
using Contents = std::map<std::string, std::string>;  // the bytes of each file by its name

struct Folder {
    const TemporaryDirectory& cache;  // of compiled pipelines
    TemporaryDirectory directory;

    [[nodiscard]] Contents contents() const {
        Contents all;
        for (const auto& entry : fs::recursive_directory_iterator(directory.path())) {
            if (entry.is_regular_file()) {
                all[fs::relative(entry.path(), directory.path())] = read_file(entry.path());
            }
        }
        return all;
    }
    [[nodiscard]] app::test::ProgramResult run(const Words& words) const {
        return app::test::run_program(
            words, {.directory = directory.path(),
                    .environment = {{"QUADTILE_CACHE_DIRECTORY", cache.path()}}});
    }
};

std::string line_of(const Words& words) {
    std::string text = "quadtile";
    for (const std::string& word : words) {
        text += " '" + word + "'";
    }
    return text;
}

std::string digits_of(float value) {  // in any locale
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

std::string list_of(const std::vector<float>& values) {
    std::string text;
    for (const float value : values) {
        text += (text.empty() ? "" : ",") + digits_of(value);
    }
    return text;
}

// ---- Files ------------------------------------------------------------------------------------

struct File {
    std::string name;
    ImageShape shape;
    std::vector<std::byte> texels;

    [[nodiscard]] ImageView view() const { return {texels.data(), shape}; }
};

File random_file(Choices& choices, const Folder& folder, bool finite) {
    constexpr TexelFormat FORMATS[] = {TexelFormat::r32_float,   TexelFormat::r16_float,
                                       TexelFormat::r8_unorm,    TexelFormat::r16_unorm,
                                       TexelFormat::rgba8_unorm, TexelFormat::rgba16_float,
                                       TexelFormat::rgba32_float};
    File file;
    file.shape = random_shape(choices, {.max_extent = 300, .max_layers = 1, .max_texels = 1 << 13});
    file.shape.format = FORMATS[choices.number("format", 0, 6)];
    file.texels = random_texels(choices, file.shape, random_palette(choices), finite);
    const bool is_pfm = file.shape.format == TexelFormat::r32_float && choices.one_in("pfm", 2);
    file.name = is_pfm ? "in.pfm" : std::string("in") + app::file_ending(file.shape.format);
    folder.directory.add(file.name, is_pfm
                                        ? pfm({reinterpret_cast<const float*>(file.texels.data()),
                                               file.texels.size() / sizeof(float)},
                                              file.shape.width)
                                        : app::encode_image(file.view()));
    return file;
}

// ---- quadtile tiles ---------------------------------------------------------------------------

struct GivenThreshold {
    Words words;
    Threshold threshold = Threshold::constant(0.0F);
    bool needs_device = false;
};

GivenThreshold given_threshold(Choices& choices, const Folder& folder, const MapShape& shape,
                               bool may_compile) {
    std::vector<std::string> kinds{"constant", "max-resolution", "level-thresholds", "memory"};
    if (may_compile) {
        kinds.emplace_back("glsl");
    }
    const std::string kind = kinds[choices.one_of("threshold", kinds)];
    const std::vector<float> palette = random_palette(choices);
    Random random = choices.random("threshold values");
    const auto value = [&] { return threshold_value(random, palette); };
    const std::uint32_t levels = top_level(shape.width, shape.height) + 1;
    if (kind == "constant") {
        const float constant = value();
        return {{"--constant=" + digits_of(constant)}, Threshold::constant(constant)};
    }
    if (kind == "max-resolution") {
        const float most = value() * static_cast<float>(1U << random.below(8));
        return {{"--max-resolution", digits_of(most)}, Threshold::max_resolution(most)};
    }
    if (kind == "level-thresholds") {  // the last one stands for the rest
        std::vector<float> given(1 + random.below(levels));
        std::ranges::generate(given, value);
        if (random.one_in(2)) {
            std::ranges::sort(given, std::greater());
        }
        std::vector<float> all = given;
        all.resize(levels, given.back());
        return {{"--level-thresholds=" + list_of(given)}, Threshold::per_level(all)};
    }
    if (kind == "memory") {  // the integers of a PNG are counts, not parts of 1
        const bool is_png = choices.one_in("png_of_counts", 2);
        const std::size_t texels = std::size_t{shape.width} * shape.height;
        std::vector<float> counts(texels);
        std::vector<std::uint8_t> codes(texels);
        for (std::size_t i = 0; i < texels; ++i) {
            codes[i] = static_cast<std::uint8_t>(random.one_in(2) ? 0 : random.below(256));
            counts[i] = codes[i];
        }
        const std::string name = is_png ? "counts.png" : "counts.pfm";
        const ImageShape size{shape.width, shape.height};
        folder.directory.add(
            name, is_png
                      ? app::encode_image(
                            {codes.data(), {shape.width, shape.height, 1, TexelFormat::r8_unorm}})
                      : pfm(counts, shape.width));
        const float most = 4.0F * value();
        const auto nodes = static_cast<float>(1 + random.below(1000));
        return {{"--memory", list_of({most, nodes}), "--fragments", name},
                Threshold::memory(most, nodes, {counts.data(), size})};
    }
    const float low = value();
    const float high = value();
    const std::uint32_t change = random.below(levels + 1);
    folder.directory.add("threshold.glsl",
                         "float threshold(uint level, uvec2 position, uint layer) {\n"
                         "    return threshold_parameter(level < uint(threshold_parameter(0))"
                         " ? 1 : 2);\n}\n");
    std::vector<float> all(levels, high);
    std::fill(all.begin(), all.begin() + std::min(change, levels), low);
    return {{"--glsl", "threshold.glsl",
             "--glsl-parameters=" + list_of({static_cast<float>(change), low, high})},
            Threshold::per_level(all),
            true};
}

// The number behind a name on a line of its own, as --stats prints them; empty: there is none.
std::string stated(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        line.erase(0, line.find_first_not_of(' '));
        if (line.starts_with(name + " ")) {
            std::istringstream rest(line.substr(name.size()));
            std::string value;
            rest >> value;
            return value;
        }
    }
    return {};
}

std::string wrong_statistics(const std::string& text, const TileList& list,
                             const std::string& strategy) {
    std::map<std::string, std::string> expected{
        {"strategy", strategy},
        {"tiles", std::to_string(list.tiles.size())},
        {"NaN texels", std::to_string(list.nan_texels)},
        {"clamped tiles", std::to_string(std::ranges::count_if(list.tiles, &Tile::clamped))},
        {"map", std::to_string(list.shape.width)}};
    if (list.balance != Balance::none) {
        expected["balance"] = list.balance == Balance::edges ? "edges" : "corners";
    }
    const auto counts = list.tiles_per_level();
    for (std::size_t level = 0; level < counts.size(); ++level) {
        expected["of level " + std::to_string(level)] = std::to_string(counts[level]);
    }
    for (const auto& [name, value] : expected) {
        if (const std::string found = stated(text, name); found != value) {
            return "--stats tells " + name + " '" + found + "' instead of '" + value + "'";
        }
    }
    return {};
}

std::string wrong_trace(const std::string& text) {
    std::vector<std::string> names;
    for (const auto& event : nlohmann::json::parse(text)) {
        if (event.at("ph") == "X" && event.at("ts") >= 0.0 && event.at("dur") >= 0.0) {
            names.push_back(event.at("name"));
        }
    }
    const bool is_right = names.size() >= 3 && names.front() == "load" && names.back() == "write";
    return is_right ? "" : "--trace does not begin with load and end with write";
}

std::string check_tiles(Choices& choices, const Folder& folder, bool on_device) {
    const File file = random_file(choices, folder, false);
    const bool is_coloured = channel_count(file.shape.format) > 1;
    const std::string channels[] = {"", "R", "G", "B"};
    const std::string channel = is_coloured
                                    ? channels[choices.number("channel", 0, 3)]
                                    : std::string(choices.one_in("channel_given", 4) ? "Y" : "");
    // Texels of one channel are those that were written; that of all colours is the library's.
    const LoadedMap loaded = load_map(folder.directory.path() / file.name, channel);
    std::vector<float> picked;
    if (is_coloured && !channel.empty()) {
        const std::size_t index = std::string("RGB").find(channel);
        for (const reference::Texel& texel : reference::decode_texels(file.view())) {
            picked.push_back(texel[index]);
        }
    }
    const MapView map = !is_coloured     ? MapView(file.view())
                        : picked.empty() ? loaded.view()
                                         : view_of(picked, file.shape.width, file.shape.height);

    const GivenThreshold asked =
        given_threshold(choices, folder, map.shape, on_device && can_compile_glsl());
    const bool is_monotone =
        asked.threshold.is_monotone(top_level(map.shape.width, map.shape.height));
    Words words = Words{"tiles", file.name} + asked.words;
    const auto give = [&](bool is_given, const Words& more) {
        words = is_given ? words + more : words;
    };
    give(!channel.empty(), {"--channel", channel});
    SubdivideOptions options;
    if (!asked.needs_device && (is_monotone || choices.one_in("wrong_balance", 8))) {
        options.balance = std::array{Balance::none, Balance::none, Balance::edges,
                                     Balance::corners}[choices.number("balance", 0, 3)];
    }
    std::string strategy = "reference";
    if (on_device) {
        std::vector<std::string> strategies{"auto"};
        if (options.balance == Balance::none) {
            strategies.emplace_back("subtree");
        }
        if (is_monotone && !asked.needs_device && choices.one_in("fused", 4)) {
            strategies.emplace_back("fused");
        }
        strategy = strategies[choices.one_of("strategy", strategies)];
    }
    if (!asked.needs_device && options.balance == Balance::none && strategy != "subtree" &&
        choices.one_in("with_budget", 3)) {
        options.max_tiles = choices.number("max_tiles", 1, 1000);
        words = words + Words{"--max-tiles", std::to_string(*options.max_tiles)};
    }
    give(options.balance == Balance::edges, {"--balance", "edges"});
    give(options.balance == Balance::corners, {"--balance", "corners"});
    give(strategy != "auto", {"--strategy=" + strategy});
    if (strategy == "subtree") {
        words = words + Words{"--subtree-levels", std::to_string(choices.number("levels", 1, 8))};
    }
    const bool is_any = choices.one_in("any_order", 3);
    give(is_any, {"--order", "any"});
    const std::string outputs[] = {"", "out", "out.json", "out.csv", "out.bin"};
    const std::string formats[] = {"", "json", "csv", "bin"};
    const std::string output = outputs[choices.number("output", 0, 4)];
    std::string format = formats[choices.number("output_format", 0, 3)];
    give(!output.empty(), {"-o", output});
    give(!format.empty(), {"--format", format});
    if (format.empty()) {
        format = output.size() > 4 ? output.substr(4) : "json";
    }
    const bool has_image = choices.one_in("with_image", 8);
    const bool has_trace = choices.one_in("with_trace", 4);
    const bool has_stats = choices.one_in("with_stats", 4);
    give(has_image, {"--image", "out.png"});
    give(has_trace, {"--trace", "trace"});
    give(has_stats, {"--stats"});
    if (choices.one_in("old_file", 2) && !output.empty()) {
        folder.directory.add(output, "old");
    }

    Contents expected = folder.contents();
    const ProgramResult result = folder.run(words);
    const auto wrong = [&](const std::string& what) {
        return what.empty() ? "" : what + ": " + line_of(words) + ": " + result.error;
    };
    Contents found = folder.contents();
    std::optional<TileList> wanted;
    try {
        wanted = reference::subdivide(map, asked.threshold, options);
    } catch (const Error& error) {
        const bool is_same =
            result.status == 1 &&
            (strategy != "reference" || result.error.find(error.what()) != std::string::npos);
        return wrong(is_same && found == expected && result.output.empty()
                         ? ""
                         : std::string("is not refused as by the library: ") + error.what());
    }
    if (result.status != 0 || (!has_stats && !result.error.empty())) {
        return wrong("ends with status " + std::to_string(result.status));
    }
    const std::string text = output.empty() ? result.output : found[output];
    if (!output.empty()) {
        expected[output] = text;
    }
    if (has_image) {
        expected["out.png"] = encode_png(app::draw_tiles(map, wanted->tiles));
    }
    if (has_trace) {
        if (const std::string fault = wrong_trace(found["trace"]); !fault.empty()) {
            return wrong(fault);
        }
        expected["trace"] = found["trace"];
    }
    if (found != expected || (!output.empty() && !result.output.empty())) {
        return wrong("writes other files, or another picture");
    }
    TileList list = *wanted;
    if (format == "csv") {
        list.tiles = app::test::parse_csv(text, options.balance != Balance::none);
    } else {
        list = format == "bin" ? app::test::parse_binary(text) : app::test::parse_json(text);
        list.threshold_factor = wanted->threshold_factor;
        if (list.shape.width != map.shape.width || list.shape.height != map.shape.height ||
            (format == "json" && list.balance != options.balance)) {
            return wrong("writes another size or balance");
        }
    }
    if (is_any) {
        sort_canonical(list.tiles);
    }
    if (const std::string fault = difference(list, *wanted); !fault.empty()) {
        return wrong(fault);
    }
    if (!has_stats) {
        return {};
    }
    // `auto` and the name of its choice are the same to a reader of the list.
    return wrong(wrong_statistics(
        result.error, *wanted, strategy == "auto" ? stated(result.error, "strategy") : strategy));
}

// ---- quadtile mipmap --------------------------------------------------------------------------

std::string check_mipmap(Choices& choices, const Folder& folder, bool on_device) {
    constexpr std::array<std::pair<const char*, Reduction>, 5> REDUCTIONS{
        {{"mean", Reduction::mean},
         {"max", Reduction::max},
         {"min", Reduction::min},
         {"sum", Reduction::sum},
         {"min-max", Reduction::min_max}}};
    constexpr std::array<std::pair<const char*, EdgeRule>, 3> EDGES{
        {{"fold", EdgeRule::fold}, {"drop", EdgeRule::drop}, {"round-up", EdgeRule::round_up}}};
    constexpr std::array<std::pair<const char*, MipMethod>, 3> METHODS{
        {{"spd", MipMethod::spd},
         {"subgroup", MipMethod::subgroup},
         {"per-level", MipMethod::per_level}}};
    const auto& [reduce, reduction] = REDUCTIONS[choices.number("reduction", 0, 4)];
    const bool is_extreme = reduction != Reduction::mean && reduction != Reduction::sum;
    const File file = random_file(choices, folder, !is_extreme);
    const std::string channel =
        choices.one_in("channel_given", reduction == Reduction::min_max ? 1 : 4)
            ? channel_count(file.shape.format) > 1 ? "G" : "Y"
            : "";
    const bool is_linear = choices.one_in("linear", 2);
    const LoadedImage image =
        load_image(folder.directory.path() / file.name, {.channel = channel, .linear = is_linear});
    const TexelFormat source = image.shape.format;

    reference::Downsampling how{.reduction = reduction, .format = source, .custom = {}};
    const bool is_single = channel_count(source) == 1;
    if (reduction == Reduction::sum) {
        how.format = is_single ? TexelFormat::r32_float : TexelFormat::rgba32_float;
    } else if (reduction == Reduction::min_max && is_single) {
        how.format =
            source == TexelFormat::r16_float ? TexelFormat::rg16_float : TexelFormat::rg32_float;
    }
    Words words{"mipmap", file.name, "new/levels", "--reduce", reduce};
    const auto give = [&](bool is_given, const Words& more) {
        words = is_given ? words + more : words;
    };
    give(!channel.empty(), {"--channel", channel});
    give(is_linear, {"--linear"});
    if (choices.one_in("format_given", 3)) {
        constexpr TexelFormat GIVEN[] = {TexelFormat::r32_float, TexelFormat::rgba32_float,
                                         TexelFormat::rg32_float, TexelFormat::rgba8_unorm};
        how.format = GIVEN[choices.number("level_format", 0, 3)];
        words = words + Words{"--format", std::string(name_of(how.format))};
    }
    const auto& [edges, rule] = EDGES[choices.number("edges", 0, 2)];
    how.edge_rule = rule;
    words = words + Words{"--edges", edges};
    const std::uint32_t full = full_mip_levels(image.shape.width, image.shape.height, rule);
    const std::uint32_t levels = choices.number("levels", 0, full + 1);
    if (levels > 0) {
        how.levels = levels;
        words = words + Words{"--levels", std::to_string(levels)};
    }
    std::string method = "reference";
    if (on_device && !loses_infinities(device_for(), how.format)) {
        const auto& [name, kind] = METHODS[choices.number("method", 0, 2)];
        method = name;
        how.method = is_extreme ? MipMethod::spd : kind;
    }
    words = words + Words{"--method", method};

    const std::string levels_folder = "new/levels/" + method + "/";
    if (choices.one_in("old_files", 2)) {
        fs::create_directories(folder.directory.path() / levels_folder);
        folder.directory.add(levels_folder + "notes.txt", "mine");
        folder.directory.add(levels_folder + "level_00" + app::file_ending(source), "old");
    }
    Contents expected = folder.contents();
    std::string refusal = levels > full ? "--levels" : "";
    if (refusal.empty()) {
        try {
            check_formats(how.reduction, source, how.format);
        } catch (const Error& error) {
            refusal = error.what();
        }
    }
    const ProgramResult result = folder.run(words);
    const auto wrong = [&](const std::string& what) {
        return what + ": " + line_of(words) + ": " + result.error;
    };
    if (!refusal.empty()) {
        const bool is_refused = result.status == 2 && result.output.empty() &&
                                result.error.find(refusal) != std::string::npos &&
                                folder.contents() == expected;
        return is_refused ? "" : wrong("is not refused as by the library: " + refusal);
    }
    const MipChain chain = reference::downsample(image.view(), how);
    for (std::size_t i = 0; i < chain.levels.size(); ++i) {
        const MipChain::Level& level = chain.levels[i];
        expected[levels_folder + (i < 10 ? "level_0" : "level_") + std::to_string(i) +
                 app::file_ending(level.shape.format)] =
            app::encode_image({level.texels.data(), level.shape});
    }
    if (result.status != 0 || !result.error.empty()) {
        return wrong("ends with status " + std::to_string(result.status));
    }
    if (folder.contents() != expected) {
        return wrong("writes other levels");
    }
    std::istringstream row(result.output.substr(result.output.find("\n" + method + " ")));
    std::string name;
    std::string count;
    std::string time;
    row >> name >> count >> time;
    const bool is_told = count == std::to_string(chain.levels.size()) &&
                         (time == "-" || method != "reference") &&
                         result.output.find(name_of(how.format)) != std::string::npos;
    return is_told ? "" : wrong("tells other levels: " + result.output);
}

std::string check_program(Choices& choices, const TemporaryDirectory& cache) {
    const Folder folder{cache, {}};
    const bool is_tiles = choices.one_of("command", {"tiles", "mipmap"}) == 0;
    // CPU drivers compile pipelines for seconds.
    const bool on_device = choices.one_in("on_device", device_for().info().type == "CPU" ? 12 : 2);
    return is_tiles ? check_tiles(choices, folder, on_device)
                    : check_mipmap(choices, folder, on_device);
}

}  // namespace

Subject programs_subject() {
    const auto cache = std::make_shared<TemporaryDirectory>();  // of compiled pipelines
    return {"programs", 0.1, 55, [=](Choices& choices) { return check_program(choices, *cache); }};
}

}  // namespace quadtile::test
