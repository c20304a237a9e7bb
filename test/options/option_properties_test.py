"""What holds for every option of every program, whatever it is given.

Arguments: the programs. The tables below have each option that --help names, or the test fails: a
new one is added with a line.

- A number that is NaN, infinite without a reason, or out of range is a usage error of one line
  (exit status 2); one that is in range is not.
- A file that is written and that another argument names, too, however either is spelled, is a usage
  error; no file changes.
- Folders, pipes, devices, full disks, names that are too long and missing permissions are errors of
  one line, or work; what was there stays what it was, and nothing is left behind.
- Signals leave nothing behind.
"""

import base64
import itertools
import json
import math
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

INF = math.inf
LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
U32 = 2**32 - 1
TIME_LIMIT_SECONDS = 120
NOBODY = 65534


@dataclass
class Option:
    """`more`: arguments that the option needs, or None for those that it replaces."""

    kind: str  # number, whole, read, write, folder, checkpoint, other
    low: float = 0
    high: float = 0
    form: str = "{}"  # of the argument that the number is a part of
    more: dict = field(default_factory=dict)
    ending: str = ""  # of file names
    takes: tuple = ()  # out of range

    @property
    def is_written(self):
        return self.kind in ("write", "folder", "checkpoint")

    @property
    def is_path(self):
        return self.is_written or self.kind == "read"


def number(low, high, form="{}", takes=(), **more):
    return Option("number", low, high, form, options(more), takes=takes)


def whole(low, high, form="{}", **more):
    return Option("whole", low, high, form, options(more))


def read(ending="", **more):
    return Option("read", ending=ending, more=options(more))


def write(ending="", kind="write", **more):
    return Option(kind, ending=ending, more=options(more))


def options(names):
    """max_tiles=3 as {"--max-tiles": 3}; names of positional arguments stay as they are."""
    return {
        name if name.isupper() else "--" + name.replace("_", "-"): value
        for name, value in names.items()
    }


def others(*names):
    """Flags, names and texts."""
    return {name: Option("other") for name in names}


SUBDIVISION = {
    "--max-resolution": number(0, INF, constant=None),
    "--constant": number(0, INF),
    "--level-thresholds": number(0, INF, "1,{}", constant=None),
    "--subtree-levels": whole(1, 8),
    "--max-tiles": whole(1, U32),
    "--trace": write(),
    **others("--format", "--stats", "--strategy", "--order", "--device", "--balance"),
}

# `base`: arguments of a quick run; `stop`: others in their place that end it as soon as the command
# line has been accepted; `device`: whether the run needs one.
COMMANDS = {
    "quadtile tiles": {
        "base": options(dict(INPUT="map.pfm", constant="1", strategy="reference", output="tiles")),
        "stop": {"INPUT": "missing"},
        "options": SUBDIVISION
        | {
            "INPUT": read(),
            "--output": write(),
            "--image": write(),
            "--channel": Option("other"),
            "--memory": number(0, INF, "{},1", constant=None, fragments="map.pfm"),
            "--fragments": read(constant=None, memory="1,1"),
            "--glsl": read(constant=None, strategy="auto"),
            "--glsl-parameters": number(
                -INF, INF, "1,{}", constant=None, glsl="threshold.glsl", strategy="auto"
            ),
        },
    },
    "quadtile mipmap": {
        "base": options(dict(IMAGE="map.pfm", OUTDIR="levels", method="reference")),
        "stop": {"IMAGE": "missing"},
        "options": {
            "IMAGE": read(),
            "OUTDIR": write(kind="folder"),
            "--glsl": read(method="auto"),
            "--levels": whole(0, U32),
            **others("--method", "--reduce", "--edges", "--format", "--channel", "--linear", "--device"),
        },
    },
    "quadtile demo": {"base": {}, "stop": {}, "options": {}},
    "quadtile devices": {"base": {}, "stop": {}, "options": {}},
    "quadtile-bake": {
        "base": options(
            dict(SCENE="scene.obj", output="map.exr", size="8", direct_samples="2", bounces="0")
        )
        | options(dict(sky="1", reference=True, quiet=True)),
        "stop": {"--output": "none/map.exr"},
        "options": {
            "SCENE": read(".obj"),
            "--output": write(),
            "--lit-scene": write(".glb", SCENE="scene.gltf"),
            "--preview": write(preview_size="8"),
            "--atlas": write(),
            "--report": write(),
            "--checkpoint": write(kind="checkpoint", checkpoint_interval="0"),
            "--sky-image": read(),
            "--probes": whole(1, 4096, "1,{},1", probes_out="p.bin"),
            "--probe-box": number(-1e9, 1e9, "{},0,0,1e9,1,1", probes="1,1,1", probes_out="p.bin"),
            "--probe-points": read(probes_out="p.bin"),
            "--probes-out": write(".bin", probe_points="points.txt"),
            "--size": whole(1, 32768, "8x{}"),
            "--preview-size": whole(1, 32768),
            "--texels-per-unit": number(1e-9, 1e9, size=None),
            "--margin": whole(0, 64, unwrap=True),
            "--page": whole(16, 32768, unwrap=True, size=None),
            "--dilate": whole(0, 1024),
            "--sky": number(0, 1e12, "1,{},1"),
            "--sky-rotation": number(-360, 360, sky_image="sky.exr"),
            "--sun": number(0, 1e12, sun_direction="0,-1,0"),
            "--sun-direction": number(-1e9, 1e9, "{},1,1"),
            "--sun-diameter": number(0, 90, sun_direction="0,-1,0"),
            "--light-radius": number(0, 1e6),
            "--samples": whole(1, 2**20),
            "--direct-samples": whole(1, 2**20, direct_samples=None),
            "--sun-samples": whole(1, 2**16),
            "--lamp-samples": whole(0, 2**16),
            "--noise": number(0.01, 100, samples="2"),
            "--bounces": whole(0, 100),
            "--pixels-per-texel": number(0.01, 16),
            "--seed": whole(0, 2**64 - 1),
            "--memory": whole(16, 65536),
            "--threads": whole(1, 1024),
            "--checkpoint-interval": whole(0, 86400),
            "--camera": number(-1e9, 1e9, "{},1,1,0,0,0"),
            "--exposure": number(1e-12, 1e12),
            **others("--unwrap", "--pack", "--denoise", "--quantity", "--half", "--directional"),
            **others("--quality", "--lights", "--light-units", "--reference", "--device", "--resume"),
            **others("--no-checkpoint", "--validation", "--quiet"),
        },
    },
    "quadtile-shadow": {
        "base": options(dict(SCENE="scene.obj", screenshot="picture.png", size="16x16")),
        "stop": {"--screenshot": "none/picture.png"},
        "device": True,
        "options": {
            "SCENE": read(".obj"),
            "--screenshot": write(),
            "--sun-levels": number(1e-9, 1e9),
            "--moving": whole(0, 10000),
            "--size": whole(1, 16384, "{}x8"),
            "--camera": number(-1e9, 1e9, "0,0,0,{},0"),
            **others("--filter", "--tiles", "--validation", "--log"),
        },
    },
    "quadtile-viewer": {
        "base": options(dict(FILE="map.pfm", screenshot="picture.png")),
        "stop": {"--device": "no such device"},
        "device": True,
        "options": {
            "FILE": read(),
            "--screenshot": write(),
            "--settings": read(),
            "--max-resolution": number(0, LARGEST),
            "--find-tiles": whole(1, U32),
            "--max-tiles": whole(1, U32),
            **others("--channel", "--device", "--validation", "--log"),
        },
    },
}

SCENE = """o floor\nv 0 0 0\nv 0 0 1\nv 1 0 1\nvt 0.1 0.1\nvt 0.9 0.1\nvt 0.9 0.9\nf 1/1 2/2 3/3\n"""
SCENE_BYTES = struct.pack("<15f", 0, 0, 0, 0, 0, 1, 1, 0, 1, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9)
GLTF = {
    "asset": {"version": "2.0"},
    "scenes": [{"nodes": [0]}],
    "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 1}}]}],
    "accessors": [
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 0, 1]},
        {"bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 3, "type": "VEC2"},
    ],
    "bufferViews": [{"buffer": 0, "byteLength": 60}],
    "buffers": [
        {"byteLength": 60, "uri": "data:application/octet-stream;base64," + base64.b64encode(SCENE_BYTES).decode()}
    ],
}
GLSL = "float threshold(uint level, uvec2 position, uint layer) { return 1.0; }\n"

PROGRAMS = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[1:]}
failures = []


class Sandbox:
    """A folder with a file of each kind, in which a program runs."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="quadtile-options-")
        os.chmod(self.path, 0o755)
        self.add("points.txt", b"0 0 0\n")
        self.add("map.pfm", b"Pf\n8 8\n-1.0\n" + struct.pack("<64f", *range(64)))
        self.add("scene.obj", SCENE.encode())
        self.add("scene.gltf", json.dumps(GLTF).encode())
        self.add("threshold.glsl", GLSL.encode())
        return self

    def __exit__(self, *_):
        os.chmod(self.path, 0o755)
        shutil.rmtree(self.path)

    def __call__(self, name):
        return os.path.join(self.path, name)

    def add(self, name, content):
        with open(self(name), "wb") as file:
            file.write(content)

    def snapshot(self):
        """Of all there is: what kind of file, which one, and its content."""
        entries = {}
        for folder, folders, files in os.walk(self.path):
            for name in folders + files:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                content = None
                if stat.S_ISREG(status.st_mode) and status.st_mode & 0o400:
                    with open(path, "rb") as file:
                        content = file.read()
                entries[os.path.relpath(path, self.path)] = (
                    stat.S_IFMT(status.st_mode),
                    status.st_ino,
                    content,
                )
        return entries


def command_line(name, values):
    program, *command = name.split()
    arguments = [PROGRAMS[program], *command]
    arguments += [value for key, value in values.items() if not key.startswith("--") and value]
    for key, value in values.items():
        if key.startswith("--") and value is not None:
            arguments.append(key if value is True else f"{key}={value}")
    return arguments


def start(sandbox, arguments, **how):
    environment = dict(os.environ, HOME=sandbox.path, XDG_CACHE_HOME="/nonexistent")
    return subprocess.Popen(
        arguments,
        cwd=sandbox.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **how,
    )


def run(sandbox, name, values, **how):
    """The exit status and the error, after what holds for each run has been looked at."""
    arguments = command_line(name, values)
    process = start(sandbox, arguments, **how)
    try:
        _, error = process.communicate(timeout=TIME_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        _, error = process.communicate()
        fail(arguments, "does not end")
    lines = error.decode(errors="replace").splitlines()
    marks = [line for line in lines if line.startswith(f"{name.split()[0]}: error: ")]
    if process.returncode not in (0, 1, 2):
        fail(arguments, f"ends with {process.returncode}: {lines}")
    elif process.returncode and len(marks) != 1:
        fail(arguments, f"has no single line that tells the error: {lines}")
    return process.returncode, marks[0] if marks else ""


def fail(arguments, what):
    text = f"{' '.join(arguments)}\n    {what}"
    failures.append(re.sub("x{9,}", "xxx", text))


def expect(condition, name, values, what):
    if not condition:
        fail(command_line(name, values), what)


# ---- Each option is in the table


def options_of_help(text):
    names = re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE)
    positionals = re.search(r"^Positionals:\n((?:  .*\n)*)", text, re.MULTILINE)
    if positionals:
        names += re.findall(r"^  (\w+)", positionals[1], re.MULTILINE)
    return set(names) - {"--help", "--help-all", "--version"}


def check_table():
    for program, path in PROGRAMS.items():
        text = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
        subcommands = re.search(r"^Subcommands:\n((?:  .*\n)*)", text, re.MULTILINE)
        names = [program]
        if subcommands:
            names = [f"{program} {name}" for name in re.findall(r"^  (\w+)", subcommands[1], re.M)]
        for name in names:
            if name not in COMMANDS:
                fail([name], "is a command that the table does not have")
                continue
            command = [path, *name.split()[1:]]
            text = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
            if "--help-all" in text:  # has the options that are rarely needed, too
                text = subprocess.run(
                    [*command, "--help-all"], capture_output=True, text=True, check=True
                ).stdout
            difference = options_of_help(text) ^ set(COMMANDS[name]["options"])
            if difference:
                fail([name], f"the table and --help differ in {sorted(difference)}")


# ---- Numbers


def float_of(text):
    """As a 32-bit float; None: it is none."""
    try:
        value = struct.unpack("<f", struct.pack("<f", float(text)))[0]
    except (ValueError, OverflowError):
        return None
    beyond = value == 0 and re.search("[1-9].*e", text) or math.isinf(value) and "e" in text
    return None if beyond else value


def is_accepted(option, text):
    if text in option.takes:
        return True
    if option.kind == "whole":
        return text.isdecimal() and option.low <= int(text) <= option.high
    value = float_of(text)
    low, high = float_of(repr(option.low)), float_of(repr(option.high))
    return value is not None and low <= value <= high


# One parser reads the numbers of all options, so each option has the next one of these.
ODD = itertools.cycle(["-nan", "-inf", "1e39", "1e400", "-3e38", "3e38", "1e-400", "1e-45"])
NONE = itertools.cycle(["x", "1x", "1.5", "99999999999999999999"])


def numbers(option):
    texts = ["nan", "inf", "-1", "0", next(ODD), next(NONE)]
    if option.kind == "whole":
        return texts + [str(option.low), str(option.high), str(option.high + 1)]
    bounds = [option.low, option.high, option.low - 0.001 * (1 + abs(option.low))]
    bounds.append(option.high + 0.001 * (1 + abs(option.high)))
    return texts + [repr(float(bound)) for bound in bounds]


def check_number(name, key, text):
    command = COMMANDS[name]
    option = command["options"][key]
    values = command["base"] | option.more | command["stop"] | {key: option.form.format(text)}
    with Sandbox() as sandbox:
        before = sandbox.snapshot()
        status, error = run(sandbox, name, values)
        expect(sandbox.snapshot() == before, name, values, "changes files")
    if is_accepted(option, text):
        expect(status == 1, name, values, f"ends with {status}: {error}")
        return
    expect(status == 2, name, values, f"is accepted: {status} {error}")
    named = key in error or "ShadowOptions::" in error
    expect(named and len(error) < 400, name, values, f"is not told well: {error}")


# ---- Files that several arguments name


def check_pair(name, first, second, alias, exists):
    command = COMMANDS[name]
    one, other = command["options"][first], command["options"][second]
    ending = one.ending or other.ending
    with Sandbox() as sandbox:
        target, linked = sandbox("shared" + ending), sandbox("alias" + ending)
        if exists:
            sandbox.add("shared" + ending, b"precious")
        paths = {
            "same": "shared" + ending,
            "dotted": "./shared" + ending,
            "absolute": target,
            "symbolic": linked,
            "hard": linked,
        }
        if alias == "symbolic":
            os.symlink("shared" + ending, linked)
        elif alias == "hard":
            os.link(target, linked)
        values = command["base"] | one.more | other.more
        values |= {first: "shared" + ending, second: paths[alias]}
        before = sandbox.snapshot()
        status, error = run(sandbox, name, values)
        expect(status == 2, name, values, f"ends with {status}: {error}")
        told = first in error and second in error
        expect(told, name, values, f"does not name both arguments: {error}")
        expect(sandbox.snapshot() == before, name, values, "changes files")


# How the second spells the file, and whether it is there: each pair of arguments has the next one.
ALIASES = [("same", True), ("dotted", False), ("absolute", True), ("symbolic", False), ("hard", True)]
ALIASES += [("same", False), ("dotted", True), ("absolute", False), ("symbolic", True)]


def pairs():
    aliases = itertools.cycle(ALIASES)
    for name, command in COMMANDS.items():
        paths = [key for key, option in command["options"].items() if option.is_path]
        for first, second in itertools.combinations(paths, 2):
            if any(command["options"][key].is_written for key in (first, second)):
                for alias, exists in itertools.islice(aliases, 2):
                    yield check_pair, name, first, second, alias, exists


# ---- Files of odd kinds

# What a run may end with that reads, writes, writes into a folder, or writes a checkpoint.
PLACES = {
    "folder": {"read": 1, "write": 1, "folder": 0, "checkpoint": 1},
    "pipe": {"read": 1, "write": 0, "folder": 1, "checkpoint": 0},
    "device": {"read": 1, "write": 0, "folder": 1, "checkpoint": 0},
    "missing": {"read": 1, "write": 1, "folder": 0, "checkpoint": 1},
    "full": {"write": 1, "folder": 1, "checkpoint": 1},
    "forbidden": {"read": 1, "write": 1, "folder": 1, "checkpoint": 1},
    "long": {"read": 1, "write": 0, "folder": 0, "checkpoint": 0},
    "too long": {"read": 1, "write": 1, "folder": 1, "checkpoint": 1},
    "other": {"read": 1, "write": 0, "folder": 1, "checkpoint": 1},
    "link": {"read": 1, "write": 0, "folder": 1, "checkpoint": 1},
}


def make_place(sandbox, place, option):
    """What is given for the option."""
    path = sandbox("place" + option.ending)
    if place == "folder":
        os.mkdir(path)
    elif place == "pipe":
        os.mkfifo(path)
    elif place == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null, which stays
            open(path, "wb").close()
        except OSError:
            return "/dev/null" if os.geteuid() else None
    elif place == "missing":
        return sandbox("none/place" + option.ending)
    elif place == "full":
        os.symlink("/dev/full", path)
    elif place in ("long", "too long"):
        length = 255 if place == "long" else 256
        return sandbox("x" * (length - len(option.ending)) + option.ending)
    else:
        sandbox.add("other" if place == "link" else os.path.basename(path), b"other")
        if place == "link":
            os.symlink("other", path)
        if place == "forbidden":
            os.chmod(path, 0)
    return path


def check_place(name, key, place):
    command = COMMANDS[name]
    option = command["options"][key]
    with Sandbox() as sandbox:
        path = make_place(sandbox, place, option)
        if path is None:
            return
        values = command["base"] | option.more | {key: path}
        how = {}
        if place == "forbidden" and os.geteuid() == 0:
            how = {"user": NOBODY, "group": NOBODY}
        elif place == "forbidden":
            os.chmod(sandbox.path, 0o555)
        reader = None
        if place == "pipe":  # somebody at the other end
            action = f"exec cat 0<>'{path}'" if option.is_written else f": > '{path}'"
            reader = subprocess.Popen(["sh", "-c", action], stdout=subprocess.DEVNULL)
        before = sandbox.snapshot()
        try:
            status, error = run(sandbox, name, values, **how)
        except PermissionError:  # another user has no way to the program
            return
        finally:
            if reader:
                reader.kill()
                reader.wait()
        after = sandbox.snapshot()
        expect(status == PLACES[place][option.kind], name, values, f"ends with {status}: {error}")
        replaced = None if status else os.path.relpath(os.path.realpath(path), sandbox.path)
        for entry in before:
            kept = before[entry] == after.get(entry)
            expect(kept or entry == replaced, name, values, f"does not leave {entry} as it was")
        # An error that comes with the last of the data comes behind other results.
        for entry in set(after) - set(before):
            is_result = (not status or place == "full") and any(
                f"{output}/".startswith(f"{entry}/") or f"{entry}/".startswith(f"{output}/")
                for output in relative_paths(sandbox, command["options"], values)
            )
            expect(is_result, name, values, f"leaves {entry}")


def relative_paths(sandbox, known, values):
    for key, option in known.items():
        if option.is_written and values.get(key):
            yield os.path.relpath(sandbox(values[key]), sandbox.path)


# ---- Signals


def check_signal(name, pipe, number):
    """While the program waits for the reader of a pipe, its first output is begun."""
    command = COMMANDS[name]
    others = dict.fromkeys(("--image", "--report"), "result")
    values = command["base"] | others | {pipe: "pipe"}
    values = {key: values[key] for key in values if key in command["options"]}
    with Sandbox() as sandbox:
        os.mkfifo(sandbox("pipe"))
        before = sandbox.snapshot()
        process = start(sandbox, command_line(name, values))
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        while process.poll() is None and not writes_into(process, sandbox):
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
        expect(process.returncode == -number, name, values, f"ends with {process.returncode}")
        left = set(sandbox.snapshot()) ^ set(before)
        expect(not left, name, values, f"leaves {left} behind signal {number}")


def writes_into(process, sandbox):
    process_folder = f"/proc/{process.pid}"
    try:
        for descriptor in os.listdir(f"{process_folder}/fd"):
            path = os.readlink(f"{process_folder}/fd/{descriptor}")
            with open(f"{process_folder}/fdinfo/{descriptor}", encoding="ascii") as file:
                flags = int(file.read().split()[3], 8)
            if path.startswith(sandbox.path + "/") and flags & os.O_ACCMODE:
                return True
    except OSError:  # it is closed meanwhile
        pass
    return False


def checks(has_device):
    for name, command in COMMANDS.items():
        for key, option in command["options"].items():
            if option.kind in ("number", "whole"):
                for text in numbers(option):
                    yield check_number, name, key, text
            if option.is_path and (has_device or not command.get("device")):
                for place, endings in PLACES.items():
                    if option.kind in endings:
                        yield check_place, name, key, place
    yield from pairs()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        yield check_signal, "quadtile tiles", "--output", number


def main():
    check_table()
    devices = subprocess.run([PROGRAMS["quadtile"], "devices"], capture_output=True, check=False)
    chosen = [c for c in checks(devices.returncode == 0) if c[1].split()[0] in PROGRAMS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in [pool.submit(check, *arguments) for check, *arguments in chosen]:
            result.result()
    print(*failures, sep="\n")
    print(f"{len(chosen)} checks, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
