"""Bakes a scene, shows it in Godot 3 by the script of docs/baker_godot.md, and compares it with the baker's preview:
godot_test.py GODOT XVFB QUADTILE_BAKE PAGE SCENE.

It would catch a lightmap of another UV set, upside down, of another unit or colour space. The squares have no normals,
so it would not catch lights that shine twice.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAIN = """
extends Spatial

func _ready():
    VisualServer.set_default_clear_color(Color.black)
    add_child(load("res://scene.glb").instance())
    add_child(preload("res://light_map.gd").new())
    for i in range(3):
        yield(get_tree(), "idle_frame")
    yield(VisualServer, "frame_post_draw")
    var shown = get_viewport().get_texture().get_data()
    shown.flip_y()
    shown.convert(Image.FORMAT_RGB8)
    var preview = Image.new()
    preview.load("res://preview.png")
    preview.convert(Image.FORMAT_RGB8)
    shown.lock()
    preview.lock()
    var squares = 0.0
    var sum = 0.0
    var texels = 0
    for y in [60, 80, 100, 220, 240, 260]: # inside of the four squares
        for x in [60, 80, 100, 220, 240, 260]:
            texels += 3
            var one = linear(shown.get_pixel(x, y))
            var two = linear(preview.get_pixel(x, y))
            for c in 3:
                var light = one[c]
                light = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14) # the preview's curve
                squares += pow(light - two[c], 2)
                sum += two[c]
    print("error: %.2f %%" % (100 * sqrt(squares / texels) / (sum / texels)))
    get_tree().quit()

func linear(colour):
    var values = []
    for c in 3:
        values.append(colour[c] / 12.92 if colour[c] <= 0.04045 else pow((colour[c] + 0.055) / 1.055, 2.4))
    return values
"""

godot, xvfb, baker, page, scene = sys.argv[1:]
with tempfile.TemporaryDirectory(prefix="quadtile_godot_") as folder:
    project = Path(folder)
    subprocess.run([baker, scene, "-q", "--reference", "--direct-samples", "8", "--sun-samples", "8", "--bounces", "0",
                    "-o", project / "lightmap.exr", "--half", "--quantity", "radiance", "--lit-scene", project / "scene.glb",
                    "--preview", project / "preview.png", "--preview-size", "320x320", "--exposure", "1"], check=True)
    (project / "project.godot").write_text("""config_version=4
[application]
run/main_scene="res://main.tscn"
[display]
window/size/width=320
window/size/height=320
""")
    (project / "main.gd").write_text(MAIN)
    (project / "main.tscn").write_text("""[gd_scene load_steps=2 format=2]
[ext_resource path="res://main.gd" type="Script" id=1]
[node name="Main" type="Spatial"]
script = ExtResource( 1 )
""")
    script = Path(page).read_text().split("<!-- Godot 3 -->\n```gdscript\n")[1].split("```")[0]
    (project / "light_map.gd").write_text(script)

    display = subprocess.Popen([xvfb, "-displayfd", "1", "-screen", "0", "640x480x24"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        environment = {**os.environ, "DISPLAY": ":" + display.stdout.readline().strip(), "HOME": folder, "LANG": "en_US.UTF-8"}
        run = lambda *options: subprocess.run(
            [godot, "--path", folder, "--audio-driver", "Dummy", *options], env=environment, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        log = run("--editor", "--quit")  # imports; Godot 3.2 may crash when it has done so
        log = run()
    finally:
        display.kill()
        display.wait()
    print(log)
    errors = [float(line.split()[1]) for line in log.splitlines() if line.startswith("error: ")]
    assert errors and errors[0] < 3, "Godot shows another light than the preview"
