#!/usr/bin/env python3
"""Times of one bake on 1, 2, 4 ... GPUs of this host, and of a Service with as many devices.

    scaling.py BIN_DIR RESULTS_DIR [--gpus 1,2,4] [--scene zdm2_lightmapped.glb] [--device NVIDIA]
    scaling.py BIN_DIR RESULTS_DIR --city 20000 --size 512 --directions 64 --device llvmpipe   a trial without GPUs

BIN_DIR is build/release/bin, or the bin of a folder that tools/pack.sh made, which has this script, too. Bakes the city
of 3.7 million triangles, and the scene with 8192 directions, by quadtile-bake with so many GPUs; then quadtile_bench has
a Service take maps from host memory. Prints Markdown tables. RESULTS_DIR has reports and logs, not the lightmaps. Exit status 1: a command failed, or two lightmaps of a scene differ.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

SUN_AND_SKY = ["--sun-direction", "0.5,-0.8,0.3", "--sky", "0.6,0.8,1"]


def bake(arguments, name, gpus, options):
    """Returns seconds from start to end, seconds of passes, and the lightmap's hash."""
    output = arguments.results / f"{name}_{gpus}"
    command = [str(arguments.bin / "quadtile-bake"), *options, "--gpus", str(gpus)]
    command += ["--device", arguments.device, "--no-checkpoint", "-o", f"{output}.exr", "--report", f"{output}.json"]
    start = time.monotonic()
    with Path(f"{output}.log").open("w", encoding="utf-8") as log:
        status = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"scaling.py: error: {' '.join(command)}\n" + Path(f"{output}.log").read_text(encoding="utf-8"))
    light_map = Path(f"{output}.exr")
    with light_map.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    light_map.unlink()
    report = json.loads(Path(f"{output}.json").read_text(encoding="utf-8"))
    return seconds, sum(part["seconds"] for part in report["passes"]), digest


def table_of_bakes(arguments, name, options):
    print(f"\n`{' '.join(options)}`\n\n| GPUs | start to end, s | speedup | passes, s | speedup | sha256 |", flush=True)
    print("|---|---:|---:|---:|---:|---|")
    first = None
    for gpus in arguments.gpus:
        seconds, passes, digest = bake(arguments, name, gpus, options)
        first = first or (seconds, passes, digest)
        print(
            f"| {gpus} | {seconds:.2f} | {first[0] / seconds:.2f} | {passes:.2f} "
            f"| {first[1] / passes:.2f} | {digest[:16]} |",
            flush=True,
        )
        if digest != first[2]:
            sys.exit("scaling.py: error: the lightmap differs from that of the first row")


def table_of_service(arguments, bench):
    results = arguments.results / "service.json"
    command = [bench, "--sizes=1024", f"--devices={max(arguments.gpus)}", "--benchmark_filter=^service/devices_"]
    environment = os.environ | {"QUADTILE_DEVICE": arguments.device}
    subprocess.run([*command, f"--benchmark_out={results}"], stdout=sys.stderr, env=environment, check=True)
    print("\n| devices of a Service | maps of 1024 x 1024 a second | speedup |\n|---|---:|---:|")
    for case in json.loads(results.read_text(encoding="utf-8"))["benchmarks"]:
        devices = case["name"].split("/")[1].removeprefix("devices_")
        print(f"| {devices} | {case['maps_per_s']:.0f} | {case['speedup']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--gpus", default=[1, 2, 4], type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--device", default="NVIDIA", help="part of the name of the GPUs; default: %(default)s")
    parser.add_argument("--city", default=3700000, type=int, help="triangles; default: %(default)s")
    parser.add_argument("--size", default=6720, type=int, help="of its lightmap; default: %(default)s")
    parser.add_argument("--directions", default=1024, type=int, help="for the city; default: %(default)s")
    parser.add_argument("--scene", type=Path, help="zdm2_lightmapped.glb; default: the city alone")
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    city = arguments.results / "city.glb"
    writer = [str(arguments.bin / "quadtile_baker_bench"), "--city", str(arguments.city)]
    subprocess.run([*writer, "--size", str(arguments.size), "--write-city", str(city)], check=True)
    bake(arguments, "first", 1, [str(city), "--size", "64", "--samples", "16", *SUN_AND_SKY])  # compiles shaders
    samples = ["--samples", str(arguments.directions), "--direct-samples", str(arguments.directions)]
    table_of_bakes(arguments, "city", [str(city), *samples, "--bounces", "1", *SUN_AND_SKY])
    if arguments.scene:
        samples = ["--samples", "8192", "--direct-samples", "8192", "--bounces", "1", "--sky", "1"]
        table_of_bakes(arguments, "scene", [str(arguments.scene), *samples])
    bench = arguments.bin / "quadtile_bench"
    if bench.exists():
        table_of_service(arguments, bench)


main()
