#!/usr/bin/env python3
"""Turns quadtile_bench's JSON output into tables and figures.

    report.py table results.json                Markdown tables on standard output, of what was run
    report.py levels results.json figure.png    the subdivision alone: per level against subtrees

The figure needs matplotlib: Debian's python3-matplotlib.
"""

import argparse
import json
import sys
import textwrap

# The subdivision alone by levels per dispatch: label and benchmark.
SUBDIVISIONS = {"per level": "subdivision_per_level", **{str(n): f"subdivision_subtree_{n}" for n in range(2, 9)}}

# From the map to its tiles: label and benchmark.
PIPELINES = {
    "pyramid + per level": "pipeline_per_level",
    "pyramid + subtree (6)": "pipeline_subtree_6",
    "fused": "pipeline_fused",
    "fused, canonical": "pipeline_fused_canonical",
    "fused, half the tiles": "pipeline_fused_budget",
}
STAGES = {
    "empty dispatch": "empty_dispatch",
    "read all texels": "read_texels",
    "pyramid": "pyramid",
    "per level": "subdivision_per_level",
    "subtree (6)": "subdivision_subtree_6",
    **PIPELINES,
}

# Formats of a downsampler, and the formats whose traffic bounds them: as many bytes per texel, below and above.
TRAFFIC_FORMATS = {
    "r32_float": "r32_float",
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
        # (name, extent) -> {counter: value}: tiles, tiles_left within a budget
        self.counters = {}
        self.downsampler = {}  # (reduction, formats, variant) -> {size: microseconds}
        self.skipped = {}  # (benchmark without size, reason) -> sizes
        for benchmark in document["benchmarks"]:
            if benchmark.get("run_type") != "aggregate":
                self.add(benchmark)

    def add(self, benchmark):
        assert benchmark["time_unit"] == "us"
        parts = benchmark["name"].split("/")
        if parts[0] == "downsampler":
            *case, size = parts[1:5]
            name, key = "/".join(parts[:4]), size
            times = self.downsampler.setdefault(tuple(case), {})
        else:
            subject, map_name, size = parts[:3]
            name, key = f"{subject}/{map_name}", subject
            times = self.maps.setdefault((map_name, size), {})
            counters = self.counters.setdefault((map_name, size), {})
            for counter in ("tiles", "tiles_left"):
                if counter in benchmark:
                    counters[counter] = int(benchmark[counter])
        if benchmark.get("error_occurred"):
            self.skipped.setdefault((name, benchmark["error_message"]), []).append(size)
        else:
            times[key] = benchmark["real_time"]

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


def ratio(numerator, denominator):
    return numerator and denominator and numerator / denominator


def print_table(title, header, rows):
    rows = list(rows)
    if rows:
        if title:
            print(f"{title}:\n")
        print("| " + " | ".join(header) + " |")
        print("|---|" + "---:|" * (len(header) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        print()


def extent_of(size):
    """Of "4096" or "4096x4096"."""
    return int(size.split("x")[0])


def downsampler_cell(results, case, size):
    """Microseconds, with the ratio to traffic."""
    time = results.downsampler[case].get(size)
    traffic = results.downsampler.get(("roof", TRAFFIC_FORMATS.get(case[1]), "traffic"), {}).get(size)
    over = "" if case[0] == "roof" or not traffic or not time else f" ({three_digits(time / traffic)})"
    return three_digits(time) + over


def print_downsampler(results):
    cases = sorted(results.downsampler, key=lambda case: case[0] != "roof")
    sizes = sorted({s for times in results.downsampler.values() for s in times}, key=int)
    print("Mip levels, microseconds and in brackets the ratio to pure traffic of the same format:\n")
    print_table("", ["case", *sizes],
                ([" ".join(case), *(downsampler_cell(results, case, size) for size in sizes)] for case in cases))


def print_maps(results):
    def rows(cells, *more):
        return [
            [" ".join(key), *(column(key) for column in more), *map(three_digits, cells(times))]
            for key, times in results.maps.items()
        ]

    print_table("Microseconds", ["map", "tiles", *STAGES, "fused / read"],
                rows(lambda times: [*map(times.get, STAGES.values()),
                                    ratio(times.get("pipeline_fused"), times.get("read_texels"))],
                     lambda key: f"{results.counters[key].get('tiles', 0):,}"))
    print_table("The subdivision alone, microseconds, by levels per dispatch",
                ["map", *SUBDIVISIONS, "per level / best"],
                rows(lambda times: [*(found := [times.get(name) for name in SUBDIVISIONS.values()]),
                                    ratio(found[0], min(filter(None, found), default=None))]))


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


def levels(results, path):
    """A panel for each content, a line for each size."""
    panels = {}
    for (name, extent), times in results.maps.items():
        if all(subject in times for subject in SUBDIVISIONS.values()):
            panels.setdefault(name, []).append((extent_of(extent), [times[s] for s in SUBDIVISIONS.values()]))
    if not panels:
        sys.exit("report.py: error: no map with the times of all levels per dispatch")
    import matplotlib  # tables do without it

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 2.6 * rows), squeeze=False, layout="constrained",
                                sharey=True)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, (name, sizes) in zip(axes.flat, panels.items()):
        for extent, times in sorted(sizes):
            axis.plot(list(SUBDIVISIONS), times, marker="o", markersize=3, linewidth=1, label=f"{extent}²")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.tick_params(labelsize=7)
        axis.grid(axis="y", which="both", linewidth=0.3)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("levels per dispatch of subtree", fontsize=8)
        axis.set_ylabel("µs", fontsize=8)
    axes.flat[0].legend(fontsize=6)
    title = f"Subdivision alone, per level against subtrees: {results.describe()}"
    figure.suptitle(textwrap.fill(title, width=55 * columns), fontsize=9)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("table", "levels"):
        command = commands.add_parser(name)
        command.add_argument("results", help="quadtile_bench --benchmark_out=FILE")
        if name != "table":
            command.add_argument("figure", help="file to write, .png or .svg")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.command == "table":
        print_tables(results)
    else:
        levels(results, arguments.figure)


if __name__ == "__main__":
    main()
