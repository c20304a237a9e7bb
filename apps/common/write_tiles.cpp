#include "write_tiles.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>

namespace quadtile::app {

namespace {

// Text that is passed to the sink in large pieces.
class TextBuffer {
 public:
    explicit TextBuffer(const ByteSink& sink) : sink_(sink) { text_.reserve(PIECE + SLACK); }

    TextBuffer& operator<<(std::string_view text) {
        text_ += text;
        return *this;
    }

    TextBuffer& operator<<(std::uint64_t value) { return append(value); }

    // Appends the shortest text that reads back as the same float. JSON has no notation for
    // non-finite numbers: they are written as given.
    void number(float value, std::string_view infinity, std::string_view negative_infinity) {
        // Most JSON readers convert to doubles first. Of all floats, only the shortest digits of
        // this one (7.038531e-26) then give its neighbour.
        constexpr float ROUNDED_TWICE = 0x1.5c87fap-84F;
        if (value == ROUNDED_TWICE || value == -ROUNDED_TWICE) {
            text_ += value > 0.0F ? "7.0385307e-26" : "-7.0385307e-26";
        } else if (std::isfinite(value)) {
            append(value);
        } else {
            text_ += value > 0.0F ? infinity : negative_infinity;
        }
    }

    void flush_if_large() {
        if (text_.size() >= PIECE) {
            flush();
        }
    }

    void flush() {
        sink_(text_);
        text_.clear();
    }

 private:
    template <typename T>
    TextBuffer& append(T value) {
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        text_.append(digits.data(), end);
        return *this;
    }

    static constexpr std::size_t PIECE = 1 << 20;
    static constexpr std::size_t SLACK = 1 << 10;
    const ByteSink& sink_;
    std::string text_;
};

// Returns the sides on which the neighbour is coarser, as letters.
std::string coarser_sides(const Tile& tile) {
    std::string sides;
    for (std::uint32_t i = 0; i < 4; ++i) {
        sides.append((tile.flags() & TILE_COARSER_LEFT << i) != 0 ? 1 : 0, "lrtb"[i]);
    }
    return sides;
}

void write_json(const TileList& list, TextBuffer& out) {
    const bool balanced = list.balance != Balance::none;
    out << "{\"width\":" << list.shape.width << ",\"height\":" << list.shape.height
        << ",\"levels\":" << list.levels();
    if (balanced) {
        out << ",\"balance\":\"" << name_in(BALANCES, list.balance) << "\"";
    }
    out << ",\"nan_texels\":" << list.nan_texels << ",\n \"tiles\":[";
    std::string_view separator = "\n  ";
    for (const Tile& tile : list.tiles) {
        out << separator << "{\"level\":" << tile.level() << ",\"x\":" << tile.x()
            << ",\"y\":" << tile.y() << ",\"layer\":" << tile.layer() << ",\"importance\":";
        out.number(tile.importance, "\"inf\"", "\"-inf\"");
        out << ",\"threshold\":";
        out.number(tile.threshold, "\"inf\"", "\"-inf\"");
        out << (tile.clamped() ? ",\"clamped\":true" : ",\"clamped\":false");
        if (balanced) {
            out << ",\"coarser\":\"" << coarser_sides(tile) << "\"";
        }
        out << "}";
        out.flush_if_large();
        separator = ",\n  ";
    }
    out << "]}\n";
}

void write_csv(const TileList& list, TextBuffer& out) {
    const bool balanced = list.balance != Balance::none;
    out << "level,x,y,layer,importance,threshold,clamped" << (balanced ? ",coarser\n" : "\n");
    for (const Tile& tile : list.tiles) {
        out << tile.level() << "," << tile.x() << "," << tile.y() << "," << tile.layer() << ",";
        out.number(tile.importance, "inf", "-inf");
        out << ",";
        out.number(tile.threshold, "inf", "-inf");
        out << (tile.clamped() ? ",true" : ",false");
        if (balanced) {
            out << "," << coarser_sides(tile);
        }
        out << "\n";
        out.flush_if_large();
    }
}

std::string_view bytes_of(const void* data, std::size_t size) {
    return {static_cast<const char*>(data), size};
}

void write_binary(const TileList& list, const ByteSink& sink) {
    static_assert(std::endian::native == std::endian::little);
    const BinaryTilesHeader header{{'Q', 'T', 'I', 'L'}, 1,
                                   list.shape.width,     list.shape.height,
                                   list.shape.layers,    list.levels(),
                                   list.tiles.size(),    list.nan_texels};
    sink(bytes_of(&header, sizeof header));
    sink(bytes_of(list.tiles.data(), list.tiles.size() * sizeof(Tile)));
}

}  // namespace

void write_tiles(const TileList& list, TileFormat format, const ByteSink& sink) {
    if (format == TileFormat::binary) {
        write_binary(list, sink);
        return;
    }
    TextBuffer out(sink);
    if (format == TileFormat::json) {
        write_json(list, out);
    } else {
        write_csv(list, out);
    }
    out.flush();
}

}  // namespace quadtile::app
