// From the map on the GPU to its tile list: pyramid and subdivision, or fused.

#include "measurement.hpp"

#include <algorithm>

namespace quadtile::bench {

void add_pipeline(Session& session, const MapSource& source) {
    for (const NamedStrategy& strategy : main_strategies()) {
        session.add("pipeline_" + strategy.name, source, [&session, strategy](Scene& scene) {
            const Subdivider& subdivider = session.subdivider(strategy.options);
            const auto workspace = checked_subdivision(session, scene, strategy);
            const bool needs_pyramid = strategy.options.strategy != Strategy::fused;
            return Measurement{[&session, &subdivider, &scene, workspace, needs_pyramid,
                                order = strategy.order](VkCommandBuffer commands) {
                                   if (needs_pyramid) {
                                       session.pyramid().record(commands, scene.pyramid().binding);
                                       session.gpu().compute_barrier(commands);
                                   }
                                   subdivider.record(commands, workspace->binding,
                                                     scene.map().threshold, order);
                               },
                               {{"tiles", static_cast<double>(scene.expected_tile_count())}}};
        });
    }
    // At most half of the tiles.
    session.add("pipeline_fused_budget", source, [&session](Scene& scene) {
        const NamedStrategy strategy{"fused", {.strategy = Strategy::fused}};
        const Subdivider& subdivider = session.subdivider(strategy.options);
        const auto workspace = checked_subdivision(session, scene, strategy);
        const std::uint64_t budget =
            std::max<std::uint64_t>(scene.expected_tile_count() / 2, scene.map().shape.layers);
        const auto record = [&subdivider, &scene, workspace, budget](VkCommandBuffer commands) {
            subdivider.record(commands, workspace->binding, scene.map().threshold, Order::any,
                              budget);
        };
        session.gpu().run(record);
        scene.check_budget(session.gpu(), *workspace, budget);
        const std::uint32_t tiles = workspace->read_header(session.gpu()).required;
        return Measurement{record, {{"tiles_left", static_cast<double>(tiles)}}};
    });
    // After a change of one block in the middle of each layer.
    session.add("pipeline_fused_update", source, [&session](Scene& scene) {
        const NamedStrategy strategy{"fused", {.strategy = Strategy::fused}, Order::canonical};
        const Subdivider& subdivider = session.subdivider(strategy.options);
        const auto workspace = checked_subdivision(session, scene, strategy);
        const MapShape& shape = scene.map().shape;
        std::vector<DirtyRectangle> rectangles;
        for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
            rectangles.push_back({shape.width / 2, shape.height / 2, 1, 1, layer});
        }
        const auto record = [&subdivider, &scene, workspace, rectangles](VkCommandBuffer commands) {
            subdivider.record_update(commands, workspace->binding, scene.map().threshold,
                                     rectangles);
        };
        session.gpu().run(record);
        scene.check_tiles(session.gpu(), *workspace, Order::canonical);
        return Measurement{record, {}};
    });
}

}  // namespace quadtile::bench
