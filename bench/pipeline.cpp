// From the map on the GPU to its tile list: pyramid and subdivision, or fused.

#include "measurement.hpp"

namespace quadtile::bench {

void add_pipeline(Session& session, const MapSource& source) {
    for (const auto& [name, options] : main_strategies()) {
        session.add("pipeline_" + name, source, [&session, options = options](Scene& scene) {
            const Subdivider& subdivider = session.subdivider(options);
            const auto workspace = checked_subdivision(session, scene, options);
            const bool needs_pyramid = options.strategy != Strategy::fused;
            return Measurement{[&session, &subdivider, &scene, workspace,
                                needs_pyramid](VkCommandBuffer commands) {
                                   if (needs_pyramid) {
                                       session.pyramid().record(commands, scene.pyramid().binding);
                                       session.gpu().compute_barrier(commands);
                                   }
                                   subdivider.record(commands, workspace->binding,
                                                     scene.map().threshold);
                               },
                               {{"tiles", static_cast<double>(scene.expected_tile_count())}}};
        });
    }
}

}  // namespace quadtile::bench
