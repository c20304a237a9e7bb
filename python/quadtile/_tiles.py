"""Tile lists as NumPy arrays."""

from typing import Any, NamedTuple, Optional, Tuple

import numpy

from . import _native


class Stage(NamedTuple):
    """A timed stage of a run."""

    name: str
    milliseconds: float
    on_gpu: bool  # measured by GPU timestamps, else by the host's clock


class _Run(NamedTuple):
    width: int
    height: int
    layers: int
    levels: int
    order: str
    balance: str
    threshold_factor: float
    nan_texels: int
    strategy: str
    strategy_reason: str
    device: str
    buffer_repeats: int
    stages: Tuple[Tuple[str, float, bool], ...]


def _of_run(name: str, doc: str) -> Any:
    return property(lambda tiles: tiles._get(name), doc=doc)


class TileList(numpy.ndarray):
    """The tiles of a map: a structured array of one axis, with attributes of the run that made it.

    Fields, in 16 bytes without padding (`quadtile.tile_dtype`):

        x, y         uint16   column and row of the tile, in units of 2**level texels; row 0 is at the top
        level        uint8    0 for a texel; the tile covers 2**level x 2**level texels, cut at the map's edge
        flags        uint8    TILE_CLAMPED, and in balanced lists TILE_COARSER_LEFT, _RIGHT, _TOP, _BOTTOM
        layer        uint16   of the map
            importance   float32  the maximum of the tile's texels; never NaN
            threshold    float32  the value that the importance was compared with

    A field (`tiles["level"]`) is a plain array. A part of the list (`tiles[tiles["layer"] == 0]`) is a TileList with
    the attributes of its run. Copies and pickles keep them too.
    """

    _run: Optional[_Run] = None

    width: int = _of_run("width", "Texels of the map from left to right.")
    height: int = _of_run("height", "Texels of the map from top to bottom.")
    layers: int = _of_run("layers", "Layers of the map.")
    levels: int = _of_run("levels", "Levels of the quadtree, from 0 (texels) to the root's.")
    order: str = _of_run("order", '"canonical" or "any".')
    balance: str = _of_run("balance", '"none", "edges" or "corners".')
    threshold_factor: float = _of_run("threshold_factor", "By which max_tiles scaled the threshold; else 1.")
    nan_texels: int = _of_run("nan_texels", "Texels that were NaN and counted as +infinity.")
    strategy: str = _of_run("strategy", 'That ran: "reference", "subtree" or "fused".')
    strategy_reason: str = _of_run("strategy_reason", "Why it was chosen; empty if the caller did.")
    device: str = _of_run("device", "Name of the device; empty for the reference.")
    buffer_repeats: int = _of_run("buffer_repeats", "Runs repeated because the buffer of tiles was full.")

    @property
    def stages(self) -> Tuple[Stage, ...]:
        """Returns the stages of the run with their times, in the order of execution."""
        return tuple(Stage._make(stage) for stage in self._get("stages"))

    def _get(self, name: str) -> Any:
        if self._run is None:
            raise AttributeError(f"this array has no {name}: it is neither the result of a subdivision nor a part of one")
        return getattr(self._run, name)

    def __array_finalize__(self, source: Any) -> None:
        self._run = getattr(source, "_run", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array.dtype != _native.tile_dtype:
            return array[()]  # results of computations are plain arrays, not tile lists
        part = array.view(TileList)  # of squeeze, for example
        part._run = self._run
        return part

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, TileList) and part.dtype != _native.tile_dtype:
            return part.view(numpy.ndarray)
        return part

    def __reduce__(self) -> Any:
        reduced: Any = super().__reduce__()
        return reduced[0], reduced[1], (reduced[2], self._run)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self._run = state[1]

    def tiles_per_level(self) -> numpy.ndarray:
        """Returns the numbers of tiles of the levels 0 to levels - 1: an array of int64."""
        return numpy.bincount(self["level"], minlength=self.levels)

    def rectangles(self) -> numpy.ndarray:
        """Returns the texels that each tile covers: an array of int32 of (tiles, 4).

        Columns are left, top, right and bottom; right and bottom are exclusive, and cut at the map's edge.
        """
        level = self["level"].astype(numpy.int32)
        left, top = self["x"].astype(numpy.int32) << level, self["y"].astype(numpy.int32) << level
        right = numpy.minimum(left + (1 << level), self.width)
        bottom = numpy.minimum(top + (1 << level), self.height)
        return numpy.stack([left, top, right, bottom], axis=-1)


TileList.__module__ = Stage.__module__ = "quadtile"


def tile_list(made: Tuple[Any, ...]) -> TileList:
    """Returns the native module's result as a TileList."""
    array, run = made
    tiles = array.view(TileList)
    tiles._run = _Run._make(run)
    return tiles
