// The structs that C++ and GLSL share have one definition; this checks that both compilers lay it
// out alike, by the offsets that glslc wrote into a kernel that uses them all.

#include <quadtile/shadow.h>

#include "../unit/spirv_layout.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace quadtile {
namespace {

constexpr std::uint32_t CULL[] = {
#include "shadow_cull.spv.inc"
};

// The struct has these members and no others, where C++ has them. `names` are theirs, in order.
template <typename Struct, typename... Members>
void expect_layout(const std::string& struct_name, const std::string& names,
                   Members Struct::*... members) {
    const Struct object{};
    std::istringstream words(names);
    test::Offsets expected;
    const auto add = [&](const auto& member) {
        std::string name;
        words >> name;
        expected[name] = static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(&member) -
                                                    reinterpret_cast<const std::byte*>(&object));
    };
    (add(object.*members), ...);
    EXPECT_EQ(test::offsets_in(CULL).at(struct_name), expected) << struct_name;
}

TEST(SharedShadowStructs, HaveTheSameMembersAtTheSamePlaces) {
    {
        using S = ShadowLight;
        expect_layout("ShadowLight",
                      "clip_from_world map_from_pixel facing texel_extent perspective reserved",
                      &S::clip_from_world, &S::map_from_pixel, &S::facing, &S::texel_extent,
                      &S::perspective, &S::reserved);
    }
    {
        using S = ShadowRectangle;
        expect_layout("ShadowRectangle", "light x y end_x end_y", &S::light, &S::x, &S::y,
                      &S::end_x, &S::end_y);
    }
    {
        using S = ShadowFrame;
        expect_layout("ShadowFrame",
                      "depth_width depth_height background_depth rectangle_count lights rectangles",
                      &S::depth_width, &S::depth_height, &S::background_depth, &S::rectangle_count,
                      &S::lights, &S::rectangles);
    }
    {
        using S = ShadowParameters;
        expect_layout("ShadowParameters",
                      "lights map_levels atlas_levels tile_extent gutter max_tiles max_cells "
                      "least_area resolution_scale edge_scale importance_decay cores kept_cores",
                      &S::lights, &S::map_levels, &S::atlas_levels, &S::tile_extent, &S::gutter,
                      &S::max_tiles, &S::max_cells, &S::least_area, &S::resolution_scale,
                      &S::edge_scale, &S::importance_decay, &S::cores, &S::kept_cores);
    }
    {
        using S = ShadowTile;
        expect_layout("ShadowTile", "position node slot state crop_scale crop_x crop_y importance",
                      &S::position, &S::node, &S::slot, &S::state, &S::crop_scale, &S::crop_x,
                      &S::crop_y, &S::importance);
    }
    {
        using S = ShadowHeader;
        expect_layout("ShadowHeader",
                      "tiles kept added removed flags used_cells factor_index factor "
                      "render_vertex_count render_count render_first_vertex render_first_instance "
                      "resized instances reserved0 reserved1",
                      &S::tiles, &S::kept, &S::added, &S::removed, &S::flags, &S::used_cells,
                      &S::factor_index, &S::factor, &S::render_vertex_count, &S::render_count,
                      &S::render_first_vertex, &S::render_first_instance, &S::resized,
                      &S::instances, &S::reserved0, &S::reserved1);
    }
    {
        using S = ShadowObject;
        expect_layout(
            "ShadowObject",
            "low index_count high first_index vertex_offset light_mask reserved0 reserved1",
            &S::low, &S::index_count, &S::high, &S::first_index, &S::vertex_offset, &S::light_mask,
            &S::reserved0, &S::reserved1);
    }
}

TEST(SharedShadowStructs, HaveTheSameSizes) {
    const auto strides = test::strides_in(CULL);
    EXPECT_EQ(strides.at("ShadowLight"), sizeof(ShadowLight));
    EXPECT_EQ(strides.at("ShadowRectangle"), sizeof(ShadowRectangle));
    EXPECT_EQ(strides.at("ShadowTile"), sizeof(ShadowTile));
    EXPECT_EQ(strides.at("ShadowObject"), sizeof(ShadowObject));
    const auto offsets = test::offsets_in(CULL);
    EXPECT_EQ(offsets.at("ShadowFrame").at("rectangles") +
                  SHADOW_MAX_RECTANGLES * sizeof(ShadowRectangle),
              sizeof(ShadowFrame));
    // What lies behind the parameters says how long they are.
    EXPECT_EQ(offsets.at("PushConstants").at("object_count"), sizeof(ShadowParameters));
    EXPECT_EQ(offsets.at("ShadowHeader").size() * sizeof(std::uint32_t), sizeof(ShadowHeader));
}

}  // namespace
}  // namespace quadtile
