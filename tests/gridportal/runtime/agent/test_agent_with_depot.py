"""An agent with a depot beside it: neither knows of the other's work, and both are there or none."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_client import Depots
from gridportal.runtime.depot.slabs import MOST_BYTES, Slab
from tests.gridportal.runtime.agent.agents import KEY, ROOT, Portal, agent, until

NAME = "0123456789abcdef-0-0"
SIZE = 32 * 2**20
READERS = 8


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Where an agent with a depot listens, and its process."""
    where = f"unix:{tmp_path}/n1.sock"
    more = ("--depot", "127.0.0.1:0", "--depot-folder", str(tmp_path / "depot"))
    with agent(where, "n1", *more) as process:
        yield where, process.pid


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def depots(portal: Portal) -> Depots:
    host, port = portal.ask(op="report")["depot"]
    return Depots(depot_access.issued(KEY.encode(), "7", {"n1": f"{host}:{port}"}))


def test_while_a_depot_is_read_at_full_rate_every_question_is_answered(beside: tuple[str, int]) -> None:
    """As many reports as are asked for, one after another, while readers are under way; none is lost or refused."""
    portal = Portal(beside[0]).open()
    depot = depots(portal)
    depot.put("n1", NAME, memoryview(bytes(SIZE)))
    taken, ended = [0] * READERS, threading.Event()

    def read(number: int) -> None:
        def count(content: memoryview) -> None:
            taken[number] += len(content)

        while not ended.is_set():
            depot.fetch("n1", NAME, lambda: [([Slab(at, MOST_BYTES)], count) for at in range(0, SIZE, MOST_BYTES)])

    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        until(lambda: all(taken), "all readers")
        before = sum(taken)
        for _ in range(200):
            assert portal.ask(op="report")["node"] == "n1"
        until(lambda: sum(taken) > before + 4 * SIZE, "readers that go on")
    finally:
        ended.set()
        for reader in readers:
            reader.join(timeout=60)
    portal.close()
    for pid in (beside[1], *children(beside[1])):
        peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
        assert peak is not None
        assert int(peak[1]) < 20 * 1024


def test_the_portal_hears_of_jobs_and_frees_them_through_the_agent(beside: tuple[str, int]) -> None:
    portal = Portal(beside[0]).open()
    depots(portal).put("n1", NAME, memoryview(b"mine"))
    assert portal.ask(op="depot", ask={"op": "jobs"})["jobs"] == {"7": [4096, 1]}
    assert portal.ask(op="depot", ask={"op": "free", "job": "7"})["dropped"] == 1
    assert portal.ask(op="depot", ask={"op": "jobs"})["jobs"] == {}
    assert "error" in portal.ask(op="depot", ask={"op": "free", "job": "../7"})
    assert "error" in portal.ask(op="depot", ask=7)
    assert "error" in portal.ask(op="depot")
    portal.close()


def test_a_depot_ends_with_its_agent_however_that_was(beside: tuple[str, int]) -> None:
    (depot,) = until(lambda: children(beside[1]), "the depot")
    os.kill(beside[1], signal.SIGKILL)
    until(lambda: gone(depot), "the end of the depot")


def test_an_agent_ends_with_its_depot(tmp_path: Path) -> None:
    more = ("--depot", "127.0.0.1:0", "--depot-folder", str(tmp_path / "depot"))
    with agent(f"unix:{tmp_path}/n1.sock", "n1", *more) as process:
        (depot,) = until(lambda: children(process.pid), "the depot")
        os.kill(depot, signal.SIGKILL)
        assert process.wait(30) == 1
        assert process.stderr is not None
        assert "so that both start anew" in process.stderr.read()


def test_an_agent_ends_with_a_depot_that_ended_before_it_listened_for_that(tmp_path: Path) -> None:
    """The depot is killed as soon as it is forked, while the agent still starts."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, signal\nfork = os.fork\n"
        "def killed():\n"
        "    pid = fork()\n"
        "    if pid:\n"
        "        os.kill(pid, signal.SIGKILL)\n"
        "        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n"
        "    return pid\n"
        "os.fork = killed\n"
    )
    more = ("--depot", "127.0.0.1:0", "--depot-folder", str(tmp_path / "depot"))
    with agent(f"unix:{tmp_path}/n1.sock", "n1", *more, env={"PYTHONPATH": f"{site}:{ROOT}"}) as process:
        assert process.wait(30) == 1
        assert process.stderr is not None
        assert "so that both start anew" in process.stderr.read()


def test_an_agent_without_a_depot_says_so(tmp_path: Path) -> None:
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where):
        portal = Portal(where).open()
        assert portal.ask(op="report")["depot"] is None
        assert "op is report or probe" in portal.ask(op="depot", ask={"op": "jobs"})["error"]
        portal.close()


def gone(pid: int) -> bool:
    """Whether a process has ended; its parent may not have heard of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except FileNotFoundError:
        return True
