#include "commands.hpp"
#include "compare_levels.hpp"
#include "file_arguments.hpp"
#include "make_levels.hpp"
#include "output_directory.hpp"
#include "output_file.hpp"
#include "save_image.hpp"

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <vector>

namespace quadtile::app {

namespace {

namespace fs = std::filesystem;

// A line of the table; what is empty was not made or not measured.
struct Row {
    LevelMethod method;
    std::optional<std::size_t> levels;
    std::optional<double> gpu_time_us;
    std::optional<double> difference;
    std::string obstacle;
};

// Files that are complete before the first of them appears.
class LevelFiles {
 public:
    explicit LevelFiles(const MipmapRequest& request) : request_(request) {
        directories_.create(request_.directory);  // what cannot be fails before the work is done
    }

    void add(LevelMethod method, const MipChain& chain) {
        const fs::path directory = request_.directory / name_in(LEVEL_METHODS, method);
        directories_.create(directory);
        for (std::size_t number = 0; number < chain.levels.size(); ++number) {
            const MipChain::Level& level = chain.levels[number];
            std::ostringstream name;
            name << "level_" << std::setw(2) << std::setfill('0') << number
                 << file_ending(level.shape.format);
            const fs::path path = directory / name.str();
            check_files({{"IMAGE", request_.input, false},
                         {"--glsl", request_.glsl, false},
                         {"a level", path, true}});
            OutputFile& file = files_.emplace_back(path);
            file.write(encode_image({level.texels.data(), level.shape}));
        }
    }

    void commit() {
        for (OutputFile& file : files_) {
            file.commit();
        }
    }

 private:
    const MipmapRequest& request_;
    OutputDirectories directories_;  // outlives the files in them
    std::vector<OutputFile> files_;
};

std::string difference_text(double difference, bool codes) {
    std::ostringstream text;
    if (!codes) {
        text << std::setprecision(3);
    }
    text << difference;
    return text.str();
}

std::string table(const std::vector<Row>& rows, TexelFormat format) {
    const bool codes = has_codes(format);
    std::ostringstream text;
    text << "method     levels  GPU time (µs)  largest difference ("
         << (codes ? "codes" : "absolute") << ")\n";
    for (const Row& row : rows) {
        std::ostringstream time;
        if (row.gpu_time_us) {
            time << std::fixed << std::setprecision(2) << *row.gpu_time_us;
        }
        const auto or_dash = [](std::string cell) { return cell.empty() ? "-" : cell; };
        text << std::left << std::setw(9) << name_in(LEVEL_METHODS, row.method) << std::right
             << std::setw(8) << or_dash(row.levels ? std::to_string(*row.levels) : "")
             << std::setw(15) << or_dash(time.str()) << "  "
             << or_dash(row.difference ? difference_text(*row.difference, codes) : "");
        if (!row.obstacle.empty()) {
            text << "  " << row.obstacle;
        }
        text << "\n";
    }
    return text.str();
}

std::string description(const MipmapRequest& request, const ImageShape& image,
                        const LevelMaker& maker) {
    std::ostringstream text;
    text << "image   " << image.width << " x " << image.height << " texels, "
         << name_of(image.format) << "\n"
         << "levels  " << name_of(maker.format()) << ", "
         << (request.glsl.empty() ? name_in(REDUCTIONS, request.reduction) : "GLSL") << ", edges "
         << name_in(EDGE_RULES, request.edge_rule) << "\n"
         << "device  " << maker.device_name() << "\n\n";
    return text.str();
}

// The methods to be run, and the one that `auto` takes.
struct Methods {
    std::vector<LevelMethod> to_run;
    std::optional<LevelMethod> automatic;
};

// Whether another method may do what this one cannot.
bool concerns_method(const Error& error) {
    return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::invalid_argument;
}

Methods choose_methods(LevelMethod asked_for, LevelMaker& maker) {
    if (asked_for == LevelMethod::automatic) {
        const LevelMethod method = maker.automatic();
        return {{method}, method};
    }
    if (asked_for != LevelMethod::all) {
        return {{asked_for}, std::nullopt};
    }
    Methods methods{{LevelMethod::spd, LevelMethod::subgroup, LevelMethod::per_level,
                     LevelMethod::blit, LevelMethod::reference},
                    std::nullopt};
    try {
        methods.automatic = maker.automatic();
    } catch (const Error& error) {
        if (!concerns_method(error)) {
            throw;
        }
    }
    return methods;
}

}  // namespace

void run(const MipmapRequest& request) {
    const LoadedImage image = load_image(request.input, {request.channel, request.linear});
    LevelMaker maker(request, image.view());
    const Methods methods = choose_methods(request.method, maker);

    LevelFiles files(request);
    std::vector<Row> rows;
    std::optional<Error> first_obstacle;
    bool any_made = false;
    for (const LevelMethod method : methods.to_run) {
        Row& row = rows.emplace_back(Row{.method = method});
        std::optional<MadeLevels> made;
        try {
            made = maker.make(method);
        } catch (const Error& error) {
            if (!concerns_method(error)) {
                throw;
            }
            row.obstacle = error.what();
            if (!first_obstacle) {
                first_obstacle = error;
            }
            continue;
        }
        any_made = true;
        row.levels = made->chain.levels.size();
        row.gpu_time_us = made->gpu_time_us;
        if (const MipChain* expected = request.compare ? maker.reference_of(method) : nullptr) {
            row.difference = largest_difference(made->chain, *expected);
        }
        files.add(method, made->chain);
    }
    if (!any_made) {
        throw *first_obstacle;
    }

    OutputFile output = OutputFile::standard_output();
    output.write(description(request, image.shape, maker) + table(rows, maker.format()));
    if (methods.automatic) {
        output.write("auto takes " + std::string(name_in(LEVEL_METHODS, *methods.automatic)) +
                     "\n");
    }
    if (std::ranges::any_of(rows, [](const Row& row) {
            return row.method == LevelMethod::blit && row.obstacle.empty();
        })) {
        output.write("blit leaves odd edges to the driver, whatever --edges says\n");
    }
    output.commit();
    files.commit();
}

}  // namespace quadtile::app
