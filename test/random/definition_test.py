#!/usr/bin/env python3
"""Compares `quadtile tiles --strategy reference` with the definition of the tile list, in other words.

    definition_test.py QUADTILE [SECONDS [SEED]]

The reference is the measure for all kernels, so it is held against a definition that shares no code
and no language with it: subdivide() below. Random maps, 1 x 1 to about 40 x 40 and thin ones.
"""

import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib


def subdivide(texel, width, height, threshold):
    """The list in canonical order: (level, x, y, importance, threshold, clamped)."""

    def importance(level, x, y):
        return max(texel(i, j) for j in range(y << level, min((y + 1) << level, height))
                   for i in range(x << level, min((x + 1) << level, width)))

    def node(level, x, y):
        if x << level >= width or y << level >= height:
            return []
        if importance(level, x, y) < threshold(level) or level == 0:
            value = importance(level, x, y)
            return [(level, x, y, value, threshold(level), not value < threshold(level))]
        return [tile for j in (0, 1) for i in (0, 1) for tile in node(level - 1, 2 * x + i, 2 * y + j)]

    return node(max(width - 1, height - 1).bit_length(), 0, 0)


def single(value):
    """The nearest 32-bit float; what is above all of them is infinite."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def settled(value):
    """What an importance counts as: NaN as infinity, denormals and -0 as 0."""
    return math.inf if math.isnan(value) else 0.0 if abs(value) < 2.0 ** -126 else value


def scaled(threshold, index):
    """A threshold under a factor of a budget (quadtile/budget.h)."""
    factor = struct.unpack("<f", struct.pack("<I", 0x3F800000 + (index << 17)))[0]
    return single(threshold * factor)


def under_budget(texel, width, height, threshold, max_tiles):
    """The list under the smallest factor that keeps the budget; None where none does."""
    low, high = 0, 2048
    while low < high:
        middle = (low + high) // 2
        tiles = subdivide(texel, width, height, lambda level: scaled(threshold(level), middle))
        low, high = (low, middle) if len(tiles) <= max_tiles else (middle + 1, high)
    if low == 2048:
        return None
    return subdivide(texel, width, height, lambda level: scaled(threshold(level), low))


def write_png(path, rows, size):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    pixels = b"".join(b"\0" + b"".join(code.to_bytes(size, "big") for code in row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8 * size, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) +
                     chunk(b"IEND", b""))


def write_pfm(path, rows):
    # The lowest row comes first.
    texels = b"".join(struct.pack("<f", texel) for row in reversed(rows) for texel in row)
    path.write_bytes(f"Pf\n{len(rows[0])} {len(rows)}\n-1.0\n".encode() + texels)


SPECIAL = [math.nan, math.inf, -math.inf, -1.0, -0.0, 1e-40, 2.0 ** -126, 3e38, 0.0]


def random_map(chance, folder):
    """A file with a map, and its texels as importances."""
    long = chance.choice([chance.randint(1, 12), chance.randint(1, 40), chance.choice([63, 64, 65, 257])])
    short = chance.randint(1, max(1, min(long, 1600 // long)))
    width, height = chance.choice([(long, short), (short, long)])
    levels = chance.choice([2, 4, 1000])  # few values, or many

    def value():
        return chance.randrange(levels) / levels * chance.choice([1, 1, 1, 1, chance.random()])

    size = chance.choice([1, 2, 4])
    if size == 4:
        odd = chance.choice([0, 0.02, 0.3])
        rows = [[single(chance.choice(SPECIAL) if chance.random() < odd else value()) for _ in range(width)]
                for _ in range(height)]
        path = folder / "map.pfm"
        write_pfm(path, rows)
        return path, width, height, [[settled(texel) for texel in row] for row in rows]
    largest = 256 ** size - 1
    rows = [[int(value() * largest) for _ in range(width)] for _ in range(height)]
    path = folder / "map.png"
    write_png(path, rows, size)
    return path, width, height, [[single(code / largest) for code in row] for row in rows]


def random_threshold(chance, top, texels):
    """Options of the command line, and the thresholds of the levels."""
    some = [single(abs(chance.choice(chance.choice(texels)))) for _ in range(top + 1)]
    some = [value if math.isfinite(value) else 1.0 for value in some]
    kind = chance.choice(["--constant", "--level-thresholds", "--max-resolution"])
    if kind == "--constant":
        return [kind, repr(some[0])], lambda level: some[0]
    if kind == "--max-resolution":
        pixels = single(some[0] * 2 ** chance.randint(0, top))
        return [kind, repr(pixels)], lambda level: settled(single(pixels / 2 ** level))
    if chance.random() < 0.5:
        some.sort(reverse=True)
    return [kind, ",".join(map(repr, some))], lambda level: some[level]


def listed(tile):
    def number(value):
        return single(float(value))

    return (tile["level"], tile["x"], tile["y"], number(tile["importance"]), number(tile["threshold"]),
            tile["clamped"])


def check(quadtile, folder, seed):
    """What is wrong with a case, or None."""
    chance = random.Random(seed)
    path, width, height, texels = random_map(chance, folder)
    top = max(width - 1, height - 1).bit_length()
    options, threshold = random_threshold(chance, top, texels)

    def texel(x, y):
        return texels[y][x]

    expected = subdivide(texel, width, height, threshold)
    is_monotone = all(threshold(level) <= threshold(level - 1) for level in range(1, top + 1))
    if is_monotone and width * height < 300 and chance.random() < 0.2:
        max_tiles = chance.randint(1, len(expected))
        options += ["--max-tiles", str(max_tiles)]
        expected = under_budget(texel, width, height, threshold, max_tiles)
    command = [quadtile, "tiles", str(path), "--strategy", "reference", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if expected is None:
        return None if run.returncode == 1 else f"a budget that cannot be kept is kept by {command}"
    if run.returncode != 0:
        return f"{command}: {run.stderr}"
    found = [listed(tile) for tile in json.loads(run.stdout)["tiles"]]
    for place, (mine, theirs) in enumerate(zip(expected, found)):
        if mine != theirs:
            return f"tile {place} is {theirs} instead of {mine}: {command}"
    if len(expected) != len(found):
        return f"{len(found)} tiles instead of {len(expected)}: {command}"
    return None


def main():
    quadtile = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    first = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        seed = first
        while seed == first or time.monotonic() < end:
            wrong = check(quadtile, pathlib.Path(folder), seed)
            if wrong:
                sys.exit(f"FAILED: {wrong}\n    definition_test.py {quadtile} 0 {seed}")
            seed += 1
    print(f"definition: {seed - first} cases without a difference, seed {first}")


if __name__ == "__main__":
    main()
