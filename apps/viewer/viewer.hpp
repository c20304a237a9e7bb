// The viewer without its window: what it shows, and what its user can do.

#pragma once

#include "canvas.hpp"
#include "gpu.hpp"
#include "list_comparison.hpp"
#include "map_sequence.hpp"
#include "map_tiles.hpp"
#include "options.hpp"
#include "settings.hpp"

#include "glsl_file.hpp"

#include <chrono>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::viewer {

// What is known of a texel and of the nodes above it.
struct ProbedTexel {
    std::uint32_t x;
    std::uint32_t y;
    ProbeResult result;             // importance_of_level[0] is the texel's as the quadtree sees it
    std::vector<float> thresholds;  // of its node of each level
};

// A line that tells what came of something the user did.
struct Notice {
    std::string text;
    bool is_problem = false;
    std::chrono::steady_clock::time_point time;
};

// Of the runs so far, for the plots: the last ones, on the GPU.
struct TimeHistory {
    static constexpr std::size_t LENGTH = 240;
    std::deque<float> subdivision_milliseconds;
    std::deque<float> pyramid_milliseconds;
};

// All state but the window's. Settings are changed in place, by panels for example; update() does
// what follows from it. One thread uses it.
class Viewer {
 public:
    // `wake` is called by another thread when update() has something to do.
    Viewer(const Options& options, std::function<void()> wake);

    Settings settings;

    // ---- The device. Without one nothing but the settings may be used.

    // Starts to use a device, to draw into pictures of this format; the map goes there with the
    // next update().
    void attach(app::Gpu& gpu, vk::Format format);
    // Before the device goes.
    void detach();
    [[nodiscard]] const app::Gpu& gpu() const { return *gpu_; }

    // ---- A frame

    // Takes maps that were loaded, subdivides if a setting has changed, probes where the mouse
    // is. `area` is where the map is drawn. Throws vk::DeviceLostError or Error where the device
    // was lost, now or since the last time.
    void update(const vk::Rect2D& area);
    // The part of update() that follows from settings and the mouse, for changes within the frame.
    void apply_settings(const vk::Rect2D& area);
    // Whether a next update() would go on: while playing, measuring, and while a map is on its way
    // to the device.
    [[nodiscard]] bool is_busy() const;
    // Asks for the map again if its file has changed and changes no longer. For each frame and,
    // while nothing is drawn, a few times per second.
    void watch_file();
    // Waits until the map that was asked for is there. Throws std::runtime_error where it cannot
    // be.
    void wait_for_map(const vk::Rect2D& area);
    // Within a render pass.
    void draw(vk::CommandBuffer commands, vk::Extent2D target);
    // What one pixel of a display of 96 dots per inch is, for outlines.
    void set_pixel_scale(float scale) { pixel_scale_ = scale; }

    // ---- What is shown

    [[nodiscard]] const MapFrame* frame() const { return frame_.get(); }  // null: none yet
    [[nodiscard]] MapSequence& sequence() { return sequence_; }
    [[nodiscard]] const MapTiles& tiles() const { return *tiles_; }
    [[nodiscard]] const TilesSummary& summary() const { return tiles_->summary(); }
    // Of the tiles, or of the map that could not be loaded; empty: none.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] Range range() const;  // that colours are spread over
    [[nodiscard]] const TimeHistory& times() const { return times_; }
    [[nodiscard]] const std::vector<StrategyTime>& strategy_times() const {
        return strategy_times_;
    }
    [[nodiscard]] const std::optional<Notice>& notice() const { return notice_; }
    void notify(std::string text, bool is_problem = false);
    // A line on standard error where --log asks for it.
    void log(const std::string& line) const;
    // "map.exr - 512 tiles - quadtile"
    [[nodiscard]] std::string title() const;
    // That the last subdivision took, as the host sees it.
    [[nodiscard]] double update_milliseconds() const { return update_milliseconds_; }

    // ---- The view, in pixels of the picture

    [[nodiscard]] const View& view() const { return view_; }
    void pan(float x, float y);
    void zoom_at(float x, float y, float factor);
    void show_all();  // until the view is changed by hand, it follows the window
    void show_one_to_one();
    void show_texel(std::uint32_t x, std::uint32_t y, float zoom);
    // Enlarged to this zoom at least, and pinned; tells if there is no such texel.
    void go_to(std::int64_t x, std::int64_t y, float zoom);
    // The next texel that is NaN, infinite or negative, enlarged.
    void show_next_odd_texel();

    // ---- Asking

    // Counts the lists that were made.
    [[nodiscard]] std::uint64_t list_number() const { return list_number_; }
    // Where the mouse is over the map; nothing: elsewhere.
    void hover(std::optional<TexelPosition> texel) { hovered_position_ = texel; }
    [[nodiscard]] std::optional<TexelPosition> texel_at(float x, float y) const;
    void pin(std::optional<TexelPosition> texel) { pinned_position_ = texel; }
    [[nodiscard]] const std::optional<ProbedTexel>& hovered() const { return hovered_; }
    [[nodiscard]] const std::optional<ProbedTexel>& pinned() const { return pinned_; }

    // ---- Doing; each tells by notify() what came of it

    void open(std::vector<std::filesystem::path> files);
    // Sets the threshold so that there are as many tiles as can be without being more than this.
    void find_threshold(std::uint64_t tiles);
    // Multiplies the threshold or its values.
    void scale_threshold(float factor);
    // Keeps the list that is shown, to compare others with it.
    void keep_list();
    // Shows the kept list's map and settings, and keeps the list that was shown.
    void swap_with_kept();
    void forget_kept() { kept_.reset(); }
    [[nodiscard]] const std::optional<KeptList>& kept() const { return kept_; }
    // Of the kept list and the one that is shown; nothing if there are not two of one size of map.
    [[nodiscard]] const std::optional<ListDifference>& difference() const { return difference_; }
    // Reads the file of a threshold in GLSL again.
    void reload_threshold();
    // Reads the list back, checks that it covers the map, and compares it with the reference's.
    void check_list();
    // Times all strategies.
    void compare_strategies();
    void export_list(const std::filesystem::path& path);
    void export_settings(const std::filesystem::path& path);
    // As it is seen, without panels; or the whole map with a pixel for each texel.
    void export_picture(const std::filesystem::path& path, bool whole_map);

    bool is_playing = false;
    bool measures_continuously = false;  // subdivides in each frame, for the plots

 private:
    void draw_view(vk::CommandBuffer commands, vk::Extent2D target, const vk::Rect2D& area,
                   const View& view);
    void take_map();
    void show_what_options_ask();
    void put_map_on_device();
    void subdivide();
    void probe();
    [[nodiscard]] ProbedTexel probe_texel(const TexelPosition& position);
    [[nodiscard]] Threshold threshold_of(const ThresholdSettings& wanted);
    [[nodiscard]] const LoadedMap& fragments(const std::string& channel);
    [[nodiscard]] const app::GlslFile& glsl(const std::string& path);
    void advance_playback();
    [[nodiscard]] KeptList shown_list();
    void compare_with_kept();
    // Does what may fail, and tells where it did.
    void attempt(const std::function<void()>& action);

    Options options_;
    MapSequence sequence_;
    app::Gpu* gpu_ = nullptr;
    vk::Format format_ = vk::Format::eUndefined;
    std::unique_ptr<MapTiles> tiles_;
    std::unique_ptr<Canvas> canvas_;
    float pixel_scale_ = 1.0F;

    std::shared_ptr<const MapFrame> frame_;   // the one on the device
    std::shared_ptr<const MapFrame> coming_;  // to go there; null: none
    std::string load_problem_;
    std::optional<FileStamp> seen_stamp_;  // of the frame's file
    std::optional<FileStamp> reloaded_stamp_;
    std::chrono::steady_clock::time_point next_watch_time_;
    std::optional<LoadedMap> fragments_;  // of the frame, of a channel
    std::string fragments_channel_;
    std::optional<app::GlslFile> glsl_;  // of the threshold; none: to be read
    std::optional<std::uint64_t> tiles_to_find_;
    std::optional<Threshold> threshold_;          // of the tiles
    std::optional<SubdivisionSettings> applied_;  // what the tiles were made with

    std::optional<KeptList> kept_;
    std::optional<ListDifference> difference_;
    std::uint64_t compared_list_ = 0;  // that difference_ is of

    View view_;
    vk::Rect2D area_;
    bool follows_area_ = true;
    std::size_t odd_texel_ = 0;

    std::optional<TexelPosition> hovered_position_;
    std::optional<TexelPosition> pinned_position_;
    std::optional<ProbedTexel> hovered_;
    std::optional<ProbedTexel> pinned_;
    std::uint64_t list_number_ = 0;  // counts the lists that were made
    std::uint64_t probed_list_ = 0;  // that hovered_ and pinned_ are of

    TimeHistory times_;
    std::vector<StrategyTime> strategy_times_;
    std::optional<Notice> notice_;
    std::exception_ptr loss_;  // of the device, for update() to throw
    double update_milliseconds_ = 0.0;
    std::chrono::steady_clock::time_point next_frame_time_;
};

}  // namespace quadtile::viewer
