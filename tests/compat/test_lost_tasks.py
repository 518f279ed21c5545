"""Tasks of a cluster that stop to answer, seen from one that needs them."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest
from tfmigrate.compat.engine import lost_tasks


@pytest.fixture(autouse=True)
def in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_tasks, "SECONDS_WITHOUT", 0.5)
    monkeypatch.setattr(lost_tasks, "SECONDS_BETWEEN_LOOKS", 0.05)


def listening() -> tuple[socket.socket, str]:
    server = socket.create_server(("localhost", 0), backlog=100)
    return server, f"localhost:{server.getsockname()[1]}"


def watch(address: str, limit: float | None) -> tuple[Any, threading.Event]:
    left = threading.Event()

    def leave(status: int) -> None:
        assert status == 1
        left.set()
        hook.stop()

    hook = lost_tasks.WatchTasksHook({"worker 1": address}, limit, leave)
    hook.begin()
    hook.before_run(None)
    return hook, left


def test_a_worker_that_answers_is_not_lost() -> None:
    server, address = listening()
    hook, left = watch(address, None)
    assert not left.wait(1.0)
    hook.end(None)
    server.close()
    assert not left.wait(1.0)


def test_one_that_never_answered_is_only_late() -> None:
    server, address = listening()
    server.close()
    hook, left = watch(address, None)
    assert not left.wait(1.0)
    hook.stop()


def test_one_that_is_gone_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    server, address = listening()
    hook, left = watch(address, None)
    assert not left.wait(0.3)
    server.close()
    ends = time.monotonic() + 5.0
    while not left.wait(0.05):
        # TensorFlow makes a new session and begins the same step again.
        hook.before_run(None)
        assert time.monotonic() < ends
    assert f"Lost worker 1 ({address})" in capfd.readouterr().err


@pytest.mark.parametrize("last", [True, False])
def test_one_that_ended_after_the_last_step_may_be_gone(last: bool) -> None:
    server, address = listening()
    hook, left = watch(address, None)
    assert not left.wait(0.3)
    hook.after_run(None, None)
    # What saves now waits for the others, and takes longer than a step may.
    hook.hooks_have_run(stops=last)
    server.close()
    assert left.wait(1.5) is not last
    hook.stop()


def test_a_parameter_server_may_come_back() -> None:
    server, address = listening()
    hook, left = watch(address, 30.0)
    assert not left.wait(0.3)
    server.close()
    assert not left.wait(1.0)
    port = int(address.rpartition(":")[2])
    server = socket.create_server(("localhost", port), backlog=100)
    assert not left.wait(0.5)
    hook.stop()
    server.close()
