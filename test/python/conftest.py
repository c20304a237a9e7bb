import ctypes
import os
import subprocess
import sys

import numpy
import pytest


class LaneGate:
    """A map that keeps the lane that reads it until the gate is opened (test/c_api/lane_gate.h)."""

    def __init__(self, library, texels):
        self._library = library
        self._handle = library.lane_gate_make(texels.ctypes.data, texels.nbytes)
        memory = (ctypes.c_uint8 * texels.nbytes).from_address(library.lane_gate_texels(self._handle))
        self.texels = numpy.frombuffer(memory, texels.dtype).reshape(texels.shape)

    def wait(self):
        """Until a lane is there. Releases the GIL."""
        assert self._library.lane_gate_wait(self._handle) == 1

    def open(self):
        self._library.lane_gate_open(self._handle)

    def free(self):
        self._library.lane_gate_free(self._handle)


def load_gates():
    library = ctypes.CDLL(os.environ["QUADTILE_LANE_GATE"])
    library.lane_gate_make.argtypes = ctypes.c_void_p, ctypes.c_size_t
    library.lane_gate_make.restype = library.lane_gate_texels.restype = ctypes.c_void_p
    for function in (library.lane_gate_texels, library.lane_gate_wait, library.lane_gate_open, library.lane_gate_free):
        function.argtypes = (ctypes.c_void_p,)
    return library


@pytest.fixture
def gate():
    made = LaneGate(load_gates(), numpy.full((80, 90), 0.75, numpy.float32))
    yield made
    made.free()


def run_script(text, **environment):
    """A program in a new interpreter; it must end by itself."""
    folders = [os.environ.get("PYTHONPATH", ""), os.path.dirname(__file__)]
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", text],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
