// glTF scenes with their lightmaps, for programs that read the extension MOZ_lightmap.

#pragma once

#include "scene.hpp"

#include <memory>
#include <string>
#include <vector>

namespace quadtile::baker {

struct GltfFile;

// Pictures of a lightmap page. The light is `intensity` times their values, without an sRGB curve.
struct LightMapPage {
    std::string png;
    double intensity = 1.0;
    std::string ktx2 = {};  // for readers of KHR_texture_basisu; may be empty
};

// A glTF file that receives a lightmap. Everything else stays as it is, except that its buffers
// and pictures become parts of one .glb file.
//
// All functions throw std::runtime_error with the file, the place in it and the remedy.
class LitGltf {
 public:
    explicit LitGltf(GltfFile file);
    ~LitGltf();
    LitGltf(const LitGltf&) = delete;
    LitGltf& operator=(const LitGltf&) = delete;

    // Writes the scene's lightmap coordinates to the meshes as TEXCOORD_1, in place of existing
    // ones. The scene must be that of the file, unwrapped. Vertices in more than one chart are
    // duplicated, and so are meshes of more than one node. The triangles are those of the scene,
    // without those that load_scene leaves out. Excluded parts stay as they are.
    void set_light_map_coordinates(const Scene& scene);

    // Returns the file with the pages of its lightmap in all materials of the scene's triangles. A
    // material on several pages becomes one per page. A lightmap of an earlier bake is replaced.
    // asset.extras.lightmap_size is the extent of a page.
    [[nodiscard]] std::string with_light_map(const Scene& scene,
                                             const std::vector<LightMapPage>& pages,
                                             const Extent& extent);

 private:
    class File;
    std::unique_ptr<File> file_;
};

}  // namespace quadtile::baker
