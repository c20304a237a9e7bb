"""quadtile-bake-mpi as its users run it: the bits of quadtile-bake, whatever the ranks and whatever
happens to them.

Arguments: mpiexec, quadtile-bake-mpi, quadtile-bake, a room with a sun. It would find: directions that are traced twice
or by no rank, sums or light of a part of the map that get lost between ranks, means that depend on
their number, texels without what other ranks know of their neighbours, checkpoints without what
other ranks have found, and jobs that hang.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MPIEXEC, PARALLEL, ALONE, ROOM = sys.argv[1:]
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT_SECONDS = 100

# Everything that passes are made for, in blocks of the lightmap that not all of five ranks get. With few pixels some
# texels meet no ray and take the light of their neighbours, which are other ranks' at the borders of blocks.
OPTIONS = [
    ROOM, "--sky", "0.2", "--size", "64x40", "--bounces", "1", "--sun-samples", "6", "--lamp-samples", "8", "--directional", "--probes", "3,1,1",
    "--pixels-per-texel", "0.4", "--threads", "2", "--checkpoint-interval", "0",
]  # fmt: skip
SHORT = ["--direct-samples", "32", "--samples", "16"]
# So long that signals find it at work.
LONG = ["--direct-samples", "192", "--samples", "192", "--reference"]
CPU = SHORT + ["--reference"]


class Job:
    """`groups`: of ranks, how many and with which options besides; the first one's is rank 0."""

    def __init__(self, output, groups, *more):
        command = [MPIEXEC]
        for i, (count, options) in enumerate(groups):
            command += [":"] if i > 0 else []
            command += ["--oversubscribe", "-n", str(count), PARALLEL]
            command += OPTIONS + ["-o", f"{output}.exr", "--probes-out", f"{output}.bin"] + options + list(more)
        self.log_path = Path(f"{output}.log")
        with self.log_path.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT)

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def wait(self):
        return self.process.wait(LIMIT_SECONDS)

    def wait_for_percent(self, least):
        end = time.monotonic() + LIMIT_SECONDS
        while max(map(int, re.findall(r"(\d+) %  ", self.log())), default=-1) < least:
            assert self.process.poll() is None, f"it has ended before {least} %: {self.log()}"
            assert time.monotonic() < end, f"no {least} %: {self.log()}"
            time.sleep(0.01)

    def rank_process(self, rank):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text("ascii")
        ranks = [pid for pid in children.split() if Path(f"/proc/{pid}/comm").read_text("ascii").startswith("quad")]
        return sorted(map(int, ranks))[rank]


def files(name):
    return [Path(name + ending).read_bytes() for ending in (".exr", ".bin")]


def files_of_one(options):
    whole = ["-o", "whole.exr", "--probes-out", "whole.bin", "--no-checkpoint", "--quiet"]
    subprocess.run([ALONE, *OPTIONS, *options, *whole], check=True, stderr=subprocess.DEVNULL)
    return files("whole")


def check_same_bits():
    expected = files_of_one(SHORT)
    for groups in ([(1, SHORT)], [(1, SHORT), (2, CPU)], [(5, CPU)]):
        job = Job("same", groups, "--report", "same.json", "--no-checkpoint")
        assert job.wait() == 0, job.log()
        assert files("same") == expected, f"other bits by {groups}"
        ranks = sum(count for count, _ in groups)
        report = json.loads(Path("same.json").read_text(encoding="utf-8"))
        assert report["ranks"] == ranks, report["ranks"]
        # One progress line and one summary, not one of each rank.
        assert len(re.findall("the lightmap holds", job.log())) == 1, job.log()


def check_ends():
    """Each job goes on where the one before was ended, by other ranks."""
    expected = files_of_one(LONG)
    moments = [
        (2, 5, "INT"), (3, 20, 2), (5, 35, 4), (None, 0, None), (4, 50, 1), (3, 60, "USR1"), (2, 70, 0), (4, 80, 3),
    ]  # fmt: skip
    for ranks, percent, victim in moments:
        if ranks is None:
            process = subprocess.Popen(
                [ALONE, *OPTIONS, "-o", "ended.exr", "--probes-out", "ended.bin", "--resume", *LONG],
                stderr=subprocess.PIPE, env=ENVIRONMENT,
            )  # fmt: skip
            while b"resumes 'ended.exr.checkpoint'" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, log = process.communicate(timeout=LIMIT_SECONDS)
            assert process.returncode == 130, log
            continue
        job = Job("ended", [(ranks, LONG)], "--resume")
        job.wait_for_percent(percent)
        if isinstance(victim, int):
            os.kill(job.rank_process(victim), signal.SIGKILL)
            assert job.wait() != 0
            assert f"process rank {victim} " in job.log(), job.log()
            if victim != 0:
                assert "--resume continues from the last checkpoint" in job.log(), job.log()
        else:
            job.process.send_signal(signal.Signals["SIG" + victim])
            assert job.wait() != 0
            # After SIGINT mpirun gives ranks a second, which need not be enough for the lightmap.
            expected_text = "interrupted: 'ended.partial.exr' has the light so far" if victim == "USR1" else "asked to end"
            assert expected_text in job.log(), job.log()
        assert Path("ended.exr.checkpoint").exists(), job.log()
    job = Job("ended", [(2, LONG)], "--resume")
    assert job.wait() == 0, job.log()
    assert "resumes 'ended.exr.checkpoint'" in job.log(), job.log()
    assert files("ended") == expected, "other bits after all ends"
    assert not Path("ended.exr.checkpoint").exists()


def check_errors():
    """Of what was asked, each once; with the rank, where not all have it."""
    cases = [
        ([(1, CPU), (1, CPU + ["--seed", "2"])], "error: rank 1 of 2 on '"),
        ([(1, CPU), (2, CPU + ["--no-checkpoint"])], "error: rank 1 of 3 on '"),
    ]
    for groups, text in cases:
        job = Job("error", groups)
        assert job.wait() != 0
        assert len(re.findall("quadtile-bake: error", job.log())) == 1, job.log()
        assert text in job.log(), job.log()
    # Of one rank, while the others bake.
    job = Job("error", [(3, LONG)])
    job.wait_for_percent(0)
    deadline = time.monotonic() + LIMIT_SECONDS
    while job.process.poll() is None:
        assert time.monotonic() < deadline
        try:
            Path("error.exr.checkpoint").unlink(missing_ok=True)
            Path("error.exr.checkpoint").mkdir()
        except OSError:
            time.sleep(0.01)
    assert re.search(r"error: rank 0 of 3 on '.*': cannot write .*--resume continues", job.log()), job.log()


def main():
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if "Open MPI" not in version.stdout and "OpenRTE" not in version.stdout:
        print("skipped: it knows the options of Open MPI's mpirun alone")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for check in (check_same_bits, check_ends, check_errors):
            start = time.monotonic()
            check()
            print(f"{check.__name__}: {time.monotonic() - start:.1f} s", flush=True)
        os.chdir("/")


main()
