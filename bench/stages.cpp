// Times of the stages from the map on the GPU to its tile list: the pyramid; the subdivision of a
// pyramid that exists; and both, or a strategy without pyramid.

#include "measurement.hpp"

#include <algorithm>

namespace quadtile::bench {

namespace {

// A kind of subdivision. Its benchmark is "subdivision_NAME" or, from the map, "pipeline_NAME".
struct Way {
    std::string name;
    SubdividerOptions options;
    Order order = Order::any;
    Balance balance = Balance::none;
};

// The course note's comparison: per level against subtrees. One level per dispatch is both.
std::string subtree_name(std::uint32_t levels) {
    return levels == 1 ? "per_level" : "subtree_" + std::to_string(levels);
}

std::vector<Way> ways_from_the_pyramid() {
    std::vector<Way> ways;
    for (std::uint32_t levels = 1; levels <= MAX_SUBTREE_LEVELS; ++levels) {
        ways.push_back(
            {subtree_name(levels), {.strategy = Strategy::subtree, .subtree_levels = levels}});
    }
    return ways;
}

std::vector<Way> ways_from_the_map() {
    return {{subtree_name(1), {.strategy = Strategy::subtree, .subtree_levels = 1}},
            {"subtree_6", {.strategy = Strategy::subtree, .subtree_levels = 6}},
            {"fused", {.strategy = Strategy::fused}},
            {"fused_canonical", {.strategy = Strategy::fused}, Order::canonical},
            {"balanced_edges", {.strategy = Strategy::fused}, Order::any, Balance::edges},
            {"balanced_corners", {.strategy = Strategy::fused}, Order::any, Balance::corners}};
}

// A subdivider with the resources of a scene.
struct Work {
    Work(Session& session_, Scene& scene_, const Way& way)
        : session(session_),
          scene(scene_),
          options{.order = way.order, .balance = way.balance},
          subdivider(session.gpu().device(), way.options),
          workspace(session.gpu(), subdivider, scene.pyramid(),
                    scene.expected_tile_count(way.balance), way.balance != Balance::none) {}

    void record_pyramid(VkCommandBuffer commands) const {
        session.pyramid().record(commands, scene.pyramid().binding);
        session.gpu().compute_barrier(commands);
    }
    void record_tiles(VkCommandBuffer commands) const {
        subdivider.record(commands, workspace.binding, scene.map().threshold, options);
    }

    Session& session;
    Scene& scene;
    SubdivideOptions options;
    Subdivider subdivider;
    test::SubdivisionWorkspace workspace;
};

// Builds the pyramid, subdivides once, checks the tiles.
std::shared_ptr<const Work> checked_work(Session& session, Scene& scene, const Way& way) {
    auto work = std::make_shared<const Work>(session, scene, way);
    session.gpu().run([&](VkCommandBuffer commands) {
        work->record_pyramid(commands);
        work->record_tiles(commands);
    });
    scene.check_tiles(session.gpu(), work->workspace, way.order, way.balance);
    return work;
}

// Returns the number of tiles of the ordinary list, and how many a balance adds.
std::map<std::string, double> tile_counter(Scene& scene, Balance balance) {
    const std::uint64_t ordinary = scene.expected_tile_count();
    std::map<std::string, double> counters{{"tiles", static_cast<double>(ordinary)}};
    if (balance != Balance::none) {
        counters["added_tiles"] =
            static_cast<double>(scene.expected_tile_count(balance) - ordinary);
    }
    return counters;
}

Measurement measure_way(Session& session, Scene& scene, const Way& way, bool from_the_map) {
    const auto work = checked_work(session, scene, way);
    const bool needs_pyramid = from_the_map && way.options.strategy != Strategy::fused;
    return {[work, needs_pyramid](VkCommandBuffer commands) {
                if (needs_pyramid) {
                    work->record_pyramid(commands);
                }
                work->record_tiles(commands);
            },
            tile_counter(scene, way.balance)};
}

// Measures a budget of at most half of the tiles.
Measurement measure_budget(Session& session, Scene& scene) {
    const auto work = checked_work(session, scene, {"fused", {.strategy = Strategy::fused}});
    const std::uint64_t budget =
        std::max<std::uint64_t>(scene.expected_tile_count() / 2, scene.map().shape.layers);
    const auto record = [work, budget](VkCommandBuffer commands) {
        work->subdivider.record(commands, work->workspace.binding, work->scene.map().threshold,
                                {Order::any, budget});
    };
    session.gpu().run(record);
    scene.check_budget(session.gpu(), work->workspace, budget);
    const std::uint32_t tiles = work->workspace.read_header(session.gpu()).required;
    return {record, {{"tiles_left", static_cast<double>(tiles)}}};
}

Measurement measure_pyramid(Session& session, Scene& scene) {
    const auto record = [&session, &scene](VkCommandBuffer commands) {
        session.pyramid().record(commands, scene.pyramid().binding);
    };
    session.gpu().run(record);
    scene.check_pyramid(session.gpu());
    return {record, {}};
}

}  // namespace

void add_stages(Session& session, const MapSource& source) {
    const auto add = [&](const std::string& name, auto measure) {
        session.add(name, source,
                    [&session, measure](Scene& scene) { return measure(session, scene); });
    };
    const auto add_way = [&](const char* prefix, const Way& way, bool from_the_map) {
        add(prefix + way.name, [way, from_the_map](Session& its_session, Scene& scene) {
            return measure_way(its_session, scene, way, from_the_map);
        });
    };
    add("pyramid", measure_pyramid);
    for (const Way& way : ways_from_the_pyramid()) {
        add_way("subdivision_", way, false);
    }
    for (const Way& way : ways_from_the_map()) {
        add_way("pipeline_", way, true);
    }
    add("pipeline_fused_budget", measure_budget);
}

}  // namespace quadtile::bench
