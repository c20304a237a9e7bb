"""The interpreter's end with work in flight: it must come, and neither crash nor lose an answer that runs."""

import pytest

from conftest import run_script

BEGIN = """
import atexit, os, sys, threading, time
import numpy, quadtile
map = numpy.random.default_rng(1).random((200, 300), dtype=numpy.float32)
"""

GATE = """
from conftest import LaneGate, load_gates
gate = LaneGate(load_gates(), numpy.full((80, 90), 0.75, numpy.float32))
def open_later():
    time.sleep(0.3)
    gate.open()
"""


@pytest.mark.parametrize(
    "script",
    [
        # Daemon threads in the library while Python ends: it would end them in the midst of C++.
        """
with open(os.environ["MAP"], "wb") as file:
    file.write(b"Pf\\n300 200\\n-1.0\\n" + map.tobytes())
def work():
    while True:
        quadtile.subdivide(map, max_resolution=4)
        quadtile.load_map(os.environ["MAP"])
        quadtile.mip_levels(map)
quadtile.load_map(os.environ["MAP"])  # imports what it needs: a thread must not at the end
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
quadtile.subdivide(map, max_resolution=4)
print("end")
""",
        # A service with a long queue, of which nothing is waited for.
        """
service = quadtile.Service()
futures = [service.submit(map, max_resolution=4) for _ in range(200)]
print("end")
""",
        # A daemon thread that waits for room in the queue, and one that waits for an answer.
        GATE
        + """
service = quadtile.Service(lanes=1, queue_capacity=1)
first = service.submit(gate.texels, constant=0.5)
gate.wait()
service.submit(map, constant=0.5)
threading.Thread(target=lambda: service.submit(map, constant=0.5), daemon=True).start()
threading.Thread(target=first.result, daemon=True).start()
threading.Thread(target=open_later, daemon=True).start()
first.add_done_callback(lambda future: print("end" if len(future.result()) else "", flush=True))
""",
        # Calls of other handlers, before and after the library's.
        """
service = quadtile.Service()
def before():
    assert len(quadtile.subdivide(map, max_resolution=4)) > 1
    assert len(service.submit(map, max_resolution=4).result()) > 1
    print("end")
atexit.register(before)
""",
    ],
)
def test_the_interpreter_ends_with_work_in_flight(script, tmp_path):
    run = run_script(BEGIN + script, MAP=str(tmp_path / "map.pfm"))
    assert run.returncode == 0, run.stderr
    assert run.stdout == "end\n"
    assert "Fatal" not in run.stderr and "terminate" not in run.stderr


def test_after_the_end_calls_are_refused():
    run = run_script(
        """
import atexit
def after():
    import numpy
    try:
        quadtile.subdivide(numpy.zeros((4, 4), numpy.float32), constant=1)
    except quadtile.Error as error:
        print(error.code, error)
atexit.register(after)
import quadtile
"""
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("cancelled the interpreter is shutting down")


def test_neither_import_nor_an_unused_service_waits():
    run = run_script("import quadtile; s = quadtile.Service(); raise KeyError('mine')")
    assert run.returncode == 1 and "KeyError: 'mine'" in run.stderr and "Fatal" not in run.stderr
    # Matplotlib, and what reads files, are loaded when they are needed.
    run = run_script("import quadtile, sys; print([m for m in ('matplotlib', 'quadtile._images') if m in sys.modules])")
    assert run.stdout == "[]\n"


FORK = """
import signal
def run(work):
    child = os.fork()
    if child == 0:
        work()
        sys.exit(7)
    signal.alarm(60)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def use():
    try:
        quadtile.subdivide(map, constant=1)
    except quadtile.Error as error:
        assert error.code == "unsupported" and "spawn" in str(error)
        sys.exit(7)
"""


# A child that waits for threads of its parent: it would never end.
@pytest.mark.parametrize(
    "script",
    [
        "quadtile.subdivide(map, max_resolution=4); assert run(lambda: None) == run(use) == 7",
        """
with quadtile.Service() as service:
    futures = [service.submit(map, max_resolution=4) for _ in range(50)]
    assert run(lambda: None) == run(use) == run(lambda: sys.exit(7)) == 7
def drop():
    global service, futures
    del service, futures
assert run(drop) == 7
""",
        # Before Vulkan is used a fork is as good as its parent.
        """
quadtile.reference.subdivide(map, constant=1)
def work():
    assert len(quadtile.subdivide(map, constant=2)) == 1
assert run(work) == 7
assert len(quadtile.subdivide(map, constant=2)) == 1
""",
    ],
)
def test_a_forked_process_ends(script):
    run = run_script(BEGIN + FORK + script)
    assert run.returncode == 0, run.stderr
