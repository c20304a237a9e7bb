// The subdivision alone, from a pyramid that exists: per level, and by subtrees of 1 to 8 levels.

#include "measurement.hpp"

namespace quadtile::bench {

void add_subdivision(Session& session, const MapSource& source) {
    for (const auto& [name, options] : all_strategies()) {
        session.add("subdivision_" + name, source, [&session, options = options](Scene& scene) {
            const Subdivider& subdivider = session.subdivider(options);
            const auto workspace = checked_subdivision(session, scene, options);
            return Measurement{[&subdivider, &scene, workspace](VkCommandBuffer commands) {
                                   subdivider.record(commands, workspace->binding,
                                                     scene.map().threshold);
                               },
                               {{"tiles", static_cast<double>(scene.expected_tile_count())}}};
        });
    }
}

}  // namespace quadtile::bench
