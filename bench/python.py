#!/usr/bin/env python3
"""What the Python package costs beside the same calls from C++:

    PYTHONPATH=build/release/python bench/python.py build/release/bin/quadtile_host_calls

Prints what importing takes, the microseconds of subdivide beside Tiler, and the maps per second of two threads with one
Service, in Python and in C++; each the median of ten rounds. Each round also prints the mean milliseconds of the
Service's stages, C++ first, of one request in 16.
"""

import collections
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# The same as in host_calls.cpp.
SIZE = 1024
CALLS = 400
REQUESTS = 1500
WINDOW = 16
ROUNDS = 10


def import_ms(modules):
    """Of modules in a new interpreter: the last one's milliseconds, after those before it."""
    program = "import time\n" + "".join(f"start = time.perf_counter()\nimport {module}\n" for module in modules)
    program += "print(time.perf_counter() - start)"
    runs = [subprocess.check_output([sys.executable, "-c", program], text=True) for _ in range(7)]
    return min(float(run) for run in runs) * 1e3


print(f"import numpy            {import_ms(['numpy']):6.1f} ms")
print(f"import quadtile         {import_ms(['quadtile']):6.1f} ms, NumPy with it")
print(f"import quadtile after   {import_ms(['numpy', 'quadtile']):6.1f} ms, of its own", flush=True)

import numpy  # noqa: E402
import quadtile  # noqa: E402


def landscape():
    """Smooth importance with a few busy places: about 2800 tiles."""
    y, x = numpy.mgrid[0:SIZE, 0:SIZE].astype(numpy.float32) / SIZE
    return (0.3 + 4 * numpy.exp(-30 * ((x - 0.4) ** 2 + (y - 0.6) ** 2)) + numpy.sin(17 * x) ** 8).astype(numpy.float32)


def subdivide_us(map):
    times = []
    for _ in range(CALLS + 20):
        start = time.perf_counter()
        quadtile.subdivide(map, max_resolution=64)
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times[20:])


def service(map):
    """Maps per second of two threads, maps per run, and the mean milliseconds per stage of runs."""
    with quadtile.Service() as lanes:
        lists = []

        def work(requests):
            under_way = collections.deque()
            for i in range(requests):
                under_way.append(lanes.submit(map, max_resolution=64))
                if len(under_way) == WINDOW:
                    tiles = under_way.popleft().result()
                    if i % WINDOW == 0:
                        lists.append(tiles)
            for future in under_way:
                future.result()

        work(100)
        lists.clear()
        start = time.perf_counter()
        other = threading.Thread(target=work, args=(REQUESTS,))
        other.start()
        work(REQUESTS)
        other.join()
        seconds = time.perf_counter() - start
        done = lanes.statistics()
        values = {"service_maps_per_s": 2 * REQUESTS / seconds, "maps_per_run": done["succeeded"] / done["runs"]}
        for tiles in lists:
            for stage in tiles.stages:
                name = f"service_{stage.name.replace(' ', '_')}_ms"
                values[name] = values.get(name, 0) + stage.milliseconds / len(lists)
        return values


def main():
    map = landscape()
    tiles = quadtile.subdivide(map, max_resolution=64)
    print(f"{tiles.device}, {len(tiles)} tiles by {tiles.strategy}", flush=True)
    cpp, python = collections.defaultdict(list), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "map")
        map.tofile(path)
        for _ in range(ROUNDS):
            for line in subprocess.check_output([sys.argv[1], path], text=True).splitlines():
                name, value = line.split()
                cpp[name].append(float(value))
            python["tiler_us"].append(subdivide_us(map))
            for name, value in service(map).items():
                python[name].append(value)
            print({name: (cpp[name][-1], round(values[-1], 4)) for name, values in python.items()}, flush=True)
    cpp, python = ({name: statistics.median(values) for name, values in of.items()} for of in (cpp, python))
    cpp_us, python_us = cpp["tiler_us"], python["tiler_us"]
    print(f"subdivide               {python_us:8.1f} us, Tiler {cpp_us:8.1f} us: {python_us - cpp_us:+.1f} us")
    cpp_rate, python_rate = cpp["service_maps_per_s"], python["service_maps_per_s"]
    share = python_rate / cpp_rate
    print(f"Service, two threads    {python_rate:8.1f} maps/s, C++ {cpp_rate:8.1f} maps/s: {share:.1%}")


main()
