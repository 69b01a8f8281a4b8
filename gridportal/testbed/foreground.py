"""Commands that someone waits for: one process per node, its output collected, and all ended when time is up."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from gridportal.base import checked_numbers, run_files
from gridportal.base.errors import InputError
from gridportal.testbed import environment, process_owners
from gridportal.testbed.logs import Logs
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

_MPI = ("mpiexec", "mpirun")
MOST_OUTPUT = 1024 * 1024  # bytes of a command's output on a node; what is more goes out of its middle


class Foreground:
    """Runs commands on nodes for a waiting client."""

    def __init__(self, spawner: Spawner, state: State, logs: Logs) -> None:
        self._spawner, self._state, self._logs = spawner, state, logs
        self._numbers = itertools.count(1)
        self._keys: set[str] = set()

    async def run(self, nodes: Sequence[str], argv: Sequence[str], timeout: float, cwd: str) -> list[dict[str, Any]]:
        """Run `argv` on each of `nodes`; an mpiexec once, on the first, with its ranks on all.

        A node that stands there several times runs it as often. Returns {"node", "exit_code", "output"} each; exit_code
        is None for what was killed by the time limit.
        """
        self._check(nodes, argv, timeout)
        key = f"foreground-{next(self._numbers)}"
        self._keys.add(key)
        folder = Path(tempfile.mkdtemp(prefix="command-", dir=self._state.root))
        try:
            (folder / run_files.HOSTS).write_text(environment.hosts(nodes), encoding="utf-8")
            where = nodes[:1] if _is_mpi(argv) else nodes
            jobs = [self._one(node, argv, key, folder / f"{at}.log", timeout, cwd) for at, node in enumerate(where)]
            return list(await asyncio.gather(*jobs))
        finally:
            process_owners.end_run(self._spawner.mark(key))
            self._keys.discard(key)
            shutil.rmtree(folder, ignore_errors=True)

    def end_all(self) -> None:
        """Kill what is still running."""
        for key in self._keys:
            process_owners.end_run(self._spawner.mark(key))

    async def _one(
        self, node: str, argv: Sequence[str], key: str, path: Path, timeout: float, cwd: str
    ) -> dict[str, Any]:
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        name = f"{key} in {path.name}"
        extra = {"HYDRA_HOST_FILE": str(path.with_name(run_files.HOSTS))}
        output = self._logs.open(name, path)
        try:
            # To its own node too by the launcher: so the end of the input, told too late, is lost and does not end it.
            if _is_mpi(argv):
                extra["HYDRA_LAUNCHER_AUTOFORK"] = "0"
            with _input(argv) as file:
                stdin, then = file.fileno(), ended.set_result
                self._spawner.start(node, argv, key, env=extra, cwd=cwd, stdin=stdin, output=output, on_exit=then)
            code = os.waitstatus_to_exitcode(await asyncio.wait_for(asyncio.shield(ended), timeout))
        except TimeoutError:
            code = None
        finally:
            self._logs.close(name)
        return {"node": node, "exit_code": code, "output": _text(path)}

    def _check(self, nodes: Sequence[str], argv: Sequence[str], timeout: float) -> None:
        if not nodes:
            raise InputError("nodes", list(nodes), "at least one node")
        if not argv:
            raise InputError("command", list(argv), "a command")
        checked_numbers.above_zero("timeout", timeout)
        for node in nodes:
            self._spawner.check(node)


def _is_mpi(argv: Sequence[str]) -> bool:
    """Whether it starts the ranks itself, by whatever MPI's name, as mpirun.openmpi."""
    return Path(argv[0]).name.partition(".")[0] in _MPI


def _input(argv: Sequence[str]) -> IO[bytes]:
    """An empty one; for mpiexec one that it cannot read, so that it tells rank 0 at once that there is none
    (docs/decisions/input-of-mpiexec.md)."""
    return open(os.devnull, "wb" if _is_mpi(argv) else "rb")


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(2 * MOST_OUTPUT).decode(errors="replace")
