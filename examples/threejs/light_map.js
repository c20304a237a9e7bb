// Lightmaps of quadtile-bake for three.js 0.155 and later, which takes irradiance in lightmaps.

import { LinearFilter, ShaderChunk, TextureLoader } from 'three';
import { EXRLoader } from 'three/addons/loaders/EXRLoader.js';

// Plugin of GLTFLoader for MOZ_lightmap: loader.register((parser) => new LightMapPlugin(parser))
export class LightMapPlugin {
  name = 'MOZ_lightmap';

  constructor(parser) {
    this.parser = parser;
  }

  extendMaterialParams(index, material) {
    const lightMap = this.parser.json.materials[index].extensions?.[this.name];
    if (!lightMap) return null;
    material.lightMapIntensity = lightMap.intensity ?? 1;
    // Also sets the channel, lightMap.texCoord. A picture without a colour space is linear.
    return this.parser.assignTexture(material, 'lightMap', lightMap);
  }
}

// Loads the .exr. Returns { lightMap, lightMapIntensity } for a material.
export async function loadLightMap(url) {
  const loader = new EXRLoader();
  const { lightMap, quantity } = await new Promise((resolve, reject) => {
    loader.load(url, (lightMap, { header }) => resolve({ lightMap, quantity: header.quantity }), undefined, reject);
  });
  const lightMapIntensity = { irradiance: 1, radiance: Math.PI }[quantity];
  if (!lightMapIntensity) throw new Error(`${url} holds ${quantity}; bake it with --quantity irradiance`);
  lightMap.channel = 1; // TEXCOORD_1
  // EXRLoader puts the last row first; glTF's coordinates begin at the top.
  lightMap.repeat.y = -1;
  lightMap.offset.y = 1;
  return { lightMap, lightMapIntensity };
}

// Loads the .png (RGBM) of --quantity irradiance. `range`: the number that the baker tells. The result is for a material.
export async function loadRgbm(url, range) {
  const lightMap = await new TextureLoader().loadAsync(url);
  lightMap.channel = 1; // TEXCOORD_1
  lightMap.flipY = false; // glTF's coordinates begin at the top
  lightMap.minFilter = LinearFilter;
  lightMap.generateMipmaps = false;
  const chunk = 'lights_fragment_maps';
  const decoded = ShaderChunk[chunk].replace('lightMapTexel.rgb', 'pow( lightMapTexel.rgb * lightMapTexel.a, vec3( 2.0 ) )');
  const onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace(`#include <${chunk}>`, decoded);
  };
  return { lightMap, lightMapIntensity: range, onBeforeCompile };
}
