"""quadtile from Python: quadtile/quadtile.h by ctypes, nothing else needed.

    with quadtile.Service() as service:
        tiles = service.submit(texels, max_resolution=64).take()

The environment variable QUADTILE_LIBRARY names the shared library where the system does not find
libquadtile.so by itself.
"""

import ctypes
import ctypes.util
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int32, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, sizeof

# ---- The structures of quadtile.h


class ServiceOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("validation", c_int32),
        ("log", c_void_p),
        ("log_user_data", c_void_p),
        ("strategy", c_int32),
        ("subtree_levels", c_uint32),
        ("lanes", c_uint32),
        ("max_batch_layers", c_uint32),
        ("queue_capacity", c_size_t),
        ("memory_limit_bytes", c_uint64),
        ("gpu_timeout_ms", c_uint64),
        ("cache_directory", c_char_p),
        ("devices", POINTER(c_char_p)),
        ("device_count", c_uint32),
        ("repeat_lost", c_int32),
    ]


class Request(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("texels", c_void_p),
        ("width", c_uint32),
        ("height", c_uint32),
        ("layers", c_uint32),
        ("format", c_int32),
        ("copy_texels", c_int32),
        ("threshold_kind", c_int32),
        ("threshold_value", c_float),
        ("threshold_levels", POINTER(c_float)),
        ("threshold_level_count", c_uint32),
        ("nodes", c_float),
        ("fragments", c_void_p),
        ("fragments_format", c_int32),
        ("threshold_glsl", c_char_p),
        ("threshold_parameters", POINTER(c_float)),
        ("threshold_parameter_count", c_uint32),
        ("order", c_int32),
        ("max_tiles", c_uint64),
        ("priority", c_int32),
        ("deadline_ms", c_uint64),
        ("balance", c_int32),
    ]


class Tile(ctypes.Structure):
    _fields_ = [
        ("x", c_uint16),
        ("y", c_uint16),
        ("level", c_uint8),
        ("flags", c_uint8),
        ("layer", c_uint16),
        ("importance", c_float),
        ("threshold", c_float),
    ]


class Stage(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("milliseconds", c_double), ("on_gpu", c_int32)]


class CTileList(ctypes.Structure):
    _fields_ = [
        ("tiles", POINTER(Tile)),
        ("tile_count", c_uint64),
        ("width", c_uint32),
        ("height", c_uint32),
        ("layers", c_uint32),
        ("levels", c_uint32),
        ("order", c_int32),
        ("threshold_factor", c_float),
        ("nan_texels", c_uint64),
        ("strategy", c_char_p),
        ("strategy_reason", c_char_p),
        ("device", c_char_p),
        ("buffer_repeats", c_uint32),
        ("stages", POINTER(Stage)),
        ("stage_count", c_uint32),
    ]


NOT_READY = 1
TOO_LATE = 3
FORMAT_R32_FLOAT = 0
THRESHOLD_CONSTANT = 1
THRESHOLD_MAX_RESOLUTION = 3
BALANCE_NONE = 0
BALANCE_EDGES = 1
BALANCE_CORNERS = 2
TILE_CLAMPED = 1
TILE_COARSER_LEFT = 2
TILE_COARSER_RIGHT = 4
TILE_COARSER_TOP = 8
TILE_COARSER_BOTTOM = 16
NO_TIMEOUT = 2**64 - 1

# ---- The library


class Error(Exception):
    """What a function of the library said; `status` is its QUADTILE_ERROR_*."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _load_library():
    path = os.environ.get("QUADTILE_LIBRARY") or ctypes.util.find_library("quadtile")
    if not path:
        raise ImportError(
            "the shared library libquadtile.so is not installed; install it, or set "
            "QUADTILE_LIBRARY to its path"
        )
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load quadtile's shared library: {error}") from error


_library = _load_library()
_library.quadtile_last_error.restype = c_char_p


def _declare(name, *arguments, returns_status=True):
    function = getattr(_library, name)
    function.argtypes = arguments
    function.restype = c_int32 if returns_status else None
    return function


_Handle = c_void_p
_options_init = _declare("quadtile_service_options_init", POINTER(ServiceOptions), c_size_t)
_service_create = _declare("quadtile_service_create", POINTER(ServiceOptions), POINTER(_Handle))
_service_destroy = _declare("quadtile_service_destroy", _Handle, returns_status=False)
_request_init = _declare("quadtile_request_init", POINTER(Request), c_size_t)
_service_submit = _declare("quadtile_service_submit", _Handle, POINTER(Request), POINTER(_Handle))
_ticket_wait = _declare("quadtile_ticket_wait", _Handle, c_uint64)
_ticket_cancel = _declare("quadtile_ticket_cancel", _Handle)
_ticket_take = _declare("quadtile_ticket_take", _Handle, POINTER(POINTER(CTileList)))
_ticket_free = _declare("quadtile_ticket_free", _Handle, returns_status=False)
_tile_list_free = _declare("quadtile_tile_list_free", POINTER(CTileList), returns_status=False)


def _checked(status):
    """Returns a status that is no error. The error message is of this thread's last call."""
    if status < 0:
        raise Error(status, _library.quadtile_last_error().decode())
    return status


# ---- Service, ticket and list


class Service:
    """Devices and the threads that subdivide maps on them. Thread-safe.

    Options are the members of quadtile_service_options, e.g. Service(device=b"NVIDIA", lanes=1).
    Several devices are a list: Service(devices=[b"0", b"1"]).
    """

    def __init__(self, *, devices=(), **options):
        self._handle = _Handle()
        given = ServiceOptions()
        _checked(_options_init(byref(given), sizeof(given)))
        given.devices, given.device_count = (c_char_p * len(devices))(*devices), len(devices)
        for name, value in options.items():
            setattr(given, name, value)
        _checked(_service_create(byref(given), byref(self._handle)))

    def submit(self, texels, *, constant=None, max_resolution=None, **options):
        """Submits a map of 32-bit floats; returns its Ticket.

        `texels` is a NumPy array or whatever else has a buffer, height x width or
        layers x height x width, in C order. It must not be changed before the answer. Options are
        other members of quadtile_request, e.g. max_tiles=1000, deadline_ms=50,
        balance=BALANCE_EDGES.
        """
        view = memoryview(texels)
        if view.format != "f" or view.ndim not in (2, 3) or not view.c_contiguous:
            raise TypeError(
                "a map is an array of 32-bit floats in C order with 2 or 3 dimensions, not one of "
                f"format '{view.format}' with {view.ndim} dimensions"
            )
        if (constant is None) == (max_resolution is None):
            raise TypeError("give one threshold: constant or max_resolution")
        # ctypes takes addresses of writable buffers only; read-only ones are copied.
        writable = view.cast("B") if not view.readonly else bytearray(view)
        owner = (c_uint8 * view.nbytes).from_buffer(writable)
        request = Request()
        _checked(_request_init(byref(request), sizeof(request)))
        request.texels = ctypes.addressof(owner)
        request.layers, request.height, request.width = (1, *view.shape)[-3:]
        request.format = FORMAT_R32_FLOAT
        if constant is not None:
            request.threshold_kind, request.threshold_value = THRESHOLD_CONSTANT, constant
        else:
            request.threshold_kind = THRESHOLD_MAX_RESOLUTION
            request.threshold_value = max_resolution
        for name, value in options.items():
            setattr(request, name, value)
        handle = _Handle()
        _checked(_service_submit(self._handle, byref(request), byref(handle)))
        return Ticket(handle, owner)

    def close(self):
        """Answers what waits, and ends the service."""
        handle, self._handle = self._handle, _Handle()
        _service_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Ticket:
    """A map that was submitted. Dropping it cancels the request, or waits for it where it runs."""

    def __init__(self, handle, texels):
        self._handle = handle
        self._texels = texels  # must live until the answer

    def wait(self, timeout_ms=NO_TIMEOUT):
        """Whether there is an answer."""
        return _checked(_ticket_wait(self._handle, timeout_ms)) != NOT_READY

    def cancel(self):
        """Whether the request still waited; take() then raises."""
        return _checked(_ticket_cancel(self._handle)) != TOO_LATE

    def take(self):
        """Waits for the answer and returns its TileList, or raises Error. Once."""
        pointer = POINTER(CTileList)()
        _checked(_ticket_take(self._handle, byref(pointer)))
        return TileList(pointer)

    def __del__(self):
        _ticket_free(self._handle)


class TileList:
    """The tiles of a map: `for tile in list: tile.x`. numpy.asarray(list.tiles) has them, too."""

    def __init__(self, pointer):
        members = pointer.contents
        try:
            # A copy, so that it lives on its own.
            self.tiles = (Tile * members.tile_count)()
            ctypes.memmove(self.tiles, members.tiles, sizeof(self.tiles))
            self.width, self.height = members.width, members.height
            self.layers, self.levels = members.layers, members.levels
            self.nan_texels = members.nan_texels
            self.threshold_factor = members.threshold_factor
            self.strategy = members.strategy.decode()
            self.device = members.device.decode()
            self.stages = [
                (stage.name.decode(), stage.milliseconds)
                for stage in members.stages[: members.stage_count]
            ]
        finally:
            _tile_list_free(pointer)

    def __iter__(self):
        return iter(self.tiles)

    def __len__(self):
        return len(self.tiles)
