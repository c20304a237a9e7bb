// index.html?scene=scene_baked.glb shows a scene with its lightmap. `&lightmap=lightmap.exr` or
// `&lightmap=lightmap.png&range=X` shows it with that one, `&exposure=X` makes it brighter.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { KTX2Loader } from 'three/addons/loaders/KTX2Loader.js';
import { LightMapPlugin, loadLightMap, loadRgbm } from './light_map.js';

// Makes the surface diffuse, as the baker does. MeshStandardMaterial is black on metal, and keeps
// some of the lightmap's light for reflections, which need an environment map.
function lambertian(material) {
  if (material.isMeshBasicMaterial) return material; // KHR_materials_unlit
  const lambert = THREE.Material.prototype.copy.call(new THREE.MeshLambertMaterial(), material);
  for (const name of ['color', 'map', 'emissive', 'emissiveMap', 'emissiveIntensity', 'lightMap', 'lightMapIntensity']) {
    lambert[name] = material[name];
  }
  return lambert;
}

function light(scene, lightMap) {
  const baked = [];
  scene.traverse((object) => {
    if (object.isLight) baked.push(object);
    if (object.isMesh) object.material = Object.assign(lambertian(object.material), lightMap);
  });
  baked.forEach((object) => object.removeFromParent()); // their light is in the lightmap
}

// Returns the scene's first camera, or one that sees the whole scene.
function cameraOf(gltf) {
  if (gltf.cameras.length > 0) return gltf.cameras[0];
  const sphere = new THREE.Box3().setFromObject(gltf.scene).getBoundingSphere(new THREE.Sphere());
  const camera = new THREE.PerspectiveCamera(50, 1, sphere.radius / 1000, sphere.radius * 10);
  camera.position.copy(sphere.center).add(new THREE.Vector3(1, 0.8, 1.2).setLength(2.4 * sphere.radius));
  camera.lookAt(sphere.center);
  return camera;
}

async function show(query) {
  const renderer = new THREE.WebGLRenderer({ antialias: true });
  const gltf = await new GLTFLoader()
    .setKTX2Loader(new KTX2Loader().detectSupport(renderer)) // for lightmaps of half floats
    .register((parser) => new LightMapPlugin(parser))
    .loadAsync(query.get('scene') ?? 'scene_baked.glb');
  const [lightMap, range] = [query.get('lightmap'), query.get('range')];
  light(gltf.scene, range ? await loadRgbm(lightMap, Number(range)) : lightMap ? await loadLightMap(lightMap) : {});

  renderer.toneMapping = query.get('tonemapping') === 'none' ? THREE.NoToneMapping : THREE.NeutralToneMapping;
  renderer.toneMappingExposure = Number(query.get('exposure') ?? 1);
  renderer.setPixelRatio(devicePixelRatio);
  document.body.append(renderer.domElement);

  const camera = cameraOf(gltf);
  gltf.scene.updateMatrixWorld();
  camera.matrixWorld.decompose(camera.position, camera.quaternion, camera.scale);
  camera.removeFromParent();
  const controls = new OrbitControls(camera, renderer.domElement);
  const forward = camera.getWorldDirection(new THREE.Vector3());
  const distance = new THREE.Box3().setFromObject(gltf.scene).getCenter(new THREE.Vector3()).distanceTo(camera.position);
  controls.target.copy(camera.position).addScaledVector(forward, distance);
  controls.update();

  const draw = () => renderer.render(gltf.scene, camera);
  const resize = () => {
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
    renderer.setSize(innerWidth, innerHeight);
    draw();
  };
  controls.addEventListener('change', draw);
  addEventListener('resize', resize);
  resize();
}

const message = document.getElementById('message');
show(new URLSearchParams(location.search)).then(
  () => message.remove(),
  (error) => { message.textContent = `Error: ${error.message}`; },
);
