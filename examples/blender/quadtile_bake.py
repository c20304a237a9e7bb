"""Blender add-on that bakes the light of a scene with quadtile-bake, and shows it. docs/baker_blender.md explains it.

The bake works on copies of all visible objects, with modifiers applied and instances made real. The copies get the
lightmap, its UV map and materials that show it, and stay in a collection of their own. The originals are hidden while
the lightmap is shown, and nothing of them is changed. A bake of selected objects makes the copies anew, but gives them
the coordinates of those before, so that the lightmap keeps the light of all others.
"""

import json
import math
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import bmesh
import bpy
import numpy

bl_info = {
    "name": "quadtile: bake light",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "View3D > Sidebar > quadtile",
    "description": "Bakes the light of the scene into a lightmap with quadtile-bake",
    "category": "Render",
}

NAME = "Lightmap"  # of the collection, the image and the UV map
HIDDEN = "quadtile_hidden"  # custom property of originals: whether they are hidden, because their copies are shown
SOURCE = "quadtile_source"  # custom property of copies: the name of the original, with that of the instance
COORDINATES = "quadtile_coordinates"  # attribute of copies: the baker's, which the UV map rounds
KINDS = (("sky", "Sky", "Light of the world"), ("suns", "Suns", "Sun lights"),
         ("points", "Lamps", "Point and spot lights"), ("emission", "Emission", "Light of materials with emission"))


class Failure(Exception):
    """A sentence for the user, who can do something about it."""


# ---- Copies of the scene


def copy_mesh(instance, index):
    """Returns triangles. Their second UV map is the lightmap's, and the last one has (number of the corner, index)."""
    source, mesh, triangles = instance.object.to_mesh(), bpy.data.meshes.new(instance.object.name), bmesh.new()
    triangles.from_mesh(source)
    bmesh.ops.triangulate(triangles, faces=triangles.faces[:])
    triangles.to_mesh(mesh)
    triangles.free()
    if hasattr(mesh, "use_auto_smooth"):  # Blender before 4.1
        mesh.use_auto_smooth, mesh.auto_smooth_angle = source.use_auto_smooth, source.auto_smooth_angle
    instance.object.to_mesh_clear()
    for slot in list(instance.object.material_slots) or [None]:
        mesh.materials.append(slot.material.original if slot and slot.material else grey())
    while len(mesh.uv_layers) < 2:
        mesh.uv_layers.new(name="UVMap")
    mesh.uv_layers[1].name = NAME
    corners = mesh.uv_layers.new(name="corners")
    if corners is None:
        raise Failure(f"'{instance.object.name}' has {len(mesh.uv_layers)} UV maps; remove one of them")
    numbers = numpy.full((len(mesh.loops), 2), index, numpy.float32)
    numbers[:, 0] = numpy.arange(len(mesh.loops))
    corners.data.foreach_set("uv", numbers.ravel())
    return mesh


def grey():
    """Returns the material of surfaces without one."""
    material = bpy.data.materials.get("quadtile grey") or bpy.data.materials.new("quadtile grey")
    material.use_nodes = True
    return material


def copy_scene(context, scene):
    """Links copies of all that is visible to the empty scene. Returns those of meshes, originals, and warnings."""
    depsgraph = context.evaluated_depsgraph_get()
    copies, originals, area_lights = [], [], 0
    for instance in depsgraph.object_instances:
        original = instance.object.original
        source = instance.parent.original if instance.is_instance else original
        if source.hide_render or not instance.show_self:
            continue
        if instance.object.type == "MESH":  # also of texts and curves, which are meshes as instances of themselves
            data = copy_mesh(instance, len(copies))
        elif original.type == "LIGHT":
            area_lights += original.data.type == "AREA"
            data = original.data.copy()
            data["radius"] = data.get("radius", getattr(data, "shadow_soft_size", 0))  # an extra that the baker reads
        elif original == context.scene.camera:
            data = original.data
        else:
            continue
        copy = bpy.data.objects.new(f"{original.name} lit", data)
        copy.matrix_world = instance.matrix_world
        for key in original.keys():
            if key.startswith("lightmap_"):  # more extras
                copy[key] = original[key]
        scene.collection.objects.link(copy)
        if copy.type == "MESH":
            numbers = [str(n) for n in instance.persistent_id if n < 2**31 - 1] if instance.is_instance else []
            copy[SOURCE] = " ".join([source.name] + [original.name] * instance.is_instance + numbers)
            copies.append(copy)
            originals.append(source)
        elif copy.type == "CAMERA":
            scene.camera = copy  # its field depends on the shape of the picture
            scene.render.resolution_x, scene.render.resolution_y = (
                context.scene.render.resolution_x, context.scene.render.resolution_y)
    if not any(copy.data.polygons for copy in copies):
        raise Failure("there is nothing to bake: no mesh is visible, both in the viewport and for rendering; show one")
    return copies, originals, [f"{area_lights} area lights are left out; use meshes with emission"] * (area_lights > 0)


def sky_of(scene, folder):
    """Returns the baker's options for the world of the scene, and warnings. Pictures are written to the folder."""
    world = scene.world
    if not world:
        return [], []
    nodes = world.node_tree.nodes if world.use_nodes else ()
    background = next((node for node in nodes if node.type == "BACKGROUND"), None)
    if not background:
        return (["--sky", text_of(world.color)], []) if not world.use_nodes else ([], [])
    colour, strength = background.inputs["Color"], background.inputs["Strength"].default_value
    if not colour.is_linked:
        return ["--sky", text_of(strength * c for c in colour.default_value[:3])], []
    node = colour.links[0].from_node
    if node.type != "TEX_ENVIRONMENT" or not node.image or node.projection != "EQUIRECTANGULAR":
        return [], [f"the world's '{node.name}' is left out: the sky is a colour or an Environment Texture"]
    links = node.inputs["Vector"].links
    mapping = next((link.from_node for link in links if link.from_node.type == "MAPPING"), None)
    turn = -90 - math.degrees(mapping.inputs["Rotation"].default_value[2] if mapping else 0)
    picture = folder / "sky.exr"
    writer = bpy.data.scenes.new("quadtile sky")
    writer.render.image_settings.file_format, writer.render.image_settings.color_depth = "OPEN_EXR", "32"
    node.image.save_render(str(picture), scene=writer)
    bpy.data.scenes.remove(writer)
    return ["--sky-image", str(picture), "--sky", text_of([strength] * 3), "--sky-rotation", f"{turn % 360:.6g}"], []


def text_of(numbers):
    return ",".join(f"{number:.6g}" for number in numbers)


# ---- The result


def lightmap_coordinates(data, copies):
    """Yields for each primitive of a .glb the numbers of its corners among those of all copies, and views of their
    lightmap coordinates in its data."""
    length = struct.unpack_from("<I", data, 12)[0]
    gltf = json.loads(data[20:20 + length])
    starts = numpy.cumsum([0] + [len(copy.data.loops) for copy in copies])

    def pairs(accessor):
        accessor = gltf["accessors"][accessor]
        offset = gltf["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return numpy.frombuffer(data, "<f4", 2 * accessor["count"], 28 + length + offset).reshape(-1, 2)

    for mesh in gltf["meshes"]:
        for attributes in (primitive["attributes"] for primitive in mesh["primitives"]):
            last = max(name for name in attributes if name.startswith("TEXCOORD_"))
            corners, indices = numpy.rint(pairs(attributes[last]) * (1, -1) + (0, 1)).astype(int).T
            yield starts[indices] + corners, pairs(attributes["TEXCOORD_1"])


def numbers_of(items, name, shape, kind=numpy.float32):
    """Returns what foreach_get tells."""
    numbers = numpy.empty(shape, kind)
    items.foreach_get(name, numbers.ravel())
    return numbers


def show_lightmap(material, image):
    """Makes emission of the light that the surface reflects: base colour * (1 - metallic) * irradiance / pi."""
    has_nodes, material.use_nodes = material.use_nodes, True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader and not has_nodes:
        shader.inputs["Base Color"].default_value = material.diffuse_color
        shader.inputs["Metallic"].default_value = material.metallic
    socket = lambda *names: next(shader.inputs[name] for name in names if name in shader.inputs)
    if not shader or socket("Transmission", "Transmission Weight").default_value > 0:
        return  # glass has no diffuse light

    def calculate(kind, operation, *values):
        node = nodes.new(kind)
        node.operation = operation
        for socket_in, value in zip((s for s in node.inputs if s.enabled), values):
            if isinstance(value, bpy.types.NodeSocket) and (value.is_output or value.is_linked):
                links.new(value if value.is_output else value.links[0].from_socket, socket_in)
            else:
                value = value.default_value if isinstance(value, bpy.types.NodeSocket) else value
                socket_in.default_value = value[:3] if hasattr(value, "__len__") else value
        return next(s for s in node.outputs if s.enabled)

    coordinates, texture = nodes.new("ShaderNodeUVMap"), nodes.new("ShaderNodeTexImage")
    coordinates.uv_map, texture.image, texture.extension = NAME, image, "EXTEND"
    links.new(coordinates.outputs["UV"], texture.inputs["Vector"])
    base, metallic = socket("Base Color"), socket("Metallic")
    emission, strength = socket("Emission", "Emission Color"), socket("Emission Strength")
    light = calculate("ShaderNodeVectorMath", "MULTIPLY", base, texture.outputs["Color"])
    share = calculate("ShaderNodeMath", "MULTIPLY_ADD", metallic, -1 / math.pi, 1 / math.pi)
    light = calculate("ShaderNodeVectorMath", "SCALE", light, share)
    own = calculate("ShaderNodeVectorMath", "SCALE", emission, strength)
    light = calculate("ShaderNodeVectorMath", "ADD", light, own)
    for each in (base, metallic, socket("Specular", "Specular IOR Level"), strength):
        for link in each.links:
            links.remove(link)
        each.default_value = (0, 0, 0, 1) if each == base else float(each == strength)
    links.new(light, emission)


def show_copies(settings, shown):
    """Shows the lit copies, or the originals."""
    if settings.collection:
        settings.collection.hide_viewport = settings.collection.hide_render = not shown
    for each in settings.id_data.objects:
        if HIDDEN in each and each[HIDDEN] != shown:  # what the user hides meanwhile stays hidden
            each.hide_viewport = each.hide_render = each[HIDDEN] = shown


def remove_objects(collection):
    """Removes its objects and what only they use."""
    for each in list(collection.objects):
        data, materials = each.data, [slot.material for slot in each.material_slots]
        bpy.data.objects.remove(each)
        for unused in (data, *dict.fromkeys(materials)):
            if unused and unused.users == 0:
                bpy.data.batch_remove([unused])


def remove_lightmap(settings):
    show_copies(settings, False)
    for each in settings.id_data.objects:
        each.pop(HIDDEN, None)
    if settings.collection:
        remove_objects(settings.collection)
        bpy.data.collections.remove(settings.collection)
    if settings.image:
        bpy.data.images.remove(settings.image)


# ---- The bake


class Bake:
    """A run of quadtile-bake: poll until it returns nothing, then finish. Close it in the end, or to cancel it."""

    def __init__(self, context, selected=False):
        settings = self.settings = context.scene.quadtile
        program = shutil.which(bpy.path.abspath(context.preferences.addons[__name__].preferences.program))
        if not program:
            raise Failure("quadtile-bake was not found; build or install it, and choose the program in "
                          "Preferences > Add-ons > quadtile")
        if selected and not (settings.collection and settings.image):
            raise Failure("there is no lightmap yet; press Bake, which bakes all objects")
        chosen, self.again = context.selected_objects, []
        self.process, self.folder = None, Path(tempfile.mkdtemp(prefix="quadtile_"))
        self.scene = bpy.data.scenes.new("quadtile")
        try:
            show_copies(settings, False)
            context.view_layer.update()
            try:
                self.copies, self.originals, self.warnings = copy_scene(context, self.scene)
            finally:
                show_copies(settings, settings.shown)
                context.view_layer.update()
                for each in chosen:
                    each.select_set(True)
            file = self.folder / "scene.glb"
            try:
                context.window.scene = self.scene
                bpy.ops.export_scene.gltf(
                    filepath=str(file), use_active_scene=True, export_lights=True, export_cameras=True,
                    export_extras=True, export_animations=False, export_skins=False, export_morph=False)
            finally:
                context.window.scene = settings.id_data
            sky, warnings = sky_of(context.scene, self.folder)
            self.warnings += warnings
            output = bpy.path.abspath(settings.output)
            self.result = Path(bpy.path.ensure_ext(output, ".glb") if output else self.folder / "lit.glb")
            command = [program, file, "-o", self.folder / f"{NAME}.exr", "--lit-scene", self.result,
                       "--no-checkpoint", "--light-units", "blender", "--quality", settings.quality, *sky]
            options = settings.options
            if selected:
                command += self.keep_layout(file, chosen)
                options = re.sub(r"--margin[ =]+\S+", "", options)  # of charts, which exist
            else:
                size = ["--size", settings.size] if settings.size else ["--texels-per-unit", f"{settings.density:.6g}"]
                command += ["--unwrap", *size]
            command += ["--bounces", settings.bounces] if settings.bounces >= 0 else []
            command += ["--lights", ",".join(sorted(settings.kinds))] if len(settings.kinds) < len(KINDS) else []
            command += shlex.split(options)
            self.log = (self.folder / "log.txt").open("w")
            self.process = subprocess.Popen(
                [str(each) for each in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        except BaseException:
            self.close()
            raise

    def keep_layout(self, file, chosen):
        """Puts the coordinates of the lightmap into the .glb. Returns the options that bake the chosen objects."""
        earlier = {each[SOURCE]: each for each in self.settings.collection.objects if SOURCE in each}
        coordinates = []
        for copy, original in zip(self.copies, self.originals):
            name, lit = f"'{copy[SOURCE]}'", earlier.pop(copy[SOURCE], None)
            if not lit:
                raise Failure(f"{name} has no place in the lightmap, since it is new; hide it or press Bake")
            if copy.get("lightmap_exclude"):
                raise Failure(f"{name} has lightmap_exclude, so the lightmap has no light of it; press Bake")
            before, now = (numbers_of(each.data.loops, "vertex_index", len(each.data.loops), numpy.int32)
                           for each in (lit, copy))
            if not numpy.array_equal(before, now):
                raise Failure(f"{name} has other faces than in the lightmap; press Bake")
            coordinates.append(numbers_of(lit.data.attributes[COORDINATES].data, "vector", (len(now), 3)))
            self.again += [copy] * (lit in chosen or original in chosen)
        if earlier:
            raise Failure(f"'{min(earlier)}' is in the lightmap, but it was deleted or hidden; show it or press Bake")
        if not self.again:
            raise Failure("no object of the lightmap is selected; select those to bake again")
        data, coordinates = bytearray(file.read_bytes()), numpy.concatenate(coordinates)
        for corners, uv in lightmap_coordinates(data, self.copies):
            uv[:] = coordinates[corners, :2]
        file.write_bytes(data)
        image, light = self.settings.image, self.folder / "earlier.exr"
        packed = image.packed_file
        light.write_bytes(packed.data if packed else Path(bpy.path.abspath(image.filepath)).read_bytes())
        return ["--reuse", light, *(f"--only={copy.name}" for copy in self.again)]

    def lines(self):
        return (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace").splitlines()

    def poll(self):
        """Returns how far the bake is, or nothing if it is done."""
        if self.process.poll() is None:
            return next((line for line in reversed(self.lines()) if line.startswith("[")), "Light is being baked")
        lines = self.lines()
        of = lambda kind: [line.split(": ", 2)[2] for line in lines if line.startswith(f"quadtile-bake: {kind}: ")]
        # Blender's materials are double-sided, unless they have Backface Culling.
        self.warnings += [warning for warning in of("warning") if not warning.startswith("backs of double-sided")]
        if self.process.returncode != 0:
            raise Failure((of("error") or [f"quadtile-bake ended with status {self.process.returncode}"])[-1])
        return None

    def finish(self):
        """Replaces the lightmap before, if there is one."""
        coordinates = numpy.zeros((sum(len(copy.data.loops) for copy in self.copies), 3), numpy.float32)
        for corners, uv in lightmap_coordinates(self.result.read_bytes(), self.copies):
            coordinates[corners, :2] = uv
        image = bpy.data.images.load(str(self.folder / f"{NAME}.exr"))
        image.alpha_mode = "NONE"
        image.pack()
        remove_lightmap(self.settings)
        image.name = f"{NAME}.exr"
        collection = bpy.data.collections.new(NAME)
        self.settings.id_data.collection.children.link(collection)
        self.settings.collection, self.settings.image = collection, image
        lit = {}
        for copy in self.copies:
            layers = copy.data.uv_layers
            layers.remove(layers[-1])
            mine, coordinates = numpy.split(coordinates, [len(copy.data.loops)])
            copy.data.attributes.new(COORDINATES, "FLOAT_VECTOR", "CORNER").data.foreach_set("vector", mine.ravel())
            # glTF's rows begin at the top.
            layers[NAME].data.foreach_set("uv", (mine[:, :2] * (1, -1) + (0, 1)).astype(numpy.float32).ravel())
            copy.lock_location = copy.lock_rotation = copy.lock_scale = [True] * 3  # the original can be moved
            if not copy.get("lightmap_exclude"):
                for i, material in enumerate(copy.data.materials):
                    if material not in lit:
                        lit[material] = material.copy()
                        lit[material].name = f"{material.name} lit"
                        show_lightmap(lit[material], image)
                    copy.data.materials[i] = lit[material]
            collection.objects.link(copy)
            self.scene.collection.objects.unlink(copy)
        for material in lit:
            if material.users == 0:  # grey
                bpy.data.materials.remove(material)
        for each in self.originals:
            each[HIDDEN] = False
        self.settings.shown = True
        for copy in self.again:
            copy.select_set(True)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.log.close()
            self.process = None
        if self.scene:
            remove_objects(self.scene.collection)
            bpy.data.scenes.remove(self.scene)
            self.scene = None
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- What Blender shows


class QUADTILE_OT_bake(bpy.types.Operator):
    """Bake the light of all visible objects. Escape cancels"""

    bl_idname, bl_label, bl_options = "quadtile.bake", "Bake", {"REGISTER", "UNDO"}
    selected: bpy.props.BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context, properties):
        return ("Bake the selected objects again, and keep the light of all others. Escape cancels"
                if properties.selected else cls.__doc__)

    def invoke(self, context, event):
        if not self.begin(context):
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            self.report({"WARNING"}, "the bake was cancelled")
            return self.end(context, {"CANCELLED"})
        if event.type == "TIMER":
            state = self.proceed()
            if state:
                return self.end(context, state)
            context.workspace.status_text_set(f"quadtile-bake: {self.progress}   (Escape cancels)")
        # The scene stays as it is, and can be looked at.
        looks = event.type in ("MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "MOUSEMOVE")
        return {"PASS_THROUGH" if looks else "RUNNING_MODAL"}

    def execute(self, context):
        state = None if self.begin(context) else {"CANCELLED"}
        while not state:
            time.sleep(0.05)
            state = self.proceed()
        return state

    def cancel(self, context):  # Blender quits
        self.bake.close()

    def begin(self, context):
        try:
            if context.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            self.bake = Bake(context, self.selected)
        except (Failure, OSError, ValueError, RuntimeError) as error:
            self.report({"ERROR"}, str(error))
            return False
        return True

    def proceed(self):
        """Returns how the operator ends, when it does."""
        try:
            self.progress = self.bake.poll()
            if self.progress:
                return None
            self.bake.finish()
            state = {"FINISHED"}
        except (Failure, OSError, RuntimeError) as error:
            self.report({"ERROR"}, str(error))
            state = {"CANCELLED"}
        for warning in self.bake.warnings:
            self.report({"WARNING"}, warning)
        self.bake.close()
        return state

    def end(self, context, state):
        self.bake.close()
        context.window_manager.event_timer_remove(self.timer)
        context.workspace.status_text_set(None)
        return state


class QUADTILE_OT_remove(bpy.types.Operator):
    """Remove the lightmap and the lit copies, and show the originals"""

    bl_idname, bl_label, bl_options = "quadtile.remove", "Remove", {"REGISTER", "UNDO"}

    def execute(self, context):
        remove_lightmap(context.scene.quadtile)
        return {"FINISHED"}


class QUADTILE_PT_panel(bpy.types.Panel):
    bl_label, bl_space_type, bl_region_type, bl_category = "Bake light", "VIEW_3D", "UI", "quadtile"

    def draw(self, context):
        settings = context.scene.quadtile
        self.layout.use_property_split = True
        for name in ("quality", "density", "size", "bounces", "kinds", "output", "options"):
            column = self.layout.column(align=True)
            column.use_property_split = name not in ("size", "bounces")  # whose labels are long
            column.prop(settings, name)
        self.layout.operator("quadtile.bake", icon="LIGHT").selected = False
        again = self.layout.column()
        again.enabled = bool(settings.collection and settings.image)
        again.operator("quadtile.bake", text="Bake Selected", icon="RESTRICT_SELECT_OFF").selected = True
        again.use_property_split = False
        again.prop(settings, "shown")
        self.layout.operator("quadtile.remove", icon="X")


class QuadtileSettings(bpy.types.PropertyGroup):
    quality: bpy.props.EnumProperty(
        name="Quality", description="More samples: less noise", default="draft",
        items=[(name, name.capitalize(), "") for name in ("draft", "medium", "high", "best")])
    density: bpy.props.FloatProperty(
        name="Density", default=20, min=0.001, description="Texels per unit of length, if the size is 0")
    size: bpy.props.IntProperty(
        name="Size (0: by density)", default=0, min=0, max=32768,
        description="Width and height of the lightmap in texels")
    bounces: bpy.props.IntProperty(name="Bounces (-1: by quality)", default=-1, min=-1, max=100)
    output: bpy.props.StringProperty(name="Glb file", subtype="FILE_PATH", description="Also write the baked scene, for three.js")
    options: bpy.props.StringProperty(name="Options", description="More of them, as quadtile-bake --help-all lists them")
    kinds: bpy.props.EnumProperty(name="Light", items=KINDS, options={"ENUM_FLAG"}, default={kind[0] for kind in KINDS})
    collection: bpy.props.PointerProperty(type=bpy.types.Collection)
    image: bpy.props.PointerProperty(type=bpy.types.Image)
    shown: bpy.props.BoolProperty(
        name="Show Lightmap", default=True, update=lambda settings, _: show_copies(settings, settings.shown),
        description="Show the lit copies, or the originals, to edit them")


class QuadtilePreferences(bpy.types.AddonPreferences):
    bl_idname = __name__
    program: bpy.props.StringProperty(name="quadtile-bake", subtype="FILE_PATH", default="quadtile-bake",
                                      description="The program. A name alone is looked for in PATH")

    def draw(self, context):
        self.layout.prop(self, "program")


CLASSES = (QUADTILE_OT_bake, QUADTILE_OT_remove, QUADTILE_PT_panel, QuadtileSettings, QuadtilePreferences)


def register():
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Scene.quadtile = bpy.props.PointerProperty(type=QuadtileSettings)


def unregister():
    del bpy.types.Scene.quadtile
    for each in CLASSES:
        bpy.utils.unregister_class(each)
