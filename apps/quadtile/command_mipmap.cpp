#include "arguments.hpp"
#include "commands.hpp"
#include "glsl_file.hpp"
#include "kept_pipelines.hpp"
#include "output_file.hpp"
#include "save_image.hpp"

#include <quadtile/downsampler.hpp>
#include <quadtile/error.hpp>
#include <quadtile/image.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace quadtile::app {

namespace {

// ---- The mip levels of one image by each method

constexpr std::uint32_t TIMED_RUNS = 9;

static_assert(static_cast<MipMethod>(LevelMethod::spd) == MipMethod::spd &&
              static_cast<MipMethod>(LevelMethod::blit) == MipMethod::blit);

// Returns the format of the levels if the user gives none.
TexelFormat default_format(Reduction reduction, TexelFormat source) {
    const bool one_channel = channel_count(source) == 1;
    if (reduction == Reduction::min_max && one_channel) {
        return source == TexelFormat::r16_float ? TexelFormat::rg16_float : TexelFormat::rg32_float;
    }
    if (reduction == Reduction::sum) {
        return one_channel ? TexelFormat::r32_float : TexelFormat::rgba32_float;
    }
    return source;
}

std::uint32_t checked_levels(const MipmapRequest& request, const ImageShape& image) {
    const std::uint32_t full = full_mip_levels(image.width, image.height, request.edge_rule);
    if (request.levels && (*request.levels == 0 || *request.levels > full)) {
        throw UsageError("--levels " + std::to_string(*request.levels) + ": an image of " +
                         std::to_string(image.width) + " x " + std::to_string(image.height) +
                         " texels has 1 to " + std::to_string(full) +
                         " levels, including the image itself");
    }
    return request.levels.value_or(full);
}

struct MadeLevels {
    MipChain chain;
    std::optional<double> gpu_time_us;
};

// Makes levels. Refers to the image.
class LevelMaker {
 public:
    // Opens the device unless only the CPU reference is requested. Throws UsageError for options
    // that contradict each other or the image.
    LevelMaker(const MipmapRequest& request, const ImageView& image);
    LevelMaker(const LevelMaker&) = delete;
    LevelMaker& operator=(const LevelMaker&) = delete;
    ~LevelMaker() {
        if (device_) {
            keep_pipelines(*device_);
        }
    }

    [[nodiscard]] TexelFormat format() const noexcept { return options_.format; }
    [[nodiscard]] std::uint32_t levels() const noexcept { return levels_; }
    [[nodiscard]] const std::string& device_name() const noexcept { return device_name_; }

    // Returns the choice of MipMethod::automatic. Throws Error as `make`.
    [[nodiscard]] LevelMethod automatic() const;

    // Makes the levels by one method. Throws Error: unsupported or invalid_argument if that method
    // cannot make these levels.
    [[nodiscard]] MadeLevels make(LevelMethod method) const;

 private:
    [[nodiscard]] Mipmapper make_mipmapper(MipMethod method) const;

    ImageView image_;
    DownsamplerOptions options_;
    std::uint32_t levels_;
    GlslFile glsl_;
    std::optional<Device> device_;
    std::string device_name_ = "none (host)";
};

LevelMaker::LevelMaker(const MipmapRequest& request, const ImageView& image)
    : image_(image), levels_(checked_levels(request, image.shape)) {
    options_.reduction = request.reduction;
    options_.source_format = image.shape.format;
    options_.format =
        request.format.value_or(default_format(request.reduction, image.shape.format));
    options_.edge_rule = request.edge_rule;
    if (request.reduction == Reduction::custom) {
        glsl_ = read_glsl_file(request.glsl, GlslKind::reduction);
        options_.custom_glsl = glsl_.text;
    }
    try {
        check_formats(options_.reduction, options_.source_format, options_.format);
    } catch (const Error& error) {
        const bool too_many = request.reduction == Reduction::min_max && request.channel.empty() &&
                              channel_count(image.shape.format) > 2;
        throw UsageError(std::string(error.what()) + (too_many ? "; choose a channel with --channel"
                                                      : request.format ? "; choose another --format"
                                                                       : ""));
    }
    if (request.method != LevelMethod::reference) {
        device_ = open_device(request.device, "--method reference");
        device_name_ = device_->info().name;
    }
}

Mipmapper LevelMaker::make_mipmapper(MipMethod method) const {
    DownsamplerOptions options = options_;
    options.method = method;
    try {
        return Mipmapper(*device_, options);
    } catch (const Error& error) {
        throw glsl_.with_name(error);
    }
}

LevelMethod LevelMaker::automatic() const {
    return static_cast<LevelMethod>(make_mipmapper(MipMethod::automatic).options().method);
}

MadeLevels LevelMaker::make(LevelMethod method) const {
    if (method == LevelMethod::reference) {
        if (options_.reduction == Reduction::custom) {
            throw Error(ErrorCode::unsupported,
                        "the CPU reference cannot run GLSL; choose another --method");
        }
        return {reference::downsample(image_, {.reduction = options_.reduction,
                                               .format = options_.format,
                                               .edge_rule = options_.edge_rule,
                                               .levels = levels_,
                                               .custom = {}}),
                std::nullopt};
    }
    Mipmapper mipmapper = make_mipmapper(static_cast<MipMethod>(method));
    MipChain chain = mipmapper.make(image_, levels_);
    std::vector<double> times_us;
    while (chain.gpu_time_us && times_us.size() < TIMED_RUNS) {
        chain = mipmapper.make(image_, levels_);
        times_us.push_back(*chain.gpu_time_us);
    }
    std::ranges::sort(times_us);
    return {std::move(chain),
            times_us.empty() ? std::nullopt : std::optional(times_us[times_us.size() / 2])};
}

// ---- Files and the table

namespace fs = std::filesystem;

// A line of the table; empty: not made or not measured.
struct Row {
    LevelMethod method;
    std::optional<std::size_t> levels;
    std::optional<double> gpu_time_us;
    std::string obstacle;
};

// Files that are complete before the first of them appears.
class LevelFiles {
 public:
    explicit LevelFiles(const MipmapRequest& request) : request_(request) {
        directories_.create(request_.directory);  // errors come before the work
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

    void commit() { OutputFile::commit_all(files_); }

 private:
    const MipmapRequest& request_;
    OutputDirectories directories_;  // must outlive the files in them
    std::vector<OutputFile> files_;
};

std::string table(const std::vector<Row>& rows) {
    std::ostringstream text;
    text << "method     levels  GPU time (µs)\n";
    for (const Row& row : rows) {
        std::ostringstream time;
        if (row.gpu_time_us) {
            time << std::fixed << std::setprecision(2) << *row.gpu_time_us;
        }
        const auto or_dash = [](std::string cell) { return cell.empty() ? "-" : cell; };
        text << std::left << std::setw(9) << name_in(LEVEL_METHODS, row.method) << std::right
             << std::setw(8) << or_dash(row.levels ? std::to_string(*row.levels) : "")
             << std::setw(15) << or_dash(time.str())
             << (row.obstacle.empty() ? "" : "  " + row.obstacle) << "\n";
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

// Returns whether another method may succeed.
bool concerns_method(const Error& error) {
    return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::invalid_argument;
}

}  // namespace

void run(const MipmapRequest& request) {
    const LoadedImage image = load_image(request.input, {request.channel, request.linear});
    const LevelMaker maker(request, image.view());
    std::vector<LevelMethod> methods{request.method};
    std::optional<LevelMethod> automatic;  // choice of `auto`
    try {
        if (request.method == LevelMethod::all) {
            methods = {LevelMethod::spd, LevelMethod::subgroup, LevelMethod::per_level,
                       LevelMethod::blit, LevelMethod::reference};
            automatic = maker.automatic();
        } else if (request.method == LevelMethod::automatic) {
            methods = {automatic.emplace(maker.automatic())};
        }
    } catch (const Error& error) {
        if (request.method != LevelMethod::all || !concerns_method(error)) {
            throw;
        }
    }

    LevelFiles files(request);
    std::vector<Row> rows;
    std::optional<Error> first_obstacle;
    for (const LevelMethod method : methods) {
        Row& row = rows.emplace_back(Row{.method = method});
        try {
            const MadeLevels made = maker.make(method);
            row.levels = made.chain.levels.size();
            row.gpu_time_us = made.gpu_time_us;
            files.add(method, made.chain);
        } catch (const Error& error) {
            if (!concerns_method(error)) {
                throw;
            }
            row.obstacle = error.what();
            first_obstacle = first_obstacle.value_or(error);
        }
    }
    if (std::ranges::none_of(rows, [](const Row& row) { return row.levels.has_value(); })) {
        throw *first_obstacle;
    }

    OutputFile output = OutputFile::standard_output();
    output.write(description(request, image.shape, maker) + table(rows));
    if (automatic) {
        output.write("auto takes " + std::string(name_in(LEVEL_METHODS, *automatic)) + "\n");
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
