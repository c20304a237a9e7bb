"""Mip levels, files, pictures, the baker, the package's description of itself, and printed code."""

import ast
import inspect
import os
import pathlib
import pydoc
import re

import numpy
import pytest

import quadtile
from quadtile import _native
from quadtile._files import images
from conftest import run_script


def half(image, reduce):
    """The next level of a size that is even."""
    return reduce([image[..., ::2, ::2], image[..., 1::2, ::2], image[..., ::2, 1::2], image[..., 1::2, 1::2]], axis=0)


# Axes, levels, channels or a reduction that are not those that were asked for.
def test_mip_levels_are_those_of_numpy():
    image = numpy.random.default_rng(1).random((3, 16, 32), dtype=numpy.float32)
    levels = quadtile.mip_levels(image, "mean")
    assert [level.shape[1:] for level in levels] == [(16, 32), (8, 16), (4, 8), (2, 4), (1, 2), (1, 1)]
    numpy.testing.assert_allclose(levels[1], half(image, numpy.mean), rtol=1e-6)
    two = quadtile.mip_levels(image[0], "min_max", levels=2)[1]
    numpy.testing.assert_array_equal(two, numpy.stack([half(image[0], numpy.min), half(image[0], numpy.max)], -1))
    glsl = "float reduce(float a, float b, float c, float d) { return a + 2.0 * d; }"
    custom = quadtile.mip_levels(image[0], "custom", glsl=glsl, levels=2)[1]
    numpy.testing.assert_allclose(custom, image[0][::2, ::2] + 2 * image[0][1::2, 1::2], rtol=1e-6)
    odd = quadtile.mip_levels(image[0][:5, :7], edge_rule="round_up")
    assert [level.shape for level in odd] == [(5, 7), (3, 4), (2, 2), (1, 1)]
    grey = (image[0] * 255).astype(numpy.uint8)
    assert (quadtile.mip_levels(grey)[1] == half(grey, numpy.max)).all()
    assert quadtile.mip_levels(grey, "sum")[1].dtype == numpy.float32
    colour = numpy.repeat(grey[..., None], 4, -1)
    linear, srgb = (quadtile.mip_levels(colour, "mean", channels=True, srgb=srgb)[-1][0, 0] for srgb in (False, True))
    assert srgb[0] > linear[0] + 5  # reduced in linear light


def test_a_plot_has_the_map_and_an_outline_for_each_tile():
    pytest.importorskip("matplotlib")
    map = numpy.zeros((2, 20, 30), numpy.float32)
    map[1, 3, 4], map[1, 9, 9], map[1, 0, 0], map[1, 0, 1] = 8, numpy.nan, numpy.inf, -1
    tiles = quadtile.subdivide(map, max_resolution=8)
    figure = quadtile.plot(map, tiles, layer=1)
    axes = figure.axes[0]
    assert axes.images[0].get_array().shape == (20, 30, 3)
    assert tuple(axes.images[0].get_array()[9, 9]) == (0, 220, 70)  # NaN
    outlines = axes.collections[0].get_segments()
    assert len(outlines) == (tiles["layer"] == 1).sum()
    corners = tiles[tiles["layer"] == 1].rectangles()[:, :2]
    assert {tuple(outline[0]) for outline in outlines} == {tuple(corner) for corner in corners}
    assert quadtile.plot(map[0], tiles, axes=axes) is figure
    with pytest.raises(ValueError, match="20 x 30"):
        quadtile.plot(map[0].T, tiles)
    with pytest.raises(ValueError, match="layer 2"):
        quadtile.plot(map, tiles, layer=2)
    figure.savefig(os.devnull, format="png")


ROOM = """mtllib room.mtl
v 0 0 0
v 1 0 0
v 1 0 1
v 0 0 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 1 0
usemtl floor
f 4/4/1 3/3/1 2/2/1 1/1/1
"""


@pytest.mark.skipif("QUADTILE_BAKE" not in os.environ, reason="built without the baker")
def test_bake_returns_the_light_map(tmp_path, monkeypatch):
    (tmp_path / "room.obj").write_text(ROOM)
    (tmp_path / "room.mtl").write_text("newmtl floor\nKd 0.5 0.5 0.5\n")
    told = []
    quick = {"size": "8x8", "quality": "draft", "samples": 64, "direct_samples": 64, "denoise": "off"}
    kept = tmp_path / "kept.exr"
    light = quadtile.bake(tmp_path / "room.obj", sky=(1, 2, 3), progress=told.append, output=kept, **quick)
    assert light.shape == (8, 8, 4) and light.dtype == numpy.float32
    # A plane under a sky of radiance L receives pi L.
    numpy.testing.assert_allclose(light[..., :3].mean((0, 1)), numpy.pi * numpy.array([1, 2, 3]), rtol=0.05)
    assert (light[..., 3] == 1).all() and kept.exists()
    assert told[-1].fraction == 1 and all(isinstance(progress.stage, str) for progress in told)
    assert [progress.fraction for progress in told] == sorted(progress.fraction for progress in told)
    with pytest.raises(quadtile.ArgumentError, match="--size"):
        quadtile.bake(tmp_path / "room.obj", size="x")
    with pytest.raises(quadtile.Error, match="none.glb") as raised:
        quadtile.bake(tmp_path / "none.glb")
    assert raised.value.code == "baker"
    with pytest.raises(ZeroDivisionError):
        quadtile.bake(tmp_path / "room.obj", sky=(1, 1, 1), progress=lambda _: 1 / 0, **quick)
    monkeypatch.delenv("QUADTILE_BAKE")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError, match="quadtile-baker"):
        quadtile.bake(tmp_path / "room.obj")


def test_bake_tells_of_a_crash(tmp_path, monkeypatch):
    program = tmp_path / "quadtile-bake"
    program.write_text("#!/bin/sh\necho 'quadtile-bake: warning: careful' >&2\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("QUADTILE_BAKE", str(program))
    with pytest.warns(UserWarning, match="careful"), pytest.raises(quadtile.Error, match="signal 11"):
        quadtile.bake("room.glb")


def test_the_package_describes_itself():
    text = pydoc.plain(pydoc.render_doc(quadtile))
    for name in quadtile.__all__:
        assert name in text
        one = getattr(quadtile, name)
        if callable(one):
            assert one.__module__ == "quadtile", name
            assert inspect.getdoc(one), name
    assert "pybind" not in text and "_native." not in text
    # The stubs of the native modules name what is there.
    for module in (_native, images()):
        stub = ast.parse(pathlib.Path(quadtile.__file__).with_name(module.__name__.split(".")[1] + ".pyi").read_text())
        named = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
        assert named == {name for name in dir(module) if not name.startswith("__")}
    assert (pathlib.Path(quadtile.__file__).parent / "py.typed").exists()
    assert run_script("from quadtile import *; subdivide, Service").returncode == 0


# The code that docs/python.md and README.md print, run in its order: a page that promises what is not so.
@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_printed_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (pathlib.Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert blocks
    names = {}
    for block in blocks:
        # Line numbers of failures are the page's.
        line = text.count("\n", 0, block.start()) + 1
        exec(compile("\n" * line + block[1], page, "exec"), names)
