#include "fingerprint.hpp"

namespace quadtile::baker {

std::uint64_t fingerprint_of(const TracedScene& scene, const SurfaceMap& surface,
                             const std::vector<Sun>& suns,
                             std::initializer_list<const std::vector<BundleDirection>*> sets,
                             const TileOptions& tile_options, const BakeOptions& options) {
    Fingerprint all;
    all.add_all(scene.triangles);
    all.add(scene.centre);
    all.add(scene.light_map);
    all.add_all(surface.coverage);
    all.add_all(surface.albedo);
    all.add_all(surface.emission);
    all.add_all(surface.normal);
    all.add_all(surface.double_sided);
    for (const Sun& sun : suns) {
        all.add(sun.direction);
        all.add(sun.irradiance);
        all.add(sun.angular_diameter_degrees);
    }
    for (const std::vector<BundleDirection>* const set : sets) {
        for (const BundleDirection& direction : *set) {
            all.add(direction.direction);
            all.add(direction.sky_ahead);
            all.add(direction.sky_behind);
        }
    }
    all.add(options.bounces);
    all.add(options.sun_directions);
    all.add(options.seed);
    all.add(std::uint32_t{options.directional});
    all.add(tile_options.map_extent);
    all.add(tile_options.max_resolution);
    all.add(tile_options.max_nodes);
    all.add(std::uint32_t{tile_options.uniform});
    return all.value();
}

}  // namespace quadtile::baker
