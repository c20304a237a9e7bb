"""Wrong arguments: errors name the argument, in words of Python; what callers raise goes through."""

import inspect
import random

import numpy
import pytest

import quadtile

MAP = numpy.random.default_rng(4).random((9, 12), dtype=numpy.float32)
TILES = quadtile.reference.subdivide(MAP, constant=0.9)


@pytest.fixture(scope="module")
def service():
    with quadtile.Service(lanes=1) as made:
        yield made


@pytest.fixture
def calls(service, tmp_path, monkeypatch):
    """Each public function and method with arguments that it takes."""
    program = tmp_path / "quadtile-bake"
    program.write_text("#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("QUADTILE_BAKE", str(program))
    file = tmp_path / "map.pfm"
    file.write_bytes(b"Pf\n12 9\n-1.0\n" + MAP.tobytes())
    threshold = {"constant": 0.9}

    def submit(*arguments, **named):
        answer = service.submit(*arguments, **named).exception(60)
        if answer is not None:
            raise answer

    submit.__signature__ = inspect.signature(service.submit)
    return {
        "subdivide": (quadtile.subdivide, {"map": MAP, **threshold}),
        "reference.subdivide": (quadtile.reference.subdivide, {"map": MAP, **threshold}),
        "mip_levels": (quadtile.mip_levels, {"image": MAP}),
        "load_map": (quadtile.load_map, {"path": file}),
        "devices": (quadtile.devices, {}),
        "plot": (quadtile.plot, {"map": MAP, "tiles": TILES}),
        "bake": (quadtile.bake, {"scene": "room.glb"}),
        "Service": (lambda *a, **n: quadtile.Service(*a, **n).shutdown(), {}, quadtile.Service),
        "Service.submit": (submit, {"map": MAP, **threshold}),
        "Service.shutdown": (lambda *a, **n: quadtile.Service(lanes=1).shutdown(*a, **n), {}, service.shutdown),
        "Service.statistics": (service.statistics, {}),
        "TileList.tiles_per_level": (TILES.tiles_per_level, {}),
        "TileList.rectangles": (TILES.rectangles, {}),
    }


MANY = 2**31
WRONG = [None, True, 3, -1, MANY, 2**40, 2**70, -(2**70), 1.5, 1e39, float("nan"), 1j, ..., int, print, object(),
         "x", "", "\0", "\udcff", "\ud800", b"x", b"\0", [], [None], ["x"], [2**70], {}, (),
         numpy.int64(-1), numpy.int8(1), numpy.uint64(2**63), numpy.float16(2), numpy.bool_(True), numpy.str_("x"),
         numpy.array(1), numpy.array([1.0, 2.0]), numpy.zeros((2, 2), complex), numpy.zeros((9, 12), "M8[s]"),
         numpy.zeros(3, object), MAP, MAP.astype(int), TILES]
WORDS = ("pybind11", "incompatible function arguments", "incompatible constructor arguments", "arg0", "_native", "C++")

OWN_WORDS = ("constant", "max_resolution")  # "a threshold must not be negative or NaN"


def assert_tells(call, *arguments, about="", **named):
    try:
        call(*arguments, **named)
    except (TypeError, ValueError, OSError, quadtile.Error) as error:
        text = str(error)
        assert text and not any(word in text for word in WORDS), text
        assert about in text or about.startswith(OWN_WORDS), text
        return True
    return False


# A value that pybind11 or the standard library refuses: its message names no argument, and types of C++.
def test_wrong_arguments_are_refused_in_words(calls):
    pytest.importorskip("matplotlib")
    public = {name for name in quadtile.__all__ if inspect.isroutine(getattr(quadtile, name))} | {"Service"}
    for owner in ("reference", "Service", "TileList"):
        members = vars(getattr(quadtile, owner)).items()
        public |= {f"{owner}.{name}" for name, one in members if inspect.isfunction(one) and not name.startswith("_")}
    assert public - {"reference.tile_list"} == set(calls)
    chance = random.Random(1)
    refused = 0
    for name, (call, valid, *shown) in calls.items():
        names = [one.name for one in inspect.signature(*shown or [call]).parameters.values()
                 if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
        assert_tells(call, *[None] * (len(names) + 1))
        assert assert_tells(call, **valid, no_such_argument=1)
        if valid:
            assert assert_tells(call)
        tried = [{one: value} for one in names for value in WRONG]
        if len(names) > 1:
            tried += [{one: chance.choice(WRONG) for one in chance.sample(names, 2)} for _ in range(100)]
        for wrong in tried:
            if wrong.get("lanes") is not MANY:  # they would be made
                about = next(iter(wrong)) if len(wrong) == 1 and name.endswith(("subdivide", "submit")) else ""
                refused += assert_tells(call, **{**valid, **wrong}, about=about)
    assert refused > 2000


class Raises:
    """An array that fails when it is made, as torch's do with a remedy."""

    def __init__(self, error):
        self._error = error

    def __array__(self, *_):
        raise self._error


# An exception that is replaced by a TypeError, although the user has pressed Ctrl+C.
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("mine"), RuntimeError("use .detach() first")])
def test_what_an_array_raises_goes_through(service, error):
    given = Raises(error)
    calls = [
        lambda: quadtile.subdivide(given, constant=1),
        lambda: quadtile.reference.subdivide(MAP, memory=(1, 1, given)),
        lambda: quadtile.reference.subdivide(MAP, threshold_map=[given] * 5),
        lambda: quadtile.mip_levels(given),
        lambda: quadtile.mip_levels(given, dtype=numpy.float32),
        lambda: quadtile.plot(given, TILES),
        lambda: service.submit(given, constant=1),
    ]
    for call in calls:
        with pytest.raises(type(error)) as raised:
            call()
        assert raised.value is error


# A name that is lost, or a failure that says nothing.
def test_names_that_are_not_utf8(tmp_path):
    path = tmp_path / "\udcff\u00e4.pfm"
    path.write_bytes(b"Pf\n12 9\n-1.0\n" + MAP[::-1].tobytes())
    for name in (path, str(path), bytes(path)):
        assert (quadtile.load_map(name) == MAP).all()
    with pytest.raises(quadtile.ArgumentError) as raised:
        quadtile.load_map(tmp_path / "no\udcff")
    assert str(tmp_path / "no\udcff") in str(raised.value)
    assert quadtile.load_map(path, "Y").dtype == numpy.float32
    with pytest.raises(ValueError, match="channel") as raised:
        quadtile.load_map(path, "\udcff")
    assert "\udcff" in str(raised.value)
    with pytest.raises(quadtile.Error, match="no such \udcff"):
        quadtile.subdivide(MAP, constant=1, device="no such \udcff")


# A number of NumPy that is refused, or a message without the argument.
def test_numbers_of_numpy(service):
    for device in (numpy.int64(0), numpy.uint8(0), numpy.str_("0")):
        assert len(quadtile.subdivide(MAP, constant=2, device=device)) == 1
    number = numpy.int16(1)
    submitted = service.submit(MAP, constant=numpy.float16(2), max_tiles=None, priority=number, deadline_s=number * 60,
                               device=numpy.int8(0), wait=numpy.bool_(True))
    assert len(submitted.result(60)) == 1
    assert len(quadtile.mip_levels(MAP, levels=number, channels=numpy.bool_(False))) == 1
    options = {"lanes": number, "gpu_timeout_s": numpy.float32(9), "repeat_lost": numpy.bool_(False)}
    quadtile.Service(numpy.int32(0), **options).shutdown()
    for error, words, call in (
        (ValueError, "device must be 0 or more", lambda: quadtile.subdivide(MAP, constant=1, device=-1)),
        (TypeError, "device must be a number", lambda: quadtile.Service(True)),
        (ValueError, "priority must be from -2147483648", lambda: service.submit(MAP, constant=1, priority=2**40)),
        (TypeError, "wait must be True or False, not str", lambda: service.submit(MAP, constant=1, wait="no")),
        (TypeError, "channels must be True or False, not int", lambda: quadtile.mip_levels(MAP, channels=4)),
        (ValueError, "levels must be from 0", lambda: quadtile.mip_levels(MAP, levels=2**40)),
        (ValueError, "constant is 1e[+]39, beyond", lambda: quadtile.subdivide(MAP, constant=1e39)),
        (ValueError, "glsl has lone surrogates", lambda: quadtile.subdivide(MAP, glsl="\ud800")),
    ):
        with pytest.raises(error, match=words):
            call()
