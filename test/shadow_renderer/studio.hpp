// A device for tests of the renderer with shadows, scenes for it, and all that a frame leaves, on
// the host.

#pragma once

#include "mask_comparison.hpp"
#include "renderer.hpp"

#include <gtest/gtest.h>
#include <glm/gtc/type_precision.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace quadtile::shadow {

constexpr vk::Extent2D SMALL_PICTURE{160, 90};

// Tests on a device; the validation layer, where it is installed, must be silent.
class ShadowRenderer : public testing::Test {
 protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();
    void TearDown() override;
};

// A scene and a way through it.
struct Film {
    Geometry geometry;
    Flight flight;

    // So many cameras along the way, from its beginning to its end.
    [[nodiscard]] std::vector<Camera> cameras(std::uint32_t count) const;
};
[[nodiscard]] Film city_film(std::uint64_t triangles);
// None without the shared data.
[[nodiscard]] std::optional<Film> zdm2_film();

// Adds a parallelogram to a scene that has a material: its corner and two edges.
void add_quad(baker::Scene& scene, const glm::vec3& corner, const glm::vec3& u, const glm::vec3& v);

// The sun from the side, and a spot that looks where a camera does, and down.
[[nodiscard]] Light side_sun();
[[nodiscard]] Light spot_at(const Camera& camera);

// A scene with its renderer; frames are waited for. Only within tests of ShadowRenderer.
class Studio {
 public:
    using Fit = reference::ShadowFitter::Result;

    Studio(const Geometry& geometry, vk::Extent2D extent, const ShadowOptions& options);

    // Other options; forgets the last frame where they differ.
    void configure(const ShadowOptions& options) { renderer_.configure(extent_, options); }

    void draw(const FrameSettings& settings);
    // Submits all in one go; the host does not look until all have executed.
    void draw_at_once(const std::vector<FrameSettings>& frames);
    // Draws, and says how far the mask is from that of rays.
    MaskDifference compare(const FrameSettings& settings, std::uint32_t samples = 16,
                           std::uint32_t mark_pixels = 0);
    // The next frame draws all tiles, as if there had been none before, into an atlas of this
    // depth.
    void forget(const FrameSettings& settings, float atlas_depth);

    // Results of the last frame.
    [[nodiscard]] std::vector<std::uint32_t> mask() const;
    [[nodiscard]] std::vector<std::uint32_t> colours() const;
    [[nodiscard]] std::vector<float> depth() const;
    [[nodiscard]] std::vector<glm::u16vec4> normals() const;    // 16-bit floats
    [[nodiscard]] std::vector<std::uint32_t> light() const;     // words of shaders/light.h
    [[nodiscard]] std::vector<std::uint32_t> ray_mask() const;  // of the last compare()
    [[nodiscard]] std::vector<std::uint32_t> ray_light() const;
    [[nodiscard]] std::vector<std::uint32_t> marks() const;
    [[nodiscard]] std::vector<float> atlas() const;
    [[nodiscard]] Fit fit() const;  // but for the importance map and quadtile's list

    // Fills the atlas, which the next frame keeps where it draws nothing. Needs an earlier frame.
    void fill_atlas(float depth);

    [[nodiscard]] const Renderer& renderer() const { return renderer_; }

 private:
    // Reads an image of words of the picture's extent, in layout GENERAL.
    [[nodiscard]] std::vector<std::uint32_t> words(const app::Image& image) const;
    template <typename T>
    [[nodiscard]] std::vector<T> texels(vk::Image image, vk::Extent2D extent, std::uint32_t layers,
                                        vk::ImageLayout layout, vk::ImageAspectFlags aspect) const;

    vk::Extent2D extent_;
    Renderer renderer_;
    Geometry geometry_;
    std::unique_ptr<RayCaster> rays_;  // once there is something to compare
    std::unique_ptr<MaskComparison> comparison_;
};

// The share of pixels with surfaces whose masks differ.
[[nodiscard]] double share_that_differs(const std::vector<std::uint32_t>& a,
                                        const std::vector<std::uint32_t>& b);
[[nodiscard]] double share_wrong(const MaskDifference& difference);

}  // namespace quadtile::shadow
