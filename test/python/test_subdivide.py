"""Tile lists against quadtile.reference, to the bit, and against the map that they cover."""

import pickle

import numpy
import pytest

import quadtile
from quadtile import reference, subdivide

RANDOM = numpy.random.default_rng(1)


def random_map(*shape):
    return RANDOM.random(shape, dtype=numpy.float32)


MAP = random_map(8, 8)


def special_map():
    texels = random_map(70, 130)
    texels[3, 5], texels[50, 60], texels[60:, 100:], texels[0, :9] = numpy.nan, numpy.inf, -numpy.inf, -0.0
    return texels


def assert_same(tiles, expected):
    assert tiles.dtype == expected.dtype
    assert tiles.tobytes() == expected.tobytes()
    assert (tiles.width, tiles.height, tiles.layers) == (expected.width, expected.height, expected.layers)
    assert (tiles.nan_texels, tiles.balance) == (expected.nan_texels, expected.balance)


# A wrong field of the record, a wrong order of axes, or a threshold passed on in another unit.
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (33, 2), (70, 130)])
@pytest.mark.parametrize("name, value", [("constant", 0.9), ("max_resolution", 6.0)])
def test_tiles_cover_the_map_with_its_maxima(shape, name, value):
    map = special_map() if shape == (70, 130) else random_map(*shape)
    tiles = subdivide(map, **{name: value})
    assert_same(tiles, reference.subdivide(map, **{name: value}))
    assert (tiles["layer"] == 0).all()
    covered = numpy.zeros(shape, int)
    for tile, (left, top, right, bottom) in zip(tiles, tiles.rectangles()):
        covered[top:bottom, left:right] += 1
        part = map[top:bottom, left:right]
        assert tile["importance"] == (numpy.inf if numpy.isnan(part).any() else part.max())
        assert tile["threshold"] == numpy.float32(value / 2 ** (tile["level"] if name != "constant" else 0))
        assert (tile["flags"] == quadtile.TILE_CLAMPED) == (not tile["importance"] < tile["threshold"])
    assert (covered == 1).all()


# An argument that does not reach the library, or reaches it as another one.
def test_every_threshold_is_that_of_the_reference():
    map = random_map(2, 37, 61)
    levels = [numpy.full((2, -(-37 // 2**level), -(-61 // 2**level)), 0.9 / 1.1**level) for level in range(7)]
    for threshold in (
        {"per_level": [0.99, 0.9, 0.8, 0.8, 0.5, 0.5, 0.1]},
        {"memory": (4.0, 20.0, RANDOM.integers(0, 9, map.shape).astype(numpy.uint8))},
        {"threshold_map": levels},
        {"constant": 0.9999, "balance": "edges"},
        {"constant": 0.9999, "balance": "corners"},
        {"constant": 0.9, "max_tiles": 300},
    ):
        expected = reference.subdivide(map, **threshold)
        assert len(expected) > 2
        for strategy in ("automatic", "reference", "subtree"):
            if strategy != "subtree" or not {"max_tiles", "balance"} & set(threshold):
                assert_same(subdivide(map, strategy=strategy, **threshold), expected)
    assert len(expected) <= 300 and expected.threshold_factor > 1
    glsl = "float threshold(uint l, uvec2 p, uint layer) { return threshold_parameter(0) / float(1u << l); }"
    assert_same(subdivide(map, glsl=glsl, parameters=(4,)), reference.subdivide(map, max_resolution=4))


# Counts read as parts of 1, or thresholds in another unit than the map's importance.
@pytest.mark.parametrize("dtype", "uint8 uint16 >u2 float16 float32 float64 int8 int64 uint32".split())
def test_counts_are_counts_and_thresholds_have_the_unit_of_the_map(dtype):
    map = random_map(37, 61)
    counts = RANDOM.integers(0, 100, map.shape)
    expected = reference.subdivide(map, memory=(4.0, 200.0, counts.astype(numpy.float32)))
    assert 100 < len(expected) < map.size
    assert_same(subdivide(map, memory=(4.0, 200.0, numpy.asfortranarray(counts.astype(dtype)))), expected)
    # A map and thresholds of the same integers: each is read as importance is.
    divisor = numpy.float32({"uint8": 255, "uint16": 65535, ">u2": 65535}.get(dtype, 1))
    integers = counts.astype(numpy.dtype(dtype) if dtype in ("uint8", "uint16", ">u2", "float16") else "float32")
    levels = [numpy.full((-(-37 // 2**level), -(-61 // 2**level)), 99, dtype) for level in range(7)]
    if dtype in ("int8", "int64", "uint32"):
        with pytest.raises(TypeError, match=r"threshold_map\[0\] must be an array of float64 or a type of maps"):
            reference.subdivide(integers, threshold_map=levels)
        return
    expected = reference.subdivide(integers, constant=numpy.float32(99) / divisor)
    assert 100 < len(expected) < map.size
    assert_same(reference.subdivide(integers, threshold_map=levels), expected)


# Texels read with the wrong stride, order, byte order or scale.
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint16", "uint8"])
def test_arrays_of_every_layout(dtype):
    whole = (RANDOM.random((90, 120)) * (1 if dtype.startswith("f") else numpy.iinfo(dtype).max)).astype(dtype)
    part = whole[3:80:2, 5:100:3]
    scale = 1 if dtype.startswith("f") else numpy.iinfo(dtype).max
    expected = subdivide((part / numpy.float32(scale)).astype(numpy.float32), constant=0.9)
    read_only = part.copy()
    read_only.flags.writeable = False
    unaligned = numpy.frombuffer(b"x" + part.tobytes(), dtype, offset=1).reshape(part.shape)
    for array in (part, part.copy(), numpy.asfortranarray(part), part[::-1, ::-1][::-1, ::-1], read_only, unaligned,
                  part.astype(part.dtype.newbyteorder()), part.copy().view(type("Sub", (numpy.ndarray,), {})),
                  memoryview(part.copy())):
        before = bytes(array)
        tiles = subdivide(array, constant=0.9)
        numpy.testing.assert_array_equal(tiles[["x", "y", "level"]], expected[["x", "y", "level"]])
        numpy.testing.assert_allclose(tiles["importance"], expected["importance"], rtol=1e-6)
        assert bytes(array) == before
    broadcast = numpy.broadcast_to(part[0], (20, part.shape[1]))
    assert_same(subdivide(broadcast, constant=0.9), subdivide(broadcast.copy(), constant=0.9))


def test_what_cannot_be_a_map_is_refused():
    good = MAP
    # Those that are too large are refused before a copy is made, which would take 20 GB.
    for error, words, bad in (
        (TypeError, "masked", numpy.ma.masked_less(good, 0.5)),
        (ValueError, r"\(height, width\)", good[0]),
        (ValueError, r"\(height, width\)", good[None, None]),
        (ValueError, "empty", good[:0]),
        (ValueError, "empty", good[None, :, :0]),
        (ValueError, "too large", numpy.broadcast_to(good[0, 0], (70_000, 70_000))),
        (ValueError, "too large", numpy.broadcast_to(good[0, 0], (5, 60_000, 60_000))),
        (quadtile.Error, "65536", numpy.zeros((1, 65_536), numpy.uint8)),  # more than the device's images can hold
    ):
        with pytest.raises(error, match=words):
            subdivide(bad, constant=1)


def test_errors_have_codes_and_can_be_pickled():
    with pytest.raises(quadtile.Error, match="no such GPU") as raised:
        subdivide(MAP, constant=1, device="no such GPU")
    assert (raised.value.code, raised.value.result) == ("no_device", 0)
    with pytest.raises(quadtile.ArgumentError) as raised:
        subdivide(MAP, constant=-1)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.code) == (type(raised.value), str(raised.value), "invalid_argument")


def test_a_list_is_an_array_with_attributes():
    map = special_map()
    tiles = subdivide(map, max_resolution=8, order="any")
    assert tiles.dtype.itemsize == 16 and tiles.dtype == quadtile.tile_dtype
    assert (tiles.width, tiles.height, tiles.layers, tiles.levels) == (130, 70, 1, 9)
    assert (tiles.order, tiles.nan_texels, tiles.threshold_factor) == ("any", 1, 1.0)
    first = quadtile.devices()[0]
    assert first.index == 0 and not first.rejections and first.max_map_extent >= 4096
    for device in (first, 0, "0", first.name):
        assert subdivide(map, constant=0.5, device=device).device == first.name
    assert tiles.device == first.name and tiles.strategy == "subtree" and tiles.strategy_reason
    assert tiles.stages[0].milliseconds >= 0 and tiles.buffer_repeats >= 0
    assert tiles.tiles_per_level().sum() == len(tiles) and len(tiles.tiles_per_level()) == 9
    assert ((tiles["flags"] & quadtile.TILE_CLAMPED) != 0).any()
    # Parts and copies are lists; columns and what is computed are not.
    pickled = pickle.loads(pickle.dumps(tiles))
    for part in (tiles[3:9], tiles[tiles["level"] > 1], tiles.copy(), numpy.sort(tiles), pickled, tiles[:1].squeeze()):
        assert isinstance(part, quadtile.TileList) and part.width == 130
    assert type(tiles["x"]) is type(tiles["x"] * 2) is type(tiles == tiles) is numpy.ndarray
    # The list owns its memory: it lives longer than what made it.
    kept = subdivide(map, constant=0.5)
    first, column = kept.tobytes(), subdivide(map, constant=0.5)["importance"]
    for _ in range(5):
        subdivide(random_map(70, 130), constant=0.5)
    assert kept.tobytes() == first and (column == kept["importance"]).all()
    kept["x"] = 3  # and is the caller's
