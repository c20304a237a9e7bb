// Bakes of small random scenes: on the device and by the reference tracer, interrupted or not, and
// in a furnace, where all that is seen is equally bright.

#include "baker/quads.hpp"
#include "choices.hpp"
#include "support/gpu.hpp"
#include "support/temporary_directory.hpp"

#include "gpu_tracer.hpp"
#include "reference_tracer.hpp"

#include <quadtile/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

namespace quadtile::test {

namespace {

using namespace baker;

glm::vec3 random_vector(Random& random, float low, float high) {
    const float x = random.unit();
    const float y = random.unit();
    return low + (high - low) * glm::vec3(x, y, random.unit());
}

// A room, perhaps, with blocks and sheets that may cut each other, some of no area.
baker::test::Quads random_scene(Choices& choices) {
    const std::uint32_t sheets = choices.number("sheets", 0, 12);
    const std::uint32_t blocks = choices.number("blocks", 0, 3);
    const bool has_room = choices.one_in("room", 2);
    const std::uint32_t quads = sheets + 6 * blocks + (has_room ? 6 : 0) + 1;
    std::uint32_t columns = 1;
    while (columns * columns < quads) {
        ++columns;
    }
    baker::test::Quads scene(columns, columns, choices.number("quad_texels", 1, 8));
    const bool has_holes = choices.one_in("holes", 3);
    const bool has_glass = choices.one_in("glass", 2);
    Random random = choices.random("scene");
    scene.add_material({.albedo = random_vector(random, 0.0F, 0.95F)});
    for (int i = 0; i < 3; ++i) {
        Material material{.albedo = random_vector(random, 0.0F, 0.95F),
                          .double_sided = random.one_in(2)};
        if (random.one_in(2)) {
            material.emission = random_vector(random, 0.0F, 4.0F);
        }
        if (has_holes && random.one_in(2)) {
            material.alpha_mode = random.one_in(2) ? AlphaMode::mask : AlphaMode::blend;
            material.alpha = random.unit();
            material.albedo_texture = 0;
            material.tint = has_glass ? random_vector(random, 0.0F, 1.0F) : material.tint;
        }
        scene.add_material(material);
    }
    const float scale = random.one_in(4) ? 1e-3F : (random.one_in(4) ? 1e3F : 1.0F);
    const auto material = [&] { return random.below(4); };
    scene.add(scale * random_vector(random, -1, 1), scale * glm::vec3(2, 0, 0),
              scale * glm::vec3(0, 0, -2), material());
    if (has_room) {
        scene.add_room(scale * glm::vec3(-3), scale * glm::vec3(6), material());
    }
    for (std::uint32_t i = 0; i < blocks; ++i) {
        scene.add_block(scale * random_vector(random, -2, 2),
                        scale * random_vector(random, 0.05F, 1.5F), material());
    }
    for (std::uint32_t i = 0; i < sheets; ++i) {
        const float edge = random.one_in(5) ? 0.0F : (random.one_in(4) ? 1e-3F : 1.0F);
        scene.add(scale * random_vector(random, -2, 2), scale * random_vector(random, -2, 2),
                  scale * edge * random_vector(random, -2, 2), material());
    }
    if (choices.one_in("stack", 6)) {  // longer lists than are sorted in registers
        const glm::vec3 step(0.0F, scale * 1e-3F, 0.0F);
        const Scene one = scene.scene;
        for (int i = 1; i < 30; ++i) {
            for (std::uint32_t triangle = 0; triangle < 2; ++triangle) {
                Triangle copy = one.triangles[triangle];
                for (std::uint32_t& vertex : copy.vertices) {
                    scene.scene.light_map_coordinates.push_back(one.light_map_coordinates[vertex]);
                    scene.scene.positions.push_back(one.positions[vertex] +
                                                    static_cast<float>(i) * step);
                    vertex = static_cast<std::uint32_t>(scene.scene.positions.size()) - 1;
                }
                scene.scene.triangles.push_back(copy);
            }
        }
    }
    const std::size_t vertices = scene.scene.positions.size();
    for (std::size_t i = 0; has_holes && i < vertices; ++i) {
        scene.scene.texture_coordinates.push_back(glm::vec2(random_vector(random, -3, 3)));
    }
    if (has_holes) {
        Texture& texture = scene.scene.textures.emplace_back(Texture{.extent = {7, 5}});
        for (int i = 0; i < 35; ++i) {
            texture.texels.push_back({200, 100, 50, static_cast<std::uint8_t>(random.below(256))});
        }
    }
    if (choices.one_in("smooth", 3)) {
        for (std::size_t i = 0; i < vertices; ++i) {
            scene.scene.normals.push_back(glm::normalize(random_vector(random, -1, 1) + 1e-3F));
        }
    }
    if (choices.one_in("far_vertex", 6)) {  // the rest is seen as exactly
        scene.scene.positions.back().y = scale * 1e4F;
    }
    for (std::uint32_t i = choices.number("suns", 0, 2); i > 0; --i) {
        scene.scene.suns.push_back(
            {.direction = glm::normalize(random_vector(random, -1, 1) + glm::vec3(0, -1.1F, 0)),
             .irradiance = random_vector(random, 0, 3),
             .angular_diameter_degrees = random.one_in(2) ? 0.53F : 10 * random.unit()});
    }
    for (std::uint32_t i = choices.number("lights", 0, 2); i > 0; --i) {
        scene.scene.point_lights.push_back(
            {.position = scale * random_vector(random, -2, 2),
             .intensity = random_vector(random, 0, 3),
             .radius = random.one_in(2) ? 0.0F : scale * random.unit(),
             .is_spot = random.one_in(2),
             .direction = glm::normalize(random_vector(random, 0.1F, 1)),
             .outer_angle = 1.5F * random.unit()});
    }
    for (std::size_t i = 0; has_holes && i < scene.scene.positions.size(); ++i) {
        scene.scene.colours.emplace_back(random_vector(random, 0.0F, 1.0F), random.unit());
    }
    return scene;
}

struct Room {
    std::optional<app::Instance> instance;
    std::optional<app::Gpu> gpu;
};

using baker::test::bake_with;
using baker::test::bytes_of;
using baker::test::Prepared;

// Returns the largest error of the light in a furnace of radiance 1.
float unevenness(const LightMap& map) {
    float largest = 0.0F;
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        const glm::vec3 error = glm::abs(map.irradiance[i] / std::numbers::pi_v<float> - 1.0F);
        largest = map.known[i] != 0 ? std::max(largest, greatest_of(error)) : largest;
    }
    return largest;
}

// Chooses the device, or the device and another tracer that bake together.
std::vector<Tracer*> tracers_with(Choices& choices, Tracer& device, Tracer& other) {
    switch (choices.number("tracers", 0, 3)) {
        case 0:
            return {&device, &other};
        case 1:
            return {&other, &device};
        default:
            return {&device};
    }
}

// Ends a bake by the twin somewhere, also within a direction, and goes on by any tracers.
std::string check_resume(Choices& choices, const Prepared& what, BakeOptions options,
                         Tracer& device, std::uint32_t asks, const std::string& expected) {
    const TemporaryDirectory directory;
    options.checkpoint = directory.path() / "checkpoint";
    options.checkpoint_interval =
        std::chrono::seconds(choices.one_in("few_checkpoints", 2) ? 60 : 0);
    const std::uint32_t end = choices.number("interrupted_after", 0, asks - 1);
    const auto twin = make_reference_tracer(what.traced, what.tiles, 1);
    const std::vector<Tracer*> first = choices.one_in("interrupted_on_device", 4)
                                           ? tracers_with(choices, device, *twin)
                                           : std::vector<Tracer*>{twin.get()};
    const BakeResult cut = bake_with(
        first, what, options, {.interrupted = [end, n = 0U]() mutable { return n++ == end; }});
    if (!cut.interrupted) {  // it asks less often than the first twin
        return bytes_of(cut) == expected ? "" : "the lightmap has other bits with checkpoints";
    }
    options.resume = true;
    const std::vector<Tracer*> next = choices.one_in("resumed_by_device", 2)
                                          ? tracers_with(choices, device, *twin)
                                          : std::vector<Tracer*>{twin.get()};
    return bytes_of(bake_with(next, what, options)) == expected
               ? ""
               : "the lightmap has other bits after an interruption";
}

std::string check_bake(Choices& choices, Room& room) {
    if (!room.gpu) {
        const char* const validation = std::getenv("QUADTILE_VALIDATION");
        room.instance.emplace(
            "quadtile_random", std::span<const char* const>(),
            has_validation_layer() && (validation == nullptr || std::string(validation) != "0"));
        room.gpu.emplace(*room.instance, std::string(), vk::SurfaceKHR());
    }
    baker::test::Quads quads = random_scene(choices);
    // Such a triangle is 10,000 times as long as others, and its light has the rounding of its
    // length.
    const glm::vec3 last = glm::abs(quads.scene.positions.back());
    const bool is_far = last.y > 1e3F * std::max(last.x, last.z);
    const bool is_furnace = choices.one_in("furnace", 3);
    if (is_furnace) {
        for (Material& material : quads.scene.materials) {
            material.emission = glm::vec3(1.0F);
            material.double_sided = true;
            material.tint = glm::vec3(1.0F);
        }
        quads.scene.suns.clear();
        quads.scene.point_lights.clear();
        quads.scene.normals.clear();  // weights by the cosine are rounded
    }
    const float pixels = std::array{1.0F, 0.3F, 3.0F}[choices.number("pixels", 0, 2)];
    Prepared what(quads.scene, quads.extent(), pixels);
    if (choices.one_in("part", 4)) {
        Random random = choices.random("part");
        std::vector<std::uint8_t> triangles(quads.scene.triangles.size());
        std::ranges::generate(triangles,
                              [&] { return static_cast<std::uint8_t>(random.below(2)); });
        what.bake_only(triangles, random_vector(random, 0, 3), pixels);
    }
    what.sky.radiance = choices.one_in("sky", 2) ? glm::vec3(0.5F, 0.75F, 1.0F) : glm::vec3(0.0F);
    what.sky.radiance = is_furnace ? glm::vec3(1.0F) : what.sky.radiance;
    if (!is_furnace && choices.one_in("sky_distance", 4)) {
        what.sky.distance =
            double{what.traced.half_extent.x} * choices.number("sky_at", 1, 4) / 4.0;
    }
    what.tiles.map_extent = 16U << choices.number("map_extent_log2", 0, 3);
    what.tiles.max_resolution =
        16.0F * static_cast<float>(1U << choices.number("resolution", 0, 3));
    BakeOptions options{.directions = choices.number("directions", 1, 12),
                        .direct_directions = choices.number("direct_directions", 0, 12),
                        .bounces = choices.number("bounces", 0, 2),
                        .sun_directions = choices.number("sun_directions", 1, 6),
                        .lamp_points = choices.number("lamp_points", 0, 6),
                        .seed = choices.number("bake_seed", 1, 1000),
                        .directional = choices.one_in("directional", 2),
                        .light_shares = choices.one_in("light_shares", 8),
                        .noise = choices.one_in("noise", 6) ? 0.3 : 0.0};
    options.bounces = is_furnace || options.light_shares ? 0 : options.bounces;
    options.lamp_points = is_furnace ? 0 : options.lamp_points;
    Random places = choices.random("probe_places");
    options.probes.resize(choices.number("probes", 0, 3));
    for (glm::vec3& probe : options.probes) {
        probe = glm::vec3(what.traced.half_extent) * random_vector(places, -1, 1);
    }
    const GpuTracerOptions memory{.pool_bytes = choices.one_in("little_memory", 3)
                                                    ? std::uint64_t{256} << 10U
                                                    : std::uint64_t{64} << 20U,
                                  .submission_seconds = 1e-4};
    if (memory.pool_bytes < std::uint64_t{1} << 20U) {
        what.tiles.max_nodes = 2048.0F;
    }
    const auto device = make_gpu_tracer(*room.gpu, what.traced, what.tiles, memory);
    const auto twin =
        make_reference_tracer(what.traced, what.tiles, choices.number("threads", 1, 3));
    const std::uint32_t messages = room.instance->validation_messages();
    std::uint32_t asks = 0;
    const BakeResult result = bake_with(*twin, what, options, {.interrupted = [&] {
        ++asks;
        return false;
    }});
    const std::string expected = bytes_of(result);
    // The light of small pixels is rounded to whole units.
    if (is_furnace && !is_far && !(unevenness(result.map) < 1e-3F)) {
        return "a furnace is lit unevenly by " + std::to_string(unevenness(result.map));
    }
    // A tracer is made for one scene, not for one bake.
    for (std::uint32_t bakes = choices.one_in("again", 4) ? 2 : 1; bakes > 0; --bakes) {
        if (bytes_of(bake_with(tracers_with(choices, *device, *twin), what, options)) != expected) {
            return "the lightmap has other bits than the reference tracer's";
        }
    }
    if (device->statistics().most_pool_bytes > memory.pool_bytes) {
        return "the tracer takes more memory than it is given";
    }
    const std::string wrong = choices.one_in("interrupted", 2) && asks > 0
                                  ? check_resume(choices, what, options, *device, asks, expected)
                                  : "";
    return room.instance->validation_messages() == messages ? wrong
                                                            : "validation messages, printed above";
}

}  // namespace

Subject bakes_subject(const RandomSettings& /*settings*/) {
    const auto room = std::make_shared<Room>();
    return {"bakes", 0.15, 10, [=](Choices& choices) { return check_bake(choices, *room); }};
}

}  // namespace quadtile::test
