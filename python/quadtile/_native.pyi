# What src/module.cpp defines. Tuples are as subdivision.hpp has them.

from typing import Any, List, Optional, Tuple

import numpy
from concurrent.futures import Future

version: str
tile_dtype: numpy.dtype
TILE_CLAMPED: int
TILE_COARSER_LEFT: int
TILE_COARSER_RIGHT: int
TILE_COARSER_TOP: int
TILE_COARSER_BOTTOM: int

_Threshold = Tuple[Any, Any, Any, Any, Any, Any, Any]
_Options = Tuple[str, Optional[int], str]
_TileList = Tuple[numpy.ndarray, Tuple[Any, ...]]

def subdivide(map: Any, threshold: _Threshold, options: _Options, strategy: str, device: str) -> _TileList: ...
def mip_levels(
    image: Any,
    has_channels: bool,
    srgb: bool,
    reduction: str,
    edge_rule: str,
    levels: int,
    dtype: Any,
    glsl: str,
    method: str,
    device: str,
) -> List[numpy.ndarray]: ...
def devices() -> List[Tuple[Any, ...]]: ...
def end_calls() -> None: ...

class Request:
    def cancel(self) -> bool: ...

class Service:
    def __init__(
        self,
        devices: List[str],
        strategy: str,
        lanes: int,
        max_batch_layers: int,
        queue_capacity: int,
        memory_limit_bytes: int,
        gpu_timeout_s: float,
        repeat_lost: bool,
    ) -> None: ...
    def submit(
        self,
        future: "Future[Any]",
        map: Any,
        threshold: _Threshold,
        options: _Options,
        priority: int,
        deadline_s: Optional[float],
        device: Optional[int],
        waits: bool,
    ) -> Optional[Request]: ...
    def next_answers(self) -> Optional[List[Tuple["Future[Any]", Any]]]: ...
    def shutdown(self, cancel: bool) -> None: ...
    def statistics(self) -> "dict[str, Any]": ...
