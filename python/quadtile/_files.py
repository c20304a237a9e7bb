"""Maps and images from files. The module that reads them is loaded when it is needed: it needs OpenEXR."""

import atexit
import functools
import os
from typing import Any, Union

import numpy


@functools.lru_cache(maxsize=None)
def images() -> Any:
    """The native module."""
    try:
        from . import _images
    except ImportError as error:
        raise ImportError(
            "this installation of quadtile cannot read image files: it needs OpenEXR and libspng (Debian: "
            f"libopenexr-3-1-30, libspng0), and to have been built with them: {error}"
        ) from error
    atexit.register(_images.end_calls)
    return _images


def load_map(path: "Union[str, os.PathLike[str]]", channel: str = "") -> numpy.ndarray:
    """The importance map in an OpenEXR, PFM or PNG file of 8 or 16 bits.

    Args:
        path: of the file; its first bytes say which format it has.
        channel: name of the channel, or of an OpenEXR layer, whose luminance is taken. Default: Y, else the luminance
            of R, G and B, else the first one.

    Returns:
        An array of (height, width): float32, or as the file has it float16, uint16 or uint8. Integers stand for 0 to 1;
        no transfer function is removed.

    Raises:
        ArgumentError: with the file, what is wrong with it and what to do.
        ImportError: this installation cannot read files.
    """
    return images().load_map(path, channel)
