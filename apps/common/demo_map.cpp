#include "demo_map.hpp"

#include "platform.hpp"

namespace quadtile::app {

std::filesystem::path demo_map_path() {
    return (platform::program_folder() / QUADTILE_DEMO_MAP).lexically_normal();
}

}  // namespace quadtile::app
