// The subdivision alone, from a pyramid that exists: per level, by subtrees of 1 to 8 levels, and
// by subtrees with the same thresholds from a function of the user's in GLSL.

#include "measurement.hpp"

#include <memory>
#include <vector>

namespace quadtile::bench {

namespace {

// Those that are constant, or that halve from level to level.
constexpr const char* THRESHOLDS_IN_GLSL = R"(
float threshold(uint level, uvec2 position, uint layer) {
    return threshold_parameter(0) / float(1u << (level * uint(threshold_parameter(1))));
}
)";

Measurement measure_function(Session& session, Scene& scene) {
    const auto function = ThresholdFunction::from_glsl(THRESHOLDS_IN_GLSL);
    const std::vector<float> levels =
        scene.map().threshold.levels(top_level(scene.map().shape.width, scene.map().shape.height));
    const Threshold threshold = Threshold::function(
        function, {levels.front(), levels.front() == levels.back() ? 0.0F : 1.0F});
    test::Gpu& gpu = session.gpu();
    const auto subdivider = std::make_shared<const Subdivider>(
        gpu.device(),
        SubdividerOptions{.strategy = Strategy::subtree, .threshold_function = function});
    const auto workspace = std::make_shared<const test::SubdivisionWorkspace>(
        gpu, *subdivider, scene.pyramid(), scene.expected_tile_count());
    gpu.run([&](VkCommandBuffer commands) {
        session.pyramid().record(commands, scene.pyramid().binding);
        gpu.compute_barrier(commands);
        subdivider->record(commands, workspace->binding, threshold);
    });
    scene.check_tiles(gpu, *workspace, Order::any);
    return {[subdivider, workspace, threshold](VkCommandBuffer commands) {
                subdivider->record(commands, workspace->binding, threshold);
            },
            {{"tiles", static_cast<double>(scene.expected_tile_count())}}};
}

}  // namespace

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
    if (can_compile_glsl()) {
        session.add("subdivision_subtree_6_by_function", source,
                    [&session](Scene& scene) { return measure_function(session, scene); });
    }
}

}  // namespace quadtile::bench
