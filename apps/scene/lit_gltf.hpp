// A glTF scene with its light map in it, for programs that read the extension MOZ_lightmap.

#pragma once

#include "scene.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace quadtile::baker {

// The picture of a page of the light map: light is `intensity` times its values, which have no sRGB
// curve.
struct LightMapPage {
    std::string png;
    double intensity = 1.0;
};

// A glTF file that gets a light map. All else of it stays as it is, but its buffers and pictures
// become parts of one .glb file.
//
// All functions throw std::runtime_error with the file, the place in it and the remedy.
class LitGltf {
 public:
    explicit LitGltf(const std::filesystem::path& path);
    ~LitGltf();
    LitGltf(const LitGltf&) = delete;
    LitGltf& operator=(const LitGltf&) = delete;

    // Gives the meshes the scene's light map coordinates as TEXCOORD_1, in place of those that they
    // have. The scene is that of the file, unwrapped. Vertices that are in more than one chart
    // become several, and so do meshes that more than one node has. The triangles are those of the
    // scene: without those that load_scene leaves out. Parts that are excluded stay as they are.
    void set_light_map_coordinates(const Scene& scene);

    // The file's bytes, with the pages of its light map in all materials that the scene's triangles
    // have; a material on several pages becomes one for each. A light map of an earlier bake is
    // replaced. asset.extras.lightmap_size is the extent of a page.
    [[nodiscard]] std::string with_light_map(const Scene& scene,
                                             const std::vector<LightMapPage>& pages,
                                             const Extent& extent);

 private:
    class File;
    std::unique_ptr<File> file_;
};

}  // namespace quadtile::baker
