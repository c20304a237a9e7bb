"""Subdivision on the CPU, by plain loops without Vulkan: the twin of the kernels."""

from typing import Any, Optional, Sequence

from . import _native
from ._subdivide import Map, Memory
from ._tiles import TileList, tile_list

__all__ = ["subdivide"]


def subdivide(
    map: Map,
    *,
    max_resolution: Optional[float] = None,
    constant: Optional[float] = None,
    per_level: Optional[Sequence[float]] = None,
    memory: Optional[Memory] = None,
    threshold_map: Optional[Sequence[Any]] = None,
    max_tiles: Optional[int] = None,
    balance: str = "none",
) -> TileList:
    """Returns the tiles of a map in canonical order, bit-identical to those of `quadtile.subdivide`.

    Arguments, result and errors are those of `quadtile.subdivide`; there is no device, and GLSL needs one.
    """
    return tile_list(
        _native.subdivide(
            map,
            (max_resolution, constant, per_level, memory, threshold_map, None, ()),
            ("canonical", max_tiles, balance),
            "reference",
            "",
        )
    )
