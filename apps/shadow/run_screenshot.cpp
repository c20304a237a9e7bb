#include "panels.hpp"

#include "options_json.hpp"

#include "output_file.hpp"
#include "render_pass.hpp"
#include "ui.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace quadtile::shadow {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr vk::Format FORMAT = vk::Format::eR8G8B8A8Unorm;

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder)) {
        throw std::runtime_error("cannot make the folder for pictures '" + folder.string() + "': " +
                                 (error ? error.message() : "it is a file; give another name"));
    }
}

// Opens a file before anything is drawn, so that an error is reported at once.
std::optional<app::OutputFile> open_output(const fs::path& path) {
    if (path.empty()) {
        return std::nullopt;
    }
    return std::optional<app::OutputFile>(std::in_place, path);
}

// ---- Report of frames, as JSON

struct ReportedFrame {
    float flight_second = 0.0F;
    Camera camera;
    FrameStatistics statistics;
};

struct Report {
    const Options& options;
    const Show& show;
    std::string device;
    std::vector<ReportedFrame> frames;
};

Json tiles_json(const ShadowHeader& header) {
    return {{"count", header.tiles},
            {"kept", header.kept},
            {"added", header.added},
            {"removed", header.removed},
            {"resized", header.resized},
            {"rendered", header.render_count},
            {"repacked", (header.flags & SHADOW_REPACKED) != 0},
            {"instances", header.instances},
            {"factor", header.factor},
            {"used_cells", header.used_cells}};
}

Json difference_json(const MaskDifference& difference, std::size_t lights) {
    return {{"surface_pixels", difference.surface_pixels},
            {"wrong", difference.wrong},
            {"wrongly_lit", difference.wrongly_lit},
            {"wrongly_shadowed", difference.wrongly_shadowed},
            {"light_percent", difference.light_percent(lights)}};
}

Json frame_json(const ReportedFrame& frame, std::size_t lights) {
    const glm::vec3& position = frame.camera.position;
    const Timings& timings = frame.statistics.timings;
    Json json{{"flight_second", frame.flight_second},
              {"camera",
               {position.x, position.y, position.z, frame.camera.yaw_degrees,
                frame.camera.pitch_degrees}},
              {"gpu_microseconds",
               {{"depth", timings.depth},
                {"fit", timings.fit},
                {"cull", timings.cull},
                {"maps", timings.maps},
                {"shade", timings.shade}}}};
    if (frame.statistics.header) {
        json["tiles"] = tiles_json(*frame.statistics.header);
    }
    if (frame.statistics.difference) {
        json["error"] = difference_json(*frame.statistics.difference, lights);
    }
    if (frame.statistics.other_difference) {
        json["other_error"] = difference_json(*frame.statistics.other_difference, lights);
    }
    return json;
}

std::string report_json(const Report& report) {
    const Options& options = report.options;
    Json frames = Json::array();
    for (const ReportedFrame& frame : report.frames) {
        frames.push_back(frame_json(frame, report.show.lights.size()));
    }
    const Json json{{"scene", report.show.name},
                    {"triangles", report.show.geometry.indices.size() / 3},
                    {"flight", report.show.flight.name},
                    {"moving", options.moving},
                    {"device", report.device},
                    {"size", {options.extent.width, options.extent.height}},
                    {"technique", app::name_in(TECHNIQUES, options.technique)},
                    {"picture", app::name_in(DISPLAYS, options.display)},
                    {"filter", app::name_in(FILTERS, options.filter)},
                    {"shadows", options_json(options.shadows)},
                    {"atlas_cells", shadow_atlas_cells(shadow_parameters(options.shadows))},
                    {"warnings", report.show.warnings},
                    {"frames", frames}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- Pictures

class PictureMaker {
 public:
    PictureMaker(const app::Instance& instance, const Options& options, const Show& show)
        : options_(options),
          show_(show),
          gpu_(instance, options.device, {}),
          render_pass_(
              app::make_render_pass(gpu_.device(), FORMAT, vk::ImageLayout::eTransferSrcOptimal)),
          session_(gpu_, show, *render_pass_, app::checked_extent(gpu_, options.extent), options),
          controls_(options, show),
          panels_(controls_, show, session_.device_name()),
          report_{.options = options, .show = show, .device = session_.device_name()} {
        controls_.shows_panel = options.panel;
        controls_.shows_light_view = options.panel;
        controls_.follows_flight = options.flies || !options.record.empty();
        ui_.attach(gpu_, *render_pass_, 2);
        session_.configure(panels_.picture_area(options.extent, ui_.scale()), controls_.shown(),
                           options.shadows);
    }
    ~PictureMaker() { ui_.detach(); }
    PictureMaker(const PictureMaker&) = delete;
    PictureMaker& operator=(const PictureMaker&) = delete;

    // The next frame.
    void draw() {
        const float step = 1.0F / options_.frames_per_second;
        controls_.advance(report_.frames.empty() ? 0.0F : step, show_.flight);
        session_.draw(controls_.settings, controls_.samples,
                      static_cast<std::uint32_t>(controls_.mark_pixels));
        panels_.add_frame(session_.statistics(), 1000.0F * step);
        report_.frames.push_back(
            {controls_.flight_second, controls_.settings.camera, session_.statistics()});
    }

    // Returns the last drawn frame as PNG.
    [[nodiscard]] std::string png() {
        if (options_.panel) {
            draw_panel();
        }
        return app::encode_png(
            app::render_picture(gpu_, FORMAT, options_.extent, [&](vk::CommandBuffer commands) {
                session_.compose(commands, options_.extent,
                                 panels_.insets(session_, options_.extent, ui_.scale()));
                if (options_.panel) {
                    app::Ui::draw(commands);
                }
            }));
    }

    [[nodiscard]] const Report& report() const { return report_; }

 private:
    void draw_panel() {
        ImGuiIO& io = ImGui::GetIO();
        io.DisplaySize = {static_cast<float>(options_.extent.width),
                          static_cast<float>(options_.extent.height)};
        // Windows that take their size from their contents have it from the second frame on.
        for (int frame = 0; frame < 2; ++frame) {
            io.DeltaTime = 1.0F / options_.frames_per_second;
            ImGui::NewFrame();
            panels_.draw(session_, ui_.scale());
            ImGui::Render();
        }
    }

    const Options& options_;
    const Show& show_;
    app::Gpu gpu_;
    vk::UniqueRenderPass render_pass_;
    app::Ui ui_;
    Session session_;
    Controls controls_;
    Panels panels_;
    Report report_;
};

void make_screenshot(PictureMaker& maker, const Options& options, app::OutputFile& file) {
    constexpr std::uint32_t FRAMES = 2;
    for (std::uint32_t frame = 0; frame < options.frames.value_or(FRAMES); ++frame) {
        maker.draw();
    }
    file.write(maker.png());
    file.commit();
}

fs::path frame_path(const Options& options, std::uint32_t frame) {
    std::string number = std::to_string(frame);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
    return options.record / ("frame_" + number + ".png");
}

void make_record(PictureMaker& maker, const Options& options, const Show& show) {
    const float seconds = std::max(0.0F, show.flight.seconds() - options.at.value_or(0.0F));
    const auto whole_flight =
        static_cast<std::uint32_t>(std::floor(seconds * options.frames_per_second)) + 1;
    const std::uint32_t frames = options.frames.value_or(whole_flight);
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
        std::vector<app::FileArgument> files = file_arguments(options);
        files.push_back({"a frame of --record", frame_path(options, frame), true});
        app::check_files(std::move(files), show.files);
    }
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
        maker.draw();
        app::OutputFile file(frame_path(options, frame));
        file.write(maker.png());
        file.commit();
    }
}

}  // namespace

std::uint32_t run_screenshot(const Options& options) {
    std::optional<app::OutputFile> report = open_output(options.report);
    std::optional<app::OutputFile> screenshot = open_output(options.screenshot);
    if (!options.record.empty()) {
        make_folder(options.record);
    }
    const Show show = load_show(options);
    const app::Instance instance("quadtile-shadow", {}, options.validation);
    {
        PictureMaker maker(instance, options, show);
        if (screenshot) {
            make_screenshot(maker, options, *screenshot);
        } else {
            make_record(maker, options, show);
        }
        if (report) {
            report->write(report_json(maker.report()));
            report->commit();
        }
    }  // while the messages of the validation layer still count
    return instance.validation_messages();
}

}  // namespace quadtile::shadow
