"""Real processes that are blocked, spin, are stopped, or only wait for somebody: who is ended and who is not."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gridportal.serve import progress
from gridportal.serve.parts import State
from gridportal.serve.supervisor import Process, Supervisor
from gridportal.serve.watching import Beats

GOES_ROUND = "from gridportal.base.heartbeat import beat\nimport time\nwhile True: beat(); time.sleep(0.05)"
BLOCKED = "from gridportal.base.heartbeat import beat\nimport time\nbeat(); time.sleep(1000)"
SPINS = "from gridportal.base.heartbeat import beat\nbeat()\nwhile True: pass"
MASTER = """
import os, time
from gridportal.base.heartbeat import beat
parent = os.getpid()
for blocked in (False, True):
    if not os.fork():
        while os.getppid() == parent:
            beat(); time.sleep(1000 if blocked else 0.05)
        os._exit(0)
time.sleep(1000)
"""


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    monkeypatch.setattr(progress, "STUCK_AFTER", 3.0)
    monkeypatch.setattr(progress, "SLOW_AFTER", 1.0)
    found = Supervisor(tmp_path)
    yield found
    found.stop()


def started(supervisor: Supervisor, code: str, beats: Beats = Beats.ITSELF) -> Process:
    process = supervisor.start(Process("worker", [sys.executable, "-c", code], beats=beats, end_seconds=1.0))
    until(lambda: supervisor.board.rounds(), 120)
    return process


def until(true: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def watched(supervisor: Supervisor, seconds: float) -> list[str]:
    """What is said within `seconds` of looks, or at the first thing said."""
    end, messages = time.monotonic() + seconds, []
    while time.monotonic() < end and not messages:
        messages = supervisor.end_stuck()
        time.sleep(0.1)
    return messages


@pytest.mark.parametrize("code", [BLOCKED, SPINS], ids=["blocked", "spins"])
def test_one_that_makes_no_round_is_ended_and_comes_back(supervisor: Supervisor, code: str) -> None:
    process = started(supervisor, code)
    before = process.pid
    assert "made no progress" in watched(supervisor, 120)[0]
    until(lambda: not process.is_alive, 60)
    supervisor.restart_dead()
    assert process.pid != before


def test_one_that_goes_round_is_left_alone(supervisor: Supervisor) -> None:
    process = started(supervisor, GOES_ROUND)
    assert watched(supervisor, 6) == []
    assert process.is_alive


def test_one_that_is_stopped_for_less_than_the_patience_goes_on_as_the_same_process(supervisor: Supervisor) -> None:
    process = started(supervisor, GOES_ROUND)
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: supervisor.parts()[0].state is State.STOPPED, 60)
    assert watched(supervisor, 1) == []
    os.kill(process.pid, signal.SIGCONT)
    assert watched(supervisor, 5) == []
    assert supervisor.parts()[0].state is State.UP


def test_one_that_stays_stopped_is_ended(supervisor: Supervisor) -> None:
    process = started(supervisor, GOES_ROUND)
    os.kill(process.pid, signal.SIGSTOP)
    assert "made no progress" in watched(supervisor, 120)[0]
    until(lambda: not process.is_alive, 60)


def test_one_that_waits_for_a_server_that_is_down_is_left_alone_and_told(supervisor: Supervisor) -> None:
    process = started(supervisor, BLOCKED)
    supervisor.waits_for = lambda _: "The broker ended and is started again."
    assert watched(supervisor, 120) == [
        "The worker makes no progress, and waits: The broker ended and is started again."
    ]
    assert process.is_alive
    assert supervisor.parts()[0].state is State.SLOW


def test_of_several_only_the_one_that_is_stuck_is_ended(supervisor: Supervisor) -> None:
    process = started(supervisor, MASTER, Beats.CHILDREN)
    until(lambda: len(supervisor.board.rounds()) == 2 and max(supervisor.board.rounds().values()) > 9, 120)
    blocked = min(supervisor.board.rounds().items(), key=lambda item: item[1])[0]
    assert f"(process {blocked})" in watched(supervisor, 120)[0]
    assert process.is_alive
    assert len(process.watch.stuck()) == 1
