// OpenEXR: scan lines and tiles, any compression, half, float and uint channels.

#include "check_exr.hpp"
#include "image_loaders.hpp"

#include <OpenEXR/Iex.h>
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfChromaticities.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfStandardAttributes.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

namespace quadtile::detail {

namespace {

struct Source {
    int part = 0;
    std::vector<std::string> channels;  // one, or R, G and B, or R, G, B and A
    std::string name;                   // of all of them together
    bool is_guess = false;              // whether another one may be meant
};

// Returns the parts with one value per pixel and channel. OpenEXR gives a type to a part without
// one.
std::vector<int> flat_parts(const Imf::MultiPartInputFile& file) {
    std::vector<int> parts;
    for (int part = 0; part < file.parts(); ++part) {
        if (Imf::isImage(file.header(part).type())) {
            parts.push_back(part);
        }
    }
    return parts;
}

std::vector<std::string> channel_names(const Imf::Header& header) {
    std::vector<std::string> names;
    for (auto i = header.channels().begin(); i != header.channels().end(); ++i) {
        names.emplace_back(i.name());
    }
    return names;
}

bool has_channel(const Imf::Header& header, const std::string& name) {
    const auto found = header.channels().find(name);  // compares only the first 255 characters
    return found != header.channels().end() && name == found.name();
}

// Returns "R", "G" and "B", each after the name of their layer, if there is one.
std::vector<std::string> colours_of(const std::string& layer) {
    const std::string prefix = layer.empty() ? "" : layer + ".";
    return {prefix + "R", prefix + "G", prefix + "B"};
}

bool has_colour(const Imf::Header& header, const std::string& layer = {}) {
    return std::ranges::all_of(
        colours_of(layer), [&](const std::string& colour) { return has_channel(header, colour); });
}

// Returns the layer of a channel; empty: none.
std::string layer_of(const std::string& channel) {
    const std::size_t dot = channel.rfind('.');
    return dot == std::string::npos ? "" : channel.substr(0, dot);
}

// Returns the name of a channel in its layer.
std::string name_in_layer(const std::string& channel) {
    return channel.substr(channel.rfind('.') + 1);  // npos + 1 is 0
}

// Alpha, or that of a colour.
bool is_alpha(const std::string& channel) {
    const std::string name = name_in_layer(channel);
    return name == "A" || name == "AR" || name == "AG" || name == "AB";
}

bool is_subsampled(const Imf::Header& header, const std::string& name) {
    const Imf::Channel* stored = header.channels().findChannel(name);
    return stored != nullptr && (stored->xSampling != 1 || stored->ySampling != 1);
}

void check_parts(const std::vector<int>& parts) {
    if (parts.empty()) {
        throw std::runtime_error(
            "it contains only deep data, with several values per pixel; flatten it first");
    }
}

// Returns the name of a part, or its number if it has none.
std::string part_name(const Imf::MultiPartInputFile& file, int part) {
    const Imf::Header& header = file.header(part);
    return header.hasName() && !header.name().empty() ? header.name() : std::to_string(part);
}

// Names that load_map takes, each once, layers before their channels. A name that a part before
// has, too, stands behind the part's.
class Names {
 public:
    Names(const Imf::MultiPartInputFile& file, const std::vector<int>& parts) {
        for (const int part : parts) {
            prefix_ = part_name(file, part) + "/";
            if (part != parts[0] && has_colour(file.header(part))) {
                add(prefix_, any_is_subsampled(file.header(part), colours_of({})));
            }
            for (const std::string& name : channel_names(file.header(part))) {
                const std::string layer = layer_of(name);
                if (!layer.empty() && has_colour(file.header(part), layer)) {
                    add_of_part(layer, any_is_subsampled(file.header(part), colours_of(layer)));
                }
                add_of_part(name, is_subsampled(file.header(part), name));
            }
            before_.insert(all_.begin(), all_.end());
        }
    }

    [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }
    // Names of channels and layers with a value per pixel.
    [[nodiscard]] const std::vector<std::string>& loadable() const noexcept { return loadable_; }

 private:
    static bool any_is_subsampled(const Imf::Header& header,
                                  const std::vector<std::string>& channels) {
        return std::ranges::any_of(
            channels, [&](const std::string& name) { return is_subsampled(header, name); });
    }

    void add_of_part(const std::string& name, bool subsampled) {
        add(before_.contains(name) ? prefix_ + name : name, subsampled);
    }

    void add(const std::string& name, bool subsampled) {
        if (!seen_.insert(name).second) {
            return;
        }
        all_.push_back(name);
        if (!subsampled) {
            loadable_.push_back(name);
        }
    }

    std::string prefix_;            // of the part
    std::set<std::string> before_;  // names of the parts before
    std::set<std::string> seen_;
    std::vector<std::string> all_;
    std::vector<std::string> loadable_;
};

// Returns the source with this name in the first part that has one.
std::optional<Source> find_source(const Imf::MultiPartInputFile& file,
                                  const std::vector<int>& parts, const std::string& channel) {
    for (const int part : parts) {
        if (has_channel(file.header(part), channel)) {
            return Source{part, {channel}, channel};
        }
    }
    for (const int part : parts) {
        if (has_colour(file.header(part), channel)) {
            return Source{part, colours_of(channel), channel};
        }
    }
    return std::nullopt;
}

// Chooses among the channels of a part.
Source default_source(const Imf::MultiPartInputFile& file, int part) {
    const Imf::Header& header = file.header(part);
    const std::vector<std::string> names = channel_names(header);
    if (names.empty()) {
        throw std::runtime_error("it has no channels; save it with at least one");
    }
    if (has_channel(header, "Y")) {
        return {part, {"Y"}, "Y"};
    }
    if (has_colour(header)) {
        return {part, colours_of({}), "luminance"};
    }
    const auto colour = std::ranges::find_if(names, [&](const std::string& name) {
        return !layer_of(name).empty() && has_colour(header, layer_of(name));
    });
    const auto named = [&](const char* wanted) {
        return std::ranges::find_if(
            names, [&](const std::string& name) { return name_in_layer(name) == wanted; });
    };
    Source source{part, {}, {}};
    if (colour != names.end()) {
        source.name = layer_of(*colour);
        source.channels = colours_of(source.name);
    } else {
        auto chosen = named("Y");
        chosen = chosen != names.end() ? chosen : named("Z");
        chosen = chosen != names.end() ? chosen : std::ranges::find_if_not(names, is_alpha);
        source.name = chosen != names.end() ? *chosen : names[0];
        source.channels = {source.name};
    }
    source.is_guess = std::ranges::any_of(names, [&](const std::string& name) {
        return !is_alpha(name) && std::ranges::find(source.channels, name) == source.channels.end();
    });
    return source;
}

// Returns the source PART/CHANNEL, or PART/ for the default of a part.
std::optional<Source> find_in_part(const Imf::MultiPartInputFile& file,
                                   const std::vector<int>& parts, const std::string& name) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {  // names may contain some
        const std::string of_part = name.substr(0, slash);
        auto part = std::ranges::find_if(
            parts, [&](int other) { return part_name(file, other) == of_part; });
        if (part == parts.end()) {
            part = std::ranges::find_if(
                parts, [&](int other) { return std::to_string(other) == of_part; });
        }
        if (part == parts.end()) {
            continue;
        }
        const std::string channel = name.substr(slash + 1);
        std::optional<Source> source =
            channel.empty() ? default_source(file, *part) : find_source(file, {*part}, channel);
        if (source) {
            source->name = name;
            return source;
        }
    }
    return std::nullopt;
}

Source choose_source(const Imf::MultiPartInputFile& file, const std::string& channel) {
    const std::vector<int> parts = flat_parts(file);
    check_parts(parts);
    if (channel.empty()) {
        Source source = default_source(file, parts[0]);
        source.is_guess = source.is_guess || parts.size() > 1;
        return source;
    }
    std::optional<Source> source = find_source(file, parts, channel);
    if (!source) {
        source = find_in_part(file, parts, channel);
    }
    if (!source) {
        throw_unknown_channel(channel, Names(file, parts).all());
    }
    return *source;
}

// Chooses R, G, B and A, or one channel.
Source choose_image(const Imf::MultiPartInputFile& file) {
    const std::vector<int> parts = flat_parts(file);
    Source source = !parts.empty() && has_colour(file.header(parts[0]))
                        ? Source{parts[0], colours_of({}), {}}
                        : choose_source(file, {});
    if (source.channels.size() > 1) {
        source.channels.push_back(source.name.empty() ? "A" : source.name + ".A");
    }
    return source;
}

// Returns what the luminance has of R, G and B.
std::array<float, 3> luminance_weights(const Imf::Header& header) {
    if (!Imf::hasChromaticities(header)) {
        return REC_709_LUMINANCE;
    }
    const Imf::Chromaticities& chromaticities = Imf::chromaticities(header);
    if (chromaticities == Imf::Chromaticities()) {  // those of Rec. 709
        return REC_709_LUMINANCE;
    }
    std::array<float, 3> weights{};
    try {
        const Imath::M44f xyz = Imf::RGBtoXYZ(chromaticities, 1.0F);
        weights = {xyz[0][1], xyz[1][1], xyz[2][1]};
    } catch (const std::exception&) {
        weights[0] = std::numeric_limits<float>::quiet_NaN();
    }
    if (!std::ranges::all_of(weights, [](float weight) { return std::isfinite(weight); })) {
        throw std::runtime_error(
            "its chromaticities define no luminance; correct them, or choose a channel");
    }
    return weights;
}

// Reads a channel in its own type; `texels` has room for the data window.
void read_channel(Imf::InputPart& part, const std::string& name, Imf::PixelType type,
                  std::byte* texels) {
    const Imath::Box2i& window = part.header().dataWindow();
    Imf::FrameBuffer pixels;
    pixels.insert(name, Imf::Slice::Make(type, texels, window));
    part.setFrameBuffer(pixels);
    part.readPixels(window.min.y, window.max.y);
}

LoadedMap load_channel(Imf::InputPart& part, const std::string& name, std::uint32_t width,
                       std::uint32_t height) {
    const Imf::PixelType type = part.header().channels()[name].type;
    LoadedMap map = allocate_map(
        width, height, type == Imf::HALF ? TexelFormat::r16_float : TexelFormat::r32_float, name);
    read_channel(part, name, type, room_of(map));
    if (type == Imf::UINT) {  // converted to float in place
        for (std::size_t i = 0; i < std::size_t{width} * height; ++i) {
            std::byte* texel = room_of(map) + i * sizeof(float);
            std::uint32_t integer = 0;
            std::memcpy(&integer, texel, sizeof integer);
            const auto value = static_cast<float>(integer);
            if (static_cast<double>(value) != static_cast<double>(integer)) {
                throw std::runtime_error(
                    "channel '" + name + "' has the value " + std::to_string(integer) +
                    " at texel (" + std::to_string(i % width) + ", " + std::to_string(i / width) +
                    "), which no 32-bit float equals; store the channel as float");
            }
            std::memcpy(texel, &value, sizeof value);
        }
    }
    return map;
}

LoadedMap load_luminance(Imf::InputPart& part, const Source& source, std::uint32_t width,
                         std::uint32_t height) {
    LoadedMap map = allocate_map(width, height, TexelFormat::r32_float, source.name);
    auto* texels = reinterpret_cast<float*>(room_of(map));
    const std::array<float, 3> weights = luminance_weights(part.header());
    const Imath::Box2i& window = part.header().dataWindow();
    // In bands, to save memory; no compression method has blocks of more rows.
    constexpr int BAND_ROWS = 256;
    std::vector<float> pixels(std::size_t{width} * std::min<std::size_t>(height, BAND_ROWS) * 3);
    for (std::int64_t first = window.min.y; first <= window.max.y; first += BAND_ROWS) {
        Imath::Box2i band = window;
        band.min.y = static_cast<int>(first);
        band.max.y = static_cast<int>(std::min<std::int64_t>(first + BAND_ROWS - 1, window.max.y));
        Imf::FrameBuffer frame;
        for (std::size_t c = 0; c < 3; ++c) {
            frame.insert(source.channels[c],
                         Imf::Slice::Make(Imf::FLOAT, pixels.data() + c, band, 3 * sizeof(float),
                                          3 * sizeof(float) * width));
        }
        part.setFrameBuffer(frame);
        part.readPixels(band.min.y, band.max.y);
        const std::size_t texels_of_band =
            std::size_t{width} * static_cast<std::size_t>(band.max.y - band.min.y + 1);
        for (std::size_t i = 0; i < texels_of_band; ++i) {
            *texels++ = luminance(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2], weights);
        }
    }
    return map;
}

// Loads R, G, B and A, as halves if all of them are; a missing alpha is 1.
LoadedImage load_colour(Imf::InputPart& part, const std::vector<std::string>& rgba,
                        std::uint32_t width, std::uint32_t height) {
    const Imf::ChannelList& stored = part.header().channels();
    const bool halves = std::ranges::all_of(rgba, [&](const std::string& name) {
        const Imf::Channel* channel = stored.findChannel(name);
        return channel == nullptr || channel->type == Imf::HALF;
    });
    LoadedImage image = allocate_image(
        width, height, halves ? TexelFormat::rgba16_float : TexelFormat::rgba32_float);
    const std::size_t texel_bytes = texel_size_bytes(image.shape.format);
    const Imath::Box2i& window = part.header().dataWindow();
    Imf::FrameBuffer frame;
    for (std::size_t c = 0; c < rgba.size(); ++c) {
        frame.insert(rgba[c], Imf::Slice::Make(halves ? Imf::HALF : Imf::FLOAT,
                                               room_of(image) + c * texel_bytes / 4, window,
                                               texel_bytes, texel_bytes * width, 1, 1, 1.0));
    }
    part.setFrameBuffer(frame);
    part.readPixels(window.min.y, window.max.y);
    return image;
}

// Sets OpenEXR's limits, so that damaged headers cannot make it allocate tables for billions of
// rows. They are globals without a lock: one thread sets them, once.
void limit_exr_sizes() {
    static std::once_flag once;
    std::call_once(once, [] {
        Imf::Header::setMaxImageSize(MAX_MAP_EXTENT, MAX_MAP_EXTENT);
        Imf::Header::setMaxTileSize(MAX_MAP_EXTENT, MAX_MAP_EXTENT);
    });
}

// Opens a file and passes it to `use`.
template <typename Use>
auto with_exr(const std::filesystem::path& path, Use&& use) {
    limit_exr_sizes();
    try {
        check_exr_attributes(path);
        Imf::MultiPartInputFile file(text_of(path).c_str());  // UTF-8 on Windows, too
        return use(file);
    } catch (const Iex::BaseExc& error) {
        throw std::runtime_error("damaged or truncated OpenEXR file (" + std::string(error.what()) +
                                 "); copy or save it again");
    }
}

// Chooses channels by `choose`, checks that they can be read, and reads them by `load`.
template <typename Choose, typename Load>
auto read_exr(const std::filesystem::path& path, Choose&& choose, Load&& load) {
    return with_exr(path, [&](Imf::MultiPartInputFile& file) {
        const Source source = choose(file);
        check_exr_pixels(file.header(source.part), std::filesystem::file_size(path));
        if (!file.partComplete(source.part)) {
            throw std::runtime_error(
                "the file is truncated: pixels are missing; copy or save it again");
        }
        Imf::InputPart part(file, source.part);
        for (const std::string& name : source.channels) {
            if (is_subsampled(part.header(), name)) {
                throw std::runtime_error(
                    "channel '" + name +
                    "' is subsampled: it lacks values for some pixels; choose another channel");
            }
        }
        const Imath::Box2i& window = part.header().dataWindow();
        const auto extent = [](std::int64_t min, std::int64_t max) {
            return static_cast<std::uint32_t>(max - min + 1);
        };
        return load(part, source, extent(window.min.x, window.max.x),
                    extent(window.min.y, window.max.y));
    });
}

}  // namespace

LoadedMap load_exr(const std::filesystem::path& path, const std::string& channel) {
    return read_exr(
        path, [&](const auto& file) { return choose_source(file, channel); },
        [](auto& part, const Source& source, std::uint32_t width, std::uint32_t height) {
            LoadedMap map = source.channels.size() == 1
                                ? load_channel(part, source.channels[0], width, height)
                                : load_luminance(part, source, width, height);
            map.channel = source.name;
            map.is_guess = source.is_guess;
            return map;
        });
}

LoadedImage load_exr_image(const std::filesystem::path& path, bool /*linear*/) {
    return read_exr(path, choose_image,
                    [](auto& part, const Source& source, std::uint32_t width,
                       std::uint32_t height) -> LoadedImage {
                        if (source.channels.size() == 1) {
                            return load_channel(part, source.channels[0], width, height);
                        }
                        return load_colour(part, source.channels, width, height);
                    });
}

std::vector<std::string> exr_channels(const std::filesystem::path& path) {
    return with_exr(path, [](const Imf::MultiPartInputFile& file) {
        const std::vector<int> parts = flat_parts(file);
        check_parts(parts);
        return Names(file, parts).loadable();
    });
}

}  // namespace quadtile::detail
