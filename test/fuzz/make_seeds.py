#!/usr/bin/python3
"""Writes the seeds of the PFM and PNG fuzz targets: seeds/pfm and seeds/png beside this file."""

import pathlib
import struct
import zlib

SEEDS = pathlib.Path(__file__).parent / "seeds"
WIDTH, HEIGHT = 7, 5


def pfm(kind, scale, order):
    channels = 3 if kind == "PF" else 1
    values = [0.25 * i - 1 for i in range(WIDTH * HEIGHT * channels)]
    header = f"{kind}\n{WIDTH} {HEIGHT}\n{scale}\n".encode()
    return header + struct.pack(f"{order}{len(values)}f", *values)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of each colour type


def rows(width, height, colour, bits, filters):
    """The bytes of an image; each row has the next of the filters."""
    bits_per_pixel = CHANNELS[colour] * bits
    row_bytes = (width * bits_per_pixel + 7) // 8
    above = bytes(row_bytes)
    distance = max(1, bits_per_pixel // 8)
    result = b""
    for y in range(height):
        row = bytes((37 * y + 11 * i) % 256 for i in range(row_bytes))
        if colour == 3 and bits == 8:
            row = bytes(b % 16 for b in row)
        method = filters[y % len(filters)]
        filtered = bytearray()
        for i, byte in enumerate(row):
            a = row[i - distance] if i >= distance else 0
            b = above[i]
            c = above[i - distance] if i >= distance else 0
            nearest = min((a, b, c), key=lambda value: abs(a + b - c - value))
            filtered.append((byte - (0, a, b, (a + b) // 2, nearest)[method]) % 256)
        result += bytes([method]) + filtered
        above = row
    return result


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(colour, bits, filters=(0,), interlaced=False, transparency=None, level=9, strategy=0, parts=1):
    if interlaced:
        data = b""
        for left, top, step_x, step_y in ADAM7:
            width = (WIDTH - left + step_x - 1) // step_x
            height = (HEIGHT - top + step_y - 1) // step_y
            if width > 0 and height > 0:
                data += rows(width, height, colour, bits, filters)
    else:
        data = rows(WIDTH, HEIGHT, colour, bits, filters)
    compressor = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
    data = compressor.compress(data) + compressor.flush()

    result = b"\x89PNG\r\n\x1a\n"
    result += chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, colour, 0, 0, interlaced))
    result += chunk(b"gAMA", struct.pack(">I", 45455))
    if colour == 3:
        result += chunk(b"PLTE", bytes(range(3 * min(16, 2**bits))))
    if transparency is not None:
        result += chunk(b"tRNS", transparency)
    size = -(-len(data) // parts)
    for i in range(parts):
        result += chunk(b"IDAT", data[i * size : (i + 1) * size])
    return result + chunk(b"IEND", b"")


def write(target, name, data):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main():
    write("pfm", "grey_little_endian.pfm", pfm("Pf", "-1.0", "<"))
    write("pfm", "grey_big_endian.pfm", pfm("Pf", "1.0", ">"))
    write("pfm", "colour_little_endian.pfm", pfm("PF", "-1.0", "<"))
    write("pfm", "colour_big_endian.pfm", pfm("PF", "2.5e-1", ">"))

    names = {0: "grey", 2: "colour", 3: "palette", 4: "grey_alpha", 6: "colour_alpha"}
    depths = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
    for colour, name in names.items():
        for bits in depths[colour]:
            write("png", f"{name}_{bits}.png", png(colour, bits))
        write("png", f"{name}_interlaced.png", png(colour, depths[colour][-1], interlaced=True))
        write("png", f"{name}_filters.png", png(colour, 8, filters=(4, 3, 1, 2, 0)))
    write("png", "grey_1_interlaced.png", png(0, 1, interlaced=True))
    write("png", "grey_8_transparency.png", png(0, 8, transparency=b"\0\x25"))
    write("png", "colour_8_transparency.png", png(2, 8, transparency=b"\0\x25\0\x30\0\x3b"))
    write("png", "colour_16_transparency.png", png(2, 16, transparency=b"\0\x0b\x16\x21\x2c\x37"))
    write("png", "palette_4_transparency.png", png(3, 4, transparency=bytes(range(0, 128, 16))))
    write("png", "grey_8_stored.png", png(0, 8, level=0))
    write("png", "colour_8_huffman.png", png(2, 8, strategy=zlib.Z_HUFFMAN_ONLY))
    write("png", "colour_8_fixed.png", png(2, 8, strategy=zlib.Z_FIXED))
    write("png", "colour_8_parts.png", png(2, 8, parts=3))


if __name__ == "__main__":
    main()
