// Importance maps against those of the shared data, which another program has made.

#include "load_scene.hpp"
#include "reference_tracer.hpp"

#include "support/maps.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gtest/gtest.h>
#include <glm/geometric.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace quadtile::test {
namespace {

using namespace quadtile::baker;

// As the file describes it, for positions about the scene's middle.
ProjectionFrame frame_of(const nlohmann::json& json, const TracedScene& scene) {
    const double scale = json["pixels_per_unit"];
    const auto vector = [&](const char* name) {
        const auto values = json[name].get<std::vector<double>>();
        return glm::dvec3(values[0], values[1], values[2]);
    };
    const glm::dvec3 x = vector("axis_x") * scale;
    const glm::dvec3 y = vector("axis_y") * scale;
    const glm::dvec3 from_origin = scene.centre - vector("origin");
    ProjectionFrame frame{};
    for (int i = 0; i < 3; ++i) {
        frame.axis_x[i] = static_cast<float>(x[i]);
        frame.axis_y[i] = static_cast<float>(y[i]);
    }
    frame.offset_x = static_cast<float>(glm::dot(from_origin, x));
    frame.offset_y = static_cast<float>(glm::dot(from_origin, y));
    frame.units_per_texel = static_cast<float>(1.0 / scale);
    frame.refinement = 1.0F;
    return frame;
}

TEST(ImportanceMap, IsThatOfTheSharedData) {
    const auto folder = data_directory();
    if (!folder || !std::filesystem::exists(*folder / "scenes/zdm2_lightmapped.glb") ||
        !std::filesystem::exists(*folder / "importance/zdm2_top.json")) {
        GTEST_SKIP() << "the shared data, or zdm2 in it, is not there";
    }
    const std::filesystem::path file = *folder / "scenes/zdm2_lightmapped.glb";
    const Scene scene = load_scene(file).scene;
    const TracedScene traced = make_traced_scene(scene, {1266, 1266}, 1.0F);
    for (const char* const name : {"zdm2_top", "zdm2_side", "zdm2_diag"}) {
        const std::filesystem::path base = *folder / "importance" / name;
        const auto json = nlohmann::json::parse(std::ifstream(base.string() + ".json"));
        const ReferenceMaps maps = reference_maps(traced, frame_of(json, traced), 1024, false);
        const std::vector<float> importance =
            reference::decode(load_map(base.string() + ".exr", "Y").view());
        const std::vector<float> fragments =
            reference::decode(load_map(base.string() + ".exr", "count").view());
        // The densest rest of the lightmap requests no more than others.
        const float most = std::ranges::max(maps.importance);
        std::size_t other_fragments = 0;
        std::size_t other_importance = 0;
        for (std::size_t i = 0; i < importance.size(); ++i) {
            other_fragments += maps.fragments[i] != fragments[i] ? 1 : 0;
            const float expected = std::min(importance[i], most);
            other_importance += std::abs(maps.importance[i] - expected) > 1e-4F * expected ? 1 : 0;
        }
        // Vertices are rounded after sums in floats here, in doubles there; and slivers, which have
        // no importance there, have one here.
        EXPECT_LT(other_fragments, 500U) << name;
        EXPECT_LT(other_importance, 500U) << name;
    }
}

}  // namespace
}  // namespace quadtile::test
