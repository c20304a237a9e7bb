"""Maps from any thread, tile lists in Futures."""

import functools
import queue
import threading
import weakref
from concurrent.futures import Future
from typing import Any, Callable, Optional, Sequence, Union

from . import _native
from ._errors import Error
from ._subdivide import Device, DeviceInfo, Map, Memory, device_name
from ._tiles import TileList, tile_list


_THREAD = "quadtile answers"


def _call(callback: Callable[[Future], object], future: Future) -> None:
    """Calls a Future's callback. On the thread that answers, nothing that it raises may end the thread."""
    try:
        callback(future)
    except BaseException as error:
        if isinstance(error, Exception) or threading.current_thread().name != _THREAD:
            raise
        raise RuntimeError(f"a callback of {future} raised {type(error).__name__}") from error  # the Future logs it


class _TileListFuture(Future):
    """The answer to a request; cancel() cancels the request if it still waits."""

    _request: Optional[_native.Request] = None

    def cancel(self) -> bool:
        if self._request is not None and not self.done() and not self._request.cancel():
            return False
        return super().cancel()

    def add_done_callback(self, fn: Callable[[Future], object]) -> None:
        super().add_done_callback(functools.partial(_call, fn))


def _answer(native: _native.Service) -> None:
    """Resolves Futures until the service is shut down, on a thread of its own."""
    while True:
        answers = native.next_answers()
        if answers is None:
            return
        for future, answer in answers:
            try:
                if isinstance(answer, tuple):
                    future.set_result(tile_list(answer))
                    continue
                if isinstance(answer, Error) and answer.code == "cancelled":
                    Future.cancel(future)
                else:
                    future.set_exception(answer)
            except BaseException:
                pass  # InvalidStateError: the caller has cancelled it; others come from a handler of logs
            if future.cancelled():
                future.set_running_or_notify_cancel()
        del answers, future, answer  # else their memory would be kept until the next answer


class Service:
    """Subdivides maps for any number of threads, and answers by Futures.

        with quadtile.Service() as service:
            futures = [service.submit(map, max_resolution=64) for map in maps]
            lists = [future.result() for future in futures]

    Waiting maps of one shape go through one run. All methods are thread-safe, and work without Python's global lock.
    The end of a `with` shuts the service down after all requests are answered. At the interpreter's end a remaining
    service cancels waiting requests, and finishes running ones.

    Args:
        device: number or part of the name as in `subdivide`, or a sequence of several. A free one takes a request.
        strategy: as in `subdivide`, without "reference".
        lanes: number of runs on each device at the same time.
        max_batch_layers: most maps, or layers of maps, in one run.
        queue_capacity: most requests that may wait; if the queue is full, `submit` waits.
        memory_limit_bytes: limit of device and staging memory for each device; 0: no limit.
        gpu_timeout_s: longest run in seconds; a longer run counts as hung, and the device as lost.
        repeat_lost: whether requests that ran on a device when it was lost are run again on another one, once.

    Raises:
        Error: no_device, out_of_memory, device_lost; "unsupported" in a process that was forked.
        ValueError, TypeError: an option that cannot be used.
    """

    def __init__(
        self,
        device: Union[Device, Sequence[Device]] = None,
        *,
        strategy: str = "automatic",
        lanes: int = 2,
        max_batch_layers: int = 64,
        queue_capacity: int = 256,
        memory_limit_bytes: int = 0,
        gpu_timeout_s: float = 60.0,
        repeat_lost: bool = False,
    ):
        several = device if isinstance(device, (list, tuple)) and not isinstance(device, DeviceInfo) else [device]
        self._native = _native.Service(
            [device_name(one) for one in several],
            strategy,
            lanes,
            max_batch_layers,
            queue_capacity,
            memory_limit_bytes,
            gpu_timeout_s,
            repeat_lost,
        )
        # Only the native half, so that the service ends when its user releases it.
        self._thread = threading.Thread(target=_answer, args=(self._native,), name=_THREAD, daemon=True)
        self._thread.start()
        weakref.finalize(self, self._native.shutdown, False).atexit = False

    def submit(
        self,
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
        priority: int = 0,
        deadline_s: Optional[float] = None,
        device: Optional[int] = None,
        wait: bool = True,
    ) -> "Future[TileList]":
        """Submits a map. Returns a concurrent.futures.Future of its TileList.

        The Future's `cancel()` cancels the request if it still waits, and returns whether it did.
        `asyncio.wrap_future` makes it awaitable. Callbacks run on a thread of the service.

        The map is not copied if it is an array in C order: do not write to it before the Future is done.

        Args:
            map, max_resolution ... balance: as in `subdivide`.
            priority: higher ones run first, equal ones in order of arrival.
            deadline_s: seconds from now; a request that waits longer fails.
            device: the only device that may answer, by its place in the service's list.
            wait: whether to wait while the queue is full.

        Raises:
            TypeError, ValueError: an argument that cannot be used.
            Error: "cancelled" after a shutdown, device_lost if no device is left.
            queue.Full: the queue is full, and `wait` is not set.

        The Future raises the errors of `subdivide`, and Error with the code "deadline_exceeded".
        """
        future = _TileListFuture()
        request = self._native.submit(
            future,
            map,
            (max_resolution, constant, per_level, memory, threshold_map, glsl, parameters),
            (order, max_tiles, balance),
            priority,
            deadline_s,
            device,
            wait,
        )
        if request is None:
            raise queue.Full("the service's queue is full; try again later, or wait for an answer")
        future._request = request
        return future

    def shutdown(self, cancel: bool = False) -> None:
        """Stops taking requests, and returns when all requests that were taken are answered.

        With `cancel` waiting requests are cancelled. May be called several times, and from callbacks of Futures.
        """
        self._native.shutdown(cancel)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def statistics(self) -> "dict[str, Any]":
        """Returns the current counts of the service.

        Counts of requests: submitted, succeeded, failed, cancelled, expired; requests in none of the last four wait or
        run. `runs` of one request or a batch, `largest_batch` in requests, `memory_bytes` in use now,
        `most_memory_bytes`; `devices`, a list of dictionaries with lost, runs and succeeded.
        """
        return self._native.statistics()

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()


Service.__module__ = "quadtile"
