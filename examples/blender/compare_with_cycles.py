"""Bakes two scenes with Cycles and with quadtile-bake, and compares them texel by texel.

    blender --background --python compare_with_cycles.py -- QUADTILE_BAKE FOLDER [SAMPLES]

Made for Blender 3.4. Each bakes twice, with other seeds: the difference of the two is its noise. Cycles
takes surfaces for Lambertian.
"""

import math
import subprocess
import sys
from pathlib import Path

import bpy
import numpy

BOUNCES = 4
CELL = 32  # side of a square of the lightmap, texels; one texel on each side is empty
COLUMNS = 4


def make_material(name, colour, emission=None):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1)
    shader.inputs["Emission"].default_value = (*(emission or (0, 0, 0)), 1)
    return material


def make_lambertian(material):
    """The exporter wants Principled BSDF, which is not Lambertian."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    principled = nodes["Principled BSDF"]
    both = nodes.new("ShaderNodeAddShader")
    surface = nodes["Material Output"].inputs["Surface"]
    for i, (node, name) in enumerate((("ShaderNodeBsdfDiffuse", "Base Color"), ("ShaderNodeEmission", "Emission"))):
        shader = nodes.new(node)
        shader.inputs["Color"].default_value = principled.inputs[name].default_value
        links.new(shader.outputs[0], both.inputs[i])
    links.new(both.outputs["Shader"], surface)


def block(low, size, inward, material):
    """Squares of a box: the front is where the edges a x b point."""
    low, size = numpy.array(low, float), numpy.array(size, float)
    squares = []
    for axis in range(3):
        a, b = numpy.zeros(3), numpy.zeros(3)
        a[(axis + 1) % 3], b[(axis + 2) % 3] = size[(axis + 1) % 3], size[(axis + 2) % 3]
        top = low.copy()
        top[axis] += size[axis]
        squares += [square(low, a, b, material), square(top, b, a, material)]
    return squares if inward else [(corners[[0, 3, 2, 1]], name) for corners, name in squares]


def square(low, a, b, material):
    """Its corners, counter-clockwise from the front, and its material's name."""
    low, a, b = (numpy.array(vector, float) for vector in (low, a, b))
    return numpy.array([low, low + a, low + a + b, low + b]), material.name


def make_object(squares):
    """One mesh; its second UV map has a cell for each square. Returns the size of the lightmap."""
    rows = math.ceil(len(squares) / COLUMNS)
    width, height = COLUMNS * (CELL + 2), rows * (CELL + 2)
    vertices, uvs = [], []
    for i, (corners, _) in enumerate(squares):
        vertices += list(corners)
        x, y = i % COLUMNS * (CELL + 2) + 1, i // COLUMNS * (CELL + 2) + 1
        uvs += [(u / width, v / height) for u, v in ((x, y), (x + CELL, y), (x + CELL, y + CELL), (x, y + CELL))]
    mesh = bpy.data.meshes.new("scene")
    mesh.from_pydata([tuple(v) for v in vertices], [], [tuple(range(4 * i, 4 * i + 4)) for i in range(len(squares))])
    materials = list(dict.fromkeys(name for _, name in squares))
    for material in materials:
        mesh.materials.append(bpy.data.materials[material])
    for polygon, (_, name) in zip(mesh.polygons, squares):
        polygon.material_index = materials.index(name)
    for name in ("UVMap", "LightMap"):
        layer = mesh.uv_layers.new(name=name)
        for loop in mesh.loops:
            layer.data[loop.index].uv = uvs[loop.vertex_index]
    mesh.uv_layers["LightMap"].active = True
    mesh.update()
    scene_object = bpy.data.objects.new("scene", mesh)
    bpy.context.collection.objects.link(scene_object)
    return width, height


def closed_room():
    white, red = make_material("white", (0.7, 0.7, 0.7)), make_material("red", (0.7, 0.2, 0.1))
    lamp = make_material("lamp", (0, 0, 0), (5, 5, 4))
    room = block((-2, -2, 0), (4, 4, 3), True, white)
    room[0] = (room[0][0], red.name)
    squares = room + [square((-0.7, 0.7, 2.9), (1.4, 0, 0), (0, -1.4, 0), lamp)]
    return squares + block((-1, -0.5, 0.5), (1, 1, 1), False, white), None, None


def sun_and_sky():
    white, red = make_material("white", (0.7, 0.7, 0.7)), make_material("red", (0.7, 0.2, 0.1))
    floor = square((-3, -3, 0), (6, 0, 0), (0, 6, 0), white)
    wall = square((-3, 2, 0), (6, 0, 0), (0, 0, 3), red)
    return [floor, wall] + block((-1, -1, 0.5), (1.5, 1.5, 1.5), False, white), (0.5, 0.7, 1.0), 3.0


def bake_in_cycles(size, samples, seed):
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.samples, cycles.seed, cycles.use_adaptive_sampling, cycles.use_denoising = samples, seed, False, False
    cycles.max_bounces = cycles.diffuse_bounces = BOUNCES
    cycles.sample_clamp_indirect = cycles.sample_clamp_direct = 0
    image = bpy.data.images.new("baked", *size, alpha=True, float_buffer=True)
    scene_object = bpy.data.objects["scene"]
    for slot in scene_object.material_slots:
        nodes = slot.material.node_tree.nodes
        nodes.active = nodes.get("baked") or nodes.new("ShaderNodeTexImage")
        nodes.active.name = "baked"
        nodes.active.image = image
    bpy.ops.object.select_all(action="DESELECT")
    scene_object.select_set(True)
    bpy.context.view_layer.objects.active = scene_object
    bpy.ops.object.bake(type="DIFFUSE", pass_filter={"DIRECT", "INDIRECT"}, margin=0, use_clear=True)
    return pixels_of(image)


def pixels_of(image):
    """Rows from the lowest to the highest."""
    pixels = numpy.empty(4 * image.size[0] * image.size[1], numpy.float32)
    image.pixels.foreach_get(pixels)
    return pixels.reshape(image.size[1], image.size[0], 4)


def bake_in_quadtile(program, scene_file, size, sky, seed):
    output = scene_file.with_suffix(".exr")
    command = [program, scene_file, "-o", output, "--size", f"{size[0]}x{size[1]}", "--quantity", "radiance", "-q",
               "--bounces", str(BOUNCES), "--direct-samples", "4096", "--samples", "512",
               "--seed", str(seed)]
    command += ["--sky", ",".join(map(str, sky))] if sky else []
    subprocess.run(command, check=True)
    return pixels_of(bpy.data.images.load(str(output)))


def compare(name, count, cycles, quadtile):
    """All in percent of the mean light of the texels that are compared: those with all neighbours."""
    mean_of = lambda pair: (pair[0] + pair[1])[..., :3].astype(float) / 2
    noise_of = lambda pair: (pair[0] - pair[1])[..., :3].astype(float) / 2
    known = quadtile[0][..., 3] > 0
    inner = numpy.zeros_like(known)
    for i in range(count):
        x, y = i % COLUMNS * (CELL + 2) + 1, i // COLUMNS * (CELL + 2) + 1
        inner[y + 1:y + CELL - 1, x + 1:x + CELL - 1] = True
    inner &= known
    lit = mean_of(cycles)
    inner &= lit.max(axis=2) > 0  # a lamp's albedo is 0
    mean = lit[inner].mean()
    rms = lambda values: 100 * math.sqrt((values[inner] ** 2).mean()) / mean
    difference = mean_of(quadtile) - lit
    print(f"{name}: {inner.sum()} texels; mean {mean:.4f}; bias {100 * difference[inner].mean() / mean:+.2f} %, "
          f"RMS {rms(difference):.2f} %; noise of Cycles {rms(noise_of(cycles)):.2f} %, "
          f"of quadtile-bake {rms(noise_of(quadtile)):.2f} %")
    for i in range(count):
        x, y = i % COLUMNS * (CELL + 2) + 1, i // COLUMNS * (CELL + 2) + 1
        cell = numpy.zeros_like(inner)
        cell[y:y + CELL, x:x + CELL] = inner[y:y + CELL, x:x + CELL]
        if cell.any():
            print(f"  square {i}: mean {lit[cell].mean():.4f}, bias {100 * difference[cell].mean() / lit[cell].mean():+.2f} %, "
                  f"RMS {100 * math.sqrt((difference[cell] ** 2).mean()) / mean:.2f} %")


def main(program, folder, samples=1024):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for make_scene in (closed_room, sun_and_sky):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        squares, sky, sun = make_scene()
        size = make_object(squares)
        world = bpy.data.worlds.new("sky")
        bpy.context.scene.world = world
        world.use_nodes = True
        world.node_tree.nodes["Background"].inputs["Color"].default_value = (*(sky or (0, 0, 0)), 1)
        if sun:
            light = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
            light.data.energy, light.data.angle = sun, math.radians(0.53)
            light.rotation_euler = (0.5, 0.3, 0)
            bpy.context.collection.objects.link(light)
        scene_file = folder / f"{make_scene.__name__}.glb"
        bpy.ops.export_scene.gltf(filepath=str(scene_file), export_lights=True)
        for material in bpy.data.materials:
            make_lambertian(material)
        cycles = [bake_in_cycles(size, int(samples), seed) for seed in (1, 2)]
        quadtile = [bake_in_quadtile(program, scene_file, size, sky, seed) for seed in (1, 2)]
        compare(make_scene.__name__, len(squares), cycles, quadtile)


main(*sys.argv[sys.argv.index("--") + 1:])
