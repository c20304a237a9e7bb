// The viewer without its window: state and actions.

#pragma once

#include "canvas.hpp"
#include "gpu.hpp"
#include "map_files.hpp"
#include "map_tiles.hpp"
#include "options.hpp"
#include "thresholds.hpp"

#include "glsl_file.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

// Values of a texel and of the nodes that contain it.
struct ProbedTexel {
    std::uint32_t x;
    std::uint32_t y;
    float value;               // of the file
    std::optional<Tile> tile;  // none: there is no list
    std::size_t tile_index;    // in the list
    // Of its nodes from level 0 on, which are the texel's as the quadtree sees it.
    std::vector<float> importance;
    std::vector<float> thresholds;  // empty: unknown
};

// A line that reports the result of an action.
struct Notice {
    std::string text;
    bool is_problem = false;
    std::chrono::steady_clock::time_point time;
};

// All state but the window's. Panels change the settings in place; update() applies them. Not
// thread-safe.
class Viewer {
 public:
    // Another thread calls `wake` when update() has work.
    Viewer(const Options& options, std::function<void()> wake);

    Settings settings;
    std::uint64_t tiles_wanted = 1000;  // for the next find_threshold()

    // ---- The device. Without a device only the settings may be used.

    // Attaches a device, to draw into pictures of this format. The next update() uploads the map.
    void attach(app::Gpu& gpu, vk::Format format);
    // Detaches the device. Call it before the device is destroyed.
    void detach();

    // ---- A frame

    // Takes loaded maps, subdivides if a setting has changed, and probes the texel under the mouse.
    // `area`: the part of the picture that shows the map. Throws vk::DeviceLostError or Error if
    // the device is lost.
    void update(const vk::Rect2D& area);
    // Applies settings and the mouse alone, for changes within the frame.
    void apply_settings(const vk::Rect2D& area);
    // Tells whether another update() would make progress: while a map is on its way to the device.
    [[nodiscard]] bool is_busy() const;
    // Requests the map again if its file has changed and is no longer being written. Call it in
    // each frame and, while nothing is drawn, a few times per second.
    void watch_file();
    // Draws the map. Call it within a render pass.
    void draw(vk::CommandBuffer commands, vk::Extent2D target);
    // Sets the scale of outlines: pixels per pixel of a display of 96 dots per inch.
    void set_pixel_scale(float scale) { pixel_scale_ = scale; }

    // ---- State that is shown

    [[nodiscard]] const MapFrame* frame() const { return frame_.get(); }  // null: none yet
    [[nodiscard]] MapFiles& files() { return files_; }
    [[nodiscard]] const MapTiles& tiles() const { return *tiles_; }
    [[nodiscard]] const TilesSummary& summary() const { return tiles_->summary(); }
    // Problem of the tiles, or of a map that could not be loaded; empty: none.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] app::Range range() const;  // range of importance that the colours cover
    [[nodiscard]] const std::optional<Notice>& notice() const { return notice_; }
    void notify(std::string text, bool is_problem = false);
    // Prints a line on standard error if --log is given.
    void log(const std::string& line) const;
    // "map.exr - 512 tiles - quadtile"
    [[nodiscard]] std::string title() const;
    // Returns the time of the last subdivision, measured on the host.
    [[nodiscard]] double update_milliseconds() const { return update_milliseconds_; }

    // ---- The view, in pixels of the picture

    [[nodiscard]] View view() const;  // there is a map
    void pan(float x, float y);
    void zoom_at(float x, float y, float factor);
    void show_all() { settings.view = {}; }  // and follow the window
    void show_one_to_one();
    void show_texel(std::uint32_t x, std::uint32_t y, float zoom);
    // Shows and pins a texel, with at least this zoom. Reports if there is no such texel.
    void go_to(std::int64_t x, std::int64_t y, float zoom);
    // Shows the next texel that is NaN, infinite or negative, enlarged.
    void show_next_odd_texel();

    // ---- Queries

    // Returns how many lists were made.
    [[nodiscard]] std::uint64_t list_number() const { return list_number_; }
    // Sets the place of the mouse on the map; nothing: the mouse is elsewhere.
    void hover(std::optional<app::TexelPosition> texel) { hovered_position_ = texel; }
    [[nodiscard]] std::optional<app::TexelPosition> texel_at(float x, float y) const;
    void pin(std::optional<app::TexelPosition> texel) { pinned_position_ = texel; }
    [[nodiscard]] const std::optional<ProbedTexel>& hovered() const { return hovered_; }
    [[nodiscard]] const std::optional<ProbedTexel>& pinned() const { return pinned_; }

    // ---- Actions; each reports its result by notify()

    void open(std::vector<std::filesystem::path> files);
    // Sets the threshold that gives the most tiles, but at most `tiles` and no more than the
    // budget.
    void find_threshold(std::uint64_t tiles);
    // Multiplies the threshold or its values.
    void scale_threshold(float factor);
    // Reads the file of a GLSL threshold again.
    void reload_threshold();
    void export_list(const std::filesystem::path& path);
    void export_settings(const std::filesystem::path& path);
    // Writes a picture: the view without panels, or the whole map with a pixel per texel.
    void export_picture(const std::filesystem::path& path, bool whole_map);

 private:
    void draw_view(vk::CommandBuffer commands, vk::Extent2D target, const vk::Rect2D& area,
                   const View& view);
    [[nodiscard]] ViewSettings shown_view() const;
    void take_map();
    void put_map_on_device();
    void subdivide();
    void probe();
    [[nodiscard]] ProbedTexel probe_texel(const app::TexelPosition& position);
    [[nodiscard]] Threshold threshold_of(const ThresholdSettings& wanted);
    [[nodiscard]] const LoadedMap& fragments(const std::string& channel);
    [[nodiscard]] const app::GlslFile& glsl(const std::string& path);
    // Runs an action. If it throws, reports the error.
    void attempt(const std::function<void()>& action);

    bool logs_;
    MapFiles files_;
    app::Gpu* gpu_ = nullptr;
    vk::Format format_ = vk::Format::eUndefined;
    std::unique_ptr<MapTiles> tiles_;
    std::unique_ptr<Canvas> canvas_;
    float pixel_scale_ = 1.0F;

    std::shared_ptr<const MapFrame> frame_;   // the one on the device
    std::shared_ptr<const MapFrame> coming_;  // the next one for the device; null: none
    std::string load_problem_;
    std::optional<FileStamp> seen_stamp_;  // of the frame's file
    std::optional<FileStamp> reloaded_stamp_;
    std::chrono::steady_clock::time_point next_watch_time_;
    std::optional<LoadedMap> fragments_;  // the frame's channel of fragment counts
    std::string fragments_channel_;
    std::optional<app::GlslFile> glsl_;  // the threshold's; none: to be read
    std::optional<std::uint64_t> tiles_to_find_;
    std::optional<Threshold> threshold_;          // threshold of the tiles
    std::optional<SubdivisionSettings> applied_;  // settings that the tiles were made with

    vk::Rect2D area_;
    std::size_t odd_texel_ = 0;

    std::optional<app::TexelPosition> hovered_position_;
    std::optional<app::TexelPosition> pinned_position_;
    std::optional<ProbedTexel> hovered_;
    std::optional<ProbedTexel> pinned_;
    std::uint64_t list_number_ = 0;  // number of lists that were made
    std::uint64_t probed_list_ = 0;  // the list that hovered_ and pinned_ belong to

    std::optional<Notice> notice_;
    double update_milliseconds_ = 0.0;
};

}  // namespace quadtile::viewer
