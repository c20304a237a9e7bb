// Actions of the user on the map and its list.

#include "viewer.hpp"

#include "swapchain.hpp"

#include "output_file.hpp"
#include "platform.hpp"
#include "write_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace quadtile::viewer {

namespace fs = std::filesystem;

void Viewer::open(std::vector<fs::path> files) {
    files_.open(std::move(files), {});
}

void Viewer::find_threshold(std::uint64_t tiles) {
    attempt([&] {
        if (!tiles_->has_map()) {
            throw std::runtime_error("there is no map to find a threshold for");
        }
        if (settings.subdivision.threshold.kind == ThresholdKind::glsl) {
            throw std::runtime_error(
                "the viewer cannot scale a threshold in GLSL; change its parameters, or use "
                "another kind");
        }
        SubdivisionSettings wanted = settings.subdivision;
        if (wanted.has_budget) {
            tiles = std::min(tiles, wanted.max_tiles);
        }
        wanted.has_budget = false;
        wanted.order = Order::any;
        for (float* const value : {&wanted.threshold.max_resolution, &wanted.threshold.constant,
                                   &wanted.threshold.nodes}) {
            *value = *value > 0.0F ? *value : 1.0F;  // no factor leads away from 0
        }
        const auto count = [&](double exponent) {
            SubdivisionSettings tried = wanted;
            tried.threshold = scaled(wanted.threshold, std::exp2(exponent));
            return tiles_->count(tried, threshold_of(tried.threshold));
        };
        applied_.reset();  // counting leaves no list
        // Searches binary logarithms of factors: the result lies above low and not above high,
        // since the number of tiles falls as the threshold rises. Begins at the present threshold,
        // because thresholds near 0 make lists as long as the map.
        constexpr double FURTHEST = 512.0;  // from any float to any other
        double low = 0.0;
        double high = 0.0;
        if (count(0.0) > tiles) {
            for (high = 1.0; high < FURTHEST && count(high) > tiles; high *= 2.0) {
                low = high;
            }
            if (high == FURTHEST && count(high) > tiles) {
                throw std::runtime_error("no threshold gives fewer than " +
                                         app::counted(count(high), "tile") + " here, not " +
                                         std::to_string(tiles));
            }
        } else {
            for (low = -1.0; low > -FURTHEST && count(low) <= tiles; low *= 2.0) {
                high = low;
            }
        }
        // Thresholds per node are made anew for each try, which takes time.
        const double exactness = wanted.threshold.kind == ThresholdKind::memory ? 1e-3 : 1e-6;
        while (high - low > exactness) {
            const double middle = (low + high) / 2.0;
            (count(middle) > tiles ? low : high) = middle;
        }
        settings.subdivision.threshold = scaled(wanted.threshold, std::exp2(high));
        const std::uint64_t found = count(high);
        std::string text =
            describe(settings.subdivision.threshold) + " gives " + app::counted(found, "tile");
        const std::uint64_t next = count(low);
        if (found < tiles && next > tiles) {
            text += ", not " + std::to_string(tiles) + ": the next smaller threshold gives " +
                    std::to_string(next) + ", because squares at the same limit split together";
        }
        notify(text);
    });
}

void Viewer::scale_threshold(float factor) {
    settings.subdivision.threshold = scaled(settings.subdivision.threshold, factor);
}

void Viewer::export_list(const fs::path& path) {
    attempt([&] {
        if (!tiles_->has_tiles()) {
            throw std::runtime_error("there is no list to save");
        }
        TileList list = tiles_->list();
        list.nan_texels = frame_->statistics.nan;
        const auto format =
            path.extension() == ".csv" ? app::TileFormat::csv : app::TileFormat::json;
        app::OutputFile file(path);
        app::write_tiles(list, format, [&](std::string_view bytes) { file.write(bytes); });
        file.commit();
        notify(app::counted(list.tiles.size(), "tile") + " saved to " + app::text_of(path));
    });
}

void Viewer::export_settings(const fs::path& path) {
    attempt([&] {
        save_settings(settings, path);
        notify("settings saved to " + app::text_of(path));
    });
}

void Viewer::export_picture(const fs::path& path, bool whole_map) {
    attempt([&] {
        if (!tiles_->has_map()) {
            throw std::runtime_error("there is no map to save a picture of");
        }
        vk::Rect2D area{.extent = area_.extent};
        if (whole_map) {
            area.extent = vk::Extent2D{tiles_->shape().width, tiles_->shape().height};
        }
        const vk::Extent2D extent = area.extent;
        const View view =
            view_in(whole_map ? ViewSettings{} : settings.view, tiles_->shape(), area);
        canvas_->set_map(*tiles_);
        const std::string png = app::encode_png(app::render_picture(
            *gpu_, format_, extent,
            [&](vk::CommandBuffer commands) { draw_view(commands, extent, area, view); }));
        app::write_file(path, png);
        notify("picture of " + std::to_string(extent.width) + " x " +
               std::to_string(extent.height) + " pixels saved to " + app::text_of(path));
    });
}

}  // namespace quadtile::viewer
