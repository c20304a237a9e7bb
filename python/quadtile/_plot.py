"""Pictures of maps and tiles."""

import operator
from typing import Any

import numpy

from ._tiles import TileList

# Colours of the viewer and the command line.
_NEGATIVE, _INFINITE, _NAN = (74, 88, 120), (255, 255, 255), (0, 220, 70)
_OUTLINE = (120 / 255, 235 / 255, 1.0)


def _colours(map: numpy.ndarray, colour_map: Any) -> numpy.ndarray:
    """Returns RGB of importance: a logarithmic scale between two percentiles, 0 black."""
    values = map.astype(numpy.float32)
    on_scale = (values > 0) & numpy.isfinite(values)
    logarithm = numpy.log2(values, where=on_scale, out=numpy.zeros_like(values))
    low, high = numpy.percentile(logarithm[on_scale], [0.5, 99.5]) if on_scale.any() else (0.0, 1.0)
    margin = max(0.0, 2.0 - (high - low)) / 2  # a map of nearly one value has nearly one colour
    position = (logarithm - low + margin) / (high - low + 2 * margin)
    # Without the darkest part, so that low importance differs from none.
    colours = colour_map(0.1 + 0.9 * position.clip(0, 1), bytes=True)[..., :3]
    for where, colour in (
        (values == 0, (0, 0, 0)),
        (values < 0, _NEGATIVE),
        (numpy.isposinf(values), _INFINITE),
        (numpy.isnan(values), _NAN),
    ):
        colours[where] = colour
    return colours


def plot(map: Any, tiles: TileList, *, layer: int = 0, axes: Any = None) -> Any:
    """Draws a map in colours, and the outlines of its tiles, as the viewer does.

    Args:
        map: array of (height, width) or (layers, height, width).
        tiles: the TileList of the map.
        layer: number of the layer to draw.
        axes: Matplotlib axes to draw into. Default: those of a new figure of matplotlib.pyplot.

    Returns:
        The matplotlib.figure.Figure.

    Raises:
        ImportError: Matplotlib is not installed (Debian: python3-matplotlib).
        ValueError: the tiles are of a map of another size, or the map has no such layer.
    """
    try:
        import matplotlib
        from matplotlib.collections import LineCollection
    except ImportError as error:
        raise ImportError(
            f"quadtile.plot needs Matplotlib (Debian: python3-matplotlib; pip install matplotlib): {error}"
        ) from error
    if not isinstance(tiles, TileList):
        raise TypeError(f"tiles must be a TileList, not {type(tiles).__name__}")
    try:
        layer = operator.index(layer)
    except TypeError:
        raise TypeError(f"layer must be an integer, not {type(layer).__name__}") from None
    map = numpy.asarray(map)
    if map.dtype.kind not in "fiub":
        raise TypeError(f"map must be an array of numbers, not of {map.dtype}")
    if map.shape[-2:] != (tiles.height, tiles.width) or map.ndim not in (2, 3):
        raise ValueError(
            f"the tiles are of a map of {tiles.height} x {tiles.width} texels, but the map's shape is {map.shape}"
        )
    if axes is not None and not hasattr(axes, "imshow"):
        raise TypeError(f"axes must be Matplotlib's Axes, not {type(axes).__name__}")
    if not 0 <= layer < tiles.layers:
        raise ValueError(f"there is no layer {layer}: layers are numbered from 0, and the map has {tiles.layers}")
    if axes is None:
        from matplotlib import pyplot

        height = max(2.0, min(16.0, 8 * tiles.height / tiles.width)) + 0.5
        axes = pyplot.subplots(layout="constrained", figsize=(8, height))[1]
    axes.imshow(
        _colours(map if map.ndim == 2 else map[layer], matplotlib.colormaps["inferno"]),
        extent=(0, tiles.width, tiles.height, 0),
        interpolation="nearest",
    )
    left, top, right, bottom = tiles[tiles["layer"] == layer].rectangles().T
    corners = (left, top), (right, top), (right, bottom), (left, bottom), (left, top)
    outlines = numpy.stack([numpy.stack(corner, -1) for corner in corners], axis=1)
    # Outlines of tiles of a few pixels are fainter, because they would hide the map.
    pixels = axes.get_window_extent().width / tiles.width * (right - left)
    colours = numpy.empty((len(outlines), 4))
    colours[:, :3] = _OUTLINE
    colours[:, 3] = ((pixels - 1) / 11).clip(0, 0.75)
    axes.add_collection(LineCollection(outlines, colors=colours, linewidths=0.8))
    axes.set(xlim=(0, tiles.width), ylim=(tiles.height, 0), title=f"{len(outlines)} tiles")
    return axes.figure
