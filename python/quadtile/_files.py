"""Maps and images from files. Their native module is loaded at first use, because it needs OpenEXR."""

import atexit
import functools
import os
from typing import Any, Union

import numpy


@functools.lru_cache(maxsize=None)
def images() -> Any:
    """Returns the native module."""
    try:
        from . import _images
    except ImportError as error:
        raise ImportError(
            "this installation of quadtile cannot read image files: it needs OpenEXR and libspng (Debian: "
            f"libopenexr-3-1-30, libspng0), and to have been built with them: {error}"
        ) from error
    atexit.register(_images.end_calls)
    return _images


Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def file_name(path: Path) -> bytes:
    """Returns a path as the system has it; a name that is not UTF-8 has surrogates in Python."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"a path cannot have the character NUL: {path!r}")
    return name


def load_map(path: Path, channel: str = "") -> numpy.ndarray:
    """Loads the importance map in an OpenEXR, PFM or PNG file of 8 or 16 bits.

    Args:
        path: the file; its first bytes give its format.
        channel: name of a channel, or of an OpenEXR layer, which stands for its luminance. Default: Y, else the
            luminance of R, G and B, else the first channel.

    Returns:
        An array of (height, width) in the file's type: float32, float16, uint16 or uint8. Integers stand for 0 to 1; no
        transfer function is removed.

    Raises:
        ArgumentError: with the file, its fault and the remedy.
        TypeError: `path` is no path, or `channel` no text.
        ImportError: this installation cannot read files.
    """
    return images().load_map(file_name(path), channel)
