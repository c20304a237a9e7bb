"""Service: Futures, their cancellation and deadlines, and what callbacks may do."""

import asyncio
import concurrent.futures
import gc
import queue
import threading

import numpy
import pytest

import quadtile
from quadtile import reference

MAP = numpy.random.default_rng(2).random((70, 130), dtype=numpy.float32)
OTHER = numpy.random.default_rng(3).random((50, 60), dtype=numpy.float32)


def test_futures_have_the_lists():
    with quadtile.Service() as service:
        futures = [service.submit(map, max_resolution=4, balance="edges") for map in (MAP, OTHER, MAP)]
        done, _ = concurrent.futures.wait(futures, timeout=60)
        assert done == set(futures)
        for future, map in zip(futures, (MAP, OTHER, MAP)):
            expected = reference.subdivide(map, max_resolution=4, balance="edges")
            assert future.result().tobytes() == expected.tobytes()
            assert not future.cancel() and future.done()
        assert futures[0].result().stages[0].name == "wait"
        statistics = service.statistics()
        assert (statistics["submitted"], statistics["succeeded"]) == (3, 3)
    assert service.statistics()["succeeded"] == 3
    with pytest.raises(quadtile.Error, match="shut down") as raised:
        service.submit(MAP, constant=1)
    assert raised.value.code == "cancelled"
    service.shutdown()


def test_waiting_requests_are_cancelled_and_late_ones_fail(gate):
    with quadtile.Service(lanes=1, queue_capacity=3) as service:
        try:
            runs = service.submit(gate.texels, constant=0.5)
            gate.wait()
            late = service.submit(MAP, constant=0.5, deadline_s=0.001)
            with pytest.raises(quadtile.Error) as raised:
                late.result(60)
            assert raised.value.code == "deadline_exceeded"
            waiting = [service.submit(MAP, constant=0.5) for _ in range(3)]
            with pytest.raises(queue.Full):
                service.submit(MAP, constant=0.5, wait=False)
            assert waiting[0].cancel() and waiting[0].cancelled()
            with pytest.raises(concurrent.futures.CancelledError):
                waiting[0].result()
            assert not runs.cancel() and not runs.done()
            with pytest.raises(concurrent.futures.TimeoutError):
                runs.result(0.01)
            thread = threading.Thread(target=service.shutdown, args=(True,))
            thread.start()
            assert concurrent.futures.wait(waiting[1:], timeout=60).done
        finally:
            gate.open()
        thread.join()
        assert all(future.cancelled() for future in waiting[1:]) and len(runs.result(60)) > 0


def test_errors_of_answers_are_of_the_future():
    with quadtile.Service() as service:
        # Also an error whose text has parts of letters must come.
        good = "float threshold(uint level, uvec2 position, uint layer) { return .9; }"
        for glsl in ("float threshold() { }", "\ufeff" + good, good.replace(" .9", "\u00a0.9"), "\udcff"):
            future = service.submit(MAP, glsl=glsl)
            assert isinstance(future.exception(60), quadtile.ArgumentError)
            assert glsl.isascii() == ("\ufffd" not in str(future.exception())), ascii(future.exception())
        # An answer that fails leaves the service as it was.
        assert len(service.submit(MAP, constant=1, deadline_s=1e300).result(60)) == 1
    with quadtile.Service([0, 0]) as service:
        assert len(service.submit(MAP, constant=0.5, device=1).result(60)) > 0
        assert [device["succeeded"] for device in service.statistics()["devices"]] == [0, 1]


# A callback that calls the service, on the thread that answers, must not wait for itself.
def test_callbacks_may_use_and_end_the_service():
    service = quadtile.Service()
    ended = threading.Event()
    again = []

    def more(future):
        again.append(service.submit(OTHER, constant=0.5))
        again[0].add_done_callback(lambda _: (service.shutdown(), ended.set()))

    service.submit(MAP, constant=0.5).add_done_callback(more)
    assert ended.wait(60)
    assert len(again[0].result()) > 0


# An exception of a callback that ends the thread that answers: no Future after it would ever be done.
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, ValueError])
def test_callbacks_may_raise_anything(error, gate, caplog):
    def fail(_):
        raise error

    called = threading.Event()
    with quadtile.Service(lanes=1) as service:
        future = service.submit(gate.texels, constant=0.5)
        future.add_done_callback(fail)
        future.add_done_callback(lambda _: called.set())
        gate.open()
        assert len(future.result(60)) > 0 and called.wait(60)
        assert len(service.submit(MAP, constant=2).result(60)) == 1
        if error is not ValueError:
            with pytest.raises(error):  # on the caller's own thread it is the caller's
                future.add_done_callback(fail)
    assert error.__name__ in caplog.text


# A thread, or a device's memory, that stays when the service is let go of.
def test_a_service_ends_when_it_is_let_go_of():
    service = quadtile.Service()
    future = service.submit(MAP, constant=0.5)
    thread = service._thread
    del service
    gc.collect()
    thread.join(60)
    assert not thread.is_alive() and len(future.result(0)) > 0
