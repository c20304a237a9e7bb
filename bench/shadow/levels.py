#!/usr/bin/env python3
"""Writes two levels for quadtile_shadow_bench as OBJ: bench/shadow/levels.py FOLDER.

yard.obj: halls and yards of boxes: walls with doors, columns, slatted roofs, stairs. grove.obj: hills with trees and
rocks. Both have at most 60,000 triangles, and are the same in every run.
"""

import math
import pathlib
import random
import sys

BOX_FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


class Mesh:
    def __init__(self):
        self.vertices = []
        self.faces = []

    def polygon(self, points):
        first = len(self.vertices) + 1
        self.vertices += points
        self.faces += [(first, first + i, first + i + 1) for i in range(1, len(points) - 1)]

    def box(self, low, high):
        corners = [tuple(high[a] if i >> a & 1 else low[a] for a in range(3)) for i in range(8)]
        for face in BOX_FACES:
            self.polygon([corners[i] for i in face])

    def cone(self, x, y, z, radius, height, top, sides):
        """A ring at y, another of radius `top` at y + height."""
        def ring(r, level):
            return [(x + r * math.cos(2 * math.pi * i / sides), level, z + r * math.sin(2 * math.pi * i / sides))
                    for i in range(sides)]
        below, above = ring(radius, y), ring(top, y + height)
        for i in range(sides):
            j = (i + 1) % sides
            self.polygon([below[j], below[i], above[i], above[j]])
        self.polygon(below)
        self.polygon(above[::-1])

    def save(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.writelines("v %.4f %.4f %.4f\n" % v for v in self.vertices)
            file.writelines("f %d %d %d\n" % f for f in self.faces)
        print(f"{path}: {len(self.faces)} triangles")


def yard():
    """8 x 8 rooms of 10 units."""
    mesh = Mesh()
    rng = random.Random(23)
    rooms, size, height = 8, 10.0, 5.0
    half = rooms * size / 2
    mesh.box((-half - 1, -1, -half - 1), (half + 1, 0, half + 1))
    for line in range(rooms + 1):
        for room in range(rooms):
            along = room * size - half
            across = line * size - half
            door = along + rng.uniform(2, 6)
            sill = height if 0 < line < rooms else 0.0
            for low, high, bottom in ((along, door, 0), (door, door + 2, 2.5 if sill else 0), (door + 2, along + size, 0)):
                mesh.box((low, bottom, across - 0.2), (high, height, across + 0.2))
                mesh.box((across - 0.2, bottom, low), (across + 0.2, height, high))
    for i in range(rooms):
        for k in range(rooms):
            x, z = i * size - half, k * size - half
            kind = rng.randrange(4)
            if kind == 0:  # slats
                for slat in range(24):
                    mesh.box((x + 0.4 * slat, height, z), (x + 0.4 * slat + 0.15, height + 0.3, z + size))
            elif kind == 1:  # columns and beams
                for a in range(4):
                    for b in range(4):
                        mesh.cone(x + 2 + 2 * a, 0, z + 2 + 2 * b, 0.3, height, 0.25, 12)
                    mesh.box((x, height, z + 1.8 + 2 * a), (x + size, height + 0.4, z + 2.2 + 2 * a))
            elif kind == 2:  # stairs and rails
                for step in range(16):
                    mesh.box((x + 1, 0, z + 1 + 0.4 * step), (x + 4, 0.3 * (step + 1), z + 1.4 + 0.4 * step))
                    mesh.box((x + 4, 0.3 * step, z + 1.1 + 0.4 * step), (x + 4.05, 0.3 * step + 1.2, z + 1.15 + 0.4 * step))
            for _ in range(12):
                a, b, s = x + rng.uniform(1, 8), z + rng.uniform(1, 8), rng.uniform(0.2, 1.2)
                mesh.box((a, 0, b), (a + s, s, b + s))
    return mesh


def grove():
    """Hills of 96 units."""
    mesh = Mesh()
    rng = random.Random(7)
    cells, half = 64, 48.0

    def ground(x, z):
        return 3 * math.sin(0.11 * x) * math.cos(0.09 * z) + 1.2 * math.sin(0.31 * x + 1) + 0.7 * math.cos(0.43 * z)

    def corner(i, k):
        x, z = 2 * half * i / cells - half, 2 * half * k / cells - half
        return (x, ground(x, z), z)
    for i in range(cells):
        for k in range(cells):
            mesh.polygon([corner(i, k), corner(i, k + 1), corner(i + 1, k + 1)])
            mesh.polygon([corner(i, k), corner(i + 1, k + 1), corner(i + 1, k)])
    for _ in range(260):
        x, z = rng.uniform(-46, 46), rng.uniform(-46, 46)
        y, tall = ground(x, z) - 0.2, rng.uniform(3, 8)
        mesh.cone(x, y, z, 0.03 * tall, tall, 0.01 * tall, 8)
        for branch in range(10):
            turn, up = 2.4 * branch, y + tall * (0.35 + 0.06 * branch)
            reach = 0.3 * tall * (1 - 0.08 * branch)
            dx, dz = reach * math.cos(turn), reach * math.sin(turn)
            for side in (-1, 1):  # two leaves
                mesh.polygon([(x, up, z), (x + dx - side * 0.4 * dz, up + 0.2, z + dz + side * 0.4 * dx),
                              (x + 1.2 * dx, up - 0.1, z + 1.2 * dz)])
            mesh.box((x + 0.6 * dx - 0.1, up - 0.1, z + 0.6 * dz - 0.1), (x + 0.6 * dx + 0.1, up + 0.1, z + 0.6 * dz + 0.1))
    for _ in range(250):
        x, z, s = rng.uniform(-46, 46), rng.uniform(-46, 46), rng.uniform(0.3, 1.5)
        mesh.cone(x, ground(x, z) - 0.2, z, s, s, 0.5 * s, 7)
    return mesh


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
yard().save(folder / "yard.obj")
grove().save(folder / "grove.obj")
