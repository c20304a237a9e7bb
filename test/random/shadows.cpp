// Fitted shadow maps: some frames of a random scene on the GPU and by the twin, and against their
// definition.

#include "choices.hpp"
#include "shadow/definition.hpp"
#include "shadow/fitter_workspace.hpp"
#include "shadow/scene.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"

#include <array>
#include <map>

namespace quadtile::test {

namespace {

ShadowOptions random_options(Choices& choices) {
    ShadowOptions options;
    options.map_extent = 16U << choices.number("map_extent_log2", 0, 3);
    options.lights = choices.number("lights", 1, 256, [&](Random& random) {
        return 1 + random.below(options.map_extent == 16 && random.one_in(16) ? 64 : 8);
    });
    options.tile_extent = 64U << choices.number("tile_extent_log2", 0, 1);
    options.atlas_extent = options.tile_extent << choices.number("atlas_extent_log2", 0, 4);
    options.gutter = choices.number("gutter", 1, options.tile_extent == 64 ? 1 : 3);
    options.max_tiles = choices.number("max_tiles", options.lights, 1000, [&](Random& random) {
        return random.one_in(3) ? options.lights + random.below(8) : random.below(1000);
    });
    return options;
}

// A sun of levels around an eye that walks.
struct Walk {
    std::size_t first;  // layer
    std::uint32_t levels;
    std::array<float, 3> direction;
    std::array<float, 3> eye;
    float nearest_extent;
};

void place_levels(std::vector<ShadowProjection>& lights, const Walk& walk) {
    std::ranges::copy(directional_shadow_levels(walk.direction, spheres_box(), walk.eye,
                                                walk.nearest_extent, walk.levels),
                      lights.begin() + static_cast<std::ptrdiff_t>(walk.first));
}

// Moves the eyes by some steps of their boxes, or none, or out of them; and a light by quarters of
// a texel, which is a step if they make whole ones and the light is parallel.
void walk_on(Random& random, std::uint32_t map_extent, std::vector<ShadowProjection>& lights,
             std::vector<Walk>& walks) {
    for (Walk& walk : walks) {
        const float far = walk.nearest_extent * (random.one_in(8) ? 16.0F : 0.5F);
        walk.eye[0] += random.one_in(2) ? 0.0F : far * (random.unit() - 0.5F);
        walk.eye[2] += random.one_in(2) ? 0.0F : far * (random.unit() - 0.5F);
        place_levels(lights, walk);
    }
    const auto count = static_cast<std::uint32_t>(lights.size());
    ShadowProjection* const moved = count > 0 ? &lights[random.below(count)] : nullptr;
    if (moved != nullptr && moved->clip_from_world != ShadowMatrix{} && random.one_in(2)) {
        moved->clip_from_world[12 + random.below(2)] +=
            0.5F * static_cast<float>(random.below(13)) / static_cast<float>(map_extent);
    }
}

// The farthest distance of a light, with few or all pixels within.
float random_range(Random& random) {
    return random.one_in(2) ? 40.0F : 0.3F + 8.0F * random.unit();
}

// As many as there are layers, or fewer.
std::vector<ShadowProjection> random_lights(Random& random, std::uint32_t layers,
                                            std::vector<Walk>& walks) {
    const std::uint32_t count = random.one_in(2) ? layers : random.below(layers + 1);
    std::vector<ShadowProjection> lights;
    walks.clear();
    while (lights.size() < count) {
        if (lights.size() + SHADOW_FACES <= count && random.one_in(2)) {
            const auto faces = point_shadow_projections(
                {6 * random.unit() - 3, 3 * random.unit(), 6 * random.unit() - 3}, 0.1F,
                random_range(random));
            lights.insert(lights.end(), faces.begin(), faces.end());
        }
        const auto left = static_cast<std::uint32_t>(count - lights.size());
        if (left > 1 && random.one_in(3)) {
            walks.push_back({lights.size(),
                             1 + random.below(std::min(left, SHADOW_MAX_LEVELS)),
                             {random.unit() - 0.5F, -1.0F, 0.2F},
                             {12 * random.unit() - 6, 1, 12 * random.unit() - 6},
                             1 + 20 * random.unit()});
            lights.resize(lights.size() + walks.back().levels);
            place_levels(lights, walks.back());
        }
        if (lights.size() == count) {
            break;
        }
        if (random.one_in(6)) {
            lights.emplace_back();  // an unused layer
            continue;
        }
        const float a = 2.0F * random.unit() - 1.0F;
        const float b = 2.0F * random.unit() - 1.0F;
        lights.push_back(random.one_in(2)
                             ? directional_shadow_projection({a, -1.0F, b}, spheres_box())
                             : spot_shadow_projection({9 * a, 3 + 5 * random.unit(), 9 * b},
                                                      {-a, -1.0F, -b}, 20 + 100 * random.unit(),
                                                      0.2F, random_range(random)));
        lights.back().weight = random.one_in(2) ? 1.0F : 0.25F + random.unit();
    }
    return lights;
}

ShadowBox random_box(Random& random) {
    const float size = random.one_in(8) ? 30.0F : 2.0F;
    ShadowBox box{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.low[axis] = 20.0F * random.unit() - 10.0F;
        box.high[axis] = box.low[axis] + size * (random.unit() - 0.05F);  // some have no extent
    }
    return box;
}

void set_box(Random& random, auto& object) {
    const ShadowBox box = random_box(random);
    std::ranges::copy(box.low, object.low);
    std::ranges::copy(box.high, object.high);
}

// Casters of shadows, some of which move, and what an application draws of them: static ones into
// an atlas of their own, which is copied below moving ones.
class Casters {
 public:
    explicit Casters(Random& random) {
        for (std::size_t i = 0; i < 2 * EACH; ++i) {
            set_box(random, boxes_[i]);
        }
    }

    // Moves some, and appends the changes.
    void move(Random& random, std::vector<ShadowChange>& changes) {
        for (std::size_t i = 0; i < 2 * EACH; ++i) {
            if (!random.one_in(is_static(i) ? 40 : 3)) {
                continue;
            }
            for (const bool is_new : {false, true}) {
                if (is_new) {
                    set_box(random, boxes_[i]);
                }
                ShadowChange change{.is_static = is_static(i) ? 1U : 0U};
                std::ranges::copy(boxes_[i].low, change.low);
                std::ranges::copy(boxes_[i].high, change.high);
                changes.push_back(change);
            }
        }
    }

    // Draws a frame. Names a caster that a slot lacks, or that is no longer there.
    std::string draw(const ShadowOptions& options, const ShadowFrame& frame,
                     const reference::ShadowFitter& twin, const ShadowResult& result) {
        const auto slot = [&](std::uint32_t tile) { return result.tiles[tile].slot; };
        const auto draw_into = [&](Atlas& atlas, std::size_t first, bool are_static) {
            const auto tiles = twin.cull(std::span(boxes_).subspan(first, EACH), are_static);
            for (std::size_t i = 0; i < EACH; ++i) {
                for (const std::uint32_t tile : tiles[i]) {
                    atlas[slot(tile)].emplace_back(first + i, boxes_[first + i]);
                }
            }
        };
        for (std::uint32_t i = 0; i < result.header.static_count; ++i) {
            static_atlas_[slot(result.render[i])].clear();
        }
        draw_into(static_atlas_, 0, true);
        for (const std::uint32_t tile : result.render) {
            atlas_[slot(tile)] = static_atlas_[slot(tile)];
        }
        draw_into(atlas_, EACH, false);
        for (std::uint32_t tile = 0; tile < result.header.tiles; ++tile) {
            std::array<bool, 2 * EACH> is_drawn{};
            const std::string where = " in tile " + std::to_string(tile);
            for (const auto& [i, box] : atlas_[slot(tile)]) {
                const bool is_here = std::memcmp(&box, &boxes_[i], sizeof(box)) == 0;
                is_drawn[i] = is_drawn[i] || is_here;
                if (!is_here && shows(options, frame, result.tiles[tile], box).has_value()) {
                    return "a ghost of caster " + std::to_string(i) + where;
                }
            }
            for (std::size_t i = 0; i < 2 * EACH; ++i) {
                const auto expected = shows(options, frame, result.tiles[tile], boxes_[i]);
                if (expected && *expected != is_drawn[i]) {
                    return "caster " + std::to_string(i) + where;
                }
            }
        }
        return {};
    }

 private:
    static constexpr std::size_t EACH = 12;
    // By slot: casters, and their boxes when they were drawn.
    using Atlas = std::map<std::uint32_t, std::vector<std::pair<std::size_t, ShadowObject>>>;

    static bool is_static(std::size_t caster) { return caster < EACH; }

    std::array<ShadowObject, 2 * EACH> boxes_{};
    Atlas static_atlas_;
    Atlas atlas_;
};

// Culls boxes, perhaps with too little room for their instances.
std::string check_culling(Random& random, Workspace& workspace, bool takes_many,
                          const ShadowFrame& frame, const reference::ShadowFitter& twin,
                          const ShadowResult& result) {
    const ShadowOptions& options = workspace.fitter().options();
    // Many have a thread each.
    const bool are_many = takes_many && result.render.size() < 20 && random.one_in(4);
    std::vector<ShadowObject> objects(1 + random.below(are_many ? 5000 : 150));
    for (std::size_t i = 0; i < objects.size(); ++i) {
        set_box(random, objects[i]);
        objects[i].index_count = static_cast<std::uint32_t>(3 * i);
        objects[i].first_index = static_cast<std::uint32_t>(7 * i);
        objects[i].vertex_offset = static_cast<std::int32_t>(i) - 50;
    }
    const bool is_static = random.one_in(2);
    std::vector<std::uint32_t> render = result.render;
    render.resize(is_static ? result.header.static_count : render.size());
    std::ranges::sort(render);
    auto expected = twin.cull(objects, is_static);
    std::ranges::for_each(expected, [](auto& tiles) { std::ranges::sort(tiles); });
    std::string wrong = broken_culling(options, frame, result, render, objects, expected);
    if (!wrong.empty()) {
        return "the twin culls " + wrong + " otherwise than defined";
    }
    std::uint32_t pairs = 0;
    for (const auto& tiles : expected) {
        pairs += static_cast<std::uint32_t>(tiles.size());
    }
    if (workspace.cull(objects, options.max_tiles + pairs, is_static) != expected) {
        return "other objects are culled";
    }
    // What finds no room behind the first set is drawn in all tiles.
    const auto drawn =
        workspace.cull(objects, options.max_tiles + pairs + random.below(pairs + 1), is_static);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (drawn[i] != expected[i] && drawn[i] != render) {
            return "object " + std::to_string(i) + " without room is drawn in other tiles";
        }
    }
    return workspace.header().instances == 2 * pairs ? "" : "the header counts other instances";
}

// The depths of the spheres, perhaps with pixels that are something else.
std::vector<float> random_depths(Random& random, const Camera& camera, std::uint32_t kind) {
    std::vector<float> depths = depth_buffer(camera);
    for (float& depth : depths) {
        if (kind == 1) {  // each pixel on its own
            depth = 0.2F * random.unit();
        } else if (kind == 2 && random.one_in(25)) {
            depth = SPECIAL_VALUES[random.below(SPECIAL_VALUES.size())];
        }
    }
    return depths;
}

using Gpus = std::map<std::size_t, Gpu>;  // by variant

std::string check_frames(Choices& choices, const RandomSettings& settings, Gpus& gpus) {
    // Sums without subgroups take CPU drivers long.
    const std::uint32_t variant = choices.number("variant", 0, 1, [&](Random& random) {
        return !settings.is_short && random.one_in(16) ? 1U : 0U;
    });
    const Device& device = device_for(all_variants()[variant]);
    Gpu& gpu = gpus.try_emplace(variant, device, submit_to(device)).first->second;
    const ShadowOptions options = random_options(choices);
    const bool has_casters = !choices.one_in("empty_atlas", 3);
    Workspace workspace(gpu, options);
    reference::ShadowFitter twin(options);
    const std::uint32_t depths = choices.one_of("depths", {"scene", "noise", "specials"});
    const std::uint32_t frames = choices.number("frames", 1, 8);
    const std::uint32_t fineness = choices.number("fineness", 0, 5);
    Random random = choices.random("scene");
    std::vector<Walk> walks;
    std::vector<ShadowProjection> lights = random_lights(random, options.lights, walks);
    Casters casters(random);
    int place = static_cast<int>(random.below(300));
    ShadowFrame last_frame{};
    ShadowResult last;
    for (std::uint32_t i = 0; i < frames; ++i) {
        place += random.one_in(3) ? 0 : static_cast<int>(random.below(12));
        if (random.one_in(6)) {
            lights = random_lights(random, options.lights, walks);
        }
        walk_on(random, options.map_extent, lights, walks);
        std::vector<ShadowProjection> weighted = lights;
        for (ShadowProjection& light : weighted) {
            light.weight *= 0.25F * static_cast<float>(1U << fineness);
        }
        const Camera camera = camera_of_frame(place);
        const std::vector<float> depth = random_depths(random, camera, depths);
        std::vector<ShadowChange> changes(random.one_in(2)   ? random.below(5)
                                          : random.one_in(8) ? random.below(3000)
                                                             : random.below(200));
        for (ShadowChange& change : changes) {
            set_box(random, change);
            change.is_static = random.below(2);
        }
        casters.move(random, changes);
        std::vector<float> atlas = empty_atlas(options);
        if (has_casters) {
            // Few dark specks, so that one texel decides about a block of pixels; or many.
            const std::uint32_t rarity = 1 + random.below(60);
            for (float& texel : atlas) {
                texel = random.one_in(rarity) ? random.unit() : 1.0F;
            }
        }
        const ShadowFrame frame = make_shadow_frame(options, camera.view, DEPTH_EXTENT, weighted);
        // With more boxes than there is room for, all may have changed.
        const bool is_overfull = changes.size() > 1 && random.one_in(8);
        const auto most = static_cast<std::uint32_t>(changes.size()) - (is_overfull ? 1 : 0);
        const ShadowChange everywhere{{-1e4F, -1e4F, -1e4F}, 1, {1e4F, 1e4F, 1e4F}, 0};
        std::vector<ShadowChange> changed = changes;
        if (is_overfull) {
            changed.push_back(everywhere);
        }
        const ShadowResult result = twin.next(frame, depth, atlas, changed);
        std::string wrong = broken_rule(options, last_frame, last, frame, result, changed);
        if (!wrong.empty()) {
            return "frame " + std::to_string(i) + " of the twin is not as defined: " + wrong;
        }
        wrong = casters.draw(options, frame, twin, result);
        if (!wrong.empty()) {
            return "frame " + std::to_string(i) + ": other shadows: " + wrong;
        }
        workspace.run(frame, depth, atlas, changes, most);
        wrong = difference(workspace.result(), result);
        if (!wrong.empty()) {
            return "frame " + std::to_string(i) + ": other " + wrong;
        }
        if (i + 1 == frames || random.one_in(4)) {
            wrong = check_culling(random, workspace, variant == 0, frame, twin, result);
            if (!wrong.empty()) {
                return "frame " + std::to_string(i) + ": " + wrong;
            }
        }
        last = result;
        last_frame = frame;
    }
    return {};
}

}  // namespace

Subject shadows_subject(const RandomSettings& settings) {
    const auto gpus = std::make_shared<Gpus>();
    return {"shadows", 0.15, 20,
            [=](Choices& choices) { return check_frames(choices, settings, *gpus); }};
}

}  // namespace quadtile::test
