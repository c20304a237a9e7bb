"""Adaptive tile subdivision on the GPU, with NumPy.

    import numpy, quadtile

    importance = numpy.full((600, 1000), 0.1, numpy.float32)  # pixels needed across a texel
    importance[300, 42] = 50                                  # one busy place
    tiles = quadtile.subdivide(importance, max_resolution=64)
    print(len(tiles), tiles["level"].max(), tiles.device)

subdivide            a map's tiles as a structured array, on the GPU or the CPU
Service              maps from many threads, tiles in Futures
mip_levels           mip levels of an image
load_map             a map from an OpenEXR, PFM or PNG file
devices              the Vulkan devices of this machine
reference.subdivide  the same tiles by plain loops, without Vulkan
plot                 a Matplotlib figure of a map and its tiles
bake                 the lightmap of a scene, by the program quadtile-bake

Failures raise Error, with `code` and `result`. Faults of an argument raise TypeError or ValueError. docs/python.md is
the guide.
"""

import atexit as _atexit

from . import _native, reference
from ._bake import BakeProgress, bake
from ._errors import ArgumentError, Error
from ._files import load_map
from ._plot import plot
from ._service import Service
from ._subdivide import DeviceInfo, devices, mip_levels, subdivide
from ._tiles import Stage, TileList

__all__ = [
    "ArgumentError",
    "BakeProgress",
    "DeviceInfo",
    "Error",
    "Service",
    "Stage",
    "TILE_CLAMPED",
    "TILE_COARSER_BOTTOM",
    "TILE_COARSER_LEFT",
    "TILE_COARSER_RIGHT",
    "TILE_COARSER_TOP",
    "TileList",
    "bake",
    "devices",
    "load_map",
    "mip_levels",
    "plot",
    "reference",
    "subdivide",
    "tile_dtype",
]

__version__ = _native.version
# Flags of tiles. TILE_CLAMPED: a texel whose importance is not below its threshold. TILE_COARSER_*: the neighbour
# across an edge is one level coarser, in balanced lists.
TILE_CLAMPED = _native.TILE_CLAMPED
TILE_COARSER_LEFT = _native.TILE_COARSER_LEFT
TILE_COARSER_RIGHT = _native.TILE_COARSER_RIGHT
TILE_COARSER_TOP = _native.TILE_COARSER_TOP
TILE_COARSER_BOTTOM = _native.TILE_COARSER_BOTTOM
tile_dtype = _native.tile_dtype  # dtype of a TileList

# After this call Python ends threads that return from the library, in the middle of it.
_atexit.register(_native.end_calls)

for _function in (bake, devices, load_map, mip_levels, plot, subdivide):
    _function.__module__ = "quadtile"
