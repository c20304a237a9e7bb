#include "checkpoint.hpp"

#include "fingerprint.hpp"

#include "file_arguments.hpp"
#include "output_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace quadtile::baker {

namespace {

// With the byte order, as numbers are written as they are in memory.
constexpr std::uint64_t MAGIC = 0x33454b41'42544451;  // "QDTBAKE3"

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
    throw std::runtime_error("checkpoint '" + path.string() + "' " + what +
                             "; delete it, or bake without --resume");
}

bool is_regular(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

// Of any version: one that an earlier program has left may be replaced, too.
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

    void put(const void* bytes, std::size_t size_bytes) {
        file_.write({static_cast<const char*>(bytes), size_bytes});
        check_.add(bytes, size_bytes);
    }
    template <typename T>
    void put(const T& value) {
        put(&value, sizeof(value));
    }
    template <typename T>
    void put_all(const std::vector<T>& values) {
        put(std::uint64_t{values.size()});
        put(values.data(), values.size() * sizeof(T));
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

    void get(void* bytes, std::size_t size_bytes) {
        if (size_bytes > left_bytes_ ||
            !file_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(size_bytes))) {
            fail(path_, "is cut off");
        }
        left_bytes_ -= size_bytes;
        check_.add(bytes, size_bytes);
    }
    template <typename T>
    T get() {
        T value{};
        get(&value, sizeof(value));
        return value;
    }
    template <typename T>
    std::vector<T> get_all() {
        const auto count = get<std::uint64_t>();
        if (count > left_bytes_ / sizeof(T)) {
            fail(path_, "is cut off or damaged");
        }
        std::vector<T> values(count);
        get(values.data(), count * sizeof(T));
        return values;
    }
    void check_end() {
        const std::uint64_t expected = check_.value();
        if (get<std::uint64_t>() != expected || left_bytes_ != 0) {
            fail(path_, "is damaged");
        }
    }

 private:
    const std::filesystem::path& path_;
    std::ifstream file_;
    std::uint64_t left_bytes_;
    Fingerprint check_;
};

}  // namespace

void check_replaceable(const std::filesystem::path& path) {
    if (is_regular(path) && !is_checkpoint(path)) {
        throw std::runtime_error("cannot write the checkpoint '" + path.string() +
                                 "': there is a file that is none; give another name with "
                                 "--checkpoint");
    }
}

void remove_checkpoint(const std::filesystem::path& path) {
    if (is_checkpoint(path)) {
        std::error_code ignored;
        std::filesystem::remove(app::follow_links(path), ignored);
    }
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
    check_replaceable(path);
    Writer writer(path);
    writer.put(MAGIC);
    writer.put(checkpoint.fingerprint);
    writer.put(checkpoint.pass);
    writer.put(checkpoint.directions_done);
    writer.put(checkpoint.tiles_done);
    writer.put_all(checkpoint.direct);
    writer.put_all(checkpoint.sent);
    writer.put_all(checkpoint.indirect);
    writer.put_all(checkpoint.known);
    writer.put(checkpoint.inside_texels);
    for (const std::vector<glm::vec3>& moment : checkpoint.moments) {
        writer.put_all(moment);
    }
    writer.put_all(checkpoint.sums);
    writer.commit();
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return {};
    }
    Reader reader(path);
    if (reader.get<std::uint64_t>() != MAGIC) {
        fail(path, "is no checkpoint of this program's version");
    }
    Checkpoint checkpoint;
    checkpoint.fingerprint = reader.get<std::uint64_t>();
    checkpoint.pass = reader.get<std::uint32_t>();
    checkpoint.directions_done = reader.get<std::uint32_t>();
    checkpoint.tiles_done = reader.get<std::uint64_t>();
    checkpoint.direct = reader.get_all<glm::vec3>();
    checkpoint.sent = reader.get_all<glm::vec3>();
    checkpoint.indirect = reader.get_all<glm::vec3>();
    checkpoint.known = reader.get_all<std::uint8_t>();
    checkpoint.inside_texels = reader.get<std::uint64_t>();
    for (std::vector<glm::vec3>& moment : checkpoint.moments) {
        moment = reader.get_all<glm::vec3>();
    }
    checkpoint.sums = reader.get_all<Accumulator>();
    reader.check_end();
    return checkpoint;
}

}  // namespace quadtile::baker
