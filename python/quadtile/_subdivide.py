"""Functions from maps to tile lists that wait for their result."""

import operator
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _native
from ._tiles import TileList, tile_list

Map = Any  # input of numpy.asarray
Memory = Tuple[float, float, Map]
Device = Union[None, int, str, "DeviceInfo"]


class DeviceInfo(NamedTuple):
    """A Vulkan device of this machine."""

    index: int  # type: ignore[assignment]  # number for `device` of other functions
    name: str
    type: str  # "discrete GPU", "integrated GPU", "virtual GPU", "CPU" or "other"
    driver: str  # name and version
    subgroup_size: int  # threads
    max_map_extent: int  # largest side of a map, texels
    max_layers: int  # most layers of a map
    max_tiles: int  # longest tile list
    local_memory_bytes: int
    rejections: Tuple[str, ...]  # reasons why quadtile cannot use it; empty: usable


DeviceInfo.__module__ = "quadtile"


def device_name(device: Device) -> str:
    """Returns the library's form of a device selection."""
    if device is None:
        return ""
    if isinstance(device, DeviceInfo):
        return str(device.index)
    if isinstance(device, str):
        return device
    if hasattr(type(device), "__index__") and not isinstance(device, (bool, numpy.bool_, numpy.ndarray)):
        number = operator.index(device)  # of Python or NumPy
        if number < 0:
            raise ValueError(f"device must be 0 or more, or a part of a name, not {number}")
        return str(number)
    raise TypeError(f"device must be a number, a part of a name, or one of devices(), not {type(device).__name__}")


def devices() -> List[DeviceInfo]:
    """Returns all Vulkan devices of this machine, with those that quadtile cannot use (`rejections`).

    Raises:
        Error: no_device if there is no Vulkan loader.
    """
    return [DeviceInfo(*info) for info in _native.devices()]


def subdivide(
    map: Map,
    *,
    max_resolution: Optional[float] = None,
    constant: Optional[float] = None,
    per_level: Optional[Sequence[float]] = None,
    memory: Optional[Memory] = None,
    threshold_map: Optional[Sequence[Any]] = None,
    glsl: Optional[str] = None,
    parameters: Sequence[float] = (),
    order: str = "canonical",
    max_tiles: Optional[int] = None,
    balance: str = "none",
    strategy: str = "automatic",
    device: Device = None,
) -> TileList:
    """Divides a map into tiles that are small where its importance is high.

        tiles = quadtile.subdivide(map, max_resolution=64)

    A node of the quadtree over the map becomes a tile if its importance, the maximum of its texels, is below its
    threshold; otherwise its four children take its place. The tiles cover each texel once. NaN counts as +infinity.

    Args:
        map: array of (height, width) or (layers, height, width), of float32, float16, uint16 (values / 65535) or
            uint8 (values / 255). An array in C order and native byte order is read in place, others from a copy.

        Exactly one threshold, in the unit of the importance: from 0 to 1 for maps of integers.

        max_resolution: pixels. The importance is the number of pixels that a texel needs on a side; no tile needs
            `max_resolution` or more.
        constant: the same value for all nodes.
        per_level: one value per level, from 0 (texels) to the root's.
        memory: (pixels, nodes, fragments) for per-pixel linked lists: as max_resolution, and no tile needs `nodes` or
            more list nodes if `fragments`, an array of the map's shape, has the number of fragments in a pixel of each
            texel, in integers (also uint8 and uint16 are counts) or floats.
        threshold_map: one value per node: a sequence of an array per level, from 0 to the root's, of
            (ceil(height / 2**level), ceil(width / 2**level)), with a first axis for layers if there are several. They
            have the types of maps with the same meaning (uint8 / 255, uint16 / 65535), or float64.
        glsl: GLSL 4.60 that defines `float threshold(uint level, uvec2 position, uint layer)`; it may call
            `map_extent()`, `map_layers()` and `threshold_parameter(i)`, which are the `parameters`, up to 16 floats.

        order: "canonical", which is the same in each run and on each device, or "any", which is faster.
        max_tiles: a budget. If there are more tiles, the smallest factor that keeps it scales all thresholds
            (`threshold_factor`). It needs a threshold that does not grow with the level, and no glsl.
        balance: "edges": tiles that share an edge differ by at most one level; "corners": tiles that share a corner do
            too. The flags TILE_COARSER_* mark the sides where the neighbour is coarser. It needs a threshold that does
            not grow with the level, no glsl and no max_tiles.
        strategy: "automatic", the fastest; "fused"; "subtree"; "reference", on the CPU without Vulkan. All give the
            same tiles.
        device: number, part of the name, or an entry of `devices()`. Default: the environment variable
            QUADTILE_DEVICE, else the best device.

    Returns:
        TileList: a structured array with the fields x, y, level, flags, layer, importance and threshold.

    Raises:
        TypeError: an argument of another type, a dtype that maps cannot have, or not exactly one threshold.
        ValueError: a shape or a value that cannot be used; from the library as ArgumentError.
        Error: no_device, unsupported (larger than the device takes), out_of_memory, device_lost.

    Several threads may call it: up to four run at a time on a device, the others wait. Python's global lock is released
    meanwhile. Devices, pipelines and buffers are kept for later calls. `Service` is for many small maps at a time.
    """
    return tile_list(
        _native.subdivide(
            map,
            (max_resolution, constant, per_level, memory, threshold_map, glsl, parameters),
            (order, max_tiles, balance),
            strategy,
            device_name(device),
        )
    )


def mip_levels(
    image: Any,
    reduction: str = "max",
    *,
    levels: int = 0,
    edge_rule: str = "fold",
    channels: bool = False,
    srgb: bool = False,
    dtype: Any = None,
    glsl: str = "",
    method: str = "automatic",
    device: Device = None,
) -> List[numpy.ndarray]:
    """Makes the mip levels of an image, each texel from those below it.

    Args:
        image: array of (height, width) or (layers, height, width), with a last axis of channels if `channels` is set:
            float32 and float16 have 1, 2 or 4 channels, uint8 has 1 or 4, uint16 has 1. Integers stand for 0 to 1.
        reduction: "max", "min", "mean", "sum" (of floats), "min_max" (two channels: minimum and maximum), or "custom".
        levels: number of levels, with the image itself; 0: all, down to one texel.
        edge_rule: sizes of the levels: "fold" rounds down, and the last texel includes the remainder; "drop" rounds
            down and drops the remainder; "round_up" rounds up, as the quadtree does.
        channels: whether the last axis is channels.
        srgb: whether colours of uint8 are in sRGB; they are reduced in linear light.
        dtype: of the levels from 1 on. Default: as the image; float32 if that has no format for it (sum of integers).
        glsl: for "custom": GLSL that defines `TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d)` for the texels a b
            above c d; TEXEL is float, vec2 or vec4.
        method: "automatic", "spd", "subgroup", "per_level" or "blit".
        device: as in `subdivide`.

    Returns:
        A list of arrays; the first is a copy of the image.

    Raises:
        TypeError, ValueError, Error: as `subdivide`.
    """
    image = numpy.asanyarray(image)
    if dtype is None:
        dtype = image.dtype
        no_format = dtype.kind == "u" and (reduction == "sum" or reduction == "min_max")
        dtype = numpy.float32 if no_format else dtype
    return _native.mip_levels(
        image, channels, srgb, reduction, edge_rule, levels, numpy.dtype(dtype), glsl, method, device_name(device)
    )
