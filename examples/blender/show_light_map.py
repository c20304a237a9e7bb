"""Shows a glTF scene with its lightmap, as an .exr of quadtile-bake --quantity radiance has it.

    blender --python show_light_map.py -- SCENE LIGHT_MAP.exr [PICTURE.png]

Each material becomes emission: base colour * lightmap + the emission that it had. With a picture it is rendered by
the scene's camera in Cycles. Made for Blender 3.4.
"""

import sys
from pathlib import Path

import bpy
import numpy

numpy.bool = bool  # Blender's importer needs it, and Debian's NumPy no longer has it


def show(material, image):
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    coordinates = nodes.new("ShaderNodeUVMap")
    coordinates.uv_map = "UVMap.001"  # the importer's name of TEXCOORD_1
    texture = nodes.new("ShaderNodeTexImage")
    texture.image, texture.extension = image, "EXTEND"
    links.new(coordinates.outputs["UV"], texture.inputs["Vector"])

    lit = nodes.new("ShaderNodeMixRGB")
    lit.blend_type = "MULTIPLY"
    lit.inputs["Fac"].default_value = 1
    colour = shader.inputs["Base Color"]
    if colour.is_linked:
        links.new(colour.links[0].from_socket, lit.inputs["Color1"])
    lit.inputs["Color1"].default_value = colour.default_value
    links.new(texture.outputs["Color"], lit.inputs["Color2"])

    emission = nodes.new("ShaderNodeEmission")
    links.new(lit.outputs["Color"], emission.inputs["Color"])
    for name in ("Base Color", "Specular"):
        for link in shader.inputs[name].links:
            links.remove(link)
        shader.inputs[name].default_value = 0 if name == "Specular" else (0, 0, 0, 1)
    both = nodes.new("ShaderNodeAddShader")
    links.new(shader.outputs["BSDF"], both.inputs[0])
    links.new(emission.outputs["Emission"], both.inputs[1])
    links.new(both.outputs["Shader"], nodes["Material Output"].inputs["Surface"])


def main(scene_file, light_map, picture=None):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=scene_file)
    image = bpy.data.images.load(str(Path(light_map).resolve()))
    for material in bpy.data.materials:
        if material.node_tree and "Principled BSDF" in material.node_tree.nodes:
            show(material, image)
    for light in bpy.data.lights:
        light.energy = 0  # their light is in the lightmap
    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"  # Filmic has another tone curve
    scene.camera = next((each for each in scene.objects if each.type == "CAMERA"), None)
    if picture:
        scene.render.engine = "CYCLES"
        scene.cycles.samples, scene.cycles.max_bounces, scene.cycles.use_denoising = 16, 0, False
        scene.render.filepath = str(Path(picture).resolve())
        bpy.ops.render.render(write_still=True)


main(*sys.argv[sys.argv.index("--") + 1:])
