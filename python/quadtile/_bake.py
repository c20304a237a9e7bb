"""The lightmap baker, run as a program.

It is not linked: a scene that makes the driver lose the device, or a crash, ends its process and not the interpreter.
The module needs none of the baker's libraries.
"""

import os
import re
import warnings
from typing import Any, Callable, List, NamedTuple, Optional

import numpy

from ._errors import ArgumentError, Error
from ._files import Path, file_name, images


class BakeProgress(NamedTuple):
    """Progress of a bake."""

    fraction: float  # 0 to 1, of all rays
    stage: str  # "direct light", "bounce 1"
    left: str  # estimated remaining time, such as "2 min 10 s"; empty at the beginning
    noise_percent: Optional[float]  # of the lightmap's mean light so far


BakeProgress.__module__ = "quadtile"

_PROGRESS = re.compile(r"\[[#.]*\] +(\d+) %  (.*?)(?:, ([^,]*) left)?(?:, noise so far (\S+) %)?")


def _program() -> str:
    import shutil  # late, as below: importing the package must be quick

    program = os.environ.get("QUADTILE_BAKE") or shutil.which("quadtile-bake")
    if program is None:
        raise FileNotFoundError(
            "there is no program quadtile-bake on PATH: install the package quadtile-baker, or set the environment "
            "variable QUADTILE_BAKE to its path"
        )
    return program


def _arguments(options: "dict[str, Any]") -> List[str]:
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, (bool, numpy.bool_)):
            arguments += [option] if value else []
        elif isinstance(value, (list, tuple, numpy.ndarray)):
            arguments.append(f"{option}={','.join(str(part) for part in value)}")
        elif isinstance(value, (bytes, os.PathLike)):
            arguments.append(f"{option}={os.fsdecode(value)}")
        elif value is not None:
            arguments.append(f"{option}={value}")
    return arguments


def _failure(status: int, message: str) -> Exception:
    if status < 0:
        return Error(f"quadtile-bake was ended by signal {-status}{': ' if message else ''}{message}", "baker")
    message = message or f"quadtile-bake ended with the status {status}"
    return ArgumentError(message, "invalid_argument") if status == 2 else Error(message, "baker")


def bake(
    scene: Path,
    *,
    output: Optional[Path] = None,
    progress: Optional[Callable[[BakeProgress], None]] = None,
    **options: Any,
) -> numpy.ndarray:
    """Bakes the light of a scene with the program quadtile-bake. Returns the lightmap.

        light = quadtile.bake("room.glb", size=256, quality="draft", sky=(1, 1, 1), progress=print)

    Args:
        scene: a glTF or OBJ file.
        output: an OpenEXR file to keep the lightmap in. Default: none.
        progress: called with a BakeProgress for every tenth of the work, on this thread. Its exceptions end the bake.
        options: those of quadtile-bake, with _ for -: `sun_direction=(0, -1, 0)` is `--sun-direction 0,-1,0`, and
            `unwrap=True` is `--unwrap`. `quadtile-bake --help` lists them.

    Returns:
        An array of float32 of (height, width, 4). R, G and B are light (irradiance, or the `quantity`). A is 1 if the
        texel was baked, 0 if it was filled from its neighbours. With `half=True` the array is of float16.

    Raises:
        FileNotFoundError: there is no quadtile-bake on PATH, nor at the environment variable QUADTILE_BAKE.
        ArgumentError: the program refuses an option.
        Error: the bake failed; its code is "baker", and its message the program's.

    Warnings of the program become UserWarnings.
    """
    import subprocess
    import tempfile

    if "page" in options:
        raise ValueError("quadtile.bake returns one lightmap, but `page` makes several; run the program quadtile-bake instead")
    if output is not None and not os.fsdecode(output).endswith(".exr"):
        raise ValueError(f"output must be an OpenEXR file (.exr), not {output!r}; lit_scene=FILE.glb writes the scene")
    with tempfile.TemporaryDirectory(prefix="quadtile-") as folder:
        light_map = os.fsdecode(output) if output is not None else os.path.join(folder, "light.exr")
        command = [_program(), os.fsdecode(scene), "--output", light_map, *_arguments(options)]
        message = ""
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape"
        ) as child:
            try:
                for line in child.stderr or ():
                    line = line.rstrip("\n")
                    at = _PROGRESS.fullmatch(line)
                    if at is not None:
                        if progress is not None:
                            noise = float(at[4]) if at[4] else None
                            progress(BakeProgress(int(at[1]) / 100, at[2], at[3] or "", noise))
                    elif line.startswith("quadtile-bake: warning: "):
                        warnings.warn(line[len("quadtile-bake: warning: ") :], stacklevel=2)
                    elif line.startswith("quadtile-bake: error: "):
                        message = line[len("quadtile-bake: error: ") :]
            except BaseException:
                child.terminate()
                raise
        if child.returncode != 0:
            raise _failure(child.returncode, message)
        return images().load_image(file_name(light_map))
