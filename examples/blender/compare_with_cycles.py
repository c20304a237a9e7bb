"""Bakes some scenes with Cycles and with quadtile-bake, and compares them texel by texel.

    blender --background --python compare_with_cycles.py -- QUADTILE_BAKE FOLDER [SAMPLES [principled|lambert [SCENE]]]

Made for Blender 3.4. Each bakes twice, with other seeds: the difference of the two is its noise. Cycles
takes surfaces for Lambertian, or with `principled` for what Blender's Principled BSDF makes of them.
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
LEAF = "leaf"  # a material with holes: the light of its squares is not compared


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
    if material.name == LEAF:
        mix = nodes.new("ShaderNodeMixShader")
        links.new(nodes["holes"].outputs["Alpha"], mix.inputs[0])
        links.new(nodes.new("ShaderNodeBsdfTransparent").outputs[0], mix.inputs[1])
        links.new(both.outputs["Shader"], mix.inputs[2])
        links.new(mix.outputs["Shader"], surface)


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
    return squares if inward else [(corners[[0, 3, 2, 1]], *rest) for corners, *rest in squares]


def square(low, a, b, material):
    """Its corners, counter-clockwise from the front; its material; the corners' normals, or None if it is flat."""
    low, a, b = (numpy.array(vector, float) for vector in (low, a, b))
    return numpy.array([low, low + a, low + a + b, low + b]), material, None


def make_object(squares):
    """One mesh; its second UV map has a cell for each square. Returns the size of the lightmap."""
    rows = math.ceil(len(squares) / COLUMNS)
    width, height = COLUMNS * (CELL + 2), rows * (CELL + 2)
    vertices, uvs = [], []
    for i, (corners, *_) in enumerate(squares):
        vertices += list(corners)
        x, y = i % COLUMNS * (CELL + 2) + 1, i // COLUMNS * (CELL + 2) + 1
        uvs += [(u / width, v / height) for u, v in ((x, y), (x + CELL, y), (x + CELL, y + CELL), (x, y + CELL))]
    mesh = bpy.data.meshes.new("scene")
    mesh.from_pydata([tuple(v) for v in vertices], [], [tuple(range(4 * i, 4 * i + 4)) for i in range(len(squares))])
    materials = list(dict.fromkeys(material for _, material, _ in squares))
    for material in materials:
        mesh.materials.append(bpy.data.materials[material])
    for polygon, (_, material, _) in zip(mesh.polygons, squares):
        polygon.material_index = materials.index(material)
    for name in ("UVMap", "LightMap"):
        layer = mesh.uv_layers.new(name=name)
        for loop in mesh.loops:
            layer.data[loop.index].uv = uvs[loop.vertex_index]
    mesh.uv_layers["LightMap"].active = True
    mesh.use_auto_smooth = True  # otherwise there are no custom normals
    zero = [(0, 0, 0)] * 4  # zero: Blender's own normals, of flat faces
    mesh.normals_split_custom_set([tuple(n) for *_, normals in squares for n in (zero if normals is None else normals)])
    mesh.update()
    scene_object = bpy.data.objects.new("scene", mesh)
    bpy.context.collection.objects.link(scene_object)
    return width, height


def closed_room():
    white, red = make_material("white", (0.7, 0.7, 0.7)), make_material("red", (0.7, 0.2, 0.1))
    lamp = make_material("lamp", (0, 0, 0), (5, 5, 4))
    room = block((-2, -2, 0), (4, 4, 3), True, white)
    room[0] = (room[0][0], red, None)
    squares = room + [square((-0.7, 0.7, 2.9), (1.4, 0, 0), (0, -1.4, 0), lamp)]
    return squares + block((-1, -0.5, 0.5), (1, 1, 1), False, white), None, None


def sun_and_sky():
    white, red = make_material("white", (0.7, 0.7, 0.7)), make_material("red", (0.7, 0.2, 0.1))
    floor = square((-3, -3, 0), (6, 0, 0), (0, 6, 0), white)
    wall = square((-3, 2, 0), (6, 0, 0), (0, 0, 3), red)
    return [floor, wall] + block((-1, -1, 0.5), (1.5, 1.5, 1.5), False, white), (0.5, 0.7, 1.0), 3.0


def leaf_card():
    """The card's holes have 0.8 by 0.13 texels of its lightmap."""
    white, leaf = make_material("white", (0.7, 0.7, 0.7)), make_material(LEAF, (0.3, 0.6, 0.2))
    holes = bpy.data.images.new("holes", 512, 512, alpha=True)
    y, x = numpy.mgrid[0:512, 0:512]
    alpha = ((x // 3 + y // 2) % 3 > 0).astype(numpy.float32)
    holes.pixels.foreach_set(numpy.dstack([numpy.ones((512, 512, 3), numpy.float32), alpha]).ravel())
    holes.pack()
    nodes, links = leaf.node_tree.nodes, leaf.node_tree.links
    texture = nodes.new("ShaderNodeTexImage")
    texture.name, texture.image, texture.interpolation = "holes", holes, "Closest"
    links.new(texture.outputs["Alpha"], nodes["Principled BSDF"].inputs["Alpha"])
    leaf.blend_method = "CLIP"
    return [square((-2, -2, 0), (4, 0, 0), (0, 4, 0), white), square((-2, 1.5, 0), (4, 0, 0), (0, 0, 2), white),
            square((-1.2, -1.2, 0.8), (2.4, 0, 0), (0, 2.4, 0.4), leaf)], (0.5, 0.7, 1.0), 3.0


def smooth_sphere(columns=24, rows=12):
    red = make_material("red", (0.7, 0.2, 0.1))
    def normal(x, y):
        latitude, longitude = math.pi * (0.02 + 0.96 * y / rows), 2 * math.pi * x / columns
        return (math.sin(latitude) * math.cos(longitude), math.sin(latitude) * math.sin(longitude), math.cos(latitude))
    squares = []
    for y in range(rows):
        for x in range(columns):
            normals = numpy.array([normal(x, y), normal(x, y + 1), normal(x + 1, y + 1), normal(x + 1, y)])
            squares.append((normals, red, normals))
    return squares, (0.5, 0.7, 1.0), 3.0


def double_sided_house():
    """Single sheets that face outward, with a window to the sun."""
    white, red = make_material("white", (0.7, 0.7, 0.7)), make_material("red", (0.7, 0.2, 0.1))
    walls = block((-2, -2, 0), (4, 4, 3), False, white)
    front = [square((-2, -2, z), (4, 0, 0), (0, 0, height), red) for z, height in ((0, 1), (2.2, 0.8))]
    inside = block((-0.5, 0, 0.01), (1, 1, 1), False, red) + [square((-2, -2, 0.005), (4, 0, 0), (0, 4, 0), white)]
    is_front = lambda corners: (corners[:, 1] == -2).all()
    is_below = lambda corners: (corners[:, 2] <= 0.01).all()
    return ([one for one in walls if not is_front(one[0]) and not is_below(one[0])] + front +
            [one for one in inside if not (is_below(one[0]) and one[1] == red)]), (0.5, 0.7, 1.0), 3.0


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


def compare(name, squares, cycles, quadtile):
    """All in percent of the mean light of the texels that are compared: those with all neighbours."""
    mean_of = lambda pair: (pair[0] + pair[1])[..., :3].astype(float) / 2
    noise_of = lambda pair: (pair[0] - pair[1])[..., :3].astype(float) / 2
    known = quadtile[0][..., 3] > 0
    inner = numpy.zeros_like(known)
    for i in (i for i, (_, material, _) in enumerate(squares) if material != LEAF):
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
    for i in range(len(squares) if len(squares) < 50 else 0):
        x, y = i % COLUMNS * (CELL + 2) + 1, i // COLUMNS * (CELL + 2) + 1
        cell = numpy.zeros_like(inner)
        cell[y:y + CELL, x:x + CELL] = inner[y:y + CELL, x:x + CELL]
        if cell.any():
            print(f"  square {i}: mean {lit[cell].mean():.4f}, bias {100 * difference[cell].mean() / lit[cell].mean():+.2f} %, "
                  f"RMS {100 * math.sqrt((difference[cell] ** 2).mean()) / mean:.2f} %")


def main(program, folder, samples=1024, shader="lambert", only="all"):
    global CELL, COLUMNS
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    scenes = (closed_room, sun_and_sky, leaf_card, smooth_sphere, double_sided_house)
    for make_scene in (scene for scene in scenes if only in ("all", scene.__name__)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        squares, sky, sun = make_scene()
        squares = [(corners, material.name, normals) for corners, material, normals in squares]
        CELL, COLUMNS = (8, 24) if len(squares) > 50 else (32, 4)
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
            if shader == "lambert":
                make_lambertian(material)
        cycles = [bake_in_cycles(size, int(samples), seed) for seed in (1, 2)]
        quadtile = [bake_in_quadtile(program, scene_file, size, sky, seed) for seed in (1, 2)]
        compare(make_scene.__name__, squares, cycles, quadtile)


main(*sys.argv[sys.argv.index("--") + 1:])
