"""What calls keep: references to arrays, and memory."""

import gc
import sys
import weakref

import numpy

import quadtile

MAP = numpy.random.default_rng(1).random((16, 16), dtype=numpy.float32)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def assert_keeps_nothing(call, calls):
    """Neither references nor bytes; a few come and go with caches and other threads, a leak is one a call."""
    for _ in range(500):
        call()
    gc.collect()
    counted = (MAP, quadtile.tile_dtype, None, MAP.dtype, quadtile.TileList, quadtile.ArgumentError)
    before, bytes_before = [sys.getrefcount(one) for one in counted], resident_bytes()
    for _ in range(calls):
        call()
    gc.collect()
    references = [sys.getrefcount(one) - count for one, count in zip(counted, before)]
    assert max(abs(count) for count in references) < 50, references
    assert resident_bytes() - bytes_before < calls * 100


def test_ten_thousand_calls_keep_nothing():
    def fail():
        for arguments in ({"constant": -1}, {"constant": "1"}, {"per_level": [1]}):
            try:
                quadtile.reference.subdivide(MAP, **arguments)
            except (TypeError, ValueError):
                pass

    swapped = MAP.astype(">f4")
    assert_keeps_nothing(lambda: quadtile.reference.subdivide(swapped, per_level=[0.9] * 5), 10_000)
    assert_keeps_nothing(lambda: quadtile.subdivide(MAP, constant=0.9), 10_000)
    assert_keeps_nothing(fail, 10_000)


def test_requests_of_a_service_keep_nothing():
    with quadtile.Service() as service:

        def call():
            futures = [service.submit(MAP, constant=0.9) for _ in range(8)]
            futures[0].cancel()
            for future in futures[1:]:
                future.result()
            try:
                service.submit(MAP, constant=-1)
            except ValueError:
                pass

        assert_keeps_nothing(call, 1_250)

    # The texels are let go of when the answer is there, though the Future stays.
    with quadtile.Service() as service:
        texels = MAP.copy()
        gone = weakref.ref(texels)
        future = service.submit(texels, constant=0.9)
        del texels
        future.result()
        service.shutdown()
        gc.collect()
        assert gone() is None
