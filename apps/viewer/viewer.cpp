#include "viewer.hpp"

#include "swapchain.hpp"

#include "platform.hpp"
#include "process.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace quadtile::viewer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr float SMALLEST_ZOOM = 1.0F / 256.0F;
constexpr float LARGEST_ZOOM = 256.0F;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string size_text(const MapShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

std::string text_of(const std::exception& error) {
    if (app::is_out_of_memory(error)) {
        return "there is not enough memory for this";
    }
    if (dynamic_cast<const vk::OutOfDeviceMemoryError*>(&error) != nullptr) {
        return "the device does not have enough memory for this; use a smaller map, or another "
               "device";
    }
    return error.what();
}

}  // namespace

Viewer::Viewer(const Options& options, std::function<void()> wake)
    : settings(options.settings), logs_(options.log), files_(std::move(wake)) {
    files_.open(options.files, options.channel);
    tiles_wanted = options.tile_count.value_or(tiles_wanted);
    if (options.tile_count || options.chooses_threshold) {
        tiles_to_find_ = tiles_wanted;
    }
}

void Viewer::attach(app::Gpu& gpu, vk::Format format) {
    gpu_ = &gpu;
    format_ = format;
    tiles_ = std::make_unique<MapTiles>(gpu);
    const auto render_pass =
        app::make_render_pass(gpu.device(), format, vk::ImageLayout::eTransferSrcOptimal);
    canvas_ = std::make_unique<Canvas>(gpu, *render_pass);
    log("device " + tiles_->device().info().name);
}

void Viewer::detach() {
    canvas_.reset();
    tiles_.reset();
    gpu_ = nullptr;
}

// Panels call this within a frame of Dear ImGui, which must be completed: nothing is thrown.
void Viewer::attempt(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        notify(text_of(error), true);
    }
}

// ---- A frame

void Viewer::update(const vk::Rect2D& area) {
    area_ = area;
    take_map();
    if (coming_) {
        try {
            put_map_on_device();
        } catch (const std::exception& error) {
            if (app::is_device_loss(error)) {
                throw;
            }
            load_problem_ = text_of(error);
            log("problem: " + load_problem_);
        }
    }
    apply_settings(area);
}

void Viewer::apply_settings(const vk::Rect2D& area) {
    area_ = area;
    settings.drawing = repaired(settings.drawing);
    if (!tiles_->has_map()) {
        hovered_.reset();
        pinned_.reset();
        return;
    }
    if (tiles_to_find_) {
        find_threshold(*std::exchange(tiles_to_find_, {}));
    }
    if (applied_ != settings.subdivision) {
        subdivide();
    }
    probe();
    canvas_->set_colours(settings.drawing.colour_map);
    canvas_->set_map(*tiles_);
}

bool Viewer::is_busy() const {
    return coming_ || files_.has_arrived();
}

// Reads a changed file when two checks find it the same, so that nobody is writing it.
void Viewer::watch_file() {
    const Clock::time_point now = Clock::now();
    if (now < next_watch_time_ || !frame_ || frame_->path.empty() || files_.is_loading()) {
        return;
    }
    constexpr std::chrono::milliseconds INTERVAL(200);
    next_watch_time_ = now + INTERVAL;
    const std::optional<FileStamp> stamp = stamp_of(frame_->path);
    const bool is_at_rest = stamp == std::exchange(seen_stamp_, stamp);
    if (stamp && is_at_rest && stamp != frame_->stamp && stamp != reloaded_stamp_) {
        reloaded_stamp_ = stamp;
        files_.reload();
        notify(frame_->name + " has changed and is read again");
    }
}

void Viewer::take_map() {
    std::optional<MapFiles::Arrival> arrival = files_.take();
    if (!arrival) {
        return;
    }
    load_problem_ = arrival->error;
    if (!arrival->frame) {
        log("problem: " + load_problem_);
        return;
    }
    coming_ = std::move(arrival->frame);
}

void Viewer::put_map_on_device() {
    const std::shared_ptr<const MapFrame> frame = std::exchange(coming_, nullptr);
    const bool had_map = tiles_->has_map();
    const MapShape before = tiles_->shape();
    fragments_.reset();
    odd_texel_ = 0;
    applied_.reset();
    const MapShape& shape = frame->map.shape;
    try {
        tiles_->set_map(frame->map.view());
    } catch (const std::exception& error) {
        if (!tiles_->has_map()) {  // the old map is already gone
            frame_.reset();
        }
        if (dynamic_cast<const vk::OutOfDeviceMemoryError*>(&error) == nullptr) {
            throw;
        }
        throw std::runtime_error(
            "a map of " + size_text(shape) +
            " texels does not fit into the device's memory; use a smaller map, or another device");
    }
    frame_ = frame;
    if (had_map && (before.width != shape.width || before.height != shape.height)) {
        show_all();
    }
    log("map " + frame->name + ", " + size_text(shape));
}

const LoadedMap& Viewer::fragments(const std::string& channel) {
    if (!fragments_ || fragments_channel_ != channel) {
        if (frame_->path.empty()) {
            throw std::runtime_error("open a file that has a channel with the number of fragments");
        }
        if (channel.empty()) {
            throw std::runtime_error(
                "a memory threshold needs a channel with the number of fragments; choose one");
        }
        fragments_ = load_map(frame_->path, channel);
        fragments_channel_ = channel;
    }
    return *fragments_;
}

const app::GlslFile& Viewer::glsl(const std::string& path) {
    if (path.empty()) {
        throw std::runtime_error("a GLSL threshold needs a file; choose one");
    }
    if (!glsl_ || glsl_->path != app::path_of(path)) {
        glsl_ = app::read_glsl_file(app::path_of(path), app::GlslKind::threshold);
    }
    return *glsl_;
}

void Viewer::reload_threshold() {
    glsl_.reset();
    applied_.reset();
}

Threshold Viewer::threshold_of(const ThresholdSettings& wanted) {
    if (wanted.kind == ThresholdKind::glsl) {
        const std::string function = glsl(wanted.glsl_file).text;
        return make_threshold(wanted, tiles_->shape(), nullptr, &function);
    }
    if (wanted.kind != ThresholdKind::memory) {
        return make_threshold(wanted, tiles_->shape());
    }
    const MapView view = fragments(wanted.fragments_channel).view();
    return make_threshold(wanted, tiles_->shape(), &view);
}

void Viewer::subdivide() {
    const Clock::time_point start = Clock::now();
    applied_ = settings.subdivision;
    ++list_number_;
    try {
        threshold_ = threshold_of(settings.subdivision.threshold);
        tiles_->subdivide(settings.subdivision, *threshold_);
        if (threshold_->user_function() != nullptr && !summary().problem.empty()) {
            const Error error(ErrorCode::invalid_argument, summary().problem);
            tiles_->discard(glsl_->with_name(error).what());
        }
    } catch (const std::exception& error) {
        if (app::is_device_loss(error)) {
            throw;
        }
        tiles_->discard(text_of(error));
    }
    update_milliseconds_ = milliseconds_since(start);
    if (logs_) {
        log(summary().problem.empty() ? app::counted(summary().header.written, "tile") + ", " +
                                            describe(settings.subdivision.threshold) + ", in " +
                                            number_text(update_milliseconds_, 6) + " ms"
                                      : "problem: " + summary().problem);
    }
}

void Viewer::draw(vk::CommandBuffer commands, vk::Extent2D target) {
    if (tiles_->has_map()) {
        draw_view(commands, target, area_, view());
    }
}

void Viewer::draw_view(vk::CommandBuffer commands, vk::Extent2D target, const vk::Rect2D& area,
                       const View& view) {
    canvas_->draw(
        commands, *tiles_,
        make_drawing(tiles_->shape(), settings.drawing, range(), view, target, pixel_scale_), area);
}

// ---- State that is shown

std::string Viewer::problem() const {
    if (!load_problem_.empty()) {
        return load_problem_;
    }
    return tiles_ && tiles_->has_map() ? summary().problem : std::string();
}

app::Range Viewer::range() const {
    const DrawingSettings drawing = repaired(settings.drawing);
    if (drawing.automatic_range) {
        return app::automatic_range(frame_->statistics, drawing.logarithmic);
    }
    return {drawing.range_low, drawing.range_high};
}

void Viewer::notify(std::string text, bool is_problem) {
    log((is_problem ? "problem: " : "") + text);
    notice_ = {std::move(text), is_problem, Clock::now()};
}

void Viewer::log(const std::string& line) const {
    if (logs_) {
        std::fprintf(stderr, "%s\n", line.c_str());
    }
}

std::string Viewer::title() const {
    std::string title;
    if (frame_) {
        title = frame_->name + " - ";
        if (tiles_ && tiles_->has_tiles()) {
            title += app::counted(summary().header.written, "tile") + " - ";
        }
    }
    return title + "quadtile";
}

// ---- The view

View Viewer::view() const {
    return view_in(settings.view, tiles_->shape(), area_);
}

// Returns the zoom and the centre of the view, even if it shows the whole map.
ViewSettings Viewer::shown_view() const {
    if (settings.view.zoom > 0.0F) {
        return settings.view;
    }
    const View whole = view();
    const MapShape& shape = tiles_->shape();
    return {whole.zoom, static_cast<float>(shape.width) / 2.0F,
            static_cast<float>(shape.height) / 2.0F};
}

void Viewer::pan(float x, float y) {
    if (tiles_ && tiles_->has_map()) {
        settings.view = shown_view();
        settings.view.centre_x -= x / settings.view.zoom;
        settings.view.centre_y -= y / settings.view.zoom;
    }
}

void Viewer::zoom_at(float x, float y, float factor) {
    if (!tiles_ || !tiles_->has_map()) {
        return;
    }
    ViewSettings shown = shown_view();
    // A huge map as a whole is smaller, a tiny one larger.
    const float whole = view_in({}, tiles_->shape(), area_).zoom;
    const float zoom = std::clamp(shown.zoom * factor, std::min({SMALLEST_ZOOM, whole, shown.zoom}),
                                  std::max({LARGEST_ZOOM, whole, shown.zoom}));
    const auto follow = [&](float& centre, float pixel, std::int32_t offset, std::uint32_t extent) {
        const float middle = static_cast<float>(offset) + static_cast<float>(extent) / 2.0F;
        centre += (pixel - middle) * (1.0F / shown.zoom - 1.0F / zoom);
    };
    follow(shown.centre_x, x, area_.offset.x, area_.extent.width);
    follow(shown.centre_y, y, area_.offset.y, area_.extent.height);
    shown.zoom = zoom;
    settings.view = shown;
}

void Viewer::show_one_to_one() {
    if (tiles_ && tiles_->has_map()) {
        settings.view = shown_view();
        settings.view.zoom = 1.0F;
    }
}

void Viewer::show_texel(std::uint32_t x, std::uint32_t y, float zoom) {
    settings.view = {zoom, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F};
}

void Viewer::go_to(std::int64_t x, std::int64_t y, float zoom) {
    const MapShape& shape = tiles_->shape();
    if (x < 0 || y < 0 || x >= shape.width || y >= shape.height) {
        notify("there is no texel " + std::to_string(x) + ", " + std::to_string(y) +
                   ": the map has " + size_text(shape) + " texels",
               true);
        return;
    }
    const app::TexelPosition texel{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)};
    show_texel(texel.x, texel.y, std::max(view().zoom, zoom));
    pin(texel);
}

void Viewer::show_next_odd_texel() {
    if (!frame_ || frame_->statistics.odd_texels.empty()) {
        notify("no texel is NaN, infinite or negative");
        return;
    }
    const std::vector<app::TexelPosition>& odd = frame_->statistics.odd_texels;
    const app::TexelPosition& texel = odd[odd_texel_++ % odd.size()];
    constexpr float CLOSE = 24.0F;
    show_texel(texel.x, texel.y, std::max(view().zoom, CLOSE));
    pin(texel);
}

// ---- Queries

std::optional<app::TexelPosition> Viewer::texel_at(float x, float y) const {
    if (!tiles_ || !tiles_->has_map()) {
        return {};
    }
    const View shown = view();
    const float column = std::floor((x - shown.origin_x) / shown.zoom);
    const float row = std::floor((y - shown.origin_y) / shown.zoom);
    const MapShape& shape = tiles_->shape();
    if (column < 0.0F || row < 0.0F || column >= static_cast<float>(shape.width) ||
        row >= static_cast<float>(shape.height)) {
        return {};
    }
    return app::TexelPosition{static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row)};
}

ProbedTexel Viewer::probe_texel(const app::TexelPosition& position) {
    const float value = app::texel_value(frame_->map.view(), position.x, position.y);
    ProbedTexel probed{.x = position.x, .y = position.y, .value = value};
    if (tiles_->has_tiles()) {
        const auto tile = std::ranges::find_if(tiles_->tiles(), [&](const Tile& one) {
            return position.x >> one.level() == one.x() && position.y >> one.level() == one.y();
        });
        if (tile != tiles_->tiles().end()) {
            probed.tile = *tile;
            probed.tile_index = static_cast<std::size_t>(tile - tiles_->tiles().begin());
        }
    }
    const bool is_zero = std::fpclassify(value) == FP_SUBNORMAL || value == 0.0F;
    probed.importance = {std::isnan(value) ? std::numeric_limits<float>::infinity()
                         : is_zero         ? 0.0F
                                           : value};
    const std::vector<float> above = tiles_->importance_above(position.x, position.y);
    probed.importance.insert(probed.importance.end(), above.begin(), above.end());
    if (probed.tile &&
        threshold_->user_function() == nullptr) {  // a GLSL threshold runs on the GPU alone
        const ResolvedThreshold thresholds = threshold_->resolve(tiles_->shape());
        for (std::uint32_t level = 0; level < probed.importance.size(); ++level) {
            probed.thresholds.push_back(
                thresholds.at(level, position.x >> level, position.y >> level, 0) *
                summary().header.threshold_factor);
        }
    }
    return probed;
}

void Viewer::probe() {
    const bool is_old = probed_list_ != list_number_;
    const MapShape& shape = tiles_->shape();
    const auto follow = [&](std::optional<ProbedTexel>& probed,
                            std::optional<app::TexelPosition>& position) {
        if (position && (position->x >= shape.width || position->y >= shape.height)) {
            position.reset();  // the position is one of an earlier map
        }
        if (!position) {
            probed.reset();
        } else if (is_old || !probed || probed->x != position->x || probed->y != position->y) {
            probed = probe_texel(*position);
        }
    };
    follow(hovered_, hovered_position_);
    follow(pinned_, pinned_position_);
    probed_list_ = list_number_;
}

}  // namespace quadtile::viewer
