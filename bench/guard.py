#!/usr/bin/env python3
"""Compares the headline of each part with the committed table, bench/guard.json, in at most five minutes on a GPU:

    bench/guard.py [BIN_DIR] [--data FOLDER]     exit status 1 if a ratio is more than 10 % worse than the table's
    bench/guard.py [BIN_DIR] --renew             writes this device's rows of the table

BIN_DIR is build/release/bin (default), or the bin of a folder that tools/pack.sh made; FOLDER has scenes/zdm2_lightmapped.glb
(default: QUADTILE_DATA). QUADTILE_DEVICE chooses the device. Each ratio is a time over that of a reading of all texels on
the GPU, or over that of a copy in host memory, in the same run. A run counts with the best of its repetitions, so that
other load on the machine does little harm.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORST = 1.10  # of a ratio, times the table's
TABLE = Path(__file__).resolve().with_suffix(".json")

SUN_AND_SKY = ["--sun-direction", "0.5,-0.8,0.3", "--sky", "0.6,0.8,1"]
CITY = ["--city", "1000000", "--size", "3584"]

# Headline: benchmark and the reading or copy below it, of the GPU and of the host, whose times scatter more.
READING = "read_texels/smooth/{0}x{0}"
ON_GPU = {
    **{f"list of {n} x {n}": (f"pipeline_fused/smooth/{n}x{n}", READING.format(n)) for n in (1024, 4096, 8192)},
    "mip levels of 4096 x 4096": ("downsampler/max/r32_float/spd/4096", "downsampler/roof/r32_float/read/4096"),
}
ON_HOST = {
    "Service, one request": ("service/alone/1024x1024", "copy"),
    "Service, eight threads": ("service/8_threads/1024x1024", "copy"),
    "first use": ("first_use/fused/nothing_kept", "copy"),
}
SLOW_READING = READING.format(8192)  # below the rest


def fail(text):
    sys.exit(f"guard.py: error: {text}")


def run(command, **environment):
    result = subprocess.run([str(part) for part in command], env={**os.environ, **environment}, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))}\n{result.stdout}")


class Guard:
    """Seconds of programs, and the ratios to table."""

    def __init__(self, binaries, data, folder):
        self.binaries, self.folder = binaries, folder
        self.scene = data / "scenes/zdm2_lightmapped.glb"
        if not self.scene.exists():
            fail(f"there is no {self.scene}; name its folder with --data")
        self.device = ""
        self.ratios = {}

    def measure(self):
        reading = self.run_benchmarks(ON_GPU, 3)[SLOW_READING]
        self.run_benchmarks(ON_HOST, 15)
        self.fit_shadows(reading)
        self.bake("bake of zdm2", reading, [self.scene, "--samples", 1024, "--direct-samples", 1024, "--sky", 1], 3)
        city = self.folder / "city.glb"
        run([self.binaries / "quadtile_baker_bench", *CITY, "--write-city", city])
        self.bake("bake of the city, 64 directions", reading,
                  [city, "--samples", 64, "--direct-samples", 64, *SUN_AND_SKY], 2)

    def run_benchmarks(self, headlines, repetitions):
        """Adds headlines. Returns the least seconds of each benchmark."""
        names = {name for pair in headlines.values() for name in pair if name != "copy"}
        output = self.folder / "bench.json"
        run([self.binaries / "quadtile_bench", "--sizes=1024,4096,8192", f"--benchmark_out={output}",
             f"--benchmark_filter=^({'|'.join(sorted(names))})/iterations", f"--benchmark_repetitions={repetitions}"],
            # Without the driver's own cache of pipelines, which would hide the time of the first use.
            __GL_SHADER_DISK_CACHE="0", MESA_SHADER_CACHE_DISABLE="true")
        document = json.loads(output.read_text(encoding="utf-8"))
        self.device = document["context"]["device"]
        times = {}
        for row in document["benchmarks"]:
            if row.get("run_type") == "aggregate":
                continue
            if row.get("error_occurred"):
                fail(f"{row['name']}: {row['error_message']}")
            name = row["run_name"].split("/iterations:")[0].removesuffix("/manual_time")
            for key, time_us in ((name, row["real_time"]), ("copy", row.get("copy_us", float("inf")))):
                times[key] = min(times.get(key, time_us * 1e-6), time_us * 1e-6)
        for headline, (name, below) in headlines.items():
            self.add(headline, times[name] / times[below])
        return times

    def fit_shadows(self, reading):
        output = self.folder / "shadow.json"
        run([self.binaries / "quadtile_shadow_bench", self.scene, "--size", "1920x1080", "--frames", 1,
             "--seconds", 2.5, "--json", output])
        rows = json.loads(output.read_text(encoding="utf-8"))["tables"]["gpu_microseconds"]
        self.add("fit of shadow maps", next(row["fit_median"] for row in rows if row["label"] == "fitted")
                 * 1e-6 / reading)

    def bake(self, headline, reading, options, repetitions):
        """Adds a bake from start to end, and its passes."""
        report = self.folder / "report.json"
        whole, passes = [], []
        for _ in range(repetitions):
            start = time.monotonic()
            run([self.binaries / "quadtile-bake", *options, "--bounces", 1, "--no-checkpoint",
                 "-o", self.folder / "map.exr", "--report", report])
            whole.append(time.monotonic() - start)
            passes.append(sum(row["seconds"] for row in json.loads(report.read_text(encoding="utf-8"))["passes"]))
        self.add(headline, min(whole) / reading)
        self.add(f"{headline}: passes", min(passes) / reading)

    def add(self, headline, ratio):
        self.ratios[headline] = float(f"{ratio:.4g}")
        print(f"{headline:40} {ratio:10.4g}", flush=True)


def compare(device, ratios, table):
    """Prints what is worse; returns the exit status."""
    if device not in table:
        fail(f"{TABLE} has no rows of '{device}'; --renew writes them")
    status = 0
    for headline, known in table[device].items():
        ratio = ratios.get(headline)
        if ratio is None or ratio > WORST * known:
            print(f"WORSE: {headline}: {ratio} instead of {known}")
            status = 1
    print(f"{device}: {len(ratios)} ratios; " + ("some are worse" if status else
                                                  f"none is more than {100 * WORST - 100:.0f} % worse"))
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=Path, nargs="?", default=TABLE.parents[1] / "build/release/bin")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("QUADTILE_DATA", "../shared/data")))
    parser.add_argument("--renew", action="store_true", help="write the table instead of comparing with it")
    arguments = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        guard = Guard(arguments.bin, arguments.data, Path(folder))
        guard.measure()
    print(f"{time.monotonic() - start:.0f} s")
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    if arguments.renew:
        table[guard.device] = guard.ratios
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        return 0
    return compare(guard.device, guard.ratios, table)


if __name__ == "__main__":
    sys.exit(main())
