#!/usr/bin/env python3
"""Subdivides an importance map from a NumPy file and writes its tiles as JSON, as the command line
does:

    QUADTILE_LIBRARY=path/to/libquadtile.so quadtile_tiles.py map.npy --max-resolution 64 -o tiles.json
"""

import argparse
import json
import math
import sys


def fail(message):
    sys.exit(f"quadtile_tiles.py: error: {message}")


try:
    import numpy
except ImportError:
    fail("NumPy is missing; on Debian: apt-get install python3-numpy")
try:
    import quadtile
except ImportError as error:
    fail(error)


BALANCES = {
    "none": quadtile.BALANCE_NONE,
    "edges": quadtile.BALANCE_EDGES,
    "corners": quadtile.BALANCE_CORNERS,
}
COARSER = {
    "l": quadtile.TILE_COARSER_LEFT,
    "r": quadtile.TILE_COARSER_RIGHT,
    "t": quadtile.TILE_COARSER_TOP,
    "b": quadtile.TILE_COARSER_BOTTOM,
}


def parse_arguments():
    parser = argparse.ArgumentParser(description="Subdivides an importance map.")
    parser.add_argument("map", help="NumPy file of 32-bit floats, height x width")
    threshold = parser.add_mutually_exclusive_group(required=True)
    threshold.add_argument("--constant", type=float, help="the threshold of every level")
    threshold.add_argument("--max-resolution", type=float, help="pixels on a side of a tile")
    parser.add_argument("--max-tiles", type=int, default=0, help="at most so many tiles")
    parser.add_argument(
        "--balance",
        choices=BALANCES,
        default="none",
        help="tiles that share an edge (edges), or an edge or a corner (corners), differ by at "
        "most one level",
    )
    parser.add_argument("-o", "--output", help="JSON file; else standard output")
    return parser.parse_args()


def json_number(value):
    """JSON has no notation for infinities: they are strings."""
    return value if math.isfinite(value) else str(value)


def write_json(tiles, balance, file):
    head = f'{{"width":{tiles.width},"height":{tiles.height},"levels":{tiles.levels}'
    if balance != "none":
        head += f',"balance":"{balance}"'
    file.write(f'{head},"nan_texels":{tiles.nan_texels},\n "tiles":[')
    separator = "\n  "
    for tile in tiles:
        record = {
            "level": tile.level,
            "x": tile.x,
            "y": tile.y,
            "layer": tile.layer,
            "importance": json_number(tile.importance),
            "threshold": json_number(tile.threshold),
            "clamped": bool(tile.flags & quadtile.TILE_CLAMPED),
        }
        if balance != "none":
            sides = (side for side, flag in COARSER.items() if tile.flags & flag)
            record["coarser"] = "".join(sides)
        file.write(separator + json.dumps(record, separators=(",", ":")))
        separator = ",\n  "
    file.write("]}\n")


def main():
    arguments = parse_arguments()
    if arguments.max_tiles < 0:
        fail("--max-tiles must not be negative")
    try:
        texels = numpy.load(arguments.map)
    except (OSError, ValueError) as error:
        fail(f"cannot read '{arguments.map}': {error}")
    if texels.dtype != numpy.float32 or texels.ndim != 2:
        fail(f"'{arguments.map}' has {texels.ndim} dimensions of {texels.dtype}, not 2 of float32")
    try:
        with quadtile.Service() as service:
            tiles = service.submit(
                numpy.ascontiguousarray(texels),
                constant=arguments.constant,
                max_resolution=arguments.max_resolution,
                max_tiles=arguments.max_tiles,
                balance=BALANCES[arguments.balance],
            ).take()
    except quadtile.Error as error:
        fail(error)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            write_json(tiles, arguments.balance, file)
    else:
        write_json(tiles, arguments.balance, sys.stdout)
    print(
        f"{len(tiles)} tiles of {tiles.width} x {tiles.height} texels by {tiles.strategy} "
        f"on {tiles.device}",
        file=sys.stderr,
    )


main()
