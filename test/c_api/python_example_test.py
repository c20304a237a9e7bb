"""The Python example against the command line's reference strategy, and what it says of failures.

Arguments: the folder of the example, the shared library, the command line, the library of
lane_gate.h.
"""

import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("SKIPPED: NumPy is not installed for", sys.executable)
    sys.exit(0)

EXAMPLE, LIBRARY, COMMAND_LINE, LANE_GATE = sys.argv[1:5]
os.environ["QUADTILE_LIBRARY"] = LIBRARY
sys.path.insert(0, EXAMPLE)
import quadtile  # noqa: E402


def random_map(height=70, width=130):
    return numpy.random.default_rng(1).random((height, width), dtype=numpy.float32)


def special_map():
    texels = random_map()
    texels[3, 5], texels[50, 60], texels[60:, 100:] = math.nan, math.inf, -math.inf
    return texels


def float_bits(value):
    return numpy.float32(value).tobytes()  # of a number, or "inf" as text


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def comparable(text):
    """The contents of a JSON list, floats as the 32 bits that they stand for."""
    contents = json.loads(text, parse_constant=refuse)
    for tile in contents["tiles"]:
        for name in ("importance", "threshold"):
            tile[name] = float_bits(tile[name])
    return contents


class LaneGate:
    """A map behind a gate (lane_gate.h), which opens at the end of a `with` at the latest."""

    _library = ctypes.CDLL(LANE_GATE)
    _library.lane_gate_make.argtypes = ctypes.c_void_p, ctypes.c_size_t
    _library.lane_gate_make.restype = ctypes.c_void_p
    _library.lane_gate_texels.argtypes = (ctypes.c_void_p,)
    _library.lane_gate_texels.restype = ctypes.c_void_p
    _library.lane_gate_wait.argtypes = (ctypes.c_void_p,)
    _library.lane_gate_open.argtypes = (ctypes.c_void_p,)

    def __init__(self, texels):
        # Never freed: the test ends soon.
        self._handle = self._library.lane_gate_make(texels.ctypes.data, texels.nbytes)
        address = self._library.lane_gate_texels(self._handle)
        self.texels = numpy.frombuffer(
            (ctypes.c_uint8 * texels.nbytes).from_address(address), texels.dtype
        ).reshape(texels.shape)

    def wait(self):
        return self._library.lane_gate_wait(self._handle) == 1

    def open(self):
        self._library.lane_gate_open(self._handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_example(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, os.path.join(EXAMPLE, "quadtile_tiles.py"), *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def assert_fails(self, run, words):
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stdout, "")
        self.assertIn(words, run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    def test_lists_are_those_of_the_command_line(self):
        texels = special_map()
        numpy.save(self.path("map.npy"), texels)
        with open(self.path("map.pfm"), "wb") as file:  # rows from the bottom
            file.write(b"Pf\n%d %d\n-1.0\n" % (texels.shape[1], texels.shape[0]))
            file.write(texels[::-1].tobytes())
        for options in (
            ["--max-resolution", "16"],
            ["--constant", "0.9"],
            ["--constant", "inf"],
            ["--constant", "0.5", "--max-tiles", "4000"],
            ["--max-resolution", "16", "--balance", "edges"],
            ["--max-resolution", "16", "--balance", "corners"],
        ):
            expected = subprocess.run(
                [COMMAND_LINE, "tiles", self.path("map.pfm"), "--strategy", "reference"] + options,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            run = self.run_example(self.path("map.npy"), *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(comparable(run.stdout), comparable(expected), options)
            run = self.run_example(self.path("map.npy"), *options, "-o", self.path("tiles.json"))
            self.assertEqual(run.stdout, "")
            with open(self.path("tiles.json"), encoding="utf-8") as file:
                self.assertEqual(comparable(file.read()), comparable(expected))

    def test_failures_are_one_line(self):
        self.assert_fails(self.run_example("none.npy", "--constant", "1"), "none.npy")
        numpy.save(self.path("doubles.npy"), numpy.zeros((4, 4)))
        self.assert_fails(self.run_example(self.path("doubles.npy"), "--constant", "1"), "float64")
        numpy.save(self.path("map.npy"), random_map())
        run = self.run_example(self.path("map.npy"), "--constant", "-1")
        self.assert_fails(run, "negative")
        run = self.run_example(self.path("map.npy"), "--constant", "1", "--max-tiles", "-1")
        self.assert_fails(run, "--max-tiles")
        run = self.run_example("map.npy", "--constant", "1", QUADTILE_LIBRARY="/no/such.so")
        self.assert_fails(run, "/no/such.so")
        with open(self.path("numpy.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError\n")
        run = self.run_example("map.npy", "--constant", "1", PYTHONPATH=self.folder)
        self.assert_fails(run, "python3-numpy")


class Module(unittest.TestCase):
    def test_maps_of_any_buffer_and_layers(self):
        texels = numpy.stack([random_map(), special_map()])
        read_only = texels.copy()
        read_only.flags.writeable = False
        with quadtile.Service() as service:
            lists = [
                service.submit(array, constant=0.9).take()
                for array in (texels, read_only, memoryview(texels))
            ]
        for tiles in lists:
            self.assertEqual((tiles.width, tiles.height, tiles.layers), (130, 70, 2))
            self.assertEqual((tiles.levels, tiles.nan_texels), (9, 1))
            self.assertEqual(bytes(tiles.tiles), bytes(lists[0].tiles))
            self.assertEqual(tiles.stages[0][0], "wait")
        # Every texel lies in one tile.
        counts = numpy.zeros(texels.shape, int)
        for tile in lists[0]:
            rows = slice(tile.y << tile.level, (tile.y + 1) << tile.level)
            columns = slice(tile.x << tile.level, (tile.x + 1) << tile.level)
            counts[tile.layer, rows, columns] += 1
        self.assertTrue((counts == 1).all())
        records = numpy.asarray(lists[0].tiles)
        self.assertEqual(records["importance"][5], lists[0].tiles[5].importance)

    def test_cancelled_and_late_requests(self):
        # The gate opens before the service waits for its lane.
        with quadtile.Service(lanes=1) as service, LaneGate(random_map(80, 90)) as gate:
            runs = service.submit(gate.texels, constant=0.5)
            self.assertTrue(gate.wait())
            late = service.submit(random_map(), constant=0.5, deadline_ms=1)
            waiting = service.submit(random_map(), constant=0.5)
            self.assertFalse(runs.wait(0))
            self.assertFalse(runs.cancel())
            self.assertTrue(waiting.cancel())
            self.assertFalse(waiting.cancel())
            with self.assertRaises(quadtile.Error) as raised:
                waiting.take()
            self.assertEqual(raised.exception.status, -6)
            with self.assertRaises(quadtile.Error) as raised:
                late.take()
            self.assertEqual(raised.exception.status, -7)
            self.assertFalse(runs.wait(0))
            gate.open()
            self.assertTrue(runs.wait())
            self.assertGreater(len(runs.take()), 0)

    def test_bad_maps_and_options(self):
        with quadtile.Service() as service:
            with self.assertRaisesRegex(TypeError, "32-bit floats"):
                service.submit(numpy.zeros((4, 4)), constant=1)
            with self.assertRaisesRegex(TypeError, "C order"):
                service.submit(random_map().T, constant=1)
            with self.assertRaisesRegex(TypeError, "one threshold"):
                service.submit(random_map())
            with self.assertRaisesRegex(quadtile.Error, "order is 7"):
                service.submit(random_map(), constant=1, order=7)
        with self.assertRaisesRegex(quadtile.Error, "service is NULL"):
            service.submit(random_map(), constant=1)
        with self.assertRaisesRegex(quadtile.Error, "no such device"):
            quadtile.Service(device=b"no such device")


unittest.main(argv=sys.argv[:1], verbosity=2)
