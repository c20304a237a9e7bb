"""Bakes scenes by the add-on of examples/blender, without a window:
blender --background --factory-startup --python-exit-code 1 --python blender_test.py -- ADDON QUADTILE_BAKE.

It would catch lightmap coordinates of another object or corner, rows upside down, a wrong unit of lights, albedo or
lightmap, a change of the originals, light of another bake or place in a bake of selected objects, and anything left of
a bake that fails or is cancelled.
"""

import atexit
import math
import shutil
import sys
import tempfile
from pathlib import Path

import bpy
import numpy

ADDON, PROGRAM = sys.argv[sys.argv.index("--") + 1:]
FOLDER = Path(tempfile.mkdtemp(prefix="quadtile_blender_"))
atexit.register(shutil.rmtree, FOLDER)
RED = (0.75, 0, 0)


def start(empty=True, **settings):
    """Blender's first or an empty scene, with the add-on."""
    bpy.ops.wm.read_factory_settings(use_empty=empty)
    bpy.ops.preferences.addon_install(filepath=ADDON, overwrite=True)
    bpy.ops.preferences.addon_enable(module="quadtile_bake")
    bpy.context.preferences.addons["quadtile_bake"].preferences.program = PROGRAM
    for name, value in {"density": 8, "bounces": 1, **settings}.items():
        setattr(bpy.context.scene.quadtile, name, value)


def material(name, colour, **inputs):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1)
    for key, value in inputs.items():
        shader.inputs[key.replace("_", " ")].default_value = value
    return made


def add(kind, material=None, **arguments):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**arguments)
    added = bpy.context.object
    if material:
        added.data.materials.append(material)
    return added


def light(kind, power, location, rotation=(0, 0, 0)):
    made = bpy.data.objects.new(kind, bpy.data.lights.new(kind, kind))
    made.data.energy, made.location, made.rotation_euler = power, location, rotation
    bpy.context.collection.objects.link(made)
    return made


def sky():
    """A picture with another colour in each direction, turned about Z."""
    image = bpy.data.images.new("sky", 64, 32, float_buffer=True)
    v, u = numpy.mgrid[0:1:32j, 0:2 * math.pi:64j]
    image.pixels.foreach_set(numpy.stack([0.15 + 0.1 * numpy.sin(u), 0.15 + 0.1 * numpy.cos(u), 0.1 + 0.2 * v, v**0],
                                         -1).astype(numpy.float32).ravel())
    world = bpy.context.scene.world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    picture, mapping, coordinates = (nodes.new(f"ShaderNode{name}") for name in ("TexEnvironment", "Mapping", "TexCoord"))
    picture.image, mapping.inputs["Rotation"].default_value[2] = image, 0.7
    nodes["Background"].inputs["Strength"].default_value = 0.8
    links.new(coordinates.outputs["Generated"], mapping.inputs["Vector"])
    links.new(mapping.outputs["Vector"], picture.inputs["Vector"])
    links.new(picture.outputs["Color"], nodes["Background"].inputs["Color"])


def state():
    """All that must stay as it was if a bake fails."""
    return sorted((kind, each.name, each.users, getattr(each, "hide_viewport", None))
                  for kind in ("objects", "meshes", "materials", "collections", "scenes", "images", "lights", "cameras")
                  for each in getattr(bpy.data, kind))


def fails(words, **arguments):
    before = state()
    try:
        bpy.ops.quadtile.bake(**arguments)
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no error: {words}")
    assert state() == before, set(state()) ^ set(before)


def pixels(file):
    """Returns rows from the bottom."""
    image = bpy.data.images.load(str(file))
    image.alpha_mode = "CHANNEL_PACKED"
    values = numpy.empty((image.size[1], image.size[0], 4), numpy.float32)
    image.pixels.foreach_get(values.ravel())
    bpy.data.images.remove(image)
    return values


def light_map():
    file = FOLDER / "light_map.exr"
    file.write_bytes(bpy.context.scene.quadtile.image.packed_file.data)
    return pixels(file)


def render(scene):
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 64, False
    scene.cycles.pixel_filter_type, scene.cycles.max_bounces, scene.render.film_transparent = "BOX", 1, True
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.filepath = str(FOLDER / "picture.exr")
    bpy.ops.render.render(write_still=True)
    return pixels(FOLDER / "picture.exr").reshape(-1, 4)


def make_lambertian(nodes, links):
    """Replaces Principled BSDF, which is not Lambertian and mirrors."""
    principled, both = nodes["Principled BSDF"], nodes.new("ShaderNodeAddShader")
    colour, metallic, emission, strength = (
        principled.inputs[name].default_value for name in ("Base Color", "Metallic", "Emission", "Emission Strength"))
    for i, (kind, values, factor) in enumerate((("BsdfDiffuse", colour, 1 - metallic), ("Emission", emission, strength))):
        shader = nodes.new(f"ShaderNode{kind}")
        shader.inputs["Color"].default_value = [factor * value for value in values]
        links.new(shader.outputs[0], both.inputs[i])
    links.new(both.outputs["Shader"], nodes["Material Output"].inputs["Surface"])


def error_of(name, shown, wanted):
    """Percent of the mean."""
    error = 100 * math.sqrt(((shown - wanted) ** 2).mean()) / wanted.mean()
    print(f"Blender shows {name} but for {error:.2f} %")
    return error


def test_picture_is_the_preview():
    preview = FOLDER / "preview.png"
    start(options=f"--preview '{preview}' --preview-size 320x240 --exposure 1", output=str(FOLDER / "scene.glb"))
    grey, red = material("grey", (0.8, 0.8, 0.8)), material("red", (0.8, 0.1, 0.1), Metallic=0.5)
    add("plane", grey, size=8)
    cube = add("cube", red, location=(0, 0, 1), rotation=(0, 0, 0.4))
    linked = cube.copy()  # an object of the same mesh
    linked.location, linked.scale = (2.2, 0.5, 0.6), (-0.5, 0.6, 0.6)
    bpy.context.collection.objects.link(linked)
    ball = add("uv_sphere", material("lamp", (0.2, 0.4, 0.8), Emission=(0.2, 0.5, 0.1, 1), Emission_Strength=0.5),
               location=(-2.2, -0.5, 1), segments=16, ring_count=8)
    ball.modifiers.new("finer", "SUBSURF").levels = 1
    add("cylinder", location=(-0.5, -2.5, 0.5), depth=1, vertices=8, calc_uvs=False)  # without a material
    bpy.ops.object.text_add(location=(1, -3, 0.1))
    simple = bpy.data.materials.new("simple")
    simple.diffuse_color = (0.1, 0.5, 0.2, 1)
    add("cube", simple, size=0.6, location=(2.5, -2.5, 0.3))
    hidden = add("cube", size=9)
    hidden.hide_render = True
    light("SUN", 1.2, (0, 0, 5), (0.6, 0.3, 0))
    light("POINT", 60, (1, -3, 3))
    sky()
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (4, -9, 6), (math.radians(60), 0, math.radians(24))
    bpy.context.collection.objects.link(camera)
    scene = bpy.context.scene
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    meshes = {each.name: len(each.data.vertices) for each in scene.objects if each.type == "MESH"}

    for selected in (False, True):  # the second bake replaces the first
        select(*(lit[1:] if selected else ()))
        bpy.ops.quadtile.bake(selected=selected)
        lit = list(scene.quadtile.collection.objects)
        assert len(lit) == 7 and len(bpy.data.images) == 2 and len(bpy.data.scenes) == 1, state()
        assert [layer.name for layer in lit[0].data.uv_layers] == ["UVMap", "Lightmap"]
        assert cube.hide_viewport and linked.hide_render and (FOLDER / "scene.glb").exists()

    picture = render(scene)
    surface = picture[:, 3] == 1
    shown, wanted = picture[surface, :3], pixels(preview).reshape(-1, 4)[surface, :3]
    wanted = numpy.where(wanted <= 0.04045, wanted / 12.92, ((wanted + 0.055) / 1.055) ** 2.4)
    curve = shown * (2.51 * shown + 0.03) / (shown * (2.43 * shown + 0.59) + 0.14)  # the preview's
    assert error_of("the preview", curve, wanted) < 3

    bpy.ops.quadtile.remove()
    assert not scene.quadtile.collection and not cube.hide_viewport and hidden.hide_render
    assert not any("quadtile_hidden" in each for each in scene.objects)
    assert {each.name: len(each.data.vertices) for each in scene.objects if each.type == "MESH"} == meshes
    assert not any("lit" in name for _, name, _, _ in state()), state()
    for each in bpy.data.materials:
        if each.use_nodes:
            make_lambertian(each.node_tree.nodes, each.node_tree.links)
    shown, wanted = (  # means of squares, because edges of shadows are as wide as a texel, and Cycles has noise
        (p[:, :3] * surface[:, None]).reshape(15, 16, 20, 16, 3).mean((1, 3)) for p in (picture, render(scene)))
    assert error_of("the light of Cycles", shown, wanted) < 3.5


def texels_of(name):
    """Returns which texels of the lightmap the object's triangles meet: those of a fine grid of points on them."""
    settings = bpy.context.scene.quadtile
    mesh = next(each for each in settings.collection.objects if each["quadtile_source"] == name).data
    corners = numpy.array([each.uv for each in mesh.uv_layers["Lightmap"].data]).reshape(-1, 3, 2) * settings.image.size
    a, b = numpy.mgrid[0:1:201j, 0:1:201j].reshape(2, -1)
    weights = numpy.stack([(1 - a), a * (1 - b), a * b])
    width, height = settings.image.size
    x, y = numpy.floor(numpy.einsum("kp,tkc->ctp", weights, corners)).astype(int)
    texels = numpy.zeros((height, width), bool)
    texels[numpy.minimum(y, height - 1), numpy.minimum(x, width - 1)] = True
    return texels


def coordinates_in(file):
    copies = list(bpy.context.scene.quadtile.collection.objects)
    pairs = list(sys.modules["quadtile_bake"].lightmap_coordinates(file.read_bytes(), copies))
    corners, coordinates = (numpy.concatenate(each) for each in zip(*pairs))
    return coordinates[numpy.argsort(corners)]


def first_scene(**settings):
    """The tutorial's."""
    start(empty=False, **settings)
    add("plane", size=10, location=(0, 0, -1))
    add("uv_sphere", material("lamp", (0.8, 0.8, 0.8), Emission=(1, 0.5, 0.2, 1), Emission_Strength=10),
        radius=0.3, location=(-1, -3, 0.5))
    return bpy.context.scene, bpy.data.objects["Cube"]


def select(*objects):
    bpy.ops.object.select_all(action="DESELECT")
    for each in objects:
        each.select_set(True)


def test_selected():
    scene, cube = first_scene(density=4, bounces=0)  # bounces would have the light of the others before
    settings, lit = scene.quadtile, FOLDER / "lit.glb"
    settings.output = str(lit)
    fails("no lightmap yet", selected=True)
    bpy.ops.quadtile.bake()
    coordinates = coordinates_in(lit)
    first, texels = light_map(), texels_of("Cube")
    baked, kept = texels & (first[..., 3] == 1), ~texels & (first[..., 3] == 1)
    assert baked.sum() > 300 and kept.sum() > 1000
    select()
    fails("no object of the lightmap is selected", selected=True)

    settings.shown = False  # to edit the originals
    assert not cube.hide_viewport and settings.collection.hide_viewport
    cube.location = (-0.5, 0, 0.5)
    bpy.data.objects["Light"].data.energy *= 1.5
    cube.material_slots[0].material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*RED, 1)
    select(cube)
    plane = bpy.data.objects["Plane"]
    plane.hide_viewport = True
    fails("'Plane' is in the lightmap, but it was deleted or hidden", selected=True)
    assert plane.hide_viewport
    plane.hide_viewport = False
    new = add("cube", location=(3, 3, 0))
    select(cube)
    fails("'Cube.001' has no place in the lightmap", selected=True)
    bpy.data.objects.remove(new)
    select(cube)
    sphere = bpy.data.objects["Sphere"]
    sphere.modifiers.new("finer", "SUBSURF")
    fails("'Sphere' has other faces", selected=True)
    sphere.modifiers.clear()
    settings.options = "--quantity radiance"
    fails("give --quantity irradiance", selected=True)
    settings.options = ""
    cube["lightmap_exclude"] = True
    fails("'Cube' has lightmap_exclude", selected=True)
    del cube["lightmap_exclude"]
    before = state()
    sys.modules["quadtile_bake"].Bake(bpy.context, selected=True).close()  # cancelled
    assert state() == before and (light_map() == first).all()
    settings.options = "--margin 3 --denoise auto"  # of the charts, which stay
    bpy.ops.quadtile.bake(selected=True)
    settings.options = ""
    second = light_map()
    assert settings.shown and cube.hide_viewport and sum("Lightmap" in name for _, name, _, _ in state()) == 2, state()
    assert (coordinates_in(lit) == coordinates).all() and (second[kept] == first[kept]).all()
    nodes = bpy.data.materials["Material lit"].node_tree.nodes
    assert any(tuple(socket.default_value) == RED for node in nodes for socket in node.inputs if socket.type == "VECTOR")

    assert [each["quadtile_source"] for each in bpy.context.selected_objects] == ["Cube"]
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "selected.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "selected.blend"))
    settings = bpy.context.scene.quadtile
    bpy.ops.quadtile.bake(selected=True)  # the same, since it depends on the light of the others alone
    assert (light_map() == second).all()
    bpy.ops.quadtile.bake()
    third = light_map()
    assert (texels_of("Cube") == texels).all()
    assert error_of("the cube baked alone", second[baked, :3], third[baked, :3]) < 1
    assert error_of("the cube of before", first[baked, :3], third[baked, :3]) > 20
    assert (third[kept] != first[kept]).any()


def test_failures_change_nothing():
    start()
    fails("no mesh is visible")
    plane = add("plane")
    fails("has no light")
    light("AREA", 100, (0, 0, 3))
    fails("has no light")
    light("SUN", 1, (0, 0, 3))
    bpy.context.scene.quadtile.options = "--sunny"
    fails("--sunny")
    bpy.context.scene.quadtile.options = "'"
    fails("No closing quotation")
    bpy.context.scene.quadtile.options = ""
    bpy.context.scene.quadtile.output = str(FOLDER / "missing" / "scene.glb")
    fails("missing")
    bpy.context.scene.quadtile.output = ""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.quadtile.bake()  # a failed bake also leaves an earlier one as it is
    bpy.context.preferences.addons["quadtile_bake"].preferences.program = "quadtile-missing"
    fails("choose the program")
    assert plane.hide_viewport


def test_cancelled():
    start(quality="best", density=100)
    add("plane", size=9)
    light("SUN", 1, (0, 0, 3))
    before = state()
    bake = sys.modules["quadtile_bake"].Bake(bpy.context)
    assert bake.poll() and bpy.context.window.scene.name == "Scene"
    folder, process = bake.folder, bake.process
    bake.close()
    assert process.poll() is not None and not folder.exists() and state() == before


def test_tutorial_without_a_window():
    """Runs the program that the tutorial prints, on its scene."""
    page = Path(ADDON).parents[2] / "docs/tutorial_blender.md"
    first_scene(density=4)
    (FOLDER / "baked").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "scene.blend"))
    exec(page.read_text().split("```python\n")[1].split("```")[0])
    assert (FOLDER / "baked/scene_baked.glb").exists()
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "scene.blend"))
    assert len(bpy.context.scene.quadtile.collection.objects) == 3
    assert bpy.context.scene.quadtile.image.packed_file


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"{name} passed")
