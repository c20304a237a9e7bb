// The subdivision alone, from a pyramid that exists: per level, and by subtrees of 1 to 8 levels.

#include "measurement.hpp"

namespace quadtile::bench {

void add_subdivision(Session& session, const MapSource& source) {
    for (const NamedStrategy& strategy : all_strategies()) {
        session.add("subdivision_" + strategy.name, source, [&session, strategy](Scene& scene) {
            const Subdivider& subdivider = session.subdivider(strategy.options);
            const auto workspace = checked_subdivision(session, scene, strategy);
            return Measurement{[&subdivider, &scene, workspace](VkCommandBuffer commands) {
                                   subdivider.record(commands, workspace->binding,
                                                     scene.map().threshold);
                               },
                               {{"tiles", static_cast<double>(scene.expected_tile_count())}}};
        });
    }
}

}  // namespace quadtile::bench
