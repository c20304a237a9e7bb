// Bakes of small random scenes: on the device and by the reference tracer.

#include "baker/bake_bytes.hpp"
#include "baker/quads.hpp"
#include "subjects.hpp"

#include "gpu_tracer.hpp"
#include "reference_tracer.hpp"

#include <quadtile/device.hpp>

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
    Random random = choices.random("scene");
    scene.add_material({.albedo = random_vector(random, 0.0F, 0.95F)});
    for (int i = 0; i < 3; ++i) {
        Material material{.albedo = random_vector(random, 0.0F, 0.95F),
                          .double_sided = random.one_in(2)};
        if (random.one_in(2)) {
            material.emission = random_vector(random, 0.0F, 4.0F);
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
    return scene;
}

struct Room {
    std::optional<app::Instance> instance;
    std::optional<app::Gpu> gpu;
};

std::string check_bake(Choices& choices, Room& room) {
    if (!room.gpu) {
        const char* const validation = std::getenv("QUADTILE_VALIDATION");
        room.instance.emplace("quadtile_random", std::span<const char* const>(),
                              Device::validation_available() &&
                                  (validation == nullptr || std::string(validation) != "0"));
        room.gpu.emplace(*room.instance, std::string(), vk::SurfaceKHR());
    }
    const baker::test::Quads quads = random_scene(choices);
    constexpr float PIXELS[] = {1.0F, 0.3F, 3.0F};
    baker::test::Prepared what(quads.scene, quads.extent(), PIXELS[choices.number("pixels", 0, 2)]);
    what.sky.radiance = choices.one_in("sky", 2) ? glm::vec3(0.5F, 0.75F, 1.0F) : glm::vec3(0.0F);
    what.tiles.map_extent = 16U << choices.number("map_extent_log2", 0, 3);
    what.tiles.max_resolution =
        16.0F * static_cast<float>(1U << choices.number("resolution", 0, 3));
    BakeOptions options{.directions = choices.number("directions", 1, 12),
                        .direct_directions = choices.number("direct_directions", 0, 12),
                        .bounces = choices.number("bounces", 0, 2),
                        .sun_directions = choices.number("sun_directions", 1, 6),
                        .lamp_points = choices.number("lamp_points", 0, 6),
                        .seed = choices.number("bake_seed", 1, 1000),
                        .directional = choices.one_in("directional", 2)};
    Random places = choices.random("probe_places");
    options.probes.resize(choices.number("probes", 0, 3));
    for (glm::vec3& probe : options.probes) {
        probe = glm::vec3(what.traced.half_extent) * random_vector(places, -1, 1);
    }
    const GpuTracerOptions memory{.pool_bytes = choices.one_in("little_memory", 3)
                                                    ? std::uint64_t{256} << 10U
                                                    : std::uint64_t{64} << 20U};
    if (memory.pool_bytes < std::uint64_t{1} << 20U) {
        what.tiles.max_nodes = 2048.0F;
    }
    const auto bake_by = [&](Tracer& tracer) {
        return baker::test::bytes_of(bake(what.traced, what.surface, what.suns, what.lights,
                                          what.lamps(options), what.sky, what.tiles, options,
                                          tracer));
    };
    const auto device = make_gpu_tracer(*room.gpu, what.traced, what.tiles, memory);
    const auto twin = make_reference_tracer(what.traced, what.tiles, 1);
    const std::uint32_t messages = room.instance->validation_messages();
    const bool is_same = bake_by(*device) == bake_by(*twin);
    if (room.instance->validation_messages() != messages) {
        return "validation messages, printed above";
    }
    return is_same ? "" : "the lightmap has other bits than the reference tracer's";
}

}  // namespace

Subject bakes_subject(const RandomSettings& /*settings*/) {
    const auto room = std::make_shared<Room>();
    return {"bakes", 0.15, 10, [=](Choices& choices) { return check_bake(choices, *room); }};
}

}  // namespace quadtile::test
