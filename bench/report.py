#!/usr/bin/env python3
"""Turns quadtile_bench's JSON output into tables and figures.

    report.py table results.json                Markdown tables on standard output, of what was run
    report.py plot results.json figure.svg      time against SUBTREE_LEVELS beside per level
    report.py roofline results.json figure.svg  bytes a second of each way from the map to its list,
                                                under the roof of reading all texels

Figures need matplotlib: Debian's python3-matplotlib.
"""

import argparse
import json
import sys
import textwrap

SUBTREE_LEVELS = range(1, 9)

# Of a record in the list.
TILE_BYTES = 16

# From the map to its tiles: benchmark, label, colour and marker.
PIPELINES = [
    ("pipeline_per_level", "pyramid + per level", "#c0392b", "v"),
    ("pipeline_subtree_6", "pyramid + subtree (6)", "#d68910", "^"),
    ("pipeline_fused", "fused", "#2c6fbb", "o"),
    ("pipeline_fused_canonical", "fused, canonical", "#17a589", "s"),
    ("pipeline_fused_budget", "fused, half the tiles", "#7d3c98", "D"),
]

# Whose traffic bounds a downsampler's formats: those with as many bytes a texel, below and above.
TRAFFIC_FORMATS = {
    "r32_float": "r32_float",
    "d32_float_to_r32_float": "r32_float",
    "rgba8_unorm": "rgba8_unorm",
    "rgba8_srgb": "rgba8_unorm",
}


class Results:
    """Median microseconds by map and subject, in the order of the run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.context = document["context"]
        self.maps = {}  # (name, extent) -> {subject: microseconds}
        self.tiles = {}  # (name, extent) -> number of tiles
        self.tiles_left = {}  # (name, extent) -> number of tiles within a budget
        self.map_bytes = {}  # (name, extent) -> bytes of all texels
        self.downsampler = {}  # (reduction, formats, variant) -> {size: microseconds}
        self.skipped = {}  # (benchmark without size, reason) -> sizes
        for benchmark in document["benchmarks"]:
            if benchmark.get("run_type") == "aggregate":
                continue
            assert benchmark["time_unit"] == "us"
            parts = benchmark["name"].split("/")
            if parts[0] == "downsampler":
                *case, size = parts[1:5]
                times = self.downsampler.setdefault(tuple(case), {})
                if benchmark.get("error_occurred"):
                    self.skip("/".join(parts[:4]), size, benchmark["error_message"])
                else:
                    times[size] = benchmark["real_time"]
                continue
            subject, name, extent = parts[:3]
            times = self.maps.setdefault((name, extent), {})
            if benchmark.get("error_occurred"):
                self.skip(f"{subject}/{name}", extent, benchmark["error_message"])
                continue
            times[subject] = benchmark["real_time"]
            if "tiles" in benchmark:
                self.tiles[name, extent] = int(benchmark["tiles"])
            if "tiles_left" in benchmark:
                self.tiles_left[name, extent] = int(benchmark["tiles_left"])
            if "map_bytes" in benchmark:
                self.map_bytes[name, extent] = int(benchmark["map_bytes"])

    def skip(self, benchmark, size, reason):
        self.skipped.setdefault((benchmark, reason), []).append(size)

    def roof(self, name, formats, size):
        """Microseconds; of traffic, which comes in two orders of texels, the faster."""
        times = [
            sizes[size]
            for (kind, roof_formats, roof), sizes in self.downsampler.items()
            if kind == "roof" and roof_formats == formats and roof.startswith(name)
            and size in sizes
        ]
        return min(times, default=None)

    def gigabytes_per_second(self, map_key, subject):
        """What must be read and written, each byte once, over the time; None where not measured."""
        time = self.maps[map_key].get(subject)
        if time is None:
            return None
        tiles = 0
        if subject == "pipeline_fused_budget":
            tiles = self.tiles_left[map_key]
        elif subject.startswith("pipeline_"):
            tiles = self.tiles[map_key]
        return (self.map_bytes[map_key] + TILE_BYTES * tiles) / time * 1e-3

    def describe(self):
        context = self.context
        return (
            f"{context['device']}, driver {context['driver']}, Vulkan {context['vulkan']}, "
            f"subgroups of {context['subgroup_size']}, {context['date'][:10]}, "
            f"medians of {context['samples']}"
        )


def three_digits(value):
    """Three significant digits, without exponent; a dash for nothing."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(times, numerator, denominator):
    if numerator not in times or denominator not in times:
        return None
    return times[numerator] / times[denominator]


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def extents(size):
    """Width, height and layers of "4096", "1920x1080" or "512x512x64"."""
    numbers = [int(number) for number in size.split("x")]
    return (numbers * 2 if len(numbers) == 1 else numbers) + [1] * (len(numbers) < 3)


def texels(size):
    width, height, layers = extents(size)
    return width * height * layers


def is_power_of_two(number):
    return number & (number - 1) == 0


def downsampler_cell(results, case, size):
    """Microseconds, with the ratios to traffic and to an empty dispatch."""
    time = results.downsampler[case].get(size)
    if time is None:
        return "–"
    if case[0] == "roof":
        return three_digits(time)
    traffic = results.roof("traffic", TRAFFIC_FORMATS.get(case[1]), size)
    empty = results.roof("empty", "any", size)
    ratios = [three_digits(roof and time / roof) for roof in (traffic, empty)]
    return f"{three_digits(time)} ({', '.join(ratios)})"


def print_downsampler_sizes(results, sizes):
    cases = [
        case
        for case, times in results.downsampler.items()
        if "_dirty_" not in case[2] and any(size in times for size in sizes)
    ]
    cases.sort(key=lambda case: case[0] != "roof")
    print_table(
        ["case", *sizes],
        [
            [" ".join(case), *(downsampler_cell(results, case, size) for size in sizes)]
            for case in cases
        ],
    )


def print_batches(results, sizes):
    rows = []
    for size in sizes:
        width, height, layers = extents(size)
        for case, times in results.downsampler.items():
            single = next((s for s in times if "x" not in s and texels(s) == texels(size)), None)
            if size not in times or single is None:
                continue
            rows.append(
                [
                    " ".join(case),
                    f"{layers} × {width} x {height}",
                    downsampler_cell(results, case, size),
                    downsampler_cell(results, case, single),
                    three_digits(times[size] / times[single]),
                ]
            )
    if rows:
        print("Many images at once, against one of as many texels:\n")
        print_table(["case", "images", "many", "one", "many / one"], rows)


def print_dirty(results):
    rows = []
    for case, times in results.downsampler.items():
        if "_dirty_" not in case[2]:
            continue
        all_blocks = results.downsampler.get((*case[:2], case[2].split("_dirty_")[0]), {})
        for size, time in times.items():
            whole = all_blocks.get(size)
            rows.append(
                [
                    " ".join(case),
                    size,
                    three_digits(time),
                    three_digits(whole),
                    three_digits(whole and whole / time),
                ]
            )
    if rows:
        print("One block of 64 x 64 changed, microseconds:\n")
        print_table(["case", "size", "update", "all levels", "all levels / update"], rows)


def print_downsampler(results):
    sizes = sorted({s for times in results.downsampler.values() for s in times}, key=texels)
    single = [size for size in sizes if extents(size)[2] == 1]
    even = [size for size in single if all(map(is_power_of_two, extents(size)))]
    odd = [size for size in single if size not in even]
    print(
        "Mip levels, microseconds and in brackets the ratios to pure traffic of the same format and "
        "to an empty dispatch:\n"
    )
    for table in (even, odd):
        if table:
            print_downsampler_sizes(results, table)
    print_batches(results, [size for size in sizes if size not in single])
    print_dirty(results)


def print_maps(results):
    columns = {
        "empty dispatch": "empty_dispatch",
        "read all texels": "read_texels",
        "read all texels, write as many tiles": "read_texels_write_tiles",
        "pyramid": "pyramid",
        "per level": "subdivision_per_level",
        "subtree (6)": "subdivision_subtree_6",
        "pyramid + per level": "pipeline_per_level",
        "pyramid + subtree (6)": "pipeline_subtree_6",
        "fused": "pipeline_fused",
        "fused, canonical": "pipeline_fused_canonical",
        "fused, half the tiles": "pipeline_fused_budget",
        "fused, one block changed": "pipeline_fused_update",
    }
    print("Microseconds:\n")
    print_table(
        ["map", "tiles", *columns],
        [
            [
                f"{name} {extent}",
                f"{results.tiles.get((name, extent), 0):,}",
                *(three_digits(times.get(subject)) for subject in columns.values()),
            ]
            for (name, extent), times in results.maps.items()
        ],
    )

    ratios = {
        "pyramid / empty dispatch": ("pyramid", "empty_dispatch"),
        "pyramid / read all texels": ("pyramid", "read_texels"),
        "per level / subtree (6)": ("subdivision_per_level", "subdivision_subtree_6"),
        "(pyramid + subtree (6)) / empty dispatch": ("pipeline_subtree_6", "empty_dispatch"),
        "(pyramid + subtree (6)) / read all texels": ("pipeline_subtree_6", "read_texels"),
        "fused / empty dispatch": ("pipeline_fused", "empty_dispatch"),
        "fused / read all texels": ("pipeline_fused", "read_texels"),
        "fused / read and write": ("pipeline_fused", "read_texels_write_tiles"),
        "canonical / any": ("pipeline_fused_canonical", "pipeline_fused"),
        "budget / none": ("pipeline_fused_budget", "pipeline_fused"),
        "update / canonical": ("pipeline_fused_update", "pipeline_fused_canonical"),
    }
    print("Ratios:\n")
    print_table(
        ["map", *ratios],
        [
            [
                f"{name} {extent}",
                *(three_digits(ratio(times, *subjects)) for subjects in ratios.values()),
            ]
            for (name, extent), times in results.maps.items()
        ],
    )

    print("The subdivision alone, microseconds, per level and by SUBTREE_LEVELS:\n")
    subjects = ["subdivision_per_level"] + [f"subdivision_subtree_{n}" for n in SUBTREE_LEVELS]
    print_table(
        ["map", "per level", *map(str, SUBTREE_LEVELS)],
        [
            [f"{name} {extent}", *(three_digits(times.get(subject)) for subject in subjects)]
            for (name, extent), times in results.maps.items()
        ],
    )


def print_tables(results):
    print(f"{results.describe()}.\n")
    if results.maps:
        print_maps(results)
    if results.downsampler:
        print_downsampler(results)
    if results.skipped:
        print("Skipped:\n")
        for (benchmark, reason), sizes in results.skipped.items():
            print(f"- {benchmark} ({', '.join(sizes)}): {reason}")


def make_panels(count, height, **options):
    """A figure, `count` axes of it, each `height` inches, row by row, and how many lie in a row."""
    import matplotlib  # tables do without it

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(3, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4 * columns, height * rows), squeeze=False, layout="constrained",
        **options,
    )
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, axes.flat[:count], columns


def plot(results, path, names):
    subjects = ["subdivision_per_level"] + [f"subdivision_subtree_{n}" for n in SUBTREE_LEVELS]
    panels = {
        (name, extent): times
        for (name, extent), times in results.maps.items()
        if all(subject in times for subject in subjects) and (not names or name in names)
    }
    if not panels:
        sys.exit("report.py: error: no map with per-level and all subtree times")
    figure, axes, columns = make_panels(len(panels), 2.8)
    labels = ["per\nlevel", *map(str, SUBTREE_LEVELS)]
    colours = ["#c0392b"] + ["#2c6fbb"] * len(SUBTREE_LEVELS)
    for axis, ((name, extent), times) in zip(axes, panels.items()):
        bars = axis.bar(labels, [times[subject] for subject in subjects], color=colours)
        axis.bar_label(bars, [three_digits(times[s]) for s in subjects], fontsize=6)
        axis.margins(y=0.12)
        axis.set_title(f"{name} {extent}, {results.tiles[name, extent]:,} tiles", fontsize=9)
        axis.set_xlabel("SUBTREE_LEVELS")
        axis.set_ylabel("time (µs)")
    title = textwrap.fill(f"Subdivision alone: {results.describe()}", width=55 * columns)
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, dpi=150)


# Panels of maps that differ in more than their size.
BATCHES = "batches"
SINGLE_MAPS = "maps of one size"


def roofline_panels(results, names):
    """Title -> [(label, map)]: each content in all its sizes; batches; maps of one size."""
    by_name = {}
    batches = []
    for name, extent in results.map_bytes:
        if names and name not in names:
            continue
        width, height, layers = extents(extent)
        if layers > 1:
            batches.append((f"{name}\n{layers} × {width}²", (name, extent)))
        else:
            label = f"{width}²" if width == height else extent
            by_name.setdefault(name, []).append((label, (name, extent)))
    panels = {name: sorted(maps, key=lambda m: texels(m[1][1])) for name, maps in by_name.items()}
    single = [
        (f"{name}, {label}", map_key)
        for name, maps in panels.items() if len(maps) == 1
        for label, map_key in maps
    ]
    panels = {name: maps for name, maps in panels.items() if len(maps) > 1}
    return {
        title: maps
        for title, maps in [*panels.items(), (BATCHES, batches), (SINGLE_MAPS, single)]
        if maps
    }


def roofline(results, path, names):
    panels = roofline_panels(results, names)
    if not panels:
        sys.exit("report.py: error: no map with read_texels")
    figure, axes, columns = make_panels(len(panels), 3.4, sharey=True)
    for axis, (title, maps) in zip(axes, panels.items()):
        # Between sizes there are others; between one map and another there is nothing.
        of_one_content = title not in (BATCHES, SINGLE_MAPS)
        places = range(len(maps))
        roof = [results.gigabytes_per_second(map_key, "read_texels") for _, map_key in maps]
        axis.step(
            [-0.5, *places, len(maps) - 0.5], [roof[0], *roof, roof[-1]], where="mid",
            color="black", linewidth=1, label="roof: read all texels",
        )
        for subject, label, colour, marker in PIPELINES:
            rates = [results.gigabytes_per_second(map_key, subject) for _, map_key in maps]
            measured = [(place, rate) for place, rate in zip(places, rates) if rate is not None]
            if measured:
                axis.plot(
                    *zip(*measured), linestyle="-" if of_one_content else "none", linewidth=1,
                    marker=marker, markersize=4, color=colour, label=label,
                )
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        labels = [label for label, _ in maps]
        slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        axis.set_xticks(places, labels, fontsize=7, **(slanted if title == SINGLE_MAPS else {}))
        axis.grid(axis="y", which="both", linewidth=0.3)
        axis.set_title(title, fontsize=9)
        axis.set_ylabel("GB/s")
    legend = {
        text: handle for axis in axes for handle, text in zip(*axis.get_legend_handles_labels())
    }
    figure.legend(legend.values(), legend, loc="lower center", ncols=3, fontsize=8)
    room = 0.5 / figure.get_figheight()  # of half an inch, for the legend
    figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))
    title = f"Texels of the map and {TILE_BYTES} bytes a tile, a second: {results.describe()}"
    figure.suptitle(textwrap.fill(title, width=55 * columns), fontsize=9)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    table_command = commands.add_parser("table")
    table_command.add_argument("results", help="quadtile_bench --benchmark_out=FILE")
    plot_command = commands.add_parser("plot")
    roofline_command = commands.add_parser("roofline")
    for command in (plot_command, roofline_command):
        command.add_argument("results", help="quadtile_bench --benchmark_out=FILE")
        command.add_argument("figure", help="file to write, .png or .svg")
        command.add_argument(
            "--map", action="append", dest="maps", help="only this map; may be repeated"
        )
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.command == "table":
        print_tables(results)
    elif arguments.command == "plot":
        plot(results, arguments.figure, arguments.maps)
    else:
        roofline(results, arguments.figure, arguments.maps)


if __name__ == "__main__":
    main()
