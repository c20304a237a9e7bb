#include "light_map.hpp"

#include "output_file.hpp"
#include "parallel.hpp"
#include "picture.hpp"
#include "platform.hpp"

#include <quadtile/version.h>

#include <Imath/half.h>
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <OpenEXR/ImfThreading.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <numbers>
#include <stdexcept>

namespace quadtile::baker {

std::vector<std::vector<glm::vec3>*> LightMap::planes() {
    std::vector<std::vector<glm::vec3>*> all = {&irradiance};
    for (auto& band : radiance_sh) {
        if (!band.empty()) {
            all.push_back(&band);
        }
    }
    return all;
}

namespace {

template <typename Value>
std::vector<Value> page_of(const std::vector<Value>& values, const Pages& pages,
                           std::uint32_t page) {
    const std::size_t first = std::size_t{pages.first_row(page)} * pages.extent.width;
    return values.empty()
               ? values
               : std::vector<Value>(&values[first], &values[first] + pages.extent.texels());
}

}  // namespace

LightMap page_of(const LightMap& map, const Pages& pages, std::uint32_t page) {
    LightMap cut{.extent = pages.extent,
                 .irradiance = page_of(map.irradiance, pages, page),
                 .known = page_of(map.known, pages, page)};
    for (std::size_t i = 0; i < cut.radiance_sh.size(); ++i) {
        cut.radiance_sh[i] = page_of(map.radiance_sh[i], pages, page);
    }
    return cut;
}

void dilate(LightMap& map, std::uint32_t rings) {
    constexpr std::size_t TEXELS_A_PART = 1U << 16U;
    const std::vector<std::vector<glm::vec3>*> planes = map.planes();
    std::vector<std::uint8_t> filled = map.known;
    // Gives a texel the mean of its filled neighbours; returns whether it has some.
    const auto fill = [&](std::size_t texel) {
        bool has_some = false;
        for (std::vector<glm::vec3>* plane : planes) {
            glm::vec3 sum(0.0F);
            float count = 0.0F;
            visit_neighbours(map.extent, texel, [&](std::size_t neighbour) {
                if (filled[neighbour] != 0) {
                    sum += (*plane)[neighbour];
                    count += 1.0F;
                }
            });
            has_some = count > 0.0F;
            if (!has_some) {
                break;
            }
            (*plane)[texel] = sum / count;
        }
        return has_some;
    };
    std::vector<std::vector<std::size_t>> ring((filled.size() + TEXELS_A_PART - 1) / TEXELS_A_PART);
    for (std::uint32_t i = 0; i < rings; ++i) {
        parallel_for(ring.size(), 0, [&](std::size_t part) {
            ring[part].clear();
            const std::size_t end = std::min(filled.size(), (part + 1) * TEXELS_A_PART);
            for (std::size_t texel = part * TEXELS_A_PART; texel < end; ++texel) {
                if (filled[texel] == 0 && fill(texel)) {
                    ring[part].push_back(texel);
                }
            }
        });
        bool is_last = true;
        for (const std::vector<std::size_t>& part : ring) {
            is_last = is_last && part.empty();
            std::ranges::for_each(part, [&](std::size_t texel) { filled[texel] = 1; });
        }
        if (is_last) {
            return;
        }
    }
}

void EarlierLight::keep_in(LightMap& to, float factor) const {
    if (kept.empty()) {
        return;
    }
    const auto keep = [&](std::vector<glm::vec3>& values, const std::vector<glm::vec3>& own) {
        const auto keep_one = [&](std::size_t i) {
            values[i] = kept[i] != 0 ? factor * own[i] : values[i];
        };
        parallel_for(values.size(), 0, keep_one, SHORT_CALLS);
    };
    keep(to.irradiance, map.irradiance);
    for (std::size_t band = 0; band < to.radiance_sh.size(); ++band) {
        keep(to.radiance_sh[band], map.radiance_sh[band]);
    }
}

namespace {

// Returns the map with another quantity in place of irradiance.
LightMap converted(LightMap map, Quantity quantity) {
    const bool is_mask = quantity == Quantity::shadow_mask;
    for (std::vector<glm::vec3>* const plane : map.planes()) {
        const auto convert = [&](std::size_t i) {
            glm::vec3& texel = (*plane)[i];
            // Blended seams may exceed both ends.
            texel = is_mask ? glm::clamp(texel, 0.0F, 1.0F) : texel * std::numbers::inv_pi_v<float>;
        };
        parallel_for(plane->size(), 0, convert, SHORT_CALLS);
    }
    return map;
}

// Channels of a file. They refer to the values that they are added with.
struct Channels {
    Imf::Header header;
    Imf::FrameBuffer pixels;
    bool half = false;
    std::list<std::vector<Imath::half>> halves;
    std::size_t cut = 0;  // values beyond the range of half floats

    void add_colours(const std::string& layer, const std::vector<glm::vec3>& texels) {
        static_assert(sizeof(glm::vec3) == 3 * sizeof(float));
        const auto* const values = reinterpret_cast<const float*>(texels.data());
        for (std::size_t c = 0; c < 3; ++c) {
            add((layer.empty() ? "" : layer + ".") + "RGB"[c], values + c, 3, texels.size());
        }
    }

    // Adds every `stride`-th value.
    void add(const std::string& name, const float* values, std::size_t stride, std::size_t count) {
        header.channels().insert(name, Imf::Channel(half ? Imf::HALF : Imf::FLOAT));
        if (!half) {
            pixels.insert(name, Imf::Slice::Make(Imf::FLOAT, values, header.dataWindow(),
                                                 stride * sizeof(float)));
            return;
        }
        std::vector<Imath::half>& rounded = halves.emplace_back(count);
        std::atomic_ref cut_values(cut);
        const auto round = [&](std::size_t i) {
            const float value = values[i * stride];
            rounded[i] = std::clamp(value, -LARGEST_HALF, LARGEST_HALF);
            if (std::abs(value) > LARGEST_HALF) {
                ++cut_values;
            }
        };
        parallel_for(count, 0, round, SHORT_CALLS);
        pixels.insert(name, Imf::Slice::Make(Imf::HALF, rounded.data(), header.dataWindow()));
    }
};

// Writes to a file. The last bytes come from a destructor, which would keep an error for itself.
class FileStream : public Imf::OStream {
 public:
    explicit FileStream(app::OutputFile& file) : Imf::OStream("lightmap"), file_(file) {}

    void write(const char* bytes, int size) override {
        try {
            file_.write_at(at_, {bytes, static_cast<std::size_t>(size)});
        } catch (...) {
            failure_ = std::current_exception();
            throw;
        }
        at_ += static_cast<std::size_t>(size);
    }
    std::uint64_t tellp() override { return at_; }
    void seekp(std::uint64_t at) override { at_ = at; }

    void check() const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

 private:
    app::OutputFile& file_;
    std::uint64_t at_ = 0;
    std::exception_ptr failure_;
};

// Writes KTX 2.0 with one level of VK_FORMAT_R16G16B16A16_SFLOAT, without compression.
std::string encode_ktx2(const LightMap& map, float white) {
    constexpr std::uint32_t DESCRIPTOR = 104;  // offsets and sizes in bytes
    constexpr std::uint32_t DESCRIPTOR_SIZE = 92;
    constexpr std::uint32_t PIXELS = 200;
    const std::uint64_t size = map.irradiance.size() * sizeof(std::array<half, 4>);
    const auto low = static_cast<std::uint32_t>(size);
    const auto high = static_cast<std::uint32_t>(size >> 32U);
    std::vector<std::uint32_t> words{
        0x58544babU, 0xbb303220U, 0x0a1a0a0dU,  // identifier
        // Format, bytes of a number, extent, depth, layers, faces, levels, compression.
        97, 2, map.extent.width, map.extent.height, 0, 0, 1, 1, 0,
        // Places of the descriptor, of keys and values, and of global data; the level.
        DESCRIPTOR, DESCRIPTOR_SIZE, 0, 0, 0, 0, 0, 0, PIXELS, 0, low, high, low, high,
        // Descriptor: its size, version and size again, linear RGB of BT.709, bytes per texel.
        DESCRIPTOR_SIZE, 0, 2U | (DESCRIPTOR_SIZE - 4) << 16U, 0x010101U, 0, 8, 0};
    for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t signed_float = 0xc0U + (i < 3 ? i : 15);  // of R, G, B or A
        words.insert(words.end(),
                     {16 * i | 15U << 16U | signed_float << 24U, 0,
                      std::bit_cast<std::uint32_t>(-1.0F), std::bit_cast<std::uint32_t>(1.0F)});
    }
    words.resize(PIXELS / sizeof(std::uint32_t));
    std::string bytes(PIXELS + size, '\0');
    std::memcpy(bytes.data(), words.data(), PIXELS);
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        const glm::vec3 light = glm::clamp(map.irradiance[i] / white, -LARGEST_HALF, LARGEST_HALF);
        const std::array<half, 4> texel{light.r, light.g, light.b, 1.0F};
        std::memcpy(&bytes[PIXELS + i * sizeof(texel)], texel.data(), sizeof(texel));
    }
    return bytes;
}

}  // namespace

std::string name_of(Quantity quantity) {
    return std::array{"irradiance", "radiance", "ambient-occlusion",
                      "shadow-mask"}[static_cast<std::size_t>(quantity)];
}

std::string quantity_in(const std::filesystem::path& path) {
    const Imf::InputFile file(app::text_of(path).c_str());
    const auto* const name = file.header().findTypedAttribute<Imf::StringAttribute>("quantity");
    return name != nullptr ? name->value() : "";
}

LightMapPictures encode_light_map(const LightMap& map, Quantity quantity, bool half) {
    std::vector<float> lights;
    for (std::size_t i = 0; i < map.known.size(); ++i) {
        if (map.known[i] != 0) {
            const glm::vec3& light = map.irradiance[i];
            lights.push_back(std::max({light.r, light.g, light.b}));
        }
    }
    const auto last = lights.begin() + static_cast<std::ptrdiff_t>(lights.size() * 99 / 100);
    std::ranges::nth_element(lights, last);
    const float brightest = lights.empty() ? 0.0F : *std::max_element(last, lights.end());
    const float bright = lights.empty() ? 0.0F : *last;
    const float white = bright > 0.0F ? bright : brightest > 0.0F ? brightest : 1.0F;
    app::Picture picture(map.extent.width, map.extent.height);
    const auto draw = [&](std::size_t i) {
        for (int c = 0; c < 3; ++c) {
            picture.pixels[i][static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(
                std::lround(255.0F * std::clamp(map.irradiance[i][c] / white, 0.0F, 1.0F)));
        }
    };
    parallel_for(map.irradiance.size(), 0, draw, SHORT_CALLS);
    const double unit = unit_of(quantity);
    return {.png = app::encode_png(picture),
            .ktx2 = half ? encode_ktx2(map, white) : std::string(),
            .intensity = white * unit,
            .brightest = brightest * unit};
}

double unit_of(Quantity quantity) {
    return quantity == Quantity::radiance ? std::numbers::inv_pi : 1.0;
}

double rgbm_range(const LightMap& map, double unit) {
    float brightest = 0.0F;
    for (const glm::vec3& light : map.irradiance) {
        brightest = std::max({brightest, light.r, light.g, light.b});
    }
    return brightest > 0.0F ? std::exp2(std::ceil(std::log2(brightest * unit))) : 1.0;
}

std::string encode_rgbm(const LightMap& map, double range) {
    const auto scale = static_cast<float>(1.0 / range);
    std::vector<std::array<std::uint8_t, 4>> texels(map.irradiance.size());
    const auto encode = [&](std::size_t i) {
        const glm::vec3 root = 255.0F * glm::sqrt(glm::max(map.irradiance[i], 0.0F) * scale);
        // A is never 0: filters would darken the neighbours.
        const float alpha = std::clamp(std::ceil(std::max({root.r, root.g, root.b})), 1.0F, 255.0F);
        const glm::vec3 rest = glm::round(255.0F * root / alpha);
        texels[i] = {static_cast<std::uint8_t>(rest.r), static_cast<std::uint8_t>(rest.g),
                     static_cast<std::uint8_t>(rest.b), static_cast<std::uint8_t>(alpha)};
    };
    parallel_for(texels.size(), 0, encode, SHORT_CALLS);
    return app::encode_png({.width = map.extent.width,
                            .height = map.extent.height,
                            .components = 4,
                            .samples = texels.data()});
}

std::size_t write_light_map(const LightMap& map, Quantity quantity, bool half,
                            app::OutputFile& file, const EarlierLight& earlier) {
    std::optional<LightMap> other;
    if (quantity != Quantity::irradiance) {
        other = converted(map, quantity);
        earlier.keep_in(*other, 1.0F);  // exactly
    }
    const LightMap& written = other ? *other : map;
    const int width = static_cast<int>(map.extent.width);
    const int height = static_cast<int>(map.extent.height);
    Channels channels{.header = Imf::Header(width, height), .half = half};
    channels.header.compression() = Imf::ZIP_COMPRESSION;
    channels.header.zipCompressionLevel() = 2;  // 3/4 of the default's time, 1/20 more bytes
    channels.header.insert("quantity", Imf::StringAttribute(name_of(quantity)));
    channels.header.insert("software", Imf::StringAttribute("quadtile " QUADTILE_VERSION_STRING));

    channels.add_colours("", written.irradiance);
    for (std::size_t i = 0; i < written.radiance_sh.size(); ++i) {
        if (!written.radiance_sh[i].empty()) {
            channels.add_colours("sh" + std::to_string(i), written.radiance_sh[i]);
        }
    }
    const auto alpha = std::make_unique_for_overwrite<float[]>(map.known.size());
    const auto set_alpha = [&](std::size_t i) { alpha[i] = map.known[i]; };
    parallel_for(map.known.size(), 0, set_alpha, SHORT_CALLS);
    channels.add("A", alpha.get(), 1, map.known.size());

    const int threads = static_cast<int>(threads_of(0));
    if (Imf::globalThreadCount() < threads) {
        Imf::setGlobalThreadCount(threads);  // for the whole program; compression takes longest
    }
    FileStream stream(file);
    {
        Imf::OutputFile image(stream, channels.header, threads);  // complete when destroyed
        image.setFrameBuffer(channels.pixels);
        image.writePixels(height);
    }
    stream.check();
    return channels.cut;
}

}  // namespace quadtile::baker
