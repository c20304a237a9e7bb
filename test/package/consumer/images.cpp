// A map from a file for a Service: its tiles must be those of the values that are in the file.

#include <quadtile/images.hpp>
#include <quadtile/quadtile.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

// An error of the library's is caught by its type, whichever library throws it.
bool missing_file_is_the_callers_mistake() {
    try {
        (void)quadtile::load_map("/missing.exr");
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument;
    }
    return false;
}

}  // namespace

const char* images_fault(const quadtile::Device& device) {
    if (!missing_file_is_the_callers_mistake()) {
        return "a missing file is no quadtile::Error";
    }
    // Floats near 0 but for one, which is 2.5.
    std::string texels(std::size_t{4} * 40 * 20, ' ');
    texels[11] = '@';
    std::string path = std::filesystem::temp_directory_path() / "quadtile-consumer-XXXXXX";
    ::close(::mkstemp(path.data()));
    std::ofstream(path, std::ios::binary) << "Pf\n40 20\n-1.0\n" << texels;
    const auto threshold = quadtile::Threshold::constant(1.0F);
    quadtile::Service service(device);
    // The Service keeps the texels: what was loaded is gone before the answer is there.
    auto loaded = quadtile::load_map(path);
    quadtile::Ticket ticket = service.submit(
        {.map = loaded.view(), .texels_owner = loaded.texels, .threshold = threshold});
    loaded = {};
    const quadtile::TileList list = ticket.result.get();
    const quadtile::LoadedMap map = quadtile::load_map(path);
    ::unlink(path.c_str());
    return list.tiles.size() > 1 &&
                   list.tiles == quadtile::reference::subdivide(map.view(), threshold).tiles
               ? nullptr
               : "the tiles of the file's map differ from the reference's";
}
