"""What holds for every option of every program, whatever it is given.

Arguments: the programs. Their options come from --help, and their ranges from the programs' own
errors; only files are in the table below.

- A number that is NaN, infinite without a reason, or out of the range that the error tells is a
  usage error of one line (exit status 2); one that is in range is not.
- Help fits on two screens, and ends with the exit statuses.
- An unknown option, one that is given twice or without its value, an unknown choice and an empty file name are usage
  errors that name it; the baker and the shadow example take an empty name for none.
- A file that is written and that another argument names, too, however either is spelled, is a usage
  error; no file changes. The baker may replace the light that it reuses.
- Folders, links, full disks, names that are too long and missing permissions are errors of one line,
  or work; what was there stays what it was, and nothing is left behind.
"""

import itertools
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

TIME_LIMIT_SECONDS = 120
NOBODY = 65534


@dataclass
class Path:
    """`more`: arguments that the option needs, or None for those that it replaces."""

    kind: str  # read, write, folder, checkpoint
    ending: str = ""  # of file names
    more: dict = field(default_factory=dict)

    @property
    def is_written(self):
        return self.kind != "read"


def path(kind, ending="", **more):
    return Path(kind, ending, options(more))


def options(names):
    """max_tiles=3 as {"--max-tiles": 3}; names of positional arguments stay as they are."""
    return {
        name if name.isupper() else "--" + name.replace("_", "-"): value
        for name, value in names.items()
    }


# `base`: arguments of a quick run; `stop`: others in their place that end it as soon as the command
# line has been accepted; `device`: whether the run needs one.
COMMANDS = {
    "quadtile tiles": {
        "base": options(dict(INPUT="map.pfm", constant="1", strategy="reference", output="tiles")),
        "stop": {"INPUT": "missing"},
        "paths": {
            "INPUT": path("read"),
            "--output": path("write"),
            "--image": path("write"),
            "--trace": path("write"),
            "--fragments": path("read", constant=None, memory="1,1"),
            "--glsl": path("read", constant=None, strategy="auto"),
        },
    },
    "quadtile mipmap": {
        "base": options(dict(IMAGE="map.pfm", OUTDIR="levels", method="reference")),
        "stop": {"IMAGE": "missing"},
        "paths": {
            "IMAGE": path("read"),
            "OUTDIR": path("folder"),
            "--glsl": path("read", method="auto"),
        },
    },
    "quadtile-bake": {
        "base": options(
            dict(SCENE="scene.obj", output="map.exr", size="8", direct_samples="2", bounces="0")
        )
        | options(dict(sky="1", reference=True, quiet=True)),
        "stop": {"--output": "none/map.exr"},
        "paths": {
            "SCENE": path("read", ".obj"),
            "--output": path("write"),
            "--reuse": path("read"),
            "--lit-scene": path("write", ".glb", SCENE="scene.gltf"),
            "--preview": path("write", preview_size="8"),
            "--atlas": path("write"),
            "--report": path("write"),
            "--checkpoint": path("checkpoint", checkpoint_interval="0"),
            "--sky-image": path("read"),
            "--probe-points": path("read", probes_out="p.bin"),
            "--probes-out": path("write", ".bin", probe_points="points.txt"),
        },
    },
    "quadtile-shadow": {
        "base": options(dict(SCENE="scene.obj", screenshot="picture.png", size="16x16")),
        "stop": {"--screenshot": "none/picture.png"},
        "device": True,
        "paths": {"SCENE": path("read", ".obj"), "--screenshot": path("write")},
    },
    "quadtile-viewer": {
        "base": options(dict(FILE="map.pfm", screenshot="picture.png")),
        "stop": {"--device": "no such device"},
        "device": True,
        "paths": {"FILE": path("read"), "--screenshot": path("write"), "--settings": path("read")},
    },
}

SCENE = """o floor\nv 0 0 0\nv 0 0 1\nv 1 0 1\nvt 0.1 0.1\nvt 0.9 0.1\nvt 0.9 0.9\nf 1/1 2/2 3/3\n"""
GLTF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../threejs/squares.gltf")
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
        shutil.copy(GLTF, self("scene.gltf"))
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
                kind = stat.S_IFMT(status.st_mode)
                entries[os.path.relpath(path, self.path)] = (kind, status.st_ino, content)
        return entries


def command_line(name, values):
    program, *command = name.split()
    arguments = [PROGRAMS[program], *command]
    arguments += [value for key, value in values.items() if key.isupper() and value is not None]
    for key, value in values.items():
        if key.startswith("--") and value is not None:
            arguments.append(key if value is True else f"{key}={value}")
    return arguments + values.get("", [])


def run(sandbox, name, values, **how):
    """The exit status and the error, after what holds for each run has been looked at."""
    arguments = command_line(name, values)
    environment = dict(os.environ, HOME=sandbox.path, XDG_CACHE_HOME="/nonexistent")
    how |= {"cwd": sandbox.path, "env": environment, "stdin": subprocess.DEVNULL, "capture_output": True}
    try:
        process = subprocess.run(arguments, timeout=TIME_LIMIT_SECONDS, check=False, **how)
    except subprocess.TimeoutExpired:
        fail(arguments, "does not end")
        return None, ""
    lines = process.stderr.decode(errors="replace").splitlines()
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


# ---- Options and their numbers, as the programs tell them


def known_options(name):
    """The options of --help, each with the kind of value that it takes; "": none, it is a flag."""
    arguments = command_line(name, {})
    for help in ("--help", "--help-all"):  # the latter has the options that are rarely needed, too
        text = subprocess.run([*arguments, help], capture_output=True, text=True, check=False).stdout
        if "--help-all" not in text:
            break
    return dict(re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: (\S+))?", text, re.MULTILINE))


def check_help(name):
    """Help that is more than two screens, that terminals break, or that fails; and the version."""
    for help, most_lines in (("--help", 90 if name == "quadtile-bake" else 60), ("--help-all", 140)):
        result = subprocess.run([*command_line(name, {}), help], capture_output=True, text=True, check=False)
        lines = result.stdout.splitlines()
        right = len(lines) <= most_lines and max(map(len, lines), default=0) <= 100 and not result.returncode
        right = right and f"Usage: {name}" in result.stdout and not result.stderr
        right = right and lines[-1].startswith("Exit status: ") and not re.search("without it|\n\n\n", result.stdout)
        expect(right, name, {help: True}, result.stdout + result.stderr)
        if "--help-all" not in result.stdout:
            break
    program = name.split()[0]
    version = subprocess.run([PROGRAMS[program], "--version"], capture_output=True, text=True, check=False).stdout
    expect(re.fullmatch(program + r" \d+\.\d+\.\d+\n", version), program, {"--version": True}, version)


def check_words(name):
    """Words that are no command line; and each option that takes a file is in the table."""
    command, known = COMMANDS[name], known_options(name)
    missing = {key for key, value in known.items() if value in ("FILE", "DIRECTORY")} - set(command["paths"])
    if missing:
        fail([name], f"the table has no {sorted(missing)}")
    with Sandbox() as sandbox:
        before = sandbox.snapshot()

        def expect_refused(more, *texts):
            values = command["base"] | command["stop"] | more
            status, error = run(sandbox, name, values)
            right = status == 2 and all(text in error for text in (*texts, f"see '{name} --help'"))
            expect(right, name, values, f"ends with {status}: {error}")

        for word in ("--nonsense", "-?", "--Help", "--device-name"):
            expect_refused({"": [word, "1"]}, f"unknown option {word}")
        for key, form in known.items():
            if form:
                value = command["base"].get(key) or "1"
                expect_refused({key: None, "": [f"{key}={value}"] * 2}, key)
                expect_refused({key: None, "": [key]}, f"{key} needs a value")
        for key, path in command["paths"].items() if name.split()[0] in ("quadtile", "quadtile-viewer") else ():
            empty = {key: ""} if key.isupper() else {key: None, "": [key, ""]}
            expect_refused(path.more | empty, f"{key} needs a file name")
        expect(sandbox.snapshot() == before, name, {}, "changes files")


RANGE = re.compile(r"' is not a (?:finite )?(whole )?number(?: from (\S+) to ([^\s;]+)| of (\S+) or more)?")


def check_numbers(name, key, form):
    """What the option says that it takes is what it takes."""
    command = COMMANDS[name]
    values = command["base"] | command["stop"]
    # A value for each name of the form: R,G,B.
    rest = ",1" * form.count(",") if "..." not in form else ""
    with Sandbox() as sandbox:
        before = sandbox.snapshot()

        def error_for(text):
            return run(sandbox, name, values | {key: text + rest})

        status, error = error_for("x")
        is_number = RANGE.search(error)
        if not is_number:  # a choice, a name, a text, or a form of its own
            expect(status in (1, 2), name, values | {key: "x"}, "is accepted")
            if "' is none of " in error:
                choices = error.split(" none of ")[1].split(";")[0].split(", ")
                for text in (choices[0].upper(), choices[0] + " ", "0"):
                    told = f"{key}: '{text}' is none of "
                    expect(told in error_for(text)[1], name, values | {key: text}, "is accepted")
            return
        is_whole, low, high, lowest = (RANGE.search(error_for("-3e38")[1]) or is_number).groups()
        low, high = low or lowest or "-3e38", high or "3e38"
        step, parse = (1, int) if is_whole else (0.001, float)
        texts = {low: True, high: True, "nan": False, "-nan": False, "1x": False, "1e39": False}
        texts |= {"1.5": False, "-1": False} if is_whole else {"-inf": low == "-3e38" and None}
        if parse(high) < 3e38:
            texts[str(parse(high) + step * (1 if is_whole else 1 + abs(parse(high))))] = False
        if parse(low) > -3e38:
            texts[str(parse(low) - step * (1 if is_whole else 1 + abs(parse(low))))] = False
        for text, is_accepted in texts.items():
            status, error = error_for(text)
            is_named = key in error and f"'{text}'" in error and len(error) < 400
            right = status == 2 and is_named
            if is_accepted is not False:  # None: by the option
                right = is_accepted is None or f"'{text}' is" not in error
            expect(right, name, values | {key: text}, f"ends with {status}: {error}")
        expect(sandbox.snapshot() == before, name, values, f"changes files by {key}")


# ---- Files that several arguments name


def check_pair(name, first, second, alias, exists):
    command = COMMANDS[name]
    one, other = command["paths"][first], command["paths"][second]
    ending = one.ending or other.ending
    with Sandbox() as sandbox:
        target, linked = sandbox("shared" + ending), sandbox("alias" + ending)
        if exists:
            sandbox.add("shared" + ending, b"precious")
        paths = {"same": "shared" + ending, "dotted": "./shared" + ending, "absolute": target}
        if alias == "symbolic":
            os.symlink("shared" + ending, linked)
        elif alias == "hard":
            os.link(target, linked)
        values = command["base"] | one.more | other.more
        values |= {first: "shared" + ending, second: paths.get(alias, linked)}
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
        for first, second in itertools.combinations(command["paths"], 2):
            written = any(command["paths"][key].is_written for key in (first, second))
            if written and (first, second) != ("--output", "--reuse"):
                for alias, exists in itertools.islice(aliases, 2):
                    yield check_pair, name, first, second, alias, exists


# ---- Files of odd kinds

# What a run ends with that reads, writes, writes into a folder, or writes a checkpoint.
PLACES = {
    "folder": {"read": 1, "write": 1, "folder": 0, "checkpoint": 1},
    "missing": {"read": 1, "write": 1, "folder": 0, "checkpoint": 1},
    "full": {"write": 1, "folder": 1, "checkpoint": 1},
    "forbidden": {"read": 1, "write": 1, "folder": 1, "checkpoint": 1},
    "too long": {"read": 1, "write": 1, "folder": 1, "checkpoint": 1},
    "link": {"read": 1, "write": 0, "folder": 1, "checkpoint": 1},
}


def make_place(sandbox, place, option):
    """What is given for the option."""
    given = sandbox("place" + option.ending)
    if place == "folder":
        os.mkdir(given)
    elif place == "missing":
        return sandbox("none/place" + option.ending)
    elif place == "full":
        os.symlink("/dev/full", given)
    elif place == "too long":
        return sandbox("x" * (256 - len(option.ending)) + option.ending)
    else:
        sandbox.add("other" if place == "link" else os.path.basename(given), b"other")
        if place == "link":
            os.symlink("other", given)
        else:
            os.chmod(given, 0)
    return given


def check_place(name, key, place):
    command = COMMANDS[name]
    option = command["paths"][key]
    with Sandbox() as sandbox:
        given = make_place(sandbox, place, option)
        values = command["base"] | option.more | {key: given}
        how = {}
        if place == "forbidden" and os.geteuid() == 0:
            how = {"user": NOBODY, "group": NOBODY}
        elif place == "forbidden":
            os.chmod(sandbox.path, 0o555)
        before = sandbox.snapshot()
        try:
            status, error = run(sandbox, name, values, **how)
        except PermissionError:  # another user has no way to the program
            return
        after = sandbox.snapshot()
        expect(status == PLACES[place][option.kind], name, values, f"ends with {status}: {error}")
        replaced = None if status else os.path.relpath(os.path.realpath(given), sandbox.path)
        for entry in before:
            kept = before[entry] == after.get(entry)
            expect(kept or entry == replaced, name, values, f"does not leave {entry} as it was")
        # An error that comes with the last of the data comes behind other results.
        for entry in set(after) - set(before):
            is_result = (not status or place == "full") and any(
                f"{output}/".startswith(f"{entry}/") or f"{entry}/".startswith(f"{output}/")
                for output in relative_paths(sandbox, command["paths"], values)
            )
            expect(is_result, name, values, f"leaves {entry}")


def relative_paths(sandbox, known, values):
    for key, option in known.items():
        if option.is_written and values.get(key):
            yield os.path.relpath(sandbox(values[key]), sandbox.path)


def checks(programs, has_device):
    for name in (*COMMANDS, "quadtile", "quadtile demo", "quadtile devices"):
        if name.split()[0] in programs:
            yield check_help, name
    for name, command in COMMANDS.items():
        if name.split()[0] not in programs:
            continue
        yield check_words, name
        for key, form in known_options(name).items():
            if form and key not in command["paths"]:
                yield check_numbers, name, key, form
        for key, option in command["paths"].items():
            if has_device or not command.get("device"):
                for place, endings in PLACES.items():
                    if option.kind in endings:
                        yield check_place, name, key, place
    for pair in pairs():
        if pair[1].split()[0] in programs:
            yield pair


def main():
    devices = subprocess.run([PROGRAMS["quadtile"], "devices"], capture_output=True, check=False)
    chosen = list(checks(PROGRAMS, devices.returncode == 0))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in [pool.submit(check, *arguments) for check, *arguments in chosen]:
            result.result()
    print(*failures, sep="\n")
    print(f"{len(chosen)} checks, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
