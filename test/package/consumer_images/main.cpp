// A map from a file for a Service: its tiles must be those of the values that are in the file.

#include <quadtile/images.hpp>
#include <quadtile/quadtile.hpp>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t WIDTH = 200;
constexpr std::uint32_t HEIGHT = 120;

int fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

// A new folder, removed at the end.
class Folder {
 public:
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "quadtile-consumer-XXXXXX";
        if (::mkdtemp(name.data()) != nullptr) {
            path = name;
        }
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }

    std::filesystem::path path;
};

// Portable float map: rows from the bottom to the top.
void write_pfm(const std::filesystem::path& path, const std::vector<float>& texels) {
    std::ofstream file(path, std::ios::binary);
    file << "Pf\n"
         << WIDTH << ' ' << HEIGHT << '\n'
         << (std::endian::native == std::endian::little ? "-1.0" : "1.0") << '\n';
    for (std::uint32_t y = HEIGHT; y-- > 0;) {
        file.write(reinterpret_cast<const char*>(texels.data() + std::size_t{y} * WIDTH),
                   WIDTH * sizeof(float));
    }
}

// The Service keeps the texels: what was loaded is gone before the answer is there.
quadtile::Ticket submit(quadtile::Service& service, const std::filesystem::path& path,
                        const quadtile::Threshold& threshold) {
    const quadtile::LoadedMap loaded = quadtile::load_map(path);
    return service.submit(
        {.map = loaded.view(), .texels_owner = loaded.texels, .threshold = threshold});
}

bool missing_file_is_the_callers_mistake(const std::filesystem::path& path) {
    try {
        (void)quadtile::load_map(path);
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument &&
               std::string(error.what()).find(path.string()) != std::string::npos;
    } catch (...) {
        return false;
    }
    return false;
}

}  // namespace

int main() {
    const Folder folder;
    if (!missing_file_is_the_callers_mistake(folder.path / "missing.exr")) {
        return fail("a missing file is no quadtile::Error that names it");
    }

    std::vector<float> importance(WIDTH * HEIGHT, 0.1F);
    importance[42] = 50.0F;
    importance[100 * WIDTH + 7] = 3.0F;
    write_pfm(folder.path / "map.pfm", importance);

    const auto threshold = quadtile::Threshold::max_resolution(64);
    const quadtile::Device device = quadtile::Device::create();
    quadtile::Service service(device);
    const quadtile::TileList list =
        submit(service, folder.path / "map.pfm", threshold).result.get();
    const quadtile::TileList expected =
        quadtile::reference::subdivide(quadtile::view_of(importance, WIDTH, HEIGHT), threshold);
    if (list.tiles.size() < 2 || list.tiles != expected.tiles) {
        return fail("the tiles of the file's map differ from the reference's");
    }
    std::printf("%zu tiles on %s\n", list.tiles.size(), list.report.device.c_str());
    return 0;
}
