"""Tools that the Grid's daemon runs: it goes on meanwhile, and learns how they ended."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import ShellError
from gridportal.base.processes import TooSlowError
from gridportal.testbed import kernel, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.networks import crossbar


def as_daemon(folder: Path, work: Callable[[Spawner], Coroutine[Any, Any, Any]]) -> Any:
    """What `work` returns, in a loop that collects every child as the daemon's does."""
    spawner = Spawner(State(folder), ["n1"], {}, {})

    async def serve() -> Any:
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, spawner.reap)
        return await work(spawner)

    return asyncio.run(serve())


def test_the_exit_code_is_the_tools_own_though_the_daemon_collects_its_children(tmp_path: Path) -> None:
    async def work(spawner: Spawner) -> list[tuple[int, str]]:
        return [await spawner.run(["sh", "-c", f"cat; exit {code}"], 60, f"line {code}\n") for code in (7, 0, 3)]

    assert as_daemon(tmp_path, work) == [(code, f"line {code}\n") for code in (7, 0, 3)]


def test_the_loop_goes_on_while_a_tool_waits(tmp_path: Path) -> None:
    """It waits for what only the loop can do: without the loop it would wait for ever."""
    os.mkfifo(tmp_path / "fifo")

    async def work(spawner: Spawner) -> tuple[int, str]:
        tool = asyncio.create_task(spawner.run(["cat", str(tmp_path / "fifo")], 60))
        while not tool.done():
            try:
                writing = os.open(tmp_path / "fifo", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # the tool has not come as far as that
                await asyncio.sleep(0.01)
                continue
            os.write(writing, b"from the loop")
            os.close(writing)
            return await tool
        return await tool

    assert as_daemon(tmp_path, work) == (0, "from the loop")


def test_a_tool_that_takes_too_long_is_gone_when_that_is_told(tmp_path: Path) -> None:
    async def work(spawner: Spawner) -> str:
        with pytest.raises(TooSlowError, match=r"sh gave no answer within 0\.5 s") as slow:
            await spawner.run(["sh", "-c", "echo $$; sleep 600"], 0.5)
        return slow.value.output

    said = as_daemon(tmp_path, work)
    assert not said or kernel.start_time(int(said)) is None  # a busy machine may not have come as far as its first word


def test_a_tool_for_which_nobody_waits_any_more_is_gone(tmp_path: Path) -> None:
    async def work(spawner: Spawner) -> int:
        script = "echo $$ > pid.part && mv pid.part pid; exec sleep 600"
        tool = asyncio.create_task(spawner.run(["sh", "-c", f"cd {tmp_path}; {script}"], 60))
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.01)
        tool.cancel()
        with pytest.raises(asyncio.CancelledError):
            await tool
        return int((tmp_path / "pid").read_text())

    assert kernel.start_time(as_daemon(tmp_path, work)) is None


def test_a_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ShellError, match="no-such-tool could not be started"):
        as_daemon(tmp_path, lambda spawner: spawner.run(["no-such-tool"], 60))


SLOW_TC = """#!/bin/sh
if [ -e {folder}/hold ]; then
  touch {folder}/held
  while [ -e {folder}/hold ]; do sleep 0.05; done
fi
PATH={path} exec tc "$@"
"""


@pytest.mark.grid
def test_the_grid_answers_while_a_link_takes_long_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, up: Callable[..., Grid]
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "tc").write_text(SLOW_TC.format(folder=folder, path=machine.tool_path()))
    (folder / "tc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    grid = up(crossbar({("a", "b"): 100, ("b", "a"): 100}))
    (folder / "hold").touch()
    started: list[Any] = []
    traffic = threading.Thread(target=lambda: started.append(grid.traffic(seed=1, streams=3)))
    traffic.start()
    try:
        eventually((folder / "held").exists, "tc to be called")
        assert grid.status()["traffic"] is None
        assert traffic.is_alive()
    finally:
        (folder / "hold").unlink()
        traffic.join(60)
    assert started[0]["streams"] == 3
    assert grid.status()["traffic"]["seed"] == 1
    grid.traffic(stop=True)
    assert grid.status()["traffic"] is None
