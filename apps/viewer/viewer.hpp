// The viewer without its window: state and actions.

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

// Values of a texel and of the nodes that contain it.
struct ProbedTexel {
    std::uint32_t x;
    std::uint32_t y;
    ProbeResult result;             // importance_of_level[0] is the texel's as the quadtree sees it
    std::vector<float> thresholds;  // thresholds of its node of each level
};

// A line that reports the result of an action.
struct Notice {
    std::string text;
    bool is_problem = false;
    std::chrono::steady_clock::time_point time;
};

// GPU times of the last runs, for the plots.
struct TimeHistory {
    static constexpr std::size_t LENGTH = 240;
    std::deque<float> subdivision_milliseconds;
    std::deque<float> pyramid_milliseconds;
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
    [[nodiscard]] const app::Gpu& gpu() const { return *gpu_; }

    // ---- A frame

    // Takes loaded maps, subdivides if a setting has changed, and probes the texel under the mouse.
    // `area`: the part of the picture that shows the map. Throws vk::DeviceLostError or Error if
    // the device was lost, now or since the last call.
    void update(const vk::Rect2D& area);
    // Applies settings and the mouse alone, for changes within the frame.
    void apply_settings(const vk::Rect2D& area);
    // Tells whether another update() would make progress: during playback, measurements, and while
    // a map is on its way to the device.
    [[nodiscard]] bool is_busy() const;
    // Requests the map again if its file has changed and is no longer being written. Call it in
    // each frame and, while nothing is drawn, a few times per second.
    void watch_file();
    // Waits until the requested map is loaded. Throws std::runtime_error if it cannot be loaded.
    void wait_for_map(const vk::Rect2D& area);
    // Draws the map. Call it within a render pass.
    void draw(vk::CommandBuffer commands, vk::Extent2D target);
    // Sets the scale of outlines: pixels per pixel of a display of 96 dots per inch.
    void set_pixel_scale(float scale) { pixel_scale_ = scale; }

    // ---- State that is shown

    [[nodiscard]] const MapFrame* frame() const { return frame_.get(); }  // null: none yet
    [[nodiscard]] MapSequence& sequence() { return sequence_; }
    [[nodiscard]] const MapTiles& tiles() const { return *tiles_; }
    [[nodiscard]] const TilesSummary& summary() const { return tiles_->summary(); }
    // Problem of the tiles, or of a map that could not be loaded; empty: none.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] Range range() const;  // range of importance that the colours cover
    [[nodiscard]] const TimeHistory& times() const { return times_; }
    [[nodiscard]] const std::vector<StrategyTime>& strategy_times() const {
        return strategy_times_;
    }
    [[nodiscard]] const std::optional<Notice>& notice() const { return notice_; }
    void notify(std::string text, bool is_problem = false);
    // Prints a line on standard error if --log is given.
    void log(const std::string& line) const;
    // "map.exr - 512 tiles - quadtile"
    [[nodiscard]] std::string title() const;
    // Returns the time of the last subdivision, measured on the host.
    [[nodiscard]] double update_milliseconds() const { return update_milliseconds_; }

    // ---- The view, in pixels of the picture

    [[nodiscard]] const View& view() const { return view_; }
    void pan(float x, float y);
    void zoom_at(float x, float y, float factor);
    void show_all();  // after this call the view follows the window until it is changed by hand
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
    void hover(std::optional<TexelPosition> texel) { hovered_position_ = texel; }
    [[nodiscard]] std::optional<TexelPosition> texel_at(float x, float y) const;
    void pin(std::optional<TexelPosition> texel) { pinned_position_ = texel; }
    [[nodiscard]] const std::optional<ProbedTexel>& hovered() const { return hovered_; }
    [[nodiscard]] const std::optional<ProbedTexel>& pinned() const { return pinned_; }

    // ---- Actions; each reports its result by notify()

    void open(std::vector<std::filesystem::path> files);
    // Sets the threshold that gives the most tiles, but at most `tiles` and no more than the
    // budget.
    void find_threshold(std::uint64_t tiles);
    // Multiplies the threshold or its values.
    void scale_threshold(float factor);
    // Keeps the shown list for comparison.
    void keep_list();
    // Shows the kept list's map and settings, and keeps the list that was shown.
    void swap_with_kept();
    void forget_kept() { kept_.reset(); }
    [[nodiscard]] const std::optional<KeptList>& kept() const { return kept_; }
    // Difference of the kept and the shown list; none without two lists of one map size.
    [[nodiscard]] const std::optional<ListDifference>& difference() const { return difference_; }
    // Reads the file of a GLSL threshold again.
    void reload_threshold();
    // Reads the list back, checks that it covers the map, and compares it with the reference's.
    void check_list();
    // Times all strategies.
    void compare_strategies();
    void export_list(const std::filesystem::path& path);
    void export_settings(const std::filesystem::path& path);
    // Writes a picture: the view without panels, or the whole map with a pixel per texel.
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
    // Runs an action. If it throws, reports the error.
    void attempt(const std::function<void()>& action);

    Options options_;
    MapSequence sequence_;
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

    std::optional<KeptList> kept_;
    std::optional<ListDifference> difference_;
    std::uint64_t compared_list_ = 0;  // the list that difference_ belongs to

    View view_;
    vk::Rect2D area_;
    bool follows_area_ = true;
    std::size_t odd_texel_ = 0;

    std::optional<TexelPosition> hovered_position_;
    std::optional<TexelPosition> pinned_position_;
    std::optional<ProbedTexel> hovered_;
    std::optional<ProbedTexel> pinned_;
    std::uint64_t list_number_ = 0;  // number of lists that were made
    std::uint64_t probed_list_ = 0;  // the list that hovered_ and pinned_ belong to

    TimeHistory times_;
    std::vector<StrategyTime> strategy_times_;
    std::optional<Notice> notice_;
    std::exception_ptr loss_;  // loss of the device, which update() throws
    double update_milliseconds_ = 0.0;
    std::chrono::steady_clock::time_point next_frame_time_;
};

}  // namespace quadtile::viewer
