"""Bakes scenes by the add-on of examples/blender, without a window:
blender --background --factory-startup --python-exit-code 1 --python blender_test.py -- ADDON QUADTILE_BAKE.

It would catch lightmap coordinates of another object or corner, rows upside down, a wrong unit of lights, albedo or
lightmap, a change of the originals, and anything left of a bake that fails or is cancelled.
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


def start(**settings):
    """An empty scene with the add-on."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
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


def sky(colour):
    bpy.context.scene.world = bpy.data.worlds.new("sky")
    bpy.context.scene.world.color = colour


def state():
    """All that must stay as it was if a bake fails."""
    return sorted((kind, each.name, each.users, getattr(each, "hide_viewport", None))
                  for kind in ("objects", "meshes", "materials", "collections", "scenes", "images", "lights", "cameras")
                  for each in getattr(bpy.data, kind))


def fails(words):
    before = state()
    try:
        bpy.ops.quadtile.bake()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no error: {words}")
    assert state() == before, set(state()) ^ set(before)


def pixels(image):
    values = numpy.empty(4 * image.size[0] * image.size[1], numpy.float32)
    image.pixels.foreach_get(values)
    return values.reshape(image.size[1], image.size[0], 4)[..., :3]


def test_picture_is_the_preview():
    preview, picture = FOLDER / "preview.png", FOLDER / "picture.png"
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
    add("cylinder", location=(-0.5, -2.5, 0.5), depth=1, vertices=8)  # without a material
    bpy.ops.object.text_add(location=(1, -3, 0.1))
    hidden = add("cube", size=9)
    hidden.hide_render = True
    light("SUN", 1.2, (0, 0, 5), (0.6, 0.3, 0))
    light("POINT", 60, (1, -3, 3))
    sky((0.1, 0.12, 0.2))
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (4, -9, 6), (math.radians(60), 0, math.radians(24))
    bpy.context.collection.objects.link(camera)
    scene = bpy.context.scene
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    meshes = {each.name: len(each.data.vertices) for each in scene.objects if each.type == "MESH"}

    for _ in range(2):  # the second bake replaces the first
        bpy.ops.quadtile.bake()
        lit = list(scene.quadtile.collection.objects)
        assert len(lit) == 6 and len(bpy.data.images) == 1 and len(bpy.data.scenes) == 1, state()
        assert [layer.name for layer in lit[0].data.uv_layers] == ["UVMap", "Lightmap"]
        assert cube.hide_viewport and linked.hide_render and (FOLDER / "scene.glb").exists()

    scene.view_settings.view_transform = "Standard"
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 64, False
    scene.cycles.pixel_filter_type, scene.cycles.max_bounces = "BOX", 0
    scene.render.filepath = str(picture)
    bpy.ops.render.render(write_still=True)
    shown, wanted = (pixels(bpy.data.images.load(str(path))) for path in (picture, preview))
    shown, wanted = (numpy.where(p <= 0.04045, p / 12.92, ((p + 0.055) / 1.055) ** 2.4) for p in (shown, wanted))
    shown = shown * (2.51 * shown + 0.03) / (shown * (2.43 * shown + 0.59) + 0.14)  # the preview's curve
    error = math.sqrt(((shown - wanted) ** 2).mean()) / wanted.mean()
    print(f"Cycles shows the preview but for {100 * error:.2f} %")
    assert error < 0.03

    bpy.ops.quadtile.remove()
    assert not scene.quadtile.collection and not cube.hide_viewport and hidden.hide_render
    assert not any("quadtile_hidden" in each for each in scene.objects)
    assert {each.name: len(each.data.vertices) for each in scene.objects if each.type == "MESH"} == meshes
    assert not any("lit" in name for _, name, _, _ in state()), state()


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


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"{name} passed")
