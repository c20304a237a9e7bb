#!/usr/bin/env python3
"""Turns quadtile_bench's JSON output into tables and a figure.

    report.py table results.json            Markdown tables on standard output
    report.py plot results.json figure.svg  time against SUBTREE_LEVELS beside per level
                                            (needs matplotlib: Debian's python3-matplotlib)
"""

import argparse
import json
import sys
import textwrap

SUBTREE_LEVELS = range(1, 9)


class Results:
    """Median microseconds by map and subject, in the order of the run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.context = document["context"]
        self.maps = {}  # (name, extent) -> {subject: microseconds}
        self.tiles = {}  # (name, extent) -> number of tiles
        self.skipped = []  # (benchmark, reason)
        for benchmark in document["benchmarks"]:
            if benchmark.get("run_type") == "aggregate":
                continue
            subject, name, extent = benchmark["name"].split("/")[:3]
            times = self.maps.setdefault((name, extent), {})
            if benchmark.get("error_occurred"):
                self.skipped.append(
                    (f"{subject}/{name}/{extent}", benchmark["error_message"])
                )
                continue
            assert benchmark["time_unit"] == "us"
            times[subject] = benchmark["real_time"]
            if "tiles" in benchmark:
                self.tiles[name, extent] = int(benchmark["tiles"])

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


def print_tables(results):
    print(f"{results.describe()}.\n")

    columns = {
        "empty dispatch": "empty_dispatch",
        "read all texels": "read_texels",
        "pyramid": "pyramid",
        "per level": "subdivision_per_level",
        "subtree (6)": "subdivision_subtree_6",
        "pyramid + per level": "pipeline_per_level",
        "pyramid + subtree (6)": "pipeline_subtree_6",
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

    if results.skipped:
        print("Skipped:\n")
        for benchmark, reason in results.skipped:
            print(f"- {benchmark}: {reason}")


def plot(results, path, names):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    subjects = ["subdivision_per_level"] + [f"subdivision_subtree_{n}" for n in SUBTREE_LEVELS]
    panels = {
        (name, extent): times
        for (name, extent), times in results.maps.items()
        if all(subject in times for subject in subjects) and (not names or name in names)
    }
    if not panels:
        sys.exit("report.py: error: no map with per-level and all subtree times")
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4 * columns, 2.8 * rows), squeeze=False, layout="constrained"
    )
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    labels = ["per\nlevel", *map(str, SUBTREE_LEVELS)]
    colours = ["#c0392b"] + ["#2c6fbb"] * len(SUBTREE_LEVELS)
    for axis, ((name, extent), times) in zip(axes.flat, panels.items()):
        bars = axis.bar(labels, [times[subject] for subject in subjects], color=colours)
        axis.bar_label(bars, [three_digits(times[s]) for s in subjects], fontsize=6)
        axis.margins(y=0.12)
        axis.set_title(f"{name} {extent}, {results.tiles[name, extent]:,} tiles", fontsize=9)
        axis.set_xlabel("SUBTREE_LEVELS")
        axis.set_ylabel("time (µs)")
    title = textwrap.fill(f"Subdivision alone: {results.describe()}", width=55 * columns)
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    table_command = commands.add_parser("table")
    table_command.add_argument("results", help="quadtile_bench --benchmark_out=FILE")
    plot_command = commands.add_parser("plot")
    plot_command.add_argument("results", help="quadtile_bench --benchmark_out=FILE")
    plot_command.add_argument("figure", help="file to write, .png or .svg")
    plot_command.add_argument(
        "--map", action="append", dest="maps", help="only this map; may be repeated"
    )
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.command == "table":
        print_tables(results)
    else:
        plot(results, arguments.figure, arguments.maps)


if __name__ == "__main__":
    main()
