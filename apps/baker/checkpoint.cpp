#include "checkpoint.hpp"

#include "arguments.hpp"
#include "output_file.hpp"
#include "platform.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace quadtile::baker {

std::uint64_t fingerprint_of(const TracedScene& scene, const SurfaceMap& surface,
                             const std::vector<Sun>& suns, const std::vector<PointLight>& lights,
                             const Lamps& lamps,
                             std::span<const std::vector<BundleDirection>* const> sets,
                             const TileOptions& tile_options, const BakeOptions& options) {
    Fingerprint all;
    all.add_all(scene.triangles);
    all.add_all(scene.alpha_triangles);
    all.add_all(scene.alpha_texels);
    all.add(scene.centre);
    all.add(scene.texels.extent());
    all.add_all(scene.texels.words());
    all.add_all(surface.coverage);
    all.add_all(surface.albedo);
    all.add_all(surface.emission);
    all.add_all(surface.normal);
    all.add_all(surface.facets);
    all.add_all(surface.smooth);
    all.add_all(surface.double_sided);
    all.add_all(surface.kept);
    all.add_all(surface.kept_light);
    for (const Sun& sun : suns) {
        all.add(sun.direction);
        all.add(sun.irradiance);
        all.add(sun.angular_diameter_degrees);
    }
    for (const PointLight& light : lights) {
        all.add(light.position);
        all.add(light.intensity);
        all.add(light.radius);
        all.add(light.range);
        all.add(std::uint32_t{light.is_spot});
        all.add(light.direction);
        all.add(light.inner_angle);
        all.add(light.outer_angle);
    }
    for (const LampPatch& patch : lamps.patches) {
        for (const LampPiece& piece : patch.pieces) {
            all.add(piece.corners);
            all.add(piece.radiance);
        }
    }
    for (const std::vector<BundleDirection>* const set : sets) {
        for (const BundleDirection& direction : *set) {
            all.add(direction.direction);
            all.add(direction.sky_ahead);
            all.add(direction.sky_behind);
            all.add(direction.range);
        }
    }
    all.add(options.bounces);
    all.add(options.sun_directions);
    all.add(options.seed);
    all.add(std::uint32_t{options.directional});
    all.add(std::uint32_t{options.light_shares});
    all.add(options.noise);
    all.add_all(options.probes);
    all.add(tile_options.map_extent);
    all.add(tile_options.max_resolution);
    all.add(tile_options.max_nodes);
    return all.value();
}

namespace {

// Magic number with the byte order, because numbers are written as in memory.
constexpr std::uint64_t MAGIC = 0x39454b41'42544451;  // "QDTBAKE9"

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
    throw std::runtime_error("checkpoint '" + app::text_of(path) + "' " + what +
                             "; delete it, or bake without --resume");
}

bool is_regular(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

// Returns whether a file is a checkpoint of any version, because those of earlier programs may be
// replaced too.
bool is_checkpoint(const std::filesystem::path& path) {
    constexpr std::string_view NAME = "QDTBAKE";
    std::array<char, NAME.size()> name{};
    return is_regular(path) &&
           std::ifstream(path, std::ios::binary).read(name.data(), name.size()) &&
           std::string_view(name.data(), name.size()) == NAME;
}

class Writer {
 public:
    explicit Writer(const std::filesystem::path& path) : file_(path) {}

    void bytes(const void* bytes, std::size_t size_bytes) {
        file_.write({static_cast<const char*>(bytes), size_bytes});
        check_.add(bytes, size_bytes);
    }
    template <typename T>
    void value(const T& value) {
        bytes(&value, sizeof(value));
    }
    template <typename T>
    void all(const std::vector<T>& values) {
        value(std::uint64_t{values.size()});
        bytes(values.data(), values.size() * sizeof(T));
    }
    void commit() {
        const std::uint64_t check = check_.value();
        file_.write({reinterpret_cast<const char*>(&check), sizeof(check)});
        file_.commit();
    }

 private:
    app::OutputFile file_;
    Fingerprint check_;
};

class Reader {
 public:
    explicit Reader(const std::filesystem::path& path)
        : path_(path),
          file_(path, std::ios::binary),
          left_bytes_(std::filesystem::file_size(path)) {
        if (!file_) {
            fail(path, std::string("cannot be opened: ") + std::strerror(errno));
        }
    }

    void bytes(void* bytes, std::size_t size_bytes) {
        if (size_bytes > left_bytes_ ||
            !file_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(size_bytes))) {
            fail(path_, "is cut off");
        }
        left_bytes_ -= size_bytes;
        check_.add(bytes, size_bytes);
    }
    template <typename T>
    void value(T& value) {
        bytes(&value, sizeof(value));
    }
    template <typename T>
    void all(std::vector<T>& values) {
        std::uint64_t count = 0;
        value(count);
        if (count > left_bytes_ / sizeof(T)) {
            fail(path_, "is cut off or damaged");
        }
        values.resize(count);
        bytes(values.data(), count * sizeof(T));
    }
    // Reads the sums, which `state` does not hold.
    void check_sums() {
        std::uint64_t count = 0;
        value(count);
        if (count > left_bytes_ / sizeof(Accumulator)) {
            fail(path_, "is cut off or damaged");
        }
        read_pieces(count, [&](std::size_t, std::span<Accumulator> sums) {
            bytes(sums.data(), sums.size_bytes());
        });
    }
    void check_end() {
        const std::uint64_t expected = check_.value();
        std::uint64_t written = 0;
        value(written);
        if (written != expected || left_bytes_ != 0) {
            fail(path_, "is damaged");
        }
    }

 private:
    const std::filesystem::path& path_;
    std::ifstream file_;
    std::uint64_t left_bytes_;
    Fingerprint check_;
};

// Exchange from the first rank to the others.
class Broadcast {
 public:
    explicit Broadcast(Ranks& ranks) : ranks_(ranks) {}

    template <typename T>
    void value(T& value) {
        ranks_.broadcast(std::as_writable_bytes(std::span(&value, 1)));
    }
    template <typename T>
    void all(std::vector<T>& values) {
        std::uint64_t count = values.size();
        value(count);
        values.resize(count);
        ranks_.broadcast(std::as_writable_bytes(std::span(values)));
    }

 private:
    Ranks& ranks_;
};

// Visits everything except sums.
void visit_state(auto& file, auto& checkpoint) {
    file.value(checkpoint.fingerprint);
    file.value(checkpoint.pass);
    file.value(checkpoint.directions_done);
    file.value(checkpoint.tiles_done);
    file.all(checkpoint.more);
    file.value(checkpoint.inside_texels);
    BakeState::visit_light(checkpoint, [&](auto& values) { file.all(values); });
    file.value(checkpoint.probe_steps);
    file.all(checkpoint.probe_sums);
}

// Visits the contents of Writer and Reader after the magic number, in this order.
void visit(auto& file, auto& state) {
    visit_state(file, state);
    for (auto& sums : state.lamp_sums) {
        file.all(sums);
    }
}

}  // namespace

void broadcast_state(BakeState& state, Ranks& ranks) {
    Broadcast broadcast(ranks);
    visit_state(broadcast, state);
}

void check_replaceable(const std::filesystem::path& path) {
    if (is_regular(path) && !is_checkpoint(path)) {
        throw std::runtime_error("cannot write the checkpoint '" + app::text_of(path) +
                                 "': a file of this name exists that is no checkpoint; give "
                                 "another name with --checkpoint");
    }
}

void remove_checkpoint(const std::filesystem::path& path) {
    if (is_checkpoint(path)) {
        std::error_code ignored;
        std::filesystem::remove(app::follow_links(path), ignored);
    }
}

void read_pieces(std::size_t count, const ReadSums& read) {
    std::vector<Accumulator> sums(std::min<std::size_t>(count, std::size_t{1} << 18U));
    for (std::size_t first = 0; first < count; first += sums.size()) {
        read(first, std::span(sums).first(std::min(sums.size(), count - first)));
    }
}

void write_checkpoint(const std::filesystem::path& path, const BakeState& state,
                      std::size_t sum_count, const ReadSums& read) {
    check_replaceable(path);
    Writer writer(path);
    writer.value(MAGIC);
    visit(writer, state);
    writer.value(std::uint64_t{sum_count});
    read_pieces(sum_count, [&](std::size_t first, std::span<Accumulator> sums) {
        read(first, sums);
        writer.bytes(sums.data(), sums.size_bytes());
    });
    writer.commit();
}

std::optional<BakeState> read_checkpoint(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return {};
    }
    Reader reader(path);
    std::uint64_t magic = 0;
    reader.value(magic);
    if (magic != MAGIC) {
        fail(path, "is no checkpoint of this version of the program");
    }
    BakeState state;
    visit(reader, state);
    reader.check_sums();
    reader.check_end();
    return state;
}

void read_sums(const std::filesystem::path& path, std::size_t sum_count,
               const std::function<void(std::size_t first, std::span<const Accumulator>)>& take) {
    // They are the last before the check.
    const std::size_t bytes = sum_count * sizeof(Accumulator) + sizeof(std::uint64_t);
    std::ifstream file(path, std::ios::binary);
    file.seekg(-static_cast<std::streamoff>(bytes), std::ios::end);
    read_pieces(sum_count, [&](std::size_t first, std::span<Accumulator> sums) {
        if (!file.read(reinterpret_cast<char*>(sums.data()),
                       static_cast<std::streamsize>(sums.size_bytes()))) {
            fail(path, "is cut off");
        }
        take(first, sums);
    });
}

}  // namespace quadtile::baker
